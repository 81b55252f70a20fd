// Corotational linear elasticity, one tet or eight at a time (Parker and O'Brien 2009, section 3).
//
// The strain is measured in the frame of the element's own rotation R: e = sym(Rᵀ F) − I − e_rest, where e_rest holds
// plastic flow. The Cauchy-like stress is s = 2 μ e + λ tr(e) I, the force on corner i is −V R s g_i with g_i the
// gradient of its shape function at rest.
#pragma once

#include "math/element_rotation.h"

namespace pliant {

/// What an element is made of and how it lay at rest.
template <typename T>
struct ElementRest {
  LaneMat3<T> gradients;  ///< columns g1, g2, g3; g0 = −(g1 + g2 + g3)
  T volume, lambda, mu;
  T stiffness_damping;  ///< Rayleigh's β, s
  T flat_determinant;   ///< below this the element counts as flat
};

/// F = Σ x_i g_iᵀ, from the corners relative to the first.
template <typename T>
LaneMat3<T> deformation_gradient(const LaneVec3<T> (&x)[4], const LaneMat3<T>& gradients) {
  const LaneMat3<T> edges{x[1] - x[0], x[2] - x[0], x[3] - x[0]};
  // edges * gradientsᵀ: the rows of the basis matrix are the gradients.
  return edges * gradients.transposed();
}

/// The elastic strain in the element's frame.
template <typename T>
LaneSym3<T> corotational_strain(const LaneMat3<T>& rotation, const LaneMat3<T>& f, const LaneSym3<T>& rest) {
  const T one = T{} + 1.0f;
  LaneSym3<T> e = symmetric_part(rotation.transposed_times(f)) - rest;
  e.xx -= one, e.yy -= one, e.zz -= one;
  return e;
}

template <typename T>
LaneSym3<T> linear_stress(const LaneSym3<T>& strain, T lambda, T mu) {
  const T two_mu = mu + mu, pressure = lambda * strain.trace();
  return {two_mu * strain.xx + pressure,
          two_mu * strain.yy + pressure,
          two_mu * strain.zz + pressure,
          two_mu * strain.xy,
          two_mu * strain.xz,
          two_mu * strain.yz};
}

/// Parker and O'Brien's eq. 3: beyond the yield strain a share of the excess flows, up to a maximum.
template <typename T>
LaneSym3<T> plastic_flow(const LaneSym3<T>& elastic, const LaneSym3<T>& plastic, T yield, T share, T most) {
  const T tiny = T{} + 1e-20f, one = T{} + 1.0f;
  const T norm = sqrt(max(elastic.norm_squared(), tiny));
  const T flow = share * max(norm - yield, T{}) / norm;
  const LaneSym3<T> flowed = plastic + elastic * flow;
  const T size = sqrt(max(flowed.norm_squared(), tiny));
  return flowed * min(one, most / size);
}

/// An element's part of the step: forces on its corners, and the vectors h_i = √(V μ (dt² + β dt)) R g_i from whose
/// outer products its part of the matrix is made.
template <typename T>
struct ElementOutput {
  LaneVec3<T> force[4], h[4];
};

template <typename T>
ElementOutput<T> corotational_output(const ElementRest<T>& rest, const LaneMat3<T>& rotation, const LaneSym3<T>& stress,
                                     T dt) {
  ElementOutput<T> out;
  const T scale = sqrt(rest.volume * rest.mu * (dt * dt + rest.stiffness_damping * dt));
  const LaneVec3<T> gradients[3] = {rest.gradients.c0, rest.gradients.c1, rest.gradients.c2};
  LaneVec3<T> force_sum, h_sum;
  for (int i = 0; i < 3; ++i) {
    out.force[i + 1] = rotation * (stress * gradients[i]) * -rest.volume;
    out.h[i + 1] = rotation * gradients[i] * scale;
    force_sum = force_sum + out.force[i + 1];
    h_sum = h_sum + out.h[i + 1];
  }
  out.force[0] = -force_sum;
  out.h[0] = -h_sum;
  return out;
}

}  // namespace pliant
