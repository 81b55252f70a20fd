// Where solids touch: against brute force over all pairs of features, in piles, at speed, and from inside.
#include "solid/solid_meetings.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

constexpr float kDt = 1.0f / 60;

struct Lump {
  TetMesh mesh;
  std::vector<Face> faces;
  std::vector<Vec3> x, v;
  float cell = 0;
  bool is_active = true, self_collision = false;
  CollisionFilter filter{};
};

/// Solids that are put where one wants them.
struct Heap {
  std::vector<Lump> lumps;
  std::unique_ptr<SolidMeetings> searcher = std::make_unique<SolidMeetings>();
  Vec3 gravity{};
  std::vector<Obstacle> obstacles;

  std::size_t add(TetMesh mesh, const Transform& place, Vec3 velocity = {}) {
    Lump lump;
    std::vector<std::uint32_t> nodes;
    for (Face face : extract_surface(mesh, &nodes).faces) {
      lump.faces.push_back({nodes[face[0]], nodes[face[1]], nodes[face[2]]});
    }
    lump.cell = std::cbrt(float(mesh.volume()) / float(mesh.tets.size()));
    for (const Vec3 p : mesh.nodes) lump.x.push_back(place * p);
    lump.v.assign(lump.x.size(), velocity);
    lump.mesh = std::move(mesh);
    lumps.push_back(std::move(lump));
    return lumps.size() - 1;
  }
  BodySurface surface(std::size_t i) const {
    const Lump& l = lumps[i];
    return {.id = {std::uint32_t(i), 1},
            .revision = 1,
            .faces = l.faces,
            .rest = l.mesh.nodes,
            .x = l.x,
            .v = l.v,
            .radius = 0.01f * l.cell,
            .depth = l.cell,
            .filter = l.filter,
            .is_active = l.is_active,
            .self_collision = l.self_collision};
  }
  std::span<const SolidMeeting> find(Workers& workers) {
    std::vector<BodySurface> all;
    for (std::size_t i = 0; i < lumps.size(); ++i) all.push_back(surface(i));
    return searcher->find(all, obstacles, gravity, kDt, workers);
  }
  float thickness(std::size_t a, std::size_t b) const { return 0.01f * (lumps[a].cell + lumps[b].cell); }
  void move(std::size_t i, Vec3 way) {
    for (Vec3& p : lumps[i].x) p += way;
  }
};

Quat random_rotation(std::mt19937& random) {
  std::normal_distribution<float> normal;
  return Quat{normal(random), normal(random), normal(random), normal(random)}.normalized();
}

Vec3 random_direction(std::mt19937& random) {
  std::normal_distribution<float> normal;
  return normalized(Vec3{normal(random), normal(random), normal(random)}, Vec3{1, 0, 0});
}

Vec3d at(const Lump& l, std::uint32_t n) { return Vec3d(l.x[n]); }

/// Whether a segment passes through a triangle.
bool pierces(Vec3d p, Vec3d q, Vec3d a, Vec3d b, Vec3d c) {
  const double from = six_volumes(p, a, b, c), to = six_volumes(q, a, b, c);
  if ((from < 0) == (to < 0)) return false;
  const double u = six_volumes(p, q, a, b), v = six_volumes(p, q, b, c), w = six_volumes(p, q, c, a);
  return (u < 0) == (v < 0) && (v < 0) == (w < 0);
}

Aabb box_around(const Lump& l) {
  Aabb box;
  for (const Vec3 p : l.x) box.include(p);
  return box;
}

bool any_edge_pierces(const Lump& a, const Lump& b) {
  const Aabb box = box_around(b);
  for (const Face& e : a.faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (e[k] > e[(k + 1) % 3]) continue;
      Aabb edge;
      edge.include(a.x[e[k]]), edge.include(a.x[e[(k + 1) % 3]]);
      if (!edge.overlaps(box)) continue;
      for (const Face& f : b.faces) {
        Aabb face;
        face.include(b.x[f[0]]), face.include(b.x[f[1]]), face.include(b.x[f[2]]);
        if (!face.overlaps(edge)) continue;
        if (pierces(at(a, e[k]), at(a, e[(k + 1) % 3]), at(b, f[0]), at(b, f[1]), at(b, f[2]))) return true;
      }
    }
  }
  return false;
}

