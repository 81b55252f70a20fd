// What good scene files become, and how bad ones are told.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "io/scene_corpus.h"
#include "io/scene_temp.h"
#include "pliant/scene.h"

namespace pliant {
namespace {

const RigidDef& rigid(const Scene& scene, std::size_t i) { return std::get<RigidDef>(scene.bodies.at(i).def); }

Scene parse(const std::string& json) {
  Result<Scene> scene = parse_scene(json, "s.json");
  if (!scene.ok()) ADD_FAILURE() << scene.error().to_string();
  return scene.ok() ? *scene : Scene{};
}

void expect_near(Vec3 a, Vec3 b, float tolerance = 1e-5f) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

TEST(SceneParse, FillsInTheWorld) {
  const Scene scene = parse(R"({"world": {"gravity": [1, 2, 3], "dt": 0.01, "substeps": 4, "iterations": 30,
      "allow_sleep": false, "sleep_speed": 0.5, "sleep_angular_speed": 0.25, "sleep_delay": 2,
      "bounce_threshold": 0.125}, "frames": 77, "title": "T", "description": "D"})");
  EXPECT_EQ(scene.world.gravity, (Vec3{1, 2, 3}));
  EXPECT_EQ(scene.world.dt, 0.01f);
  EXPECT_EQ(scene.world.substeps, 4);
  EXPECT_EQ(scene.world.iterations, 30);
  EXPECT_FALSE(scene.world.allow_sleep);
  EXPECT_EQ(scene.world.sleep_speed, 0.5f);
  EXPECT_EQ(scene.world.sleep_angular_speed, 0.25f);
  EXPECT_EQ(scene.world.sleep_delay, 2);
  EXPECT_EQ(scene.world.bounce_threshold, 0.125f);
  EXPECT_EQ(scene.frames, 77);
  EXPECT_EQ(scene.title, "T");
  EXPECT_EQ(scene.description, "D");
}

TEST(SceneParse, LeavesTheDefaultsOfTheApi) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box"}}, {"kind": "ground"}]})");
  const RigidDef def, read = rigid(scene, 0);
  EXPECT_EQ(read.density, def.density);
  EXPECT_EQ(read.friction, def.friction);
  EXPECT_EQ(read.motion, def.motion);
  EXPECT_EQ(read.rotation, def.rotation);
  EXPECT_EQ(read.appearance.color, def.appearance.color);
  EXPECT_FALSE(read.mass.has_value());
  EXPECT_EQ(std::get<Box>(read.shape).size, Box{}.size);
  EXPECT_EQ(std::get<GroundDef>(scene.bodies[1].def).name, "ground");
}

TEST(SceneParse, MaterialsGiveWayToTheBodysOwnNumbers) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rigid", "friction": 0.125, "color": [1, 0, 0], "material": "goo", "shape": {"kind": "box"}}],
      "materials": {"goo": {"density": 5, "friction": 2, "restitution": 0.75, "color": "#808080", "metalness": 1}}})");
  EXPECT_EQ(rigid(scene, 0).density, 5);
  EXPECT_EQ(rigid(scene, 0).friction, 0.125f);
  EXPECT_EQ(rigid(scene, 0).restitution, 0.75f);
  EXPECT_EQ(rigid(scene, 0).appearance.color, (Vec3{1, 0, 0}));
  EXPECT_EQ(rigid(scene, 0).appearance.metalness, 1);
  EXPECT_NEAR(scene.materials.at("goo").appearance.color.x, 0.2159f, 1e-3f);  // sRGB 0.502 is linear 0.216
}

TEST(SceneParse, ReadsRotations) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rigid", "shape": {"kind": "box"}, "rotation": {"axis": [0, 0, 5], "degrees": 90}},
      {"kind": "rigid", "shape": {"kind": "box"}, "rotation": [0, 0, 3, 3]}]})");
  expect_near(rigid(scene, 0).rotation.rotate({1, 0, 0}), {0, 1, 0});
  expect_near(rigid(scene, 1).rotation.rotate({1, 0, 0}), {0, 1, 0});
}

TEST(SceneParse, GridsAreCentredAboveTheirPosition) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rigid", "name": "c", "shape": {"kind": "box"},
      "position": [10, 1, 0], "repeat": {"kind": "grid", "count": [2, 3, 4], "spacing": [1, 2, 3]}}]})");
  ASSERT_EQ(scene.bodies.size(), 24u);
  Vec3 sum;
  std::set<std::string> names;
  float lowest = 1e9f, highest = -1e9f;
  for (std::size_t i = 0; i < 24; ++i) {
    sum += rigid(scene, i).position;
    names.insert(rigid(scene, i).name);
    lowest = std::min(lowest, rigid(scene, i).position.y);
    highest = std::max(highest, rigid(scene, i).position.y);
  }
  expect_near(sum / 24, {10, 3, 0});
  EXPECT_EQ(lowest, 1);
  EXPECT_EQ(highest, 5);
  EXPECT_EQ(names.size(), 24u);
  EXPECT_TRUE(names.contains("c[0]") && names.contains("c[23]"));
}

