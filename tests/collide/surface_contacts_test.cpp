#include "collide/surface_contacts.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "collide/surface_searches.h"
#include "collide/surface_touch.h"
#include "geometry/primitives.h"
#include "pliant/generators.h"

#include "counting_allocator.h"
#include "surface_meshes.h"
#include "surface_oracle.h"

namespace pliant {
namespace {

constexpr float kH = 1.0f / 240;

std::vector<SurfaceContact> find(SurfaceScene& scene, SurfaceTree& a, SurfaceTree& b, float margin, float h = kH) {
  a.refit(scene.x, scene.v, h, margin, scene.workers);
  b.refit(scene.x, scene.v, h, margin, scene.workers);
  SurfaceContacts contacts;
  const auto found = contacts.find(a, b, scene.workers);
  EXPECT_FALSE(contacts.report().overflowed());
  return {found.begin(), found.end()};
}

std::vector<SurfaceContact> find_self(SurfaceScene& scene, SurfaceTree& s, float margin, float h = kH) {
  s.refit(scene.x, scene.v, h, margin, scene.workers);
  SurfaceContacts contacts;
  const auto found = contacts.find_self(s, scene.workers);
  EXPECT_FALSE(contacts.report().overflowed());
  return {found.begin(), found.end()};
}

PairPoints points_of(const std::vector<Vec4>& x, const std::array<std::uint32_t, 4>& nodes) {
  return {x[nodes[0]].xyz(), x[nodes[1]].xyz(), x[nodes[2]].xyz(), x[nodes[3]].xyz()};
}
PairPoints motion_of(const SurfaceScene& scene, const std::array<std::uint32_t, 4>& nodes, float h) {
  PairPoints m = points_of(scene.v, nodes);
  for (Vec3& p : m) p *= h;
  return m;
}

/// visit(kind, nodes) for all pairs of features of two surfaces; of one with itself where they are the same.
template <typename Visit>
void for_each_pair(const SurfaceTopology& a, const SurfaceTopology& b, Visit&& visit) {
  const auto node_face = [&](const SurfaceTopology& s, const SurfaceTopology& t) {
    for (const std::uint32_t node : s.nodes) {
      for (std::size_t f = 0; f < t.face_count; ++f) {
        const auto& e = t.elements[f];
        const std::array<std::uint32_t, 4> n{node, t.nodes[e.nodes[0]], t.nodes[e.nodes[1]], t.nodes[e.nodes[2]]};
        if (n[0] != n[1] && n[0] != n[2] && n[0] != n[3]) visit(FeaturePair::NodeFace, n);
      }
    }
  };
  node_face(a, b);
  if (&a != &b) node_face(b, a);
  for (std::size_t i = 0; i < a.edges.size(); ++i) {
    for (std::size_t j = &a == &b ? i + 1 : 0; j < b.edges.size(); ++j) {
      const NodePair p = a.edges[i].nodes, q = b.edges[j].nodes;
      const std::array<std::uint32_t, 4> n{a.nodes[p[0]], a.nodes[p[1]], b.nodes[q[0]], b.nodes[q[1]]};
      if (n[0] != n[2] && n[0] != n[3] && n[1] != n[2] && n[1] != n[3]) visit(FeaturePair::EdgeEdge, n);
    }
  }
}

void expect_sound(const SurfaceScene& scene, const std::vector<SurfaceContact>& contacts, float thickness) {
  std::map<std::uint64_t, int> keys;
  for (const SurfaceContact& c : contacts) {
    EXPECT_EQ(keys[c.key]++, 0) << "two contacts have the same key";
    EXPECT_NEAR(length(c.normal), 1, 1e-5f);
    EXPECT_NEAR(c.weights[0] + c.weights[1] + c.weights[2] + c.weights[3], 0, 1e-5f);
    EXPECT_NEAR(dot(combine(c.weights, points_of(scene.x, c.nodes)), c.normal) - thickness, c.gap, 1e-5f);
  }
}

// Triangles that share nothing: what is found for two of them must tell their true distance.
TEST(SurfaceContacts, NearTrianglesGiveTheirDistance) {
  std::mt19937 random(1);
  for (int round = 0; round < 5; ++round) {
    SurfaceScene scene;
    SurfaceTree a = scene.add_soup(120, 0.1f, 0.01f, random), b = scene.add_soup(100, 0.1f, 0.005f, random);
    const std::vector<SurfaceContact> contacts = find(scene, a, b, 0.03f);
    expect_sound(scene, contacts, 0.015f);
    std::map<std::pair<std::uint32_t, std::uint32_t>, float> expected, found;
    const auto overlap = [&](std::uint32_t first, std::uint32_t second) {
      const auto corners = [&](std::uint32_t n) {
        return std::array{scene.x[n].xyz(), scene.x[n + 1].xyz(), scene.x[n + 2].xyz()};
      };
      return triangles_overlap(corners(first / 3 * 3), corners(second / 3 * 3));
    };
    const auto faces_of = [](const std::array<std::uint32_t, 4>& n) {
      return std::pair(std::min(n[0], n[3]) / 3, std::max(n[0], n[3]) / 3);  // three nodes each
    };
    for_each_pair(a.topology(), b.topology(), [&](FeaturePair kind, const std::array<std::uint32_t, 4>& n) {
      const PairPoints x = points_of(scene.x, n);
      const float d = kind == FeaturePair::NodeFace
                          ? std::sqrt(closest_on_triangle(x[0], x[1], x[2], x[3]).squared_distance)
                          : std::sqrt(closest_of_segments(x[0], x[1], x[2], x[3]).squared_distance);
      if (d >= 0.045f || overlap(n[0], n[3])) return;
      const auto [it, is_new] = expected.insert({faces_of(n), d});
      it->second = std::min(it->second, d);
    });
    for (const SurfaceContact& c : contacts) {
      if (overlap(c.nodes[0], c.nodes[3])) continue;
      const auto [it, is_new] = found.insert({faces_of(c.nodes), c.gap + 0.015f});
      it->second = std::min(it->second, c.gap + 0.015f);
    }
    EXPECT_GT(expected.size(), 50u);
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [pair, d] : expected) EXPECT_NEAR(d, found[pair], 1e-5f);
  }
}

TEST(SurfaceContacts, NoCrossingOfTwoMeshesIsMissed) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::size_t crossings = 0, contact_count = 0;
  for (int round = 0; round < 12; ++round) {
    SurfaceScene scene;
    const float radius = round % 3 == 0 ? 0.0f : 0.004f;
    const auto bumpy = [&](float height) {
      return [&, height](float u, float w) {
        return Vec3{u + 0.01f * unit(random), height + 0.02f * unit(random), w + 0.01f * unit(random)};
      };
    };
    SurfaceTree a = scene.add_sheet(9, radius, bumpy(0.1f)), b = scene.add_sheet(8, radius, bumpy(0));
    const float speed = round % 2 ? 100.0f : 30.0f;
    for (std::size_t i = 0; i < scene.v.size(); ++i) {
      scene.v[i] = {10 * unit(random), (i < 81 ? -speed : 5.0f) + 10 * unit(random), 10 * unit(random), 1};
    }
    const std::vector<SurfaceContact> contacts = find(scene, a, b, 0.01f);
    expect_sound(scene, contacts, 2 * radius);
    contact_count += contacts.size();
    for_each_pair(a.topology(), b.topology(), [&](FeaturePair kind, const std::array<std::uint32_t, 4>& n) {
      if (first_crossing(kind, points_of(scene.x, n), motion_of(scene, n, kH), 20) > 1) return;
      ++crossings;
      const bool is_found = std::any_of(contacts.begin(), contacts.end(), [&](const SurfaceContact& c) {
        return c.nodes == n || c.nodes == std::array{n[2], n[3], n[0], n[1]};
      });
      EXPECT_TRUE(is_found) << "round " << round;
    });
  }
  EXPECT_GT(crossings, 1000u);
  EXPECT_LT(contact_count, 4 * crossings);
}

