// Atlases of any closed mesh.
//
// The obvious way is to take the texels of each chart as nodes and to sew the charts together. It was not taken: a
// texel grid ends in steps at the edge of a chart, and what is sewn along a seam depends on both charts' layouts, which
// may be of different scale, turned over, or overlap in one. Here the nodes do not come from the texture. The mesh is
// cut anew into triangles of about a texel's size, as one closed surface in which seams are lines of edges, and the
// layout is carried over to it. So whatever the charts are, the layer on it is conforming and its matrix symmetric.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "geometry/atlas_layout.h"
#include "geometry/atlas_source.h"
#include "geometry/surface_remesh.h"
#include "math/vec3d.h"
#include "pliant/atlas.h"
#include "pliant/tetrahedralize.h"

namespace pliant {
namespace {

constexpr int kLeastResolution = 8, kMostResolution = 4096;
constexpr double kPackedCover = 0.45;  ///< of a texture by packed charts, as a rule
constexpr double kMaxOverlap = 0.01;
/// Creases shorter than so many edges are too small to be kept.
constexpr double kLeastCrease = 3;
constexpr float kSquareSlack = 1e-4f;
/// The lattice that fills an open mesh: its cells over the distance of nodes, and at most so many along a side.
constexpr double kFillCell = 1.5, kMostFillCells = 128;

Status check_options(const AtlasOptions& options) {
  if (options.resolution < kLeastResolution || options.resolution > kMostResolution) {
    return Error{.message = fmt::format("{} texels a side were asked for: choose from {} to {}", options.resolution,
                                        kLeastResolution, kMostResolution),
                 .field = "resolution"};
  }
  if (!(options.crease_angle > 0 && options.crease_angle <= 180)) {
    return Error{.message = fmt::format("an angle of {} degrees was given: choose one of more than 0, up to 180",
                                        options.crease_angle),
                 .field = "crease_angle"};
  }
  return {};
}

bool is_in_square(const std::vector<std::array<Vec2, 3>>& uvs) {
  const auto inside = [](float x) { return x >= -kSquareSlack && x <= 1 + kSquareSlack; };
  for (const auto& t : uvs) {
    for (const Vec2 uv : t) {
      if (!inside(uv.x) || !inside(uv.y)) return false;
    }
  }
  return true;
}

TriMesh plain(const GroupedSurface& s) { return {s.vertices, s.faces, {}, {}}; }

/// The side of triangles that make so many nodes: the area around a vertex of regular ones is √3/2 of it squared.
double side_of(double area, double nodes) { return std::sqrt(area / (nodes * std::sqrt(0.75))); }

double area_of(const TriMesh& mesh) {
  double sum = 0;
  for (const Face& f : mesh.faces) {
    const Vec3d a(mesh.vertices[f[0]]);
    sum += 0.5 * length(cross(Vec3d(mesh.vertices[f[1]]) - a, Vec3d(mesh.vertices[f[2]]) - a));
  }
  return sum;
}

/// The mesh itself; or the surface of a lattice in it, where it is not closed and may be filled.
Result<AtlasSource> find_source(const TriMesh& mesh, const AtlasOptions& options, Workers& workers) {
  Result<AtlasSource> made = make_atlas_source(mesh, options.charts == AtlasOptions::Charts::Given, workers);
  // What names a field other than the mesh is no matter of holes.
  if (made || !options.fill || made.error().field != "mesh" || mesh.faces.empty()) return made;
  const Vec3 sides = mesh.bounds().size();
  const double longest = double(std::max({sides.x, sides.y, sides.z}));
  const double nodes = kPackedCover * options.resolution * options.resolution;
  const auto cell = static_cast<float>(std::max(kFillCell * side_of(area_of(mesh), nodes), longest / kMostFillCells));
  const Result<TetMesh> solid = tetrahedralize(mesh, {.cell = cell, .threads = options.threads});
  if (!solid) return solid.error();
  Result<AtlasSource> filled = make_atlas_source(extract_surface(*solid), false, workers);
  if (!filled) return filled;
  filled->is_filled = true;
  filled->notes.push_back(fmt::format("the mesh is not closed: it was filled by a lattice of {:.4g} m", cell));
  return filled;
}

/// The mesh that was given, in the frame of what was made of it.
GroupedSurface in_frame(const TriMesh& mesh, const AtlasSource& source) {
  GroupedSurface out;
  for (const Vec3 v : mesh.vertices) out.vertices.push_back(((Vec3d(v) - source.middle) / source.size).to_float());
  out.faces = mesh.faces;
  out.groups.assign(mesh.faces.size(), 0), out.fixed.assign(mesh.faces.size(), {});
  return out;
}

/// Where the nodes lie on what was given, and how far the surface is from it.
void locate_nodes(const TriMesh& mesh, const AtlasSource& source, const TriMesh& surface, Workers& workers,
                  AtlasReport& report) {
  const GroupedSurface given = source.is_filled ? in_frame(mesh, source) : GroupedSurface{};
  const SurfaceLocator locator(source.is_filled ? given : source.surface);
  const std::vector<Vec3> normals = compute_normals(surface);
  report.sources.resize(surface.vertices.size());
  parallel_for(workers, surface.vertices.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const SurfaceLocator::Found found = locator.closest(surface.vertices[i], normals[i]);
      if (source.is_filled) {
        report.sources[i] = {found.face, found.weights};
        continue;
      }
      Vec3 w = found.weights;
      if (source.turned[found.face]) std::swap(w.y, w.z);
      report.sources[i] = {source.sources[found.face], w};
    }
  });
  std::vector<float> squares(surface.faces.size(), 0);
  parallel_for(workers, surface.faces.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      Vec3 middle{};
      for (const std::uint32_t v : surface.faces[f]) middle += surface.vertices[v] / 3.0f;
      squares[f] = locator.closest(middle, normals[surface.faces[f][0]]).squared_distance;
    }
  });
  report.distance = std::sqrt(*std::max_element(squares.begin(), squares.end())) * float(source.size);
}