TEST(SceneParse, RingsLieOnTheirCircleAndTurn) {
  const Scene scene = parse(R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box"}, "position": [0, 5, 0],
      "repeat": {"kind": "ring", "count": 5, "radius": 2, "axis": [0, 0, 1], "from_degrees": 0, "to_degrees": 180}}]})");
  ASSERT_EQ(scene.bodies.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const float angle = kPi / 4 * static_cast<float>(i);
    expect_near(rigid(scene, i).position, {2 * std::cos(angle), 5 + 2 * std::sin(angle), 0});
    expect_near(rigid(scene, i).rotation.rotate({1, 0, 0}), {std::cos(angle), std::sin(angle), 0});
  }
  const Scene whole = parse(R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box"},
      "repeat": {"kind": "ring", "count": 4, "radius": 1}}]})");
  expect_near(rigid(whole, 2).position, {-1, 0, 0});  // opposite the first: no place is taken twice
}

TEST(SceneParse, PyramidsAndWallsHaveTheRightNumbers) {
  const auto count = [](const std::string& repeat) {
    return parse(R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box"}, "repeat": )" + repeat + "}]}")
        .bodies.size();
  };
  EXPECT_EQ(count(R"({"kind": "pyramid", "layers": 4, "spacing": [1, 1, 1]})"), 16u + 9 + 4 + 1);
  EXPECT_EQ(count(R"({"kind": "pyramid", "layers": 4, "spacing": [1, 1, 1], "flat": true})"), 4u + 3 + 2 + 1);
  EXPECT_EQ(count(R"({"kind": "wall", "columns": 5, "rows": 3, "spacing": [1, 1, 1]})"), 15u);
}

TEST(SceneParse, DisorderIsBoundedAndRepeatable) {
  const std::string json = R"({"bodies": [{"kind": "rigid", "shape": {"kind": "box"}, "repeat": {"kind": "line",
      "count": 500, "step": [1, 0, 0], "jitter": 0.25, "tilt_degrees": 10, "color_jitter": 0.1, "seed": 3}}]})";
  const Scene a = parse(json), b = parse(json);
  float widest = 0, steepest = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const Vec3 off = rigid(a, i).position - Vec3{static_cast<float>(i), 0, 0};
    widest = std::max({widest, std::abs(off.x), std::abs(off.y), std::abs(off.z)});
    steepest = std::max(steepest, 2 * std::acos(std::min(1.0f, std::abs(rigid(a, i).rotation.w))));
    EXPECT_EQ(rigid(a, i).position, rigid(b, i).position);
    EXPECT_EQ(rigid(a, i).rotation, rigid(b, i).rotation);
  }
  EXPECT_LE(widest, 0.2501f);
  EXPECT_GT(widest, 0.24f);
  EXPECT_LE(steepest, 10.01f * kPi / 180);
  EXPECT_GT(steepest, 9 * kPi / 180);
}

TEST(SceneParse, JointsTakeTheirAnchorsFromTheBodies) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rigid", "name": "link", "shape": {"kind": "sphere"}, "position": [0, 10, 0],
       "repeat": {"kind": "line", "count": 4, "step": [0, -2, 0]}}],
      "joints": [{"kind": "ball", "name": "j", "chain": "link"},
                 {"kind": "hinge", "b": "link[0]", "axis": [1, 0, 0], "anchor_offset": [0, 1, 0],
                  "limit_degrees": [-180, 90]}]})");
  ASSERT_EQ(scene.joints.size(), 4u);
  expect_near(scene.joints[1].def.anchor, {0, 7, 0});
  EXPECT_EQ(scene.joints[1].a, "link[1]");
  EXPECT_EQ(scene.joints[1].b, "link[2]");
  EXPECT_EQ(scene.joints[1].def.name, "j[1]");
  expect_near(scene.joints[3].def.anchor, {0, 11, 0});
  EXPECT_EQ(scene.joints[3].a, "");
  EXPECT_NEAR(scene.joints[3].def.limit->lower, -kPi, 1e-5f);
  EXPECT_NEAR(scene.joints[3].def.limit->upper, kPi / 2, 1e-5f);
}

