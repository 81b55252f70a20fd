// Contacts over several substeps, ropes, and what must not go wrong: threads, bad numbers, memory.
#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "collide/surface_contacts.h"

#include "counting_allocator.h"
#include "surface_meshes.h"

namespace pliant {
namespace {

constexpr float kH = 1.0f / 240;

Vec3 flat(float u, float w) { return {u, 0, w}; }

void crumple(SurfaceScene& scene, unsigned seed, float speed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (std::size_t i = 0; i < scene.x.size(); ++i) {
    Vec4& p = scene.x[i];
    p = {0.3f * std::sin(7 * p.x + p.z), 0.02f * std::sin(25 * p.x) + 0.004f * unit(random), p.z, 0};
    scene.v[i] = {speed * unit(random), speed * unit(random), speed * unit(random), 1};
  }
}

/// One node above a face of a sheet, as a triangle that points down.
struct NodeOverSheet {
  SurfaceScene scene;
  SurfaceTree sheet = scene.add_sheet(5, 0.002f, flat);
  SurfaceTree spike = add_spike();
  SurfaceContacts contacts;
  std::uint32_t tip = 25;

  SurfaceTree add_spike() {
    for (const Vec3 p : {Vec3{0.4f, 0.01f, 0.45f}, {0.45f, 0.3f, 0.4f}, {0.4f, 0.3f, 0.5f}}) {
      scene.x.push_back({p.x, p.y, p.z, 0});
    }
    return scene.add({{25, 26, 27}}, {}, 0.002f);
  }
  const SurfaceContact* find_tip() {
    sheet.refit(scene.x, scene.v, kH, 0.01f, scene.workers);
    spike.refit(scene.x, scene.v, kH, 0.01f, scene.workers);
    for (const SurfaceContact& c : contacts.find(sheet, spike, scene.workers)) {
      if (!c.is_edges() && c.nodes[0] == tip) return &c;
    }
    return nullptr;
  }
  void move_tip(float x, float y, float z) { scene.x[tip] = {x, y, z, 0}; }
};

TEST(SurfaceSides, ANodeThatSlippedThroughIsPushedBack) {
  for (const float side : {1.0f, -1.0f}) {
    NodeOverSheet s;
    for (const float height : {0.008f, 0.003f, 0.0005f, 0.0f, -0.0005f, -0.003f, -0.006f, -0.009f}) {
      s.move_tip(0.4f, side * height, 0.45f);
      const SurfaceContact* c = s.find_tip();
      ASSERT_TRUE(c) << height;
      EXPECT_NEAR(c->normal.y, side, 1e-4f) << height;
      EXPECT_NEAR(c->gap, height - 0.004f, 1e-6f) << height;
    }
  }
}

TEST(SurfaceSides, ItMaySlideToAnotherFaceMeanwhile) {
  NodeOverSheet s;
  s.move_tip(0.49f, 0.001f, 0.45f);
  ASSERT_TRUE(s.find_tip());
  s.move_tip(0.52f, -0.001f, 0.53f);
  const SurfaceContact* c = s.find_tip();
  ASSERT_TRUE(c);
  EXPECT_NEAR(c->normal.y, 1, 1e-4f);
  EXPECT_NEAR(c->gap, -0.005f, 1e-6f);
}

TEST(SurfaceSides, WithoutMemoryTheSideIsTheOneItIsOn) {
  NodeOverSheet s;
  s.move_tip(0.4f, 0.001f, 0.45f);
  ASSERT_TRUE(s.find_tip());
  s.move_tip(0.4f, -0.001f, 0.45f);
  s.contacts.sides().clear();
  EXPECT_LT(s.find_tip()->normal.y, -0.99f);
}

TEST(SurfaceSides, ExactlyInTheFaceTheMotionTells) {
  NodeOverSheet s;
  for (const float speed : {3.0f, -3.0f}) {
    s.contacts.sides().clear();
    s.move_tip(0.4f, 0, 0.45f);
    s.scene.v[s.tip] = {0, speed, 0, 1};
    const SurfaceContact* c = s.find_tip();
    ASSERT_TRUE(c);
    EXPECT_EQ(c->normal.y, speed < 0 ? 1 : -1);
    EXPECT_NEAR(c->gap, -0.004f, 1e-6f);
  }
}

// Round the rim from the front to the back is no slip.
TEST(SurfaceSides, OneMayGoRoundTheRim) {
  NodeOverSheet s;
  for (float angle = 0.5f; angle < 6; angle += 0.05f) {
    s.move_tip(-0.003f * std::sin(angle / 2) + 0.0005f, 0.003f * std::cos(angle / 2), 0.45f);
    const SurfaceContact* c = s.find_tip();
    ASSERT_TRUE(c);
    EXPECT_GT(c->gap, -0.0021f) << angle;
  }
}

// Two faces that share an edge: a node in front of the one is behind the other when that folds under. That is no slip.
TEST(SurfaceSides, ALayerThatFoldsUnderDoesNotPullWhatLiesAbove) {
  SurfaceScene scene;
  for (const Vec3 p : {Vec3{0, 0, 0}, {0, 0, 1}, {1, 0, 0.5f}, {-1, 0, 0.5f}}) scene.x.push_back({p.x, p.y, p.z, 0});
  SurfaceTree pair = scene.add({{0, 1, 2}, {1, 0, 3}}, {}, 0.002f);
  for (const Vec3 p : {Vec3{0.3f, 0.001f, 0.5f}, {0.3f, 0.3f, 0.4f}, {0.3f, 0.3f, 0.6f}}) {
    scene.x.push_back({p.x, p.y, p.z, 0});
  }
  SurfaceTree spike = scene.add({{4, 5, 6}}, {}, 0.002f);
  SurfaceContacts contacts;
  std::size_t found = 0;
  for (const float angle : {1.0f, 2.0f, 3.0f, 3.135f, 3.1395f, 3.1395f}) {
    scene.x[3] = {-std::cos(angle), -std::sin(angle), 0.5f, 0};
    pair.refit(scene.x, scene.v, kH, 0.01f, scene.workers);
    spike.refit(scene.x, scene.v, kH, 0.01f, scene.workers);
    found = 0;
    for (const SurfaceContact& c : contacts.find(pair, spike, scene.workers)) {
      if (c.is_edges() || c.nodes[0] != 4) continue;
      EXPECT_GT(c.normal.y, 0.99f) << angle;
      ++found;
    }
  }
  EXPECT_EQ(found, 2u);
}

TEST(SurfaceContacts, ARopeLiesOnASheetAndOnARope) {
  SurfaceScene scene;
  SurfaceTree sheet = scene.add_sheet(11, 0.002f, flat);
  SurfaceTree rope = scene.add_rope(21, 0.01f, {0.2f, 0.0125f, 0.23f}, {0.8f, 0.0125f, 0.71f});
  SurfaceTree over = scene.add_rope(8, 0.01f, {0.5f, 0.033f, 0.1f}, {0.5f, 0.033f, 0.9f});
  for (SurfaceTree* t : {&sheet, &rope, &over}) t->refit(scene.x, scene.v, kH, 0.003f, scene.workers);
  SurfaceContacts contacts;
  std::size_t nodes = 0;
  for (const SurfaceContact& c : contacts.find(sheet, rope, scene.workers)) {
    EXPECT_NEAR(std::abs(c.normal.y), 1, 1e-4f);
    EXPECT_NEAR(c.gap, 0.0005f, 1e-5f);
    nodes += !c.is_edges() && c.nodes[0] >= 121;
  }
  EXPECT_EQ(nodes, 21u);  // each node of the rope once
  const auto crossing = contacts.find(rope, over, scene.workers);
  ASSERT_EQ(crossing.size(), 1u);
  EXPECT_TRUE(crossing[0].is_edges());
  EXPECT_NEAR(crossing[0].gap, 0.0005f, 1e-5f);
  EXPECT_NEAR(crossing[0].normal.y, -1, 1e-4f);  // from the second to the first
}

TEST(SurfaceContacts, FastRopesDoNotMissEachOther) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (int i = 0; i < 300; ++i) {
    SurfaceScene scene;
    SurfaceTree a = scene.add_rope(9, 0.003f, {-1, 0.2f, 0.3f * unit(random)}, {1, 0.2f, 0.3f * unit(random)});
    SurfaceTree b = scene.add_rope(7, 0.003f, {0.3f * unit(random), 0, -1}, {0.3f * unit(random), 0, 1});
    for (std::size_t n = 0; n < scene.v.size(); ++n) {
      scene.v[n] = {3 * unit(random), (n < 9 ? -70.0f : 30.0f) + 3 * unit(random), 3 * unit(random), 1};
    }
    SurfaceContacts contacts;
    a.refit(scene.x, scene.v, kH, 0.001f, scene.workers);
    b.refit(scene.x, scene.v, kH, 0.001f, scene.workers);
    const auto found = contacts.find(a, b, scene.workers);
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_LE(found.size(), 3u) << i;
    for (const SurfaceContact& c : found) EXPECT_GT(std::abs(c.normal.y), 0.5f);
  }
}

TEST(SurfaceContacts, OneRopeMeetsItself) {
  SurfaceScene scene;
  SurfaceTree rope = scene.add_rope(61, 0.01f, {0, 0, 0}, {6, 0, 0});
  for (std::size_t i = 0; i < scene.x.size(); ++i) {  // a helix whose turns nearly touch
    const float angle = 0.2f * float(i);
    scene.x[i] = {0.5f * std::cos(angle), 0.0215f * angle / (2 * kPi), 0.5f * std::sin(angle), 0};
  }
  rope.refit(scene.x, scene.v, kH, 0.003f, scene.workers);
  SurfaceContacts contacts;
  const auto found = contacts.find_self(rope, scene.workers);
  EXPECT_GE(found.size(), 28u);
  EXPECT_LE(found.size(), 62u);
  for (const SurfaceContact& c : found) EXPECT_GT(c.gap, 0);
}

TEST(SurfaceContacts, ThreadsDoNotChangeAnything) {
  SurfaceScene scene;
  SurfaceTree sheet = scene.add_sheet(60, 0.003f, flat);
  crumple(scene, 5, 2);
  std::vector<SurfaceContact> expected;
  std::vector<SideNote> expected_notes;
  for (const int threads : {1, 2, 4}) {
    Workers workers(threads);
    SurfaceContacts contacts;
    for (int substep = 0; substep < 2; ++substep) {
      sheet.refit(scene.x, scene.v, kH, 0.004f, workers);
      contacts.find_self(sheet, workers);
    }
    const auto found = contacts.contacts();
    const auto notes = contacts.sides().notes();
    if (threads == 1) {
      expected.assign(found.begin(), found.end());
      expected_notes.assign(notes.begin(), notes.end());
      EXPECT_GT(expected.size(), 1000u);
      EXPECT_FALSE(expected_notes.empty());
      continue;
    }
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), [](const auto& a, const auto& b) {
      return a.key == b.key && a.gap == b.gap && a.normal == b.normal && a.weights == b.weights && a.nodes == b.nodes;
    }));
    ASSERT_EQ(notes.size(), expected_notes.size());
    EXPECT_TRUE(std::equal(notes.begin(), notes.end(), expected_notes.begin(),
                           [](const auto& a, const auto& b) { return a.key == b.key && a.side == b.side; }));
  }
}

