// Ids, edits and errors: what is refused, what it says, and that nothing dangles.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "pliant/world.h"

namespace pliant {
namespace {

const float kNan = std::nanf("");

TEST(Ids, AStaleIdGivesAClearError) {
  World world;
  const BodyId body = world.add(RigidDef{}).value();
  world.step();
  ASSERT_TRUE(world.remove(body).ok());
  const Result<BodyState> state = world.state(body);
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.error().code, Error::Code::StaleId);
  EXPECT_NE(state.error().message.find("was removed"), std::string::npos) << state.error().to_string();
  EXPECT_THROW(state.value(), BadResult);
  EXPECT_FALSE(world.remove(body).ok());
  EXPECT_FALSE(world.apply_impulse(body, {1, 0, 0}).ok());
  EXPECT_EQ(world.state(BodyId{}).error().message, "the body id is null");
  EXPECT_NE(world.state(BodyId{77, 1}).error().message.find("never was"), std::string::npos);
}

TEST(Ids, ASlotUsedAgainDoesNotReviveOldIds) {
  World world;
  const BodyId first = world.add(RigidDef{}).value();
  world.remove(first).require();
  const BodyId second = world.add(RigidDef{.position = {5, 0, 0}}).value();
  EXPECT_EQ(first.index, second.index);
  EXPECT_FALSE(world.contains(first));
  ASSERT_TRUE(world.contains(second));
  world.step();
  EXPECT_NEAR(world.state(second)->world_from_body.position.x, 5, 1e-6f);
}

TEST(Edits, AnIdWorksBeforeTheFirstStep) {
  World world({.gravity = {0, 0, 0}});
  const BodyId body = world.add(RigidDef{.position = {1, 2, 3}, .mass = 2.0f}).value();
  EXPECT_EQ(world.state(body)->world_from_body.position, (Vec3{1, 2, 3}));
  world.apply_impulse(body, {4, 0, 0}).require();
  world.step();
  EXPECT_NEAR(world.state(body)->velocity.x, 2, 1e-6f);
}

TEST(Edits, EverySequenceOfAddPushAndRemoveIsSafe) {
  World world;
  world.add(GroundDef{});
  for (int round = 0; round < 5; ++round) {
    const BodyId a = world.add(RigidDef{.position = {0, 0.5f, 0}}).value();
    const BodyId b = world.add(RigidDef{.position = {0, 1.5f, 0}}).value();
    const JointId joint = world.add(JointDef{.a = a, .b = b, .anchor = {0, 1, 0}}).value();
    world.apply_impulse(a, {1, 0, 0}).require();
    if (round % 2) world.step();
    world.apply_force(b, {1, 0, 0}).require();
    world.remove(a).require();
    EXPECT_FALSE(world.contains(joint)) << "a joint dies with its body";
    const BodyId c = world.add(RigidDef{.position = {4, 0.5f, 0}}).value();
    world.wake(c).require();
    world.step();
    world.remove(b).require();
    world.remove(c).require();
    world.step();
    EXPECT_EQ(world.bodies().size(), 1u);
  }
}

TEST(Edits, ARefusedEditIsInTheNextReport) {
  World world;
  world.add(RigidDef{.density = -1});
  world.add(RigidDef{.shape = Sphere{0}});
  const StepReport& report = world.step();
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_EQ(report.errors[0].field, "add: density");
  EXPECT_NE(report.errors[1].field.find("radius"), std::string::npos) << report.errors[1].to_string();
  EXPECT_TRUE(world.step().errors.empty());
}

TEST(Edits, BadNumbersAreRefusedWithTheFieldThatIsBad) {
  World world;
  const auto field_of = [&](const RigidDef& def) {
    const Result<BodyId> result = world.add(def);
    return result.ok() ? std::string("accepted") : result.error().field;
  };
  EXPECT_EQ(field_of({.position = {kNan, 0, 0}}), "add: position");
  EXPECT_EQ(field_of({.rotation = {0, 0, 0, 0}}), "add: rotation");
  EXPECT_EQ(field_of({.velocity = {0, kInfinity, 0}}), "add: velocity");
  EXPECT_EQ(field_of({.mass = -3.0f}), "add: mass");
  EXPECT_EQ(field_of({.mass = kNan}), "add: mass");
  EXPECT_EQ(field_of({.friction = -0.1f}), "add: friction");
  EXPECT_EQ(field_of({.restitution = 1.5f}), "add: restitution");
  EXPECT_EQ(field_of({.linear_damping = kNan}), "add: linear_damping");
  EXPECT_EQ(field_of({.shape = Plane{}}), "add: motion");
  EXPECT_EQ(field_of({.shape = Box{{1, 0, 1}}}).substr(0, 10), "add: shape");
  EXPECT_EQ(field_of({.shape = ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}}).substr(0, 10), "add: shape");
  const BodyId body = world.add(RigidDef{}).value();
  EXPECT_FALSE(world.set_velocity(body, {kNan, 0, 0}, {}).ok());
  EXPECT_FALSE(world.apply_force(body, {kInfinity, 0, 0}).ok());
  EXPECT_FALSE(world.add(JointDef{.a = body, .b = body}).ok());
  EXPECT_FALSE(world.add(JointDef{.a = body, .limit = Limit{0, 1}}).ok()) << "a ball has no limits";
  EXPECT_FALSE(world.add(JointDef{.kind = JointKind::Hinge, .a = body, .axis = {0, 0, 0}}).ok());
  EXPECT_THROW(World({.dt = -1}), BadResult);
  EXPECT_THROW(World({.substeps = 0}), BadResult);
}

