// How far two features of surfaces are apart, and when they meet: a node and a face, or two edges.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "pliant/math.h"

namespace pliant {

enum class FeaturePair : std::uint8_t {
  NodeFace,  ///< the points are the node and the three corners of the face
  EdgeEdge   ///< the points are the two ends of the one edge and the two of the other
};
using PairPoints = std::array<Vec3, 4>;

/// The nearest points of the two: Σ weights[i] x[i] leads from that of the second to that of the first.
struct Separation {
  std::array<float, 4> weights{};  ///< of the first with the sum 1, of the second with the sum −1
  Vec3 offset;                     ///< m
  float distance = 0;              ///< m, its length
};
Separation find_separation(FeaturePair kind, const PairPoints& x);

/// A cheap test that the features are further apart than `reach`: by their boxes, then by the plane of the face or the
/// two planes that hold the edges.
inline bool are_farther(FeaturePair kind, const PairPoints& x, float reach) {
  const bool is_face = kind == FeaturePair::NodeFace;
  const Vec3 low = min_each(x[2], x[3]), high = max_each(x[2], x[3]);
  const Vec3 lower_a = is_face ? x[0] : min_each(x[0], x[1]), upper_a = is_face ? x[0] : max_each(x[0], x[1]);
  const Vec3 lower_b = is_face ? min_each(x[1], low) : low, upper_b = is_face ? max_each(x[1], high) : high;
  const Vec3 apart = max_each(lower_a - upper_b, lower_b - upper_a);
  if (!(apart.x <= reach && apart.y <= reach && apart.z <= reach)) return true;  // NaN is far too
  const Vec3 d = is_face ? x[2] - x[1] : x[1] - x[0], e = is_face ? x[3] - x[1] : x[3] - x[2];
  const Vec3 n = cross(d, e), r = x[0] - x[3];
  const float nn = dot(n, n), height = dot(r, n);
  if (nn < 1e-6f * dot(d, d) * dot(e, e)) return false;  // too thin for a plane
  const float slack = reach + 1e-4f * (std::abs(r.x) + std::abs(r.y) + std::abs(r.z));
  return height * height > slack * slack * nn;
}

/// An upper bound of how much nearer or further the features can get while their points make the motions `m` (m).
float relative_motion(FeaturePair kind, const PairPoints& m);

/// When the points, on their way from x (time 0) to x + m (time 1), first come so close that the features are
/// `thickness` apart; nothing if they do not. Never late: by additive advancement (Li et al., Codimensional Incremental
/// Potential Contact, 2021), stopped a little before, at 1e-5 of the size of things. What has not been settled after
/// 200 advances counts as meeting.
std::optional<float> find_impact(FeaturePair kind, const PairPoints& x, const PairPoints& m, float thickness);

/// The points around the first of them, so that nothing is lost far from the origin.
inline PairPoints around_first(const PairPoints& x) { return {Vec3{}, x[1] - x[0], x[2] - x[0], x[3] - x[0]}; }
inline PairPoints moved(const PairPoints& x, const PairPoints& m, float t) {
  return {x[0] + t * m[0], x[1] + t * m[1], x[2] + t * m[2], x[3] + t * m[3]};
}
inline Vec3 combine(const std::array<float, 4>& w, const PairPoints& x) {
  return w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3];
}

}  // namespace pliant
