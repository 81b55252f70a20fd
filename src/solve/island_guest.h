// A body of another kind as a member of an island of solids: it brings its own matrix, and rows of its own.
//
// Islands know solids, rigid bodies and nodes of particle bodies. A guest is anything else that answers impulses by a
// matrix of its own: it multiplies, preconditions and moves as a whole, and the island joins it to the others by rows.
// Rows that concern nobody else, with what does not give way, stay with the guest and take part in every round.
//
// All calls are for whole lists of nodes: none is made for a node or a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/cholesky6.h"
#include "math/lane_math.h"
#include "math/vec3d.h"
#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// What a round changed.
struct RowProgress {
  double change = 0, size = 0;  ///< of the impulses, squared
  float violation = 0;          ///< m/s, the largest

  void add(const RowProgress& other) {
    change += other.change, size += other.size, violation = std::max(violation, other.violation);
  }
};

class IslandGuest {
 public:
  virtual ~IslandGuest() = default;

  /// Before the first round. `nodes`, ascending, are those that rows of the island act on: all lists below are theirs.
  virtual void begin(Workers& workers, std::span<const std::uint32_t> nodes) = 0;
  virtual double mass() const = 0;
  virtual bool is_free() const = 0;  ///< has a motion as a whole
  /// Its motion as a whole is (v, ω radius) about a centre.
  virtual double radius() const = 0;
  virtual int max_iterations() const = 0;
  virtual float allowed_violation() const = 0;             ///< m
  virtual void get_arms(std::span<Vec3d> arms) const = 0;  ///< from that centre, over the radius
  /// 1/kg, how easily the nodes give way without rows.
  virtual void get_responses(std::span<LaneSym3<float>> responses) const = 0;
  virtual void get_velocities(std::span<Vec3> velocities) const = 0;
  virtual void get_directions(std::span<Vec3> directions) const = 0;

  /// Whether its rows are not linear within a round.
  virtual bool wants_exact_rounds() const { return false; }

  // --- Its own rows ------------------------------------------------------------------------------------------------
  /// Penalties, and which rows push.
  virtual void start_rows(double heaviest) = 0;
  virtual void begin_rows() = 0;
  virtual void add_row_impulses(float sign) = 0;
  virtual RowProgress update_rows() = 0;

  // --- A round -----------------------------------------------------------------------------------------------------
  virtual void add_impulses(std::span<const Vec3> impulses) = 0;
  /// `blocks` are what the island's rows add to the diagonal.
  virtual void set_blocks(Workers& workers, std::span<const LaneSym3<float>> blocks) = 0;
  /// Of its motion as a whole, with its own rows that push.
  virtual void get_whole_matrix(double (&block)[36]) const = 0;
  /// Goes `step` along the direction and preconditions the residual; returns r·z but for the whole.
  virtual double precondition(Workers& workers, double step) = 0;
  virtual Vector6 whole_force() const = 0;
  /// What the island found for it as a whole; part of what is preconditioned.
  virtual void set_whole_motion(const Vector6& motion) = 0;
  virtual bool is_converged() const = 0;
  virtual double residual() const = 0;  ///< over that of the forces
  virtual void renew_direction(Workers& workers, double beta) = 0;
  /// The product of the direction; returns direction · product.
  virtual double multiply(Workers& workers) = 0;
  /// What the island's rows add to the product; returns their part of direction · product.
  virtual double add_to_product(std::span<const Vec3> forces) = 0;

  // --- Afterwards --------------------------------------------------------------------------------------------------
  /// What forces and its own rows gave it, less what it has gained, as a whole.
  virtual Vector6 missing_impulse(Workers& workers) = 0;
  virtual void move(const Vector6& motion) = 0;

  // --- Where the solve was cut off (solve/motion_bound.h) ----------------------------------------------------------
  /// Σ m |v|² if nothing but forces acted in this substep, J; none where others may put energy into it.
  virtual std::optional<double> free_motion() const = 0;
  /// J, as the substep began; of those that know.
  virtual double stored_energy(Workers& /*workers*/) const { return 0; }
  virtual float asked_speed() const { return 0; }  ///< m/s, by its own rows
  /// J, of motion as it is now, and of what is stored when the substep ends.
  virtual double energy_after(Workers& workers, float dt) = 0;
  virtual Vec3d momentum() const = 0;
  /// Leaves it no more than ½ `most`² J. Returns whether it had more.
  virtual bool bound_motion(Workers& workers, double most, float dt) = 0;
};

/// A contact of one of its nodes, or of a point of a face or edge, with a rigid body that gives way.
struct GuestRow {
  std::uint32_t count = 1;
  std::array<std::uint32_t, 3> nodes{};
  std::array<float, 3> weights{1, 0, 0};
  std::uint32_t rigid = 0;  ///< slot
  Vec3 point{}, normal{};   ///< m, world; the normal towards the node
  float gap = 0, friction = 0;
  Vec3 multiplier{};  ///< N s, on the node: of the last substep; then, of this one
  Vec3 impulse{};     ///< N s, what it gave
};

/// One of its nodes that is one with a point of another member.
struct GuestTie {
  std::uint32_t node = 0;
  BodyId other{};
  std::uint32_t count = 0;  ///< of nodes of a solid or another guest; 0: a rigid body
  std::array<std::uint32_t, 4> nodes{};
  std::array<float, 4> weights{};
  Vec3 point{};    ///< m, world, of a rigid body
  Vec3 target{};   ///< m/s, relative: what brings them together
  Vec3 impulse{};  ///< N s, on the node: of the last substep; then, of this one
};

struct SharedGuest {
  BodyId id{};
  IslandGuest* guest = nullptr;
  std::uint32_t nodes = 0;  ///< how many it has
  float slop = 0;           ///< m, the depth of contact that is left alone
  std::vector<GuestRow> rows;
  std::vector<GuestTie> ties;
};

/// All guests of a substep.
struct SharedGuests {
  std::vector<SharedGuest> bodies;  ///< ascending ids
  std::size_t count = 0;            ///< of those in use
};

}  // namespace pliant
