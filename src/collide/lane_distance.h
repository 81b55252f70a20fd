// How far points are from the shapes that short formulas describe, eight points at a time.
//
// The same answers as `ShapeProbe::nearest` but in floats; other shapes have no lanes and are asked point by point.
#pragma once

#include <variant>

#include "math/lane_math.h"
#include "math/vec3d.h"
#include "pliant/shapes.h"

namespace pliant {

/// A shape that lanes can ask, planes with a unit normal; or none.
using LaneShape = std::variant<std::monostate, Sphere, Box, Capsule, Plane>;

inline LaneShape lane_shape(const Shape& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return *sphere;
  if (const auto* box = std::get_if<Box>(&shape)) return *box;
  if (const auto* capsule = std::get_if<Capsule>(&shape)) return *capsule;
  if (const auto* plane = std::get_if<Plane>(&shape)) {
    return Plane{normalized(Vec3d(plane->normal)).to_float(), plane->offset};
  }
  return {};
}

template <typename T>
struct LaneDistance {
  T distance{};          ///< m, negative inside
  LaneVec3<T> normal{};  ///< unit, outward
};

/// Of a ball around the end of `offset` from the point of the skeleton that is nearest.
template <typename T>
LaneDistance<T> lane_distance_around(const LaneVec3<T>& offset, float radius, const LaneVec3<T>& normal_at_center) {
  const T length = sqrt(dot(offset, offset)), one = T{} + 1.0f;
  const auto some = length > T{};
  return {length - radius, select(some, offset * (one / select(some, length, one)), normal_at_center)};
}

template <typename T>
LaneDistance<T> lane_distance(const Sphere& sphere, const LaneVec3<T>& p) {
  return lane_distance_around(p, sphere.radius, LaneVec3<T>{T{}, T{} + 1.0f, T{}});
}

template <typename T>
LaneDistance<T> lane_distance(const Capsule& capsule, const LaneVec3<T>& p) {
  const T half = T{} + 0.5f * capsule.height;
  const T height = max(min(p.y, half), -half);
  return lane_distance_around(LaneVec3<T>{p.x, p.y - height, p.z}, capsule.radius, LaneVec3<T>{T{} + 1.0f, T{}, T{}});
}

template <typename T>
LaneDistance<T> lane_distance(const Plane& plane, const LaneVec3<T>& p) {
  const LaneVec3<T> normal{T{} + plane.normal.x, T{} + plane.normal.y, T{} + plane.normal.z};
  return {dot(p, normal) - plane.offset, normal};
}

template <typename T>
LaneDistance<T> lane_distance(const Box& box, const LaneVec3<T>& p) {
  const T zero{}, one = zero + 1.0f;
  const LaneVec3<T> sign{select(p.x < zero, -one, one), select(p.y < zero, -one, one), select(p.z < zero, -one, one)};
  const LaneVec3<T> over{abs(p.x) - 0.5f * box.size.x, abs(p.y) - 0.5f * box.size.y, abs(p.z) - 0.5f * box.size.z};
  const LaneVec3<T> outside{max(over.x, zero), max(over.y, zero), max(over.z, zero)};
  const T length = sqrt(dot(outside, outside));
  const auto is_outside = length > zero;
  // Within, the nearest face counts; of two that are equally near the first.
  const T most = max(max(over.x, over.y), over.z);
  const auto by_x = over.x == most;
  const T nx = select(by_x, one, zero), ny = select(over.y == most, one - nx, zero), nz = one - nx - ny;
  const T scale = one / select(is_outside, length, one);
  return {select(is_outside, length, most),
          {sign.x * select(is_outside, outside.x * scale, nx), sign.y * select(is_outside, outside.y * scale, ny),
           sign.z * select(is_outside, outside.z * scale, nz)}};
}

}  // namespace pliant
