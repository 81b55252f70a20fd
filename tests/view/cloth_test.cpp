// Cloth, rope and jelly in the hands of a user.
#include <gtest/gtest.h>

#include "pliant/generators.h"

#include "view/held.h"
#include "view/session.h"

namespace pliant {
namespace {

TEST(GrabNodes, LiftsASheetByItsMiddle) {
  Held held(ClothDef{.shape = ClothSheet{1, 1, 20, 20}, .position = {0, 2, 0}}, {0, 2, 0});
  held.grab->pull_to({0.5f, 3, 0});
  held.run(4, 1.0f / 60);
  // It hangs below the hand, which carries its whole weight.
  EXPECT_LT(length(held.point() - Vec3{0.5f, 3, 0}), 0.25f);
  const BodyState state = *held.world.state(held.body);
  EXPECT_FALSE(state.quarantined);
  EXPECT_LT(state.center_of_mass.y, held.point().y);
  EXPECT_GT(state.center_of_mass.y, held.point().y - 0.8f);
}

TEST(GrabNodes, LiftsARopeByItsEnd) {
  Held held(RopeDef{.path = {{0, 2, 0}, {1, 2, 0}}}, {0, 2, 0});
  held.grab->pull_to({0, 3, 0});
  held.run(6, 1.0f / 60);
  EXPECT_LT(length(held.point() - Vec3{0, 3, 0}), 0.25f);
  EXPECT_GT(held.world.state(held.body)->bounds.lower.y, 1.6f);
  EXPECT_LT(held.world.report().max_stretch, 0.05f);
}

TEST(GrabNodes, LiftsAJelly) {
  Held held(JellyDef{.mesh = tet_box({0.4f, 0.4f, 0.4f}, 0.1f), .position = {0, 2, 0}}, {0, 2.2f, 0});
  held.grab->pull_to({0, 3, 0});
  held.run(3, 1.0f / 60);
  EXPECT_FALSE(held.world.state(held.body)->quarantined);
  EXPECT_GT(held.world.state(held.body)->center_of_mass.y, 2.2f);
}

}  // namespace
}  // namespace pliant
