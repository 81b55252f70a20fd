// A small picture of every scene, compared with one that was looked at and committed.
//
//   PLIANT_UPDATE_PICTURES=1 build/release/tests/test_render --gtest_filter='*GoldenPicture*'
//
// writes them anew. Look at each before committing it.
#include <algorithm>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "render/picture_support.h"
#include "render/scene_renderer.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Frames before chance has had its say: pictures are tested here, not the physics of a heap.
int frame_of(const std::string& scene) {
  static const std::map<std::string, int> frames = {{"brazilian_disk", 130},
                                                    {"glass_cell", 33},
                                                    {"panel", 50},
                                                    {"gate", 34},
                                                    {"trestle", 20},
                                                    {"tear_metal", 120},
                                                    {"three_point", 60},
                                                    {"twist", 50},
                                                    {"wall_2k", 7},
                                                    {"wall_10k", 4},
                                                    {"arch", 10},
                                                    {"blast", 64},
                                                    {"dominoes", 60},
                                                    {"machine", 20},
                                                    {"pile", 12},
                                                    {"newtons_cradle", 12},
                                                    {"pyramid", 60},
                                                    {"hillside", 15},
                                                    {"tear", 36},
                                                    {"gear", 40},
                                                    {"heterogeneous_cylinder", 45},
                                                    {"head_drop", 30},
                                                    {"tires", 52},
                                                    {"pumpkins", 26}};
  const auto found = frames.find(scene);
  return found == frames.end() ? 15 : found->second;
}

fs::path scene_file(const std::string& name) { return fs::path(PLIANT_SCENES_DIR) / (name + ".json"); }

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(PLIANT_SCENES_DIR)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Image picture_of(const Scene& scene, int frame) {
  ScenePlayer player = ScenePlayer::create(scene).value();
  for (int i = 0; i < frame; ++i) player.step();
  SceneRenderer renderer = SceneRenderer::create(scene, {.width = 320, .height = 180}).value();
  return renderer.render(player).value();
}

/// Fewer shades make small files; the difference is far below what the comparison lets pass.
Image with_fewer_shades(Image image) {
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>((value & 0xfc) | 2);
  return image;
}

class GoldenPicture : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, GoldenPicture, ::testing::ValuesIn(scene_names()),
                         [](const auto& param) { return param.param; });

TEST_P(GoldenPicture, LooksAsItDid) {
  const fs::path golden = fs::path(PLIANT_GOLDEN_DIR) / (GetParam() + ".png");
  const Image now = picture_of(load_scene(scene_file(GetParam())).value(), frame_of(GetParam()));
  if (std::getenv("PLIANT_UPDATE_PICTURES") != nullptr) {
    ASSERT_TRUE(write_png(with_fewer_shades(now), golden).ok());
    return;
  }
  ASSERT_TRUE(fs::exists(golden)) << "there is no picture of this scene yet: see the top of " << __FILE__;
  const Difference d = difference(now, read_png(golden));
  const fs::path seen = fs::temp_directory_path() / ("pliant_" + GetParam() + ".png");
  if (d.noticeable()) write_png(now, seen).require();
  EXPECT_FALSE(d.noticeable()) << d.to_string() << "; see " << seen << " and " << golden;
}

/// The comparison itself: each of these must be noticed.
class SpoiledPicture : public ::testing::Test {
 protected:
  Scene scene_ = load_scene(scene_file("dominoes")).value();
  Image right_ = picture_of(scene_, 0);
};

TEST_F(SpoiledPicture, IsTheSameUnspoiled) {
  EXPECT_FALSE(difference(right_, picture_of(scene_, 0)).noticeable());
  EXPECT_FALSE(difference(right_, with_fewer_shades(right_)).noticeable());
}

TEST_F(SpoiledPicture, ShowsThatABodyIsMissing) {
  for (const std::string name : {"second[10]", "ball"}) {
    Scene less = scene_;
    std::erase_if(less.bodies, [&](const SceneBody& body) { return body_name(body.def) == name; });
    ASSERT_EQ(less.bodies.size() + 1, scene_.bodies.size());
    less.events.clear();
    const Difference d = difference(right_, picture_of(less, 0));
    EXPECT_TRUE(d.noticeable()) << name << ": " << d.to_string();
  }
}

TEST_F(SpoiledPicture, ShowsThatShadowsAreMissing) {
  Scene bright = scene_;
  for (SceneLight& light : bright.lights) light.shadows = false;
  const Difference d = difference(right_, picture_of(bright, 0));
  EXPECT_TRUE(d.noticeable()) << d.to_string();
}

TEST_F(SpoiledPicture, ShowsThatAColorIsWrong) {
  Scene painted = scene_;
  for (SceneBody& body : painted.bodies) {
    if (body_name(body.def) == "first[20]") std::get<RigidDef>(body.def).appearance.color = {0.1f, 0.6f, 0.1f};
  }
  const Difference d = difference(right_, picture_of(painted, 0));
  EXPECT_TRUE(d.noticeable()) << d.to_string();
}

TEST_F(SpoiledPicture, ShowsThatTheSkyIsDark) {
  Scene night = scene_;
  std::erase_if(night.lights, [](const SceneLight& light) { return light.kind == SceneLight::Kind::Ambient; });
  EXPECT_TRUE(difference(right_, picture_of(night, 0)).noticeable());
}

TEST(Rendering, DoesNotChangeTheSimulation) {
  const Scene scene = load_scene(scene_file("blast")).value();
  ScenePlayer seen = ScenePlayer::create(scene).value(), unseen = ScenePlayer::create(scene).value();
  SceneRenderer renderer = SceneRenderer::create(scene, {.width = 64, .height = 48}).value();
  for (int i = 0; i < 90; ++i) {
    ASSERT_TRUE(renderer.render(seen).ok());
    ASSERT_EQ(seen.step().hash, unseen.step().hash) << "frame " << i;
  }
}

}  // namespace
}  // namespace pliant
