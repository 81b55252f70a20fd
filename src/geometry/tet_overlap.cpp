// The polyhedron that two tets have in common: the first one, cut by the four planes of the second.
//
// Faces share numbered vertices, and each vertex is on one side of a plane for all faces alike. So the result is closed
// whatever rounding does, and its volume, centroid and area vectors are sums that cannot come apart.
#include <array>
#include <cstdint>

#include "geometry/adjacency.h"
#include "geometry/primitives.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

/// A closed polyhedron small enough to live on the stack.
class Polyhedron {
 public:
  /// A tet with positive volume.
  explicit Polyhedron(const std::array<Vec3d, 4>& corners) {
    for (const Vec3d p : corners) vertices_[vertex_count_++] = p;
    for (const auto& f : kTetFaces) {
      Loop& loop = faces_[face_count_++];
      for (const int v : f) loop.push(std::uint8_t(v));
    }
  }

  /// Keeps what lies on the positive side of the plane n · p = offset.
  void cut(Vec3d n, double offset) {
    for (int v = 0; v < vertex_count_; ++v) heights_[v] = dot(n, vertices_[v]) - offset;
    crossing_count_ = 0;
    const int old_faces = face_count_;
    int kept = 0;
    for (int f = 0; f < old_faces; ++f) {
      const Loop trimmed = trim(faces_[f]);
      if (trimmed.size >= 3) {
        is_cap_[kept] = is_cap_[f];
        faces_[kept++] = trimmed;
      }
    }
    face_count_ = kept;
    add_caps();
  }

  TetOverlap measure(Vec3d origin) const {
    TetOverlap result;
    if (face_count_ < 4) return result;
    const Vec3d apex = vertices_[faces_[0].vertices[0]];
    double six_v = 0;
    Vec3d moment, normal;
    for (int f = 0; f < face_count_; ++f) {
      const Loop& loop = faces_[f];
      const Vec3d a = vertices_[loop.vertices[0]] - apex;
      for (int i = 1; i + 1 < loop.size; ++i) {
        const Vec3d b = vertices_[loop.vertices[i]] - apex, c = vertices_[loop.vertices[i + 1]] - apex;
        const double v = dot(cross(a, b), c);
        six_v += v;
        moment += v * (a + b + c);
        if (!is_cap_[f]) normal += 0.5 * cross(b - a, c - a);
      }
    }
    if (!(six_v > 0)) return result;
    result.volume = six_v / 6;
    result.centroid = (origin + apex + moment / (4 * six_v)).to_float();
    result.area_normal = normal.to_float();
    return result;
  }

 private:
  // Each cut of a convex body with F faces adds one face and at most F vertices; the rest is room for rounding.
  static constexpr int kMaxVertices = 96, kMaxFaces = 24, kMaxLoop = 32;

  struct Loop {
    std::array<std::uint8_t, kMaxLoop> vertices;
    std::uint8_t size = 0;

    void push(std::uint8_t v) {
      if (size < kMaxLoop) vertices[size++] = v;
    }
  };
  struct Crossing {
    std::uint8_t inside, outside, vertex;
    std::uint8_t next;  ///< the vertex that follows this one on the rim of the cap
  };

  /// The vertex where an edge passes through the plane, the same for both its faces.
  Crossing& crossing(std::uint8_t inside, std::uint8_t outside) {
    for (int i = 0; i < crossing_count_; ++i) {
      if (crossings_[i].inside == inside && crossings_[i].outside == outside) return crossings_[i];
    }
    const double h_in = heights_[inside], h_out = heights_[outside];
    vertices_[vertex_count_] = vertices_[inside] + h_in / (h_in - h_out) * (vertices_[outside] - vertices_[inside]);
    crossings_[crossing_count_] = {inside, outside, std::uint8_t(vertex_count_++), 0};
    return crossings_[crossing_count_++];
  }

  bool has_room() const { return vertex_count_ < kMaxVertices && crossing_count_ < kMaxVertices; }

  Loop trim(const Loop& loop) {
    Loop result;
    int first_entry = -1, open_exit = -1;  // crossings
    for (int i = 0; i < loop.size && has_room(); ++i) {
      const std::uint8_t a = loop.vertices[i], b = loop.vertices[(i + 1) % loop.size];
      const bool a_inside = heights_[a] > 0, b_inside = heights_[b] > 0;
      if (a_inside) result.push(a);
      if (a_inside == b_inside) continue;
      Crossing& c = a_inside ? crossing(a, b) : crossing(b, a);
      result.push(c.vertex);
      const int index = int(&c - crossings_.data());
      // The loop leaves at an exit and comes back at the next entry; the cap runs along that gap the other way.
      if (a_inside) {
        open_exit = index;
      } else if (open_exit >= 0) {
        crossings_[index].next = crossings_[open_exit].vertex;
        open_exit = -1;
      } else {
        first_entry = index;
      }
    }
    if (first_entry >= 0 && open_exit >= 0) crossings_[first_entry].next = crossings_[open_exit].vertex;
    return result;
  }

  /// Closes the cut: the crossings form loops, one unless rounding made several.
  void add_caps() {
    std::array<bool, kMaxVertices> is_done{};
    for (int start = 0; start < crossing_count_ && face_count_ < kMaxFaces; ++start) {
      if (is_done[start]) continue;
      Loop cap;
      int i = start;
      do {
        is_done[i] = true;
        cap.push(crossings_[i].vertex);
        i = index_of(crossings_[i].next);
      } while (i >= 0 && !is_done[i]);
      if (cap.size < 3) continue;
      is_cap_[face_count_] = true;
      faces_[face_count_++] = cap;
    }
  }

  int index_of(std::uint8_t vertex) const {
    for (int i = 0; i < crossing_count_; ++i) {
      if (crossings_[i].vertex == vertex) return i;
    }
    return -1;
  }

  std::array<Vec3d, kMaxVertices> vertices_;
  std::array<double, kMaxVertices> heights_;
  std::array<Loop, kMaxFaces> faces_;
  std::array<bool, kMaxFaces> is_cap_{};
  std::array<Crossing, kMaxVertices> crossings_;
  int vertex_count_ = 0, face_count_ = 0, crossing_count_ = 0;
};

/// Turned so that its volume is positive, around `origin`.
std::array<Vec3d, 4> oriented(const std::array<Vec3, 4>& tet, Vec3d origin) {
  std::array<Vec3d, 4> p;
  for (std::size_t i = 0; i < 4; ++i) p[i] = Vec3d(tet[i]) - origin;
  if (six_volumes(p[0], p[1], p[2], p[3]) < 0) std::swap(p[2], p[3]);
  return p;
}

}  // namespace

TetOverlap intersect_tets(const std::array<Vec3, 4>& a, const std::array<Vec3, 4>& b) {
  const Vec3d origin(a[0]);
  const std::array<Vec3d, 4> p = oriented(a, origin), q = oriented(b, origin);
  if (six_volumes(p[0], p[1], p[2], p[3]) == 0 || six_volumes(q[0], q[1], q[2], q[3]) == 0) return {};
  Polyhedron body(p);
  for (const auto& f : kTetFaces) {
    const Vec3d inward = -cross(q[f[1]] - q[f[0]], q[f[2]] - q[f[0]]);
    body.cut(inward, dot(inward, q[f[0]]));
  }
  return body.measure(origin);
}

}  // namespace pliant
