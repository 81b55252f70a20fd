// Bodies of random form, strength and toughness, shot, crushed, twisted and blown up at random: pieces stay sound, none
// is lost, and their splinters stay attached.
//
// Small here; scripts/soak --chaos runs it with 200 bodies for 2000 steps, by the variables of the environment
// PLIANT_CHAOS_BODIES, PLIANT_CHAOS_STEPS and PLIANT_CHAOS_SEED.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "embed/attached_pieces.h"
#include "pliant/pliant.h"
#include "world/soak_size.h"

namespace pliant {
namespace {

class Chaos {
 public:
  Chaos(unsigned seed, int bodies) : random_(seed), world_(WorldDef{.threads = 2}) {
    world_.add(GroundDef{});
    columns_ = static_cast<int>(std::ceil(std::sqrt(static_cast<float>(bodies))));
    for (int i = 0; i < bodies; ++i) add_solid(i);
    for (int i = 0; i < std::max(1, bodies / 20); ++i) add_press(i);
    world_.commit_edits();
  }

  void step(int number) {
    if (number % 30 == 10) shoot();
    if (number % 150 == 40) {
      world_.explode({.center = somewhere(0.4f), .radius = 3, .impulse_per_area = within(200, 1500)}).require();
    }
    const std::vector<BodyId> bodies = world_.bodies();
    if (number % 7 == 3) (void)world_.apply_impulse(bodies[random_() % bodies.size()], {within(-50, 50), 100, 0});
    if (number % 11 == 5)
      (void)world_.apply_angular_impulse(bodies[random_() % bodies.size()], {0, within(-30, 30), 0});
    for (const Twisted& twisted : twisted_) twist(twisted, number);
    for (const auto& [press, place] : presses_) {
      const float height = 0.15f + 0.5f * (1 + std::cos(0.02f * static_cast<float>(number)));
      world_.move_to(press, {{place.x, height, place.z}, {}}).require();
    }
    std::map<BodyId, std::size_t> tets_of;
    for (const BodyId id : world_.bodies()) {
      if (const auto def = world_.solid_def(id)) tets_of[id] = (*def)->mesh.tets.size();
    }
    world_.step();
    for (const Retirement& r : world_.events().retirements) {
      if (tets_of.contains(r.piece)) retired_tets_ += tets_of[r.piece];
    }
  }

  void check_step() const {
    const StepReport& report = world_.report();
    ASSERT_EQ(report.quarantined, 0u) << quarantined();
    ASSERT_EQ(report.tets + retired_tets_, tets_);
    ASSERT_TRUE(std::isfinite(report.kinetic_energy) && std::isfinite(report.elastic_energy));
  }

  /// What turned rigid counts; nothing is taken away here.
  void check_bodies() {
    double mass = 0;
    for (const BodyId id : world_.bodies()) {
      const BodyState state = *world_.state(id);
      ASSERT_TRUE(is_finite(state.center_of_mass) && is_finite(state.bounds.size()));
      if (world_.kind(id) == BodyKind::Rigid && world_.parent(id).is_null()) continue;
      mass += static_cast<double>(state.mass);
      if (world_.kind(id) == BodyKind::Rigid) continue;
      const TetMesh& mesh = (*world_.solid_def(id))->mesh;
      ASSERT_TRUE(validate(mesh).empty());
      ASSERT_EQ(mesh.nodes.size(), world_.node_positions(id)->size());
      ASSERT_EQ(world_.origin_nodes(id)->size(), mesh.nodes.size());
    }
    ASSERT_NEAR(mass, mass_, 1e-4 * mass_);
    expect_attached(world_, workers_, wholes_);
  }

  void print(int steps) const {
    const StepReport& report = world_.report();
    std::printf("after %4d steps: %zu bodies, %zu contacts, %.0f J of motion, %.0f J stored\n", steps, body_count(),
                report.contacts, report.kinetic_energy, report.elastic_energy);
    std::fflush(stdout);
  }

  std::size_t body_count() const { return world_.bodies().size(); }

 private:
  /// Who was taken out, and what it is.
  std::string quarantined() const {
    std::string out;
    for (const Quarantine& q : world_.events().quarantines) {
      const auto def = world_.solid_def(q.body);
      if (!def) continue;
      const SolidMaterial& m = (*def)->material;
      out += "body " + std::to_string(q.body.index) + " of " + std::to_string(world_.ancestor(q.body).index) + ": " +
             std::to_string((*def)->mesh.tets.size()) + " tets, E = " + std::to_string(m.young_modulus) +
             " Pa, yields at " + std::to_string(m.yield_strain) + ", held " + std::to_string((*def)->held.size()) +
             "; " + q.reason + "\n";
    }
    return out;
  }

  struct Twisted {
    BodyId body;
    Vec3 place;
    float rate;  ///< rad in a step
  };

