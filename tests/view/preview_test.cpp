// Materials tried out on a panel.
#include <cmath>

#include <gtest/gtest.h>

#include "view/material_preview.h"
#include "view/session.h"

namespace pliant {
namespace {

struct Outcome {
  std::size_t bodies_more = 0;  ///< pieces that broke off
  double sag = 0;               ///< m, the farthest that the panel's middle was pushed along the balls' way
};

Outcome outcome(const MaterialTrial& trial, int steps) {
  const std::unique_ptr<Session> session = Session::create(material_preview(trial).value(), "preview", 0).value();
  World& world = session->world();
  const BodyId panel = world.find("panel");
  const std::size_t bodies = world.bodies().size();
  Outcome result;
  for (int i = 0; i < steps; ++i) {
    session->step();
    const std::span<const Vec3> nodes = *world.node_positions(panel);
    for (const Vec3 node : nodes) {
      EXPECT_TRUE(is_finite(node));
      result.sag = std::max(result.sag, static_cast<double>(-node.z) - 0.5 * static_cast<double>(trial.thickness));
    }
  }
  result.bodies_more = world.bodies().size() - bodies;
  return result;
}

TEST(MaterialPreview, EveryMaterialOfTheLibraryCanBeTried) {
  for (const std::string_view name : material::names()) {
    SCOPED_TRACE(name);
    const Result<Scene> scene = material_preview({.material = *material::by_name(name)});
    ASSERT_TRUE(scene);
    const Result<std::unique_ptr<Session>> session = Session::create(*scene, "preview", 0);
    ASSERT_TRUE(session) << session.error().to_string();
    for (int i = 0; i < 16; ++i) (*session)->step();
    EXPECT_EQ((*session)->history().total.size(), 16u);
  }
}

TEST(MaterialPreview, BrittlePanelsBreakAndOthersBend) {
  for (const char* name : {"oak", "glass", "concrete"}) {
    EXPECT_GT(outcome({.material = *material::by_name(name)}, 50).bodies_more, 0u) << name;
  }
  const Outcome rubber = outcome({.material = material::rubber()}, 25);
  EXPECT_EQ(rubber.bodies_more, 0u);
  EXPECT_GT(rubber.sag, 0.05);
}

TEST(MaterialPreview, FasterBallsBreakMore) {
  const auto pieces = [](float speed) {
    return outcome({.material = material::concrete(), .ball_speed = speed}, 30).bodies_more;
  };
  EXPECT_EQ(pieces(0.2f), 0u);
  EXPECT_GT(pieces(20), pieces(3));
}

TEST(MaterialPreview, RefusesPanelsThatCannotBe) {
  for (const float thickness : {0.0f, -1.0f, 7.0f, std::nanf("")}) {
    const Result<Scene> scene = material_preview({.thickness = thickness});
    ASSERT_FALSE(scene);
    EXPECT_NE(scene.error().message.find("0.005 to 0.5"), std::string::npos);
  }
}

}  // namespace
}  // namespace pliant