TEST(SurfaceContacts, WhatFliesPastGivesNone) {
  SurfaceScene scene;
  SurfaceTree a = scene.add_sheet(11, 0.002f, [](float u, float w) { return Vec3{u, 0.05f, w}; });
  SurfaceTree b = scene.add_sheet(11, 0.002f, [](float u, float w) { return Vec3{u, 0, w}; });
  for (std::size_t i = 0; i < 121; ++i) scene.v[i] = {100, 0, 30, 1};
  EXPECT_TRUE(find(scene, a, b, 0.01f).empty());
  for (std::size_t i = 121; i < 242; ++i) scene.v[i] = {100, -90, 30, 1};
  EXPECT_TRUE(find(scene, a, b, 0.01f, 1.0f / 15).empty());
  for (std::size_t i = 121; i < 242; ++i) scene.v[i] = {100, 90, 30, 1};
  EXPECT_FALSE(find(scene, a, b, 0.01f, 1.0f / 15).empty());
}

/// A lump of tets, bent at random; its surface is closed.
SurfaceTree add_lump(SurfaceScene& scene, Vec3 place, float bend, std::mt19937& random) {
  std::uniform_real_distribution<float> unit(-1, 1);
  const TetMesh mesh = tet_box({0.3f, 0.3f, 0.3f}, 3, 3, 3);
  const auto first = std::uint32_t(scene.x.size());
  for (const Vec3 n : mesh.nodes) {
    const Vec3 p = place + n + bend * Vec3{unit(random), unit(random), unit(random)};
    scene.x.push_back({p.x, p.y, p.z, 0});
  }
  scene.rest = scene.x;
  scene.v.resize(scene.x.size());
  std::vector<std::uint32_t> node_of;
  std::vector<Face> faces = extract_surface(mesh, &node_of).faces;
  for (Face& f : faces) f = {node_of[f[0]] + first, node_of[f[1]] + first, node_of[f[2]] + first};
  SurfaceDef def{.faces = faces, .free_edges = {}, .rest = scene.rest, .radius = 0.001f};
  def.depth = 0.1f, def.surprise = 0.02f, def.flatness = 0.002f;
  return SurfaceTree(make_surface_topology(def).value(), false);
}

