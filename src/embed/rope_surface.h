// The surface that a rope shows: a tube round its nodes with round ends, one for each piece of it.
//
// The middle line runs through the nodes as a smooth curve, so that a bend is spread over several rings: rings right at
// the bends of the straight pieces would pinch the tube where these turn sharply. The rings do not twist against each
// other (W. Wang et al., "Computation of rotation minimizing frames", 2008), and the first one keeps its direction from
// update to update.
#pragma once

#include <array>
#include <cstdint>
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
  /// A piece of rope: its nodes in their order, its rings, and the direction of the first of them at the last update.
  /// One that is closed ends at the node at which it begins.
  struct Strand {
    std::vector<std::uint32_t> nodes;
    std::vector<Ring> rings;
    Vec3 first_across{0, 1, 0};
    bool is_closed() const { return nodes.size() > 2 && nodes.front() == nodes.back(); }
  };
  using Segments = std::span<const std::array<std::uint32_t, 2>>;
  void find_strands(Segments segments);
  void build_mesh(Segments segments, const Transform& body_from_world, std::span<const Vec3> positions);
  void find_rings(Strand& strand, std::span<const Vec3> positions, std::span<const Vec3> velocities);
  void turn_rings(Strand& strand);
  void place_vertices(std::span<const Vec3> positions, std::span<const Vec3> velocities);

  float radius_;
  std::size_t pieces_ = 0, sides_ = 0;                  ///< pieces of a segment, sides of a ring
  std::vector<std::array<std::uint32_t, 2>> segments_;  ///< that the mesh was made for
  std::vector<Strand> strands_;
  std::vector<Vec3> tangents_;  ///< at the nodes of a strand
};

}  // namespace pliant
