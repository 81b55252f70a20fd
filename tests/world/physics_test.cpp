// Rigid bodies against closed forms and conservation laws.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "pliant/defs.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;
constexpr float kSlopeAngle = 0.46364761f;  // 26.565°, whose tangent is 0.5

Vec3 position(const World& world, BodyId body) { return world.state(body)->world_from_body.position; }
Vec3 velocity(const World& world, BodyId body) { return world.state(body)->velocity; }

void run(World& world, double seconds) {
  const int steps = static_cast<int>(std::lround(seconds / static_cast<double>(world.def().dt)));
  for (int i = 0; i < steps; ++i) world.step();
}

TEST(FreeFlight, FallMatchesHalfGTSquared) {
  for (const float dt : {1.0f / 30, 1.0f / 60, 1.0f / 240}) {
    World world({.dt = dt});
    const BodyId ball = world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 100, 0}}).value();
    run(world, 2);
    EXPECT_NEAR(100 - position(world, ball).y, kGravity * 2, 1e-4f * kGravity * 2) << "dt " << dt;
    EXPECT_NEAR(velocity(world, ball).y, -kGravity * 2, 1e-4f * kGravity * 2) << "dt " << dt;
  }
}

TEST(FreeFlight, ProjectileLandsWhereTheParabolaSays) {
  World world;
  const Vec3 v0{7, 12, -3};
  const BodyId box = world.add(RigidDef{.position = {1, 2, 3}, .velocity = v0, .angular_velocity = {0, 1, 0}}).value();
  const float t = 1.5f;
  run(world, t);
  const Vec3 expected = Vec3{1, 2, 3} + v0 * t + Vec3{0, -0.5f * kGravity * t * t, 0};
  EXPECT_LT(length(position(world, box) - expected), 1e-4f * length(expected));
}

TEST(FreeFlight, ForceAcceleratesByFOverM) {
  World world({.gravity = {0, 0, 0}, .substeps = 3});
  const BodyId box = world.add(RigidDef{.mass = 2.0f}).value();
  for (int i = 0; i < 60; ++i) {
    world.apply_force(box, {6, 0, 0}).require();
    world.step();
  }
  EXPECT_NEAR(velocity(world, box).x, 3, 1e-4f);
  EXPECT_NEAR(position(world, box).x, 1.5f, 1e-4f);
}

TEST(FreeFlight, DampingDecaysExponentially) {
  World world({.gravity = {0, 0, 0}});
  const BodyId box =
      world
          .add(RigidDef{
              .velocity = {1, 0, 0}, .angular_velocity = {0, 2, 0}, .linear_damping = 0.5f, .angular_damping = 1})
          .value();
  run(world, 2);
  EXPECT_NEAR(velocity(world, box).x, std::exp(-1.0f), 1e-4f);
  EXPECT_NEAR(world.state(box)->angular_velocity.y, 2 * std::exp(-2.0f), 1e-4f);
}

TEST(FreeFlight, AsymmetricBodyKeepsItsAngularMomentum) {
  World world({.gravity = {0, 0, 0}});
  world.add(RigidDef{.shape = Box{{0.2f, 1, 2}}, .angular_velocity = {0.3f, 2, 0.1f}}).value();
  world.step();
  const StepReport first = world.report();
  for (int i = 0; i < 600; ++i) world.step();
  const StepReport& last = world.report();
  double change = 0, size = 0;
  for (int i = 0; i < 3; ++i) {
    change += std::pow(last.angular_momentum[i] - first.angular_momentum[i], 2);
    size += std::pow(first.angular_momentum[i], 2);
  }
  EXPECT_LT(std::sqrt(change / size), 1e-4);
  EXPECT_NEAR(last.kinetic_energy, first.kinetic_energy, 1e-3 * first.kinetic_energy);
}