// Debris: closed surfaces that are bent, fly together and whirl. What two of them may touch with is searched for anew
// in every substep; all pairs of features, tried one by one, give no contact that it has not found.
TEST(SurfaceContacts, NoneOfDebrisIsMissedThatAllPairsGive) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::size_t compared = 0, looked_at = 0, pairs = 0;
  for (int round = 0; round < 40; ++round) {
    SurfaceScene scene;
    SurfaceTree a = add_lump(scene, {0, 0, 0}, 0.02f, random);
    const auto first_of_b = scene.x.size();
    SurfaceTree b =
        add_lump(scene, {0.1f * unit(random), 0.31f + 0.05f * unit(random), 0.1f * unit(random)}, 0.02f, random);
    const Vec3 common = 50 * Vec3{unit(random), unit(random), unit(random)};
    for (std::size_t i = 0; i < scene.v.size(); ++i) {
      const Vec3 own = common + 5 * Vec3{unit(random), unit(random) - (i < first_of_b ? 0.0f : 1.0f), unit(random)};
      scene.v[i] = {own.x, own.y, own.z, 1};
    }
    SurfaceContacts contacts;
    a.refit(scene.x, scene.v, 4 * kH, 0.005f, scene.workers), b.refit(scene.x, scene.v, 4 * kH, 0.005f, scene.workers);
    ASSERT_TRUE(a.is_brisk() && b.is_brisk());
    contacts.find(a, b, scene.workers);
    looked_at += contacts.report().tests;

    std::vector<SurfaceCandidate> all;
    const auto add = [&](const SurfaceTree& first, const SurfaceTree& second, SurfaceCandidate::Kind kind) {
      for (std::uint32_t n = 0; n < first.topology().nodes.size(); ++n) {
        for (std::uint32_t f = 0; f < second.topology().face_count; ++f) all.push_back({n, f, kind, 0, 0});
      }
    };
    add(a, b, SurfaceCandidate::NodeOfA), add(b, a, SurfaceCandidate::NodeOfB);
    pairs += all.size() + a.topology().edges.size() * b.topology().edges.size();
    SurfaceContacts::Found expected;
    SurfaceTouch(a, b, {}, {.depth = 0.1f, .surprise = 0.02f}).run(all, expected);
    // Of a node that is inside only the way out is told, so those that are outside are compared. As far behind faces as
    // is looked here, some more are inside.
    using Name = std::pair<bool, std::uint64_t>;
    std::map<std::pair<bool, std::uint32_t>, bool> is_inside;
    for (const SurfaceContact& c : expected.contacts) is_inside[{c.is_swapped, c.nodes[0]}] |= c.gap < -0.002f;
    const auto names_of = [&](std::span<const SurfaceContact> of) {
      std::vector<Name> names;
      for (const SurfaceContact& c : of) {
        if (!c.is_edges() && !is_inside[{c.is_swapped, c.nodes[0]}]) names.emplace_back(c.is_swapped, c.key);
      }
      std::sort(names.begin(), names.end());
      return names;
    };
    const std::vector<Name> found = names_of(contacts.contacts()), wanted = names_of(expected.contacts);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), wanted.begin(), wanted.end())) << "round " << round;
    compared += wanted.size();
  }
  EXPECT_GT(compared, 300u);
  EXPECT_LT(looked_at, pairs / 8);
}

