// Solids from surfaces: fit against closed forms, shapes recomputed here, and surfaces as bad as people have them.
#include "pliant/tetrahedralize.h"

#include <functional>

#include "geometry/mesh_checks.h"
#include "geometry/union_find.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

TetMesh solid_of(const TriMesh& surface, float cell, TetrahedralizeReport* report = nullptr) {
  Result<TetMesh> solid = tetrahedralize(surface, {.cell = cell}, report);
  EXPECT_TRUE(solid.ok()) << (solid.ok() ? "" : solid.error().to_string());
  return solid.ok() ? std::move(*solid) : TetMesh{};
}

std::string refusal_of(const TriMesh& surface, float cell) {
  const Result<TetMesh> solid = tetrahedralize(surface, {.cell = cell});
  EXPECT_FALSE(solid.ok());
  return solid.ok() ? "" : solid.error().to_string();
}

std::size_t piece_count(const TetMesh& mesh) {
  UnionFind pieces(mesh.nodes.size());
  for (const Tet& t : mesh.tets) {
    for (std::size_t i = 1; i < 4; ++i) pieces.join(t[0], t[i]);
  }
  std::size_t count = 0;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node) count += pieces.root(node) == node;
  return count;
}

/// Vertices with more than one fan of faces would make the Euler characteristic lie.
void expect_one_fan_per_vertex(const TriMesh& surface) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> next;  // per vertex: from one neighbour to the next
  for (const Face& f : surface.faces) {
    for (std::size_t i = 0; i < 3; ++i) next[f[i]][f[(i + 1) % 3]] = f[(i + 2) % 3];
  }
  for (const auto& [vertex, ring] : next) {
    std::size_t steps = 0;
    for (std::uint32_t at = ring.begin()->first; steps == 0 || at != ring.begin()->first; ++steps) at = ring.at(at);
    ASSERT_EQ(steps, ring.size()) << "the boundary touches itself at vertex " << vertex;
  }
}

void expect_good(const TetMesh& mesh, int euler, double min_dihedral) {
  expect_sound_solid(mesh, min_dihedral);
  const TriMesh boundary = extract_surface(mesh);
  expect_one_fan_per_vertex(boundary);
  EXPECT_EQ(euler_characteristic(boundary), euler);
  EXPECT_EQ(piece_count(mesh), 1u);
}

// Damage --------------------------------------------------------------------------------------------------------------

TriMesh without_some(const TriMesh& mesh, double share) {
  std::mt19937 random(7);
  TriMesh result{mesh.vertices, {}, {}, {}};
  for (const Face& f : mesh.faces) {
    if (random() > share * 4294967296.0) result.faces.push_back(f);
  }
  return result;
}

TriMesh flipped(TriMesh mesh, double share) {
  std::mt19937 random(11);
  for (Face& f : mesh.faces) {
    if (random() < share * 4294967296.0) std::swap(f[0], f[1]);
  }
  return mesh;
}

/// Every triangle with corners of its own, moved by up to 5 % of an edge.
TriMesh torn(const TriMesh& mesh) {
  std::mt19937 random(13);
  const auto shift = [&] { return float(random() / 4294967296.0 - 0.5); };
  TriMesh result;
  for (const Face& f : mesh.faces) {
    const float edge = 0.1f * length(mesh.vertices[f[1]] - mesh.vertices[f[0]]);
    const auto first = std::uint32_t(result.vertices.size());
    for (const std::uint32_t v : f)
      result.vertices.push_back(mesh.vertices[v] + edge * Vec3{shift(), shift(), shift()});
    result.faces.push_back({first, first + 1, first + 2});
  }
  return result;
}

TriMesh joined(const TriMesh& a, const TriMesh& b, Vec3 offset) {
  TriMesh result{a.vertices, a.faces, {}, {}};
  const auto first = std::uint32_t(a.vertices.size());
  for (const Vec3 v : b.vertices) result.vertices.push_back(v + offset);
  for (const Face& f : b.faces) result.faces.push_back({f[0] + first, f[1] + first, f[2] + first});
  return result;
}

