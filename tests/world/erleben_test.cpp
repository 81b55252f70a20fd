// The degenerate contacts of Erleben (Methodology for Assessing Mesh-Based Contact Point Methods, 2018), as small
// meshes of our own: spikes, wedges, holes, cracks, cliff edges and internal edges, of rigid bodies, solids and cloth.
// Nothing passes through anything, nothing is thrown about, and all comes to rest.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/generators.h"
#include "pliant/pliant.h"

namespace pliant {
namespace {

enum class Kind { Rigid, Solid };
constexpr Kind kKinds[] = {Kind::Rigid, Kind::Solid};

/// A tet mesh of a convex prism or pyramid, and its hull.
struct Lump {
  TetMesh mesh;
  std::vector<Vec3> corners;
};

/// Four sides that meet in a point; `up` or down.
Lump spike(float width, float height, bool up) {
  const float w = 0.5f * width, base = up ? 0.0f : height, tip = up ? height : 0.0f;
  Lump lump;
  lump.corners = {{-w, base, -w}, {w, base, -w}, {w, base, w}, {-w, base, w}, {0, tip, 0}};
  lump.mesh.nodes = lump.corners;
  lump.mesh.tets = {{0, 1, 2, 4}, {0, 2, 3, 4}};
  if (up) lump.mesh.tets = {{0, 2, 1, 4}, {0, 3, 2, 4}};
  return lump;
}

/// Two sides that meet in an edge along z.
Lump wedge(float width, float height, float length, bool up) {
  const float w = 0.5f * width, l = 0.5f * length, base = up ? 0.0f : height, tip = up ? height : 0.0f;
  Lump lump;
  lump.corners = {{-w, base, -l}, {w, base, -l}, {0, tip, -l}, {-w, base, l}, {w, base, l}, {0, tip, l}};
  lump.mesh.nodes = lump.corners;
  lump.mesh.tets = {{0, 1, 2, 5}, {0, 1, 5, 4}, {0, 4, 5, 3}};
  return lump;
}

/// Tets that look outward, whichever way they were written.
TetMesh sound(TetMesh mesh) {
  for (Tet& tet : mesh.tets) {
    const Vec3 a = mesh.nodes[tet[0]];
    const Vec3 ab = mesh.nodes[tet[1]] - a, ac = mesh.nodes[tet[2]] - a, ad = mesh.nodes[tet[3]] - a;
    if (dot(cross(ab, ac), ad) < 0) std::swap(tet[2], tet[3]);
  }
  return mesh;
}

BodyId add(World& world, const Lump& lump, Kind kind, Vec3 position, bool is_fixed = false) {
  if (kind == Kind::Rigid) {
    return world
        .add(RigidDef{.shape = ConvexHull{lump.corners},
                      .motion = is_fixed ? Motion::Static : Motion::Dynamic,
                      .density = 300,
                      .position = position,
                      .friction = 0.6f})
        .value();
  }
  SolidDef solid{.mesh = sound(lump.mesh),
                 .material = {.density = 300, .young_modulus = 1e6f, .poisson_ratio = 0.3f},
                 .position = position,
                 .friction = 0.6f};
  if (is_fixed) solid.held = {{.nodes = AllNodes{}}};
  return world.add(solid).value();
}

BodyId add_box(World& world, Vec3 size, Kind kind, Vec3 position, bool is_fixed, float cell = 0.25f) {
  if (kind == Kind::Rigid) {
    return world
        .add(RigidDef{.shape = Box{size},
                      .motion = is_fixed ? Motion::Static : Motion::Dynamic,
                      .density = 300,
                      .position = position,
                      .friction = 0.6f})
        .value();
  }
  SolidDef solid{.mesh = tet_box(size, cell),
                 .material = {.density = 300, .young_modulus = 1e6f, .poisson_ratio = 0.3f},
                 .position = position,
                 .friction = 0.6f};
  if (is_fixed) solid.held = {{.nodes = AllNodes{}}};
  return world.add(solid).value();
}

/// The corners of a rigid body, or the nodes of another, in the world.
std::vector<Vec3> points(const World& world, BodyId body, std::vector<Vec3>* velocities = nullptr) {
  if (const auto nodes = world.node_positions(body)) {
    const auto v = world.node_velocities(body).value();
    if (velocities) velocities->assign(v.begin(), v.end());
    return {nodes->begin(), nodes->end()};
  }
  const BodyState state = world.state(body).value();
  std::vector<Vec3> corners;
  if (const auto* hull = std::get_if<ConvexHull>(&(*world.def(body))->shape)) corners = hull->points;
  if (const auto* box = std::get_if<Box>(&(*world.def(body))->shape)) {
    for (int i = 0; i < 8; ++i) {
      corners.push_back({box->size.x * (i % 2 ? 0.5f : -0.5f), box->size.y * (i / 2 % 2 ? 0.5f : -0.5f),
                         box->size.z * (i / 4 ? 0.5f : -0.5f)});
    }
  }
  for (Vec3& corner : corners) {
    corner = state.world_from_body * corner;
    const Vec3 arm = corner - state.center_of_mass;
    if (velocities) velocities->push_back(state.velocity + cross(state.angular_velocity, arm));
  }
  return corners;
}

float fastest(const World& world, BodyId body) {
  std::vector<Vec3> velocities;
  points(world, body, &velocities);
  float speed = 0;
  for (const Vec3 v : velocities) speed = std::max(speed, length(v));
  return speed;
}

/// Steps until it should rest; `bodies` must never be faster than `fast`, and be calm in the end.
void expect_calm(World& world, std::span<const BodyId> bodies, float fast, float calm, const std::string& what,
                 int steps = 240) {
  for (int i = 0; i < steps; ++i) {
    world.step();
    for (const BodyId body : bodies) ASSERT_LT(fastest(world, body), fast) << what << ", step " << i;
  }
  for (const BodyId body : bodies) EXPECT_LT(fastest(world, body), calm) << what;
}

float low(const World& world, BodyId body) {
  float y = 1e9f;
  for (const Vec3 p : points(world, body)) y = std::min(y, p.y);
  return y;
}
float high(const World& world, BodyId body) {
  float y = -1e9f;
  for (const Vec3 p : points(world, body)) y = std::max(y, p.y);
  return y;
}

std::string names(Kind a, Kind b) {
  const auto name = [](Kind kind) { return std::string(kind == Kind::Rigid ? "rigid" : "solid"); };
  return name(a) + " on " + name(b);
}

void for_each_pair(const std::function<void(Kind, Kind)>& run) {
  for (const Kind a : kKinds) {
    for (const Kind b : kKinds) run(a, b);
  }
}

// A box lands on the tip of a spike, a little beside its middle: it may fall off, but the tip does not enter.
TEST(Erleben, ABoxOnASpike) {
  for_each_pair([](Kind a, Kind b) {
    World world({.allow_sleep = false});
    world.add(GroundDef{.friction = 0.6f});
    add(world, spike(0.6f, 0.5f, true), b, {}, true);
    const BodyId box = add_box(world, {0.5f, 0.2f, 0.5f}, a, {0.02f, 0.65f, 0.01f}, false);
    expect_calm(world, std::vector{box}, 8, 0.5f, names(a, b));
    EXPECT_GT(high(world, box), 0.15f) << names(a, b);
    EXPECT_GT(low(world, box), -0.02f) << names(a, b);
  });
}

TEST(Erleben, ABoxOnAWedge) {
  for_each_pair([](Kind a, Kind b) {
    World world({.allow_sleep = false});
    world.add(GroundDef{.friction = 0.6f});
    add(world, wedge(0.6f, 0.5f, 0.8f, true), b, {}, true);
    const BodyId box = add_box(world, {0.5f, 0.2f, 0.5f}, a, {0.01f, 0.65f, 0}, false);
    expect_calm(world, std::vector{box}, 8, 0.5f, names(a, b));
    EXPECT_GT(low(world, box), -0.02f) << names(a, b);
  });
}

// Tip against tip, and edge across edge.
TEST(Erleben, SpikeOnSpikeAndWedgeOnWedge) {
  for_each_pair([](Kind a, Kind b) {
    for (const bool is_wedge : {false, true}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      const Lump below = is_wedge ? wedge(0.4f, 0.4f, 0.6f, true) : spike(0.4f, 0.4f, true);
      const Lump above = is_wedge ? wedge(0.4f, 0.4f, 0.6f, false) : spike(0.4f, 0.4f, false);
      add(world, below, b, {}, true);
      const BodyId body = add(world, above, a, {0.003f, 0.45f, 0.002f});
      const std::string what = names(a, b) + (is_wedge ? ", wedge" : ", spike");
      expect_calm(world, std::vector{body}, 10, 0.5f, what);
      EXPECT_GT(low(world, body), -0.02f) << what;
    }
  });
}

// Between two blocks there is a crack that narrows the spike or wedge that falls into it.
TEST(Erleben, SpikeAndWedgeInACrack) {
  for_each_pair([](Kind a, Kind b) {
    for (const bool is_wedge : {false, true}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      for (const float side : {-1.0f, 1.0f}) {
        add_box(world, {0.5f, 0.5f, 0.5f}, b, {side * 0.33f, 0.25f, 0}, true);
      }
      const Lump lump = is_wedge ? wedge(0.4f, 0.5f, 0.3f, false) : spike(0.4f, 0.5f, false);
      const BodyId body = add(world, lump, a, {0.01f, 0.4f, 0});
      const std::string what = names(a, b) + (is_wedge ? ", wedge" : ", spike");
      expect_calm(world, std::vector{body}, 8, 0.2f, what);
      // The crack is 0.16 m wide, the body so wide 0.2 m above its tip.
      EXPECT_GT(low(world, body), 0.2f) << what;
      EXPECT_LT(low(world, body), 0.36f) << what;
    }
  });
}

TEST(Erleben, ASpikeInAHole) {
  for_each_pair([](Kind a, Kind b) {
    World world({.allow_sleep = false});
    world.add(GroundDef{.friction = 0.6f});
    for (const float side : {-1.0f, 1.0f}) {
      add_box(world, {0.5f, 0.5f, 1.2f}, b, {side * 0.33f, 0.25f, 0}, true);
      add_box(world, {0.16f, 0.5f, 0.5f}, b, {0, 0.25f, side * 0.33f}, true);
    }
    const BodyId body = add(world, spike(0.4f, 0.5f, false), a, {0.005f, 0.4f, 0.005f});
    expect_calm(world, std::vector{body}, 8, 0.2f, names(a, b));
    EXPECT_GT(low(world, body), 0.2f) << names(a, b);
    EXPECT_LT(low(world, body), 0.36f) << names(a, b);
  });
}

/// A floor of one body whose top has many edges inside.
void add_floor(World& world, Kind kind) {
  if (kind == Kind::Solid) {
    SolidDef floor{.mesh = tet_box({5, 0.2f, 1}, 0.2f),
                   .material = {.density = 300, .young_modulus = 1e7f, .poisson_ratio = 0.3f},
                   .position = {1.5f, -0.1f, 0},
                   .held = {{.nodes = NodeHalfSpace{{0, -1, 0}, 0.09f}}},
                   .friction = 0.6f};
    world.add(floor).value();
    return;
  }
  TriMesh mesh;
  constexpr int kCells = 20;
  for (std::uint32_t k = 0; k < 2; ++k) {
    for (std::uint32_t i = 0; i <= kCells; ++i) {
      mesh.vertices.push_back({-1 + 0.25f * static_cast<float>(i), 0, k == 0 ? -0.5f : 0.5f});
    }
  }
  for (std::uint32_t i = 0; i < kCells; ++i) {
    const std::uint32_t a = i, d = i + kCells + 1;
    mesh.faces.push_back({a, d, a + 1}), mesh.faces.push_back({a + 1, d, d + 1});
  }
  world.add(RigidDef{
      .shape = TriangleMesh{std::make_shared<const TriMesh>(mesh)}, .motion = Motion::Static, .friction = 0.6f});
}

// Edges inside a flat floor must not stop what slides: friction alone does, after v² / (2 μ g).
TEST(Erleben, SlidingOverInternalEdges) {
  for_each_pair([](Kind a, Kind b) {
    World world({.allow_sleep = false});
    add_floor(world, b);
    const BodyId box = add_box(world, {0.3f, 0.15f, 0.3f}, a, {0, 0.078f, 0}, false, 0.15f);
    world.set_velocity(box, {4, 0, 0}, {});
    float top = 0;
    for (int i = 0; i < 120; ++i) {
      world.step();
      top = std::max(top, high(world, box));
    }
    // Without a jump, and as far as friction of 0.6 lets it. On a solid the solve of so fast a slide does not converge,
    // and brakes it sooner.
    EXPECT_LT(top, b == Kind::Rigid ? 0.17f : 0.3f) << names(a, b);
    EXPECT_GT(low(world, box), -0.01f) << names(a, b);
    const float x = world.state(box)->center_of_mass.x, way = 16 / (2 * 0.6f * 9.81f);
    if (b == Kind::Rigid) {
      EXPECT_NEAR(x, way, 0.25f) << names(a, b);
    }
    EXPECT_LT(x, 1.2f * way) << names(a, b);
    EXPECT_LT(fastest(world, box), 0.1f) << names(a, b);
  });
}

TEST(Erleben, SlidingSpikeAndWedge) {
  for_each_pair([](Kind a, Kind b) {
    for (const bool is_wedge : {false, true}) {
      World world({.allow_sleep = false});
      add_floor(world, b);
      const Lump lump = is_wedge ? wedge(0.4f, 0.3f, 0.4f, true) : spike(0.4f, 0.3f, true);
      const BodyId body = add(world, lump, a, {0, 0.003f, 0});
      world.set_velocity(body, {2.5f, 0, 0}, {});
      const std::string what = names(a, b) + (is_wedge ? ", wedge" : ", spike");
      expect_calm(world, std::vector{body}, 6, 0.3f, what, 120);
      const float x = world.state(body)->center_of_mass.x, way = 6.25f / (2 * 0.6f * 9.81f);
      if (b == Kind::Rigid) {
        EXPECT_NEAR(x, way, 0.15f) << what;
      }
      EXPECT_LT(x, 1.2f * way) << what;
      EXPECT_GT(low(world, body), -0.02f) << what;
    }
  });
}

// A box that reaches over the edge of another by less than half stays; by more it falls.
TEST(Erleben, CliffEdges) {
  for_each_pair([](Kind a, Kind b) {
    for (const bool falls : {false, true}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      add_box(world, {1, 1, 1}, b, {0, 0.5f, 0}, true);
      const BodyId box = add_box(world, {0.4f, 0.2f, 0.4f}, a, {falls ? 0.58f : 0.42f, 1.102f, 0.1f}, false, 0.2f);
      const std::string what = names(a, b) + (falls ? ", falls" : ", stays");
      expect_calm(world, std::vector{box}, 8, 0.5f, what, 180);
      if (falls) {
        EXPECT_LT(low(world, box), 0.5f) << what;
      } else {
        EXPECT_NEAR(low(world, box), 1, 0.02f) << what;
      }
    }
  });
}

/// A sheet of 1 m that hangs loosely between two rims.
BodyId add_hammock(World& world, int cells, float density) {
  ClothDef cloth{.shape = ClothSheet{1.2f, 1.2f, cells, cells}, .thickness = 0.02f, .position = {0, 1, 0}};
  cloth.material.density = density;
  cloth.held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.599f}}, {.nodes = NodeHalfSpace{{-1, 0, 0}, 0.599f}}};
  return world.add(cloth).value();
}

