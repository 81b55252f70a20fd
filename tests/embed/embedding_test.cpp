#include "embed/embedding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

using Map = std::function<Vec3(Vec3)>;

std::vector<Vec3> mapped(std::span<const Vec3> points, const Map& map) {
  std::vector<Vec3> result;
  for (const Vec3 p : points) result.push_back(map(p));
  return result;
}

std::vector<Vec3> random_points(const Aabb& box, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<Vec3> points;
  for (int i = 0; i < count; ++i) {
    points.push_back(box.lower + multiply_each(Vec3{uniform(random), uniform(random), uniform(random)}, box.size()));
  }
  return points;
}

std::vector<Vec3> carried(Embedding& embedding, std::span<const Vec3> nodes, int threads = 2) {
  Workers workers(threads);
  std::vector<Vec3> vertices(embedding.vertex_count());
  embedding.update(workers, nodes, vertices);
  return vertices;
}

Embedding embed(const TetMesh& cage, std::span<const Vec3> vertices) {
  Workers workers(2);
  return *Embedding::create(workers, cage, vertices);
}

float largest_difference(std::span<const Vec3> a, std::span<const Vec3> b) {
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float d = length(a[i] - b[i]);
    largest = d <= largest ? largest : d;  // a NaN stays
  }
  return largest;
}

std::array<double, 4> barycentric(const TetMesh& cage, std::uint32_t tet, Vec3 point) {
  std::array<Vec3d, 4> c;
  for (std::size_t i = 0; i < 4; ++i) c[i] = Vec3d(cage.nodes[cage.tets[tet][i]]);
  const double volume = six_volumes(c[0], c[1], c[2], c[3]);
  std::array<double, 4> weights;
  for (std::size_t i = 0; i < 4; ++i) {
    auto moved = c;
    moved[i] = Vec3d(point);
    weights[i] = six_volumes(moved[0], moved[1], moved[2], moved[3]) / volume;
  }
  return weights;
}

Vec3 affine(Vec3 p) {
  return {1.3f * p.x + 0.4f * p.y - 0.2f * p.z + 3, -0.3f * p.x + 0.6f * p.y + 0.5f * p.z - 2,
          0.1f * p.x - 0.7f * p.y + 1.1f * p.z + 1};
}

Vec3 twisted(Vec3 p) {
  const float a = 2 * p.y;
  return {std::cos(a) * p.x + std::sin(a) * p.z, p.y, -std::sin(a) * p.x + std::cos(a) * p.z};
}

TEST(Embedding, AffineMapsAreExactInsideAndOutside) {
  const TetMesh cage = tet_sphere(1, 0.2f);
  const std::vector<Vec3> vertices = random_points({{-1.3f, -1.3f, -1.3f}, {1.3f, 1.3f, 1.3f}}, 20000, 1);
  Embedding embedding = embed(cage, vertices);
  EXPECT_GT(embedding.outside_count(), 5000u);
  EXPECT_LT(embedding.outside_count(), 17000u);
  EXPECT_LT(largest_difference(carried(embedding, cage.nodes), vertices), 1e-6f);
  EXPECT_LT(largest_difference(carried(embedding, mapped(cage.nodes, affine)), mapped(vertices, affine)), 1e-5f);
}

TEST(Embedding, RigidMotionKeepsTheShapeFarOutside) {
  const TetMesh cage = tet_box({1, 1, 1}, 0.25f);
  const std::vector<Vec3> vertices = random_points({{-3, -3, -3}, {3, 3, 3}}, 5000, 2);
  const Transform moved{{10, -20, 30}, Quat::axis_angle({1, 2, 3}, 2)};
  const Map map = [&](Vec3 p) { return moved * p; };
  Embedding embedding = embed(cage, vertices);
  EXPECT_NEAR(embedding.largest_offset(), 2.5f * std::sqrt(3.0f), 0.5f);
  EXPECT_LT(largest_difference(carried(embedding, mapped(cage.nodes, map)), mapped(vertices, map)),
            5e-5f);  // 40 m from the origin
}