TEST(Edits, AStepOfNonsenseLengthDoesNothing) {
  World world;
  const BodyId body = world.add(RigidDef{.position = {0, 5, 0}}).value();
  world.step();
  const std::uint64_t before = world.hash();
  for (const float dt : {0.0f, -1.0f, kNan, kInfinity, 2.0f}) {
    world.step(dt);
    EXPECT_FALSE(world.report().errors.empty());
  }
  EXPECT_EQ(world.hash(), before);
  EXPECT_TRUE(world.contains(body));
}

TEST(Kinematic, ReachesItsTargetExactlyAndPushes) {
  World world({.substeps = 3});
  world.add(GroundDef{});
  const BodyId pusher =
      world.add(RigidDef{.shape = Box{{0.2f, 1, 2}}, .motion = Motion::Kinematic, .position = {-2, 0.6f, 0}}).value();
  const BodyId box = world.add(RigidDef{.position = {0, 0.5f, 0}, .start_asleep = true}).value();
  for (int i = 1; i <= 120; ++i) {
    const Transform target{{-2 + static_cast<float>(i) / 60, 0.6f, 0}, {}};
    world.move_to(pusher, target).require();
    world.step();
    EXPECT_LT(length(world.state(pusher)->world_from_body.position - target.position), 1e-6f);
  }
  // Its face is at 0.1; the box of 1 m stands before it.
  EXPECT_NEAR(world.state(box)->world_from_body.position.x, 0.6f, 0.02f);
  world.step();
  EXPECT_EQ(world.state(pusher)->velocity, (Vec3{})) << "told nothing, it stops";
}

TEST(Sleep, AHitWakesAndTheEventSaysSo) {
  World world;
  world.add(GroundDef{});
  const BodyId box = world.add(RigidDef{.position = {0, 0.5f, 0}}).value();
  bool slept = false;
  for (int i = 0; i < 180 && !slept; ++i) {
    world.step();
    for (const BodyId id : world.events().fell_asleep) slept = slept || id == box;
  }
  ASSERT_TRUE(slept);
  EXPECT_FALSE(world.state(box)->awake);
  world.add(RigidDef{.shape = Sphere{0.3f}, .position = {-2, 0.5f, 0}, .velocity = {8, 0, 0}});
  bool woke = false;
  for (int i = 0; i < 60 && !woke; ++i) {
    world.step();
    for (const BodyId id : world.events().woke_up) woke = woke || id == box;
  }
  EXPECT_TRUE(woke);
}

TEST(Sleep, TakingTheFloorAwayWakes) {
  World world;
  const BodyId floor = world.add(RigidDef{.shape = Box{{5, 1, 5}}, .motion = Motion::Static}).value();
  const BodyId box = world.add(RigidDef{.position = {0, 1, 0}}).value();
  for (int i = 0; i < 180; ++i) world.step();
  ASSERT_FALSE(world.state(box)->awake);
  world.remove(floor).require();
  for (int i = 0; i < 30; ++i) world.step();
  EXPECT_LT(world.state(box)->world_from_body.position.y, 0.5f);
}

TEST(Quarantine, ARunawayIsRolledBackFrozenReportedAndHarmless) {
  World world;
  world.add(GroundDef{});
  const BodyId good = world.add(RigidDef{.position = {0, 0.5f, 0}}).value();
  const BodyId bad = world.add(RigidDef{.position = {0, 1.5f, 0}}).value();
  for (int i = 0; i < 30; ++i) world.step();
  const Vec3 before = world.state(bad)->world_from_body.position;
  world.apply_force(bad, {3e38f, 0, 0}).require();
  world.step();
  ASSERT_EQ(world.events().quarantines.size(), 1u);
  EXPECT_EQ(world.events().quarantines[0].body, bad);
  EXPECT_FALSE(world.events().quarantines[0].reason.empty());
  EXPECT_EQ(world.report().quarantined, 1u);
  EXPECT_TRUE(world.state(bad)->quarantined);
  EXPECT_LT(length(world.state(bad)->world_from_body.position - before), 1e-5f);
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_TRUE(is_finite(world.state(good)->world_from_body));
  EXPECT_NEAR(world.state(good)->world_from_body.position.y, 0.5f, 0.01f);

  world.remove(good).require();
  world.release_from_quarantine(bad).require();
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_FALSE(world.state(bad)->quarantined);
  EXPECT_LT(world.state(bad)->world_from_body.position.y, 1.0f) << "it falls again";
}

