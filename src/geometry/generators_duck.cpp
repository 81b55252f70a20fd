// A duck from blended solids.
#include <cmath>

#include "geometry/blended_solids.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

Vec3d turned_z(Vec3d p, double angle) {
  return {p.x * std::cos(angle) + p.y * std::sin(angle), p.y * std::cos(angle) - p.x * std::sin(angle), p.z};
}

/// In units of the duck's length, more or less; the middle of the body at the origin.
double duck(Vec3d p) {
  p.z = std::abs(p.z);
  double d = ellipsoid_distance(p - Vec3d(-0.02, 0, 0), {0.36, 0.21, 0.26});
  d = blend(d, ellipsoid_distance(p - Vec3d(0.14, 0.03, 0), {0.22, 0.2, 0.21}), 0.15);                       // breast
  d = blend(d, stick_distance(p, {-0.2, 0.05, 0}, {-0.42, 0.2, 0}, 0.13, 0.03), 0.2);                        // tail
  d = blend(d, ellipsoid_distance(turned_z(p - Vec3d(-0.08, 0.05, 0.235), -0.35), {0.2, 0.1, 0.07}), 0.06);  // wings
  d = blend(d, stick_distance(p, {0.17, 0.12, 0}, {0.22, 0.3, 0}, 0.12, 0.11), 0.14);                        // neck
  d = blend(d, ellipsoid_distance(p - Vec3d(0.235, 0.375, 0), {0.165, 0.155, 0.15}), 0.07);                  // head
  const double upper = ellipsoid_distance(turned_z(p - Vec3d(0.405, 0.365, 0), 0.25), {0.12, 0.04, 0.09});
  const double lower = ellipsoid_distance(turned_z(p - Vec3d(0.385, 0.333, 0), -0.1), {0.1, 0.038, 0.075});
  d = blend(d, blend(upper, lower, 0.06), 0.06);                      // beak
  d = blend(d, length(p - Vec3d(0.335, 0.43, 0.092)) - 0.04, 0.025);  // eyes
  return carve(d, p.y + 0.17, 0.08);                                  // it sits flat
}

}  // namespace

TriMesh tri_duck(float size, float cell) {
  return mesh_blended({"tri_duck", duck, {-0.55, -0.3, -0.4}, {0.65, 0.65, 0.4}, 0, 0.96, 16}, size, cell);
}

}  // namespace pliant
