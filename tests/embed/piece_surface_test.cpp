// What pieces of a broken solid show: against connectivity found by flood fill, volumes, lengths at rest, and what is
// shown by someone who looks for the first time.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "embed/attached_pieces.h"
#include "embed/carried_surface.h"
#include "embed/render_surface.h"
#include "pliant/pliant.h"

namespace pliant {
namespace {

/// A wall that a heavy cube flies into.
struct Wall {
  explicit Wall(SolidDef def = wall_def(), int threads = 1) : world(WorldDef{.threads = threads}) {
    world.add(GroundDef{});
    world.add(def).value();
    world
        .add(RigidDef{
            .shape = Box{{0.5f, 0.5f, 0.5f}}, .density = 16000, .position = {0, 1.6f, 0.6f}, .velocity = {0, 0, -30}})
        .value();
    world.commit_edits();
  }
  static SolidDef wall_def() {
    SolidDef def{.name = "wall", .mesh = tet_box({3, 3, 0.3f}, 7, 7, 1)};
    def.material.young_modulus = 4e6f, def.material.poisson_ratio = 0.25f, def.material.strength = 3e4f;
    def.position = {0, 1.5f, 0};
    def.held = {{.name = "foot", .nodes = NodeBox{{{-2, -1.6f, -1}, {2, -1.49f, 1}}}}};
    return def;
  }
  static SolidDef with_splinters(const SplinterDef& splinters) {
    SolidDef def = wall_def();
    def.splinters = std::make_shared<const Splinters>(make_splinters(def.mesh, splinters).value());
    def.interior_color = Vec3{0.2f, 0.1f, 0.1f};
    return def;
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) world.step();
  }
  std::vector<BodyId> solids() const {
    std::vector<BodyId> out;
    for (const BodyId id : world.bodies()) {
      if (world.kind(id) == BodyKind::Solid) out.push_back(id);
    }
    return out;
  }
  /// What the whole carries.
  const CarriedSurface& whole() {
    if (!whole_) whole_ = CarriedSurface::create(workers, *world.origin_def(solids()[0]));
    return *whole_;
  }
  PieceSurface piece(BodyId id) {
    return surface_of_piece(whole(), (*world.solid_def(id))->mesh, *world.origin_tets(id));
  }

  World world;
  Workers workers;

 private:
  std::shared_ptr<const CarriedSurface> whole_;
};

void expect_attached(Wall& s) {
  Wholes wholes;
  expect_attached(s.world, s.workers, wholes);
}

/// By how much an edge of what is seen is longer than it was, m.
float longest_growth(const RenderSurface& surface) {
  float most = 0;
  for (const Face& f : surface.mesh->faces) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = f[i], b = f[(i + 1) % 3];
      const float rest = length(surface.mesh->vertices[a] - surface.mesh->vertices[b]);
      most = std::max(most, length(surface.vertices[a] - surface.vertices[b]) - rest);
    }
  }
  return most;
}

const std::vector<SplinterDef>& patterns() {
  static const std::vector<SplinterDef> all = {
      {.pattern = WoodSplinters{.length = 0.8f, .width = 0.15f}},
      {.pattern = BrickSplinters{.size = {0.3f, 0.12f, 0.15f}, .joint = 0.02f}},
      {.pattern = GlassSplinters{.size = 0.2f, .center = Vec3{0, 0.1f, 0}}},
      {.pattern = GrainSplinters{.size = 0.2f}}};
  return all;
}

TEST(PieceSurface, SplintersStayAttachedToOnePieceEach) {
  for (const SplinterDef& def : patterns()) {
    Wall s(Wall::with_splinters(def));
    SurfacePublisher publisher;
    for (int i = 0; i < 3; ++i) {
      expect_attached(s);
      for (const RenderSurface& surface : publisher.update(s.world)) {
        if (s.world.kind(surface.body) != BodyKind::Solid) continue;
        // Pieces fly metres apart, and a splinter that spanned two of them would be drawn out as far. One that lies
        // across a crack which is still open within its piece is drawn out by the width of that.
        EXPECT_LT(longest_growth(surface), 0.3f) << "pattern " << def.pattern.index() << ", step " << 13 * i;
        EXPECT_EQ(surface.colors.size(), surface.vertices.size());
      }
      s.run(13);
    }
    EXPECT_GT(s.solids().size(), 5u);
  }
}

