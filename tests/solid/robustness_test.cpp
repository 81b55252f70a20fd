// Abuse that a solid must survive, and recover from.
#include <cstdio>

#include "solid/solid_support.h"

namespace pliant {
namespace {

using Deform = std::function<Vec3(Vec3)>;

struct Abuse {
  const char* name;
  Deform deform;
};

Abuse shuffled(const char* name, float size, unsigned seed) {
  auto random = std::make_shared<std::mt19937>(seed);
  return {name, [random, size](Vec3) {
            std::uniform_real_distribution<float> uniform(-size / 2, size / 2);
            const float x = uniform(*random), y = uniform(*random), z = uniform(*random);
            return Vec3{x, y, z};
          }};
}

std::vector<Abuse> abuses(float size) {
  return {{"flat",
           [](Vec3 x) {
             return Vec3{x.x, 0, x.z};
           }},
          {"flat, tilted",
           [](Vec3 x) {
             return x - Vec3{1, 2, 3} * (dot(x, {1, 2, 3}) / 14);
           }},
          {"line",
           [](Vec3 x) {
             return Vec3{0, x.y, 0};
           }},
          {"line, tilted",
           [](Vec3 x) {
             return Vec3{1, 2, 3} * (dot(x, {1, 2, 3}) / 14);
           }},
          {"point", [](Vec3) { return Vec3{}; }},
          {"mirrored",
           [](Vec3 x) {
             return Vec3{-x.x, x.y, x.z};
           }},
          {"inside out", [](Vec3 x) { return -x; }},
          shuffled("random", size, 7),
          shuffled("random again", size, 8),
          shuffled("random, large", 3 * size, 9)};
}

void recover(const char* what, const TetMesh& mesh, const SolidMaterial& material, float size) {
  for (const Abuse& abuse : abuses(size)) {
    Rig rig({.mesh = mesh, .material = material});
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      rig.body.set_position(node, abuse.deform(mesh.nodes[node]));
    }
    int unconverged = 0, recovered = -1;
    double fastest = 0;
    for (int step = 0; step < 300; ++step) {
      unconverged += !rig.step(1.0f / 60).converged;
      for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
        fastest = std::max(fastest, static_cast<double>(length(rig.body.velocity(node))));
      }
      if (recovered < 0 && shape_of(rig).inverted == 0) recovered = step;
    }
    const Shape3 shape = shape_of(rig);
    std::printf(
        "%-14s nu %.2f %-13s volume %.4f, %d inverted, upright after %d steps, %d iterations, %d unconverged, "
        "fastest %.1f m/s\n",
        what, static_cast<double>(material.poisson_ratio), abuse.name, shape.volume, shape.inverted, recovered,
        rig.iterations, unconverged, fastest);
    EXPECT_TRUE(rig.is_finite()) << abuse.name;
    EXPECT_NEAR(shape.volume, 1, 0.01) << abuse.name;
    EXPECT_EQ(shape.inverted, 0) << abuse.name;
  }
}

TEST(SolidRobustness, ACrushedCubeRecovers) {
  for (const float poisson : {0.0f, 0.3f, 0.45f}) {
    recover("cube", tet_box({1, 1, 1}, 4, 4, 4), elastic(1e5f, poisson), 1);
  }
}
TEST(SolidRobustness, ACrushedNeoHookeanCubeRecovers) {
  for (const float poisson : {0.3f, 0.45f}) {
    recover("cube, hookean", tet_box({1, 1, 1}, 4, 4, 4), elastic(1e5f, poisson, Elasticity::NeoHookean), 1);
  }
}
TEST(SolidRobustness, ACrushedBeamRecovers) {
  for (const float poisson : {0.3f, 0.45f}) {
    recover("beam", tet_box({1, 0.25f, 0.25f}, 12, 3, 3), elastic(1e6f, poisson), 0.5f);
  }
}
TEST(SolidRobustness, ACrushedBallRecovers) { recover("ball", tet_sphere(0.5f, 0.12f), elastic(1e5f, 0.45f), 1); }

TEST(SolidRobustness, CrushedWoodRecovers) {
  SolidMaterial wood = elastic(1e5f, 0.3f);
  wood.grain_modulus = 1.2e6f;
  wood.grain_direction = {1, 2, 0};
  recover("wood", tet_box({1, 1, 1}, 4, 4, 4), wood, 1);
}

