// The rotation in a deformation gradient, for elements that may be flat or inside out.
//
// Where a tet keeps more than 6 % of its volume, the rotation is that of the polar decomposition, found by Newton's
// method from last step's rotation: two iterations give 1e-6 in ordinary motion. Below that, and inside out, Newton's
// method is ill-conditioned or leads to a mirrored tet, and the rotation comes from the singular values, of which the
// smallest is taken as negative where the tet is inside out (Irving, Teran and Fedkiw 2004): the tet is pushed back the
// shortest way.
//
// Parker and O'Brien (2009, section 3) take the rotation of a QR factorisation there. It is cheaper, but it is another
// rotation than the polar one by as much as the tet is sheared, and a tet that passes the threshold jumps from one
// energy to the other: a jelly cube dropped from a metre had four times its energy for it, and went through the floor.
#pragma once

#include "math/eigen_kernel.h"

namespace pliant {

inline constexpr float kFlatVolume = 0.06f;  ///< share of the rest volume below which singular values take over

/// The rotation of `f`, starting from last step's; by singular values where the determinant
/// is not above `flat_determinant`.
template <typename T>
LaneQuat<T> element_rotation(const LaneMat3<T>& f, const LaneQuat<T>& last, T flat_determinant) {
  constexpr int kUsual = 2, kMore = 12;
  constexpr float kAccuracy = 4e-6f;  // rad²; Newton squares the error, so that what is left is 4e-6 rad
  const auto flat = !(determinant(f) > flat_determinant);
  const PolarResult<T> polar = polar_rotation(f, last, kUsual);
  const auto bad = !(polar.error_squared < T{} + kAccuracy);
  if (!any(bad | flat)) return polar.rotation;

  const LaneSvd<T> svd = signed_svd(f, last.to_matrix());
  const LaneQuat<T> exact = quaternion_of(svd.u * svd.v.transposed());
  const PolarResult<T> again = polar_rotation(f, exact, kMore);
  const auto mended = again.error_squared < T{} + kAccuracy;
  const LaneQuat<T> unlike = select(mended, again.rotation, exact);
  return select(flat, exact, select(bad, unlike, polar.rotation));
}

}  // namespace pliant
