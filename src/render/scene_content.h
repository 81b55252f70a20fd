// What there is to see of a scene at work: its surfaces, the arms of its joints, its lights, the scales of its values.
//
// Pictures of a run and the window both show this; they differ in who holds the camera and where it is drawn.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "embed/render_surface.h"
#include "pliant/scene.h"
#include "render/renderer.h"
#include "render/view.h"

namespace pliant {

class SceneContent {
 public:
  /// `detail`: segments of a full circle; 0: as many as suit the number of bodies.
  explicit SceneContent(const Scene& scene, int detail = 0);

  /// What colours stand for, from the next `update` on.
  void show(ColorBy by);
  /// Looks at the world as it is now. Valid until the next call, and until the world changes.
  void update(const ScenePlayer& player);
  /// Widens the scale of what colours stand for to what is seen now. It only ever grows, so that a colour never changes
  /// its meaning back and forth.
  void measure();

  std::span<const RenderSurface> surfaces() const { return surfaces_; }
  const std::vector<Rod>& rods() const { return rods_; }
  const Lighting& lighting() const { return lighting_; }
  /// Of what colours stand for.
  const ColorScale& scale() const { return scales_[static_cast<std::size_t>(by_)]; }
  /// Null where the body has none.
  const RenderSurface* surface(BodyId body) const;

 private:
  /// An arm to be drawn: from an anchor in the world to a body that hangs on it.
  struct Arm {
    std::string body, joint;
    Vec3 anchor;
  };
  static std::vector<Arm> arms_of(const Scene& scene);
  void find_rods(const ScenePlayer& player);

  SurfacePublisher publisher_;
  std::span<const RenderSurface> surfaces_;
  std::vector<Arm> arms_;
  std::vector<Rod> rods_;
  Lighting lighting_;
  ColorBy by_ = ColorBy::Material;
  std::array<ColorScale, kColorByCount> scales_;
};

}  // namespace pliant
