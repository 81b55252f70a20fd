// Free flight: what must be conserved is, and a body with a stiff layer moves as a rigid one does.
#include <algorithm>
#include <cmath>

#include "layered_support.h"

namespace pliant {
namespace {

void spin_freely(float young_modulus, float speed) {
  LayeredDef def = torus_def(young_modulus);
  def.angular_velocity = {0.3f * speed, speed, 0.1f * speed};
  def.velocity = {1, 2, 3};
  const auto body = make_body(def);
  Workers workers(2);
  const LayeredTotals start = body->totals(workers);
  double most = 0, least = 1e300;
  for (int step = 0; step < 1000; ++step) {
    const SolveResult result = body->solve(workers, {}, 1.0f / 60);
    EXPECT_TRUE(result.converged);
    body->advance(workers, 1.0f / 60);
    const double energy = body->totals(workers).kinetic + body->elastic_energy(workers);
    most = std::max(most, energy), least = std::min(least, energy);
  }
  const LayeredTotals end = body->totals(workers);
  EXPECT_LT(length(end.spin - start.spin), 1e-5 * length(start.spin));
  EXPECT_LT(length(end.momentum - start.momentum), 1e-5 * length(start.momentum));
  // Energy of what flies along does not count.
  const double drift = 0.5 * dot(start.momentum, start.momentum) / start.mass, whole = start.kinetic - drift;
  EXPECT_LT(most - drift, 1.01 * whole);
  EXPECT_GT(least - drift, 0.95 * whole);
}

TEST(LayeredFlight, SoftTorusKeepsItsSpinAndEnergy) { spin_freely(3e3f, 2); }
TEST(LayeredFlight, FirmTorusKeepsItsSpinAndEnergy) { spin_freely(6e4f, 6); }
// A third of a turn to a whole radian in a step: with angular velocities of its beginning, rings go over to their axis
// of least inertia, with twice the energy.
TEST(LayeredFlight, FastTorusKeepsItsSpinAndEnergy) { spin_freely(3e5f, 30); }
TEST(LayeredFlight, VeryFastTorusKeepsItsSpinAndEnergy) { spin_freely(1e6f, 60); }
TEST(LayeredFlight, FastStiffTorusKeepsItsSpinAndEnergy) { spin_freely(1e7f, 30); }

// One half of the skin is 100,000 times as stiff as the other: the numbers of the soft one must not be lost beside its.
TEST(LayeredFlight, AHalfStiffBallGainsNoEnergy) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 8);
  def.thickness = 0.08f;
  def.material.young_modulus = 1e4f;
  def.material.stiffness_damping = 0.002f;
  def.angular_velocity = {1, 2, 3};
  for (const Vec3 x : def.atlas.surface.vertices) def.stiffness_factors.push_back(x.x < 0 ? 1e5f : 1.0f);
  const auto body = make_body(def);
  Workers workers(1);
  const double start = body->totals(workers).kinetic;
  for (int i = 0; i < 200; ++i) {
    body->solve(workers, {}, 1.0f / 60), body->advance(workers, 1.0f / 60);
    ASSERT_LT(body->totals(workers).kinetic + body->elastic_energy(workers), 1.001 * start) << i;
  }
}

TEST(LayeredFlight, ASpinningRingGrowsByWhatPullsItsSkinOutward) {
  // The same ring, once turning and once pulled by the same forces at rest.
  LayeredDef def = torus_def(1e6f);
  def.material.stiffness_damping = 0.01f;
  def.angular_velocity = {0, 40, 0};
  def.tolerance = 1e-5f;
  Workers workers(1);
  constexpr float kStep = 1.0f / 60;
  const auto turning = make_body(def);
  for (int i = 0; i < 200; ++i) turning->solve(workers, {}, kStep), turning->advance(workers, kStep);
  def.angular_velocity = {};
  const auto pulled = make_body(def);
  const double speed = turning->totals(workers).angular_velocity.y;
  for (int i = 0; i < 200; ++i) {
    for (std::uint32_t node = 0; node < pulled->node_count(); ++node) {
      const Vec3 u = turning->layer().rest().get(node) + turning->state().displacement.get(node);
      pulled->push_node(node, Vec3{u.x, 0, u.z} * float(speed * speed * kStep) * pulled->layer().masses()[node]);
    }
    pulled->solve(workers, {}, kStep), pulled->advance(workers, kStep);
  }
  float most = 0, difference = 0;
  for (std::uint32_t node = 0; node < pulled->node_count(); ++node) {
    most = std::max(most, length(pulled->state().displacement.get(node)));
    difference =
        std::max(difference, length(turning->state().displacement.get(node) - pulled->state().displacement.get(node)));
  }
  EXPECT_GT(most, 1e-4f);
  EXPECT_LT(difference, 0.01f * most);
}

TEST(LayeredFlight, ABallOfAnyNumberOfNodesSpinsOn) {
  LayeredDef def;
  def.atlas = atlas_sphere(0.3f, 8);
  def.thickness = 0.08f;
  def.material.young_modulus = 1e6f;
  def.angular_velocity = {0, 20, 0};
  const auto body = make_body(def);
  ASSERT_NE(body->node_count() % kLanes, 0u);
  Workers workers(1);
  for (int step = 0; step < 20; ++step) {
    body->solve(workers, {}, 1.0f / 60);
    body->advance(workers, 1.0f / 60);
  }
  for (std::uint32_t i = body->node_count(); i < kLanes * body->layer().groups(); ++i) {
    EXPECT_EQ(body->state().elastic_velocity.get(i), Vec3{});
    EXPECT_EQ(body->state().displacement.get(i), Vec3{});
  }
}

TEST(LayeredFlight, AStiffLayerTumblesAsARigidBody) {
  Workers workers(2);
  // Inertia across and along the axis of symmetry, from the spin of unit turns.
  const auto inertia = [&](Vec3 turn) {
    LayeredDef def = torus_def(1e7f);
    def.angular_velocity = turn;
    return length(make_body(def)->totals(workers).spin);
  };
  const double across = inertia({1, 0, 0});
  LayeredDef def = torus_def(1e7f);
  def.angular_velocity = {0.8f, 3, 0};
  const auto body = make_body(def);
  const Vec3d spin = body->totals(workers).spin, pole = normalized(spin);
  // The axis goes around the spin at |L| / I across (Euler's equations of a symmetric top).
  const Vec3d axis(0, 1, 0);
  constexpr int kSteps = 120;
  for (int i = 0; i < kSteps; ++i) body->solve(workers, {}, 1.0f / 60), body->advance(workers, 1.0f / 60);
  const double angle = length(spin) / across * kSteps / 60.0;
  const Vec3d along = pole * dot(axis, pole), side = axis - along;
  const Vec3d wanted = along + side * std::cos(angle) + cross(pole, side) * std::sin(angle);
  const Vec3d found(body->state().rotation.rotate({0, 1, 0}));
  // Within 2 % of the way gone, and as far from the pole as before.
  EXPECT_LT(length(found - wanted), 0.02 * angle * length(side));
  EXPECT_NEAR(dot(found, pole), dot(axis, pole), 0.002);
}

}  // namespace
}  // namespace pliant
