#include "collide/surface_features.h"

#include <algorithm>
#include <limits>

#include "geometry/primitives.h"

namespace pliant {
namespace {

constexpr int kMaxAdvances = 200;

float largest(const PairPoints& x) {
  float squared = 0;
  for (const Vec3& p : x) squared = std::max(squared, length_squared(p));
  return std::sqrt(squared);
}

/// Where two directions span less than this part (squared) of a square, floats do not do.
constexpr float kThin = 1e-5f;

/// The point of a segment from a to b that is nearest to the origin, as the part of the way.
float nearest_part(Vec3 a, Vec3 b) {
  const Vec3 d = b - a;
  const float dd = dot(d, d);
  return dd > 0 ? std::clamp(-dot(a, d) / dd, 0.0f, 1.0f) : 0.0f;
}

/// The node is the origin. Inside, or else on the nearest edge.
std::array<float, 4> node_face_weights(const PairPoints& p) {
  const Vec3 a = p[1], b = p[2], c = p[3], d = b - a, e = c - a, n = cross(d, e);
  const float nn = dot(n, n);
  if (!(nn > kThin * dot(d, d) * dot(e, e)) || !(nn > 1e-30f)) {
    const Vec3 w = closest_on_triangle(p[0], a, b, c).weights;
    return {1, -w.x, -w.y, -w.z};
  }
  const float u = dot(n, cross(b, c)), v = dot(n, cross(c, a)), w = dot(n, cross(a, b));
  if (u > 0 && v > 0 && w > 0) {
    const float scale = -1 / (u + v + w);
    return {1, u * scale, v * scale, w * scale};
  }
  std::array<float, 4> best{};
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t from = i + 1, to = (i + 1) % 3 + 1;
    const float t = nearest_part(p[from], p[to]);
    const float squared = length_squared(p[from] + t * (p[to] - p[from]));
    if (!(squared < least)) continue;
    least = squared;
    best = {1, 0, 0, 0};
    best[from] = t - 1, best[to] = -t;
  }
  return best;
}

/// Ericson, Real-Time Collision Detection (2005), 5.1.9; edges that are nearly parallel go the exact way.
std::array<float, 4> edge_edge_weights(const PairPoints& p) {
  const Vec3 d = p[1], e = p[3] - p[2], r = -1 * p[2];
  const float dd = dot(d, d), ee = dot(e, e), de = dot(d, e), determinant = dd * ee - de * de;
  float s, t;
  if (determinant > kThin * dd * ee && determinant > 1e-30f) {
    const float dr = dot(d, r), er = dot(e, r);
    s = std::clamp((de * er - dr * ee) / determinant, 0.0f, 1.0f);
    t = (de * s + er) / ee;
    if (t < 0 || t > 1) {
      t = t < 0 ? 0.0f : 1.0f;
      s = std::clamp((de * t - dr) / dd, 0.0f, 1.0f);
    }
  } else {
    const SegmentPoints q = closest_of_segments(p[0], p[1], p[2], p[3]);
    s = q.s, t = q.t;
  }
  return {1 - s, s, t - 1, -t};
}

/// Whether features that are parted by a plane at right angles to `offset`, which leads from the nearest point of the
/// second to that of the first at the moment t, stay farther apart than `distance` until the end. The gap between two
/// points along one direction is linear in time, so its ends tell.
bool stay_apart(FeaturePair kind, const PairPoints& from, const PairPoints& way, const Separation& at, float t,
                float distance) {
  const std::size_t first = kind == FeaturePair::NodeFace ? 1 : 2;
  float low = std::numeric_limits<float>::infinity(), low_end = low, high = -low, high_end = -low;
  for (std::size_t i = 0; i < 4; ++i) {
    const float now = dot(from[i] + t * way[i], at.offset), end = dot(from[i] + way[i], at.offset);
    if (i < first) {
      low = std::min(low, now), low_end = std::min(low_end, end);
    } else {
      high = std::max(high, now), high_end = std::max(high_end, end);
    }
  }
  return std::min(low - high, low_end - high_end) > distance * at.distance;
}

}  // namespace

Separation find_separation(FeaturePair kind, const PairPoints& x) {
  const PairPoints p = around_first(x);
  Separation s;
  s.weights = kind == FeaturePair::NodeFace ? node_face_weights(p) : edge_edge_weights(p);
  s.offset = combine(s.weights, p);
  s.distance = length(s.offset);
  return s;
}

float relative_motion(FeaturePair kind, const PairPoints& m) {
  float squared = 0;
  const std::size_t first = kind == FeaturePair::NodeFace ? 1 : 2;
  for (std::size_t i = 0; i < first; ++i) {
    for (std::size_t j = first; j < 4; ++j) squared = std::max(squared, length_squared(m[i] - m[j]));
  }
  return std::sqrt(squared);
}

std::optional<float> find_impact(FeaturePair kind, const PairPoints& x, const PairPoints& m, float thickness) {
  const PairPoints from = around_first(x), way = around_first(m);
  const float motion = relative_motion(kind, way);
  const float tolerance = std::max(0.01f * thickness, 1e-5f * (largest(from) + motion));
  double t = 0;  // in float the last advances could be lost
  for (int advance = 0; advance < kMaxAdvances; ++advance) {
    const Separation at = find_separation(kind, moved(from, way, float(t)));
    const float left = at.distance - thickness;
    if (left <= tolerance) return float(t);
    if (stay_apart(kind, from, way, at, float(t), thickness + 1.01f * tolerance)) return std::nullopt;
    t += 0.9 * double(left) / double(motion);
    if (!(t <= 1)) return std::nullopt;
  }
  return float(t);
}

}  // namespace pliant
