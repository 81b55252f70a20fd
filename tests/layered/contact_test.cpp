// Contact with the ground at 1/60 s: drops, sliding and rolling.
#include <algorithm>
#include <cmath>

#include "layered_support.h"

namespace pliant {
namespace {

constexpr float kGravity = 9.81f;

/// A torus that stands on its rim, like a wheel whose axle is Z.
LayeredDef wheel_def(float young_modulus, int segments = 60) {
  LayeredDef def = torus_def(young_modulus, segments, 24);
  def.thickness = 0.12f;
  def.rotation = Quat::axis_angle({1, 0, 0}, kPi / 2);
  def.position = {0, 0.7f, 0};
  return def;
}

double energy_of(const LayeredBody& body, Workers& workers) {
  const LayeredTotals sums = body.totals(workers);
  return sums.kinetic + body.elastic_energy(workers) + sums.mass * double(kGravity) * sums.center.y;
}

SolveResult step(LayeredBody& body, Workers& workers, float dt, float friction) {
  const SolveResult result = body.solve(workers, {0, -kGravity, 0}, dt, ground_touches(body, friction, dt));
  body.advance(workers, dt);
  return result;
}

struct Drop {
  double travel = 0;  ///< m, of the core below where the surface first touches
  double energy = 0;  ///< largest over that at the start
  int iterations = 0, unconverged = 0;
};

Drop drop_wheel(float dt, float seconds) {
  LayeredDef def = wheel_def(3e5f);
  def.position.y += 0.1f;
  def.velocity = {0, -2, 0};
  const auto body = make_body(def);
  Workers workers(2);
  Drop drop;
  const double start = energy_of(*body, workers);
  double lowest = 1e9;
  for (int i = 0; i < int(seconds / dt); ++i) {
    const SolveResult result = step(*body, workers, dt, 0.5f);
    drop.iterations += result.iterations, drop.unconverged += result.converged ? 0 : 1;
    lowest = std::min(lowest, body->state().position.y);
    drop.energy = std::max(drop.energy, energy_of(*body, workers) / start);
  }
  drop.travel = 0.7 - lowest;
  return drop;
}

TEST(LayeredContact, DroppedTorusIsPressedInAsFarAsWithShortSteps) {
  const Drop coarse = drop_wheel(1.0f / 60, 0.5f), fine = drop_wheel(1.0f / 960, 0.5f);
  EXPECT_NEAR(coarse.travel, fine.travel, 0.25 * fine.travel);
  EXPECT_LE(coarse.energy, 1.02);
  EXPECT_LE(fine.energy, 1.02);
}

TEST(LayeredContact, SlidingIsBrakedByFriction) {
  LayeredDef def = torus_def(3e5f, 60, 30);
  def.position = {0, 0.2f, 0};
  def.thickness = 0.08f;
  def.material.stiffness_damping = 0.01f;
  const auto body = make_body(def);
  Workers workers(2);
  for (int i = 0; i < 60; ++i) step(*body, workers, 1.0f / 60, 0.3f);
  body->set_velocity({2, 0, 0}, {});
  for (int i = 0; i < 10; ++i) step(*body, workers, 1.0f / 60, 0.3f);
  const double before = body->totals(workers).momentum.x;
  for (int i = 0; i < 15; ++i) step(*body, workers, 1.0f / 60, 0.3f);
  const LayeredTotals after = body->totals(workers);
  const double deceleration = (before - after.momentum.x) / after.mass / 0.25;
  EXPECT_NEAR(deceleration, 0.3 * double(kGravity), 0.02 * 0.3 * double(kGravity));
  // It stops and stays.
  for (int i = 0; i < 60; ++i) step(*body, workers, 1.0f / 60, 0.3f);
  EXPECT_LT(length(body->totals(workers).momentum), 1e-3 * after.mass);
}

TEST(LayeredContact, SlidingTurnsIntoRolling) {
  LayeredDef def = wheel_def(1e6f, 240);
  def.position.y = 0.6995f;
  def.velocity = {2, 0, 0};
  const auto body = make_body(def);
  Workers workers(2);
  for (int i = 0; i < 60; ++i) step(*body, workers, 1.0f / 60, 0.2f);
  const LayeredTotals sums = body->totals(workers);
  // v₀ / (1 + I / m r²) with I / m = R² + 3/4 r² of a torus that rolls on R + r.
  EXPECT_NEAR(sums.momentum.x / sums.mass, 1.275, 0.05);
  EXPECT_NEAR(sums.momentum.x / sums.mass, -sums.angular_velocity.z * 0.7, 0.05);
}

TEST(LayeredContact, RestsCalmly) {
  LayeredDef def = torus_def(6e4f, 60, 30);
  def.position = {0, 0.2f, 0};
  def.material.stiffness_damping = 5e-3f;
  const auto body = make_body(def);
  Workers workers(2);
  for (int i = 0; i < 120; ++i) step(*body, workers, 1.0f / 60, 0.5f);
  const Vec3d place = body->state().position;
  int iterations = 0;
  double fastest = 0;
  for (int i = 0; i < 300; ++i) {
    iterations += step(*body, workers, 1.0f / 60, 0.5f).iterations;
    const LayeredTotals sums = body->totals(workers);
    fastest = std::max(fastest, std::sqrt(2 * sums.kinetic / sums.mass));
  }
  EXPECT_LT(fastest, 1e-3);
  EXPECT_LT(length(body->state().position - place), 1e-3);
}

LayeredDef ball_def(float young_modulus) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 12);
  def.thickness = 0.08f;
  def.material.young_modulus = young_modulus, def.material.stiffness_damping = 0.002f;
  def.position = {0, 0.3f, 0};
  return def;
}

