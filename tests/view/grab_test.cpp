// The spring of the mouse: it brings any body to where it should be, and never throws it.
#include "view/grab.h"

#include <cmath>

#include <gtest/gtest.h>

#include "view/held.h"

namespace pliant {
namespace {

TEST(Grab, HoldsThePointItTook) {
  Held held(RigidDef{.shape = Box{{1, 2, 1}}, .position = {1, 2, 3}, .rotation = Quat::axis_angle({0, 1, 0}, 0.7f)},
            {1, 3, 3});
  EXPECT_LT(length(held.point() - Vec3{1, 3, 3}), 1e-5f);
  EXPECT_EQ(held.grab->body(), held.body);
}

TEST(Grab, LiftsPebblesAndBouldersAlike) {
  for (const float mass : {0.001f, 1.0f, 1e6f}) {
    Held held(RigidDef{.shape = Sphere{0.5f}, .mass = mass}, {0, 0.5f, 0});
    held.grab->pull_to({1, 3, 0});
    held.run(6, 1.0f / 60);
    // At rest the spring carries the weight: it is g / w² longer, with w = 2 pi 2.5 Hz, and (1 + w dt)² softer, as its
    // step knows nothing of gravity.
    const float w = 2 * kPi * 2.5f, sag = 9.81f / (w * w) * std::pow(1 + w / 60, 2.0f);
    EXPECT_LT(length(held.point() - Vec3{1, 3 - sag, 0}), 0.02f) << mass;
    EXPECT_LT(length(held.world.state(held.body)->velocity), 0.05f) << mass;
  }
}

TEST(Grab, IsStableForEveryStepAndShape) {
  for (const float dt : {0.002f, 1.0f / 60, 0.05f, 0.1f}) {
    for (const Vec3 size : {Vec3{1, 1, 1}, Vec3{0.05f, 4, 0.05f}, Vec3{3, 0.02f, 3}}) {
      // Held at its end, where a long body answers much more than its mass would.
      const Vec3 end = 0.5f * size;
      Held held(RigidDef{.shape = Box{size}, .mass = 10.0f}, end);
      held.grab->pull_to(end + Vec3{0.5f, 0.5f, 0});
      double most = 0;
      for (int i = 0; i < 40; ++i) {
        held.run(0.25, dt);
        most = std::max(most, held.world.report().kinetic_energy);
      }
      EXPECT_LT(most, 10 * 9.81 * 4) << dt << " " << size.y;  // no more than a fall over its length would give
      EXPECT_LT(length(held.point() - held.grab->target()), dt > 0.05f ? 1.0f : 0.25f) << dt << " " << size.y;
      EXPECT_EQ(held.world.report().quarantined, 0u);
    }
  }
}

TEST(Grab, DoesNotSwingPastItsTarget) {
  Held held(RigidDef{.shape = Sphere{0.5f}}, {0, 0.5f, 0}, {.gravity = {0, 0, 0}});
  held.grab->pull_to({0, 1.5f, 0});
  float highest = 0;
  for (int i = 0; i < 300; ++i) {
    held.run(1e-9, 1.0f / 120);
    highest = std::max(highest, held.point().y);
  }
  EXPECT_LT(highest, 1.53f);
  EXPECT_NEAR(held.point().y, 1.5f, 0.01f);
}

TEST(Grab, PullsNoHarderThanItsLimit) {
  Held held(RigidDef{.shape = Sphere{0.5f}, .mass = 2.0f}, {0, 0.5f, 0}, {.gravity = {0, 0, 0}});
  held.grab->pull_to({0, 1e6f, 0});
  held.run(1e-9, 0.01f);
  EXPECT_NEAR(held.world.state(held.body)->velocity.y, 400 * 0.01f, 0.05f);
  held.grab->pull_to({NAN, 0, 0});
  EXPECT_EQ(held.grab->target(), (Vec3{0, 1e6f, 0}));
}

TEST(Grab, CannotPullAStaticBodyThroughItsTarget) {
  World world;
  const BodyId wall = world.add(RigidDef{.motion = Motion::Static}).value();
  world.commit_edits();
  SurfacePublisher publisher;
  Grab grab(world, publisher.update(world)[0], {0.5f, 0, 0});
  grab.pull_to({5, 0, 0});
  grab.apply(world, publisher.update(world)[0], 0.01f);
  world.step();
  EXPECT_TRUE(world.report().errors.empty());
  EXPECT_EQ(world.state(wall)->world_from_body.position, Vec3{});
}

TEST(Response, IsWhatAnImpulseDoes) {
  World world({.gravity = {0, 0, 0}});
  const RigidDef def{.shape = Box{{0.3f, 2, 0.7f}},
                     .position = {1, 2, 3},
                     .rotation = Quat::axis_angle({1, 2, 3}, 1.1f),
                     .mass = 3.0f};
  const Vec3 point{1.2f, 2.6f, 3.1f}, impulse{0.4f, -0.3f, 0.5f};
  const BodyId body = world.add(def).value();
  world.commit_edits();
  const Vec3 expected = response_at(world, body, point) * impulse;
  world.apply_impulse(body, impulse, point);
  world.commit_edits();
  const BodyState state = *world.state(body);
  const Vec3 seen = state.velocity + cross(state.angular_velocity, point - state.center_of_mass);
  EXPECT_LT(length(seen - expected), 1e-4f * length(expected));
}

/// A surface as a body that deforms publishes it.
TEST(SurfacePoint, StaysWithItsFaceWhileTheSurfaceDeforms) {
  TriMesh mesh;
  mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
  mesh.faces = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  RenderSurface surface;
  surface.mesh = std::make_shared<const TriMesh>(mesh);
  std::vector<Vec3> now = mesh.vertices, velocities(4);
  surface.vertices = now, surface.velocities = velocities;
  const Vec3 on_face{0.5f, 0.5f, 0};  // weights 1/2, 1/4, 1/4
  const SurfacePoint point = SurfacePoint::at(surface, on_face);
  EXPECT_LT(length(point.position(surface) - on_face), 1e-5f);
  for (Vec3& p : now) p = Vec3{3 * p.x + 1, p.y - p.x, p.z + 0.5f * p.y};  // affine: so is the point
  velocities = {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}, {9, 9, 9}};
  EXPECT_LT(length(point.position(surface) - Vec3{2.5f, 0, 0.25f}), 1e-5f);
  EXPECT_LT(length(point.velocity(surface) - Vec3{2, 1, 1}), 1e-5f);
}

}  // namespace
}  // namespace pliant
