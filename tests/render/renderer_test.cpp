// What is drawn stands where geometry says, whatever kind of body it is.
#include "render/renderer.h"

#include <gtest/gtest.h>

#include "render/gl_objects.h"
#include "render/offscreen_context.h"
#include "render/picture_support.h"

namespace pliant {
namespace {

constexpr int kWidth = 320, kHeight = 240;

RenderSurface surface_of(const Shape& shape, Vec3 position, Vec3 color) {
  static std::uint32_t bodies = 0;
  RenderSurface surface;
  surface.body = {++bodies, 1};
  surface.mesh = std::make_shared<const TriMesh>(tessellate(shape, 64));
  surface.world_from_body.position = surface.center_of_mass = position;
  surface.appearance.color = color;
  surface.endless = std::holds_alternative<Plane>(shape);
  surface.moves = !surface.endless;
  return surface;
}

class RendererTest : public ::testing::Test {
 protected:
  OffscreenContext context_ = OffscreenContext::create().value();
  Renderer renderer_ = Renderer::create().value();
  View view_{{0, 2, 10}, {0, 1, 0}, {0, 1, 0}, 45};

  Image draw(const std::vector<RenderSurface>& surfaces, const Look& look = {}, Vec3 to_sun = {0, 1, 0}) {
    Picture picture{surfaces, {}, view_, {}, look};
    picture.lighting.to_sun = normalized(to_sun);
    renderer_.draw(picture, kWidth, kHeight).require();
    return renderer_.read();
  }
  /// The pixel at which a point of the world falls.
  Vec3 pixel_of(Vec3 p) const {
    const Vec3 c = view_.axes().coordinates(p, view_.eye);
    const float half = 0.5f * kHeight / view_.tan_half();
    return {0.5f * kWidth + half * c.x / -c.z, 0.5f * kHeight - half * c.y / -c.z, half / -c.z};
  }
};

struct Blob {
  double x = 0, y = 0, area = 0;
};

/// Centre and number of the pixels that `is` says yes to.
template <typename Is>
Blob blob(const Image& image, Is is) {
  Blob out;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* p = image.at(x, y);
      if (is(int{p[0]}, int{p[1]}, int{p[2]})) out.x += x + 0.5, out.y += y + 0.5, out.area += 1;
    }
  }
  out.x /= std::max(out.area, 1.0), out.y /= std::max(out.area, 1.0);
  return out;
}

bool is_red(int r, int g, int b) { return r > 60 && r > 2 * g && r > 2 * b; }

TEST_F(RendererTest, ASphereStandsWhereThePinholeFormulaPutsIt) {
  const Vec3 place{1.5f, 2, 0};
  const Blob red = blob(draw({surface_of(Sphere{0.7f}, place, {0.8f, 0.02f, 0.02f})}), is_red);
  const Vec3 expected = pixel_of(place);
  EXPECT_NEAR(red.x, double{expected.x}, 1.5);
  EXPECT_NEAR(red.y, double{expected.y}, 1.5);
  const double radius = 0.7 * double{expected.z};
  EXPECT_NEAR(red.area, M_PI * radius * radius, 0.06 * M_PI * radius * radius);
}

TEST_F(RendererTest, AShadowLiesWhereTheSunThrowsIt) {
  const std::vector<RenderSurface> ground = {surface_of(Plane{}, {}, {0.5f, 0.5f, 0.5f})};
  std::vector<RenderSurface> both = ground;
  both.push_back(surface_of(Box{{0.8f, 0.05f, 0.8f}}, {-1, 2, 0}, {0.5f, 0.5f, 0.5f}));
  const Image empty = draw(ground, {}, {-0.5f, 1, 0}), with = draw(both, {}, {-0.5f, 1, 0});
  // 2 m below the plate, moved by half of that against the sun: at (0, 0, 0).
  const Vec3 lit = pixel_of({0, 0, 1.5f}), dark = pixel_of({0, 0, 0});
  const auto value = [](const Image& image, Vec3 p) {
    return int{image.at(static_cast<int>(p.x), static_cast<int>(p.y))[1]};
  };
  EXPECT_LT(value(with, dark), value(empty, dark) - 50);
  EXPECT_NEAR(value(with, lit), value(empty, lit), 4);
  EXPECT_NEAR(value(with, pixel_of({0.9f, 0, 0})), value(empty, pixel_of({0.9f, 0, 0})), 4);
  EXPECT_NEAR(value(with, pixel_of({-0.9f, 0, 0})), value(empty, pixel_of({-0.9f, 0, 0})), 12);
}

TEST_F(RendererTest, FlatGroundDoesNotShadowItself) {
  std::vector<RenderSurface> surfaces = {surface_of(Box{{40, 0.2f, 40}}, {0, -0.1f, 0}, {0.5f, 0.5f, 0.5f})};
  const Image without = [&] {
    Picture picture{surfaces, {}, view_, {}, {}};
    picture.lighting.to_sun = normalized(Vec3{0.9f, 0.35f, 0.2f});
    picture.lighting.sun_casts_shadows = false;
    renderer_.draw(picture, kWidth, kHeight).require();
    return renderer_.read();
  }();
  const Difference d = difference(without, draw(surfaces, {}, {0.9f, 0.35f, 0.2f}));
  EXPECT_LT(d.worst_tile, 1) << d.to_string();
}

