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
  const LayeredTotals start = body->totals();
  double most = 0, least = 1e300;
  for (int step = 0; step < 1000; ++step) {
    const SolveResult result = body->solve(workers, {}, 1.0f / 60);
    EXPECT_TRUE(result.converged);
    body->advance(workers, 1.0f / 60);
    const double energy = body->totals().kinetic + body->elastic_energy();
    most = std::max(most, energy), least = std::min(least, energy);
  }
  const LayeredTotals end = body->totals();
  EXPECT_LT(length(end.spin - start.spin), 1e-5 * length(start.spin));
  EXPECT_LT(length(end.momentum - start.momentum), 1e-5 * length(start.momentum));
  // Energy of what flies along does not count.
  const double drift = 0.5 * dot(start.momentum, start.momentum) / start.mass, whole = start.kinetic - drift;
  EXPECT_LT(most - drift, 1.01 * whole);
  EXPECT_GT(least - drift, 0.95 * whole);
  printf("E %g w %g: spin %g energy %g .. %g\n", double(young_modulus), double(speed),
         length(end.spin - start.spin) / length(start.spin), (least - drift) / whole, (most - drift) / whole);
}

TEST(LayeredFlight, SoftTorusKeepsItsSpinAndEnergy) { spin_freely(3e3f, 2); }
TEST(LayeredFlight, FirmTorusKeepsItsSpinAndEnergy) { spin_freely(6e4f, 6); }

}  // namespace
}  // namespace pliant
