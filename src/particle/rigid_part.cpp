#include "particle/rigid_part.h"

namespace pliant {

namespace {

/// The inertia tensor of a cloud of nodes and what it answers to an angular momentum.
struct Inertia {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  void add(double m, Vec3d r) {
    xx += m * (r.y * r.y + r.z * r.z), yy += m * (r.x * r.x + r.z * r.z), zz += m * (r.x * r.x + r.y * r.y);
    xy -= m * r.x * r.y, xz -= m * r.x * r.z, yz -= m * r.y * r.z;
  }
  /// A body on a line has no inertia about it; the little that is added there changes nothing elsewhere.
  Vec3d spin_of(Vec3d momentum) const {
    const double little = 1e-10 * (xx + yy + zz);
    if (!(little > 0)) return {};
    const double a = xx + little, b = yy + little, c = zz + little;
    const double ca = b * c - yz * yz, cab = xz * yz - xy * c, cac = xy * yz - b * xz;
    const double det = a * ca + xy * cab + xz * cac;
    if (!(det > 0)) return {};
    const double cb = a * c - xz * xz, cbc = xy * xz - a * yz, cc = a * b - xy * xy;
    return Vec3d{ca * momentum.x + cab * momentum.y + cac * momentum.z,
                 cab * momentum.x + cb * momentum.y + cbc * momentum.z,
                 cac * momentum.x + cbc * momentum.y + cc * momentum.z} /
           det;
  }
};

}  // namespace

RigidPart rigid_part(std::span<const Vec4> x, std::span<const Vec4> v) {
  RigidPart part;
  Vec3d moment, momentum;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) {
      part.held = true;
      continue;
    }
    const double m = 1 / static_cast<double>(v[i].w);
    part.mass += m;
    moment += m * Vec3d(x[i].xyz());
    momentum += m * Vec3d(v[i].xyz());
  }
  if (!(part.mass > 0)) return part;
  part.center = moment / part.mass;
  part.velocity = momentum / part.mass;
  Inertia inertia;
  Vec3d angular;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) continue;
    const double m = 1 / static_cast<double>(v[i].w);
    const Vec3d r = Vec3d(x[i].xyz()) - part.center;
    inertia.add(m, r);
    const Vec3d u = Vec3d(v[i].xyz()) - part.velocity;
    angular += m * cross(r, u);
    part.energy_about_center += m * length_squared(u) / 2;
  }
  part.spin = inertia.spin_of(angular);
  return part;
}

/// Rodrigues: R r − r = sin a n×r + (1 − cos a) n×(n×r) for a turn by a = |ω| h about n = ω/|ω|.
RigidTurn::RigidTurn(const RigidPart& rigid, float h) : center_(rigid.center.to_float()), spin_(rigid.spin.to_float()) {
  const double speed = length(rigid.spin), angle = speed * static_cast<double>(h);
  const bool turns = angle > 1e-6;
  sine_part_ = turns ? static_cast<float>(std::sin(angle) / angle - 1) : 0;
  cosine_part_ = turns ? static_cast<float>((1 - std::cos(angle)) / (angle * speed)) : 0;
}

void keep_rigid_part(std::span<const Vec4> x, std::span<Vec4> v, const RigidPart& before, float keep) {
  const RigidPart after = rigid_part(x, v);
  const RigidPart& wanted = after.held ? after : before;
  if (after.held && keep == 1) return;
  const double share = keep;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) continue;
    const Vec3d at(x[i].xyz());
    const Vec3 kept = (wanted.at(at) + share * (Vec3d(v[i].xyz()) - after.at(at))).to_float();
    v[i] = {kept.x, kept.y, kept.z, v[i].w};
  }
}

}  // namespace pliant
