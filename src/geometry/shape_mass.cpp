// Mass properties of shapes: closed forms for the simple ones, exact integrals for hulls, sums for compounds.
#include <cmath>

#include <fmt/format.h>

#include "geometry/convex_hull.h"
#include "geometry/mass_integrals.h"
#include "pliant/shapes.h"

namespace pliant {
namespace {

/// Second moments of a body that is round about Y: along Y, and across it.
Sym3d round_second(double along, double across) { return {across, along, across, 0, 0, 0}; }

// The moments of each shape filled with unit density.

Result<MassMoments> moments(const Sphere& s) {
  const double r = s.radius, m = 4.0 / 3 * kPiD * r * r * r;
  return MassMoments{m, {}, round_second(m * r * r / 5, m * r * r / 5)};
}

Result<MassMoments> moments(const Box& s) {
  const double x = s.size.x, y = s.size.y, z = s.size.z, m = x * y * z;
  return MassMoments{m, {}, {m * x * x / 12, m * y * y / 12, m * z * z / 12, 0, 0, 0}};
}

Result<MassMoments> moments(const Cylinder& s) {
  const double r = s.radius, h = s.height, m = kPiD * r * r * h;
  return MassMoments{m, {}, round_second(m * h * h / 12, m * r * r / 4)};
}

Result<MassMoments> moments(const Capsule& s) {
  const double r = s.radius, h = s.height;
  const double side = kPiD * r * r * h, ends = 4.0 / 3 * kPiD * r * r * r;
  // Each half sphere has its centre of mass 3/8 r beyond the end of the cylinder.
  const double along = side * h * h / 12 + ends * (r * r / 5 + h * h / 4 + 3.0 / 8 * h * r);
  return MassMoments{side + ends, {}, round_second(along, side * r * r / 4 + ends * r * r / 5)};
}

Result<MassMoments> moments(const Cone& s) {
  const double r = s.radius, h = s.height, m = kPiD * r * r * h / 3;
  return MassMoments{m, {0, -h / 4, 0}, round_second(m * 3 / 80 * h * h, m * 3 / 20 * r * r)};
}

Result<MassMoments> moments(const ConvexHull& s) {
  const Result<TriMesh> hull = convex_hull(s.points);
  if (!hull) return hull.error();
  return enclosed_moments(*hull);
}

template <typename Massless>
Result<MassMoments> no_moments(const Massless& shape) {
  return Error{Error::Code::Unsupported,
               fmt::format("a {} has no mass of its own: make its body static or kinematic, or use convex hulls",
                           shape_name(shape)),
               "", "", 0};
}
Result<MassMoments> moments(const TriangleMesh& s) { return no_moments(s); }
Result<MassMoments> moments(const Heightfield& s) { return no_moments(s); }
Result<MassMoments> moments(const Plane& s) { return no_moments(s); }

Result<MassMoments> moments(const Compound& s) {
  MassMoments sum;
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    const Result<MassMoments> part = std::visit([](const auto& p) { return moments(p); }, s.parts[i].shape);
    if (!part) {
      Error error = part.error();
      error.field = fmt::format("parts[{}].shape{}{}", i, error.field.empty() ? "" : ".", error.field);
      return error;
    }
    sum = joined(sum, moved(*part, s.parts[i].body_from_part));
  }
  return sum;
}

bool is_sound(const MassProperties& p) {
  const bool finite = std::isfinite(p.mass) && is_finite(p.center_of_mass) && is_finite(p.inertia.rows[0]) &&
                      is_finite(p.inertia.rows[1]) && is_finite(p.inertia.rows[2]);
  return finite && p.mass > 0 && p.inertia(0, 0) > 0 && p.inertia(1, 1) > 0 && p.inertia(2, 2) > 0;
}

}  // namespace

Result<MassProperties> mass_properties(const Shape& shape, float density) {
  if (!(density > 0) || !std::isfinite(density)) {
    return Error{Error::Code::InvalidArgument,
                 fmt::format("a density must be positive and finite, not {} kg/m³", density), "", "density", 0};
  }
  if (const Status status = validate(shape); !status) return status.error();
  Result<MassMoments> m = std::visit([](const auto& s) { return moments(s); }, shape);
  if (!m) return m.error();
  m->mass *= density;
  m->second = double(density) * m->second;
  const MassProperties properties = m->to_properties();
  if (is_sound(properties)) return properties;
  return Error{Error::Code::InvalidArgument,
               fmt::format("a {} of this size and {} kg/m³ has a mass of {:.3g} kg, beyond what can be simulated",
                           shape_name(shape), density, m->mass),
               "", "", 0};
}

}  // namespace pliant