TEST(SceneParse, KeyframesInheritAndMayBeRelative) {
  const Scene scene = parse(R"({"bodies": [
      {"kind": "rigid", "name": "p", "motion": "kinematic", "shape": {"kind": "box"}, "position": [1, 2, 3],
       "repeat": {"kind": "line", "count": 2, "step": [10, 0, 0]}}],
      "motions": [{"body": "p[*]", "relative": true, "keyframes": [
        {"time": 0}, {"time": 1, "position": [0, 5, 0]}, {"time": 2, "rotation": {"axis": [0, 1, 0], "degrees": 90}}]}]})");
  ASSERT_EQ(scene.motions.size(), 2u);
  const MotionPath& path = scene.motions[1].path;
  expect_near(path.keyframes[0].world_from_body.position, {11, 2, 3});
  expect_near(path.keyframes[2].world_from_body.position, {11, 7, 3});
  expect_near(path.keyframes[2].world_from_body.rotation.rotate({1, 0, 0}), {0, 0, -1});
}

TEST(SceneParse, CollectsAllErrorsUpToTheLimit) {
  SceneErrors errors;
  const Result<Scene> scene = parse_scene(
      "{\"frames\": -1,\n \"wrld\": {},\n \"bodies\": [{\"kind\": \"rigid\", \"shape\": {\"kind\": \"sphere\", "
      "\"radius\": 0}, \"mass\": true}]}",
      "s.json", &errors);
  ASSERT_FALSE(scene.ok());
  ASSERT_EQ(errors.list.size(), 4u) << errors.to_string();
  EXPECT_EQ(errors.list[0].field, "wrld");
  EXPECT_EQ(errors.list[0].line, 2);
  EXPECT_EQ(errors.list[1].field, "frames");
  EXPECT_EQ(errors.list[2].field, "bodies[0].shape.radius");
  EXPECT_EQ(errors.list[3].field, "bodies[0].mass");
  EXPECT_FALSE(errors.more);
  EXPECT_NE(scene.error().message.find("(and 3 more)"), std::string::npos);

  std::string many = R"({"bodies": [1)";
  for (int i = 0; i < 50; ++i) many += ", 1";
  parse_scene(many + "]}", "s.json", &errors);
  EXPECT_EQ(errors.list.size(), SceneErrors::kLimit);
}

TEST(SceneParse, RefusesTooManyExplicitBodies) {
  std::string json = R"({"bodies": [)";
  for (std::size_t i = 0; i < 200'000; ++i) json += i == 0 ? "{}" : ",{}";
  const Result<Scene> scene = parse_scene(json + "]}", "s.json");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().code, Error::Code::CapacityExceeded);
  EXPECT_EQ(scene.error().field, "bodies");
}

TEST(SceneParse, RefusesCopiesThatWouldFillTheMemory) {
  const Result<Scene> scene = parse_scene(R"({"meshes": {"m": {"kind": "sphere", "segments": 96}}, "bodies": [
      {"kind": "rigid", "shape": {"kind": "convex_hull", "mesh": "m"},
       "repeat": {"kind": "grid", "count": [100, 10, 100], "spacing": [2, 2, 2]}}]})");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().code, Error::Code::CapacityExceeded);
}

TEST(SceneParse, SurvivesDamagedScenes) {
  const std::vector<std::string> splices = {"0",     "-1", "1e38", "-1e-40", "1e300",   "null",     "true",   "\"\"",
                                            "\"x\"", "[]", "[0]",  "{}",     "[1,2,3]", "65536",    "2.5",    ",",
                                            ":",     "}",  "]",    "NaN",    "\"[*]\"", "\"kind\"", "1000000"};
  std::mt19937 random(11);
  int good = 0, bad = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string json = good_scenes()[random() % good_scenes().size()].json;
    // Values lie between these marks: most damage leaves the syntax whole and reaches the readers.
    const std::size_t from = json.find_first_of(":,[", random() % json.size());
    if (from == std::string::npos) continue;
    const std::size_t to = json.find_first_of(",]}", from + 1);
    json.replace(from + 1, to == std::string::npos ? 0 : to - from - 1, splices[random() % splices.size()]);
    SceneErrors errors;
    const Result<Scene> scene = parse_scene(json, "s.json", &errors);
    (scene.ok() ? good : bad)++;
    EXPECT_EQ(scene.ok(), errors.empty());
    for (const Error& error : errors.list) {
      EXPECT_EQ(error.file, "s.json") << json;
      EXPECT_GE(error.line, 1) << json;
      EXPECT_FALSE(error.message.empty()) << json;
    }
  }
  EXPECT_GT(good, 100);
  EXPECT_GT(bad, 1000);
}