TEST_F(RendererTest, ADeformingBodyLooksLikeTheRigidOneInItsPlace) {
  RenderSurface rigid = surface_of(Cylinder{0.6f, 1.4f}, {0.3f, 1, 0}, {0.1f, 0.3f, 0.7f});
  rigid.world_from_body.rotation = Quat::axis_angle({1, 0.3f, 0}, 0.8f);
  rigid.velocity = {1, 2, 0}, rigid.angular_velocity = {0, 3, 0};
  std::vector<Vec3> vertices, velocities;
  for (std::size_t i = 0; i < rigid.mesh->vertices.size(); ++i) {
    vertices.push_back(rigid.vertex(i));
    velocities.push_back(rigid.vertex_velocity(i));
  }
  RenderSurface soft = rigid;
  soft.vertices = vertices, soft.velocities = velocities;
  for (const ColorBy by : {ColorBy::Material, ColorBy::Speed}) {
    const Look look{.color_by = by, .scale = {"", 0, 5}};
    const Difference d = difference(draw({rigid}, look), draw({soft}, look));
    EXPECT_LT(d.worst_tile, 2) << d.to_string();
  }
  // Normals that it brings along are those that are used.
  std::vector<Vec3> normals;
  for (const Vec3 n : rigid.mesh->normals) normals.push_back(rigid.world_from_body.rotation.rotate(n));
  soft.normals = normals;
  EXPECT_LT(difference(draw({rigid}), draw({soft})).worst_tile, 2);
  for (Vec3& n : normals) n = {0, 1, 0};
  EXPECT_TRUE(difference(draw({rigid}), draw({soft})).noticeable());
}

TEST_F(RendererTest, GlassShowsWhatIsBehindInAnyOrderOfBodies) {
  std::vector<RenderSurface> surfaces = {surface_of(Sphere{0.5f}, {0, 1, -1}, {0.8f, 0.02f, 0.02f}),
                                         surface_of(Box{{2, 2, 0.1f}}, {0, 1, 1}, {0.2f, 0.7f, 0.2f}),
                                         surface_of(Box{{2, 2, 0.1f}}, {0.5f, 1, 3}, {0.2f, 0.2f, 0.7f})};
  const Image opaque = draw(surfaces);
  surfaces[1].appearance.opacity = surfaces[2].appearance.opacity = 0.12f;
  const Image glass = draw(surfaces);
  std::swap(surfaces[1], surfaces[2]);
  EXPECT_EQ(glass.pixels, draw(surfaces).pixels);
  const Vec3 ball = pixel_of({0, 1, -1});
  const auto redness = [&](const Image& image) {
    const std::uint8_t* p = image.at(static_cast<int>(ball.x), static_cast<int>(ball.y));
    return int{p[0]} - int{p[1]};
  };
  EXPECT_GT(redness(glass), 25);
  EXPECT_LT(redness(opaque), 10);
}

TEST_F(RendererTest, ALightPictureShowsTheSame) {
  const std::vector<RenderSurface> surfaces = {surface_of(Plane{}, {}, {0.4f, 0.4f, 0.4f}),
                                               surface_of(Sphere{0.7f}, {1.5f, 2, 0}, {0.8f, 0.02f, 0.02f})};
  const Vec3 to_sun{-0.5f, 1, 0.2f};
  const Image full = draw(surfaces, {}, to_sun), light = draw(surfaces, {.quality = Quality::Light}, to_sun);
  const Blob a = blob(full, is_red), b = blob(light, is_red);
  EXPECT_NEAR(a.x, b.x, 1);
  EXPECT_NEAR(a.y, b.y, 1);
  EXPECT_NEAR(a.area, b.area, 0.1 * a.area);
  EXPECT_LT(difference(full, light).mean, 6) << difference(full, light).to_string();
  // In the sphere's shadow it is darker than beside it.
  const Vec3 shadow = pixel_of(Vec3{1.5f, 2, 0} - 2 * to_sun), beside = pixel_of(Vec3{-1, 0, -0.4f});
  const auto brightness = [&](Vec3 p) { return int{light.at(static_cast<int>(p.x), static_cast<int>(p.y))[1]}; };
  EXPECT_LT(brightness(shadow), 0.8 * brightness(beside));
  EXPECT_EQ(draw(surfaces, {}, to_sun).pixels, full.pixels);  // nothing is left of it
}

