// Eight faces of a leaf against one node, one face or eight others, in one go.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

// box_kernel.h has vector types of its own within a function, which must not shadow those of simd.h: it comes first.
// clang-format off
#include "geometry/box_kernel.h"
#include "base/simd.h"
// clang-format on
#include "pliant/math.h"

namespace pliant {

/// Where eight faces are, by coordinate, and their normals of length 1 (or 0). Lanes without a face repeat another one;
/// lanes of faces that are nowhere hold NaN.
struct alignas(32) FaceLanes {
  float corners[3][3][8], normals[3][8];

  Vec3x8 corner(std::size_t i) const { return {load8(corners[i][0]), load8(corners[i][1]), load8(corners[i][2])}; }
  Vec3x8 normal() const { return {load8(normals[0]), load8(normals[1]), load8(normals[2])}; }
  Vec3 corner_at(std::size_t i, std::uint32_t lane) const {
    return {corners[i][0][lane], corners[i][1][lane], corners[i][2][lane]};
  }
  Vec3 normal_at(std::uint32_t lane) const { return {normals[0][lane], normals[1][lane], normals[2][lane]}; }
  void move(Vec3 way) {
    for (auto& corner : corners) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (float& c : corner[a]) c += way[a];
      }
    }
  }
  void set(std::uint32_t lane, const std::array<Vec3, 3>& x, Vec3 n) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t i = 0; i < 3; ++i) corners[i][a][lane] = x[i][a];
      normals[a][lane] = n[a];
    }
  }
};

/// Eight edges, with the boxes of their foretold paths. Lanes without an edge have boxes that overlap nothing.
struct alignas(32) EdgeLanes {
  Box8 boxes;
  float ends[2][3][8];
  std::uint32_t nodes[2][8];
  std::uint32_t edges[8];
  std::uint32_t ridges;  ///< bit i: edge i is not flat

  Vec3x8 end(std::size_t i) const { return {load8(ends[i][0]), load8(ends[i][1]), load8(ends[i][2])}; }
  Vec3 end_at(std::size_t i, std::uint32_t lane) const {
    return {ends[i][0][lane], ends[i][1][lane], ends[i][2][lane]};
  }
};

inline std::uint32_t bits_of(Int8 mask) {
#if defined(__AVX__)
  return std::uint32_t(_mm256_movemask_ps(__m256(mask)));
#else
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < kLanes; ++i) bits |= std::uint32_t(mask[i] & 1) << i;
  return bits;
#endif
}
inline Vec3x8 broadcast(Vec3 p) { return {broadcast(p.x), broadcast(p.y), broadcast(p.z)}; }

/// Bit i is set if a node at p may be nearer than `reach` to face i, judged by its height over the plane and by its
/// distance from the three edges within the plane.
inline std::uint32_t near_faces(const FaceLanes& faces, Vec3 p, float reach) {
  const Vec3x8 n = faces.normal(), x = broadcast(p);
  const Float8 height = dot(x - faces.corner(0), n);
  const Float8 left = reach * reach - height * height;  // the square of the reach within the plane
  Int8 is_near = left >= 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3x8 start = faces.corner(i), edge = faces.corner((i + 1) % 3) - start;
    const Float8 inside = dot(cross(n, edge), x - start);
    is_near &= (inside >= 0) | (inside * inside <= left * dot(edge, edge));
  }
  return bits_of(is_near);
}

/// As `near_faces` for faces that look outward: a node may be up to `front` before the face or up to `back` behind it,
/// and as far beside it as `beside` or, if that is more, as deep behind it as beside it. Where a closed surface bulges
/// nothing behind a face is nearest to its rim, and where it has a crease of up to 90° nothing beyond this is.
inline std::uint32_t near_closed_faces(const FaceLanes& faces, Vec3 p, float front, float back, float beside) {
  const Vec3x8 n = faces.normal(), x = broadcast(p);
  const Float8 height = dot(x - faces.corner(0), n);
  const Float8 reach = beside + max(-height, broadcast(0.0f));
  Int8 is_near = (height <= front) & (-height <= back);
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3x8 start = faces.corner(i), edge = faces.corner((i + 1) % 3) - start;
    const Float8 inside = dot(cross(n, edge), x - start);
    is_near &= (inside >= 0) | (inside * inside <= reach * reach * dot(edge, edge));
  }
  return bits_of(is_near);
}

