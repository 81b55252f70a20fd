// Solids in the hands of a user: pulled, picked, shown.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "pliant/generators.h"

#include "view/held.h"
#include "view/overlay.h"
#include "view/session.h"

namespace pliant {
namespace {

SolidDef block(const SolidMaterial& material, Vec3 size, float cell, Vec3 position = {}) {
  return {.name = "block", .mesh = tet_box(size, cell), .material = material, .position = position};
}

/// The least volume of a tet, over what it was at rest; below 0 it is turned inside out.
float least_volume(const World& world, BodyId body) {
  const TetMesh& mesh = (*world.solid_def(body))->mesh;
  const auto now = *world.node_positions(body);
  float least = 10;
  for (const auto& t : mesh.tets) {
    const auto volume = [&](std::span<const Vec3> p) {
      return dot(cross(p[t[1]] - p[t[0]], p[t[2]] - p[t[0]]), p[t[3]] - p[t[0]]);
    };
    least = std::min(least, volume(now) / volume(mesh.nodes));
  }
  return least;
}

TEST(GrabSolid, LiftsSoftAndHardWithoutTearing) {
  for (const SolidMaterial& material :
       {material::jelly(), material::foam(), material::rubber(), material::clay(), material::steel()}) {
    Held held(block(material, {0.4f, 0.4f, 0.4f}, 0.1f), {0, 0.2f, 0});
    EXPECT_LT(length(held.point() - Vec3{0, 0.2f, 0}), 1e-4f);
    held.grab->pull_to({0.5f, 1.2f, 0});
    float least = 1;
    for (int i = 0; i < 60; ++i) {
      held.run(0.1, 1.0f / 60);
      least = std::min(least, least_volume(held.world, held.body));
    }
    EXPECT_GT(least, 0.1f) << material.name;
    EXPECT_LT(length(held.point() - held.grab->target()), 0.35f) << material.name;
    EXPECT_LT(length(held.world.state(held.body)->velocity), 0.1f) << material.name;
    EXPECT_EQ(held.world.report().quarantined, 0u) << material.name;
    EXPECT_TRUE(held.world.report().errors.empty()) << material.name;
  }
}

TEST(GrabSolid, IsStableForEveryStepAndShape) {
  for (const float dt : {0.004f, 1.0f / 60, 0.05f}) {
    for (const Vec3 size : {Vec3{0.5f, 0.5f, 0.5f}, Vec3{1.5f, 0.1f, 0.1f}, Vec3{0.8f, 0.06f, 0.8f}}) {
      const float cell = std::max(0.05f, 0.2f * size.x);
      Held held(block(material::rubber(), size, std::min(cell, 2 * size.y)), 0.5f * size);
      const float mass = held.world.state(held.body)->mass;
      held.grab->pull_to(0.5f * size + Vec3{0.4f, 0.4f, 0});
      double most = 0;
      for (int i = 0; i < 16; ++i) {
        held.run(0.25, dt);
        most = std::max(most, held.world.report().kinetic_energy);
      }
      EXPECT_LT(most, double{mass} * 9.81 * 2) << dt << " " << size.y;  // no more than a fall of 2 m would give
      // Long steps weaken the spring, as it must not trust the rest of the body to hold the handful back.
      EXPECT_LT(length(held.point() - held.grab->target()), dt > 0.04f ? 0.8f : 0.3f) << dt << " " << size.y;
      EXPECT_GT(least_volume(held.world, held.body), 0) << dt << " " << size.y;
      EXPECT_EQ(held.world.report().quarantined, 0u);
    }
  }
}

TEST(GrabSolid, PullsNoHarderThanTheBodyBears) {
  // A force F of the hand is all that acts: F dt is the momentum after a step.
  for (const SolidMaterial& material : {material::jelly(), material::steel()}) {
    Held held(block(material, {0.4f, 0.4f, 0.4f}, 0.1f), {0, 0.2f, 0}, {.gravity = {0, 0, 0}});
    held.grab->pull_to({0, 1e6f, 0});
    held.run(1e-9, 0.01f);
    const float acceleration = held.world.state(held.body)->velocity.y / 0.01f;
    if (material.name == "jelly") {
      EXPECT_NEAR(acceleration, 30, 2);
    } else {
      EXPECT_NEAR(acceleration, 400, 8);
    }
    for (int i = 0; i < 20; ++i) held.run(0.05, 1.0f / 60);
    EXPECT_GT(least_volume(held.world, held.body), 0.05f) << material.name;
  }
}

TEST(Handful, IsLargerWhereTheBodyIsSofter) {
  const SolidDef soft = block(material::jelly(), {1, 1, 1}, 0.2f), hard = block(material::steel(), {1, 1, 1}, 0.2f);
  const Handful a(soft, 1000, {0, 0.5f, 0}), b(hard, 8000, {0, 0.5f, 0});
  EXPECT_GT(a.radius(), 1.5f * b.radius());
  EXPECT_GT(a.node_count(), b.node_count());
  EXPECT_LT(a.response() * 1000, b.response() * 8000);
  EXPECT_GE(a.response() * 1000, 1);  // no part of a body answers less than all of it
  // All nodes move at one speed: so does the handful.
  const std::vector<Vec3> velocities(soft.mesh.nodes.size(), {1, 2, 3});
  EXPECT_LT(length(a.velocity(velocities) - Vec3{1, 2, 3}), 1e-4f);
  // A mesh of one cell has its nodes far from the middle of its faces.
  const SolidDef coarse = block(material::steel(), {1, 1, 1}, 1);
  EXPECT_GT(Handful(coarse, 8000, {0, 0.5f, 0}).node_count(), 0u);
}

TEST(Handful, KnowsTheSpinOfItsBody) {
  // A block spinning about Y by 2 rad/s: L = m (a² + b²) / 12 times 2, lumped into nodes a little more.
  SolidDef def = block(material::steel(), {0.4f, 0.2f, 0.4f}, 0.04f, {3, 1, 0});
  def.angular_velocity = {0, 2, 0};
  def.velocity = {5, 0, 0};
  World world({.gravity = {0, 0, 0}});
  const BodyId body = world.add(def).value();
  world.commit_edits();
  const BodyState state = *world.state(body);
  const Vec3 spin = Handful(def, state.mass, {0, 0.1f, 0})
                        .angular_momentum(state, *world.node_positions(body), *world.node_velocities(body));
  const float exact = 2 * state.mass * (0.16f + 0.16f) / 12;
  EXPECT_NEAR(spin.y, exact, 0.04f * exact);
  EXPECT_NEAR(spin.x, 0, 0.01f * exact);
  EXPECT_NEAR(spin.z, 0, 0.01f * exact);
}

std::unique_ptr<Session> jelly_drop() {
  return Session::load(std::filesystem::path(PLIANT_SCENES_DIR) / "jelly_drop.json", 0).value();
}

TEST(SolidSession, GrabsASolidWhereTheRayMeetsIt) {
  const std::unique_ptr<Session> session = jelly_drop();
  session->step();
  const BodyId ball = session->world().find("ball");
  const Vec3 center = session->world().state(ball)->center_of_mass;
  ASSERT_TRUE(session->grab({center + Vec3{0, 0, 3}, {0, 0, -1}}));
  EXPECT_EQ(session->picked(), ball);
  EXPECT_LT(length(*session->grabbed_position() - (center + Vec3{0, 0, 0.22f})), 0.02f);
  const Vec3 target{1.3f, 1.2f, 0.3f};
  session->grabbed()->pull_to(target);
  for (int i = 0; i < 180; ++i) session->step();
  session->look();
  EXPECT_LT(length(*session->grabbed_position() - target), 0.3f);
  EXPECT_GT(session->world().state(ball)->center_of_mass.y, 0.5f);
  EXPECT_EQ(session->world().report().quarantined, 0u);
  session->release();
  for (int i = 0; i < 90; ++i) session->step();
  EXPECT_LT(session->world().state(ball)->center_of_mass.y, 0.5f);
}

TEST(SolidSession, ChangesASolidWhileItMoves) {
  const std::unique_ptr<Session> session = jelly_drop();
  const BodyId ball = session->world().find("ball");
  std::optional<BodyTuning> tuning = session->tuning(ball);
  ASSERT_TRUE(tuning);
  EXPECT_FALSE(tuning->restitution);
  const float start = session->world().state(ball)->center_of_mass.y;
  tuning->gravity_scale = -1;
  tuning->friction = 0.1f;
  session->set_tuning(ball, *tuning);
  for (int i = 0; i < 30; ++i) session->step();
  EXPECT_NEAR(session->world().state(ball)->center_of_mass.y, start + 0.5f * 9.81f * 0.25f, 0.06f);
  EXPECT_EQ(session->tuning(ball)->friction, 0.1f);
  EXPECT_TRUE(session->world().report().errors.empty());
}

TEST(SolidSession, IsMovedByBlasts) {
  const std::unique_ptr<Session> session = jelly_drop();
  const BodyId ball = session->world().find("ball");
  ASSERT_TRUE(session->explode({.center = {0.95f, 1.5f, -0.5f}, .radius = 1, .impulse_per_area = 500}).ok());
  for (int i = 0; i < 30; ++i) session->step();
  EXPECT_GT(session->world().state(ball)->center_of_mass.z, 0.1f);
  EXPECT_EQ(session->world().report().quarantined, 0u);
  EXPECT_TRUE(session->world().report().errors.empty());
}

TEST(SolidSession, PaintsStrengthAndShowsCracks) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("pliant-paint-" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"bodies": [{"kind": "ground"}, {"kind": "solid", "name": "bar",
      "mesh": {"box": [2, 0.4, 0.4], "cell": 0.1}, "position": [0, 1, 0], "material": {"strength": 1e4},
      "held": [{"nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.99}}}]}]})";
  const std::unique_ptr<Session> session = Session::load(file, 1).value();
  std::filesystem::remove(file);
  World& world = session->world();
  const BodyId bar = world.find("bar");
  EXPECT_FALSE(session->paint({{0, 1, 5}, {0, 1, 0}}, {0.15f, 1e-3f})) << "the sky";
  ASSERT_TRUE(session->paint({{-0.5f, 1, 5}, {0, 0, -1}}, {0.25f, 1e-3f}));
  std::size_t painted = 0;
  const std::vector<float> factors = world.strength_factors(bar).value();
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const bool is_near = length((*world.node_positions(bar))[i] - Vec3{-0.5f, 1, 0.2f}) <= 0.25f;
    EXPECT_EQ(factors[i], is_near ? 1e-3f : 1.0f);
    painted += is_near ? 1 : 0;
  }
  const Screen screen{{{0, 1, 6}, {0, 1, 0}, {0, 1, 0}, 45}, {0, 0, 400, 300}};
  Overlay dots(screen);
  dots.strength(world);
  EXPECT_EQ(dots.strokes().size(), painted);
  for (int i = 0; i < 20 && session->cracks().empty(); ++i) session->step();
  ASSERT_FALSE(session->cracks().empty()) << "its own weight breaks it where it is weak";
  Overlay crosses(screen);
  crosses.crack(session->cracks().front().crack, 1);
  EXPECT_EQ(crosses.strokes().size(), 2u);
}

TEST(SolidOverlay, ShowsBoundsContactsAndSleep) {
  World world;
  world.add(GroundDef{});
  const BodyId block_id = world.add(block(material::rubber(), {0.4f, 0.4f, 0.4f}, 0.1f, {0, 0.2f, 0})).value();
  for (int i = 0; i < 10; ++i) world.step();
  const Screen screen{{{0, 0, 10}, {0, 0, 0}, {0, 1, 0}, 45}, {0, 0, 400, 300}};
  Overlay contacts(screen);
  contacts.contacts(world.events().contacts, 1);
  EXPECT_GE(contacts.strokes().size(), 4u);
  SurfacePublisher publisher;
  const auto look = [&] {
    Overlay bounds(screen);
    bounds.bounds(world);
    EXPECT_EQ(bounds.strokes().size(), 12u);
    const auto surfaces = publisher.update(world);
    return std::pair{bounds.strokes()[0].color, colored(surfaces, world, Coloring::Sleep)[1].appearance.color};
  };
  const auto awake = look();
  world.put_to_sleep(block_id);
  world.commit_edits();
  ASSERT_FALSE(world.state(block_id)->awake);
  const auto asleep = look();
  EXPECT_FALSE(awake.first == asleep.first);
  EXPECT_FALSE(awake.second == asleep.second);
}

TEST(Coloring, ByValueIsTheRenderersWork) {
  EXPECT_EQ(color_by(Coloring::Stress), ColorBy::Stress);
  EXPECT_EQ(color_by(Coloring::Tension), ColorBy::Tension);
  EXPECT_EQ(color_by(Coloring::Strain), ColorBy::Strain);
  EXPECT_EQ(color_by(Coloring::PlasticStrain), ColorBy::PlasticStrain);
  EXPECT_EQ(color_by(Coloring::Speed), ColorBy::Speed);
  for (const Coloring own : {Coloring::Material, Coloring::Islands, Coloring::Sleep}) {
    EXPECT_EQ(color_by(own), ColorBy::Material);
  }
}

}  // namespace
}  // namespace pliant