TEST(Embedding, AVertexGoesToATetThatHoldsIt) {
  const TetMesh cage = tet_torus(1, 0.3f, 0.1f);
  const std::vector<Vec3> vertices = random_points(cage.bounds(), 3000, 3);
  Embedding embedding = embed(cage, vertices);
  std::size_t inside = 0;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    bool is_held = false;
    for (std::uint32_t t = 0; t < cage.tets.size() && !is_held; ++t) {
      const auto w = barycentric(cage, t, vertices[v]);
      is_held = *std::min_element(w.begin(), w.end()) >= 0;
    }
    inside += is_held;
    const auto w = barycentric(cage, embedding.tets()[v], vertices[v]);
    if (is_held) {
      ASSERT_GE(*std::min_element(w.begin(), w.end()), -1e-6);
    }
  }
  EXPECT_EQ(embedding.outside_count(), vertices.size() - inside);
  EXPECT_GT(inside, 300u);
}

TEST(Embedding, InsideATetTheMapIsThatOfItsNodes) {
  // Node positions at random: each vertex must be where its own tet's weights put it.
  const TetMesh cage = tet_box({1, 1, 1}, 3, 3, 3);
  const std::vector<Vec3> vertices = random_points(cage.bounds(), 5000, 4);
  const std::vector<Vec3> nodes = random_points({{-1, -1, -1}, {1, 1, 1}}, int(cage.nodes.size()), 5);
  Embedding embedding = embed(cage, vertices);
  const std::vector<Vec3> now = carried(embedding, nodes);
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const std::uint32_t tet = embedding.tets()[v];
    const auto w = barycentric(cage, tet, vertices[v]);
    Vec3d expected;
    for (std::size_t i = 0; i < 4; ++i) expected += w[i] * Vec3d(nodes[cage.tets[tet][i]]);
    ASSERT_LT(length(Vec3d(now[v]) - expected), 2e-6);
  }
}

TEST(Embedding, VerticesOnNodesEdgesAndFacesFollowThem) {
  const TetMesh cage = tet_box({1, 2, 1}, 0.5f);
  std::vector<Vec3> vertices = cage.nodes;
  const std::vector<Vec3> nodes = mapped(cage.nodes, twisted);
  std::vector<Vec3> expected = nodes;
  for (const Tet& t : cage.tets) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        vertices.push_back(0.5f * (cage.nodes[t[i]] + cage.nodes[t[j]]));
        expected.push_back(0.5f * (nodes[t[i]] + nodes[t[j]]));
      }
      const std::uint32_t a = t[(i + 1) % 4], b = t[(i + 2) % 4], c = t[(i + 3) % 4];
      vertices.push_back((cage.nodes[a] + cage.nodes[b] + cage.nodes[c]) / 3);
      expected.push_back((nodes[a] + nodes[b] + nodes[c]) / 3);
    }
  }
  Embedding embedding = embed(cage, vertices);
  EXPECT_LT(embedding.largest_offset(), 1e-6f);
  EXPECT_LT(largest_difference(carried(embedding, nodes), expected), 2e-6f);
}

struct SurfaceDamage {
  double largest_stretch = 0;  ///< of an edge, against the true map
  int turned_faces = 0;
};

SurfaceDamage damage(const TriMesh& surface, std::span<const Vec3> now, std::span<const Vec3> truth) {
  SurfaceDamage result;
  for (const Face& f : surface.faces) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = f[i], b = f[(i + 1) % 3];
      result.largest_stretch =
          std::max(result.largest_stretch, double(length(now[a] - now[b]) / length(truth[a] - truth[b])));
    }
    const Vec3 n = cross(now[f[1]] - now[f[0]], now[f[2]] - now[f[0]]);
    result.turned_faces += dot(n, cross(truth[f[1]] - truth[f[0]], truth[f[2]] - truth[f[0]])) < 0;
  }
  return result;
}

