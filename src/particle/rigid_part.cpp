#include "particle/rigid_part.h"

#include <algorithm>

namespace pliant {

namespace {

/// The inertia tensor of a cloud of nodes and what it answers to an angular momentum.
struct Inertia {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

  void add(double m, Vec3d r) {
    xx += m * (r.y * r.y + r.z * r.z), yy += m * (r.x * r.x + r.z * r.z), zz += m * (r.x * r.x + r.y * r.y);
    xy -= m * r.x * r.y, xz -= m * r.x * r.z, yz -= m * r.y * r.z;
  }
  Vec3d momentum_of(Vec3d spin) const {
    return {xx * spin.x + xy * spin.y + xz * spin.z, xy * spin.x + yy * spin.y + yz * spin.z,
            xz * spin.x + yz * spin.y + zz * spin.z};
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
  if (x.empty()) return part;
  // One pass, with sums about the first node and its velocity, which are then moved to the centre.
  const Vec3d origin(x[0].xyz()), drift(v[0].xyz());
  Vec3d moment, momentum, angular;
  Inertia inertia;
  double energy = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) {
      part.held = true;
      continue;
    }
    const double m = static_cast<double>(1 / v[i].w);
    const Vec3d r = Vec3d(x[i].xyz()) - origin, u = Vec3d(v[i].xyz()) - drift, p = m * u;
    part.mass += m;
    moment += m * r;
    momentum += p;
    angular += cross(r, p);
    energy += dot(u, p);
    inertia.add(m, r);
  }
  if (!(part.mass > 0)) return part;
  const Vec3d center = moment / part.mass, velocity = momentum / part.mass;
  inertia.add(-part.mass, center);
  part.center = origin + center;
  part.velocity = drift + velocity;
  part.spin = inertia.spin_of(angular - cross(center, momentum));
  part.energy_about_center = std::max((energy - dot(velocity, momentum)) / 2, 0.0);
  return part;
}

/// Rodrigues: R r − r = sin a n×r + (1 − cos a) n×(n×r) for a turn by a = |ω| h about n = ω/|ω|.
RigidTurn::RigidTurn(const RigidPart& rigid, float h) : center_(rigid.center.to_float()), spin_(rigid.spin.to_float()) {
  const double speed = length(rigid.spin), angle = speed * static_cast<double>(h);
  const bool turns = angle > 1e-6;
  sine_part_ = turns ? static_cast<float>(std::sin(angle) / angle - 1) : 0;
  cosine_part_ = turns ? static_cast<float>((1 - std::cos(angle)) / (angle * speed)) : 0;
}

namespace {

void add_velocity(Vec4& v, Vec3 more) { v = {v.x + more.x, v.y + more.y, v.z + more.z, v.w}; }

/// Turns the shape x + h v so that the body's spin becomes `wanted`, as nearly as one step of Newton's method does.
void turn_end(std::span<const Vec4> x, std::span<Vec4> v, const RigidPart& now, Vec3d wanted, float h) {
  const double dt = h;
  const Vec3d end_center = now.center + dt * now.velocity;
  const auto end = [&](std::size_t i) { return Vec3d(x[i].xyz()) + dt * Vec3d(v[i].xyz()) - end_center; };
  // Of a turn by θ of the ends e the angular momentum is Σ m r × (θ × e) / h, where r × (θ × e) = (r·e) θ − e (r·θ).
  // The two are so near each other that the symmetric part is enough.
  Inertia inertia, at_start;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double m = static_cast<double>(1 / v[i].w);
    const Vec3d r = Vec3d(x[i].xyz()) - now.center;
    inertia.add(m, 0.5 * (r + end(i)));
    at_start.add(m, r);
  }
  RigidPart turn;
  turn.center = end_center;
  turn.spin = inertia.spin_of(at_start.momentum_of(wanted - now.spin));
  const RigidTurn arc(turn, h);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Vec3d e = end(i);
    const Vec3 at = (end_center + e).to_float();
    add_velocity(v[i], cross(turn.spin, e).to_float() + arc.arc_velocity(at));
  }
}

}  // namespace

void keep_rigid_part(std::span<const Vec4> x, std::span<Vec4> v, const RigidPart& before, float keep, float h) {
  RigidPart after = rigid_part(x, v);
  if (after.held && keep == 1) return;
  constexpr int kTurns = 3;
  constexpr double kGrowth = 1e-7;  // of lengths, that is let be
  for (int i = 0; i < kTurns && !after.held && after.mass > 0; ++i) {
    const double growth = length(before.spin - after.spin) * length(before.spin) * static_cast<double>(h * h);
    if (!(growth > kGrowth)) break;
    turn_end(x, v, after, before.spin, h);
    after = rigid_part(x, v);
  }
  const RigidPart& wanted = after.held ? after : before;
  const double share = keep;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].w == 0) continue;
    const Vec3d at(x[i].xyz());
    const Vec3 kept = (wanted.at(at) + share * (Vec3d(v[i].xyz()) - after.at(at))).to_float();
    v[i] = {kept.x, kept.y, kept.z, v[i].w};
  }
}

}  // namespace pliant