/// Whether two surfaces cross: bodies that are no larger than each other overlap only if they do.
bool overlap(const Lump& a, const Lump& b) { return any_edge_pierces(a, b) || any_edge_pierces(b, a); }

/// Moves a body out of the other, always along the deepest meeting. Returns how far in all, or −1 if that does not end.
float push_out(Heap& heap, Workers& workers) {
  float way = 0;
  for (int i = 0; i < 200; ++i) {
    const SolidMeeting* deepest = nullptr;
    for (const SolidMeeting& m : heap.find(workers)) {
      if (!deepest || m.gap < deepest->gap) deepest = &m;
    }
    if (!deepest || deepest->gap > -0.5f * heap.thickness(0, 1)) return way;
    const float sign = deepest->a.body.index == 0 ? 1.0f : -1.0f;
    heap.move(0, -sign * deepest->gap * deepest->normal);
    way -= deepest->gap;
  }
  return -1;
}

void expect_sound(const Heap& heap, const SolidMeeting& m) {
  EXPECT_NEAR(length(m.normal), 1, 1e-4f);
  EXPECT_EQ(m.a.count + m.b.count, 4u);
  Vec3 points[2];
  int i = 0;
  for (const MeetingSide* side : {&m.a, &m.b}) {
    float sum = 0;
    for (std::uint32_t k = 0; k < side->count; ++k) {
      sum += side->weights[k];
      EXPECT_GE(side->weights[k], 0);
      points[i] += side->weights[k] * heap.lumps[side->body.index].x[side->nodes[k]];
    }
    EXPECT_NEAR(sum, 1, 1e-4f);
    ++i;
  }
  // The gap is what the points say along the normal.
  const float thickness = heap.thickness(m.a.body.index, m.b.body.index);
  EXPECT_NEAR(dot(points[0] - points[1], m.normal) - thickness, m.gap, 2e-5f);
}

TEST(SolidMeetings, EveryNodeInsideABoxIsPushedOutAtItsFace) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  Workers workers(1);
  const Vec3 half{0.25f, 0.25f, 0.25f};
  int inside = 0, found = 0;
  for (int round = 0; round < 300; ++round) {
    Heap heap;
    const Transform place_b{{unit(random), unit(random), unit(random)}, random_rotation(random)};
    // About half a cell into each other: in the direction of any face, edge or corner.
    const Vec3 toward = random_direction(random);
    const Quat turn = random_rotation(random);
    heap.add(tet_box(2 * half, 5, 5, 5), {place_b.position + 0.9f * toward, turn});
    heap.add(tet_box(2 * half, 5, 5, 5), place_b);
    while (!overlap(heap.lumps[0], heap.lumps[1])) heap.move(0, -0.01f * toward);
    heap.move(0, -0.04f * std::abs(unit(random)) * toward);
    const auto meetings = heap.find(workers);
    ASSERT_FALSE(meetings.empty());
    for (const SolidMeeting& m : meetings) expect_sound(heap, m);
    const Transform box_from_world = place_b.inverse();
    for (std::uint32_t n = 0; n < heap.lumps[0].x.size(); ++n) {
      const Vec3 p = box_from_world * heap.lumps[0].x[n];
      const float depth = std::min({half.x - std::abs(p.x), half.y - std::abs(p.y), half.z - std::abs(p.z)});
      if (depth < 1e-5f || depth > 0.95f * heap.lumps[1].cell) continue;
      ++inside;
      for (const SolidMeeting& m : meetings) {
        if (m.a.count != 1 || m.a.body.index != 0 || m.a.nodes[0] != n) continue;
        // Outward through some side of the box, by as much as that takes.
        const Vec3 normal = box_from_world.rotation.rotate(m.normal);
        const Vec3 sides = {std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)};
        EXPECT_NEAR(std::max({sides.x, sides.y, sides.z}), 1, 1e-4f);
        const float way = 0.25f - dot(normal, p);
        EXPECT_NEAR(m.gap, -way - heap.thickness(0, 1), 1e-5f);
        EXPECT_LT(way, 2 * depth + 0.02f);
        ++found;
      }
    }
  }
  EXPECT_GT(inside, 200);
  EXPECT_GE(found, 0.97 * inside) << inside;  // those that look away from the face are left to their neighbours
}