/// Bit i is set if no plane of the one or the other keeps the face and face i further apart than `distance`.
inline std::uint32_t unparted_faces(const FaceLanes& faces, const FaceLanes& others, std::uint32_t lane,
                                    float distance) {
  const Vec3x8 n = faces.normal(), start = faces.corner(0);
  const Vec3x8 other_n = broadcast(others.normal_at(lane)), other_start = broadcast(others.corner_at(0, lane));
  Float8 low = dot(other_start - start, n), high = low;
  Float8 other_low = dot(start - other_start, other_n), other_high = other_low;
  for (std::size_t i = 1; i < 3; ++i) {
    const Float8 height = dot(broadcast(others.corner_at(i, lane)) - start, n);
    const Float8 other_height = dot(faces.corner(i) - other_start, other_n);
    low = min(height, low), high = max(height, high);
    other_low = min(other_height, other_low), other_high = max(other_height, other_high);
  }
  return bits_of((low <= distance) & (-high <= distance) & (other_low <= distance) & (-other_high <= distance));
}

/// Bit i is set if the planes that hold edge i and an edge from a to b are not further apart than `reach`.
inline std::uint32_t unparted_edges(const EdgeLanes& edges, Vec3 a, Vec3 b, float reach) {
  const Vec3x8 d = broadcast(b - a), start = edges.end(0), e = edges.end(1) - start, r = broadcast(a) - start;
  const Vec3x8 n = cross(d, e);
  const Float8 nn = dot(n, n), height = dot(r, n);
  const Float8 slack = reach + 1e-4f * (abs(r.x) + abs(r.y) + abs(r.z));
  return bits_of((nn < 1e-6f * dot(d, d) * dot(e, e)) | ~(height * height > slack * slack * nn));
}

/// Bit i is set if edge i ends in one of two nodes.
inline std::uint32_t joined_edges(const EdgeLanes& edges, std::uint32_t a, std::uint32_t b) {
  Int8 first, second;
  std::memcpy(&first, edges.nodes[0], sizeof first);
  std::memcpy(&second, edges.nodes[1], sizeof second);
  const auto p = std::int32_t(a), q = std::int32_t(b);
  return bits_of((first == p) | (first == q) | (second == p) | (second == q));
}

/// Whether a plane at right angles to `normal` keeps all faces of the one further than `distance` from all of the
/// other.
inline bool are_parted(const FaceLanes& a, const FaceLanes& b, Vec3 normal, float distance) {
  const Vec3x8 n = broadcast(normal);
  const Vec3x8 origin = broadcast(a.corner_at(0, 0));
  const Float8 start = dot(b.corner(0) - origin, n), own = dot(a.corner(0) - origin, n);
  Float8 low = start, high = start, own_low = own, own_high = own;
  for (std::size_t i = 1; i < 3; ++i) {
    const Float8 height = dot(b.corner(i) - origin, n), own_height = dot(a.corner(i) - origin, n);
    low = min(height, low), high = max(height, high);
    own_low = min(own_height, own_low), own_high = max(own_height, own_high);
  }
  float least = low[0], most = high[0], own_least = own_low[0], own_most = own_high[0];
  for (std::size_t i = 1; i < kLanes; ++i) {
    least = min(low[i], least), most = max(high[i], most);
    own_least = min(own_low[i], own_least), own_most = max(own_high[i], own_most);
  }
  return least - own_most > distance || own_least - most > distance;
}

}  // namespace pliant
