// Atlases: closed surfaces laid out on grids of texels, for layered bodies (pliant/layered.h).
//
//   pliant::Atlas tire = pliant::displaced(pliant::atlas_torus(0.5f, 0.2f, 176, 176), [](pliant::Vec3 p, pliant::Vec3
//   n) {
//     return n * (0.02f * std::cos(24 * std::atan2(p.z, p.x)));
//   });
//
// A chart is a grid of nodes; a texel is the cell between four of them, cut into two triangles. Where charts meet, or
// a chart meets itself, they have the same nodes: seams are exact, and all charts together are one surface.
//
// Any closed mesh becomes an atlas too, with or without texture coordinates of its own (`make_atlas`). Its nodes are
// spread evenly over the mesh, about one a texel, as one welded surface that knows nothing of charts: seams are edges
// of it like all others. A layout lies over them, which says where in a texture each face is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
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

/// Where the faces of a surface are in a square texture: a mesh in the plane that is cut open along the seams. Its
/// points with the places of their nodes make a mesh to be drawn with the texture.
struct AtlasLayout {
  std::vector<Vec2> uvs{};              ///< of its points, 0 to 1 from the upper left
  std::vector<std::uint32_t> nodes{};   ///< by point: the node of the surface there; several points may have the same
  std::vector<Face> faces{};            ///< of points, in the order of the surface's
  std::vector<std::uint32_t> charts{};  ///< by face

  bool empty() const { return faces.empty(); }
  std::size_t chart_count() const;
};

struct Atlas {
  TriMesh surface{};  ///< welded: one vertex for each node
  /// Of a surface that is made of grids; else none.
  std::vector<AtlasChart> charts{};
  /// Of a surface that is laid out by `make_atlas`; that of one made of grids is made where it is needed (`layout_of`).
  AtlasLayout layout{};

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

// Any closed mesh
// ------------------------------------------------------------------------------------------------------

struct AtlasOptions {
  enum class Charts {
    Given,     ///< the mesh's own texture coordinates where it has usable ones, else automatic
    Automatic  ///< charts of our own: clusters of normals, flattened conformally, packed
  };
  /// Texels along a side of the texture, 8 to 4096; there is about one node for each texel that a chart covers.
  int resolution = 128;
  Charts charts = Charts::Given;
  /// Edges where the mesh is bent by more than this many degrees are kept. 180 for none.
  float crease_angle = 40;
  /// What is open, or has edges of more than two faces, as many scans and models do, is filled by a lattice about as
  /// fine as the nodes (`tetrahedralize`), and the surface of that is laid out; texture coordinates are lost. Otherwise
  /// it is refused.
  bool fill = false;
  int threads = 0;  ///< 0 for as many as the machine has
};

/// A point of a mesh.
struct MeshPoint {
  std::uint32_t face = 0;
  Vec3 weights{1, 0, 0};  ///< of the face's corners
};

struct AtlasReport {
  std::size_t nodes = 0, faces = 0, charts = 0;
  float spacing = 0;      ///< m, mean length of an edge
  float texel = 0;        ///< m, the side of a texel on the surface, on average
  float coverage = 0;     ///< share of the texture that charts cover
  float overlap = 0;      ///< share of the covered texels that more than one face covers
  float stretch = 0;      ///< root mean square of the stretch over the surface (Sander et al. 2001); 1 is none
  float max_stretch = 0;  ///< the longest a texel becomes in any direction, over the mean
  float distance = 0;     ///< m, from the nodes' surface to the mesh at most, measured at the middles of faces
  bool uses_given_uvs = false;
  bool is_packed_anew = false;       ///< the mesh's own charts, but elsewhere in the texture
  bool is_filled = false;            ///< the surface is that of a lattice in the mesh
  std::vector<MeshPoint> sources{};  ///< by node: where it lies on the mesh that was given
  std::vector<std::string> notes{};  ///< what was mended and what could not be used
};

/// Lays out a closed mesh. Vertices at the same place are welded, double faces dropped and faces turned outward; a mesh
/// that is still open, or has edges of more than two faces, is an `Error` that says where, unless it may be filled.
/// Linear in the texels and the mesh, some seconds for a resolution of 512. The same on any number of threads.
///
/// Texture coordinates of the mesh are kept as they are if its charts are within the unit square and do not overlap;
/// else the charts are packed anew.
Result<Atlas> make_atlas(const TriMesh& mesh, const AtlasOptions& options = {}, AtlasReport* report = nullptr);

/// Values of a mesh's vertices at the nodes of an atlas that was made of it. There must be one for each vertex.
std::vector<float> values_at_nodes(const std::vector<MeshPoint>& sources, const TriMesh& mesh,
                                   const std::vector<float>& of_vertices);

/// The points of a core for `LayeredDef::core`: the place on `core` that has the texture coordinates of each node. The
/// core must have texture coordinates, laid out as the atlas is; a node whose coordinates it does not cover is an
/// error.
Result<std::vector<Vec3>> core_by_uvs(const Atlas& atlas, const TriMesh& core);

// Textures
// -------------------------------------------------------------------------------------------------------------

/// The atlas's own layout; for one made of grids, its charts packed; empty for a surface that is not laid out.
AtlasLayout layout_of(const Atlas& atlas);

/// The surface cut open along its seams, with texture coordinates: one vertex for each point of the layout. As it is
/// for one that is not laid out.
TriMesh cut_open(const Atlas& atlas);

inline constexpr std::uint32_t kNoFace = 0xffffffffu;

struct AtlasTexel {
  std::uint32_t face = kNoFace;  ///< of the surface
  float b = 0, c = 0;            ///< weights of its second and third corner; outside of a face in the gutter
  bool is_inside = false;        ///< else it is a texel next to a chart, whose values go on over the chart's edge
};

/// Which point of the surface the middle of each texel shows, row by row from the upper left. Texels up to `gutter`
/// away from a chart go on over its edge, so that looking up between texels gives no seams.
struct TexelMap {
  int width = 0, height = 0;
  std::vector<AtlasTexel> texels{};
};
TexelMap make_texel_map(const AtlasLayout& layout, int resolution, int gutter = 2);

/// The values of nodes in a texture; `empty` where there is no face. Normals are made unit length again by the caller.
void fill_texture(const TexelMap& map, const TriMesh& surface, std::span<const Vec3> of_nodes, std::span<Vec3> out,
                  Vec3 empty = {});
void fill_texture(const TexelMap& map, const TriMesh& surface, std::span<const float> of_nodes, std::span<float> out,
                  float empty = 0);

/// A texture of one number a texel, row by row from the upper left: thickness, stiffness, density.
struct ScalarTexture {
  int width = 0, height = 0;
  std::vector<float> values{};

  /// Between the four nearest texels; it repeats outside of the unit square.
  float at(Vec2 uv) const;
};
/// What a texture says at each node; the mean where seams give a node several places in it.
std::vector<float> values_at_nodes(const AtlasLayout& layout, std::size_t node_count, const ScalarTexture& texture);

/// With every node moved by what `by(position, normal)` says. A result that is not finite throws `BadResult`.
Atlas displaced(Atlas atlas, const std::function<Vec3(Vec3 position, Vec3 normal)>& by);

}  // namespace pliant
