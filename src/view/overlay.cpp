#include "view/overlay.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pliant {
namespace {

constexpr Vec3 kContactColor{1.0f, 0.85f, 0.2f}, kImpulseColor{1.0f, 0.3f, 0.15f}, kAwakeColor{0.3f, 0.85f, 1.0f},
    kAsleepColor{0.65f, 0.68f, 0.75f}, kQuarantineColor{1.0f, 0.2f, 0.8f}, kSpringColor{1.0f, 1.0f, 1.0f},
    kCrackColor{1.0f, 0.1f, 0.1f}, kWeakColor{1.0f, 0.35f, 0.1f}, kStrongColor{0.2f, 0.6f, 1.0f};
// Bodies in linear colours.
constexpr Vec3 kAwakeBody{0.75f, 0.36f, 0.08f}, kAsleepBody{0.10f, 0.18f, 0.38f}, kStillBody{0.33f, 0.34f, 0.36f},
    kQuarantinedBody{0.8f, 0.02f, 0.5f};

/// Colours that differ from their neighbours in number: hues a golden section apart. Linear.
Vec3 distinct_color(std::uint32_t number) {
  const float hue = 6 * std::fmod(static_cast<float>(number % 4096) * 0.618034f, 1.0f);
  const auto channel = [&](float shift) {
    const float k = std::fmod(shift + hue, 6.0f);
    return 0.72f - 0.64f * std::clamp(std::min(k, 4 - k), 0.0f, 1.0f);
  };
  return {channel(5), channel(3), channel(1)};
}

float distance_to_segment(Vec2 a, Vec2 b, float x, float y) {
  const float dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  const float t = square > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / square, 0.0f, 1.0f) : 0;
  return std::hypot(x - a.x - t * dx, y - a.y - t * dy);
}

void draw_stroke(Image& image, const Stroke& s) {
  const float half = 0.5f * std::max(s.width, 1.0f);
  const auto pixel = [](float x, int most) { return static_cast<int>(std::clamp(x, -1.0f, static_cast<float>(most))); };
  const int y0 = pixel(std::min(s.a.y, s.b.y) - half - 1, image.height);
  const int y1 = pixel(std::max(s.a.y, s.b.y) + half + 1, image.height);
  const float slope = (s.b.x - s.a.x) / (s.b.y - s.a.y);
  for (int y = y0; y <= y1; ++y) {
    // Only the pixels that the stroke can reach in this row, or a long line would look at the whole picture.
    float left = std::min(s.a.x, s.b.x), right = std::max(s.a.x, s.b.x);
    if (std::isfinite(slope)) {
      const float reach = (half + 1.5f) * (1 + std::abs(slope)),
                  middle = s.a.x + slope * (static_cast<float>(y) - s.a.y);
      left = std::max(left, middle - reach), right = std::min(right, middle + reach);
    }
    for (int x = pixel(left - half - 1, image.width); x <= pixel(right + half + 1, image.width); ++x) {
      const float off = distance_to_segment(s.a, s.b, static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
      image.blend(x, y, s.color, s.opacity * std::clamp(half + 0.5f - off, 0.0f, 1.0f));
    }
  }
}

/// Bodies of one island get the colour of the first of them: it stays while others come and go.
std::map<std::size_t, std::uint32_t> first_of_islands(std::span<const RenderSurface> surfaces, const World& world) {
  std::map<std::size_t, std::uint32_t> first;
  for (const RenderSurface& surface : surfaces) {
    if (const std::optional<std::size_t> island = world.island(surface.body))
      first.emplace(*island, surface.body.index);
  }
  return first;
}

Vec3 sleep_color(const BodyState& state) {
  if (state.quarantined) return kQuarantinedBody;
  if (!(state.mass > 0)) return kStillBody;
  return state.awake ? kAwakeBody : kAsleepBody;
}

}  // namespace

ColorBy color_by(Coloring coloring) {
  switch (coloring) {
    case Coloring::Speed:
      return ColorBy::Speed;
    case Coloring::Stress:
      return ColorBy::Stress;
    case Coloring::Tension:
      return ColorBy::Tension;
    case Coloring::Strain:
      return ColorBy::Strain;
    case Coloring::PlasticStrain:
      return ColorBy::PlasticStrain;
    case Coloring::Material:
    case Coloring::Islands:
    case Coloring::Sleep:
      break;
  }
  return ColorBy::Material;
}

void Overlay::line(Vec3 a, Vec3 b, Vec3 color, float opacity, float width) {
  // A line that passes the eye is cut where it comes too near.
  const Axes axes = screen_.view.axes();
  const float near = 1.001f * screen_.view.near();
  float da = -axes.coordinates(a, screen_.view.eye).z - near, db = -axes.coordinates(b, screen_.view.eye).z - near;
  if (!(da > 0 || db > 0)) return;
  if (da < 0) a += (da / (da - db)) * (b - a);
  if (db < 0) b += (db / (db - da)) * (a - b);
  const std::optional<Vec2> pa = screen_.place_of(a), pb = screen_.place_of(b);
  if (pa && pb) strokes_.push_back({*pa, *pb, color, opacity, width});
}

