// The surface that a rope shows: a tube round its nodes with round ends.
//
// The middle line runs through the nodes as a smooth curve, so that a bend is spread over several rings: rings right at
// the bends of the straight pieces would pinch the tube where these turn sharply. The rings do not twist against each
// other (W. Wang et al., "Computation of rotation minimizing frames", 2008), and the first one keeps its direction from
// update to update.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "embed/deforming_surface.h"

namespace pliant {

class RopeSurface final : public DeformingSurface {
 public:
  RopeSurface(const World& world, BodyId body, const RopeDef& def);

  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) override;

 private:
  /// One ring of the tube: its middle, the direction of the tube and two directions across.
  struct Ring {
    Vec3 center, velocity, along, across, side;
  };
  void build_mesh(std::size_t nodes, const Transform& body_from_world, std::span<const Vec3> positions);
  void find_rings(std::span<const Vec3> positions, std::span<const Vec3> velocities);
  void turn_rings();
  void place_vertices();

  float radius_;
  std::size_t nodes_ = 0, pieces_ = 0, sides_ = 0;  ///< pieces of a segment, sides of a ring
  Vec3 first_across_{0, 1, 0};                      ///< of the last update
  std::vector<Vec3> tangents_;                      ///< at the nodes
  std::vector<Ring> rings_;
};

}  // namespace pliant
