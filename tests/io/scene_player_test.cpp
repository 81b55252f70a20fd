#include <gtest/gtest.h>

#include "io/scene_temp.h"
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

TEST(ScenePlayer, ForcesAndPressureReachTheSkinOfLayeredBodies) {
  const Scene scene = parse(R"({"world": {"gravity": [0, 0, 0]}, "bodies": [
      {"kind": "layered", "name": "pushed", "surface": {"sphere": 0.3, "segments": 16}, "thickness": 0.08,
       "material": {"young_modulus": 1e6}},
      {"kind": "layered", "name": "pressed", "surface": {"sphere": 0.3, "segments": 16}, "thickness": 0.08,
       "material": {"young_modulus": 1e6, "stiffness_damping": 0.01}, "position": [5, 0, 0]}],
      "events": [{"kind": "node_force", "from": 0, "to": 1, "body": "pushed", "nodes": {"nearest": {"point": [0.3, 0, 0]}},
                  "force": [-12, 0, 0]},
                 {"kind": "pressure", "from": 0, "to": 2, "body": "pressed", "pressure": 10000}]})");
  ScenePlayer player = ScenePlayer::create(scene).value();
  for (int i = 0; i < 60; ++i) player.step();
  const BodyState pushed = *player.world().state(player.body("pushed"));
  EXPECT_NEAR(pushed.velocity.x * pushed.mass, -12, 0.2);
  const Aabb box = player.world().state(player.body("pressed"))->bounds;
  EXPECT_LT(box.size().y, 0.6f * 0.9999f);
}

TEST(ScenePlayer, SurfacesOfLayeredBodiesAreClosedAndLookOutward) {
  const TempFolder folder;
  const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  folder.write("sound.obj", corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  folder.write("inward.obj", corners + "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  folder.write("open.obj", corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\n");
  folder.write("mixed.obj", corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n");
  const auto mass = [&](const std::string& name) {
    const Result<Scene> scene = load_scene(folder.write(name + ".json", R"({"bodies": [{"kind": "layered", "name": "b",
        "surface": {"mesh": "m"}, "thickness": 0.05, "material": {"young_modulus": 1e6}}],
        "meshes": {"m": {"kind": "file", "path": ")" + name + ".obj\"}}}"));
    if (!scene.ok()) return scene.error().message.find("resolution") != std::string::npos ? -1.0f : -2.0f;
    const ScenePlayer player = ScenePlayer::create(*scene).value();
    return player.world().state(player.body("b"))->mass;
  };
  EXPECT_NEAR(mass("sound"), 1000.0f / 6, 0.1f);
  EXPECT_EQ(mass("inward"), mass("sound"));
  EXPECT_EQ(mass("open"), -1);
  EXPECT_EQ(mass("mixed"), -1);
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
