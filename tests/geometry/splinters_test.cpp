// Splinters against what a cut body must be: closed pieces that together have its volume and its surface.
#include "pliant/splinters.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pliant/generators.h"

namespace pliant {
namespace {

double area_of(const TriMesh& mesh, const Face& f) {
  return 0.5 *
         double(length(cross(mesh.vertices[f[1]] - mesh.vertices[f[0]], mesh.vertices[f[2]] - mesh.vertices[f[0]])));
}

double surface_area(const TriMesh& mesh) {
  double sum = 0;
  for (const Face& f : mesh.faces) sum += area_of(mesh, f);
  return sum;
}

double outer_area(const Splinters& s) {
  double sum = 0;
  for (std::size_t f = 0; f < s.mesh.faces.size(); ++f) sum += s.is_inside[f] ? 0 : area_of(s.mesh, s.mesh.faces[f]);
  return sum;
}

struct Case {
  const char* name;
  TetMesh mesh;
  SplinterDef def;
};

std::vector<Case> cases() {
  const std::vector<std::pair<const char*, TetMesh>> bodies = {{"box", tet_box({1, 0.6f, 0.1f}, 0.1f)},
                                                               {"cylinder", tet_cylinder(0.2f, 1, 0.1f)},
                                                               {"sphere", tet_sphere(0.4f, 0.12f)},
                                                               {"torus", tet_torus(0.5f, 0.12f, 0.08f)}};
  const std::vector<SplinterDef> defs = {
      {.pattern = WoodSplinters{.grain = {0.2f, 1, 0.1f}, .length = 0.3f, .width = 0.07f}},
      {.pattern = BrickSplinters{.size = {0.19f, 0.09f, 0.09f}, .joint = 0.01f}},
      {.pattern = BrickSplinters{.size = {0.1f, 0.1f, 0.1f}, .joint = 0}},  // in the planes of the box's own cells
      {.pattern = GlassSplinters{.size = 0.09f}},
      {.pattern = GlassSplinters{.size = 0.05f, .center = Vec3{0.1f, 0.1f, 0}}},
      {.pattern = GrainSplinters{.size = 0.13f}}};
  std::vector<Case> out;
  for (const auto& [name, mesh] : bodies) {
    for (const SplinterDef& def : defs) out.push_back({name, mesh, def});
  }
  return out;
}

TEST(Splinters, FillTheBodyAndAreClosed) {
  for (const Case& c : cases()) {
    const std::string where = std::string(c.name) + ", pattern " + std::to_string(c.def.pattern.index());
    const Result<Splinters> made = make_splinters(c.mesh, c.def);
    ASSERT_TRUE(made.ok()) << where << ": " << made.error().message;
    EXPECT_TRUE(check_splinters(*made).ok()) << where;
    EXPECT_GT(made->size(), 10u) << where;
    double volume = 0;
    std::size_t open = 0;
    for (std::size_t i = 0; i < made->size(); ++i) {
      const TriMesh piece = splinter_surface(*made, i);
      volume += enclosed_volume(piece);
      EXPECT_GT(enclosed_volume(piece), -1e-9) << where;
      for (const MeshProblem& p : validate(piece, {.require_closed = true})) {
        if (p.kind == MeshProblem::Kind::Degenerate) continue;
        if (open++ < 3) ADD_FAILURE() << where << ", splinter " << i << ": " << p.message;
      }
    }
    EXPECT_EQ(open, 0u) << where;
    EXPECT_NEAR(volume / c.mesh.volume(), 1, 1e-5) << where;
    EXPECT_NEAR(outer_area(*made) / surface_area(extract_surface(c.mesh)), 1, 1e-5) << where;
    for (std::size_t f = 0; f < made->mesh.faces.size(); ++f) {
      const Face& face = made->mesh.faces[f];
      const Vec3 n = cross(made->mesh.vertices[face[1]] - made->mesh.vertices[face[0]],
                           made->mesh.vertices[face[2]] - made->mesh.vertices[face[0]]);
      if (length(n) > 1e-7f) {
        EXPECT_GT(dot(normalized(n), made->mesh.normals[face[0]]), 0.2f) << where;
      }
    }
  }
}

TEST(Splinters, OfWoodAreLongAlongTheGrain) {
  const TetMesh plank = tet_box({2, 0.3f, 0.1f}, 0.1f);
  const Splinters wood =
      make_splinters(plank, {.pattern = WoodSplinters{.grain = {1, 0, 0}, .length = 0.5f, .width = 0.05f}}).value();
  double along = 0, across = 0;
  for (std::size_t i = 0; i < wood.size(); ++i) {
    const Vec3 size = splinter_surface(wood, i).bounds().size();
    along += double(size.x), across += double(size.y);
  }
  EXPECT_GT(along, 4 * across);
}

TEST(Splinters, OfOneBodyAreOneEach) {
  // Fibres across a ring meet it twice, and each of those splinters is in one piece.
  const TetMesh ring = tet_torus(0.5f, 0.1f, 0.08f);
  const Splinters fibres =
      make_splinters(ring, {.pattern = WoodSplinters{.grain = {1, 0, 0}, .length = 5, .width = 0.1f}}).value();
  for (std::size_t i = 0; i < fibres.size(); ++i) {
    const TriMesh piece = splinter_surface(fibres, i);
    std::vector<std::uint32_t> part(piece.vertices.size());
    for (std::uint32_t v = 0; v < part.size(); ++v) part[v] = v;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Face& f : piece.faces) {
        const std::uint32_t least = std::min({part[f[0]], part[f[1]], part[f[2]]});
        for (const std::uint32_t v : f) changed |= part[v] != least, part[v] = least;
      }
    }
    for (const std::uint32_t p : part) EXPECT_EQ(p, 0u);
  }
}

