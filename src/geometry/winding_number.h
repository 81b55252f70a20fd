// How often a surface winds around a point: 1 inside a closed surface that faces outward, 0 outside of it, and a smooth
// passage between the two where it has holes.
//
// The generalised winding number of Jacobson et al. 2013, reckoned with the tree of Barill et al. 2018 ("Fast winding
// numbers for soups and clouds"): triangles that are far away count together, by the first three terms of their Taylor
// series.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

class WindingNumber {
 public:
  /// Keeps copies. All faces must be in range and finite.
  WindingNumber(std::span<const Vec3> vertices, std::span<const Face> faces);

  /// Right to about 0.01, and mostly much better; O(log n) for points away from the surface.
  double operator()(Vec3 point) const;

 private:
  struct Triangle {
    Vec3 a, b, c;
  };
  /// Children follow their parent: the first is the next node, the second is `link`. A leaf holds `count` triangles
  /// from `link` on.
  struct Node {
    Vec3 center;         ///< weighted by area
    float near_squared;  ///< within this distance the node has to be opened
    Vec3 area;           ///< the sum of its area vectors n
    /// With d from the centre to a point of the surface: the integral of n dᵀ, its symmetric part, as xx, yy, zz, xy,
    /// yz, zx; of 2 (n·d) d + |d|² n; and of (n·r)(d·r)² as a polynomial in r, with the coefficients of x³, y³, z³,
    /// x²y, x²z, y²x, y²z, z²x, z²y, xyz.
    std::array<float, 6> first;
    Vec3 second;
    std::array<float, 10> cubic;
    std::uint32_t link, count;
  };

  void build(std::span<Triangle> triangles);
  static Node summarize(std::span<const Triangle> triangles);

  std::vector<Triangle> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace pliant