TEST(Quarantine, LeavingTheSimulableRangeIsCaught) {
  World world({.gravity = {0, 0, 0}, .dt = 1});
  const BodyId body = world.add(RigidDef{.position = {9.9e6f, 0, 0}, .velocity = {9e5f, 0, 0}}).value();
  world.step();
  EXPECT_TRUE(world.state(body)->quarantined);
  EXPECT_TRUE(is_finite(world.state(body)->world_from_body));
}

TEST(Events, TouchesBeginAndEnd) {
  World world({.allow_sleep = false});
  const BodyId ground = world.add(GroundDef{}).value();
  const BodyId ball = world.add(RigidDef{.shape = Sphere{0.2f}, .position = {0, 1, 0}, .restitution = 0.9f}).value();
  int begins = 0, ends = 0;
  for (int i = 0; i < 60; ++i) {
    world.step();
    for (const TouchEvent& touch : world.events().touch_begins) {
      EXPECT_EQ(touch.a, ground);
      EXPECT_EQ(touch.b, ball);
      ++begins;
    }
    ends += static_cast<int>(world.events().touch_ends.size());
  }
  EXPECT_EQ(begins, 1);
  EXPECT_EQ(ends, 1);
}

TEST(Events, ImpulsesAddUpToTheChangeOfMomentum) {
  World world({.gravity = {0, 0, 0}, .substeps = 4});
  const BodyId a = world.add(RigidDef{.shape = Sphere{0.5f}, .velocity = {2, 0, 0}, .mass = 3.0f}).value();
  const BodyId b = world.add(RigidDef{.position = {1.5f, 0.2f, 0}, .mass = 5.0f}).value();
  Vec3 on_a;
  for (int i = 0; i < 60; ++i) {
    world.step();
    for (const Contact& contact : world.events().contacts) {
      const Vec3 impulse = contact.normal * contact.normal_impulse + contact.friction_impulse;
      on_a += contact.a == a ? impulse : -impulse;
    }
  }
  EXPECT_GT(length(on_a), 1);
  EXPECT_LT(length(world.state(a)->velocity - Vec3{2, 0, 0} - on_a / 3), 2e-3f);
  EXPECT_LT(length(world.state(b)->velocity + on_a / 5), 2e-3f);
}

TEST(Filter, BodiesOfForeignCategoriesPassThrough) {
  World world;
  world.add(GroundDef{.filter = {.category = 1, .mask = 1}});
  const BodyId ghost = world.add(RigidDef{.position = {0, 1, 0}, .filter = {.category = 2, .mask = 0xffff}}).value();
  const BodyId solid = world.add(RigidDef{.position = {3, 1, 0}, .filter = {.category = 1, .mask = 1}}).value();
  for (int i = 0; i < 60; ++i) world.step();
  EXPECT_LT(world.state(ghost)->world_from_body.position.y, -1);
  EXPECT_NEAR(world.state(solid)->world_from_body.position.y, 0.5f, 0.01f);
}

TEST(Continuous, AFastBallDoesNotPassAThinWall) {
  for (const bool continuous : {false, true}) {
    World world({.gravity = {0, 0, 0}});
    world.add(RigidDef{.shape = Box{{0.05f, 4, 4}}, .motion = Motion::Static, .position = {5, 0, 0}});
    const BodyId ball =
        world.add(RigidDef{.shape = Sphere{0.1f}, .velocity = {200, 0, 0}, .continuous = continuous}).value();
    for (int i = 0; i < 30; ++i) world.step();
    const float x = world.state(ball)->world_from_body.position.x;
    if (continuous) {
      EXPECT_LT(x, 5) << "it passed through";
    } else {
      EXPECT_GT(x, 5) << "this speed is no test for continuous detection";
    }
  }
}

TEST(Explosion, PushesAwayAndFallsOffWithDistance) {
  World world({.gravity = {0, 0, 0}});
  const BodyId near = world.add(RigidDef{.position = {2, 0, 0}}).value();
  const BodyId far = world.add(RigidDef{.position = {-4, 0, 0}}).value();
  const BodyId outside = world.add(RigidDef{.position = {0, 0, 12}}).value();
  world.explode({.center = {0, 0, 0}, .radius = 8, .impulse_per_area = 4000}).require();
  world.step();
  // A unit cube of 1000 kg shows 1 m²: J = 4000 (1 − d/8).
  EXPECT_NEAR(world.state(near)->velocity.x, 3, 1e-3f);
  EXPECT_NEAR(world.state(far)->velocity.x, -2, 1e-3f);
  EXPECT_EQ(world.state(outside)->velocity, (Vec3{}));
}

TEST(Errors, CallBodiesByTheirNameOrElseById) {
  World world;
  const BodyId nameless = world.add(RigidDef{.shape = Sphere{}}).value();
  const BodyId ball = world.add(RigidDef{.name = "ball", .shape = Sphere{}, .motion = Motion::Static}).value();
  EXPECT_EQ(world.tet_values(nameless, TetValue::Stress).error().message,
            "body " + std::to_string(nameless.index) + " (generation " + std::to_string(nameless.generation) +
                ") is not a solid");
  EXPECT_EQ(world.apply_force(ball, {0, 1, 0}).error().message, "body 'ball' is not dynamic: forces do not move it");
}

}  // namespace
}  // namespace pliant
