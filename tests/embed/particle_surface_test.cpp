// What cloth and rope show: the tube of a rope against its distance from the middle line, a carried surface against
// rigid motions and a cylinder.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "embed/render_surface.h"
#include "embed/sheet_embedding.h"
#include "pliant/generators.h"
#include "pliant/world.h"

namespace pliant {
namespace {

WorldDef weightless() { return {.gravity = {0, 0, 0}}; }

/// Every edge has two faces, which run along it in opposite ways.
bool is_closed(const TriMesh& mesh) { return validate(mesh, {.require_closed = true}).empty(); }

float distance_to_segment(Vec3 p, Vec3 a, Vec3 b) {
  const float t = std::clamp(dot(p - a, b - a) / dot(b - a, b - a), 0.0f, 1.0f);
  return length(a + t * (b - a) - p);
}

TriMesh as_shown(const RenderSurface& surface) {
  TriMesh mesh = *surface.mesh;
  mesh.vertices.assign(surface.vertices.begin(), surface.vertices.end());
  return mesh;
}

TEST(RopeSurface, IsAClosedTubeOfTheRightVolume) {
  World world(weightless());
  const float radius = 0.05f, size = 2;
  ASSERT_TRUE(world.add(RopeDef{.path = {{0, 0, 0}, {size, 0, 0}}, .segment = 0.1f, .radius = radius}).ok());
  SurfacePublisher publisher;
  const RenderSurface surface = publisher.update(world)[0];
  const TriMesh mesh = as_shown(surface);
  EXPECT_TRUE(is_closed(mesh));
  // A capsule, but for the corners that twelve sides cut off: sin(30°)/30° = 4.5 %.
  const double exact = M_PI * radius * radius * size + 4.0 / 3 * M_PI * std::pow(radius, 3);
  EXPECT_LT(enclosed_volume(mesh), exact);
  EXPECT_GT(enclosed_volume(mesh), 0.94 * exact);
  for (const Vec3 v : mesh.vertices) {
    EXPECT_NEAR(distance_to_segment(v, {0, 0, 0}, {size, 0, 0}), radius, 1e-5);
  }
}

TEST(RopeSurface, DoesNotPinchInSharpBends) {
  for (const float degrees : {30.0f, 90.0f, 150.0f, 175.0f}) {
    const float angle = degrees * kPi / 180, radius = 0.02f, segment = 0.1f;
    World world(weightless());
    const Vec3 corner{1, 0, 0}, end = corner + Vec3{std::cos(angle), std::sin(angle), 0};
    ASSERT_TRUE(world.add(RopeDef{.path = {{0, 0, 0}, corner, end}, .segment = segment, .radius = radius}).ok());
    SurfacePublisher publisher;
    const RenderSurface surface = publisher.update(world)[0];
    // Across the plane of the bend the tube is as wide as anywhere, also at the corner, and the middle of each face on
    // its outer side is not pulled in by more than the facets of a ring and of the bend do.
    float widest_at_corner = 0;
    for (const Vec3 v : surface.vertices) {
      if (length(Vec3{v.x, v.y, 0} - corner) < 0.5f * segment) widest_at_corner = std::max(widest_at_corner, v.z);
    }
    EXPECT_NEAR(widest_at_corner, radius, 0.05f * radius) << degrees;
    // Rings stay round: opposite vertices of each are two radii apart.
    constexpr std::size_t kSides = 12;
    for (std::size_t i = 1; i + kSides < surface.vertices.size(); i += kSides) {
      const float across = length(surface.vertices[i] - surface.vertices[i + kSides / 2]);
      EXPECT_LT(across, 2.001f * radius) << degrees << " " << i;
    }
    const TriMesh mesh = as_shown(surface);
    for (const Vec3 v : mesh.vertices) EXPECT_TRUE(is_finite(v));
    EXPECT_GT(enclosed_volume(mesh), 0.85 * M_PI * double(radius * radius) * 2) << degrees;
  }
}

TEST(RopeSurface, DoesNotTwistAlongAHelix) {
  // Neighbouring rings of a frame that minimises rotation differ by the turn of the tube alone.
  RopeDef def{.path = {}, .segment = 0.5f, .radius = 0.05f};
  for (int i = 0; i <= 80; ++i) {
    const float t = 0.2f * static_cast<float>(i);
    def.path.push_back({std::cos(t), 0.2f * t, std::sin(t)});
  }
  World world(weightless());
  ASSERT_TRUE(world.add(def).ok());
  SurfacePublisher publisher;
  const RenderSurface surface = publisher.update(world)[0];
  constexpr std::size_t kSides = 12, kCap = 3;
  const std::size_t rings = (surface.vertices.size() - 2) / kSides;
  for (std::size_t r = kCap; r + kCap + 1 < rings; ++r) {
    const Vec3 a = surface.normals[1 + r * kSides], b = surface.normals[1 + (r + 1) * kSides];
    // The tube turns by 0.2 rad from node to node, which four pieces share.
    EXPECT_GT(dot(a, b), std::cos(0.1f)) << r;
  }
}

TEST(RopeSurface, KeepsItsRingsFromUpdateToUpdate) {
  World world;
  ASSERT_TRUE(world.add(RopeDef{.path = {{0, 3, 0}, {2, 3, 0}}, .held = {{.nodes = NodeList{{0}}}}}).ok());
  SurfacePublisher publisher;
  std::vector<Vec3> before;
  for (int i = 0; i < 240; ++i) {
    const RenderSurface surface = publisher.update(world)[0];
    EXPECT_EQ(surface.revision, 0u);
    for (std::size_t v = 0; v < before.size(); ++v) {
      const float gone = length(surface.vertices[v] - before[v]), most = length(surface.velocities[v]) / 60 + 0.02f;
      ASSERT_LT(gone, 2 * most) << "step " << i << " vertex " << v;
    }
    before.assign(surface.vertices.begin(), surface.vertices.end());
    world.step();
  }
}

TEST(ClothSurface, IsTheClothsOwnNodes) {
  World world(weightless());
  const BodyId body = *world.add(ClothDef{.shape = ClothSheet{1, 1, 7, 5}, .position = {1, 2, 3}});
  SurfacePublisher publisher;
  const RenderSurface surface = publisher.update(world)[0];
  EXPECT_TRUE(surface.is_sheet);
  const std::span<const Vec3> nodes = *world.node_positions(body);
  ASSERT_EQ(surface.vertices.size(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(surface.vertices[i], nodes[i]);
    EXPECT_LT(length(surface.mesh->vertices[i] + Vec3{1, 2, 3} - nodes[i]), 1e-6f);
    EXPECT_GT(surface.normals[i].y, 0.999f);
  }
}

TEST(ClothSurface, CarriesASurfaceThroughRigidMotions) {
  auto carried = std::make_shared<TriMesh>(tri_box({0.8f, 0.1f, 0.8f}, 0.1f));
  const Transform place{{1, 2, 3}, Quat::axis_angle(normalized(Vec3{1, 2, -1}), 2.0f)};
  World world(weightless());
  ASSERT_TRUE(world
                  .add(ClothDef{.shape = ClothSheet{1, 1, 10, 10},
                                .position = place.position,
                                .rotation = place.rotation,
                                .surface = carried})
                  .ok());
  SurfacePublisher publisher;
  const RenderSurface surface = publisher.update(world)[0];
  ASSERT_EQ(surface.vertices.size(), carried->vertices.size());
  for (std::size_t i = 0; i < carried->vertices.size(); ++i) {
    EXPECT_LT(length(surface.vertices[i] - place * carried->vertices[i]), 1e-5f) << i;
  }
}

TEST(ClothSurface, FollowsTears) {
  World world(weightless());
  ClothDef def{.shape = ClothSheet{1, 1, 8, 8},
               .held = {{.nodes = NodeHalfSpace{{-1, 0, 0}, 0.499f}}, {.nodes = NodeHalfSpace{{1, 0, 0}, 0.499f}}}};
  def.material.strength = 50;
  const BodyId body = *world.add(def);
  world.commit_edits();
  world.drive(body, NodeHalfSpace{{1, 0, 0}, 0.499f}, Vec3{0.5f, 0, 0}).require();
  SurfacePublisher publisher;
  std::size_t tears = 0;
  for (int i = 0; i < 40; ++i) {
    world.step();
    tears += world.events().tears.size();
    const RenderSurface surface = publisher.update(world)[0];
    const std::span<const Vec3> nodes = *world.node_positions(body);
    ASSERT_EQ(surface.mesh->faces.size(), 128u);
    ASSERT_EQ(surface.vertices.size(), nodes.size());
    EXPECT_TRUE(std::equal(nodes.begin(), nodes.end(), surface.vertices.begin()));
    std::vector<bool> is_shown(nodes.size(), false);
    for (const Face& face : surface.mesh->faces) {
      for (const std::uint32_t node : face) {
        ASSERT_LT(node, nodes.size());
        is_shown[node] = true;
      }
    }
    EXPECT_EQ(std::count(is_shown.begin(), is_shown.end(), false), 0) << "step " << i;
  }
  EXPECT_GT(tears, 5u);
}

TEST(SheetEmbedding, FollowsASheetThatIsRolledUp) {
  // A flat sheet rolled to a cylinder of radius R: what was h above it lies on the radius R - h.
  const TriMesh sheet = tri_grid(Vec2{2, 2}, 0.05f);
  const float radius = 1.0f;
  std::vector<Vec3> above, rolled;
  for (int i = 0; i < 200; ++i) {
    const float u = static_cast<float>(i) / 199;
    above.push_back({1.8f * u - 0.9f, 0.2f * std::sin(9 * u), 1.7f * std::cos(5 * u) / 2});
  }
  const auto roll = [&](Vec3 v) {
    const float angle = v.x / radius, r = radius - v.y;
    return Vec3{r * std::sin(angle), radius - r * std::cos(angle), v.z};
  };
  for (const Vec3 v : sheet.vertices) rolled.push_back(roll(v));
  Workers workers;
  SheetEmbedding embedding(sheet.vertices, sheet.faces, above);
  std::vector<Vec3> out(above.size());
  embedding.update(workers, rolled, out);
  for (std::size_t i = 0; i < above.size(); ++i) EXPECT_LT(length(out[i] - roll(above[i])), 2e-3f) << i;
}

}  // namespace
}  // namespace pliant
