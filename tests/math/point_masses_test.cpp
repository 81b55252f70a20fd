// Sums over point masses against those of a rigid motion that is known, and hand-made sums in doubles.
#include "math/point_masses.h"

#include <random>

#include <gtest/gtest.h>

#include "math/vec3d.h"

namespace pliant {
namespace {

struct Cloud {
  std::vector<Vec4> x, v;
  std::vector<float> masses;
};

/// Nodes about `center` that turn by `spin` about the origin while that moves with `velocity`.
Cloud turning_cloud(std::size_t count, Vec3 center, Vec3 velocity, Vec3 spin) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> place(-1, 1), mass(0.1f, 2);
  Cloud cloud;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 x = center + Vec3{place(random), 0.3f * place(random), 2 * place(random)};
    const Vec3 v = velocity + cross(spin, x);
    cloud.x.push_back({x.x, x.y, x.z, 7}), cloud.v.push_back({v.x, v.y, v.z, 0.5f});
    cloud.masses.push_back(mass(random));
  }
  return cloud;
}

TEST(PointMasses, ThatMoveAsOneAreFittedByThatMotion) {
  const Vec3 velocity{1, -2, 0.5f}, spin{0.3f, 2, -1};
  const Cloud cloud = turning_cloud(5000, {3, -1, 2}, velocity, spin);
  const RigidFit fit = fit_rigid(cloud.x, cloud.v, cloud.masses);
  EXPECT_LT(length(fit.angular_velocity - spin), 1e-5f);
  EXPECT_LT(length(fit.velocity - (velocity + cross(spin, fit.center))), 1e-5f);

  double mass = 0, kinetic = 0;
  Vec3d first, momentum, angular;
  for (std::size_t i = 0; i < cloud.x.size(); ++i) {
    const double m = static_cast<double>(cloud.masses[i]);
    const Vec3d x(cloud.x[i].xyz()), v(cloud.v[i].xyz());
    mass += m, kinetic += 0.5 * m * length_squared(v);
    first += m * x, momentum += m * v, angular += m * cross(x, v);
  }
  const Vec3d center = first / mass, about = angular - cross(center, momentum);
  EXPECT_NEAR(fit.mass, mass, 1e-9 * mass);
  EXPECT_NEAR(fit.kinetic, kinetic, 1e-9 * kinetic);
  EXPECT_LT(length(fit.center - center.to_float()), 1e-6f);
  EXPECT_NEAR(fit.spin[0], about.x, 1e-8 * length(about));
  EXPECT_NEAR(fit.spin[1], about.y, 1e-8 * length(about));
  EXPECT_NEAR(fit.spin[2], about.z, 1e-8 * length(about));
}

TEST(PointMasses, AreTheSameForAnyNumberOfThreads) {
  const Cloud cloud = turning_cloud(9000, {0, 5, 0}, {0, 1, 0}, {1, 1, 1});
  Workers one(1), two(2);
  std::vector<NodeMoments> scratch;
  const RigidFit a = fit_rigid(one, cloud.x, cloud.v, cloud.masses, scratch);
  const RigidFit b = fit_rigid(two, cloud.x, cloud.v, cloud.masses, scratch);
  const RigidFit whole = fit_rigid(cloud.x, cloud.v, cloud.masses);
  EXPECT_EQ(a.kinetic, b.kinetic);
  EXPECT_EQ(a.center, b.center);
  EXPECT_EQ(a.angular_velocity, b.angular_velocity);
  EXPECT_NEAR(a.kinetic, whole.kinetic, 1e-9 * whole.kinetic);
  EXPECT_LT(length(a.center - whole.center), 1e-6f);
}

}  // namespace
}  // namespace pliant
