// From a surface to a solid: check, mend, look what is inside, fill, measure. Everything between is reckoned in lattice
// units, with the middle of the surface's bounds at the origin, so that place and size make no difference.
#include "pliant/tetrahedralize.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "geometry/lattice_region.h"
#include "geometry/surface_mend.h"
#include "geometry/tet_quality.h"
#include "geometry/tet_smooth.h"

namespace pliant {
namespace {

constexpr double kDefaultCells = 20;
/// The lattice takes 6 bytes a point, and positions in it must stay exact enough as floats.
constexpr double kMaxLatticePoints = 64e6, kMaxCellsAlong = 16384;
constexpr int kMargin = 3;
/// The smallest cell in steps of a float at the surface's place.
constexpr double kMinFloatSteps = 64;
constexpr double kWeld = 1.0 / 32768;
/// Of a half sphere that is open below it is 0.5, of a cylinder as high as wide without its lid 0.2.
constexpr double kMaxOpenShare = 0.3;

/// Where the lattice lies: world = center + cell · lattice.
struct Placement {
  Vec3d center;
  double cell = 0;

  Vec3 to_lattice(Vec3 p) const { return ((Vec3d(p) - center) / cell).to_float(); }
  Vec3 to_world(Vec3 p) const { return (center + cell * Vec3d(p)).to_float(); }
};

Error refusal(Error::Code code, std::string field, std::string message) {
  return {code, std::move(message), "", std::move(field), 0};
}

std::optional<Error> check_surface(const TriMesh& surface) {
  if (surface.faces.empty()) {
    return refusal(Error::Code::InvalidArgument, "surface",
                   "the surface has no triangles, so there is nothing to fill");
  }
  const std::vector<MeshProblem> problems = validate(surface, {.max_problems = 1});
  if (problems.empty()) return std::nullopt;
  const MeshProblem& p = problems[0];
  if (p.kind != MeshProblem::Kind::NotFinite && p.kind != MeshProblem::Kind::IndexOutOfRange) return std::nullopt;
  return refusal(Error::Code::InvalidArgument, "surface", p.message);
}

/// Points that faces use, in double: a float cannot hold the size of all bounds.
struct Bounds {
  Vec3d lower, upper;

  explicit Bounds(const TriMesh& surface) : lower(surface.vertices[surface.faces[0][0]]), upper(lower) {
    for (const Face& f : surface.faces) {
      for (const std::uint32_t v : f) include(Vec3d(surface.vertices[v]));
    }
  }
  Vec3d size() const { return upper - lower; }
  double longest() const { return std::max({size().x, size().y, size().z}); }
  double farthest() const {
    double most = 0;
    for (std::size_t a = 0; a < 3; ++a) most = std::max({most, std::abs(lower[a]), std::abs(upper[a])});
    return most;
  }

