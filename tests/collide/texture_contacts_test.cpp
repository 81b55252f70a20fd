// Contacts by textures against brute force: winding numbers and distances to all triangles.
#include "collide/texture_contacts.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "geometry/primitives.h"
#include "pliant/atlas.h"

namespace pliant {
namespace {

/// Van Oosterom and Strackee's solid angles add up to 4π inside a closed surface, and to 0 outside.
bool is_inside(const TriMesh& mesh, Vec3 p) {
  double total = 0;
  for (const Face& face : mesh.faces) {
    const Vec3 a = mesh.vertices[face[0]] - p, b = mesh.vertices[face[1]] - p, c = mesh.vertices[face[2]] - p;
    const double la = double(length(a)), lb = double(length(b)), lc = double(length(c));
    const double up = double(dot(a, cross(b, c)));
    const double down = la * lb * lc + double(dot(a, b)) * lc + double(dot(a, c)) * lb + double(dot(b, c)) * la;
    total += 2 * std::atan2(up, down);
  }
  return std::abs(total) > 6.283;
}

/// The way from a point to the nearest of a surface.
Vec3 way_to(const TriMesh& mesh, Vec3 p) {
  float best = 1e30f;
  Vec3 nearest;
  for (const Face& face : mesh.faces) {
    const auto at = closest_on_triangle(p, mesh.vertices[face[0]], mesh.vertices[face[1]], mesh.vertices[face[2]]);
    if (at.squared_distance < best) best = at.squared_distance, nearest = at.position;
  }
  return nearest - p;
}
float distance_to(const TriMesh& mesh, Vec3 p) { return length(way_to(mesh, p)); }

std::vector<Vec3> node_normals(const TriMesh& mesh) {
  std::vector<Vec3> normals(mesh.vertices.size());
  for (const Face& face : mesh.faces) {
    const Vec3 a = mesh.vertices[face[0]];
    const Vec3 normal = cross(mesh.vertices[face[1]] - a, mesh.vertices[face[2]] - a);
    for (const std::uint32_t node : face) normals[node] += normal;
  }
  for (Vec3& normal : normals) normal = normalized(normal);
  return normals;
}

TriMesh moved(TriMesh mesh, const Transform& by) {
  for (Vec3& v : mesh.vertices) v = by * v;
  return mesh;
}

Atlas ridged(Atlas atlas, float depth) {
  return displaced(std::move(atlas),
                   [depth](Vec3 p, Vec3 n) { return n * (depth * std::cos(9 * std::atan2(p.z, p.x))); });
}

struct Tally {
  int inside = 0, found = 0, wrong_depth = 0, not_inside = 0;
};

/// What the textures find of the nodes of one body that are inside the other, no deeper than `reach`, and that can be
/// pushed out without being pulled off their own body.
void tally(const TriMesh& own, const TriMesh& other, const TextureContacts& contacts, bool is_of_b, float reach,
           float half_texel, Tally& sum) {
  std::vector<const TextureContact*> of_node(own.vertices.size(), nullptr);
  for (const TextureContact& c : contacts.contacts()) {
    if (c.is_of_b == is_of_b) of_node[c.node] = &c;
  }
  const std::vector<Vec3> normals = node_normals(own);
  for (std::uint32_t i = 0; i < own.vertices.size(); ++i) {
    const bool claims = of_node[i] && of_node[i]->gap < 0;
    const bool inside = is_inside(other, own.vertices[i]);
    const Vec3 way = way_to(other, own.vertices[i]);
    const float depth = length(way);
    if (claims && !inside && depth > 1e-5f) ++sum.not_inside;
    if (!inside || depth > 0.95f * reach || dot(way, normals[i]) > 0.2f * depth) continue;
    ++sum.inside;
    if (!claims) continue;
    ++sum.found;
    if (std::abs(-of_node[i]->gap - depth) > std::max(0.1f * depth, half_texel)) ++sum.wrong_depth;
  }
}

TEST(TextureContacts, FindWhatPointInMeshTestsFind) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> share(0.05f, 0.9f);
  const float reach = 0.08f;
  const TriMesh shapes[] = {atlas_sphere(0.3f, 10).surface, ridged(atlas_sphere(0.3f, 12), 0.012f).surface,
                            ridged(atlas_torus(0.35f, 0.16f, 40, 20), 0.01f).surface,
                            atlas_cylinder(0.25f, 0.4f, 8, 10).surface};
  Tally sum;
  int pairs = 0;
  Workers workers(2);
  TextureContacts contacts;
  while (pairs < 14) {
    const TriMesh &shape_a = shapes[random() % 4], &shape_b = shapes[random() % 4];
    const auto turn = [&] { return Quat{normal(random), normal(random), normal(random), normal(random)}.normalized(); };
    const TriMesh b = moved(shape_b, {{}, turn()});
    const Vec3 direction = normalized(Vec3{normal(random), normal(random), normal(random)});
    const Quat turned = turn();
    // Together until they overlap by some share of the reach.
    float apart = 0.95f;
    TriMesh a = moved(shape_a, {direction * apart, turned});
    const auto deepest = [&] {
      float most = 0;
      for (const Vec3 v : a.vertices) {
        if (length(v) < 0.55f && is_inside(b, v)) most = std::max(most, distance_to(b, v));
      }
      return most;
    };
    const float wanted = share(random) * reach;
    while (deepest() < wanted && apart > 0.1f) apart -= 0.02f, a = moved(shape_a, {direction * apart, turned});
    if (deepest() > reach || deepest() < 0.01f) continue;
    ++pairs;
    TexturedSurface surface_a(a.faces, a.vertices), surface_b(b.faces, b.vertices);
    const std::vector<Vec3> still_a(a.vertices.size()), still_b(b.vertices.size());
    surface_a.fit(a.vertices, still_a, {}, 1, workers), surface_b.fit(b.vertices, still_b, {}, 1, workers);
    contacts.find(surface_a, surface_b, {.reach = reach, .margin = 1e-3f}, workers);
    const float half_texel = 0.35f * std::min(surface_a.edge(), surface_b.edge());
    tally(a, b, contacts, false, reach, half_texel, sum);
    tally(b, a, contacts, true, reach, half_texel, sum);
  }
  RecordProperty("inside", sum.inside), RecordProperty("found", sum.found);
  EXPECT_GT(sum.inside, 150);
  EXPECT_GE(sum.found, 0.98 * sum.inside) << sum.found << " of " << sum.inside;
  EXPECT_LE(sum.wrong_depth, 0.02 * sum.found);
  EXPECT_LE(sum.not_inside, 0.01 * sum.found);
}

TEST(TextureContacts, SeveralRegionsOfOnePair) {
  // A ring on a ring stood on edge: they touch left and right.
  const TriMesh low = atlas_torus(0.5f, 0.2f, 40, 16).surface;
  const TriMesh high =
      moved(atlas_torus(0.5f, 0.2f, 40, 16).surface, {{0, 0.68f, 0}, Quat::axis_angle({1, 0, 0}, kPi / 2)});
  Workers workers(1);
  TexturedSurface a(high.faces, high.vertices), b(low.faces, low.vertices);
  const std::vector<Vec3> still(low.vertices.size());
  a.fit(high.vertices, still, {}, 1, workers), b.fit(low.vertices, still, {}, 1, workers);
  TextureContacts contacts;
  contacts.find(a, b, {.reach = 0.08f, .margin = 1e-3f}, workers);
  Tally sum;
  tally(high, low, contacts, false, 0.08f, 0.005f, sum);
  tally(low, high, contacts, true, 0.08f, 0.005f, sum);
  EXPECT_GE(sum.found, 0.98 * sum.inside) << sum.found << " of " << sum.inside;
  bool has_left = false, has_right = false;
  for (const TextureContact& c : contacts.contacts()) {
    const Vec3 p = (c.is_of_b ? low : high).vertices[c.node];
    has_left |= p.x<-0.3f, has_right |= p.x> 0.3f;
  }
  EXPECT_TRUE(has_left || has_right || sum.inside == 0);
}

TEST(TextureContacts, AreTheSameOnAnyNumberOfThreadsAndBearNonsense) {
  const TriMesh mesh = atlas_sphere(0.3f, 16).surface;
  TriMesh other = moved(mesh, {{0.55f, 0.05f, 0}, {}});
  const std::vector<Vec3> still(mesh.vertices.size());
  std::vector<TextureContact> found[2];
  for (const int threads : {1, 2}) {
    Workers workers(threads);
    TexturedSurface a(mesh.faces, mesh.vertices), b(other.faces, other.vertices);
    a.fit(mesh.vertices, still, {}, 1, workers), b.fit(other.vertices, still, {}, 1, workers);
    TextureContacts contacts;
    const auto all = contacts.find(a, b, {.reach = 0.1f, .margin = 1e-3f}, workers);
    found[threads - 1].assign(all.begin(), all.end());
  }
  ASSERT_EQ(found[0].size(), found[1].size());
  ASSERT_GT(found[0].size(), 20u);
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    EXPECT_EQ(found[0][i].node, found[1][i].node);
    EXPECT_EQ(found[0][i].gap, found[1][i].gap);
  }
  for (const float bad : {NAN, INFINITY, 1e30f}) {
    other.vertices[5].x = bad;
    Workers workers(1);
    TexturedSurface a(mesh.faces, mesh.vertices), b(other.faces, mesh.vertices);
    a.fit(mesh.vertices, still, {}, 1, workers), b.fit(other.vertices, still, {}, 1, workers);
    TextureContacts contacts;
    contacts.find(a, b, {.reach = 0.1f, .margin = 1e-3f}, workers);
  }
}