TEST_F(RendererTest, AWindowGetsThePictureAsItIs) {
  const Image image =
      draw({surface_of(Plane{}, {}, {0.4f, 0.4f, 0.4f}), surface_of(Box{}, {0, 1, 0}, {0.1f, 0.5f, 0.9f})});
  const GlTexture texture = make_texture(GL_RGBA8, kWidth + 10, kHeight + 20);
  const GlFramebuffer window = GlFramebuffer::create();
  glBindFramebuffer(GL_FRAMEBUFFER, window.get());
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture.get(), 0);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  renderer_.show(window.get(), 4, 7, kWidth, kHeight);
  std::vector<std::uint8_t> rgba(4 * kWidth * kHeight);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, window.get());
  glReadPixels(4, 7, kWidth, kHeight, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  int most = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const std::uint8_t* shown = rgba.data() + 4 * ((kHeight - 1 - y) * kWidth + x);
      for (int c = 0; c < 3; ++c) most = std::max(most, std::abs(int{shown[c]} - int{image.at(x, y)[c]}));
    }
  }
  EXPECT_LE(most, 1);
}

TEST_F(RendererTest, SpeedIsShownByColor) {
  RenderSurface calm = surface_of(Sphere{0.6f}, {-1.5f, 1, 0}, {0.1f, 0.5f, 0.1f}), fast = calm;
  fast.world_from_body.position = fast.center_of_mass = {1.5f, 1, 0};
  fast.velocity = {0, -5, 0};
  const Image image = draw({calm, fast}, {.color_by = ColorBy::Speed, .scale = {"speed", 0, 10}});
  const auto ratio = [&](Vec3 p) {
    const Vec3 at = pixel_of(p);
    const std::uint8_t* c = image.at(static_cast<int>(at.x), static_cast<int>(at.y));
    return c[0] / std::max(1.0, double{static_cast<double>(c[2])});
  };
  EXPECT_LT(ratio({-1.5f, 1, 0}), 1.2);  // pale
  EXPECT_GT(ratio({1.5f, 1, 0}), 2);     // half way: orange
}

TEST_F(RendererTest, WireframeAddsLinesOnTheBodies) {
  const std::vector<RenderSurface> surfaces = {surface_of(Box{{2, 2, 2}}, {0, 1, 0}, {0.8f, 0.8f, 0.8f})};
  const Image plain = draw(surfaces), wire = draw(surfaces, {.wireframe = true});
  std::size_t darker = 0;
  for (std::size_t i = 0; i < plain.pixels.size(); i += 3) darker += plain.pixels[i] > wire.pixels[i] + 20;
  EXPECT_GT(darker, 200u);
  EXPECT_LT(darker, 2000u);
  const Vec3 corner = pixel_of({0.5f, 0.2f, 1});  // off every edge and diagonal
  const auto at = [&](const Image& i) { return int{i.at(static_cast<int>(corner.x), static_cast<int>(corner.y))[0]}; };
  EXPECT_NEAR(at(wire), at(plain), 3);
}

TEST_F(RendererTest, SurvivesBodiesThatAreNowhere) {
  std::vector<RenderSurface> surfaces = {surface_of(Sphere{0.5f}, {0, 1, 0}, {0.8f, 0.02f, 0.02f})};
  const Image alone = draw(surfaces);
  surfaces.push_back(surface_of(Sphere{0.5f}, {std::nanf(""), 0, 0}, {0, 1, 0}));
  surfaces.push_back(surface_of(Sphere{0.5f}, {INFINITY, 0, 0}, {0, 1, 0}));
  surfaces.push_back(surface_of(Sphere{0.5f}, {1e20f, 0, 0}, {0, 1, 0}));
  surfaces.push_back(surfaces[0]);
  surfaces.back().mesh = std::make_shared<const TriMesh>();
  surfaces.push_back(surfaces[0]);
  surfaces.back().mesh = nullptr;
  EXPECT_FALSE(difference(alone, draw(surfaces)).noticeable());
}

TEST_F(RendererTest, RefusesSizesThatCannotBe) {
  for (const auto& [width, height] : {std::pair{0, 0}, {-5, 100}, {100, 15}, {100000, 100}}) {
    EXPECT_FALSE(renderer_.draw({}, width, height).ok()) << width << 'x' << height;
  }
  for (const auto& [width, height] : {std::pair{16, 16}, {17, 333}, {640, 16}}) {
    ASSERT_TRUE(renderer_.draw({}, width, height).ok());
    EXPECT_EQ(renderer_.read().width, width);
    EXPECT_EQ(renderer_.read().height, height);
  }
}

TEST_F(RendererTest, PngFilesHoldThePictureBitForBit) {
  const TemporaryFolder folder;
  const Image image = draw({surface_of(Sphere{0.5f}, {0, 1, 0}, {0.8f, 0.02f, 0.02f})});
  ASSERT_TRUE(write_png(image, folder / "a.png").ok());
  const Image back = read_png(folder / "a.png");
  EXPECT_EQ(back.width, kWidth);
  EXPECT_EQ(back.height, kHeight);
  EXPECT_EQ(back.pixels, image.pixels);
  EXPECT_EQ(folder.count(), 1u);
  EXPECT_FALSE(write_png(image, folder / "missing/a.png").ok());
}

}  // namespace
}  // namespace pliant
