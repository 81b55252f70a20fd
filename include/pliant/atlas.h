// Atlases: closed surfaces laid out on grids of texels, for layered bodies (pliant/layered.h).
//
//   pliant::Atlas tire = pliant::displaced(pliant::atlas_torus(0.5f, 0.2f, 176, 176), [](pliant::Vec3 p, pliant::Vec3
//   n) {
//     return n * (0.02f * std::cos(24 * std::atan2(p.z, p.x)));
//   });
//
// A chart is a grid of nodes; a texel is the cell between four of them, cut into two triangles. Where charts meet, or
// a chart meets itself, they have the same nodes: seams are exact, and all charts together are one surface.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "pliant/mesh.h"
#include "pliant/shapes.h"

namespace pliant {

/// A rectangle of nodes, row by row.
struct AtlasChart {
  int columns = 0, rows = 0;         ///< nodes along u and v, at least 2
  std::vector<std::uint32_t> nodes;  ///< of the surface

  std::uint32_t node(int column, int row) const {
    return nodes[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
};

/// To which places of the grid a node is joined by an edge, besides its own: with itself, the seven points of the
/// stencil inside a chart.
inline constexpr std::array<std::array<int, 2>, 6> kAtlasStencil{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}}};

struct Atlas {
  TriMesh surface{};  ///< welded: one vertex for each node
  /// May be none, for a surface that has not been laid out.
  std::vector<AtlasChart> charts{};

  std::size_t node_count() const { return surface.vertices.size(); }
};

// Surfaces with built-in layouts. Nonsense throws `BadResult`, as for the generators of meshes.

/// A ring about Y, one chart: `segments` texels around it and `tube_segments` around the tube.
Atlas atlas_torus(float radius, float tube_radius, int segments, int tube_segments);
/// Six faces of `cells` by `cells` texels, all of nearly the same size.
Atlas atlas_sphere(float radius, int cells);
/// Along Y: a side of 4 `cells` by `rows` texels and two caps of `cells` by `cells`.
Atlas atlas_cylinder(float radius, float height, int cells, int rows);
/// An open sheet that faces +Y.
Atlas atlas_heightfield(const Heightfield& field);

/// With every node moved by what `by(position, normal)` says. A result that is not finite throws `BadResult`.
Atlas displaced(Atlas atlas, const std::function<Vec3(Vec3 position, Vec3 normal)>& by);

}  // namespace pliant