TEST(TextureContacts, WorkFollowsTheContactAndNotTheMesh) {
  // Two rings that barely touch, of 64² to 256² texels: a few texels are drawn for each contact that is found.
  Workers workers(1);
  for (const int texels : {64, 128, 256}) {
    const TriMesh low = atlas_torus(0.5f, 0.2f, texels, texels).surface;
    const TriMesh high = moved(low, {{0, 0.38f, 0}, {}});
    TexturedSurface a(high.faces, high.vertices), b(low.faces, low.vertices);
    const std::vector<Vec3> still(low.vertices.size());
    a.fit(high.vertices, still, {}, 1, workers), b.fit(low.vertices, still, {}, 1, workers);
    TextureContacts contacts;
    contacts.find(a, b, {.reach = 0.02f, .margin = 1e-3f}, workers);
    const std::size_t count = contacts.contacts().size();
    EXPECT_GT(count, std::size_t(texels) * std::size_t(texels) / 5);
    EXPECT_LT(contacts.texels(), 4 * count);
  }
  // Of one ball that just dips into another, hardly anything is looked at.
  const TriMesh left = atlas_sphere(0.3f, 64).surface, right = moved(left, {{0.595f, 0, 0}, {}});
  TexturedSurface a(left.faces, left.vertices), b(right.faces, right.vertices);
  const std::vector<Vec3> still(left.vertices.size());
  a.fit(left.vertices, still, {}, 1, workers), b.fit(right.vertices, still, {}, 1, workers);
  TextureContacts contacts;
  contacts.find(a, b, {.reach = 0.02f, .margin = 1e-3f}, workers);
  EXPECT_GT(contacts.contacts().size(), 50u);
  EXPECT_LT(contacts.texels(), left.vertices.size() / 4);
}

}  // namespace
}  // namespace pliant
