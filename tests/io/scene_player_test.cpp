#include <gtest/gtest.h>

#include "io/scene_text.h"

namespace pliant {
namespace {

TEST(ScenePlayer, BuildsTheWorldOfTheScene) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0], "dt": 0.01},
      "bodies": [{"kind": "ground"}, {"kind": "rigid", "name": "a", "shape": {"kind": "sphere", "radius": 0.5},
                  "density": 100, "position": [0, 3, 0], "velocity": [1, 0, 0]},
                 {"kind": "rigid", "shape": {"kind": "box"}, "position": [9, 9, 9]}],
      "joints": [{"kind": "slider", "name": "j", "b": "a", "axis": [1, 0, 0]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  EXPECT_EQ(player.world().bodies().size(), 3u);
  ASSERT_EQ(player.named_bodies().size(), 2u);  // the ground has a name of its own
  const BodyId a = player.body("a");
  EXPECT_NEAR(player.world().state(a)->mass, 100 * 4.0 / 3 * M_PI / 8, 1e-2);
  EXPECT_TRUE(player.world().contains(player.joint("j")));
  EXPECT_TRUE(player.body("b").is_null());
  for (int i = 0; i < 100; ++i) player.step();
  EXPECT_NEAR(player.world().time(), 1, 1e-5);
  EXPECT_NEAR(player.world().state(a)->world_from_body.position.x, 1, 1e-3);
}

TEST(ScenePlayer, BodiesWithAMotionBeginOnTheirPath) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rigid", "name": "p", "motion": "kinematic",
      "shape": {"kind": "box"}}], "motions": [{"body": "p", "keyframes": [{"time": 0, "position": [50, 0, 0]},
      {"time": 1, "position": [51, 0, 0]}]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  EXPECT_EQ(player.world().state(player.body("p"))->world_from_body.position.x, 50);
  for (int i = 0; i < 30; ++i) player.step();
  EXPECT_NEAR(player.world().state(player.body("p"))->world_from_body.position.x, 50.5, 1e-3);
  EXPECT_NEAR(player.world().state(player.body("p"))->velocity.x, 1, 1e-2);
}

TEST(ScenePlayer, EventsReachAllCopies) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [
      {"kind": "rigid", "name": "c", "shape": {"kind": "sphere"}, "mass": 2,
       "repeat": {"kind": "line", "count": 5, "step": [0, 3, 0]}}],
      "events": [{"kind": "impulse", "at": 0, "body": "c[*]", "impulse": [4, 0, 0]}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  player.step();
  for (const ScenePlayer::NamedBody& named : player.named_bodies()) {
    EXPECT_NEAR(player.world().state(named.body)->velocity.x, 2, 1e-5) << named.name;
  }
}

TEST(ScenePlayer, SaysWhereTheWorldRefusedSomething) {
  Scene scene = parse("{\"bodies\": [\n{\"kind\": \"rigid\", \"name\": \"a\", \"shape\": {\"kind\": \"box\"}}]}");
  std::get<RigidDef>(scene.bodies[0].def).position.x = NAN;
  const Result<ScenePlayer> player = ScenePlayer::create(scene);
  ASSERT_FALSE(player.ok());
  EXPECT_EQ(player.error().file, "s.json");
  EXPECT_EQ(player.error().line, 2);
  EXPECT_EQ(player.error().field.rfind("bodies[0]", 0), 0u) << player.error().to_string();
}

TEST(ScenePlayer, ScenesMadeInCppWorkToo) {
  Scene scene;
  scene.bodies.push_back({GroundDef{}});
  RigidDef box;
  box.name = "box";
  box.position = {0, 0.5f, 0};
  scene.bodies.push_back({box});
  scene.events.push_back({TimedImpulse{.at = 0, .impulse = {0, 3000, 0}}, "box"});
  ScenePlayer player = ScenePlayer::create(scene).value();
  player.step();
  EXPECT_GT(player.world().state(player.body("box"))->velocity.y, 2.5f);
  scene.events[0].body = "nobody";
  EXPECT_EQ(ScenePlayer::create(scene).error().code, Error::Code::NotFound);
}

}  // namespace
}  // namespace pliant