void Overlay::box(const Aabb& box, Vec3 color, float opacity) {
  const auto corner = [&](int i) {
    return Vec3{i & 1 ? box.upper.x : box.lower.x, i & 2 ? box.upper.y : box.lower.y,
                i & 4 ? box.upper.z : box.lower.z};
  };
  for (int i = 0; i < 8; ++i) {
    for (const int bit : {1, 2, 4}) {
      if ((i & bit) == 0) line(corner(i), corner(i | bit), color, opacity, 1);
    }
  }
}

void Overlay::ring(Vec3 center, float radius, Vec3 color, float opacity, float width) {
  constexpr int kSides = 48;
  const Axes axes = screen_.view.axes();
  const auto point = [&](int i) {
    const float angle = 2 * kPi * static_cast<float>(i) / kSides;
    return center + radius * (std::cos(angle) * axes.right + std::sin(angle) * axes.up);
  };
  for (int i = 0; i < kSides; ++i) line(point(i), point(i + 1), color, opacity, width);
}

void Overlay::contacts(std::span<const Contact> contacts, float longest) {
  float most = 0;
  for (const Contact& c : contacts) most = std::max(most, length(c.normal_impulse * c.normal + c.friction_impulse));
  for (const Contact& c : contacts) {
    const float pixel = screen_.pixel_size(c.position);
    const bool touches = c.normal_impulse > 0;
    line(c.position - pixel * screen_.view.axes().right, c.position + pixel * screen_.view.axes().right, kContactColor,
         touches ? 0.95f : 0.35f, 4);
    if (!touches || !(most > 0)) continue;
    // The root: the smallest of a pile's impulses would not be seen beside the largest.
    const Vec3 impulse = c.normal_impulse * c.normal + c.friction_impulse;
    const Vec3 direction = normalized(impulse, c.normal);
    line(c.position, c.position + longest * std::sqrt(length(impulse) / most) * direction, kImpulseColor, 0.9f, 2);
  }
}

void Overlay::bounds(const World& world) {
  for (const BodyId body : world.bodies()) {
    const Result<BodyState> state = world.state(body);
    if (!state || state->bounds.is_empty() || !is_finite(state->bounds.lower) || !is_finite(state->bounds.upper) ||
        length(state->bounds.size()) > 1e4f)
      continue;
    const Vec3 color = state->quarantined ? kQuarantineColor : state->awake ? kAwakeColor : kAsleepColor;
    box(state->bounds, color, 0.6f);
  }
}

void Overlay::spring(Vec3 from, Vec3 to) {
  line(from, to, {0, 0, 0}, 0.4f, 4);
  line(from, to, kSpringColor, 0.95f, 2);
  for (const Vec3 end : {from, to}) ring(end, 5 * screen_.pixel_size(end), kSpringColor, 0.95f, 2);
}

void Overlay::crack(const Crack& crack, float freshness) {
  const Vec3 side = std::abs(crack.normal.x) < 0.6f ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 u = normalized(cross(crack.normal, side), {}), v = cross(crack.normal, u);
  const float reach = std::max(0.5f * std::sqrt(std::max(crack.area, 0.0f)), 3 * screen_.pixel_size(crack.position));
  for (const Vec3 way : {u, v}) {
    line(crack.position - reach * way, crack.position + reach * way, kCrackColor, freshness, 2.5f);
  }
}

void Overlay::strength(const World& world) {
  for (const BodyId body : world.bodies()) {
    if (world.kind(body) != BodyKind::Solid) continue;
    const Result<std::vector<float>> factors = world.strength_factors(body);
    const Result<std::span<const Vec3>> nodes = world.node_positions(body);
    if (!factors || !nodes) continue;
    for (std::size_t i = 0; i < factors->size(); ++i) {
      if ((*factors)[i] == 1) continue;
      const Vec3 arm = 2 * screen_.pixel_size((*nodes)[i]) * screen_.view.axes().right;
      line((*nodes)[i] - arm, (*nodes)[i] + arm, (*factors)[i] < 1 ? kWeakColor : kStrongColor, 0.9f, 5);
    }
  }
}

void draw_strokes(Image& image, std::span<const Stroke> strokes, const ScreenRect& rect) {
  const float sx = static_cast<float>(image.width) / rect.width, sy = static_cast<float>(image.height) / rect.height;
  for (Stroke s : strokes) {
    for (Vec2* p : {&s.a, &s.b}) *p = {(p->x - rect.x) * sx, (p->y - rect.y) * sy};
    s.width *= sy;
    draw_stroke(image, s);
  }
}

std::vector<RenderSurface> colored(std::span<const RenderSurface> surfaces, const World& world, Coloring coloring) {
  std::vector<RenderSurface> out(surfaces.begin(), surfaces.end());
  if (coloring != Coloring::Islands && coloring != Coloring::Sleep) return out;
  const std::map<std::size_t, std::uint32_t> first = first_of_islands(surfaces, world);
  for (RenderSurface& surface : out) {
    if (!surface.moves) continue;
    const std::optional<std::size_t> island = world.island(surface.body);
    const Result<BodyState> state = world.state(surface.body);
    if (coloring == Coloring::Sleep && state) {
      surface.appearance.color = sleep_color(*state);
    } else {
      surface.appearance.color = island ? distinct_color(first.at(*island)) : kStillBody;
    }
    surface.appearance.metalness = 0;
    surface.appearance.roughness = 0.6f;
  }
  return out;
}

}  // namespace pliant