struct Damage {
  const char* name;
  std::function<TriMesh(const TriMesh&)> apply;
};
const Damage kDamages[] = {
    {"none", [](const TriMesh& m) { return m; }},
    {"a tenth missing", [](const TriMesh& m) { return without_some(m, 0.1); }},
    {"all twice", [](const TriMesh& m) { return joined(m, m, {}); }},
    {"all twice, both ways round", [](const TriMesh& m) { return joined(m, flipped(m, 1), {}); }},
    {"half flipped", [](const TriMesh& m) { return flipped(m, 0.5); }},
    {"inside out", [](const TriMesh& m) { return flipped(m, 1); }},
    {"torn", [](const TriMesh& m) { return torn(m); }},
    {"torn, half flipped", [](const TriMesh& m) { return flipped(torn(m), 0.5); }},
    {"flipped, a tenth missing", [](const TriMesh& m) { return without_some(flipped(m, 0.5), 0.1); }},
};

// Fit -----------------------------------------------------------------------------------------------------------------

TEST(Tetrahedralize, VolumeOfASphereConverges) {
  const TriMesh surface = tri_sphere(0.5f, 192);
  const double exact = 4 / 3.0 * kPiD * 0.125;
  double last = 1;
  for (const float cell : {0.2f, 0.1f, 0.05f}) {
    const TetMesh solid = solid_of(surface, cell);
    expect_good(solid, 2, 25);
    const double error = std::abs(solid.volume() / exact - 1);
    EXPECT_LT(error, last / 2.5) << "second order would be a quarter each time";
    last = error;
    for (const Vec3 p : extract_surface(solid).vertices) EXPECT_NEAR(length(p), 0.5, 0.001);
  }
  EXPECT_LT(last, 0.004);
}

TEST(Tetrahedralize, VolumeOfATorusConverges) {
  const TriMesh surface = tri_torus(0.4f, 0.15f, 128, 64);
  const double exact = 2 * kPiD * kPiD * 0.4 * 0.15 * 0.15;
  double last = 1;
  for (const float cell : {0.15f, 0.075f, 0.0375f}) {
    const TetMesh solid = solid_of(surface, cell);
    expect_good(solid, 0, 20);
    const double error = std::abs(solid.volume() / exact - 1);
    EXPECT_LT(error, last / 2.5);
    last = error;
  }
  EXPECT_LT(last, 0.015);
}

TEST(Tetrahedralize, ABoxThatTheLatticeFitsIsExact) {
  const TetMesh solid = solid_of(tri_box({2, 1, 3}, 1, 1, 1), 0.25f);
  expect_good(solid, 2, 44.9);
  EXPECT_NEAR(solid.volume(), 6, 1e-5);
}

TEST(Tetrahedralize, NodesInsideLieInside) {
  const TriMesh surface = tri_torus(0.4f, 0.15f, 128, 64);
  const TetMesh solid = solid_of(surface, 0.05f);
  for (const Vec3 p : solid.nodes) {
    const double ring = std::hypot(std::hypot(p.x, p.z) - 0.4, p.y);
    EXPECT_LT(ring, 0.151);
  }
  // And all of the inside is filled: random points are in a tet exactly if they are in the ring, but near its surface.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> along(-0.55, 0.55);
  for (int i = 0; i < 300; ++i) {
    const Vec3d p(along(random), along(random) / 3, along(random));
    const double ring = std::hypot(std::hypot(p.x, p.z) - 0.4, p.y);
    if (std::abs(ring - 0.15) < 0.01) continue;
    int holders = 0;
    for (const Tet& t : solid.tets) {
      std::array<Vec3d, 4> c;
      for (std::size_t k = 0; k < 4; ++k) c[k] = Vec3d(solid.nodes[t[k]]);
      holders += six_volumes(c[0], c[1], c[2], p) > 0 && six_volumes(c[0], c[3], c[1], p) > 0 &&
                 six_volumes(c[0], c[2], c[3], p) > 0 && six_volumes(c[1], c[3], c[2], p) > 0;
    }
    EXPECT_EQ(holders, ring < 0.15 ? 1 : 0);
  }
}

