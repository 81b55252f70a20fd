// Values of solids as colours: what theory calls stressed is hot, what it calls free is pale.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "render/offscreen_context.h"
#include "render/renderer.h"
#include "render/scene_content.h"
#include "render/scene_renderer.h"

namespace pliant {
namespace {

constexpr int kWidth = 320, kHeight = 180;

/// Red over blue: near 1 for what is pale or grey, more for what is hot, less for what is blue.
double warmth(const Image& image, const View& view, Vec3 p) {
  const Vec3 c = view.axes().coordinates(p, view.eye);
  const float half = 0.5f * static_cast<float>(image.height) / view.tan_half();
  const int x = static_cast<int>(0.5f * static_cast<float>(image.width) + half * c.x / -c.z);
  const int y = static_cast<int>(0.5f * static_cast<float>(image.height) - half * c.y / -c.z);
  double red = 0, blue = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) red += image.at(x + dx, y + dy)[0], blue += image.at(x + dx, y + dy)[2];
  }
  return red / std::max(blue, 1.0);
}

/// A beam of 2 m held at its left end, which has come to rest, seen from the front; and a red box far below its tip.
class BeamPicture : public ::testing::Test {
 protected:
  void SetUp() override {
    scene_ = parse_scene(R"({
      "camera": {"from": [0, 0, 4], "look_at": [0, 0, 0]},
      "world": {"dt": 0.05},
      "bodies": [
        {"kind": "solid", "name": "beam", "mesh": {"box": [2, 0.3, 0.3], "cell": 0.1},
         "material": {"density": 1000, "young_modulus": 1e7, "poisson_ratio": 0.3, "mass_damping": 20},
         "held": [{"nodes": {"half_space": {"normal": [-1, 0, 0], "offset": 0.99}}}]},
        {"kind": "rigid", "name": "box", "motion": "static", "shape": {"kind": "box", "size": [0.5, 0.5, 0.5]},
         "position": [0.5, -0.9, 0], "color": [0.8, 0.02, 0.02]}
      ]})")
                 .value();
    player_.emplace(ScenePlayer::create(scene_).value());
    for (int i = 0; i < 60; ++i) player_->step();
  }
  Image draw(ColorBy by) {
    PictureSettings settings{kWidth, kHeight, by};
    settings.legend = false;
    return SceneRenderer::create(scene_, settings).value().render(*player_).value();
  }
  double at(const Image& image, Vec3 rest) const {
    // Where the node is now that was nearest to the point at rest.
    const BodyId beam = player_->body("beam");
    const TetMesh& mesh = (*player_->world().solid_def(beam))->mesh;
    const auto nearest = std::min_element(mesh.nodes.begin(), mesh.nodes.end(), [&](Vec3 a, Vec3 b) {
      return length_squared(a - rest) < length_squared(b - rest);
    });
    const auto nodes = *player_->world().node_positions(beam);
    return warmth(image, view_, nodes[static_cast<std::size_t>(nearest - mesh.nodes.begin())]);
  }

  Scene scene_;
  std::optional<ScenePlayer> player_;
  View view_{{0, 0, 4}, {0, 0, 0}, {0, 1, 0}, 45};
};

TEST_F(BeamPicture, StressIsHotAtTheRootAndColdAtTheTip) {
  const Image image = draw(ColorBy::Stress);
  // The moment falls with the square of the distance to the tip: a quarter in the middle.
  const double root = at(image, {-0.9f, 0.1f, 0.15f}), middle = at(image, {0, 0.1f, 0.15f}),
               tip = at(image, {0.9f, 0.1f, 0.15f});
  EXPECT_GT(root, 1.5);
  EXPECT_LT(tip, 1.15);
  EXPECT_GT(root, middle + 0.5);
  EXPECT_GT(middle, tip + 0.1);
}

TEST_F(BeamPicture, TensionIsAboveAndNotBelow) {
  const Image image = draw(ColorBy::Tension);
  EXPECT_GT(at(image, {-0.9f, 0.1f, 0.15f}), 1.4);
  EXPECT_LT(at(image, {-0.8f, -0.1f, 0.15f}), 1.1);
  EXPECT_LT(at(image, {0.9f, 0.1f, 0.15f}), 1.1);
}

TEST_F(BeamPicture, NothingHasFlownInAnElasticBeam) {
  const Image image = draw(ColorBy::PlasticStrain);
  for (const float x : {-0.9f, -0.5f, 0.0f, 0.9f}) EXPECT_LT(at(image, {x, 0.1f, 0.15f}), 1.15) << x;
  EXPECT_GT(at(draw(ColorBy::Strain), {-0.9f, 0.1f, 0.15f}), 1.5);
}