/// Two boxes of which a corner of the upper one is `gap` above a corner of the lower one. Both are warped alike, by
/// nothing along the two rims that cross.
struct CrossingRims {
  static constexpr float kCross[2] = {0.15f, 0.1f};  ///< x and z of where they do
  SurfaceScene scene;
  std::mt19937 random{1};
  SurfaceTree low, high;
  CrossingRims(float gap, float warp)
      : low(add_lump(scene, {0, 0, 0}, 0, random)), high(add_lump(scene, {0.25f, 0.3f + gap, 0.25f}, 0, random)) {
    for (Vec4& p : scene.x) p.y += warp * (p.x - kCross[0]) * (p.z - kCross[1]);
  }

  /// The contact of the two rims, if there is one: where both pass, with a normal that leads straight up or down.
  const SurfaceContact* find(SurfaceContacts& contacts) {
    low.refit(scene.x, scene.v, kH, 0.005f, scene.workers), high.refit(scene.x, scene.v, kH, 0.005f, scene.workers);
    for (const SurfaceContact& c : contacts.find(low, high, scene.workers)) {
      if (!c.is_edges() || std::abs(c.normal.y) < 0.99f) continue;
      const Vec3 p =
          std::abs(c.weights[0]) * scene.x[c.nodes[0]].xyz() + std::abs(c.weights[1]) * scene.x[c.nodes[1]].xyz();
      if (std::abs(p.x - kCross[0]) < 1e-3f && std::abs(p.z - kCross[1]) < 1e-3f) return &c;
    }
    return nullptr;
  }
};

// No node is over a face of the other, so nothing else holds them apart.
TEST(SurfaceContacts, RimsThatCrossTouchAlsoWhereTheirFacesCurl) {
  for (const float warp : {-3.0f, -1.0f, 0.0f, 1.0f, 3.0f}) {
    for (const float gap : {0.004f, 0.001f, -0.002f}) {
      CrossingRims rims(gap, warp);
      SurfaceContacts contacts;
      const SurfaceContact* found = rims.find(contacts);
      ASSERT_TRUE(found) << "warp " << warp << ", gap " << gap;
      EXPECT_NEAR(found->gap, gap - 0.002f, 1e-4f);
    }
  }
}

TEST(SurfaceContacts, RimsThatFlyOnTogetherTouchIfOneMayBeStopped) {
  for (const float gap : {0.009f, 0.015f}) {
    CrossingRims rims(gap, 0);
    for (Vec4& v : rims.scene.v) v = {0, -0.02f / kH, 0, 1};
    SurfaceContacts contacts;
    const SurfaceContact* found = rims.find(contacts);
    ASSERT_TRUE(found) << gap;
    EXPECT_NEAR(found->gap, gap - 0.002f, 1e-4f);
  }
}

// Debris comes together and parts all the time: searches go from pair to pair with their memory.
TEST(SurfaceContacts, PairsThatComeAndGoAllocateNothingOnceWarm) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> unit(-1, 1);
  SurfaceScene scene;
  SurfaceSearches searches;
  SurfaceContacts::Scratch scratch;
  constexpr std::uint32_t kLumps = 8;
  for (std::uint32_t i = 0; i < kLumps; ++i) {
    const Vec3 place{0.3f * float(i % 2), 0.3f * float(i / 2 % 2), 0.3f * float(i / 4)};
    searches.set_tree({i, 1}, std::make_unique<SurfaceTree>(add_lump(scene, place, 0.01f, random)));
  }
  for (Vec4& v : scene.v) v = {5 * unit(random), 5 * unit(random), 5 * unit(random), 1};
  // One pair after the other: a search that is done with one goes on with the next.
  std::vector<SurfacePairId> all, pair(1);
  for (std::uint32_t a = 0; a < kLumps; ++a) {
    for (std::uint32_t b = a + 1; b < kLumps; ++b) all.push_back({{a, 1}, {b, 1}});
  }
  std::size_t found = 0, before = 0;
  for (std::size_t round = 0; round < 3 * all.size(); ++round) {
    if (round == 2 * all.size()) found = 0, before = allocation_count();
    pair[0] = all[round % all.size()];
    searches.keep_searches(pair);
    SurfaceTree &a = *searches.tree(pair[0].first), &b = *searches.tree(pair[0].second);
    a.refit(scene.x, scene.v, 4 * kH, 0.005f, scene.workers);
    b.refit(scene.x, scene.v, 4 * kH, 0.005f, scene.workers);
    found += searches.search(0).find(a, b, scene.workers, scratch).size();
  }
  EXPECT_EQ(allocation_count() - before, 0u);
  EXPECT_GT(found, 20u);
}

