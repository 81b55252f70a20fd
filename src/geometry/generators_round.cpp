// Surfaces turned on a lathe: sphere, cylinder, capsule, cone, torus.
#include <algorithm>
#include <cmath>

#include "geometry/generator_arguments.h"
#include "geometry/ring_surface.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// Points up the side of a cylinder, without its two ends.
void append_side(std::vector<ProfilePoint>& profile, double radius, double height, int rings) {
  for (int i = 1; i < rings; ++i) profile.push_back({radius, height * (double(i) / rings - 0.5)});
}

void check_column(const char* generator, float radius, float height, int segments, int rings, double bands) {
  require_positive(generator, "radius", radius);
  require_positive(generator, "height", height);
  require_count(generator, "segments", segments, 3);
  require_count(generator, "rings", rings, 1);
  require_size(generator, 2.0 * segments * (rings + bands));
}

}  // namespace

TriMesh tri_sphere(float radius, int segments) {
  const double r = require_positive("tri_sphere", "radius", radius);
  require_count("tri_sphere", "segments", segments, 3);
  const int steps = std::max(2, segments / 2);
  require_size("tri_sphere", 2.0 * segments * (steps - 1));
  std::vector<ProfilePoint> profile;
  append_arc(profile, 0, 0, r, -kPiD / 2, kPiD / 2, steps);
  return lathe(profile, segments);
}

TriMesh tri_cylinder(float radius, float height, int segments, int rings) {
  check_column("tri_cylinder", radius, height, segments, rings, 1);
  const double r = radius, h = height;
  std::vector<ProfilePoint> profile{{0, -h / 2}, {r, -h / 2}};
  append_side(profile, r, h, rings);
  profile.insert(profile.end(), {{r, h / 2}, {0, h / 2}});
  return lathe(profile, segments);
}

TriMesh tri_capsule(float radius, float height, int segments, int rings) {
  const int steps = std::max(1, segments / 4);
  check_column("tri_capsule", radius, height, segments, rings, 2.0 * steps);
  const double r = radius, h = height;
  std::vector<ProfilePoint> profile;
  append_arc(profile, 0, -h / 2, r, -kPiD / 2, 0, steps);
  append_side(profile, r, h, rings);
  append_arc(profile, 0, h / 2, r, 0, kPiD / 2, steps);
  return lathe(profile, segments);
}

TriMesh tri_cone(float radius, float height, int segments) {
  const double r = require_positive("tri_cone", "radius", radius);
  const double h = require_positive("tri_cone", "height", height);
  require_count("tri_cone", "segments", segments, 3);
  require_size("tri_cone", 2.0 * segments);
  return lathe({{0, -h / 2}, {r, -h / 2}, {0, h / 2}}, segments);
}

TriMesh tri_torus(float radius, float tube_radius, int segments, int tube_segments) {
  const double r = require_positive("tri_torus", "radius", radius);
  const double tube = require_positive("tri_torus", "tube_radius", tube_radius);
  if (tube >= r) refuse_argument("tri_torus", "tube_radius", "the tube must be thinner than the ring it is bent into");
  require_count("tri_torus", "segments", segments, 3);
  require_count("tri_torus", "tube_segments", tube_segments, 3);
  require_size("tri_torus", 2.0 * segments * tube_segments);
  std::vector<ProfilePoint> profile;
  append_arc(profile, r, 0, tube, -kPiD, kPiD, tube_segments);
  profile.pop_back();  // the first point again
  return lathe(profile, segments, {.closed_profile = true, .displace = {}});
}

}  // namespace pliant
