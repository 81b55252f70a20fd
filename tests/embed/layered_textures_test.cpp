// Textures of layered bodies against what the world itself says.
#include "pliant/layered_textures.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "geometry/triangle_tree.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

LayeredDef ball(Atlas atlas) {
  LayeredDef def;
  def.atlas = std::move(atlas);
  def.material.young_modulus = 2e4f;
  def.material.stiffness_damping = 0.01f;
  def.thickness = 0.1f;
  def.position = {0, 0.3f, 0};
  return def;
}

void expect_textures_of_a_resting_ball(Atlas atlas) {
  World world;
  world.add(GroundDef{});
  const BodyId body = world.add(ball(std::move(atlas))).value();
  for (int i = 0; i < 40; ++i) world.step();
  Result<LayeredTextures> textures = LayeredTextures::create(world, body, 96);
  ASSERT_TRUE(textures) << textures.error().to_string();
  const std::vector<Vec3> nodes(world.node_positions(body)->begin(), world.node_positions(body)->end());
  const std::vector<Face> faces(world.surface_faces(body)->begin(), world.surface_faces(body)->end());
  const TriangleTree surface(nodes, faces);
  const Vec3 middle = world.state(body)->center_of_mass;
  std::size_t inside = 0, pressed = 0;
  for (std::size_t i = 0; i < textures->map().texels.size(); ++i) {
    if (!textures->map().texels[i].is_inside) continue;
    ++inside;
    const Vec3 p = textures->positions().values[i], n = textures->normals().values[i];
    EXPECT_LT(surface.distance(p, 1), 1e-4f);
    EXPECT_NEAR(length(n), 1, 1e-4f);
    if (p.y > 0.1f) {
      EXPECT_GT(dot(n, normalized(p - middle)), 0.9f);
    }
    const Vec3 push = textures->contacts().values[i];
    if (length(push) > 0) {
      ++pressed;
      EXPECT_LT(p.y, 0.08f);
      EXPECT_GE(push.y, 0);
    }
  }
  EXPECT_GT(inside, 2000u);
  EXPECT_GT(pressed, 10u);
  world.step();
  EXPECT_TRUE(textures->update(world).ok());
  world.remove(body);
  world.step();
  EXPECT_FALSE(textures->update(world).ok());
}

TEST(LayeredTextures, ShowASphereOfGrids) { expect_textures_of_a_resting_ball(atlas_sphere(0.3f, 14)); }

TEST(LayeredTextures, ShowASphereFromAMesh) {
  TriMesh sphere = tri_sphere(0.3f, 40);
  sphere.uvs.clear();
  expect_textures_of_a_resting_ball(make_atlas(sphere, {.resolution = 48}).value());
}

TEST(LayeredTextures, SayWhatIsMissing) {
  World world;
  const BodyId ground = world.add(GroundDef{}).value();
  const BodyId plain = world.add(ball(Atlas{.surface = tri_sphere(0.3f, 24)})).value();
  world.step();
  EXPECT_FALSE(LayeredTextures::create(world, ground, 64));
  EXPECT_FALSE(LayeredTextures::create(world, plain, 64));
  const BodyId laid_out = world.add(ball(atlas_sphere(0.3f, 4))).value();
  world.step();
  EXPECT_FALSE(LayeredTextures::create(world, laid_out, 0));
  EXPECT_FALSE(LayeredTextures::create(world, laid_out, 1000000));
  EXPECT_TRUE(LayeredTextures::create(world, laid_out, 64));
}

}  // namespace
}  // namespace pliant
