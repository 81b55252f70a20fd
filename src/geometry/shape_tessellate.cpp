#include <algorithm>
#include <cmath>

#include "geometry/convex_hull.h"
#include "geometry/creases.h"
#include "math/vec3d.h"
#include "pliant/generators.h"
#include "pliant/shapes.h"

namespace pliant {
namespace {

constexpr double kDegree = kPiD / 180;
constexpr float kPlaneSize = 100;  // m

/// Edges sharper than this stay sharp; never so small that the sides of a coarse circle would show.
double crease_angle(int detail) { return std::clamp(1.2 * 360 / detail, 40.0, 80.0) * kDegree; }

TriMesh surface(const Sphere& s, int detail) {
  return split_creases(tri_sphere(s.radius, detail), crease_angle(detail));
}

TriMesh surface(const Box& s, int) { return split_creases(tri_box(s.size, 1, 1, 1), 40 * kDegree); }

TriMesh surface(const Capsule& s, int detail) {
  return split_creases(tri_capsule(s.radius, s.height, detail), crease_angle(detail));
}

TriMesh surface(const Cylinder& s, int detail) {
  return split_creases(tri_cylinder(s.radius, s.height, detail), crease_angle(detail));
}

TriMesh surface(const Cone& s, int detail) {
  return split_creases(tri_cone(s.radius, s.height, detail), crease_angle(detail));
}

TriMesh surface(const ConvexHull& s, int) { return split_creases(*convex_hull(s.points), 20 * kDegree); }

TriMesh surface(const TriangleMesh& s, int) {
  TriMesh mesh = *s.mesh;
  if (mesh.normals.empty()) mesh.normals = compute_normals(mesh);
  return mesh;
}

TriMesh surface(const Heightfield& s, int) {
  TriMesh mesh = tri_grid({s.cell * float(s.columns - 1), s.cell * float(s.rows - 1)}, s.columns - 1, s.rows - 1);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.vertices[i].y = s.heights[i];
  const auto across = std::uint32_t(s.columns - 1), up = std::uint32_t(s.columns);
  for (std::uint32_t cell = 0; cell < mesh.faces.size() / 2; ++cell) {
    const std::uint32_t a = cell / across * up + cell % across, b = a + up, c = b + 1, d = a + 1;
    mesh.faces[2 * cell] = {b, c, d};
    mesh.faces[2 * cell + 1] = {b, d, a};
  }
  mesh.normals = compute_normals(mesh);
  return mesh;
}

TriMesh surface(const Plane& s, int) {
  TriMesh mesh = tri_grid({kPlaneSize, kPlaneSize}, 1, 1);
  const Vec3 normal = normalized(s.normal);
  const Transform body_from_grid{s.offset * normal, Quat::between({0, 1, 0}, normal)};
  for (Vec3& v : mesh.vertices) v = body_from_grid * v;
  mesh.normals.assign(mesh.vertices.size(), normal);
  return mesh;
}

TriMesh surface(const Compound& s, int detail);

void append(TriMesh& whole, const TriMesh& part, const Transform& whole_from_part) {
  const std::uint32_t first = std::uint32_t(whole.vertices.size());
  for (const Vec3 v : part.vertices) whole.vertices.push_back(whole_from_part * v);
  for (const Vec3 n : part.normals) whole.normals.push_back(whole_from_part.rotation.rotate(n));
  for (const Face& f : part.faces) whole.faces.push_back({f[0] + first, f[1] + first, f[2] + first});
}

TriMesh surface(const Compound& s, int detail) {
  TriMesh whole;
  for (const CompoundPart& part : s.parts) {
    append(whole, std::visit([&](const auto& p) { return surface(p, detail); }, part.shape), part.body_from_part);
  }
  return whole;
}

}  // namespace

TriMesh tessellate(const Shape& shape, int detail) {
  validate(shape).require();
  const int segments = std::clamp(detail, 3, 1024);
  return std::visit([&](const auto& s) { return surface(s, segments); }, shape);
}

}  // namespace pliant