TEST(Splinters, DependOnTheSeedAlone) {
  const TetMesh mesh = tet_box({1, 1, 0.1f}, 0.1f);
  const SplinterDef def{.pattern = GlassSplinters{.size = 0.1f}, .seed = 5};
  SplinterDef other = def;
  other.seed = 6;
  const Splinters a = make_splinters(mesh, def).value(), b = make_splinters(mesh, def).value(),
                  c = make_splinters(mesh, other).value();
  EXPECT_EQ(a.mesh.vertices, b.mesh.vertices);
  EXPECT_EQ(a.mesh.faces, b.mesh.faces);
  EXPECT_NE(a.mesh.vertices, c.mesh.vertices);
}

TEST(Splinters, RefuseNonsense) {
  const TetMesh mesh = tet_box({1, 1, 1}, 0.25f);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (const float bad : {0.0f, -1.0f, inf, nan, 1e-6f}) {
    EXPECT_FALSE(make_splinters(mesh, {.pattern = GrainSplinters{.size = bad}}).ok()) << bad;
    EXPECT_FALSE(make_splinters(mesh, {.pattern = GlassSplinters{.size = bad}}).ok()) << bad;
    EXPECT_FALSE(make_splinters(mesh, {.pattern = GlassSplinters{.size = bad, .center = Vec3{}}}).ok()) << bad;
    EXPECT_FALSE(make_splinters(mesh, {.pattern = WoodSplinters{.width = bad}}).ok()) << bad;
    EXPECT_FALSE(make_splinters(mesh, {.pattern = BrickSplinters{.size = {1, bad, 1}}}).ok()) << bad;
  }
  EXPECT_FALSE(make_splinters(mesh, {.pattern = WoodSplinters{.grain = {0, 0, 0}}}).ok());
  EXPECT_FALSE(make_splinters(mesh, {.pattern = BrickSplinters{.along = {0, 1, 0}}}).ok());
  EXPECT_FALSE(make_splinters(mesh, {.pattern = BrickSplinters{.joint = 1}}).ok());
  EXPECT_FALSE(make_splinters(mesh, {.variation = nan}).ok());
  EXPECT_FALSE(make_splinters({}, {}).ok());
  // Fewer cells than are allowed, but a million vertices.
  const Result<Splinters> many = make_splinters(mesh, {.pattern = GrainSplinters{.size = 0.025f}});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code, Error::Code::CapacityExceeded);
}

TEST(Splinters, FromModelledPiecesKnowTheirOutside) {
  const TetMesh mesh = tet_box({2, 1, 1}, 0.25f);
  std::vector<TriMesh> halves(2, tri_box({1, 1, 1}, 0.25f));
  for (Vec3& v : halves[0].vertices) v.x -= 0.5f;
  for (Vec3& v : halves[1].vertices) v.x += 0.5f;
  const Result<Splinters> made = splinters_from(halves, mesh);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(check_splinters(*made).ok());
  ASSERT_EQ(made->size(), 2u);
  EXPECT_NEAR(outer_area(*made), 2 * (2 + 2 + 1), 1e-4);
  EXPECT_NEAR(enclosed_volume(splinter_surface(*made, 1)), 1, 1e-5);
  EXPECT_FALSE(splinters_from({}, mesh).ok());
  halves[1].faces[0][0] = 100000;
  EXPECT_FALSE(splinters_from(halves, mesh).ok());
}

TEST(Splinters, AreChecked) {
  const Splinters good = make_splinters(tet_box({1, 1, 1}, 0.5f), {.pattern = GrainSplinters{.size = 0.4f}}).value();
  ASSERT_TRUE(check_splinters(good).ok());
  Splinters bad = good;
  bad.mesh.faces[0][1] = std::uint32_t(bad.mesh.vertices.size());
  EXPECT_FALSE(check_splinters(bad).ok());
  bad = good, bad.mesh.faces.back()[0] = 0;
  EXPECT_FALSE(check_splinters(bad).ok());
  bad = good, bad.first_faces.pop_back();
  EXPECT_FALSE(check_splinters(bad).ok());
  bad = good, bad.is_inside.pop_back();
  EXPECT_FALSE(check_splinters(bad).ok());
  bad = good, bad.mesh.vertices[3].y = std::nanf("");
  EXPECT_FALSE(check_splinters(bad).ok());
  EXPECT_FALSE(check_splinters({}).ok());
}

}  // namespace
}  // namespace pliant