TEST(SurfaceContacts, NothingIsAllocatedOnceWarm) {
  SurfaceScene scene;
  SurfaceTree sheet = scene.add_sheet(40, 0.003f, flat);
  crumple(scene, 6, 1);
  SurfaceContacts contacts;
  SurfaceContacts::Scratch scratch;
  std::size_t before = 0;
  for (int i = 0; i < 5; ++i) {
    if (i == 2) before = allocation_count();
    sheet.refit(scene.x, scene.v, kH, 0.004f, scene.workers);
    EXPECT_FALSE(contacts.find(sheet, sheet, scene.workers, scratch).empty());
  }
  EXPECT_EQ(allocation_count(), before);
}

TEST(SurfaceContacts, BadNumbersAndShapesDoNoHarm) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    SurfaceScene scene;
    SurfaceTree a = scene.add_sheet(12, 0.003f, flat), b = scene.add_rope(20, 0, {0, 0.001f, 0}, {1, 0.001f, 1});
    crumple(scene, unsigned(round), round % 2 ? 1.0f : 200.0f);
    const float values[] = {nan, inf, -inf, 3e38f, 1e20f, 1e-42f, 0};
    for (int i = 0; i < 8; ++i) {
      const std::size_t n = random() % scene.x.size();
      const float bad = values[random() % 7];
      (random() % 2 ? scene.x : scene.v)[n].y = bad;
      if (random() % 3 == 0) scene.x[n] = {bad, bad, bad, 0};
      if (random() % 3 == 0) scene.x[n] = scene.x[random() % scene.x.size()];
    }
    for (SurfaceTree* t : {&a, &b}) t->refit(scene.x, scene.v, kH, 0.004f, scene.workers);
    SurfaceContacts pair, self;
    for (const auto& found : {pair.find(a, b, scene.workers), self.find_self(a, scene.workers)}) {
      for (const SurfaceContact& c : found) {
        ASSERT_TRUE(std::isfinite(c.gap));
        ASSERT_NEAR(length(c.normal), 1, 1e-4f);
      }
    }
  }
}