TEST(CenterOfMass, HullSwingsAboutItsTrueCentre) {
  // A wedge whose origin is a corner: spinning freely, its centre of mass stays where it is.
  const ConvexHull wedge{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};
  World world({.gravity = {0, 0, 0}});
  const BodyId body = world.add(RigidDef{.shape = wedge, .position = {5, 5, 5}, .angular_velocity = {0, 0, 3}}).value();
  run(world, 1);
  // The centroid of the triangle is at a third of its legs.
  EXPECT_LT(length(world.state(body)->center_of_mass - Vec3{5 + 1 / 3.f, 5 + 1 / 3.f, 5.5f}), 1e-3f);
}

/// A box on a slope about the Z axis, turned by `heading` about the slope's normal; returns how far it slid in 2 s.
struct Slope {
  explicit Slope(float friction, float heading = 0, float size = 1)
      : world({.dt = 1.0f / 60}), down{-std::cos(kSlopeAngle), -std::sin(kSlopeAngle), 0}, scale(size) {
    const Quat tilt = Quat::axis_angle({0, 0, 1}, kSlopeAngle);
    world.add(RigidDef{.shape = Box{{200 * size, 2 * size, 200 * size}},
                       .motion = Motion::Static,
                       .rotation = tilt,
                       .friction = friction});
    box = world
              .add(RigidDef{.shape = Box{{size, 0.5f * size, size}},
                            .position = tilt.rotate({0, 1.25f * size, 0}),
                            .rotation = tilt * Quat::axis_angle({0, 1, 0}, heading),
                            .friction = friction})
              .value();
    start = position(world, box);
  }
  float slid() const { return dot(position(world, box) - start, down); }
  float speed() const { return dot(velocity(world, box), down); }

  World world;
  BodyId box;
  Vec3 down, start;
  float scale;
};

TEST(Friction, BoxSlidesBelowAndSticksAboveTheTangent) {
  for (const float heading : {0.0f, 0.4f, kPi / 4, 1.1f}) {
    Slope sliding(0.49f, heading), sticking(0.51f, heading);
    run(sliding.world, 3);
    run(sticking.world, 3);
    // a = g (sin − μ cos)
    const float a = kGravity * (std::sin(kSlopeAngle) - 0.49f * std::cos(kSlopeAngle));
    // The drive is a fiftieth of the weight: 5 % here is 0.1 % of the friction.
    EXPECT_NEAR(sliding.slid(), 0.5f * a * 9, 0.05f * 0.5f * a * 9) << "heading " << heading;
    EXPECT_LT(std::abs(sticking.slid()), 1e-3f) << "heading " << heading;
  }
}

TEST(Friction, AccelerationDoesNotDependOnSize) {
  const float expected = kGravity * (std::sin(kSlopeAngle) - 0.3f * std::cos(kSlopeAngle));
  for (const float size : {0.1f, 1.0f, 10.0f}) {
    Slope slope(0.3f, 0, size);
    run(slope.world, 0.5);
    const float early = slope.speed();
    run(slope.world, 1);
    EXPECT_NEAR(slope.speed() - early, expected, 0.02f * expected) << "size " << size;
  }
}

TEST(Friction, SlidingBoxStopsAfterVSquaredOverTwoMuG) {
  for (const float heading : {0.0f, 0.7f}) {
    World world;
    world.add(GroundDef{.friction = 0.4f});
    const float v = 5;
    const BodyId box = world
                           .add(RigidDef{.shape = Box{{1, 0.4f, 1}},
                                         .position = {0, 0.2f, 0},
                                         .velocity = {v * std::cos(heading), 0, v * std::sin(heading)},
                                         .friction = 0.4f})
                           .value();
    run(world, 4);
    const Vec3 end = position(world, box);
    const float expected = v * v / (2 * 0.4f * kGravity);
    EXPECT_NEAR(std::hypot(end.x, end.z), expected, 0.02f * expected);
    EXPECT_NEAR(std::atan2(end.z, end.x), heading, 0.01f);
    EXPECT_LT(length(velocity(world, box)), 1e-3f);
  }
}

