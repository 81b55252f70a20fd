// The core under the skin of a layered body: one point for each node of the surface, and the prisms of tets between.
//
// Cores are offset from a smoothed copy of the surface along its normals: raw normals cross each other under every bump
// (bumps of a tenth of the thickness invert 15 % of the tets). Where prisms still turn over, the layer is made
// thinner there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// A tet of the layer: its corners in order, positive volume; core point i is written as i + node count.
/// The three tets under a face, whose diagonals run from surface node a to core point b with a < b: neighbours agree,
/// and surface nodes are coupled along the edges of the surface only.
std::array<Tet, 3> layer_tets(const Face& face, std::uint32_t node_count);

struct LayerCore {
  std::vector<Vec3> points;    ///< by node
  std::size_t thinned = 0;     ///< nodes where the layer had to be thinner than asked for
  float thinnest = 1;          ///< the least share of the thickness that was left
  double smallest_volume = 0;  ///< m³, of all tets
};

/// `thickness`, in metres, for each node, or one for all. An error names the face where no thickness helps.
Result<LayerCore> make_layer_core(const TriMesh& surface, std::span<const float> thickness);

/// That no tet between the surface and these points is flat or inverted; the smallest volume.
Result<double> check_layer_core(const TriMesh& surface, std::span<const Vec3> points);

}  // namespace pliant
