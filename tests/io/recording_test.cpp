// Recordings, read back by a reader of their own: the GLB's chunks by hand, its text by nlohmann::json.
#include "pliant/recording.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "io/recording_sink.h"
#include "io/scene_temp.h"
#include "pliant/generators.h"
#include "pliant/mesh_io.h"
#include "pliant/world.h"

namespace pliant {
namespace {

using nlohmann::json;

std::string slurp(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// The little of glTF that a recording uses.
class GlbReader {
 public:
  explicit GlbReader(const std::filesystem::path& file) {
    const std::string bytes = slurp(file);
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    std::uint32_t json_length = 0;
    std::memcpy(&json_length, bytes.data() + 12, 4);
    document = json::parse(bytes.substr(20, json_length));
    data_ = bytes.substr(20 + json_length + 8);
  }

  std::vector<float> floats(int accessor) const {
    const json& a = document["accessors"][static_cast<std::size_t>(accessor)];
    EXPECT_EQ(a["componentType"], 5126);
    const json& view = document["bufferViews"][a["bufferView"].get<std::size_t>()];
    const std::map<std::string, std::size_t> sizes = {{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}};
    std::vector<float> out(a["count"].get<std::size_t>() * sizes.at(a["type"]));
    const std::size_t offset = view.value("byteOffset", std::size_t{0}) + a.value("byteOffset", std::size_t{0});
    std::memcpy(out.data(), data_.data() + offset, out.size() * sizeof(float));
    return out;
  }

  std::vector<std::uint32_t> indices(int accessor) const {
    const json& a = document["accessors"][static_cast<std::size_t>(accessor)];
    const json& view = document["bufferViews"][a["bufferView"].get<std::size_t>()];
    EXPECT_EQ(a["componentType"], 5123);
    std::vector<std::uint16_t> out(a["count"].get<std::size_t>());
    const std::size_t offset = view.value("byteOffset", std::size_t{0}) + a.value("byteOffset", std::size_t{0});
    std::memcpy(out.data(), data_.data() + offset, out.size() * sizeof(std::uint16_t));
    return {out.begin(), out.end()};
  }

  std::size_t node(const std::string& name) const {
    for (std::size_t i = 0; i < document["nodes"].size(); ++i) {
      if (document["nodes"][i].value("name", "") == name) return i;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }

  struct Track {
    std::vector<float> times, values;
    std::string interpolation;
    bool empty() const { return times.empty(); }
    /// `n` numbers at a time, as a viewer would have them (without the normalisation of rotations).
    std::vector<float> at(float t, std::size_t n) const {
      std::size_t i = 0;
      while (i + 1 < times.size() && times[i + 1] <= t) ++i;
      const std::size_t j = std::min(i + 1, times.size() - 1);
      float u = j == i ? 0 : (t - times[i]) / (times[j] - times[i]);
      u = interpolation == "STEP" ? 0 : std::min(std::max(u, 0.0f), 1.0f);
      std::vector<float> out;
      for (std::size_t k = 0; k < n; ++k) out.push_back(values[i * n + k] * (1 - u) + values[j * n + k] * u);
      return out;
    }
  };
  Track track(std::size_t node, const std::string& path) const {
    if (!document.contains("animations")) return {};
    const json& animation = document["animations"][0];
    for (const json& channel : animation["channels"]) {
      if (channel["target"]["node"] != node || channel["target"]["path"] != path) continue;
      const json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
      return {floats(sampler["input"]), floats(sampler["output"]), sampler.value("interpolation", "LINEAR")};
    }
    return {};
  }

  json document;

 private:
  std::string data_;
};

RigidDef body(std::string name, Shape shape, Vec3 position) {
  RigidDef def;
  def.name = std::move(name);
  def.shape = std::move(shape);
  def.position = position;
  return def;
}

TEST(GlbRecording, ShowsWhatTheWorldDid) {
  const TempFolder folder;
  World world;
  world.add(GroundDef{});
  const BodyId ball = world.add(body("ball", Sphere{0.25f}, {0, 2, 0})).value();
  RigidDef spinning = body("spinning", Box{{1, 0.2f, 0.5f}}, {3, 5, 0});
  spinning.angular_velocity = {1, 4, 0.5f};
  spinning.velocity = {0.5f, 2, 0};
  const BodyId box = world.add(spinning).value();
  world.commit_edits();

  Recorder recorder = Recorder::create(folder / "run.glb").value();
  std::vector<std::pair<float, std::map<std::string, Transform>>> seen;
  for (int i = 0; i <= 90; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    seen.emplace_back(static_cast<float>(world.time()),
                      std::map<std::string, Transform>{{"ball", world.state(ball)->world_from_body},
                                                       {"spinning", world.state(box)->world_from_body}});
    world.step();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run.glb"));
  ASSERT_TRUE(recorder.finish().ok());

  const GlbReader glb(folder / "run.glb");
  EXPECT_EQ(glb.document["nodes"].size(), 3u);
  EXPECT_TRUE(glb.track(glb.node("ground"), "translation").empty());  // it never moves
  for (const char* name : {"ball", "spinning"}) {
    const auto path = glb.track(glb.node(name), "translation"), turn = glb.track(glb.node(name), "rotation");
    ASSERT_FALSE(path.empty());
    for (const auto& [time, places] : seen) {
      const Transform& place = places.at(name);
      const std::vector<float> p = path.at(time, 3);
      EXPECT_LT(length(Vec3{p[0], p[1], p[2]} - place.position), 3e-4f) << name << " " << time;
      if (turn.empty()) continue;
      const std::vector<float> q = turn.at(time, 4);
      const Quat r = Quat{q[0], q[1], q[2], q[3]}.normalized();
      const float c =
          std::abs(r.x * place.rotation.x + r.y * place.rotation.y + r.z * place.rotation.z + r.w * place.rotation.w);
      EXPECT_GT(c, 1 - 1e-5f) << name << " " << time;
    }
  }
  EXPECT_FALSE(glb.track(glb.node("spinning"), "rotation").empty());
}

TEST(GlbRecording, SharesMeshesAndMaterials) {
  const TempFolder folder;
  World world;
  for (int i = 0; i < 20; ++i) {
    RigidDef def = body("b" + std::to_string(i), Box{{0.5f, 0.5f, 0.5f}}, {2.0f * static_cast<float>(i), 5, 0});
    if (i % 2 == 1) def.appearance.color = {1, 0, 0};
    world.add(def);
  }
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run.glb").value();
  recorder.add_frame(world);
  ASSERT_TRUE(recorder.finish().ok());
  const GlbReader glb(folder / "run.glb");
  EXPECT_EQ(glb.document["nodes"].size(), 20u);
  ASSERT_EQ(glb.document["meshes"].size(), 2u);
  EXPECT_EQ(glb.document["materials"].size(), 2u);
  EXPECT_EQ(glb.document["meshes"][0]["primitives"][0]["attributes"]["POSITION"],
            glb.document["meshes"][1]["primitives"][0]["attributes"]["POSITION"]);
}

TEST(GlbRecording, LeavesOutKeysThatSayNothing) {
  const TempFolder folder;
  WorldDef def;
  def.gravity = {};
  World world(def);
  world.add(body("still", Box{}, {0, 0, 0}));
  RigidDef gliding = body("gliding", Box{}, {0, 5, 0});
  gliding.velocity = {1, 0, 0};
  world.add(gliding);
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run.glb").value();
  for (int i = 0; i < 200; ++i) recorder.add_frame(world), world.step();
  ASSERT_TRUE(recorder.finish().ok());
  const GlbReader glb(folder / "run.glb");
  EXPECT_TRUE(glb.track(glb.node("still"), "translation").empty());
  const auto path = glb.track(glb.node("gliding"), "translation");
  EXPECT_LT(path.times.size(), 10u);  // a straight line
  EXPECT_NEAR(path.at(2, 3)[0], 2, 1e-3);
}

TEST(GlbRecording, BodiesComeAndGo) {
  const TempFolder folder;
  World world;
  const BodyId old = world.add(body("old", Sphere{}, {0, 50, 0})).value();
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run.glb").value();
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    if (i == 20) world.add(body("young", Sphere{}, {5, 50, 0}));
    if (i == 40) world.remove(old);
    world.step();
  }
  ASSERT_TRUE(recorder.finish().ok());
  const GlbReader glb(folder / "run.glb");
  const float dt = world.def().dt;
  const auto young = glb.track(glb.node("young"), "scale"), gone = glb.track(glb.node("old"), "scale");
  EXPECT_EQ(young.interpolation, "STEP");
  EXPECT_EQ(young.at(20.5f * dt, 3)[0], 0);
  EXPECT_EQ(young.at(21.5f * dt, 3)[0], 1);
  EXPECT_EQ(gone.at(40.5f * dt, 3)[0], 1);
  EXPECT_EQ(gone.at(41.5f * dt, 3)[0], 0);
  EXPECT_EQ(glb.document["nodes"][glb.node("young")]["scale"][0], 0);  // before the animation begins
}

/// A triangle that is pulled about, as a cloth would be.
struct WobblingTriangle {
  std::shared_ptr<TriMesh> mesh = std::make_shared<TriMesh>();
  std::vector<Vec3> vertices, velocities;

  WobblingTriangle() {
    mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    mesh->normals = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    mesh->faces = {{0, 1, 2}};
  }
  RenderSurface at(float time, std::uint32_t revision = 0) {
    vertices = {{0, 0, time}, {1 + time, 0, 0}, {0, 1, std::sin(time)}};
    velocities = {{0, 0, 1}, {1, 0, 0}, {0, 0, std::cos(time)}};
    RenderSurface surface;
    surface.body = {0, 1};
    surface.name = "cloth";
    surface.mesh = mesh;
    surface.revision = revision;
    surface.vertices = vertices;
    surface.velocities = velocities;
    return surface;
  }
};

TEST(GlbRecording, DeformingSurfacesAreMorphTargets) {
  const TempFolder folder;
  WobblingTriangle cloth;
  World world;  // for its time
  auto sink = create_glb_sink(folder / "run.glb").value();
  for (int i = 0; i < 4; ++i) {
    const RenderSurface surface = cloth.at(static_cast<float>(i));
    if (i > 0) world.step(1);
    ASSERT_TRUE(sink->add_frame(world, {&surface, 1}).ok());
  }
  ASSERT_TRUE(sink->finish().ok());
  const GlbReader glb(folder / "run.glb");
  const json& primitive = glb.document["meshes"][0]["primitives"][0];
  ASSERT_EQ(primitive["targets"].size(), 4u);
  const std::vector<float> base = glb.floats(primitive["attributes"]["POSITION"]);
  const auto weights = glb.track(0, "weights");
  for (int i = 0; i < 4; ++i) {
    // What a viewer shows at that time: the base and the weighted displacements.
    std::vector<float> shown = base;
    const std::vector<float> w = weights.at(static_cast<float>(i), 4);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::vector<float> d = glb.floats(primitive["targets"][k]["POSITION"]);
      for (std::size_t c = 0; c < shown.size(); ++c) shown[c] += w[k] * d[c];
    }
    const RenderSurface truth = cloth.at(static_cast<float>(i));
    for (std::size_t v = 0; v < 3; ++v) {
      EXPECT_LT(length(Vec3{shown[3 * v], shown[3 * v + 1], shown[3 * v + 2]} - truth.vertices[v]), 1e-5f) << i;
    }
  }
}

TEST(GlbRecording, AnotherMeshIsAnotherNode) {
  const TempFolder folder;
  WobblingTriangle cloth;
  World world;  // for its time
  auto sink = create_glb_sink(folder / "run.glb").value();
  for (int i = 0; i < 6; ++i) {
    const RenderSurface surface = cloth.at(static_cast<float>(i), i < 3 ? 0 : 1);
    if (i > 0) world.step(1);
    ASSERT_TRUE(sink->add_frame(world, {&surface, 1}).ok());
  }
  ASSERT_TRUE(sink->finish().ok());
  const GlbReader glb(folder / "run.glb");
  ASSERT_EQ(glb.document["nodes"].size(), 2u);
  EXPECT_EQ(glb.track(0, "scale").at(2.5f, 3)[0], 1);
  EXPECT_EQ(glb.track(0, "scale").at(3.5f, 3)[0], 0);
  EXPECT_EQ(glb.track(1, "scale").at(2.5f, 3)[0], 0);
  EXPECT_EQ(glb.track(1, "scale").at(3.5f, 3)[0], 1);
}

TEST(GlbRecording, KeepsTheColoursOfVertices) {
  const TempFolder folder;
  WobblingTriangle cloth;
  const std::vector<Vec3> colors = {{1, 0, 0}, {0, 0.5f, 0}, {0, 0, 0.25f}};
  World world;
  auto sink = create_glb_sink(folder / "run.glb").value();
  {
    const std::vector<Vec3> publishers = colors;  // gone before the recording is
    RenderSurface surface = cloth.at(0);
    surface.colors = publishers;
    ASSERT_TRUE(sink->add_frame(world, {&surface, 1}).ok());
  }
  ASSERT_TRUE(sink->finish().ok());
  const GlbReader glb(folder / "run.glb");
  const json& primitive = glb.document["meshes"][0]["primitives"][0];
  EXPECT_EQ(glb.floats(primitive["attributes"]["COLOR_0"]), (std::vector<float>{1, 0, 0, 0, 0.5f, 0, 0, 0, 0.25f}));
  // They multiply the colour of the material, so that is white.
  const json& material = glb.document["materials"][primitive["material"].get<std::size_t>()];
  EXPECT_EQ(material["pbrMetallicRoughness"]["baseColorFactor"], (json{1.0, 1.0, 1.0, 1.0}));
}

TEST(VtuRecording, HasAFilePerFrameAndOneForWhatStandsStill) {
  const TempFolder folder;
  World world;
  world.add(GroundDef{});
  world.add(body("ball", Sphere{0.25f}, {0, 2, 0}));
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run").value();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    world.step();
  }
  ASSERT_TRUE(recorder.finish().ok());
  const std::string pvd = slurp(folder / "run/run.pvd");
  std::size_t entries = 0;
  for (std::size_t at = pvd.find("<DataSet"); at != std::string::npos; at = pvd.find("<DataSet", at + 1)) ++entries;
  EXPECT_EQ(entries, 20u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/frame_000009.vtu"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/static_000.vtu"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/static_001.vtu"));
}

TEST(VtuRecording, WritesWhatStandsStillAgainWhenItChanges) {
  const TempFolder folder;
  World world;
  RigidDef wall = body("wall", Box{}, {0, 0, 0});
  wall.motion = Motion::Static;
  const BodyId id = world.add(wall).value();
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run").value();
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    if (i == 3) world.set_transform(id, {{5, 0, 0}, {}});
    if (i == 6) world.remove(id);
    world.step();
  }
  ASSERT_TRUE(recorder.finish().ok());
  const std::string pvd = slurp(folder / "run/run.pvd");
  const auto count = [&](const std::string& name) {
    std::size_t n = 0;
    for (std::size_t at = pvd.find(name); at != std::string::npos; at = pvd.find(name, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("static_000.vtu"), 4u);
  EXPECT_EQ(count("static_001.vtu"), 3u);
  EXPECT_EQ(count("frame_"), 9u);
}

double volume_of(const TriMesh& surface) {
  double six = 0;
  for (const Face& f : surface.faces) {
    six += static_cast<double>(dot(surface.vertices[f[0]], cross(surface.vertices[f[1]], surface.vertices[f[2]])));
  }
  return six / 6;
}

TEST(VtuRecording, HoldsWhatPiecesShowBesideTheirTets) {
  const TempFolder folder;
  World world;
  SolidDef def{.mesh = tet_box({2, 2, 0.3f}, 5, 5, 1)};
  def.material.young_modulus = 4e6f, def.material.strength = 3e4f;
  def.position = {0, 1, 0};
  def.splinters =
      std::make_shared<const Splinters>(make_splinters(def.mesh, {.pattern = GlassSplinters{.size = 0.3f}}).value());
  const BodyId wall = world.add(def).value();
  RigidDef cube = body("cube", Box{{0.5f, 0.5f, 0.5f}}, {0, 1, 0.6f});
  cube.density = 16000, cube.velocity = {0, 0, -30};
  world.add(cube);
  world.commit_edits();
  Recorder recorder = Recorder::create(folder / "run").value();
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    if (i < 7) world.step();
  }
  ASSERT_TRUE(recorder.finish().ok());

  double volume = 0;
  std::size_t pieces = 0;
  for (const BodyId id : world.bodies()) {
    if (!(world.ancestor(id) == wall)) continue;
    TetMesh now = (*world.solid_def(id))->mesh;
    now.nodes.assign(world.node_positions(id)->begin(), world.node_positions(id)->end());
    volume += now.volume();
    ++pieces;
  }
  ASSERT_GT(pieces, 5u);
  // Splinters are closed, fill the tets, and go where these go.
  const TriMesh first = load_mesh(folder / "run/look_000000.vtu")->surface;
  const TriMesh last = load_mesh(folder / "run/look_000007.vtu")->surface;
  EXPECT_NEAR(volume_of(first), def.mesh.volume(), 1e-4);
  EXPECT_NEAR(volume_of(last), volume, 0.02 * volume);
  EXPECT_GT(last.faces.size(), first.faces.size());  // what cracks laid open
  const std::string pvd = slurp(folder / "run/run.pvd");
  EXPECT_NE(pvd.find("part=\"2\" file=\"look_000007.vtu\""), std::string::npos);
  EXPECT_EQ(load_mesh(folder / "run/frame_000007.vtu")->solid.tets.size(), def.mesh.tets.size());
}

class EitherRecording : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, EitherRecording, ::testing::Values("run.glb", "run"));

TEST_P(EitherRecording, LeavesNothingUnlessFinished) {
  const TempFolder folder;
  World world;
  world.add(body("ball", Sphere{}, {0, 2, 0}));
  world.commit_edits();
  {
    Recorder first = Recorder::create(folder / GetParam()).value();
    ASSERT_TRUE(first.add_frame(world).ok());
    ASSERT_TRUE(first.finish().ok());
    EXPECT_FALSE(first.finish().ok());
    EXPECT_FALSE(first.add_frame(world).ok());
  }
  const auto time = std::filesystem::last_write_time(folder / GetParam());
  {
    Recorder second = Recorder::create(folder / GetParam()).value();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(second.add_frame(world).ok());
      world.step();
    }
  }
  EXPECT_EQ(std::filesystem::last_write_time(folder / GetParam()), time);
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    (void)entry;
    ++entries;
  }
  EXPECT_EQ(entries, 1u);
}