TEST(SurfaceContacts, ACollapsedSheetIsReportedAndTakesNoAge) {
  SurfaceScene scene;
  SurfaceTree sheet = scene.add_sheet(101, 0.003f, flat);
  for (Vec4& p : scene.x) p = {0.001f * p.x, 0, 0.001f * p.z, 0};
  for (std::size_t i = 0; i < scene.x.size(); ++i) scene.x[i].y = 0.001f * float(i % 7);
  sheet.refit(scene.x, scene.v, kH, 0.004f, scene.workers);
  SurfaceContacts contacts;
  contacts.find_self(sheet, scene.workers);
  EXPECT_TRUE(contacts.report().overflowed());
}

TEST(SurfaceContacts, EmptySurfacesAreFine) {
  SurfaceScene scene;
  SurfaceTree empty = scene.add({}, {}, 0.01f), sheet = scene.add_sheet(3, 0.01f, flat);
  for (SurfaceTree* t : {&empty, &sheet}) t->refit(scene.x, scene.v, kH, 0.01f, scene.workers);
  SurfaceContacts contacts;
  EXPECT_TRUE(contacts.find(empty, sheet, scene.workers).empty());
  EXPECT_TRUE(contacts.find_self(empty, scene.workers).empty());
  EXPECT_TRUE(empty.bounds().is_empty());
}