TEST(Embedding, OutsideTheSurfaceStaysWholeWhereExtrapolatedWeightsTearIt) {
  const TetMesh cage = tet_sphere(1, 0.25f);
  const TriMesh surface = tri_sphere(1.1f, 96);
  Embedding embedding = embed(cage, surface.vertices);
  EXPECT_EQ(embedding.outside_count(), surface.vertices.size());
  const std::vector<Vec3> nodes = mapped(cage.nodes, twisted), truth = mapped(surface.vertices, twisted);

  std::vector<Vec3> extrapolated;
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const std::uint32_t tet = embedding.tets()[v];
    const auto w = barycentric(cage, tet, surface.vertices[v]);
    Vec3d sum;
    for (std::size_t i = 0; i < 4; ++i) sum += w[i] * Vec3d(nodes[cage.tets[tet][i]]);
    extrapolated.push_back(sum.to_float());
  }
  const SurfaceDamage ours = damage(surface, carried(embedding, nodes), truth),
                      theirs = damage(surface, extrapolated, truth);
  EXPECT_EQ(ours.turned_faces, 0);
  EXPECT_LT(ours.largest_stretch, 1.3);
  EXPECT_GT(theirs.largest_stretch, 3) << "the reason for the means around the nodes is gone";
}

TEST(Embedding, VelocitiesAreCarriedByTheSameMap) {
  const TetMesh cage = tet_sphere(1, 0.25f);
  const std::vector<Vec3> vertices = random_points({{-1.2f, -1.2f, -1.2f}, {1.2f, 1.2f, 1.2f}}, 2000, 6);
  Embedding embedding = embed(cage, vertices);
  const Vec3 spin{1, -2, 0.5f}, speed{3, 4, 5};
  const Map velocity = [&](Vec3 p) { return speed + cross(spin, p); };
  EXPECT_LT(largest_difference(carried(embedding, mapped(cage.nodes, velocity)), mapped(vertices, velocity)), 1e-5f);
}

TEST(Embedding, ValuesAreLinearInsideAndNeverBeyondTheNodes) {
  const TetMesh cage = tet_sphere(1, 0.25f);
  const std::vector<Vec3> vertices = random_points({{-1.5f, -1.5f, -1.5f}, {1.5f, 1.5f, 1.5f}}, 5000, 7);
  const Embedding embedding = embed(cage, vertices);
  std::vector<float> values, at_vertices(vertices.size());
  for (const Vec3 n : cage.nodes) values.push_back(2 * n.x - n.y + 3);
  Workers workers(2);
  embedding.interpolate(workers, values, at_vertices);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  int inside = 0;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    EXPECT_GE(at_vertices[v], *least - 1e-5f);
    EXPECT_LE(at_vertices[v], *most + 1e-5f);
    const auto w = barycentric(cage, embedding.tets()[v], vertices[v]);
    if (*std::min_element(w.begin(), w.end()) < 0) continue;
    EXPECT_NEAR(at_vertices[v], 2 * vertices[v].x - vertices[v].y + 3, 1e-5f);
    ++inside;
  }
  EXPECT_GT(inside, 500);
}

TEST(Embedding, DegenerateBrokenAndInvertedTetsDoNoHarm) {
  TetMesh cage = tet_box({1, 1, 1}, 2, 2, 2);
  const TetMesh sound = cage;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto bad = std::uint32_t(cage.nodes.size());
  cage.nodes.push_back({nan, 0, 0});
  cage.tets.insert(cage.tets.begin(), {{0, 1, 2, bad}, {0, 1, 2, 99999}, {0, 0, 1, 2}, {0, 1, 1, 0}});
  cage.tets.push_back({cage.tets.back()[0], cage.tets.back()[1], cage.tets.back()[2], cage.tets.back()[2]});
  for (std::size_t t = 4; t < cage.tets.size(); t += 3) std::swap(cage.tets[t][0], cage.tets[t][1]);

  const std::vector<Vec3> vertices = random_points({{-0.7f, -0.7f, -0.7f}, {0.7f, 0.7f, 0.7f}}, 3000, 8);
  Embedding damaged = embed(cage, vertices), whole = embed(sound, vertices);
  EXPECT_EQ(damaged.outside_count(), whole.outside_count());
  std::vector<Vec3> nodes = mapped(cage.nodes, affine);
  EXPECT_LT(largest_difference(carried(damaged, nodes), mapped(vertices, affine)), 1e-5f);
}