TEST(SolidMeetings, WhatOverlapsIsFoundAndComesApart) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> unit(0, 1);
  Workers workers(1);
  const TetMesh box = tet_box({0.5f, 0.5f, 0.5f}, 3, 3, 3), slab = tet_box({0.8f, 0.3f, 0.5f}, 5, 2, 3),
                ball = tet_sphere(0.3f, 0.12f);
  const TetMesh* shapes[] = {&box, &slab, &ball};
  for (int round = 0; round < 300; ++round) {
    Heap heap;
    const Vec3 toward = random_direction(random);
    const unsigned first = random() % 3, second = random() % 3;
    heap.add(*shapes[first], {1.2f * toward, random_rotation(random)});
    heap.add(*shapes[second], {{}, random_rotation(random)});
    while (!overlap(heap.lumps[0], heap.lumps[1])) heap.move(0, -0.002f * toward);
    const float into = 0.5f * unit(random) * std::min(heap.lumps[0].cell, heap.lumps[1].cell);
    heap.move(0, -into * toward);
    float deepest = 1;
    for (const SolidMeeting& m : heap.find(workers)) deepest = std::min(deepest, m.gap);
    // Edges may sink into nearly flat surroundings as far as this.
    const float flatness = 0.02f * (heap.lumps[0].cell + heap.lumps[1].cell);
    if (into > 2 * flatness) {
      EXPECT_LT(deepest, -heap.thickness(0, 1)) << "round " << round << ": overlapping, and not found";
    }
    const float way = push_out(heap, workers);
    EXPECT_GE(way, 0) << "round " << round;
    EXPECT_LT(way, 2 * (into + 0.002f) + 3 * heap.thickness(0, 1))
        << round << ": " << first << " " << second << " into " << into;
    heap.move(0, 2 * flatness * toward);
    EXPECT_FALSE(overlap(heap.lumps[0], heap.lumps[1])) << round << ": " << first << " " << second << " into " << into;
  }
}

TEST(SolidMeetings, CrossedEdgesTouchOnBothSidesOfContact) {
  Workers workers(1);
  // Two bars on edge, crossed at right angles: only their ridges touch, in the middle of edges.
  for (const float apart : {0.003f, 0.001f, -0.001f, -0.005f, -0.02f}) {
    Heap heap;
    const TetMesh bar = tet_box({0.2f, 0.2f, 1}, 2, 2, 9);
    const Quat on_edge = Quat::axis_angle({0, 0, 1}, kPi / 4);
    const float top = 0.1f * std::sqrt(2.0f);
    heap.add(bar, {{0.013f, 2 * top + apart, 0.007f}, Quat::axis_angle({0, 1, 0}, kPi / 2) * on_edge});
    heap.add(bar, {{}, on_edge});
    int edges = 0;
    for (const SolidMeeting& m : heap.find(workers)) {
      if (m.a.count != 2) continue;
      ++edges;
      const float up = m.a.body.index == 0 ? 1.0f : -1.0f;
      EXPECT_NEAR(m.normal.y, up, 1e-3f) << apart;
      EXPECT_NEAR(m.gap, apart - heap.thickness(0, 1), 1e-4f) << apart;
    }
    EXPECT_EQ(edges, 1) << apart;
  }
}