TEST(Tetrahedralize, ReportTellsWhatIsThere) {
  const TriMesh surface = tri_teapot(1);
  TetrahedralizeReport report;
  const TetMesh solid = solid_of(surface, 0.04f, &report);
  EXPECT_EQ(report.nodes, solid.nodes.size());
  EXPECT_EQ(report.tets, solid.tets.size());
  EXPECT_EQ(report.surface_faces, extract_surface(solid).faces.size());
  EXPECT_EQ(report.pieces, 1u);
  EXPECT_EQ(report.holes_closed, 0u);
  EXPECT_NEAR(report.surface_volume, enclosed_volume(surface), 1e-4 * enclosed_volume(surface));
  EXPECT_NEAR(report.volume, solid.volume(), 1e-4 * solid.volume());
  EXPECT_NEAR(report.volume_error, solid.volume() / enclosed_volume(surface) - 1, 2e-4);
  const auto angles = dihedral_range(solid);
  EXPECT_NEAR(report.min_dihedral_degrees, angles[0], 0.05);
  EXPECT_NEAR(report.max_dihedral_degrees, angles[1], 0.05);
  EXPECT_LT(report.to_surface.rms, report.to_surface.max);
  EXPECT_LT(report.to_surface.max, 0.04);
  EXPECT_LT(report.from_surface.max, 0.04);
}

TEST(Tetrahedralize, DistanceOfASphereIsThatOfItsChords) {
  TetrahedralizeReport report;
  solid_of(tri_sphere(0.5f, 256), 0.25f, &report);
  // Chords of length c lie c² / 8r below the sphere; edges on the boundary are 0.1 to 0.3 m long.
  EXPECT_GT(report.to_surface.max, 0.1 * 0.1 / 8 / 0.5);
  EXPECT_LT(report.to_surface.max, 0.35 * 0.35 / 8 / 0.5 * 2);
}

// Bad surfaces --------------------------------------------------------------------------------------------------------

struct Model {
  const char* name;
  TriMesh (*make)();
  float cell;
  int euler;
};
const Model kModels[] = {{"sphere", [] { return tri_sphere(0.5f, 48); }, 0.1f, 2},
                         {"torus", [] { return tri_torus(0.4f, 0.15f, 48, 24); }, 0.08f, 0},
                         {"gear", [] { return tri_gear({.cell = 0.04f}); }, 0.06f, 0},
                         {"pumpkin", [] { return tri_pumpkin({.segments = 48}); }, 0.1f, 2},
                         {"tire", [] { return tri_tire({.treads = 12, .segments = 48}); }, 0.06f, 0},
                         {"teapot", [] { return tri_teapot(1, 32); }, 0.06f, 0}};

class DamagedModel : public testing::TestWithParam<Model> {};

TEST_P(DamagedModel, IsFilledAsIfItWereWhole) {
  const Model& model = GetParam();
  const TriMesh surface = model.make();
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.name);
    TetrahedralizeReport report;
    const TetMesh solid = solid_of(damage.apply(surface), model.cell, &report);
    expect_good(solid, model.euler, 13);
    EXPECT_NEAR(solid.volume() / enclosed_volume(surface), 1, 0.05);
    EXPECT_LT(report.from_surface.max, 0.8 * double(model.cell));
  }
}

INSTANTIATE_TEST_SUITE_P(Tetrahedralize, DamagedModel, testing::ValuesIn(kModels),
                         [](const auto& model) { return std::string(model.param.name); });

