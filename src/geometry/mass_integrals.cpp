#include "geometry/mass_integrals.h"

namespace pliant {
namespace {

/// Q A Qᵀ for the rotation Q whose columns are given.
Sym3d rotated(const Sym3d& a, Vec3d qx, Vec3d qy, Vec3d qz) {
  // A = Σ a_ij e_i e_jᵀ, and Q e_i is the column i.
  const auto cross_term = [](Vec3d u, Vec3d v) {  // u vᵀ + v uᵀ
    return Sym3d{2 * u.x * v.x,         2 * u.y * v.y,         2 * u.z * v.z,
                 u.x * v.y + u.y * v.x, u.y * v.z + u.z * v.y, u.z * v.x + u.x * v.z};
  };
  return a.xx * outer(qx) + a.yy * outer(qy) + a.zz * outer(qz) + a.xy * cross_term(qx, qy) +
         a.yz * cross_term(qy, qz) + a.zx * cross_term(qz, qx);
}

}  // namespace

MassProperties MassMoments::to_properties() const {
  MassProperties p;
  p.mass = float(mass);
  p.center_of_mass = center.to_float();
  // I = tr(S) − S
  p.inertia.rows[0] = {float(second.yy + second.zz), float(-second.xy), float(-second.zx)};
  p.inertia.rows[1] = {float(-second.xy), float(second.zz + second.xx), float(-second.yz)};
  p.inertia.rows[2] = {float(-second.zx), float(-second.yz), float(second.xx + second.yy)};
  return p;
}

MassMoments enclosed_moments(const TriMesh& mesh) {
  if (mesh.vertices.empty()) return {};
  // Over the tets from a point near the surface to each face: far from it the parts would cancel.
  const Vec3d apex(mesh.vertices[0]);
  double six_v = 0;
  Vec3d first;   // 24 ∫ r dV
  Sym3d second;  // 120 ∫ r rᵀ dV
  for (const Face& f : mesh.faces) {
    const Vec3d a = Vec3d(mesh.vertices[f[0]]) - apex, b = Vec3d(mesh.vertices[f[1]]) - apex,
                c = Vec3d(mesh.vertices[f[2]]) - apex;
    const double d = dot(cross(a, b), c);
    const Vec3d sum = a + b + c;
    six_v += d;
    first += d * sum;
    second = second + d * (outer(sum) + outer(a) + outer(b) + outer(c));
  }
  MassMoments m;
  m.mass = six_v / 6;
  if (m.mass == 0) return m;
  const Vec3d from_apex = first / (24 * m.mass);
  m.center = apex + from_apex;
  m.second = (1.0 / 120) * second - m.mass * outer(from_apex);
  return m;
}

MassMoments moved(const MassMoments& moments, const Transform& to_from) {
  const double x = to_from.rotation.x, y = to_from.rotation.y, z = to_from.rotation.z, w = to_from.rotation.w;
  const double s = 2 / (x * x + y * y + z * z + w * w);
  const Vec3d qx(1 - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w));
  const Vec3d qy(s * (x * y - z * w), 1 - s * (x * x + z * z), s * (y * z + x * w));
  const Vec3d qz(s * (x * z + y * w), s * (y * z - x * w), 1 - s * (x * x + y * y));
  const Vec3d c = moments.center;
  return {moments.mass, qx * c.x + qy * c.y + qz * c.z + Vec3d(to_from.position), rotated(moments.second, qx, qy, qz)};
}

MassMoments joined(const MassMoments& a, const MassMoments& b) {
  MassMoments m;
  m.mass = a.mass + b.mass;
  if (m.mass == 0) return m;
  m.center = (a.mass * a.center + b.mass * b.center) / m.mass;
  m.second = a.second + b.second + a.mass * outer(a.center - m.center) + b.mass * outer(b.center - m.center);
  return m;
}

}  // namespace pliant