TEST(PieceSurface, SplintersStayAttachedWhateverHappens) {
  // Bodies of random form, strength and splinters, shot and blown up at random.
  std::mt19937 random(7);
  const auto chance = [&](float from, float to) { return from + (to - from) * float(random() % 10000) / 10000; };
  World world;
  world.add(GroundDef{});
  for (int i = 0; i < 8; ++i) {
    SolidDef def{.mesh = i % 2 ? tet_cylinder(0.2f, 1, 0.15f) : tet_box({chance(0.4f, 1), 0.8f, 0.3f}, 0.2f)};
    def.material.young_modulus = chance(1e6f, 1e7f), def.material.strength = chance(1e4f, 5e4f);
    def.position = {1.2f * float(i % 4), 0.6f, 1.5f * float(i / 4)};
    def.splinters = std::make_shared<const Splinters>(make_splinters(def.mesh, patterns()[std::size_t(i) % 4]).value());
    world.add(def).value();
  }
  Workers workers;
  Wholes wholes;
  SurfacePublisher publisher;
  std::size_t cracks = 0;
  for (int step = 0; step < 90; ++step) {
    if (step % 15 == 0) {
      world.add(RigidDef{.shape = Sphere{0.1f},
                         .density = 8000,
                         .position = {chance(0, 3.6f), 0.6f, 4},
                         .velocity = {0, 0, chance(-40, -20)}});
    }
    if (step == 50) world.explode({.center = {2, 0, 0.7f}, .radius = 3, .impulse_per_area = 400});
    cracks += world.step().fractures;
    if (step % 30 == 29) expect_attached(world, workers, wholes);
    for (const RenderSurface& surface : publisher.update(world)) {
      for (const Vec3 v : surface.vertices) ASSERT_TRUE(is_finite(v)) << step;
    }
  }
  EXPECT_GT(cracks, 100u);
}

TEST(PieceSurface, AWholeBodyShowsItsOutsideAlone) {
  const SolidDef def = Wall::with_splinters(patterns()[1]);
  Wall s(def);
  SurfacePublisher publisher;
  const RenderSurface shown = publisher.update(s.world)[1];
  double area = 0;
  for (const Face& f : shown.mesh->faces) {
    const auto at = [&](std::size_t i) { return shown.vertices[f[i]]; };
    area += 0.5 * double(length(cross(at(1) - at(0), at(2) - at(0))));
  }
  EXPECT_NEAR(area, 2 * (3 * 3 + 2 * 3 * 0.3), 1e-3);
  EXPECT_LT(shown.mesh->faces.size(), def.splinters->mesh.faces.size() / 2);
}

TEST(PieceSurface, PiecesOfSplintersAreClosed) {
  // What is left out lies against its like: the rest encloses the splinters, wherever it is measured from. (Of bricks
  // and fibres a side may lie against two others: then it is left in.)
  for (const SplinterDef& pattern : {patterns()[2], patterns()[3]}) {
    const SolidDef def = Wall::with_splinters(pattern);
    Wall s(def);
    s.run(30);
    const CarriedSurface& whole = s.whole();
    std::size_t shown = 0;
    for (const BodyId id : s.solids()) {
      PieceSurface piece = s.piece(id);
      const std::vector<std::uint32_t> origin = *s.world.origin_tets(id);
      double expected = 0;
      const std::set<std::uint32_t> tets(origin.begin(), origin.end());
      for (std::uint32_t u = 0; u < whole.units.size(); ++u) {
        if (!tets.count(whole.units[u].home)) continue;
        expected += enclosed_volume(splinter_surface(*def.splinters, u));
      }
      EXPECT_NEAR(enclosed_volume(piece.mesh), expected, 1e-5);
      for (Vec3& v : piece.mesh.vertices) v += Vec3{1, 2, -3};
      EXPECT_NEAR(enclosed_volume(piece.mesh), expected, 1e-4);
      shown += piece.mesh.faces.size();
    }
    EXPECT_LT(shown, def.splinters->mesh.faces.size()) << "sides that lie against each other are not seen";
  }
}

