// What is drawn over the picture to explain it: contacts with their impulses, bounding boxes, the spring of the hand.
// It is made of plain strokes in window coordinates, which the window and a saved picture draw alike.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "pliant/world.h"
#include "render/image.h"
#include "render/renderer.h"

#include "view/screen.h"

namespace pliant {

struct Stroke {
  Vec2 a, b;     ///< window coordinates
  Vec3 color{};  ///< sRGB
  float opacity = 1;
  float width = 1.5f;  ///< pixels
};

/// What colours mean, in the order of the keys 1, 2, 3 …
enum class Coloring { Material, Speed, Islands, Sleep, Stress, Tension, Strain, PlasticStrain };
constexpr int kColoringCount = 8;
constexpr std::array<const char*, kColoringCount> kColoringNames = {
    "their own", "speed", "islands", "asleep or awake", "stress", "tension", "elastic strain", "plastic strain"};

/// What the renderer has to show for it: `Material` for those that `colored` makes by itself.
ColorBy color_by(Coloring coloring);

class Overlay {
 public:
  explicit Overlay(const Screen& screen) : screen_(screen) {}

  void line(Vec3 a, Vec3 b, Vec3 color, float opacity = 1, float width = 1.5f);
  void box(const Aabb& box, Vec3 color, float opacity = 1);
  /// A ring about a point, facing the eye.
  void ring(Vec3 center, float radius, Vec3 color, float opacity, float width);
  /// A dot for each contact, and the impulse on it as a line along the normal (with friction: slanted); the longest is
  /// `longest` metres.
  void contacts(std::span<const Contact> contacts, float longest);
  /// Of all finite bodies: those awake in one colour, sleepers in another, quarantined ones in a third.
  void bounds(const World& world);
  void spring(Vec3 from, Vec3 to);
  /// A cross in the plane of a crack, as large as what opened; `freshness` from 1 to 0.
  void crack(const Crack& crack, float freshness);
  /// Dots at the nodes of solids that are weaker or stronger than their material.
  void strength(const World& world);

  const std::vector<Stroke>& strokes() const { return strokes_; }

 private:
  Screen screen_;
  std::vector<Stroke> strokes_;
};

/// Draws strokes of a window's rectangle into a picture of it, of any size.
void draw_strokes(Image& image, std::span<const Stroke> strokes, const ScreenRect& rect);

/// The surfaces in the colours of `coloring`; all but islands and sleep leave them as they are, the renderer does
/// these.
std::vector<RenderSurface> colored(std::span<const RenderSurface> surfaces, const World& world, Coloring coloring);

}  // namespace pliant