TEST(Tetrahedralize, MendingIsCounted) {
  const TriMesh sphere = tri_sphere(0.5f, 32);
  TetrahedralizeReport report;
  solid_of(joined(sphere, sphere, {}), 0.1f, &report);
  EXPECT_EQ(report.triangles_dropped, sphere.faces.size());
  EXPECT_EQ(report.triangles_flipped, 0u);
  solid_of(flipped(sphere, 1), 0.1f, &report);
  EXPECT_EQ(report.triangles_flipped, sphere.faces.size());
  EXPECT_EQ(report.triangles_dropped, 0u);
  TriMesh two_holes = sphere;
  two_holes.faces.erase(two_holes.faces.begin());
  two_holes.faces.pop_back();
  solid_of(two_holes, 0.1f, &report);
  EXPECT_EQ(report.holes_closed, 2u);
  EXPECT_FALSE(report.notes.empty());
}

/// Eight corners, numbered x + 2 y + 4 z, and the sides as quads, each cut from its first corner; a second time in
/// reverse, so that they face inward and are cut along the other diagonal.
TriMesh doubled_cube() {
  constexpr std::uint32_t kSides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                          {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  TriMesh cube;
  for (int i = 0; i < 8; ++i) cube.vertices.push_back({float(i & 1), float(i >> 1 & 1), float(i >> 2)});
  for (const auto& s : kSides) cube.faces.insert(cube.faces.end(), {{s[0], s[1], s[2]}, {s[0], s[2], s[3]}});
  for (const auto& s : kSides) cube.faces.insert(cube.faces.end(), {{s[3], s[2], s[1]}, {s[3], s[1], s[0]}});
  return cube;
}

TEST(Tetrahedralize, QuadsThatComeTwiceCountOnce) {
  TetrahedralizeReport report;
  const TetMesh solid = solid_of(doubled_cube(), 0.1f, &report);
  EXPECT_EQ(report.triangles_dropped, 12u);
  EXPECT_EQ(report.triangles_flipped, 0u);
  EXPECT_NEAR(report.surface_volume, 1, 1e-6);
  EXPECT_NEAR(report.volume_error, 0, 1e-6);
  // Flat sides of several quads stay whole.
  solid_of(tri_box({1, 1, 1}, 3, 3, 3), 0.1f, &report);
  EXPECT_EQ(report.triangles_dropped, 0u);
}

TEST(Tetrahedralize, PartsThatRunThroughEachOtherAreJoined) {
  // Two balls of radius 1/2 whose centres are 1/2 apart: the lens that they share has the volume 5π/96.
  const TriMesh sphere = tri_sphere(0.5f, 96);
  const TetMesh solid = solid_of(joined(sphere, sphere, {0.5f, 0, 0}), 0.04f);
  expect_good(solid, 2, 13);
  EXPECT_NEAR(solid.volume(), 2 * kPiD / 6 - 5 * kPiD / 96, 0.01);
}

TEST(Tetrahedralize, CavitiesStayAndPiecesStayApart) {
  const TriMesh outer = tri_sphere(0.5f, 64), inner = tri_sphere(0.25f, 48);
  const TetMesh shell = solid_of(joined(outer, flipped(inner, 1), {}), 0.08f);
  expect_sound_solid(shell, 13);
  EXPECT_EQ(euler_characteristic(extract_surface(shell)), 4);
  EXPECT_NEAR(shell.volume(), 4 / 3.0 * kPiD * (0.125 - 0.015625), 0.02);

  TetrahedralizeReport report;
  const TetMesh two = solid_of(joined(outer, flipped(outer, 1), {1.3f, 0, 0}), 0.08f, &report);
  EXPECT_EQ(piece_count(two), 2u);
  EXPECT_EQ(report.pieces, 2u);
  EXPECT_NEAR(two.volume(), kPiD / 3, 0.04);
}

TEST(Tetrahedralize, ThinPartsAreKept) {
  const float thickness = 0.02f;  // far below the cell
  for (const float tilt : {0.0f, 0.4f, 0.7f}) {
    TriMesh plate = tri_box({1, thickness, 1}, 4, 1, 4);
    for (Vec3& v : plate.vertices) v = Quat::axis_angle({1, 0.3f, 2}, tilt).rotate(v);
    TetrahedralizeReport report;
    const TetMesh solid = solid_of(plate, 0.08f, &report);
    expect_good(solid, 2, 10);
    EXPECT_GT(report.thin_nodes, 0u);
    EXPECT_FALSE(report.notes.empty());
    EXPECT_LT(solid.volume(), 0.08);  // a sheet of one cell at most
    EXPECT_LT(report.from_surface.max, 0.06);
    const Vec3 size = solid.bounds().size(), wished = plate.bounds().size();
    EXPECT_NEAR(std::max({size.x, size.y, size.z}), std::max({wished.x, wished.y, wished.z}), 0.1);
  }
  const TetMesh rod = solid_of(tri_cylinder(0.01f, 1, 12), 0.08f);
  expect_good(rod, 2, 10);
  EXPECT_GT(rod.bounds().size().y, 0.9f);

  const Result<TetMesh> lost = tetrahedralize(
      joined(tri_sphere(0.3f, 32), tri_cylinder(0.01f, 1, 12), {0.1f, 0, 0.07f}), {.cell = 0.1f, .keep_thin = false});
  ASSERT_TRUE(lost.ok());
  EXPECT_LT(lost->bounds().size().y, 0.75f);

  // Its middle is on lattice points, which count as inside: still no tet is left, and the message says why.
  const Result<TetMesh> nothing = tetrahedralize(tri_box({1, 0.001f, 1}, 1, 1, 1), {.cell = 0.1f, .keep_thin = false});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().message,
            "nothing of the surface is as thick as a cell of 0.1 m: choose a smaller one, or keep thin parts");
}

