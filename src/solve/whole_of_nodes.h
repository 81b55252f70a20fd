// Masses at nodes, as they move as a whole: (v, ω radius) about their centre of mass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/cholesky6.h"
#include "math/vec3d.h"

namespace pliant {

inline void add_to(Vector6& v, std::size_t first, Vec3d added) {
  v[first] += added.x, v[first + 1] += added.y, v[first + 2] += added.z;
}

class WholeOfNodes {
 public:
  /// `place(i)` and `mass(i)` of each node, the mass 0 for nodes that are held.
  template <typename Place, typename Mass>
  void begin(std::size_t count, Place&& place, Mass&& mass);
  double mass() const { return mass_; }
  double radius() const { return radius_; }
  bool is_free() const { return is_free_; }  ///< no node is held
  double mass_of(std::size_t node) const { return masses_[node]; }
  bool is_moved(std::size_t node) const { return masses_[node] > 0; }
  /// From the centre of mass, over the radius.
  Vec3d arm(std::size_t node) const { return arms_[node]; }
  Vec3d motion_at(const Vector6& motion, std::size_t node) const {
    return Vec3d{motion[0], motion[1], motion[2]} + cross(Vec3d{motion[3], motion[4], motion[5]}, arms_[node]);
  }
  /// Of impulses at nodes, `value(i)`.
  template <typename Value>
  Vector6 sum(Value&& value) const;
  /// Σ m |v|², `velocity(i)` of the nodes that are not held.
  template <typename Velocity>
  double motion_squared(Velocity&& velocity) const;
  template <typename Velocity>
  Vec3d momentum(Velocity&& velocity) const;
  /// The mass and inertia.
  void get_matrix(double (&block)[36]) const;

 private:
  double mass_ = 0, radius_ = 1;
  bool is_free_ = true;
  std::vector<double> masses_;
  std::vector<Vec3d> arms_;
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename Place, typename Mass>
void WholeOfNodes::begin(std::size_t count, Place&& place, Mass&& mass) {
  mass_ = 0, is_free_ = true;
  masses_.resize(count), arms_.resize(count);
  Vec3d center{};
  for (std::size_t i = 0; i < count; ++i) {
    masses_[i] = static_cast<double>(mass(i));
    is_free_ = is_free_ && masses_[i] > 0;
    mass_ += masses_[i];
    center += Vec3d(place(i)) * masses_[i];
  }
  if (mass_ > 0) center = center / mass_;
  double spread = 0;
  for (std::size_t i = 0; i < count; ++i) {
    arms_[i] = Vec3d(place(i)) - center;
    spread += masses_[i] * length_squared(arms_[i]);
  }
  radius_ = mass_ > 0 && spread > 0 ? std::sqrt(spread / mass_) : 1;
  for (Vec3d& arm : arms_) arm = arm / radius_;
}

template <typename Value>
Vector6 WholeOfNodes::sum(Value&& value) const {
  Vector6 total{};
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const Vec3d own = value(i);
    add_to(total, 0, own);
    add_to(total, 3, cross(arms_[i], own));
  }
  return total;
}

template <typename Velocity>
double WholeOfNodes::motion_squared(Velocity&& velocity) const {
  double total = 0;
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    if (is_moved(i)) total += masses_[i] * length_squared(velocity(i));
  }
  return total;
}

template <typename Velocity>
Vec3d WholeOfNodes::momentum(Velocity&& velocity) const {
  Vec3d total{};
  for (std::size_t i = 0; i < masses_.size(); ++i) total += velocity(i) * masses_[i];
  return total;
}

inline void WholeOfNodes::get_matrix(double (&block)[36]) const {
  std::fill(std::begin(block), std::end(block), 0.0);
  for (std::size_t k = 0; k < 3; ++k) block[7 * k] = mass_;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const Vec3d a = arms_[i];
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        block[6 * (3 + r) + 3 + c] += masses_[i] * ((r == c ? length_squared(a) : 0) - a[r] * a[c]);
      }
    }
  }
  // A straight rope has no inertia about itself.
  for (std::size_t k = 3; k < 6; ++k) block[7 * k] += 1e-3 * mass_;
}

}  // namespace pliant