struct Roll {
  double speed = 0, turning = 0;  ///< m/s and rad/s, the largest of the last second
};

Roll roll(const LayeredDef& def, float friction, int steps) {
  const auto body = make_body(def);
  Workers workers(2);
  Roll roll;
  for (int i = 0; i < steps; ++i) {
    step(*body, workers, 1.0f / 60, friction);
    if (i < steps - 60) continue;
    const LayeredTotals sums = body->totals(workers);
    roll.speed = std::max(roll.speed, length(sums.momentum) / sums.mass);
    roll.turning = std::max(roll.turning, length(sums.angular_velocity));
  }
  return roll;
}

TEST(LayeredContact, ABallThatIsSetDownDoesNotSetOffByItself) {
  // Its faces are flat: it may roll over to one, which is worth 0.1 m/s.
  EXPECT_LT(roll(ball_def(1e7f), 0.5f, 600).speed, 0.1);
  EXPECT_LT(roll(ball_def(1e6f), 0.5f, 600).speed, 0.01);
}

// Rocking on its faces is worth 0.6 rad/s.
TEST(LayeredContact, ABallOnIceDoesNotBeginToSpin) { EXPECT_LT(roll(ball_def(1e6f), 0, 1200).turning, 0.5); }

TEST(LayeredContact, ARollingBallGainsNoSpeed) {
  LayeredDef def = ball_def(1e7f);
  def.velocity = {0.5f, 0, 0}, def.angular_velocity = {0, 0, -0.5f / 0.3f};
  EXPECT_LT(roll(def, 0.5f, 600).speed, 0.5);
}

TEST(LayeredContact, APressCannotPushTheSurfaceThroughTheCore) {
  LayeredDef def = torus_def(2e3f, 60, 30);  // far too soft for its weight
  def.core_density = 8000;
  def.position = {0, 0.2f, 0};
  def.material.stiffness_damping = 0.02f;
  const auto body = make_body(def);
  Workers workers(2);
  for (int i = 0; i < 200; ++i) step(*body, workers, 1.0f / 60, 0.5f);
  EXPECT_GT(body->state().position.y, 0.2 - 0.08);
  EXPECT_LT(body->state().position.y, 0.2 - 0.05);
  // What rests on its core rests.
  const LayeredTotals sums = body->totals(workers);
  EXPECT_LT(length(sums.momentum), 1e-3 * sums.mass);
}

}  // namespace
}  // namespace pliant
