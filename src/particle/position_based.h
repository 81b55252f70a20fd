// Jelly by position-based dynamics (004 eq. 3; Müller et al. 2007 and 2014; XPBD of Macklin et al. 2016).
//
// From where the nodes are heading, constraints are met one after the other (coloured Gauss-Seidel, eight at a time);
// the velocity is the one that leads from x to where that ends. Constraints have compliances, the inverses of
// stiffnesses, so that a body is as stiff with few iterations as with many, and at any step, once they have converged.
// They converge slowly for bodies that are many elements long and stiff: too few iterations make such a body softer,
// never unstable.
//
// Departures from 004: eq. 3's γ mixes the unconstrained velocity back in, which makes bodies softer the more they are
// damped; here damping acts on the deviation from rigid motion (rigid_part.h). Bending keeps the angle between two
// faces and not the dot product of 004 §4.5, so a fold has one rest state and not two.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/vec4.h"
#include "particle/lane_groups.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

/// Strain (if `shear_modulus` is not 0) and volume (if `volume_modulus` is not 0) of a tet: with Lamé's μ and λ it
/// resists small strains as the continuum does.
struct TetConstraint {
  Tet nodes;
  std::array<float, 9> inverse_rest;  ///< 1/m, of the matrix with the edges from node 0 as columns; by columns
  float rest_volume;                  ///< m³
  float shear_modulus;                ///< Pa, μ
  float volume_modulus;               ///< Pa, λ
};

struct DistanceConstraint {
  std::array<std::uint32_t, 2> nodes;
  float rest_length;  ///< m
  float compliance;   ///< m/N; 0: rigid
};

/// The angle between two faces that share the edge (0, 1); 2 and 3 are their apexes.
struct BendConstraint {
  std::array<std::uint32_t, 4> nodes;
  float rest_angle;  ///< rad, as `fold_angle` gives it
  float compliance;  ///< rad/(N·m); 0: rigid
};

/// From −π to π; 0 where the faces (0, 1, 2) and (1, 0, 3) continue each other. With `gradient` its derivatives by the
/// four nodes. 0 with no derivatives where a face has no area.
float fold_angle(const std::array<Vec3, 4>& nodes, std::array<Vec3, 4>* gradient = nullptr);

struct PositionBasedRest {
  std::size_t node_count = 0;
  std::vector<TetConstraint> tets;
  std::vector<DistanceConstraint> distances;
  std::vector<BendConstraint> bends;
  int iterations = 2;
  float deviation_damping = 0;  ///< 1/s, of all but the rigid motion
};

class PositionBased {
 public:
  /// Names the constraint that is wrong.
  static Result<PositionBased> create(PositionBasedRest rest);

  /// Changes `v` (w: inverse mass, 0: held) to what it is after h seconds without contacts. Both have `node_count`
  /// nodes. Allocates nothing and remembers nothing.
  void free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h);

  const PositionBasedRest& rest() const { return rest_; }

 private:
  explicit PositionBased(PositionBasedRest rest);

  void project_tets(std::size_t group, float per_h_squared);
  void project_distances(std::size_t group, float per_h_squared);
  void project_bends(std::size_t group, float per_h_squared);

  PositionBasedRest rest_;
  LaneGroups<4> tet_groups_, bend_groups_;
  LaneGroups<2> distance_groups_;
  LaneValues inverse_rest_[9], shear_compliance_, volume_compliance_;  // per tet
  LaneValues length_, distance_compliance_, angle_, bend_compliance_;
  LaneValues strain_multiplier_[6], volume_multiplier_, distance_multiplier_, bend_multiplier_;
  std::vector<Vec4> position_;  ///< from the body's centre, w: inverse mass; one spare node
  bool has_strain_ = false, has_volume_ = false;
};

}  // namespace pliant