// Invariance ----------------------------------------------------------------------------------------------------------

TEST(Tetrahedralize, PlaceAndSizeMakeNoDifference) {
  const TriMesh surface = tri_teapot(1, 32);
  const TetMesh plain = solid_of(surface, 0.0625f);
  for (const auto& [scale, offset] : {std::pair{1024.0f, Vec3{}}, {1 / 1024.0f, Vec3{}}, {1.0f, Vec3{8, -4, 2}}}) {
    TriMesh moved = surface;
    for (Vec3& v : moved.vertices) v = scale * v + offset;
    const TetMesh solid = solid_of(moved, 0.0625f * scale);
    EXPECT_NEAR(double(solid.tets.size()), double(plain.tets.size()), 0.01 * double(plain.tets.size()));
    EXPECT_NEAR(solid.volume() / std::pow(double(scale), 3), plain.volume(), 2e-3 * plain.volume());
    if (offset == Vec3{}) {
      EXPECT_EQ(solid.tets, plain.tets);
    }
  }
}

TEST(Tetrahedralize, SameForAnyNumberOfThreads) {
  const TriMesh surface = without_some(flipped(torn(tri_torus(0.4f, 0.15f, 48, 24)), 0.5), 0.05);
  const auto solid = [&](int threads) { return *tetrahedralize(surface, {.cell = 0.05f, .threads = threads}); };
  const TetMesh one = solid(1), two = solid(2);
  EXPECT_EQ(one.tets, two.tets);
  EXPECT_EQ(one.nodes, two.nodes);
}