// Two boxes of the same size, one on the other: nothing pushes to the side, whatever the overlap.
TEST(SolidMeetings, AStackIsHeldFromBelowOnly) {
  Workers workers(1);
  for (const float overlap : {0.005f, 0.0005f, 0.00005f, -0.0001f}) {
    for (const Vec3 shift : {Vec3{}, {1e-5f, 0, -1e-5f}, {0.0003f, 0, 0.0001f}, {-0.004f, 0, 0.07f}}) {
      Heap heap;
      heap.add(tet_box({0.5f, 0.5f, 0.5f}, 5, 5, 5), {});
      heap.add(tet_box({0.5f, 0.5f, 0.5f}, 5, 5, 5), {Vec3{0, 0.5f - overlap, 0} + shift, {}});
      int nodes = 0;
      for (const SolidMeeting& m : heap.find(workers)) {
        if (m.a.count == 1) ++nodes;
        if (m.gap > -0.9f * heap.thickness(0, 1)) continue;
        EXPECT_GT(std::abs(m.normal.y), 0.99f)
            << overlap << " " << shift.x << " gap " << m.gap << " " << m.a.count << " nodes of " << m.a.body.index;
        EXPECT_EQ(m.normal.y > 0, m.a.body.index == 1);
      }
      EXPECT_GE(nodes, 40) << overlap << " " << shift.x;
      EXPECT_LE(heap.searcher->meetings().size(), 130u) << overlap << " " << shift.x;
    }
  }
}

TEST(SolidMeetings, AFastCubeMeetsAThinWallBeforeItPasses) {
  Workers workers(1);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (int round = 0; round < 50; ++round) {
    Heap heap;
    const Vec3 start{0.3f * unit(random), 0.3f * unit(random), 0.3f + 0.9f * std::abs(unit(random))};
    heap.add(tet_box({0.3f, 0.3f, 0.3f}, 3, 3, 3), {start, random_rotation(random)}, {0, 0, -60});
    heap.add(tet_box({1.5f, 1.5f, 0.1f}, 8, 8, 1), {{0, 0, -0.06f}, {}});
    const auto meetings = heap.find(workers);
    // As much as the rows take from the cube must stop it: no node of it gets through that no meeting knows of.
    float least = 1e9f;
    for (const Vec3 p : heap.lumps[0].x) least = std::min(least, p.z - 1);
    if (least > 0) continue;
    ASSERT_FALSE(meetings.empty()) << round;
    for (const SolidMeeting& m : meetings) {
      const float toward = m.a.body.index == 0 ? m.normal.z : -m.normal.z;
      EXPECT_GT(toward, 0) << round;
    }
    for (std::uint32_t n = 0; n < heap.lumps[0].x.size(); ++n) {
      const Vec3 p = heap.lumps[0].x[n];
      const bool is_lowest =
          std::all_of(heap.lumps[0].x.begin(), heap.lumps[0].x.end(), [&](Vec3 q) { return p.z <= q.z; });
      if (!is_lowest) continue;
      EXPECT_TRUE(std::any_of(meetings.begin(), meetings.end(), [&](const SolidMeeting& m) {
        return m.a.count == 1 && m.a.body.index == 0 && m.a.nodes[0] == n && std::abs(m.gap - (p.z + 0.01f)) < 0.01f;
      })) << round;
    }
  }
}

/// Cubes of 6x6x6 nodes that press into each other a little, each tilted a little.
void add_pile(Heap& heap, int side, float pitch, float tilt, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  const TetMesh cube = tet_box({0.5f, 0.5f, 0.5f}, 5, 5, 5);
  for (int i = 0; i < side * side * side; ++i) {
    const int a = i % side, b = i / side / side, c = i / side % side;
    const Vec3 aside{float((b + c) % 2), float((a + c) % 2), float((a + b) % 2)};  // so that no nodes face each other
    const Vec3 center = Vec3{float(a), float(b), float(c)} + 0.06f * aside;
    heap.add(cube, {pitch * center, Quat::axis_angle(random_direction(random), tilt * unit(random))});
  }
}

void shake(Heap& heap, std::mt19937& random, float size) {
  std::uniform_real_distribution<float> unit(-1, 1);
  for (Lump& l : heap.lumps) {
    for (std::size_t i = 0; i < l.x.size(); ++i) {
      l.v[i] = (size / kDt) * Vec3{unit(random), unit(random), unit(random)};
      l.x[i] += kDt * l.v[i];
    }
  }
}

