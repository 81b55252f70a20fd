// Nodes of a solid that touch the world: rows of an augmented Lagrangian, solved inside the solid's own system.
//
// Rounds of conjugate gradients and of λ ← cone(λ − φ (v − target)) (lagrangian_row.h) alternate until the forces stand
// still. Multipliers computed apart from the matrix would add energy: they must come from the same operator as the
// velocities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collide/node_touch.h"
#include "pliant/ids.h"
#include "pliant/math.h"
#include "solid/solid_system.h"
#include "solve/lagrangian_row.h"

namespace pliant {

class SolidContactRows {
 public:
  /// `slop` is the depth that is left alone, m.
  void begin(const SolidLayout& layout, std::span<const NodeTouch> touches, std::span<const NodeTouchMemory> memory,
             float slop, float dt);
  bool is_empty() const { return rows_.empty(); }
  /// Whether rows push from opposite sides.
  bool is_squeezed() const;

  /// Penalties from how easily the nodes move; `system` holds the inverse diagonal without contact.
  void set_penalties(const SolidSystem& system, float body_mass);
  /// Before the first round: which rows push, judged at the velocities it starts from, and how much of their friction
  /// slides. Later rounds take this from `update`: to judge again at the same velocities with the new multipliers would
  /// count them twice, and diverge.
  void start(const LaneVectors& velocities);
  /// Before each round.
  void begin_round();
  /// What the rows that push add to the matrix: `visit(slot, block)`.
  template <typename Visit>
  void for_each_block(Visit&& visit) const {
    for (const Row& row : rows_) {
      if (row.active) visit(row.slot, row.block());
    }
  }
  void add_to_matrix(SolidSystem& system) const;
  /// The impulses on the nodes at these velocities.
  template <typename Add>
  void for_each_impulse(const LaneVectors& velocities, Add&& add) const {
    for (const Row& row : rows_) add(row.slot, row.impulse(velocities.get(row.slot)));
  }
  struct Progress {
    double change = 0, size = 0;  ///< of the impulses, squared
    float violation = 0;          ///< m/s, the largest
  };
  /// New multipliers from the velocities just found.
  Progress update(const LaneVectors& velocities);
  /// Between rounds of a squeezed body that do not end: rows that still give way by more than `allowed`, and hardly
  /// less than when last asked, push harder from now on. A body squeezed between two of the world's resists with its
  /// elements, not with its mass, and multipliers alone would need hundreds of rounds to grow that large.
  void stiffen(const LaneVectors& velocities, float allowed);
  void remember(std::span<const NodeTouch> touches, const LaneVectors& velocities, float dt,
                std::vector<NodeTouchMemory>& memory) const;

  struct Row : LagrangianRow {
    std::uint32_t slot = 0, touch = 0;
    BodyId other{};
    float most_penalty = 0;
    float violation = 0;  ///< m/s, when `stiffen` last looked
  };
  std::span<const Row> rows() const { return rows_; }
  std::size_t bytes() const { return rows_.capacity() * sizeof(Row); }

 private:
  void reconcile();
  std::vector<Row> rows_;
};

}  // namespace pliant
