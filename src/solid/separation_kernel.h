// The separation tensor of O'Brien and Hodgins, Graphical Modeling and Animation of Brittle Fracture, 1999: what pulls
// the tets around a node apart.
//
// The stress of a tet is split by its eigenvectors into a tensile part σ⁺ and a compressive one σ⁻. Each puts a force f
// on the tet's corners. With m(a) = a aᵀ / |a|,
//
//   ς = ½ ( −m(Σ f⁺) + Σ m(f⁺) + m(Σ f⁻) − Σ m(f⁻) ),
//
// except that the last two terms together count only where they hold the node together: under a load that presses on a
// node alone, m(Σ f⁻) exceeds Σ m(f⁻) along the load, and compression would pull the node apart.
//
// ς is in newtons: its largest eigenvalue is the force that pulls the node apart, across the plane whose normal is the
// eigenvector. Where all tets around a node are under the same tension σ along n, that force is σ A, with A the area of
// the cells of the node in a plane across n: a sixth of Σ |A_t · n| over the faces A_t opposite to the node. This is
// what makes strengths in pascals independent of the mesh. In biaxial and triaxial tension ς is less than σ A, by a
// third at most.
#pragma once

#include "math/eigen_kernel.h"

namespace pliant {

/// a aᵀ / |a|, and 0 for 0.
template <typename T>
LaneSym3<T> outer_over_length(const LaneVec3<T>& a) {
  const T squared = dot(a, a), tiny = T{} + 1e-30f;
  const T scale = select(squared > tiny, (T{} + 1.0f) / sqrt(max(squared, tiny)), T{});
  const LaneVec3<T> b = a * scale;
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z};
}

/// Σ max(0, sᵢ) nᵢ nᵢᵀ over the eigenvalues: of a stress, what pulls.
template <typename T>
LaneSym3<T> positive_part(const LaneSym3<T>& stress) {
  const LaneEigen<T> e = symmetric_eigen(stress);
  const T a = max(e.values.x, T{}), b = max(e.values.y, T{}), c = max(e.values.z, T{});
  const LaneVec3<T>&u = e.vectors.c0, &v = e.vectors.c1, &w = e.vectors.c2;
  return {a * u.x * u.x + b * v.x * v.x + c * w.x * w.x, a * u.y * u.y + b * v.y * v.y + c * w.y * w.y,
          a * u.z * u.z + b * v.z * v.z + c * w.z * w.z, a * u.x * u.y + b * v.x * v.y + c * w.x * w.y,
          a * u.x * u.z + b * v.x * v.z + c * w.x * w.z, a * u.y * u.z + b * v.y * v.z + c * w.y * w.z};
}

/// No eigenvalue of a symmetric matrix is above this.
template <typename T>
T largest_eigenvalue_bound(const LaneSym3<T>& m) {
  const T mean = m.trace() * (1.0f / 3);
  const LaneSym3<T> rest{m.xx - mean, m.yy - mean, m.zz - mean, m.xy, m.xz, m.yz};
  return mean + sqrt(rest.norm_squared() * (2.0f / 3));
}

/// The sums of the tensor over the tets around a node.
template <typename T>
struct SeparationSums {
  LaneVec3<T> tension, compression;
  LaneSym3<T> pulls, pushes;

  void add(const LaneVec3<T>& tensile, const LaneVec3<T>& compressive) {
    tension = tension + tensile;
    compression = compression + compressive;
    pulls = pulls + outer_over_length(tensile);
    pushes = pushes + outer_over_length(compressive);
  }
  LaneSym3<T> tensor() const {
    const T half = T{} + 0.5f;
    return (pulls - outer_over_length(tension) - positive_part(pushes - outer_over_length(compression))) * half;
  }
  /// Of a held node: what holds it is one more tet around it, that pulls and pushes back.
  LaneSym3<T> held_tensor() const {
    const T half = T{} + 0.5f;
    return (pulls + outer_over_length(tension) - pushes - outer_over_length(compression)) * half;
  }
};

}  // namespace pliant
