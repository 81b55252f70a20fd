// Mass of bodies in double: how it is spread, shifted, turned and summed.
#pragma once

#include "math/vec3d.h"
#include "pliant/mesh.h"
#include "pliant/shapes.h"

namespace pliant {

/// A symmetric 3x3 matrix.
struct Sym3d {
  double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0;

  friend Sym3d operator+(Sym3d a, Sym3d b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.yz + b.yz, a.zx + b.zx};
  }
  friend Sym3d operator-(Sym3d a, Sym3d b) { return a + -1 * b; }
  friend Sym3d operator*(double s, Sym3d a) { return {s * a.xx, s * a.yy, s * a.zz, s * a.xy, s * a.yz, s * a.zx}; }
};

/// v vᵀ.
constexpr Sym3d outer(Vec3d v) { return {v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.y * v.z, v.z * v.x}; }

/// Mass, its centre, and the second moments ∫ r rᵀ dm about that centre. Unlike inertia, second moments turn and add
/// without their trace getting in the way.
struct MassMoments {
  double mass = 0;
  Vec3d center;
  Sym3d second;

  MassProperties to_properties() const;
};

/// Of what a closed surface encloses, filled with unit density; exact (up to rounding) for its flat faces.
MassMoments enclosed_moments(const TriMesh& mesh);
/// Moved rigidly.
MassMoments moved(const MassMoments& moments, const Transform& to_from);
/// Of both together.
MassMoments joined(const MassMoments& a, const MassMoments& b);

}  // namespace pliant