TEST(SceneInclude, AddsAndOverrides) {
  const TempFolder folder;
  folder.write("sub/common.json", R"({"title": "common", "frames": 5, "world": {"dt": 0.5, "substeps": 3},
      "materials": {"goo": {"density": 7}}, "bodies": [{"kind": "ground"}]})");
  folder.write("main.json", R"({"include": ["sub/common.json"], "title": "main", "world": {"dt": 0.25},
      "bodies": [{"kind": "rigid", "material": "goo", "shape": {"kind": "box"}}]})");
  const Result<Scene> scene = load_scene(folder / "main.json");
  ASSERT_TRUE(scene.ok()) << scene.error().to_string();
  EXPECT_EQ(scene->title, "main");
  EXPECT_EQ(scene->frames, 5);
  EXPECT_EQ(scene->world.dt, 0.25f);
  EXPECT_EQ(scene->world.substeps, 3);
  EXPECT_EQ(scene->bodies.size(), 2u);
  EXPECT_EQ(rigid(*scene, 1).density, 7);
  EXPECT_EQ(scene->files.size(), 2u);
}

TEST(SceneInclude, ReadsAFileOnce) {
  const TempFolder folder;
  folder.write("d.json", R"({"bodies": [{"kind": "ground"}]})");
  folder.write("b.json", R"({"include": ["d.json"]})");
  folder.write("c.json", R"({"include": ["./d.json"]})");
  folder.write("a.json", R"({"include": ["b.json", "c.json"]})");
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().to_string();
  EXPECT_EQ(scene->bodies.size(), 1u);
}

TEST(SceneInclude, TellsTheChainOfACircle) {
  const TempFolder folder;
  folder.write("a.json", "{\"title\": \"a\",\n\"include\": [\"b.json\"]}");
  folder.write("b.json", R"({"include": ["c.json"]})");
  folder.write("c.json", "{\n\n\"include\": [\"a.json\"]}");
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().file, (folder / "c.json").string());
  EXPECT_EQ(scene.error().line, 3);
  EXPECT_EQ(scene.error().field, "include[0]");
  const std::string chain = (folder / "a.json").string() + " -> " + (folder / "b.json").string() + " -> " +
                            (folder / "c.json").string() + " -> " + (folder / "a.json").string();
  EXPECT_NE(scene.error().message.find(chain), std::string::npos) << scene.error().message;
}

TEST(SceneInclude, BoundsTheDepth) {
  const TempFolder folder;
  for (int i = 0; i < 40; ++i) {
    folder.write("f" + std::to_string(i) + ".json", R"({"include": ["f)" + std::to_string(i + 1) + R"(.json"]})");
  }
  folder.write("f40.json", "{}");
  const Result<Scene> scene = load_scene(folder / "f0.json");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().code, Error::Code::CapacityExceeded);
  folder.write("f10.json", "{}");
  EXPECT_TRUE(load_scene(folder / "f0.json").ok());
}

TEST(SceneInclude, TellsWhatIsMissing) {
  const TempFolder folder;
  folder.write("a.json", R"({"include": ["nowhere.json"]})");
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_FALSE(scene.ok());
  EXPECT_EQ(scene.error().code, Error::Code::NotFound);
  EXPECT_EQ(scene.error().field, "include[0]");
  EXPECT_EQ(load_scene(folder / "other.json").error().code, Error::Code::NotFound);
  EXPECT_FALSE(load_scene(folder.path()).ok());  // a folder is no scene
}

TEST(SceneMeshes, ComeFromFilesBesideTheScene) {
  const TempFolder folder;
  folder.write("parts/tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  folder.write("a.json", R"({"meshes": {"t": {"kind": "file", "path": "parts/tet.obj", "scale": 2}},
      "bodies": [{"kind": "rigid", "shape": {"kind": "convex_hull", "mesh": "t"}}]})");
  const Result<Scene> scene = load_scene(folder / "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().to_string();
  EXPECT_EQ(scene->meshes.at("t").surface->faces.size(), 4u);
  EXPECT_EQ(scene->meshes.at("t").surface->bounds().upper, (Vec3{2, 2, 2}));
}

TEST(SceneMeshes, ThatCannotBeReadAreNamedWithTheirField) {
  const TempFolder folder;
  folder.write("bad.obj", "v 0 0 0\nv 1 0 0\nf 1 2 99\n");
  folder.write("a.json",
               "{\"meshes\": {\n\"t\": {\"kind\": \"file\", \"path\": \"bad.obj\"},\n"
               "\"u\": {\"kind\": \"file\", \"path\": \"none.obj\"}}}");
  SceneErrors errors;
  ASSERT_FALSE(load_scene(folder / "a.json", &errors).ok());
  ASSERT_EQ(errors.list.size(), 2u) << errors.to_string();
  EXPECT_EQ(errors.list[0].field, "meshes.t");
  EXPECT_EQ(errors.list[0].line, 2);
  EXPECT_NE(errors.list[0].message.find("bad.obj"), std::string::npos);
  EXPECT_EQ(errors.list[1].field, "meshes.u");
  EXPECT_NE(errors.list[1].message.find("none.obj"), std::string::npos);
}

}  // namespace
}  // namespace pliant