TEST(SolidRobustness, WeakForcesAreNotLost) {
  // A hill of jelly, pressed flat. Sound takes 30 s to cross it: in a step its forces are a thousandth of the momentum
  // of its parts, or less. It swings back as one does that is solved to the last digit.
  constexpr float kSize = 100;
  const TetMesh mesh = tet_box({kSize, kSize, kSize}, 3, 3, 3);
  const auto released = [&](float tolerance) {
    SolidDef def{.mesh = mesh, .material = elastic(1e4f, 0.3f)};
    def.solver.tolerance = tolerance;
    def.material.stiffness_damping = 1.5f;
    Rig rig(def);
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      const Vec3 x = mesh.nodes[node];
      rig.body.set_position(node, {x.x, 0.5f * x.y, x.z});
    }
    std::vector<double> volumes;
    for (int step = 0; step < 6000; ++step) {
      rig.step(1.0f / 60);
      if (step % 100 == 0) volumes.push_back(shape_of(rig).volume);
    }
    return volumes;
  };
  const std::vector<double> volumes = released(SolidSolver{}.tolerance), exact = released(1e-7f);
  double worst = 0;
  for (std::size_t i = 0; i < volumes.size(); ++i) worst = std::max(worst, std::abs(volumes[i] - exact[i]));
  std::printf("volume differs by up to %.4f; at last %.3f, solved exactly %.3f\n", worst, volumes.back(), exact.back());
  EXPECT_LT(worst, 0.03);
}

TEST(SolidRobustness, StretchedSplintersOfWoodLoseEnergy) {
  // Of a few tets each, light and stiff, stretched and sheared by a blow, flying and turning.
  SolidMaterial oak = material::softened(material::oak(), 3e7f);
  oak.stiffness_damping = 0;
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int run = 0; run < 40; ++run) {
    TetMesh mesh = tet_box({0.04f, 0.04f, 0.04f}, 1, 1, 1);
    mesh.tets.resize(static_cast<std::size_t>(2 + run % 5));
    oak.grain_direction = normalized(Vec3{uniform(random), uniform(random), uniform(random)});
    Rig rig({.mesh = mesh, .material = oak});
    float stretch[9];
    for (float& s : stretch) s = 0.8f * uniform(random);
    for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
      const Vec3 x = mesh.nodes[node];
      const Vec3 moved{stretch[0] * x.x + stretch[1] * x.y + stretch[2] * x.z,
                       stretch[3] * x.x + stretch[4] * x.y + stretch[5] * x.z,
                       stretch[6] * x.x + stretch[7] * x.y + stretch[8] * x.z};
      rig.body.set_position(node, x + moved);
      rig.body.set_velocity(node, cross(Vec3{3, -5, 4}, x) + Vec3{10, 0, 0});
    }
    const auto energy = [&] {
      const SolidTotals totals = rig.body.totals();
      return totals.kinetic + rig.body.elements().energy(rig.body.layout(), rig.body.state().positions.data(), 0,
                                                         rig.body.layout().batches());
    };
    const double at_first = energy();
    double most = 0;
    for (int step = 0; step < 200; ++step) {
      rig.step(kStep);
      if (step >= 20) most = std::max(most, energy());
    }
    EXPECT_TRUE(rig.is_finite());
    EXPECT_LE(most, 1.02 * at_first) << "run " << run;
    EXPECT_EQ(shape_of(rig).inverted, 0) << "run " << run;
  }
}

TEST(SolidRobustness, NothingMakesANumberNonFinite) {
  int runs = 0, unconverged = 0;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const float size : {1e-3f, 1.0f, 1e3f}) {
    for (const float young : {1e2f, 1e5f, 1e8f, 2e11f}) {
      for (const float density : {1.0f, 1e3f, 2e4f}) {
        for (const Elasticity elasticity : {Elasticity::Corotational, Elasticity::NeoHookean}) {
          SolidMaterial material = elastic(young, 0.45f, elasticity);
          material.density = density;
          Rig rig({.mesh = tet_box({size, size, size}, 3, 3, 3), .material = material});
          for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
            const float x = uniform(random), y = uniform(random), z = uniform(random);
            rig.body.set_velocity(node, normalized(Vec3{x, y, z}) * 1000.0f);
          }
          rig.hold_where([&](Vec3 x) { return x.x < -0.49f * size && x.y > 0; });
          for (int step = 0; step < 60; ++step) unconverged += !rig.step(1.0f / 15, {0, -9.81f, 0}).converged;
          EXPECT_TRUE(rig.is_finite()) << "size " << size << ", E " << young << ", density " << density
                                       << (elasticity == Elasticity::NeoHookean ? ", Neo-Hookean" : ", corotational");
          ++runs;
        }
      }
    }
  }
  std::printf("%d runs, %d of %d steps unconverged\n", runs, unconverged, 60 * runs);
}

