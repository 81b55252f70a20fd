// A stranger's program: only what is installed.
#include <cstdio>

#include <pliant/pliant.h>

int main() {
  pliant::World world;
  world.add(pliant::GroundDef{});
  const pliant::BodyId ball = world.add(pliant::RigidDef{.shape = pliant::Sphere{0.2f}, .position = {0, 2, 0}}).value();
  for (int i = 0; i < 120; ++i) world.step();
  std::printf("pliant %s: the ball rests at %.2f m\n", pliant::library_version(),
              static_cast<double>(world.state(ball)->world_from_body.position.y));
}
