// What of a layered body never changes: the elastic layer between surface and core, as a matrix over the surface's
// nodes, and the masses of both.
//
// Every face of the surface stands on a prism of three tets whose lower corners belong to the core (geometry/
// layer_core.h). Displacements are seen from the core, so their elasticity is linear and the matrix K constant
// (Galoppo et al. 2006, eq. 2; the Jacobians of their eq. 7 are left out: one is skew, the other destroys
// definiteness). Masses are lumped everywhere from the same point masses: a quarter of each tet on each of its corners.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "layered/layer_matrix.h"
#include "layered/level_hierarchy.h"
#include "math/lane_vectors.h"
#include "math/vec3d.h"
#include "pliant/layered.h"

namespace pliant {

/// A symmetric 6x6 matrix over (velocity, angular velocity), row by row.
using Matrix6 = std::array<double, 36>;

class LayeredLayer {
 public:
  /// What is wrong with a def, or the layer. The frame of all that follows has its origin in the core's centre of mass.
  static Result<std::shared_ptr<const LayeredLayer>> make(const LayeredDef& def);

  std::uint32_t node_count() const { return node_count_; }
  std::size_t tet_count() const { return tet_count_; }
  std::size_t groups() const { return rest_.groups(); }
  std::size_t blocks() const { return matrix_.blocks(); }

  Vec3d center() const { return center_; }  ///< of the core's mass, in the frame of the surface
  double core_mass() const { return core_mass_; }
  const std::array<double, 9>& core_inertia() const { return core_inertia_; }  ///< about its centre
  /// BᵀKB: how the layer resists the core's motion while its nodes stand still.
  const Matrix6& core_stiffness() const { return core_stiffness_; }

  const LaneVectors& rest() const { return rest_; }       ///< m
  const LaneVectors& inward() const { return inward_; }   ///< from a node to its core point: the layer's thickness, m
  const float* masses() const { return masses_.data(); }  ///< kg, by node
  float cell() const { return cell_; }                    ///< m, mean length of an edge
  float thickness() const { return thickness_; }          ///< m, on the average
  /// N/m: what resists a node that goes inward along with all nodes around it. (A node alone is held by these, too.)
  float footing(std::uint32_t node) const { return footing_[node]; }
  /// K x for the eight nodes of a group.
  LaneVec3<Float8> stiffness_times(std::size_t g, const QuadVectors& x) const { return matrix_.times(g, x); }
  /// The same, less exact and faster.
  LaneVec3<Float8> rounded_stiffness_times(std::size_t g, const QuadVectors& x) const {
    return matrix_.rounded_times(g, x);
  }
  /// K_ii.
  LaneSym3<Float8> diagonal(std::size_t g) const { return matrix_.diagonal(g); }
  const LevelHierarchy& hierarchy() const { return hierarchy_; }
  std::size_t bytes() const { return matrix_.bytes() + 4 * masses_.size() + hierarchy_.bytes(); }

 private:
  void build_matrix(const LayeredDef& def, const std::vector<Vec3>& core);
  void build_core(const LayeredDef& def, const std::vector<Vec3>& core);
  void find_core_stiffness();

  std::uint32_t node_count_ = 0;
  std::size_t tet_count_ = 0;
  Vec3d center_;
  double core_mass_ = 0;
  std::array<double, 9> core_inertia_{};
  Matrix6 core_stiffness_{};
  LaneVectors rest_, inward_;
  std::vector<float> masses_, footing_;
  std::vector<double> core_lumps_;  ///< kg, of the layer, by core point
  float cell_ = 0, thickness_ = 0;
  LayerMatrix matrix_;
  LevelHierarchy hierarchy_;
};

}  // namespace pliant