/// A cube thrown at the ground, aslant, at 1000 m/s and 15 steps a second.
struct Thrown {
  int unconverged = 0;
  double most_energy = 0;  ///< over that of the throw
  bool is_finite = true;
};
Thrown throw_down(float size, float young, float density, Elasticity elasticity, float turn = 0.7f) {
  constexpr float kLongStep = 1.0f / 15;
  SolidMaterial material = elastic(young, 0.45f, elasticity);
  material.density = density;
  GroundedRig rig({.mesh = tet_box({size, size, size}, 3, 3, 3),
                   .material = material,
                   .position = {0, 1.5f * size + 10, 0},
                   .rotation = Quat::axis_angle({1, 2, 3}, turn),
                   .velocity = {300, -954, 0},
                   .angular_velocity = {3, 2, 1}});
  const Vec3 gravity{0, -9.81f, 0};
  const double weight = 9.81 * rig.body.totals().mass;
  const auto energy = [&](const SolidTotals& t) { return t.kinetic + weight * t.center[1]; };
  const double start = energy(rig.body.totals());
  Thrown thrown;
  for (int step = 0; step < 60; ++step) {
    rig.watch_motion(0.03f * size, gravity, kLongStep);
    thrown.unconverged += !rig.step_on_ground(gravity, kLongStep).converged;
    thrown.most_energy = std::max(thrown.most_energy, energy(rig.body.totals()) / start);
  }
  thrown.is_finite = rig.is_finite();
  return thrown;
}

TEST(SolidRobustness, NothingThrownAtTheGroundBecomesNonFinite) {
  int runs = 0, unconverged = 0;
  double most_energy = 0;
  for (const float size : {1e-3f, 1.0f, 1e3f}) {
    for (const float young : {1e2f, 1e5f, 1e8f, 2e11f}) {
      for (const float density : {1.0f, 1e3f, 2e4f}) {
        for (const Elasticity elasticity : {Elasticity::Corotational, Elasticity::NeoHookean}) {
          SCOPED_TRACE(testing::Message() << "size " << size << ", E " << young << ", density " << density
                                          << (elasticity == Elasticity::NeoHookean ? ", Neo-Hookean" : ""));
          const Thrown thrown = throw_down(size, young, density, elasticity);
          EXPECT_TRUE(thrown.is_finite);
          EXPECT_LT(thrown.most_energy, 1.02);
          most_energy = std::max(most_energy, thrown.most_energy);
          unconverged += thrown.unconverged;
          ++runs;
        }
      }
    }
  }
  std::printf("%d runs, energy at most %.4f of the first, %d of %d steps unconverged\n", runs, most_energy, unconverged,
              60 * runs);
}

TEST(SolidRobustness, NothingThrownAtTheGroundGainsEnergyHoweverItFalls) {
  // Contact rounds of so fast and small a thing do not converge: what they leave must not be more than there was.
  double most_energy = 0;
  int unconverged = 0;
  for (const float young : {1e2f, 1e5f, 1e8f}) {
    for (const float density : {1.0f, 1e3f, 2e4f}) {
      for (int angle = 0; angle < 10; ++angle) {
        const float turn = 0.1f + 0.31f * static_cast<float>(angle);
        const Thrown thrown = throw_down(1e-3f, young, density, Elasticity::Corotational, turn);
        EXPECT_TRUE(thrown.is_finite);
        EXPECT_LT(thrown.most_energy, 1.02) << "E " << young << ", density " << density << ", turn " << turn;
        most_energy = std::max(most_energy, thrown.most_energy);
        unconverged += thrown.unconverged;
      }
    }
  }
  std::printf("energy at most %.4f of the first, %d steps unconverged\n", most_energy, unconverged);
}

TEST(SolidRobustness, AStiffBodyComesToRest) {
  for (const float young : {1e9f, 2e11f}) {
    Rig rig({.mesh = beam_mesh({1, 0.1f, 0.1f}, 20, 2, 2), .material = elastic(young, 0.3f)});
    rig.hold_where([](Vec3 x) { return at(x.x, 0); });
    double fastest = 0;
    int unconverged = 0;
    for (int step = 0; step < 240; ++step) {
      unconverged += !rig.step(1.0f / 60, {0, -9.81f, 0}).converged;
      if (step < 120) continue;
      for (std::uint32_t node = 0; node < rig.body.node_count(); ++node) {
        fastest = std::max(fastest, static_cast<double>(length(rig.body.velocity(node))));
      }
    }
    std::printf("E %.0e: fastest node at rest %.1e m/s, %d iterations, %d unconverged\n", static_cast<double>(young),
                fastest, rig.iterations, unconverged);
    EXPECT_LT(fastest, 1e-3);
    EXPECT_EQ(unconverged, 0);
  }
}

}  // namespace
}  // namespace pliant