bool equal(const SolidMeeting& a, const SolidMeeting& b) {
  return a.key == b.key && a.gap == b.gap && a.normal == b.normal && a.point == b.point && a.a.body == b.a.body &&
         a.b.body == b.b.body && a.a.nodes == b.a.nodes && a.b.nodes == b.b.nodes && a.a.weights == b.a.weights;
}

TEST(SolidMeetings, ThreadsAndSnapshotsChangeNothing) {
  std::vector<SolidMeeting> expected;
  for (const int run : {0, 1, 2}) {  // one thread; two; restored into an empty one on the way
    Workers workers(run == 1 ? 2 : 1);
    Heap heap;
    add_pile(heap, 3, 0.49f, 0.05f, 4);
    for (Lump& l : heap.lumps) l.self_collision = true;
    Obstacle ball;
    ball.id = {99, 1};
    ball.shape = std::make_shared<const Shape>(Sphere{0.05f});
    ball.world_from_shape.position = {0.5f, 1.27f, 0.5f};
    ball.bounds = Aabb{{0.5f, 1.27f, 0.5f}, {0.5f, 1.27f, 0.5f}}.expanded(0.06f);
    heap.obstacles = {ball};
    std::mt19937 random(5);
    for (int i = 0; i < 6; ++i) {
      shake(heap, random, 0.002f);
      heap.find(workers);
      if (run == 2 && i == 3) {
        const SolidMeetings::Memory memory = heap.searcher->memory();
        heap.searcher = std::make_unique<SolidMeetings>();
        heap.searcher->restore(memory);
      }
    }
    const auto found = heap.searcher->meetings();
    if (run == 0) expected.assign(found.begin(), found.end());
    EXPECT_GT(expected.size(), 1000u);
    EXPECT_EQ(expected.back().b.body.index, 99u);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), equal)) << run;
  }
  std::vector<std::uint64_t> keys;
  for (const SolidMeeting& m : expected) keys.push_back(m.key);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(SolidMeetings, WhatIsKeptFromBeforeGivesWhatAFreshSearchGives) {
  Workers workers(1);
  Heap heap;
  add_pile(heap, 2, 0.49f, 0.1f, 6);
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    shake(heap, random, 0.0015f);
    heap.find(workers);
    const std::vector<SolidMeeting> kept(heap.searcher->meetings().begin(), heap.searcher->meetings().end());
    const SolidMeetings::Memory memory = heap.searcher->memory();
    heap.searcher->forget();
    const auto fresh = heap.find(workers);
    // Edges that count as flat are chosen when the boxes are fitted; nodes are not. How far ahead one looks depends on
    // what is known of the two bodies as a whole; what is near does not.
    const auto nodes_of = [&](std::span<const SolidMeeting> all) {
      std::vector<std::uint64_t> keys;
      for (const SolidMeeting& m : all) {
        if (m.a.count == 1 && m.gap < 0.04f * heap.lumps[0].cell) keys.push_back(m.key);
      }
      return keys;
    };
    EXPECT_EQ(nodes_of(kept), nodes_of(fresh)) << i;
    heap.searcher->restore(memory);
  }
}

TEST(SolidMeetings, FiltersSleepersAndBadNumbers) {
  Workers workers(1);
  Heap heap;
  heap.add(tet_box({0.5f, 0.5f, 0.5f}, 2, 2, 2), {});
  heap.add(tet_box({0.5f, 0.5f, 0.5f}, 2, 2, 2), {{0, 0.49f, 0}, {}});
  EXPECT_FALSE(heap.find(workers).empty());
  heap.lumps[0].is_active = false;
  EXPECT_FALSE(heap.find(workers).empty());
  heap.lumps[1].is_active = false;
  EXPECT_TRUE(heap.find(workers).empty());
  heap.lumps[0].is_active = true;
  heap.lumps[0].filter = {.category = 2, .mask = 2};
  EXPECT_TRUE(heap.find(workers).empty());
  heap.lumps[0].filter = {};
  heap.lumps[0].x[3].y = std::numeric_limits<float>::quiet_NaN();
  heap.lumps[1].x[5].x = std::numeric_limits<float>::infinity();
  heap.lumps[1].v[7].x = 3e38f;
  for (const SolidMeeting& m : heap.find(workers)) {
    EXPECT_TRUE(std::isfinite(m.gap));
    EXPECT_NEAR(length(m.normal), 1, 1e-4f);
  }
  EXPECT_TRUE(heap.searcher->find({}, {}, {}, kDt, workers).empty());
}