TEST(Tetrahedralize, ProgressGoesFromStartToEnd) {
  std::vector<float> shares;
  ASSERT_TRUE(tetrahedralize(tri_sphere(0.5f, 32), {.progress = [&](float s) { shares.push_back(s); }}).ok());
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GE(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
}

TEST(Tetrahedralize, DefaultCellIsATwentieth) {
  TetrahedralizeReport report;
  solid_of(tri_box({4, 1, 1}, 1, 1, 1), 0, &report);
  EXPECT_FLOAT_EQ(report.cell, 0.2f);
}

// Refusals ------------------------------------------------------------------------------------------------------------

TEST(Tetrahedralize, RefusesWhatIsNoSurface) {
  EXPECT_NE(refusal_of({}, 0.1f).find("no triangles"), std::string::npos);
  TriMesh bad = tri_sphere(0.5f, 16);
  bad.vertices[3].y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(refusal_of(bad, 0.1f).find("vertex 3 is not finite"), std::string::npos);
  bad = tri_sphere(0.5f, 16);
  bad.faces[5][1] = 4000000000u;
  EXPECT_NE(refusal_of(bad, 0.1f).find("face 5"), std::string::npos);
  bad = tri_sphere(0.5f, 16);
  for (Vec3& v : bad.vertices) v = {1, 2, 3};
  EXPECT_NE(refusal_of(bad, 0.1f).find("encloses no volume"), std::string::npos);
}

TEST(Tetrahedralize, RefusesSheets) {
  for (const TriMesh& sheet : {tri_grid({1, 1}, 0.1f), tri_terrain(), tri_rope_strip(1, 0.1f, 10)}) {
    EXPECT_NE(refusal_of(sheet, 0).find("encloses no volume"), std::string::npos);
    EXPECT_NE(refusal_of(flipped(sheet, 0.5), 0).find("encloses no volume"), std::string::npos);
  }
}

TEST(Tetrahedralize, RefusesCellsThatMakeNoSense) {
  const TriMesh sphere = tri_sphere(0.5f, 16);
  for (const float cell : {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_NE(refusal_of(sphere, cell).find("cell"), std::string::npos);
  }
  EXPECT_NE(refusal_of(sphere, 3).find("larger than the surface"), std::string::npos);
}

TEST(Tetrahedralize, AdviceOnTooSmallCellsIsEnough) {
  const TriMesh sphere = tri_sphere(0.5f, 32);
  const TetrahedralizeOptions few{.cell = 1e-3f, .max_tets = 20000};
  const Result<TetMesh> refused = tetrahedralize(sphere, few);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Error::Code::CapacityExceeded);
  const std::string& message = refused.error().message;
  const std::string before = "choose one of at least ";
  ASSERT_NE(message.find(before), std::string::npos) << message;
  const float advised = std::stof(message.substr(message.find(before) + before.size()));
  const Result<TetMesh> solid = tetrahedralize(sphere, {.cell = advised, .max_tets = 20000});
  ASSERT_TRUE(solid.ok()) << solid.error().to_string();
  EXPECT_GT(solid->tets.size(), 14000u);
  EXPECT_LT(solid->tets.size(), 24000u);
  for (const float cell : {1e-6f, 1e-12f, 1e-30f, std::numeric_limits<float>::denorm_min()}) {
    EXPECT_NE(refusal_of(sphere, cell).find("choose one of at least 0.0"), std::string::npos)
        << refusal_of(sphere, cell);
  }
}

TEST(Tetrahedralize, ExtremeSizesAndPlaces) {
  for (const float scale : {1e-30f, 1e-6f, 1e6f, 1e30f}) {
    TriMesh sphere = tri_sphere(0.5f, 32);
    for (Vec3& v : sphere.vertices) v = scale * v;
    expect_sound_solid(solid_of(sphere, 0.1f * scale), 25);
  }
  TriMesh huge = tri_sphere(0.5f, 32);
  for (Vec3& v : huge.vertices) v = 3.4e38f * (2 * v);
  const Result<TetMesh> at_the_limit = tetrahedralize(huge);
  if (at_the_limit.ok()) {
    EXPECT_TRUE(validate(*at_the_limit).empty());
  }
  TriMesh far = tri_sphere(0.5f, 32);
  for (Vec3& v : far.vertices) v += {1e6f, 0, 0};
  EXPECT_NE(refusal_of(far, 0.1f).find("from the origin"), std::string::npos);
}

}  // namespace
}  // namespace pliant