TEST_F(BeamPicture, BodiesWithoutValuesAreGrey) {
  const Vec3 box{0.5f, -0.9f, 0.25f};
  EXPECT_GT(warmth(draw(ColorBy::Material), view_, box), 2.5);
  EXPECT_GT(warmth(draw(ColorBy::Speed), view_, box), 2.5);  // it is static: speed has nothing to say about it
  EXPECT_NEAR(warmth(draw(ColorBy::Stress), view_, box), 1, 0.2);
}

TEST(ValueScale, HoldsTheStressOfAHangingBar) {
  // At its top a bar of 2 m bears its own weight: density g L = 19.6 kPa, and at the rim of what holds it a little
  // more.
  const Scene scene = parse_scene(R"({"world": {"dt": 0.05}, "bodies": [
      {"kind": "solid", "mesh": {"box": [0.3, 2, 0.3], "cell": 0.1},
       "material": {"density": 1000, "young_modulus": 1e6, "poisson_ratio": 0, "mass_damping": 20},
       "held": [{"nodes": {"half_space": {"normal": [0, 1, 0], "offset": 0.99}}}]}]})")
                          .value();
  ScenePlayer player = ScenePlayer::create(scene).value();
  SceneContent content(scene);
  content.show(ColorBy::Stress);
  content.update(player);
  content.measure();
  EXPECT_EQ(content.scale().caption(), "stress in Pa");  // at rest
  for (int i = 0; i < 100; ++i) player.step();
  content.update(player);
  content.measure();
  EXPECT_EQ(content.scale().caption(), "stress in kPa");
  EXPECT_EQ(content.scale().label(1), "20");
  float most = 0;
  for (const float value : content.surfaces()[0].values) most = std::max(most, value);
  EXPECT_NEAR(most, 1000 * 9.81f * 1.95f, 0.1f * 19620);  // half a cell below its top
  // Asked for something else, it has a scale of its own; asked for nothing, no values.
  content.show(ColorBy::Strain);
  content.update(player);
  content.measure();
  EXPECT_EQ(content.scale().caption(), "elastic strain");
  EXPECT_NEAR(content.scale().upper, 0.02f, 1e-6f);  // stress over Young's modulus
  content.show(ColorBy::Material);
  content.update(player);
  EXPECT_TRUE(content.surfaces()[0].values.empty());
}

/// A surface as a solid publishes it, with a value for each vertex.
TEST(Values, OfBothSignsHaveColorsOfTheirOwn) {
  const OffscreenContext context = OffscreenContext::create().value();
  Renderer renderer = Renderer::create().value();
  RenderSurface surface;
  surface.body = {1, 1};
  surface.mesh = std::make_shared<const TriMesh>(tessellate(Sphere{1.0f}, 64));
  const std::vector<Vec3> vertices = surface.mesh->vertices, velocities(vertices.size());
  std::vector<float> values;
  for (const Vec3 p : vertices) values.push_back(1e5f * p.x);
  surface.vertices = vertices, surface.velocities = velocities, surface.values = values;
  surface.appearance.opacity = 0.3f;  // values are never shown through glass
  const View view{{0, 0, 5}, {0, 0, 0}, {0, 1, 0}, 45};
  const auto draw = [&](const ColorScale& scale, const RenderSurface& drawn) {
    const Look look{.color_by = ColorBy::Tension, .scale = scale};
    renderer.draw({{&drawn, 1}, {}, view, {}, look}, kWidth, kHeight).require();
    return renderer.read();
  };
  const Image both = draw({"tension", -1e5f, 1e5f, "Pa"}, surface);
  EXPECT_LT(warmth(both, view, {-0.6f, 0, 0.8f}), 0.6);
  EXPECT_NEAR(warmth(both, view, {0, 0, 1}), 1, 0.15);
  EXPECT_GT(warmth(both, view, {0.6f, 0, 0.8f}), 2);
  const Image one = draw({"stress", 0, 1e5f, "Pa"}, surface);
  EXPECT_NEAR(warmth(one, view, {-0.6f, 0, 0.8f}), 1, 0.25);  // below the scale: as at its end
  EXPECT_GT(warmth(one, view, {0.6f, 0, 0.8f}), 2);
  surface.values = surface.values.first(5);  // not one for each vertex: it has none
  EXPECT_NEAR(warmth(draw({"stress", 0, 1e5f, "Pa"}, surface), view, {0.6f, 0, 0.8f}), 1, 0.25);
}

}  // namespace
}  // namespace pliant
