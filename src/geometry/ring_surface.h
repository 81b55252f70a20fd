// Surfaces made of rings: everything that is turned on a lathe, carried around a circle or swept along a path.
#pragma once

#include <functional>
#include <vector>

#include "geometry/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {

/// Triangles between two rings of as many vertices each, from `lower` to `upper`; outward when the rings run
/// counter-clockwise about the direction from lower to upper.
void join_rings(std::vector<Face>& faces, const std::vector<std::uint32_t>& lower,
                const std::vector<std::uint32_t>& upper);
/// A fan from a ring to a tip that lies ahead of it (`is_top`) or behind it.
void join_tip(std::vector<Face>& faces, const std::vector<std::uint32_t>& ring, std::uint32_t tip, bool is_top);

/// A point of a profile: its distance from the Y axis and its height.
struct ProfilePoint {
  double radius, y;
};

struct LatheOptions {
  bool closed_profile = false;  ///< the last point is followed by the first, as for a torus
  /// Moves a point: from its place on the plain lathe, its angle about Y and its number in the profile.
  std::function<Vec3d(Vec3d, double, std::size_t)> displace;
};

/// Turns a profile about Y. It runs upwards on the outside (the surface is on its right hand when Y is up). A first or
/// last point of radius 0 becomes a single vertex. Sets uvs.
TriMesh lathe(const std::vector<ProfilePoint>& profile, int segments, const LatheOptions& options = {});

/// Points on an arc about (center_radius, center_y), at `steps` + 1 angles from the outward horizontal, in radians.
void append_arc(std::vector<ProfilePoint>& profile, double center_radius, double center_y, double arc_radius,
                double from, double to, int steps);

}  // namespace pliant
