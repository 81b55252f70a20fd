// A solid between the ground and a plate that comes down on it.
#include <cstdio>
#include <limits>

#include "pliant/materials.h"
#include "solid/solid_engine.h"
#include "solid/solid_support.h"

namespace pliant {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::max();
constexpr float kThickness = 0.2f;  ///< m, of the plate

/// A cube of 1 m on the ground, and a plate over it that moves as it is told.
struct Press {
  explicit Press(const SolidMaterial& material) : engine(workers) {
    auto def = std::make_shared<SolidDef>(
        SolidDef{.mesh = tet_box({1, 1, 1}, 4, 4, 4), .material = material, .position = {0, 0.5f, 0}});
    engine.add_body({0, 1}, std::make_unique<SolidBody>(std::move(def)));
    obstacles.push_back({.id = {1, 1},
                         .shape = std::make_shared<Shape>(Plane{}),
                         .bounds = {{-kInfinite, -kInfinite, -kInfinite}, {kInfinite, 0, kInfinite}}});
    obstacles.push_back({.id = {2, 1},
                         .shape = std::make_shared<Shape>(Box{{3, kThickness, 3}}),
                         .bounds = {{-kInfinite, -kInfinite, -kInfinite}, {kInfinite, kInfinite, kInfinite}},
                         .moves = true});
  }
  /// Moves the lower face of the plate from `height` to `to` in a time, s, and looks how far nodes get where they
  /// should not be.
  void move_plate(float to, float time) {
    const int steps = std::max(static_cast<int>(std::lround(time / kStep)), 1);
    const float speed = (to - height) / (static_cast<float>(steps) * kStep);
    for (int k = 0; k < steps; ++k) {
      obstacles[1].world_from_shape.position = {0, height + kThickness / 2, 0};
      obstacles[1].velocity = {0, speed, 0};
      step();
      height += speed * kStep;
      const Aabb bounds = body().bounds();
      deepest = std::max({deepest, -bounds.lower.y, bounds.upper.y - height});
    }
  }
  void step() {
    engine.begin_step(kStep);
    engine.predict({}, kStep);
    engine.find_contacts(obstacles, {}, {0, -9.81f, 0}, kStep);
    const std::uint32_t bodies[] = {0}, starts[] = {0, 1};
    engine.solve({.bodies = bodies, .starts = starts}, {0, -9.81f, 0}, kStep);
    engine.advance(kStep);
    engine.settle(kStep);
    engine.end_step();
    unconverged += static_cast<int>(engine.report().unconverged);
  }
  const SolidBody& body() const { return engine.body(0); }
  int count_inverted() const {
    int count = 0;
    for (const Tet& tet : body().def().mesh.tets) {
      const auto x = [&](std::size_t c) { return Vec3d(body().position(tet[c])); };
      count += six_volumes(x(0), x(1), x(2), x(3)) <= 0;
    }
    return count;
  }

  Workers workers{1};
  SolidEngine engine;
  std::vector<Obstacle> obstacles;
  float height = 1.1f, deepest = 0;
  int unconverged = 0;
};

struct Squeeze {
  SolidMaterial material;
  float to;       ///< m, the height that is left
  float deepest;  ///< m, that a node may get into ground or plate
  float height;   ///< m, of the cube afterwards, with what gravity and plastic flow take
};

void squeeze(const Squeeze& s) {
  Press press(s.material);
  press.move_plate(s.to, 1);
  press.move_plate(s.to, 0.5f);
  const float deepest = press.deepest;
  press.move_plate(2, 0.5f);
  press.move_plate(2, 3);
  const Aabb bounds = press.body().bounds();
  std::printf("%s to %.2f m: %.4f m deep, then from %.4f to %.3f m high, %d inverted, %d unconverged\n",
              s.material.name.c_str(), static_cast<double>(s.to), static_cast<double>(deepest),
              static_cast<double>(bounds.lower.y), static_cast<double>(bounds.upper.y), press.count_inverted(),
              press.unconverged);
  EXPECT_LT(deepest, s.deepest);
  // What has flowed has no rest shape to go back to: creases of it may stay turned over.
  EXPECT_NEAR(bounds.lower.y, 0, s.material.is_plastic() ? 0.02f : 2e-3f);
  EXPECT_NEAR(bounds.upper.y, s.height, 0.05f);
  EXPECT_LT(std::abs(bounds.center().x), 0.05f);
  EXPECT_TRUE(s.material.is_plastic() || press.count_inverted() == 0);
}

TEST(SolidCrush, APlateDoesNotPushABodyThroughTheGround) {
  for (const Squeeze& s :
       {Squeeze{material::rubber(), 0.3f, 2e-3f, 1}, Squeeze{material::rubber(), 0.05f, 2e-3f, 1},
        Squeeze{material::oak(), 0.9f, 2e-3f, 1}, Squeeze{material::clay(), 0.3f, 2e-3f, 0.37f},
        Squeeze{material::lead(), 0.3f, 2e-3f, 0.3f}, Squeeze{material::steel(), 0.7f, 0.02f, 0.73f}}) {
    squeeze(s);
  }
}

TEST(SolidCrush, ABodyWithNoRoomLeftComesBack) {
  // The plate goes right through the ground: nodes share the way, half of it to each, and find back to their side.
  squeeze({material::rubber(), -0.15f, 0.1f, 1});
  squeeze({material::foam(), -0.15f, 0.1f, 1});
}

TEST(SolidCrush, ACubeOfJellyStaysAboveTheGroundUnderItsOwnWeight) {
  // Inner nodes too: they used to fall through between those of the surface.
  Press press(material::jelly());
  press.move_plate(3, 0.1f);
  press.deepest = 0;
  press.move_plate(3, 3);
  std::printf("%.4f m deep, %.3f m high\n", static_cast<double>(press.deepest),
              static_cast<double>(press.body().bounds().upper.y));
  EXPECT_LT(press.deepest, 5e-3f);
}

}  // namespace
}  // namespace pliant