double mean_edge(const TriMesh& surface) {
  double sum = 0;
  for (const Face& f : surface.faces) {
    for (std::size_t i = 0; i < 3; ++i) {
      sum += length(Vec3d(surface.vertices[f[(i + 1) % 3]]) - Vec3d(surface.vertices[f[i]]));
    }
  }
  return sum / double(3 * surface.faces.size());
}

void describe(const Atlas& atlas, int resolution, AtlasReport& report) {
  report.nodes = atlas.node_count(), report.faces = atlas.surface.faces.size();
  report.charts = atlas.layout.chart_count();
  report.spacing = float(mean_edge(atlas.surface));
  const LayoutCover cover = cover_of(corners_of(atlas.layout), resolution);
  report.coverage = float(cover.covered), report.overlap = float(cover.doubled);
  const LayoutStretch stretch = stretch_of(atlas.surface, atlas.layout);
  report.stretch = float(std::sqrt(stretch.mean_square)), report.max_stretch = float(stretch.most);
  report.texel = float(stretch.texel / resolution);
}

/// That the surface is what a layer needs; the pieces above keep it so.
Status check_result(const TriMesh& surface) {
  const auto problems = validate(surface, {.require_closed = true, .max_problems = 1});
  if (problems.empty()) return {};
  return Error{.message = fmt::format("no sound surface could be made at this resolution ({}): choose a higher one",
                                      problems.front().message),
               .field = "resolution"};
}

}  // namespace

Result<Atlas> make_atlas(const TriMesh& mesh, const AtlasOptions& options, AtlasReport* report) {
  if (Status status = check_options(options); !status) return status.error();
  Workers workers(options.threads);
  Result<AtlasSource> made = find_source(mesh, options, workers);
  if (!made) return made.error();
  AtlasSource& source = *made;

  const bool given = !source.uvs.empty();
  const LayoutCover cover = given ? cover_of(source.uvs, std::max(options.resolution, 512)) : LayoutCover{};
  const bool kept = given && is_in_square(source.uvs) && cover.doubled <= kMaxOverlap && cover.covered > 0.01;
  const double texels = (kept ? cover.covered : kPackedCover) * options.resolution * options.resolution;
  const double side = side_of(source.area, texels);
  fix_creases(source.surface, double(options.crease_angle) * kPiD / 180, kLeastCrease * side);
  const GroupedSurface remeshed = remesh(source.surface, side, workers);

  Atlas atlas;
  atlas.surface = plain(remeshed);
  if (given) atlas.layout = carry_layout(source, remeshed);
  if (!kept) {
    Result<AtlasLayout> layout =
        given ? pack_anew(atlas.surface, atlas.layout, options.resolution) : lay_out(atlas.surface, options.resolution);
    if (!layout) return layout.error();
    atlas.layout = std::move(*layout);
  }
  AtlasReport found;
  if (report) locate_nodes(mesh, source, atlas.surface, workers, found);
  for (Vec3& v : atlas.surface.vertices) v = (source.middle + source.size * Vec3d(v)).to_float();
  if (Status status = check_result(atlas.surface); !status) return status.error();
  if (report) {
    *report = std::move(found);
    report->uses_given_uvs = given, report->is_packed_anew = given && !kept;
    report->is_filled = source.is_filled;
    report->notes = std::move(source.notes);
    describe(atlas, options.resolution, *report);
  }
  return atlas;
}

}  // namespace pliant