TEST_P(EitherRecording, RefusesWhatCannotBeWritten) {
  const TempFolder folder;
  EXPECT_EQ(Recorder::create(folder / "missing" / GetParam()).error().code, Error::Code::CannotWrite);
  World world;
  Recorder empty = Recorder::create(folder / GetParam()).value();
  EXPECT_FALSE(empty.finish().ok());
  Recorder recorder = Recorder::create(folder / GetParam()).value();
  ASSERT_TRUE(recorder.add_frame(world).ok());
  EXPECT_FALSE(recorder.add_frame(world).ok());  // the same time twice
}

/// A sheet that is pulled apart, from before its first tear to long after it.
void record_tearing(const std::filesystem::path& target, std::size_t& nodes) {
  World world({.gravity = {}});
  ClothDef def{.shape = ClothSheet{1, 1, 8, 8},
               .held = {{.nodes = NodeHalfSpace{{-1, 0, 0}, 0.499f}}, {.nodes = NodeHalfSpace{{1, 0, 0}, 0.499f}}}};
  def.material.strength = 50;
  const BodyId cloth = world.add(def).value();
  world.commit_edits();
  world.drive(cloth, NodeHalfSpace{{1, 0, 0}, 0.499f}, Vec3{0.5f, 0, 0}).require();
  Recorder recorder = Recorder::create(target).value();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(recorder.add_frame(world).ok());
    world.step();
  }
  ASSERT_TRUE(recorder.add_frame(world).ok());
  ASSERT_TRUE(recorder.finish().ok());
  nodes = world.node_positions(cloth)->size();
}