/// Triangles of a piece at rest that are closed: the volume they enclose is the piece's, wherever it is measured from.
TEST(PieceSurface, PiecesWithoutSplintersAreClosedWhereTheyBroke) {
  Wall s;
  s.run(30);
  ASSERT_GT(s.solids().size(), 5u);
  for (const BodyId id : s.solids()) {
    TriMesh shown = s.piece(id).mesh;
    const double volume = (*s.world.solid_def(id))->mesh.volume();
    EXPECT_NEAR(enclosed_volume(shown), volume, 1e-5);
    for (Vec3& v : shown.vertices) v += Vec3{1, 2, -3};
    EXPECT_NEAR(enclosed_volume(shown), volume, 1e-4);
  }
}

TEST(PieceSurface, ACarriedSurfaceIsSharedOut) {
  SolidDef def = Wall::wall_def();
  TriMesh model = tri_box({3.04f, 3.04f, 0.34f}, 10);  // of a few large triangles, outside of the mesh
  def.surface = std::make_shared<const TriMesh>(model);
  Wall s(def);
  SurfacePublisher publisher;
  publisher.update(s.world);
  s.run(30);
  ASSERT_GT(s.solids().size(), 5u);
  expect_attached(s);
  double area = 0;
  for (const BodyId id : s.solids()) {
    const PieceSurface piece = s.piece(id);
    for (const Face& f : piece.mesh.faces) {
      if (piece.vertex_units[f[0]] == kNoNeighbor) continue;
      const auto at = [&](std::size_t i) { return piece.mesh.vertices[f[i]]; };
      area += 0.5 * double(length(cross(at(1) - at(0), at(2) - at(0))));
    }
  }
  EXPECT_NEAR(area, 2 * (3.04 * 3.04 + 2 * 3.04 * 0.34), 1e-3);
  for (const RenderSurface& surface : publisher.update(s.world)) {
    if (s.world.kind(surface.body) == BodyKind::Solid) {
      EXPECT_LT(longest_growth(surface), 0.3f);
    }
  }
}

std::vector<std::vector<Vec3>> shown_by(SurfacePublisher& publisher, const World& world) {
  std::vector<std::vector<Vec3>> out;
  for (const RenderSurface& s : publisher.update(world)) {
    out.emplace_back(s.vertices.begin(), s.vertices.end());
    out.emplace_back(s.normals.begin(), s.normals.end());
  }
  return out;
}

TEST(PieceSurface, IsTheSameForAllWhoLook) {
  const SolidDef def = Wall::with_splinters(patterns()[0]);
  Wall one(def, 1), two(def, 2);
  SurfacePublisher from_the_start, other;
  one.run(6), two.run(6);
  shown_by(from_the_start, one.world);
  const Snapshot before = one.world.snapshot();
  const auto shown_before = shown_by(from_the_start, one.world);
  for (int i = 0; i < 20; ++i) one.world.step(), two.world.step(), shown_by(from_the_start, one.world);
  EXPECT_EQ(one.world.report().hash, two.world.report().hash);
  SurfacePublisher late;
  const auto shown = shown_by(late, one.world);
  EXPECT_EQ(shown, shown_by(from_the_start, one.world));
  EXPECT_EQ(shown, shown_by(other, two.world));
  // Back to before, seen by those who have seen what came after.
  one.world.restore(before).require();
  EXPECT_EQ(shown_before, shown_by(from_the_start, one.world));
  one.run(20);
  EXPECT_EQ(one.world.report().hash, two.world.report().hash);
  EXPECT_EQ(shown, shown_by(from_the_start, one.world));
}

TEST(PieceSurface, SplintersDoNotChangeTheRun) {
  Wall with(Wall::with_splinters(patterns()[2])), without;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(with.world.step().hash, without.world.step().hash);
}

TEST(PieceSurface, BadSplintersAreRefused) {
  SolidDef def = Wall::with_splinters(patterns()[3]);
  auto bad = std::make_shared<Splinters>(*def.splinters);
  bad->first_faces.back() += 1;
  def.splinters = bad;
  World world;
  const Result<BodyId> added = world.add(def);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().field, "add: splinters.first_faces");
}

}  // namespace
}  // namespace pliant
