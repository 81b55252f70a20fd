#include "geometry/primitives.h"

#include <algorithm>
#include <cmath>

#include "math/vec3d.h"

namespace pliant {
namespace {

/// The parameter of the point of the segment a + t d that is closest to p; a segment of no length is a point.
double closest_parameter(Vec3d p, Vec3d a, Vec3d d) {
  const double dd = dot(d, d);
  return dd > 0 ? std::clamp(dot(p - a, d) / dd, 0.0, 1.0) : 0;
}

}  // namespace

// The closest point lies on an edge or inside. Both are looked at and the best is kept: every candidate is a point of
// the triangle, so a badly conditioned one can only lose.
TrianglePoint closest_on_triangle(Vec3 p, Vec3 a, Vec3 b, Vec3 c) {
  const std::array<Vec3d, 3> v{Vec3d(a) - Vec3d(p), Vec3d(b) - Vec3d(p), Vec3d(c) - Vec3d(p)};
  std::array<double, 3> best{1, 0, 0};
  double best_squared = length_squared(v[0]);
  const auto consider = [&](const std::array<double, 3>& w) {
    const double squared = length_squared(w[0] * v[0] + w[1] * v[1] + w[2] * v[2]);
    if (squared < best_squared) best = w, best_squared = squared;
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const double t = closest_parameter({}, v[i], v[j] - v[i]);
    std::array<double, 3> w{};
    w[i] = 1 - t;
    w[j] = t;
    consider(w);
  }
  const Vec3d n = cross(v[1] - v[0], v[2] - v[0]);
  const double nn = dot(n, n);
  std::array<double, 3> w{dot(n, cross(v[1], v[2])), dot(n, cross(v[2], v[0])), dot(n, cross(v[0], v[1]))};
  if (nn > 0 && w[0] >= 0 && w[1] >= 0 && w[2] >= 0) {
    const double sum = w[0] + w[1] + w[2];
    if (sum > 0) consider({w[0] / sum, w[1] / sum, w[2] / sum});
  }
  const Vec3d position = Vec3d(p) + best[0] * v[0] + best[1] * v[1] + best[2] * v[2];
  return {position.to_float(), {float(best[0]), float(best[1]), float(best[2])}, float(best_squared)};
}

// Likewise: an end against the other segment, or the common perpendicular of the two lines.
SegmentPoints closest_of_segments(Vec3 start_a, Vec3 end_a, Vec3 start_b, Vec3 end_b) {
  // Around the first start, to lose nothing far from the origin.
  const Vec3d origin(start_a), p, q = Vec3d(start_b) - origin;
  const Vec3d d = Vec3d(end_a) - origin, e = Vec3d(end_b) - Vec3d(start_b);
  double best_s = 0, best_t = 0, best_squared = length_squared(q);
  const auto consider = [&](double s, double t) {
    const double squared = length_squared(q + t * e - s * d);
    if (squared < best_squared) best_s = s, best_t = t, best_squared = squared;
  };
  for (const double end : {0.0, 1.0}) {
    consider(end, closest_parameter(end * d, q, e));
    consider(closest_parameter(q + end * e, p, d), end);
  }
  const double dd = dot(d, d), de = dot(d, e), ee = dot(e, e), determinant = dd * ee - de * de;
  if (determinant > 0) {
    const double s = std::clamp((ee * dot(d, q) - de * dot(e, q)) / determinant, 0.0, 1.0);
    const double t = closest_parameter(s * d, q, e);
    consider(closest_parameter(q + t * e, p, d), t);
  }
  return {(origin + best_s * d).to_float(), (origin + q + best_t * e).to_float(), float(best_s), float(best_t),
          float(best_squared)};
}

std::optional<RayTriangleHit> intersect_ray_triangle(Vec3 origin, Vec3 direction, float t_max, Vec3 a, Vec3 b, Vec3 c) {
  const Vec3d o(origin), d(direction), va = Vec3d(a) - o, vb = Vec3d(b) - o, vc = Vec3d(c) - o;
  // On which side of each edge the ray passes. Two triangles that share an edge reckon the same number for it, but for
  // its sign, so that no ray slips between them.
  const double u = dot(d, cross(vc, vb)), v = dot(d, cross(va, vc)), w = dot(d, cross(vb, va));
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return std::nullopt;
  const double sum = u + v + w, dd = dot(d, d);
  if (sum == 0 || dd == 0 || !std::isfinite(sum)) return std::nullopt;
  const double t = dot((u / sum) * va + (v / sum) * vb + (w / sum) * vc, d) / dd;
  if (!(t >= 0 && t <= double(t_max))) return std::nullopt;
  return RayTriangleHit{float(t), {float(u / sum), float(v / sum), float(w / sum)}, sum > 0};
}

}  // namespace pliant