TEST(GlbRecording, HoldsClothThatTears) {
  const TempFolder folder;
  std::size_t nodes = 0;
  ASSERT_NO_FATAL_FAILURE(record_tearing(folder / "run.glb", nodes));
  ASSERT_GT(nodes, 81u);
  const GlbReader glb(folder / "run.glb");
  ASSERT_GT(glb.document["meshes"].size(), 1u);
  for (const json& mesh : glb.document["meshes"]) {
    const json& primitive = mesh["primitives"][0];
    const json& accessors = glb.document["accessors"];
    const auto count = accessors[primitive["attributes"]["POSITION"].get<std::size_t>()]["count"].get<std::size_t>();
    const json& indices = accessors[primitive["indices"].get<std::size_t>()];
    EXPECT_EQ(indices["count"], 3 * 128);
    const std::vector<std::uint32_t> corners = glb.indices(primitive["indices"]);
    EXPECT_EQ(std::set<std::uint32_t>(corners.begin(), corners.end()).size(), count);
    EXPECT_LT(*std::max_element(corners.begin(), corners.end()), count);
  }
}

TEST(VtuRecording, HoldsClothThatTears) {
  const TempFolder folder;
  std::size_t nodes = 0;
  ASSERT_NO_FATAL_FAILURE(record_tearing(folder / "run", nodes));
  ASSERT_GT(nodes, 81u);
  const auto has_points = [&](const std::string& frame, std::size_t count) {
    return slurp(folder / "run" / frame).find(fmt::format("NumberOfPoints=\"{}\"", count)) != std::string::npos;
  };
  EXPECT_TRUE(has_points("frame_000000.vtu", 81));
  EXPECT_TRUE(has_points("frame_000040.vtu", nodes));
}

TEST(VtuRecording, NeverReplacesAFolderOfOtherFiles) {
  const TempFolder folder;
  folder.write("mine/thesis.txt", "years of work");
  EXPECT_FALSE(Recorder::create(folder / "mine").ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "mine/thesis.txt"));
}

}  // namespace
}  // namespace pliant