/// Half of the sheet lies 2 radius + `gap` above the other half.
SurfaceTree add_folded_sheet(SurfaceScene& scene, std::uint32_t n, float radius, float gap) {
  SurfaceTree sheet = scene.add_sheet(n, radius, [](float u, float w) { return Vec3{u, 0, w}; });
  const float bend = (radius + gap / 2) * kPi;  // the length of the half circle
  for (Vec4& p : scene.x) {
    const float s = p.x - 0.487f, r = radius + gap / 2;
    if (std::abs(s) < bend / 2) {
      p.x = r * std::cos(s / r), p.y = r * std::sin(s / r);
    } else {
      p.x = bend / 2 - std::abs(s), p.y = s > 0 ? r : -r;
    }
  }
  return sheet;
}

TEST(SurfaceContacts, TheLayersOfAFoldedSheetTouch) {
  for (const std::uint32_t n : {21u, 40u}) {
    SurfaceScene scene;
    const float radius = 0.004f;
    SurfaceTree sheet = add_folded_sheet(scene, n, radius, 0.001f);
    const std::vector<SurfaceContact> contacts = find_self(scene, sheet, 0.005f);
    expect_sound(scene, contacts, 2 * radius);
    // Every node but those near the fold and the rim touches the other layer, once, straight above or below.
    std::map<std::uint32_t, int> touches;
    for (const SurfaceContact& c : contacts) {
      EXPECT_GT(c.gap, -1e-3f);
      if (c.is_edges()) continue;
      ++touches[c.nodes[0]];
      const float x = scene.x[c.nodes[0]].x;
      EXPECT_TRUE(x > -0.1f || x < -0.4f || std::abs(c.normal.y) > 0.9999f);
    }
    for (std::uint32_t i = 0; i < scene.x.size(); ++i) {
      if (scene.x[i].x > -0.1f || scene.x[i].x < -0.4f) continue;
      EXPECT_EQ(touches[i], 1) << "node " << i << " of " << n;
    }
  }
}

// Bent so strongly, and moving so fast, that patches are flat in one place and fold over in another.
TEST(SurfaceContacts, NoCrossingOfASheetWithItselfIsMissed) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::size_t crossings = 0;
  for (int round = 0; round < 4; ++round) {
    SurfaceScene scene;
    const float radius = round % 2 ? 0.002f : 0.0f;
    SurfaceTree sheet = scene.add_sheet(17, radius, [](float u, float w) { return Vec3{u, 0, w}; });
    for (std::size_t i = 0; i < scene.x.size(); ++i) {  // a roll, whose turns come together
      Vec4 &p = scene.x[i], &v = scene.v[i];
      const float angle = 9 * p.x, r = 0.1f + 0.05f * p.x;
      const float speed = (round % 4 < 2 ? 15.0f : 40.0f) * (0.35f - p.x);  // outward
      v = {speed * std::cos(angle) + unit(random), speed * std::sin(angle) + unit(random), 3 * unit(random), 1};
      p = {r * std::cos(angle) + 0.002f * unit(random), r * std::sin(angle) + 0.002f * unit(random), p.z, 0};
    }
    const std::vector<SurfaceContact> contacts = find_self(scene, sheet, 0.004f);
    expect_sound(scene, contacts, 2 * radius);
    for_each_pair(sheet.topology(), sheet.topology(), [&](FeaturePair kind, const std::array<std::uint32_t, 4>& n) {
      if (first_crossing(kind, points_of(scene.x, n), motion_of(scene, n, kH), 20) > 1) return;
      ++crossings;
      EXPECT_TRUE(std::any_of(contacts.begin(), contacts.end(),
                              [&](const SurfaceContact& c) {
                                return c.nodes == n || c.nodes == std::array{n[2], n[3], n[0], n[1]};
                              }))
          << "round " << round;
    });
  }
  EXPECT_GT(crossings, 300u);
}

TEST(SurfaceContacts, NeighborsDoNotPushEachOther) {
  for (const float radius : {0.0f, 0.005f, 0.02f, 0.1f, 0.5f}) {  // the edges are 0.05 long
    SurfaceScene scene;
    SurfaceTree sheet = scene.add_sheet(21, radius, [](float u, float w) { return Vec3{u, 0, w}; });
    for (Vec4& p : scene.x) p.y = 0.02f * std::sin(12 * p.x), p.x *= 0.98f;
    EXPECT_TRUE(find_self(scene, sheet, 0.02f).empty()) << radius;
  }
}

}  // namespace
}  // namespace pliant