TEST(Contact, RestingBoxPressesWithItsWeight) {
  World world;
  const BodyId ground = world.add(GroundDef{}).value();
  const BodyId box = world.add(RigidDef{.position = {0, 0.5f, 0}, .mass = 12.0f, .allow_sleep = false}).value();
  run(world, 2);
  float impulse = 0;
  for (const Contact& contact : world.events().contacts) {
    EXPECT_TRUE((contact.a == box && contact.b == ground) || (contact.a == ground && contact.b == box));
    impulse += contact.normal_impulse * std::abs(contact.normal.y);
  }
  EXPECT_NEAR(impulse, 12 * kGravity * world.def().dt, 0.01f * 12 * kGravity * world.def().dt);
  EXPECT_NEAR(position(world, box).y, 0.5f, 2e-3f);
}

TEST(Contact, BallBouncesToEpsilonSquaredTimesItsHeight) {
  World world({.dt = 1.0f / 240});
  world.add(GroundDef{});
  const BodyId ball = world.add(RigidDef{.shape = Sphere{0.1f}, .position = {0, 2.1f, 0}, .restitution = 0.8f}).value();
  float highest = 0;
  bool bounced = false;
  for (int i = 0; i < 480; ++i) {
    world.step();
    bounced = bounced || velocity(world, ball).y > 0;
    if (bounced) highest = std::max(highest, position(world, ball).y - 0.1f);
    if (bounced && velocity(world, ball).y < 0) break;
  }
  EXPECT_NEAR(highest, 2 * 0.8f * 0.8f, 0.05f);
}

TEST(Contact, CollisionsOfFreeBodiesConserveMomentum) {
  World world({.gravity = {0, 0, 0}});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto vector = [&] { return Vec3{uniform(random), uniform(random), uniform(random)}; };
  for (int i = 0; i < 60; ++i) {
    const Vec3 at = 3 * vector();
    Shape shape = Sphere{0.3f};
    if (i % 3 == 1) shape = Box{{0.5f, 0.3f, 0.6f}};
    if (i % 3 == 2) shape = Capsule{0.2f, 0.4f};
    world.add(RigidDef{.shape = shape,
                       .position = at,
                       .velocity = -1.5f * at + vector(),
                       .angular_velocity = vector(),
                       .friction = 0.6f,
                       .restitution = 0.3f});
  }
  world.commit_edits();
  double before[3] = {}, size = 0;
  for (const BodyId id : world.bodies()) {
    const BodyState state = world.state(id).value();
    for (int i = 0; i < 3; ++i) {
      before[i] += static_cast<double>(state.mass) * static_cast<double>(state.velocity[static_cast<std::size_t>(i)]);
    }
    size += static_cast<double>(state.mass * length(state.velocity));
  }
  std::size_t contacts = 0;
  for (int i = 0; i < 240; ++i) contacts += world.step().contacts;
  ASSERT_GT(contacts, 100u) << "nothing collided";
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(world.report().linear_momentum[i], before[i], 1e-4 * size);
}

TEST(Contact, StackOfTenBoxesStandsAndFallsAsleep) {
  World world;
  world.add(GroundDef{});
  std::vector<BodyId> boxes;
  for (int i = 0; i < 10; ++i) {
    boxes.push_back(world.add(RigidDef{.position = {0, 0.5f + static_cast<float>(i), 0}}).value());
  }
  run(world, 10);
  for (int i = 0; i < 10; ++i) {
    const Vec3 at = position(world, boxes[static_cast<std::size_t>(i)]);
    EXPECT_LT(std::hypot(at.x, at.z), 0.02f);
    // Contacts are a little soft: ten tonnes press each box into the next by up to 0.3 % of its size.
    EXPECT_NEAR(at.y, 0.5f + static_cast<float>(i), 0.03f);
  }
  EXPECT_EQ(world.report().awake_bodies, 0u);
}

