// Surfaces made of rings: everything that is turned on a lathe, carried around a circle or swept along a path.
#pragma once

#include <functional>
#include <vector>

#include "math/vec3d.h"
#include "pliant/mesh.h"

namespace pliant {

/// Vertices around a closed curve; a ring of one vertex is a tip.
using Ring = std::vector<std::uint32_t>;

/// Adds `count` vertices at position(0) … position(count − 1).
template <typename Position>
Ring add_ring(TriMesh& mesh, int count, Position&& position) {
  Ring ring;
  for (int i = 0; i < count; ++i) {
    ring.push_back(std::uint32_t(mesh.vertices.size()));
    mesh.vertices.push_back(Vec3d(position(i)).to_float());
  }
  return ring;
}

/// Triangles between two rings of as many vertices each, or of which one is a tip. Outward when the rings run
/// counter-clockwise about the direction from lower to upper. Where `keep` is given, edge j of the rings is bridged
/// only if keep(j).
void join_rings(std::vector<Face>& faces, const Ring& lower, const Ring& upper,
                const std::function<bool(std::size_t)>& keep = {});
/// All rings, each with the next one; the last with the first if `closed`.
void join_all(std::vector<Face>& faces, const std::vector<Ring>& rings, bool closed);

/// Moves the mesh so that its bounds are centred on the origin.
void center_on_origin(TriMesh& mesh);

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