TEST(Embedding, AVertexInAHoleOfFlatTetsGoesToItsNeighbor) {
  // A crack of no width filled with flat tets: what lies exactly in it is held by either side.
  TetMesh cage;
  cage.nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 0}};
  cage.tets = {{0, 1, 2, 3}, {0, 2, 1, 4}, {0, 1, 5, 2}};
  const std::vector<Vec3> vertices{{0.25f, 0.25f, 0}, {0.6f, 0.6f, 0}, {0.1f, 0.1f, -0.1f}};
  Embedding embedding = embed(cage, vertices);
  EXPECT_EQ(embedding.outside_count(), 1u);
  EXPECT_LT(largest_difference(carried(embedding, mapped(cage.nodes, affine)), mapped(vertices, affine)), 1e-5f);
  for (const std::uint32_t tet : embedding.tets()) EXPECT_LT(tet, 2u);
}

TEST(Embedding, CollapsedAndExplodedCagesGiveFiniteVertices) {
  const TetMesh cage = tet_sphere(1, 0.3f);
  const TriMesh surface = tri_sphere(1.2f, 32);
  Embedding embedding = embed(cage, surface.vertices);
  for (const Map& map : {Map([](Vec3) {
                           return Vec3{1, 2, 3};
                         }),
                         Map([](Vec3 p) {
                           return Vec3{p.x, 0, 0};
                         }),
                         Map([](Vec3 p) { return -1e6f * p; })}) {
    for (const Vec3 v : carried(embedding, mapped(cage.nodes, map))) ASSERT_TRUE(is_finite(v));
  }
  // To a point: everything is there.
  const std::vector<Vec3> point(cage.nodes.size(), Vec3{1, 2, 3});
  for (const Vec3 v : carried(embedding, point)) ASSERT_EQ(v, (Vec3{1, 2, 3}));
}

TEST(Embedding, OneAndTwoThreadsGiveTheSameBits) {
  const TetMesh cage = tet_sphere(1, 0.15f);
  const std::vector<Vec3> vertices = random_points({{-1.1f, -1.1f, -1.1f}, {1.1f, 1.1f, 1.1f}}, 50000, 9);
  const std::vector<Vec3> nodes = mapped(cage.nodes, twisted);
  std::vector<std::vector<Vec3>> results;
  for (const int threads : {1, 2}) {
    Workers workers(threads);
    Embedding embedding = *Embedding::create(workers, cage, vertices);
    for (int again = 0; again < 3; ++again) results.push_back(carried(embedding, nodes, threads));
  }
  for (const auto& result : results) EXPECT_TRUE(result == results[0]);
}

TEST(Embedding, ManyVerticesBindQuickly) {
  const TetMesh cage = tet_box({1, 1, 1}, 12, 12, 12);
  const std::vector<Vec3> vertices = random_points({{-0.6f, -0.6f, -0.6f}, {0.6f, 0.6f, 0.6f}}, 100000, 10);
  Embedding embedding = embed(cage, vertices);  // minutes, if the trees were not used
  EXPECT_EQ(embedding.vertex_count(), vertices.size());
}

TEST(Embedding, NothingIsCarriedByNothing) {
  Workers workers(2);
  Result<Embedding> none = Embedding::create(workers, TetMesh{}, {});
  ASSERT_TRUE(none);
  none->update(workers, {}, {});
  Embedding empty;
  empty.update(workers, {}, {});
  EXPECT_EQ(empty.vertex_count(), 0u);

  const TetMesh cage = tet_box({1, 1, 1}, 1, 1, 1);
  Embedding no_vertices = embed(cage, {});
  no_vertices.update(workers, cage.nodes, {});
  EXPECT_EQ(no_vertices.outside_count(), 0u);
}

TEST(Embedding, RefusesWhatCannotBeCarried) {
  Workers workers(1);
  const std::vector<Vec3> vertices{{0, 0, 0}, {0, std::numeric_limits<float>::infinity(), 0}};
  const Result<Embedding> infinite = Embedding::create(workers, tet_box({1, 1, 1}, 1, 1, 1), vertices);
  ASSERT_FALSE(infinite);
  EXPECT_EQ(infinite.error().field, "vertices[1]");
  TetMesh flat;
  flat.nodes = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  flat.tets = {{0, 1, 2, 3}};
  const Result<Embedding> nowhere = Embedding::create(workers, flat, std::span(vertices).first(1));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().field, "cage");
}

}  // namespace
}  // namespace pliant
