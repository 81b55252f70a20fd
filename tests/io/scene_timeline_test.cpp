#include <cmath>

#include <gtest/gtest.h>

#include "pliant/timeline.h"
#include "pliant/world.h"

namespace pliant {
namespace {

Keyframe key(double time, Vec3 position, Quat rotation = {}) { return {time, {position, rotation}}; }
Quat about_y(float degrees) { return Quat::axis_angle({0, 1, 0}, degrees * kPi / 180); }
float angle_between(Quat a, Quat b) {
  const float c = std::abs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
  return 2 * std::acos(std::min(1.0f, c));
}

TEST(MotionPath, LinearRunsAtConstantSpeed) {
  const MotionPath path{{key(1, {0, 0, 0}), key(3, {4, 0, 0}, about_y(90))}};
  EXPECT_EQ(path.at(0).position, (Vec3{0, 0, 0}));
  EXPECT_NEAR(path.at(1.5).position.x, 1, 1e-6);
  EXPECT_NEAR(path.at(2).position.x, 2, 1e-6);
  EXPECT_NEAR(angle_between(path.at(2).rotation, about_y(45)), 0, 1e-3);
  EXPECT_EQ(path.at(9).position, (Vec3{4, 0, 0}));
}

TEST(MotionPath, EaseStopsAtEveryKeyframe) {
  const MotionPath path{{key(0, {0, 0, 0}), key(1, {1, 0, 0}), key(2, {2, 0, 0})}, Interpolation::Ease};
  const auto speed = [&](double t) { return (path.at(t + 1e-3).position.x - path.at(t - 1e-3).position.x) / 2e-3; };
  EXPECT_NEAR(speed(1), 0, 5e-3);
  EXPECT_NEAR(speed(0.5), 1.5, 1e-2);  // 6 u (1 - u) at the middle
  EXPECT_NEAR(path.at(0.5).position.x, 0.5, 1e-6);
}

TEST(MotionPath, SmoothPassesThroughKeyframesWithoutStopping) {
  const MotionPath path{{key(0, {0, 0, 0}), key(1, {1, 0, 0}, about_y(30)), key(2, {2, 0, 0}, about_y(60)),
                         key(3, {3, 0, 0}, about_y(90))},
                        Interpolation::Smooth};
  for (int i = 0; i <= 3; ++i) EXPECT_NEAR(path.at(i).position.x, i, 1e-5);
  const auto speed = [&](double t) { return (path.at(t + 1e-3).position.x - path.at(t - 1e-3).position.x) / 2e-3; };
  EXPECT_NEAR(speed(1), 1, 1e-2);
  EXPECT_NEAR(speed(1.5), 1, 1e-2);
  EXPECT_NEAR(speed(0), 0, 5e-2);
  EXPECT_NEAR(angle_between(path.at(1.5).rotation, about_y(45)), 0, 2e-3);
  EXPECT_NEAR(angle_between(path.at(2).rotation, about_y(60)), 0, 1e-3);
}

TEST(MotionPath, SmoothLoopsOnACircleStayNearIt) {
  MotionPath path{{}, Interpolation::Smooth, true};
  for (int i = 0; i <= 12; ++i) {
    const float a = kPi / 6 * static_cast<float>(i);
    path.keyframes.push_back(key(i, {std::cos(a), 0, -std::sin(a)}, about_y(30 * static_cast<float>(i))));
  }
  ASSERT_TRUE(path.validate().ok());
  for (double t = 0; t < 30; t += 0.1) {
    EXPECT_NEAR(length(path.at(t).position), 1, 5e-3) << t;
    const double a = kPi / 6 * t;
    EXPECT_NEAR(path.at(t).position.x, std::cos(a), 1e-2) << t;
    EXPECT_NEAR(angle_between(path.at(t).rotation, about_y(static_cast<float>(30 * std::fmod(t, 12)))), 0, 1e-2) << t;
  }
}

TEST(MotionPath, GoesOnAtVelocitiesAfterItsLastKeyframe) {
  const Quat tilt = Quat::axis_angle({1, 0, 0}, 0.3f);
  MotionPath path{{key(0, {0, 0, 0}), key(1, {1, 0, 0}, tilt)}};
  path.velocities = {{2, {0, 3, 0}, {0, 5, 0}}, {4, {0, 0, -1}, {}}};
  ASSERT_TRUE(path.validate().ok());
  EXPECT_EQ(path.at(1.5).position, (Vec3{1, 0, 0}));
  EXPECT_NEAR(path.at(3).position.y, 3, 1e-5);
  // World axes: after the tilt.
  EXPECT_NEAR(angle_between(path.at(3).rotation, Quat::axis_angle({0, 1, 0}, 5) * tilt), 0, 2e-3);
  EXPECT_LT(length(path.at(10).position - Vec3{1, 6, -6}), 1e-5f);
  EXPECT_NEAR(angle_between(path.at(10).rotation, Quat::axis_angle({0, 1, 0}, 10) * tilt), 0, 2e-3);
}

TEST(MotionPath, KeepsItsPhaseOverManyTurns) {
  MotionPath path{{key(0, {})}};
  path.velocities = {{0, {}, {0, 2 * kPi * 50, 0}}};
  // The float nearest to 100 pi is off by 1e-7 of it.
  EXPECT_NEAR(angle_between(path.at(1000.005).rotation, about_y(90)), 0, 0.03);
}

TEST(MotionPath, RefusesNonsense) {
  const MotionPath half{{key(0, {}), key(1, {}, about_y(180))}};
  EXPECT_EQ(half.validate().error().field, "keyframes[1]");
  EXPECT_TRUE((MotionPath{{key(0, {}), key(1, {}, about_y(179))}}.validate().ok()));
  MotionPath early{{key(1, {})}};
  early.velocities = {{0.5, {1, 0, 0}, {}}};
  EXPECT_EQ(early.validate().error().field, "velocities[0].time");
  early.velocities = {{1, {NAN, 0, 0}, {}}};
  EXPECT_EQ(early.validate().error().field, "velocities[0].velocity");
  EXPECT_FALSE(MotionPath{}.validate().ok());
  EXPECT_EQ((MotionPath{{key(1, {}), key(0.5, {})}}.validate().error().field), "keyframes[1].time");
  EXPECT_EQ((MotionPath{{key(0, {}), key(1, {1, 0, 0})}, Interpolation::Linear, true}.validate().error().field),
            "keyframes[1]");
  EXPECT_FALSE((MotionPath{{key(NAN, {})}}.validate().ok()));
  EXPECT_FALSE((MotionPath{{key(0, {INFINITY, 0, 0})}}.validate().ok()));
}

WorldDef weightless() {
  WorldDef def;
  def.gravity = {};
  return def;
}

BodyId add_ball(World& world) {
  RigidDef def;
  def.shape = Sphere{0.5f};
  def.mass = 2.0f;
  return world.add(def).value();
}

void run(World& world, const Timeline& timeline, int steps) {
  for (int i = 0; i < steps; ++i) {
    timeline.apply(world, world.def().dt);
    world.step();
    EXPECT_TRUE(world.report().errors.empty());
  }
}

TEST(Timeline, ImpulsesComeOnceAndOnTime) {
  World world(weightless());
  const BodyId ball = add_ball(world);
  Timeline timeline;
  ASSERT_TRUE(timeline.add(TimedImpulse{.at = 1, .body = ball, .impulse = {6, 0, 0}}).ok());
  run(world, timeline, 60);
  EXPECT_EQ(world.state(ball)->velocity.x, 0);
  run(world, timeline, 1);
  EXPECT_NEAR(world.state(ball)->velocity.x, 3, 1e-6);
  run(world, timeline, 200);
  EXPECT_NEAR(world.state(ball)->velocity.x, 3, 1e-6);
}

TEST(Timeline, ForcesGiveTheirWholeImpulseWhateverTheStep) {
  for (const float dt : {1.0f / 60, 1.0f / 47, 0.1f}) {
    WorldDef def = weightless();
    def.dt = dt;
    World world(def);
    const BodyId ball = add_ball(world);
    Timeline timeline;
    ASSERT_TRUE(timeline.add(TimedForce{.from = 0.113, .to = 0.489, .body = ball, .force = {0, 10, 0}}).ok());
    run(world, timeline, static_cast<int>(1 / dt));
    EXPECT_NEAR(world.state(ball)->velocity.y, 10 * 0.376 / 2, 1e-4) << dt;
  }
}

TEST(Timeline, OffCentreImpulsesTurnTheBody) {
  World world(weightless());
  const BodyId ball = add_ball(world);
  Timeline timeline;
  timeline.add(TimedImpulse{.at = 0, .body = ball, .impulse = {0, 1, 0}, .point = Vec3{0.5f, 0, 0}});
  run(world, timeline, 1);
  // L = r x p = 0.5 z; I = 2/5 m r² = 0.2
  EXPECT_NEAR(world.state(ball)->angular_velocity.z, 2.5, 1e-4);
}

TEST(Timeline, KinematicBodiesReachTheirKeyframes) {
  World world;
  RigidDef def;
  def.motion = Motion::Kinematic;
  const BodyId box = world.add(def).value();
  Timeline timeline;
  const MotionPath path{{key(0, {0, 0, 0}), key(1, {3, 0, 0}, about_y(90)), key(2, {3, 4, 0}, about_y(170))},
                        Interpolation::Smooth};
  timeline.add(BodyMotion{box, path});
  for (int i = 0; i < 150; ++i) {
    run(world, timeline, 1);
    const Transform at = world.state(box)->world_from_body, wanted = path.at(world.time());
    EXPECT_LT(length(at.position - wanted.position), 1e-4f) << i;
    EXPECT_LT(angle_between(at.rotation, wanted.rotation), 2e-3f) << i;
  }
  EXPECT_LT(length(world.state(box)->velocity), 1e-4f);
}

TEST(Timeline, PassesOverWhatIsGone) {
  World world;
  const BodyId ball = add_ball(world);
  Timeline timeline;
  timeline.add(TimedRemoval{.at = 0.5, .body = ball});
  timeline.add(TimedImpulse{.at = 0.7, .body = ball, .impulse = {1, 0, 0}});
  timeline.add(TimedForce{.from = 0, .to = 2, .body = ball, .force = {1, 0, 0}});
  run(world, timeline, 100);
  EXPECT_FALSE(world.contains(ball));
}

TEST(Timeline, RefusesNonsense) {
  Timeline timeline;
  EXPECT_EQ(timeline.add(TimedForce{.from = 2, .to = 1}).error().field, "to");
  EXPECT_EQ(timeline.add(TimedImpulse{.at = -1}).error().field, "at");
  EXPECT_EQ(timeline.add(TimedImpulse{.at = 0, .impulse = {NAN, 0, 0}}).error().field, "impulse");
  EXPECT_EQ(timeline.add(TimedExplosion{.at = 0, .explosion = {.radius = 0}}).error().field, "radius");
  EXPECT_FALSE(timeline.add(TimedMotor{.at = INFINITY}).ok());
  EXPECT_FALSE(timeline.add(BodyMotion{}).ok());
  EXPECT_TRUE(timeline.empty());
}

}  // namespace
}  // namespace pliant
