// What the search for contacts is compared with: brute force in double, by other formulas than its own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "collide/surface_features.h"
#include "math/vec3d.h"

namespace pliant {

using PairPointsD = std::array<Vec3d, 4>;

inline PairPointsD moved_d(const PairPoints& x, const PairPoints& m, double t) {
  PairPointsD p;
  for (std::size_t i = 0; i < 4; ++i) p[i] = Vec3d(x[i]) + t * Vec3d(m[i]);
  return p;
}

/// Whether the four points, which lie (nearly) in a plane, make features that cross by a clear margin.
inline bool cross_in_plane(FeaturePair kind, const PairPointsD& p) {
  constexpr double kClear = 1e-6;
  if (kind == FeaturePair::NodeFace) {
    const Vec3d n = cross(p[2] - p[1], p[3] - p[1]);
    const double nn = dot(n, n);
    if (nn < 1e-12) return false;
    for (std::size_t i = 1; i < 4; ++i) {
      const Vec3d a = p[i], b = p[i % 3 + 1];
      if (dot(cross(b - a, p[0] - a), n) < kClear * nn) return false;
    }
    return true;
  }
  const Vec3d d = p[1] - p[0], e = p[3] - p[2], r = p[2] - p[0], n = cross(d, e);
  const double nn = dot(n, n);
  if (nn < 1e-12) return false;
  const double s = dot(cross(r, e), n) / nn, t = dot(cross(r, d), n) / nn;
  return s > kClear && s < 1 - kClear && t > kClear && t < 1 - kClear;
}

/// When the features first pass through each other, by the sign of the volume of the four points in many moments and
/// bisection between; 2 if they do not.
inline double first_crossing(FeaturePair kind, const PairPoints& x, const PairPoints& m, int samples = 100) {
  const auto volume = [&](double t) {
    const PairPointsD p = moved_d(x, m, t);
    return six_volumes(p[0], p[1], p[2], p[3]);
  };
  double before = volume(0);
  for (int k = 1; k <= samples; ++k) {
    double low = double(k - 1) / samples, high = double(k) / samples;
    const double after = volume(high);
    if ((before < 0) != (after < 0)) {
      for (int i = 0; i < 50; ++i) {
        const double middle = 0.5 * (low + high);
        ((volume(middle) < 0) == (before < 0) ? low : high) = middle;
      }
      if (cross_in_plane(kind, moved_d(x, m, low))) return low;
    }
    before = after;
  }
  return 2;
}

/// The least distance between many points of the two features: never too small, and too large by no more than the
/// spacing of the points.
inline double sampled_distance(FeaturePair kind, const PairPoints& x) {
  constexpr int kSteps = 40;
  const PairPointsD p = moved_d(x, x, 0);
  double nearest = 1e300;
  for (int i = 0; i <= kSteps; ++i) {
    for (int j = 0; j <= kSteps; ++j) {
      const double s = double(i) / kSteps, t = double(j) / kSteps;
      if (kind == FeaturePair::EdgeEdge) {
        nearest = std::min(nearest, length(p[0] + s * (p[1] - p[0]) - p[2] - t * (p[3] - p[2])));
      } else if (s + t <= 1) {
        nearest = std::min(nearest, length(p[0] - p[1] - s * (p[2] - p[1]) - t * (p[3] - p[1])));
      }
    }
  }
  return nearest;
}

}  // namespace pliant