 private:
  void include(Vec3d p) {
    for (std::size_t a = 0; a < 3; ++a) lower[a] = std::min(lower[a], p[a]), upper[a] = std::max(upper[a], p[a]);
  }
};

/// Rounded up to two digits, so that following the advice is enough.
std::string advised(double cell) {
  const double unit = std::pow(10.0, std::floor(std::log10(cell)) - 1);
  return fmt::format("{:.3g}", std::ceil(cell / unit) * unit);
}

Error too_small(double cell, double least, std::string why) {
  return refusal(Error::Code::CapacityExceeded, "cell",
                 fmt::format("a cell of {:.3g} m {}: choose one of at least {} m", cell, why, advised(least)));
}

Error too_many(double cell, double tets, double max_tets) {
  return too_small(cell, cell * std::cbrt(tets / max_tets) * 1.02,
                   fmt::format("would give about {:.3g} tets, more than {:.3g}", tets, max_tets));
}

double lattice_points(const Bounds& bounds, double cell) {
  double points = 2;
  for (std::size_t a = 0; a < 3; ++a) points *= 2 * std::ceil(bounds.size()[a] / (2 * cell)) + 2 * kMargin + 1;
  return points;
}

std::optional<Error> check_cell(const Bounds& bounds, double cell, double volume, double max_tets) {
  if (!(cell > 0 && std::isfinite(cell))) {
    return refusal(Error::Code::InvalidArgument, "cell",
                   fmt::format("the cell must be a positive, finite length in metres, not {}", cell));
  }
  if (cell > bounds.longest()) {
    return refusal(
        Error::Code::InvalidArgument, "cell",
        fmt::format("a cell of {:.3g} m is larger than the surface, whose longest side is {:.3g} m: choose one of "
                    "{:.3g} m or less",
                    cell, bounds.longest(), bounds.longest() / 4));
  }
  const double tets = 12 * volume / (cell * cell * cell);
  if (tets > 2 * max_tets) return too_many(cell, tets, max_tets);  // the volume is a guess; they are counted later
  const double along = bounds.longest() / cell, points = lattice_points(bounds, cell);
  if (along > kMaxCellsAlong || points > kMaxLatticePoints) {
    double least = std::max(cell * along / kMaxCellsAlong, cell);
    while (lattice_points(bounds, least) > kMaxLatticePoints) least *= 1.02;
    return too_small(cell, least,
                     fmt::format("would need a lattice of {:.3g} points, more than {:.3g}", points, kMaxLatticePoints));
  }
  const double step = bounds.farthest() * 0x1p-23;
  if (cell < kMinFloatSteps * step) {
    return too_small(cell, kMinFloatSteps * step,
                     fmt::format("is too fine for a surface whose points are up to {:.3g} m from the origin, where "
                                 "positions come in steps of {:.2g} m",
                                 bounds.farthest(), step));
  }
  return std::nullopt;
}

BccLattice lattice_around(const Bounds& bounds, double cell) {
  std::array<int, 3> lower, size;
  for (std::size_t a = 0; a < 3; ++a) {
    const int half = int(std::ceil(bounds.size()[a] / (2 * cell))) + kMargin;
    lower[a] = -half;
    size[a] = 2 * half + 1;
  }
  return {lower, size};
}

MendedSurface mended_in_lattice(const TriMesh& surface, const Placement& placement, Workers& workers) {
  std::vector<Vec3> vertices(surface.vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) vertices[v] = placement.to_lattice(surface.vertices[v]);
  return mend_surface(vertices, surface.faces, kWeld, workers);
}

/// Of the cones from the middle of all triangles, which lessens what holes do to it.
double volume_guess(const MendedSurface& s) {
  Vec3d middle;
  double area = 0, six = 0;
  const auto corner = [&](const Face& f, std::size_t i) { return Vec3d(s.vertices[f[i]]); };
  for (const Face& f : s.faces) {
    const double twice = length(cross(corner(f, 1) - corner(f, 0), corner(f, 2) - corner(f, 0)));
    middle += twice / 3 * (corner(f, 0) + corner(f, 1) + corner(f, 2));
    area += twice;
  }
  middle = middle / area;
  for (const Face& f : s.faces) six -= six_volumes(corner(f, 0), corner(f, 1), corner(f, 2), middle);
  return six / 6;
}

Error encloses_nothing(double open_share) {
  return refusal(
      Error::Code::InvalidArgument, "surface",
      fmt::format("the surface encloses no volume ({:.0f} % of it is open): close it, or give the sheet a thickness "
                  "and use both of its sides",
                  100 * std::min(1.0, open_share)));
}

Error too_thin(double cell, bool keep_thin) {
  return refusal(Error::Code::InvalidArgument, "cell",
                 fmt::format("nothing of the surface is as thick as a cell of {:.3g} m: choose a smaller one{}", cell,
                             keep_thin ? "" : ", or keep thin parts"));
}

/// What was mended and what was lost, in numbers and in words.
void describe(const TriMesh& given, const MendedSurface& surface, const EnclosedRegion& region,
              TetrahedralizeReport& report) {
  report.triangles_dropped = surface.dropped;
  report.triangles_flipped = surface.flipped;
  report.holes_closed = surface.holes;
  report.thin_nodes = region.thin;
  report.pieces_dropped = region.pieces_dropped;
  const auto note = [&](bool applies, std::string text) {
    if (applies) report.notes.push_back(std::move(text));
  };
  const auto s = [](std::size_t count) { return count == 1 ? "" : "s"; };
  const auto were = [](std::size_t count) { return count == 1 ? "was" : "were"; };
  note(surface.dropped > 0, fmt::format("{} of {} triangles {} dropped: duplicates, or without area", surface.dropped,
                                        given.faces.size(), were(surface.dropped)));
  note(surface.flipped > 0, fmt::format("{} of {} triangles faced the wrong way", surface.flipped, given.faces.size()));
  const bool is_soup = surface.loose_edges > 0.5;
  note(is_soup, "most triangles are not joined to their neighbours, so the volume error is a guess");
  note(surface.holes > 0 && !is_soup, fmt::format("{} hole{} {} closed, so the volume error is a guess", surface.holes,
                                                  s(surface.holes), were(surface.holes)));
  note(region.thin > 0,
       fmt::format("parts thinner than the cell were made thicker ({} lattice point{}); a smaller cell "
                   "shows them better",
                   region.thin, s(region.thin)));
  note(region.pieces_dropped > 0, fmt::format("{} piece{} smaller than a cell {} left out", region.pieces_dropped,
                                              s(region.pieces_dropped), were(region.pieces_dropped)));
}

/// Angles, volume and distances. The mesh is in lattice units.
void measure(const TetMesh& mesh, const EnclosingSurface& surface, double cell, Workers& workers,
             TetrahedralizeReport& report) {
  const double cube = cell * cell * cell;
  report.nodes = mesh.nodes.size();
  report.tets = mesh.tets.size();
  const TriMesh boundary = extract_surface(mesh);
  report.surface_faces = boundary.faces.size();
  report.surface_volume = cube * volume_guess(surface.surface());
  report.volume = cube * mesh.volume();
  report.volume_error = report.volume / report.surface_volume - 1;
  const auto angles = dihedral_range_degrees(mesh);
  report.min_dihedral_degrees = angles[0];
  report.max_dihedral_degrees = angles[1];
  constexpr double kSpacing = 0.5;
  const TriMesh given{surface.surface().vertices, surface.surface().faces, {}, {}};
  const auto in_metres = [&](SurfaceDistance d) { return SurfaceDistance{cell * d.rms, cell * d.max}; };
  report.to_surface = in_metres(surface_distance(boundary, surface.tree(), kSpacing, workers));
  report.from_surface =
      in_metres(surface_distance(given, TriangleTree(boundary.vertices, boundary.faces), kSpacing, workers));
}

}  // namespace

Result<TetMesh> tetrahedralize(const TriMesh& given, const TetrahedralizeOptions& options,
                               TetrahedralizeReport* report) {
  const auto progress = [&](float share) {
    if (options.progress) options.progress(share);
  };
  if (report) *report = {};
  if (const auto error = check_surface(given)) return *error;
  const Bounds bounds(given);
  if (!(bounds.longest() > 0)) return encloses_nothing(1);
  const Placement placement{0.5 * (bounds.lower + bounds.upper),
                            options.cell == 0 ? bounds.longest() / kDefaultCells : double(options.cell)};
  const double cell = placement.cell, max_tets = double(options.max_tets);
  if (const auto error = check_cell(bounds, cell, std::abs(enclosed_volume(given)), max_tets)) return *error;

  Workers workers(options.threads);
  const MendedSurface mended = mended_in_lattice(given, placement, workers);
  if (mended.faces.empty() || mended.open_share > kMaxOpenShare) return encloses_nothing(mended.open_share);
  progress(0.1f);

  const EnclosingSurface surface(mended);
  const BccLattice lattice = lattice_around(bounds, cell);
  EnclosedRegion region = enclosed_region(surface, lattice, options.keep_thin, workers,
                                          [&](float share) { progress(0.1f + 0.5f * share); });
  if (region.inside == 0) return too_thin(cell, options.keep_thin);
  const double tets = 6 * double(region.inside);
  if (tets > max_tets) return too_many(cell, tets, max_tets);

  StuffedSolid solid = stuff_lattice(lattice, region.region, workers);
  if (solid.mesh.tets.empty()) return too_thin(cell, options.keep_thin);
  progress(0.8f);
  smooth_tets(solid, surface, {.fit_thin_parts = region.thin > 0, .improve_angles = options.optimize}, workers);
  progress(0.95f);
  if (report) {
    report->cell = float(cell);
    report->pieces = solid.pieces;
    describe(given, mended, region, *report);
    measure(solid.mesh, surface, cell, workers, *report);
  }
  for (Vec3& node : solid.mesh.nodes) node = placement.to_world(node);
  progress(1);
  return std::move(solid.mesh);
}

}  // namespace pliant