TEST(FreeFlight, AThinBoxThatTumblesKeepsItsEnergyAndItsSpin) {
  // About its middle axis every turn goes over; what a step gets wrong there adds up to a multiple of the energy.
  World world({.gravity = {0, 0, 0}, .allow_sleep = false});
  world.add(RigidDef{.shape = Box{{1, 0.5f, 0.2f}}, .angular_velocity = {0.3f, 30, 0.3f}}).value();
  world.step();
  const double energy = world.report().kinetic_energy;
  const auto spin = [&] {
    const double* l = world.report().angular_momentum;
    return Vec3{float(l[0]), float(l[1]), float(l[2])};
  };
  const Vec3 spin_before = spin();
  for (int i = 0; i < 3600; ++i) world.step();
  EXPECT_NEAR(world.report().kinetic_energy, energy, 1e-3 * energy);
  EXPECT_LT(length(spin() - spin_before), 1e-3f * length(spin_before));
}

TEST(Bounce, ComesBackToTheSquareOfTheRestitutionAndNeverHigher) {
  for (const float restitution : {0.5f, 0.9f, 1.0f}) {
    for (const float rate : {60.0f, 240.0f}) {
      World world({.dt = 1 / rate, .allow_sleep = false});
      world.add(GroundDef{}).value();
      const float radius = 0.1f, fall = 1;
      const BodyId ball =
          world.add(RigidDef{.shape = Sphere{radius}, .position = {0, radius + fall, 0}, .restitution = restitution})
              .value();
      float top = 0, first_top = 0;
      bool has_hit = false;
      for (int i = 0; i < static_cast<int>(20 * rate); ++i) {
        const float before = world.state(ball)->velocity.y;
        world.step();
        const float after = world.state(ball)->velocity.y;
        has_hit = has_hit || after > 0;
        const float height = world.state(ball)->world_from_body.position.y - radius;
        if (has_hit) top = std::max(top, height);
        if (has_hit && before > 0 && after <= 0 && first_top == 0) first_top = height;
      }
      EXPECT_NEAR(first_top, restitution * restitution * fall, 0.01f * fall) << restitution << " at " << rate;
      EXPECT_LT(top, restitution * restitution * fall + 0.01f) << restitution << " at " << rate;
    }
  }
}

TEST(SmallBody, SinksInByAShareOfItsSizeOnly) {
  for (const float size : {0.001f, 0.01f, 0.1f}) {
    World world({.allow_sleep = false});
    world.add(GroundDef{}).value();
    const BodyId box = world.add(RigidDef{.shape = Box{{size, size, size}}, .position = {0, size / 2, 0}}).value();
    for (int i = 0; i < 300; ++i) world.step();
    EXPECT_NEAR(world.state(box)->world_from_body.position.y, size / 2, 0.01f * size) << size;
  }
}

TEST(HeavyBody, OfAnyMassLiesOnTheGroundAndHangsOnAJoint) {
  World world({.allow_sleep = false});
  world.add(GroundDef{}).value();
  // 2.7e7 kg, of which Bullet would not set up a row.
  const BodyId block = world.add(RigidDef{.shape = Box{{30, 30, 30}}, .position = {0, 15.01f, 0}}).value();
  const BodyId hung = world.add(RigidDef{.shape = Box{{30, 30, 30}}, .position = {100, 80, 0}}).value();
  world.add(JointDef{.b = hung, .anchor = {100, 120, 0}}).value();
  for (int i = 0; i < 120; ++i) world.step();
  EXPECT_NEAR(world.state(block)->world_from_body.position.y, 15, 2e-3f);
  EXPECT_NEAR(world.state(hung)->world_from_body.position.y, 80, 2e-2f);
}

}  // namespace
}  // namespace pliant
