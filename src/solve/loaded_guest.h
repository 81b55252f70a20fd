// A cloth, rope or jelly that is tied to solids, or carries heavy ones, as a member of their island
// (solve/island_guest.h).
//
// Its own rows and those of the solids, taking turns, would fight: a rope on which a solid hangs holds its end where it
// is, the solid takes it along, and each turn adds to what the other has to undo. So the body is part of the island
// with all that it is: masses, springs, and segments by the law of solve/loaded_rows.h, linearised anew in each round.
// Those of yarns and ropes resist being shortened here. (What only pulls goes slack and taut from round to round, and
// without a search along the step throws light nodes about: a solid of a hundred times the mass of a sheet is thrown
// off it.) A sparse factor of the body's matrix preconditions it, exact but for the rows that join it to others.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "math/block_cholesky.h"
#include "math/vec4.h"
#include "solve/island_guest.h"
#include "solve/lagrangian_row.h"
#include "solve/loaded_rows.h"
#include "solve/shared_nodes.h"
#include "solve/whole_of_nodes.h"

namespace pliant {

class LoadedGuest final : public IslandGuest {
 public:
  /// What it refers to must stay.
  struct Nodes {
    BlockCholesky3* factor = nullptr;  ///< analyzed for all pairs of nodes that rows and springs join
    std::span<const Vec4> x;
    std::span<const Vec4> v;  ///< that have felt forces and springs, and no row; w: inverse mass, 0 for held nodes
    std::span<const Vec4> v_before;  ///< when the substep began: where the search starts
    std::span<const SharedSpring> springs;
  };
  /// What keeps its two nodes at a distance.
  struct Segment {
    std::array<std::uint32_t, 2> nodes{};
    double rest = 0;      ///< m
    double softness = 0;  ///< m/s per N s; 0: none
    bool pushes = true;   ///< where they are too near; else it only pulls
    // Of a round: linear in the relative velocity.
    Vec3d at{};  ///< m/s, where it was linearised
    RowAnswer answer{}, next{};
    Vec3d next_at{};
  };
  /// A contact with something that does not give way.
  struct Touch : LagrangianRow {
    std::uint32_t count = 0;
    std::array<std::uint32_t, 3> nodes{};
    std::array<float, 3> weights{};
  };

  void clear(const Nodes& nodes, float h);
  void add(const Segment& segment) { segments_.push_back(segment); }
  void add(const Touch& touch) { touches_.push_back(touch); }
  /// What was found.
  Vec3 velocity(std::uint32_t node) const { return (start_[node] + x_[node]).to_float(); }
  std::span<const Segment> segments() const { return segments_; }
  std::span<const Touch> touches() const { return touches_; }
  /// N s, on the second node, along the segment: negative where it pulls. None where the motion had to be bounded.
  float pull(const Segment& segment) const;
  Vec3 impulse(const Touch& touch) const { return is_astray_ ? Vec3{} : touch.impulse(velocity_of(touch)); }

  void begin(Workers& workers, std::span<const std::uint32_t> nodes) override;
  double mass() const override { return whole_.mass(); }
  bool is_free() const override { return whole_.is_free() && touches_.empty(); }
  double radius() const override { return whole_.radius(); }
  int max_iterations() const override;
  float allowed_violation() const override;
  bool wants_exact_rounds() const override { return true; }
  void get_arms(std::span<Vec3d> arms) const override;
  /// None: next to what hangs on them its nodes are held by their segments.
  void get_responses(std::span<LaneSym3<float>> responses) const override;
  void get_velocities(std::span<Vec3> velocities) const override;
  void get_directions(std::span<Vec3> directions) const override;

  void start_rows(double heaviest) override;
  void begin_rows() override;
  void add_row_impulses(float sign) override;
  RowProgress update_rows() override;

  void add_impulses(std::span<const Vec3> impulses) override;
  void set_blocks(Workers& workers, std::span<const LaneSym3<float>> blocks) override;
  void get_whole_matrix(double (&block)[36]) const override { whole_.get_matrix(block); }
  double precondition(Workers& workers, double step) override;
  Vector6 whole_force() const override;
  void set_whole_motion(const Vector6& motion) override;
  bool is_converged() const override;
  double residual() const override { return scale_ > 0 ? residual_ / scale_ : 0; }
  void renew_direction(Workers& workers, double beta) override;
  double multiply(Workers& workers) override;
  double add_to_product(std::span<const Vec3> forces) override;

  Vector6 missing_impulse(Workers& workers) override;
  void move(const Vector6& motion) override;
  std::optional<double> free_motion() const override;
  double energy_after(Workers&, float) override { return 0.5 * motion(); }
  Vec3d momentum() const override;
  bool bound_motion(Workers& workers, double most, float dt) override;

 private:
  double motion() const;  ///< Σ m |v|² as it is now, J
  bool is_moved(std::uint32_t node) const { return whole_.is_moved(node); }
  Vec3d velocity_at(std::uint32_t node) const { return start_[node] + x_[node]; }
  Vec3d relative_velocity(const Segment& segment) const {
    return velocity_at(segment.nodes[1]) - velocity_at(segment.nodes[0]);
  }
  Vec3d impulse_of(const Segment& segment) const;
  RowAnswer judge(const Segment& segment) const;
  Vec3 velocity_of(const Touch& touch) const;
  /// Adds springs times `v` to `to`.
  void add_springs(std::span<const Vec3d> v, std::span<Vec3d> to) const;
  void add_masses_and_springs();
  void add_rows_to_factor();

  Nodes given_{};
  float h_ = 0;
  bool is_astray_ = false;
  std::vector<Segment> segments_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> nodes_;
  WholeOfNodes whole_;
  double stiffness_ = 0;  ///< kg
  double scale_ = 0, residual_ = 0, forces_ = 0;
  std::vector<Vec3d> start_, gain_;  ///< m/s: where the search starts, and what forces change
  std::vector<Vec3d> x_, r_, z_, p_, q_;
  std::vector<double> packed_;  ///< scratch: four numbers for each node
};

}  // namespace pliant