  float within(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  Vec3 somewhere(float height) {
    const float reach = 1.3f * static_cast<float>(columns_);
    return {within(0, reach), height, within(0, reach)};
  }

  /// Those of even numbers are boxes that reach 0.4 m to both sides.
  TetMesh some_mesh(int i) {
    if (i % 2 == 0) return tet_box({0.8f, within(0.2f, 0.5f), within(0.2f, 0.5f)}, within(0.12f, 0.2f));
    if (i % 4 == 1) return tet_cylinder(within(0.15f, 0.3f), within(0.3f, 0.8f), 0.15f);
    return tet_sphere(within(0.2f, 0.35f), 0.15f);
  }

  SplinterDef some_splinters(int i) {
    switch (i % 4) {
      case 0:
        return {.pattern = WoodSplinters{.grain = {1, 0, 0}, .length = 0.4f, .width = 0.1f}};
      case 1:
        return {.pattern = GrainSplinters{.size = 0.15f}};
      case 2:
        return {.pattern = BrickSplinters{.size = {0.3f, 0.12f, 0.15f}, .joint = 0.02f}};
      default:
        return {.pattern = GlassSplinters{.size = 0.15f}};
    }
  }

  void add_solid(int i) {
    SolidDef def{.mesh = some_mesh(i)};
    def.material.young_modulus = std::pow(10.0f, within(5.5f, 7));
    def.material.strength = std::pow(10.0f, within(3, 5));
    if (i % 3 == 1) def.splinters = std::make_shared<const Splinters>(*make_splinters(def.mesh, some_splinters(i / 3)));
    if (i % 3 == 0) def.material.yield_strain = 0.02f;
    if (i % 4 == 1) def.material.grain_strength = 10 * def.material.strength;
    if (i % 8 == 5) def.material.toughness = std::pow(10.0f, within(0.5f, 3));
    if (i % 5 == 2) def.weak_faces = {{NodeSlab{{1, 0, 0}, 0, 0.25f}, 0.3f}};
    if (i % 6 == 4) def.fracture.small_pieces = {.max_tets = 6, .rigid_after = 0.3f};
    def.fracture.seed = random_();
    def.fracture.lets_go = i % 2 == 0;
    def.position = {1.3f * static_cast<float>(i % columns_), 0.6f, 1.3f * static_cast<float>(i / columns_)};
    if (i % 8 == 6) {
      // Held by both ends, of which one is turned.
      def.held = {{.nodes = NodeHalfSpace{{1, 0, 0}, 0.35f}}, {.nodes = NodeHalfSpace{{-1, 0, 0}, 0.35f}}};
    } else {
      def.velocity = {within(-5, 5), within(-5, 5), within(-5, 5)};
      def.angular_velocity = {within(-20, 20), within(-20, 20), within(-20, 20)};
    }
    tets_ += def.mesh.tets.size();
    mass_ += def.mesh.volume() * static_cast<double>(def.material.density);
    const BodyId body = world_.add(def).value();
    if (i % 8 == 6) twisted_.push_back({body, def.position, within(0.01f, 0.05f)});
  }

  void add_press(int i) {
    const Vec3 place = somewhere(1.2f);
    const BodyId press = world_
                             .add(RigidDef{.shape = Box{{0.8f, 0.1f, 0.8f}},
                                           .motion = Motion::Kinematic,
                                           .position = {place.x, 1.15f + 0.2f * static_cast<float>(i % 2), place.z}})
                             .value();
    presses_.emplace_back(press, place);
  }

  void shoot() {
    if (shots_ > 30) return;
    ++shots_;
    const Vec3 from = somewhere(0.8f);
    world_
        .add(RigidDef{.shape = Sphere{0.15f},
                      .density = 5000,
                      .position = {from.x, 2.5f, from.z},
                      .velocity = {within(-10, 10), -25, within(-10, 10)}})
        .value();
  }

  void twist(const Twisted& twisted, int number) {
    const float angle = std::min(twisted.rate * static_cast<float>(number), 6.0f);
    const Quat turned{std::sin(0.5f * angle), 0, 0, std::cos(0.5f * angle)};
    // Where all of that end has come free there is nothing to drive.
    (void)world_.drive(twisted.body, NodeHalfSpace{{1, 0, 0}, 0.35f}, Transform{twisted.place, turned});
  }

  std::mt19937 random_;
  World world_;
  int columns_ = 1, shots_ = 0;
  std::size_t tets_ = 0, retired_tets_ = 0;
  double mass_ = 0;
  std::vector<Twisted> twisted_;
  std::vector<std::pair<BodyId, Vec3>> presses_;
  Workers workers_;
  Wholes wholes_;
};

TEST(FractureChaos, LeavesSoundPiecesAndLosesNone) {
  const int bodies = from_environment("PLIANT_CHAOS_BODIES", 9), steps = from_environment("PLIANT_CHAOS_STEPS", 120);
  Chaos chaos(static_cast<unsigned>(from_environment("PLIANT_CHAOS_SEED", 11)), bodies);
  for (int i = 0; i < steps; ++i) {
    chaos.step(i);
    chaos.check_step();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "step " << i;
    if (i % 100 != 99 && i + 1 != steps) continue;
    chaos.check_bodies();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "step " << i;
    chaos.print(i + 1);
  }
  EXPECT_GT(chaos.body_count(), static_cast<std::size_t>(2 * bodies));
}

}  // namespace
}  // namespace pliant
