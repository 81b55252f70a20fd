// Overlap of triangles and tets by separating axes.
//
// Two convex figures are apart if and only if some axis separates their shadows on it, and of the axes that matter for
// the figure a − b (all differences of their points) there are few: the normals of its sides. If it has a volume, these
// are cross products of two edges; if it is flat, its own normal and the normals of its edges within its plane; if it
// is a line or a point, the direction along it or across it. All are tried, so that degenerate figures need no case of
// their own; an axis too many costs time and is never wrong.
#include <algorithm>
#include <cmath>

#include "geometry/primitives.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

/// Gaps smaller than this share of the figures' size are rounding.
constexpr double kRelativeGap = 1e-14;

template <std::size_t N>
class AxisTest {
 public:
  AxisTest(const std::array<Vec3, N>& a, const std::array<Vec3, N>& b) {
    const Vec3d origin(a[0]);
    for (std::size_t i = 0; i < N; ++i) {
      a_[i] = Vec3d(a[i]) - origin;
      b_[i] = Vec3d(b[i]) - origin;
      size_ = std::max({size_, length(a_[i]), length(b_[i])});
      for (std::size_t j = 0; j < i; ++j) {
        edges_[edge_count_++] = a_[i] - a_[j];
        edges_[edge_count_++] = b_[i] - b_[j];
      }
    }
  }

  bool is_separated() const {
    Vec3d normal;  // the longest cross product: the plane's normal, if all is flat
    for (std::size_t i = 0; i < edge_count_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Vec3d axis = cross(edges_[i], edges_[j]);
        if (separates(axis)) return true;
        if (length_squared(axis) > length_squared(normal)) normal = axis;
      }
    }
    Vec3d longest;
    for (std::size_t i = 0; i < edge_count_; ++i) {
      if (separates(cross(normal, edges_[i]))) return true;
      if (length_squared(edges_[i]) > length_squared(longest)) longest = edges_[i];
    }
    if (separates(longest)) return true;
    const Vec3d between = b_[0] - a_[0], along = normalized(longest);
    return separates(between - dot(between, along) * along);
  }

 private:
  bool separates(Vec3d axis) const {
    double lower_a = dot(axis, a_[0]), upper_a = lower_a, lower_b = dot(axis, b_[0]), upper_b = lower_b;
    for (std::size_t i = 1; i < N; ++i) {
      const double pa = dot(axis, a_[i]), pb = dot(axis, b_[i]);
      lower_a = std::min(lower_a, pa), upper_a = std::max(upper_a, pa);
      lower_b = std::min(lower_b, pb), upper_b = std::max(upper_b, pb);
    }
    return std::max(lower_a - upper_b, lower_b - upper_a) > kRelativeGap * size_ * length(axis);
  }

  std::array<Vec3d, N> a_, b_;
  std::array<Vec3d, N*(N - 1)> edges_;
  std::size_t edge_count_ = 0;
  double size_ = 0;
};

}  // namespace

bool triangles_overlap(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b) {
  return !AxisTest<3>(a, b).is_separated();
}

bool tets_overlap(const std::array<Vec3, 4>& a, const std::array<Vec3, 4>& b) {
  return !AxisTest<4>(a, b).is_separated();
}

}  // namespace pliant