// A horseshoe whose ends touch: self contact, and none where it is only thin.
TEST(SolidMeetings, ASolidMeetsItself) {
  Workers workers(1);
  Heap heap;
  heap.add(tet_box({2, 0.1f, 0.1f}, 40, 2, 2), {});
  heap.lumps[0].self_collision = true;
  EXPECT_TRUE(heap.find(workers).empty());
  const auto bend = [&](float angle) {
    for (std::size_t i = 0; i < heap.lumps[0].x.size(); ++i) {
      const Vec3 p = heap.lumps[0].mesh.nodes[i];
      const float radius = 2 / angle, a = angle * (p.x / 2);
      heap.lumps[0].x[i] = {(radius + p.y) * std::sin(a), (radius + p.y) * std::cos(a) - radius, p.z};
    }
  };
  heap.searcher->forget();
  bend(6.0f);
  EXPECT_TRUE(heap.find(workers).empty());
  // Closing: the ends come to touch, then overlap a little.
  bool is_found = false;
  for (float angle = 6.2f; angle < 6.286f; angle += 0.001f) {
    bend(angle);
    for (const SolidMeeting& m : heap.find(workers)) {
      is_found = true;
      const Vec3 p = heap.lumps[0].mesh.nodes[m.a.nodes[0]], q = heap.lumps[0].mesh.nodes[m.b.nodes[0]];
      EXPECT_GT(std::abs(p.x - q.x), 1.5f);
    }
  }
  EXPECT_TRUE(is_found);
  float deepest = 0;
  for (const SolidMeeting& m : heap.searcher->meetings()) deepest = std::min(deepest, m.gap);
  EXPECT_LT(deepest, -0.0008f);  // 0.55 mm are the radii
}

// A corner between the nodes of a coarse slab, a ridge across its rim, and a small fast ball through a large face.
TEST(SolidMeetings, CornersAndEdgesOfRigidBodiesAreMet) {
  Workers workers(1);
  for (const float apart : {0.002f, -0.002f, -0.02f}) {
    Heap heap;
    heap.add(tet_box({1, 0.4f, 1}, 2, 1, 2), {});
    Obstacle box;
    box.id = {7, 1};
    box.shape = std::make_shared<const Shape>(Box{{0.1f, 0.1f, 0.1f}});
    const Quat on_corner = Quat::between(normalized(Vec3{1, 1, 1}), {0, -1, 0});
    box.world_from_shape = {{0.23f, 0.2f + 0.05f * std::sqrt(3.0f) + apart, 0.11f}, on_corner};
    box.center_of_mass = box.world_from_shape.position;
    box.bounds = Aabb{box.center_of_mass, box.center_of_mass}.expanded(0.1f);
    heap.obstacles = {box};
    const auto found = heap.find(workers);
    ASSERT_EQ(found.size(), 1u) << apart;
    EXPECT_EQ(found[0].a.body.index, 0u);
    EXPECT_EQ(found[0].b.body.index, 7u);
    EXPECT_EQ(found[0].b.count, 0u);
    EXPECT_NEAR(found[0].normal.y, -1, 1e-4f);
    EXPECT_NEAR(found[0].gap, apart - 0.01f * heap.lumps[0].cell, 1e-5f);
    EXPECT_NEAR(found[0].point.x, 0.23f, 1e-5f);
  }
}

}  // namespace
}  // namespace pliant