TEST(SurfaceTopology, SaysWhatIsWrong) {
  const std::vector<Vec4> rest{{}, {1, 0, 0, 0}, {0, 1, 0, 0}, {std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}};
  const auto error_of = [&](std::vector<Face> faces, std::vector<NodePair> edges, float radius) {
    return make_surface_topology({faces, edges, rest, radius}).error().to_string();
  };
  EXPECT_EQ(error_of({{0, 1, 2}, {0, 1, 9}}, {}, 0), "faces[1]: node 9 does not exist; there are 4 nodes");
  EXPECT_EQ(error_of({{0, 1, 0}}, {}, 0), "faces[0]: node 0 is named twice; the nodes must differ");
  EXPECT_EQ(error_of({}, {{1, 1}}, 0), "free_edges[0]: node 1 is named twice; the nodes must differ");
  EXPECT_EQ(error_of({}, {{1, 3}}, 0), "free_edges[0]: the rest position of node 3 is not finite");
  EXPECT_EQ(error_of({}, {}, -1), "radius: the radius is -1; it must be finite and not negative");
}

TEST(SurfaceTopology, EveryFeatureHasOneOwner) {
  SurfaceScene scene;
  const SurfaceTree sheet = scene.add_sheet(20, 0.01f, flat);
  const SurfaceTopology& t = sheet.topology();
  EXPECT_EQ(t.edges.size(), 19u * 20 * 2 + 19 * 19);  // Euler's formula: nodes − edges + faces = 1
  std::vector<int> nodes(t.nodes.size()), edges(t.edges.size());
  for (const SurfaceElement& e : t.elements) {
    for (std::size_t i = 0; i < 3; ++i) {
      nodes[e.nodes[i]] += e.owned_nodes >> i & 1;
      edges[e.edges[i]] += e.owned_edges >> i & 1;
    }
  }
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), std::ptrdiff_t(nodes.size()));
  EXPECT_EQ(std::count(edges.begin(), edges.end(), 1), std::ptrdiff_t(edges.size()));
}

}  // namespace
}  // namespace pliant
