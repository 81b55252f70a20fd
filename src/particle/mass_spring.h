// Jelly of masses and springs, by implicit Euler.
//
// Springs pull along edges, volume terms keep tets (or what a closed surface encloses) from collapsing and from turning
// inside out. Each call solves the backward Euler problem
//
//   minimise ½ (v − v₀)ᵀ M (v − v₀) + E(x + h v)                 v₀: the velocity given, gravity included
//
// by Newton's method, with the Hessian's indefinite parts left out and preconditioned conjugate gradients inside; a
// step is halved until the sum above falls. One round of Newton's method is usual, more where the quadratic model was
// wrong by more than a fiftieth of the body's energy. Stable at any stiffness, mass and step; stiff bodies at long
// steps are damped by the method, as always with backward Euler.
//
// A network of springs alone has a Poisson's ratio of 1/4 (Cauchy); the volume terms of tets add what is missing up to
// just under 1/2 (see jelly_builder.h for the moduli).
//
// Departure from 004, which steps mass-spring bodies explicitly: that needs h < 2 √(m/k).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/lane_vectors.h"
#include "math/vec4.h"
#include "particle/lane_groups.h"
#include "particle/rigid_part.h"
#include "particle/spring_matrix.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

struct SpringTerm {
  std::array<std::uint32_t, 2> nodes;
  float rest_length;    ///< m
  float stiffness;      ///< N/m
  Vec3 rest_direction;  ///< from the first node to the second; taken where the two coincide
};

/// Resists a change of a tet's volume with the energy ½ modulus V₀ (V/V₀ − 1)².
struct VolumeTerm {
  Tet nodes;
  float rest_volume;  ///< m³
  float modulus;      ///< Pa
};

/// The same for the volume within a closed surface; no faces: none.
struct Enclosure {
  std::vector<Face> faces;
  float rest_volume = 0;  ///< m³
  float modulus = 0;      ///< Pa
};

struct MassSpringRest {
  std::size_t node_count = 0;
  std::vector<SpringTerm> springs;
  std::vector<VolumeTerm> volumes;
  Enclosure enclosure;
  float damping_ratio = 0.05f;  ///< of each spring with its two masses; 1 is critical
  float deviation_damping = 0;  ///< 1/s, of all but the rigid motion
  float tolerance = 1e-3f;      ///< of the conjugate gradients, relative; a body at rest shivers in proportion to it
  int most_iterations = 100;    ///< in each round of Newton's method
};

class MassSpring {
 public:
  /// Names the spring, term or face that is wrong.
  static Result<MassSpring> create(MassSpringRest rest);

  /// Changes `v` (w: inverse mass, 0: held) to what it is after h seconds without contacts. Both have `node_count`
  /// nodes. Allocates nothing.
  void free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h);

  /// J, at positions x.
  double elastic_energy(Workers& workers, std::span<const Vec4> x);

  const MassSpringRest& rest() const { return rest_; }
  /// The change of velocity in the last call: the first guess of the next. A snapshot that is to go on bit by bit keeps
  /// it; a body set elsewhere may forget it.
  std::span<Vec4> memory() { return {memory_.data(), rest_.node_count}; }
  /// Of the conjugate gradients, in the last call.
  int last_iterations() const { return iterations_; }

 private:
  explicit MassSpring(MassSpringRest rest);

  template <typename Term>
  double sum_groups(Workers& workers, Term&& term);
  double rounding_energy(std::span<const Vec4> x) const;
  double guess(Workers& workers, std::span<const Vec4> x, const RigidPart& rigid, double noise, float h);
  void predict(std::span<const Vec4> x, const RigidPart& rigid, float h, float share);
  double assemble(Workers& workers, float h);
  void invert_diagonal(std::size_t group);
  void assemble_springs(std::size_t group, float h);
  void assemble_volumes(std::size_t group, float h);
  void assemble_enclosure(float h);
  double enclosed_volume_gradient();
  double potential(Workers& workers, float h);
  double gathered_energy() const;
  double descend(Workers& workers, std::span<const Vec4> x, float h, double start);
  double inertia() const;
  double solve(Workers& workers, bool remember);
  double advance(Workers& workers, float step);
  void turn(Workers& workers, float keep);
  double multiply(Workers& workers);
  double dot_of(Workers& workers, const LaneVectors& a, const LaneVectors& b);

  MassSpringRest rest_;
  LaneGroups<2> spring_groups_;
  LaneGroups<4> volume_groups_;
  LaneValues length_, stiffness_, toward_[3];  // per spring
  LaneValues six_volume_, modulus_;            // per tet
  // What this step's matrix is made of: s sᵀ + b I of a spring, u uᵀ of a tet's corners and of the enclosure.
  SpringMatrix matrix_;
  std::vector<Vec4> spring_parts_, corner_parts_;
  LaneValues spring_energy_, volume_energy_;
  std::vector<Vec4> position_;  ///< x + h v, w: inverse mass; one spare node, as in all of these
  std::vector<Vec4> velocity_;  ///< v
  std::vector<Vec4> target_;    ///< v as given
  std::vector<Vec4> force_, memory_;
  LaneVectors residual_, direction_, product_, change_, enclosure_area_;
  std::vector<Vec4> direction_nodes_;  ///< `direction_` again, for products; whole groups
  std::vector<float> inverse_;         ///< of the diagonal blocks, per group 6 x 8; 0 for nodes that do not move
  std::vector<float> mass_;            ///< kg, 0 for held nodes; whole groups
  std::vector<double> partial_;
  double all_stiffness_ = 0;  ///< N/m, of all springs
  float enclosure_scale_ = 0;
  double enclosure_energy_ = 0;
  int iterations_ = 0;
};

}  // namespace pliant