// Cells are as large as what falls on them: only features between the nodes can stop it.
TEST(Erleben, SpikesAndWedgesFallOnCoarseCloth) {
  for (const Kind kind : kKinds) {
    for (const bool is_wedge : {false, true}) {
      World world({.allow_sleep = false});
      const BodyId cloth = add_hammock(world, 5, 2);
      const Lump lump = is_wedge ? wedge(0.2f, 0.2f, 0.15f, false) : spike(0.2f, 0.2f, false);
      const BodyId body = add(world, lump, kind, {0.04f, 1.1f, 0.03f});
      const std::string what = names(kind, kind) + (is_wedge ? ", wedge" : ", spike");
      for (int i = 0; i < 180; ++i) {
        world.step();
        ASSERT_LT(fastest(world, body), 6) << what;
        ASSERT_LT(fastest(world, cloth), 12) << what;
      }
      EXPECT_GT(low(world, body), low(world, cloth) - 0.02f) << what;
      EXPECT_GT(low(world, body), 0.5f) << what;
    }
  }
}

// The cloth comes down on what is sharp.
TEST(Erleben, CoarseClothFallsOnSpikesWedgesAndCliffs) {
  for (const Kind kind : kKinds) {
    for (const int which : {0, 1, 2}) {
      World world({.allow_sleep = false});
      world.add(GroundDef{.friction = 0.6f});
      if (which == 0) add(world, spike(0.4f, 0.5f, true), kind, {}, true);
      if (which == 1) add(world, wedge(0.4f, 0.5f, 0.5f, true), kind, {}, true);
      if (which == 2) add_box(world, {0.5f, 0.5f, 0.5f}, kind, {0, 0.25f, 0}, true);
      ClothDef def{.shape = ClothSheet{1.2f, 1.2f, 6, 6}, .thickness = 0.02f, .position = {0.07f, 0.56f, 0.06f}};
      def.material.density = 0.5f;
      const BodyId cloth = world.add(def).value();
      const std::string what = names(kind, kind) + ", " + std::to_string(which);
      // On the edge of a soft wedge, and on a soft tip, a coarse cloth goes on twitching (docs/cloth.md, limitations).
      const bool twitches = kind == Kind::Solid && which != 2;
      // For some seconds it slides, and turns over on the tip.
      expect_calm(world, std::vector{cloth}, 12, twitches ? 1.0f : 0.25f, what, 480);
      // It hangs on the tip: some of its nodes are well above the ground.
      EXPECT_GT(high(world, cloth), 0.35f) << what;
    }
  }
}

}  // namespace
}  // namespace pliant
