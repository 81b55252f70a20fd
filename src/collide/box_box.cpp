#include "collide/box_box.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

// An edge pair must be clearly better than a face to be chosen: faces give stable contacts.
constexpr float kEdgeRelative = 0.95f;
constexpr float kEdgeAbsolute = 0.01f;  // of the smaller box's size

struct Axis {
  float separation = -std::numeric_limits<float>::max();
  Vec3 direction;                ///< unit, from b towards a
  int edge_a = -1, edge_b = -1;  ///< which edges cross, or −1 for a face
};

/// Keeps the axis along which the boxes are farthest apart. Returns false when they are apart by more than allowed.
struct AxisSearch {
  const PlacedBox& a;
  const PlacedBox& b;
  Vec3 between;  ///< from b's centre to a's
  float max_distance;
  Axis face, edge;

  /// `direction` is of unit length; the radii are the boxes' half sizes along it.
  bool test(Axis& best, Vec3 direction, float radius_a, float radius_b, int edge_a, int edge_b) {
    const float offset = dot(between, direction);
    const float separation = std::abs(offset) - radius_a - radius_b;
    if (separation > max_distance) return false;
    if (separation > best.separation) best = {separation, offset < 0 ? -direction : direction, edge_a, edge_b};
    return true;
  }

  bool run() {
    // turn[i][j] is axis i of a against axis j of b.
    float turn[3][3], size[3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        turn[i][j] = dot(a.axes[i], b.axes[j]);
        size[i][j] = std::abs(turn[i][j]);
      }
    }
    for (int i = 0; i < 3; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const float of_b = b.half.x * size[i][0] + b.half.y * size[i][1] + b.half.z * size[i][2];
      if (!test(face, a.axes[i], a.half[k], of_b, -1, -1)) return false;
      const float of_a = a.half.x * size[0][i] + a.half.y * size[1][i] + a.half.z * size[2][i];
      if (!test(face, b.axes[i], of_a, b.half[k], -1, -1)) return false;
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const float squared = 1 - turn[i][j] * turn[i][j];
        if (squared < 1e-4f) continue;  // parallel edges: a face axis says the same
        const float scale = 1 / std::sqrt(squared);
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        const auto at = [](Vec3 v, int k) { return v[static_cast<std::size_t>(k)]; };
        const float of_a = scale * (at(a.half, i1) * size[i2][j] + at(a.half, i2) * size[i1][j]);
        const float of_b = scale * (at(b.half, j1) * size[i][j2] + at(b.half, j2) * size[i][j1]);
        if (!test(edge, scale * cross(a.axes[i], b.axes[j]), of_a, of_b, i, j)) return false;
      }
    }
    return true;
  }
};

/// The middle of the edge along axis `edge` that reaches farthest along `direction`.
Vec3 edge_middle(const PlacedBox& box, int edge, Vec3 direction) {
  Vec3 at = box.center;
  for (int i = 0; i < 3; ++i) {
    if (i == edge) continue;
    const float half = box.half[static_cast<std::size_t>(i)];
    at += box.axes[i] * (dot(box.axes[i], direction) > 0 ? half : -half);
  }
  return at;
}

void touch_edges(const PlacedBox& a, const PlacedBox& b, const Axis& axis, ContactPatch& patch) {
  const Vec3 middle_a = edge_middle(a, axis.edge_a, -axis.direction);
  const Vec3 middle_b = edge_middle(b, axis.edge_b, axis.direction);
  const Vec3 half_a = a.axes[axis.edge_a] * a.half[static_cast<std::size_t>(axis.edge_a)];
  const Vec3 half_b = b.axes[axis.edge_b] * b.half[static_cast<std::size_t>(axis.edge_b)];
  // Where the two lines come closest; they cross at an angle, or a face would have been chosen.
  const Vec3 apart = middle_b - middle_a;
  const float aa = dot(half_a, half_a), bb = dot(half_b, half_b), ab = dot(half_a, half_b);
  const float scale = 1 / (aa * bb - ab * ab);
  const float s = std::clamp((dot(apart, half_a) * bb - dot(apart, half_b) * ab) * scale, -1.0f, 1.0f);
  const float t = std::clamp((dot(apart, half_a) * ab - dot(apart, half_b) * aa) * scale, -1.0f, 1.0f);
  patch.normal = axis.direction;
  patch.count = 1;
  patch.points[0] = {middle_a + s * half_a, middle_b + t * half_b, axis.separation};
}

}  // namespace

ContactFace PlacedBox::face_towards(Vec3 direction) const {
  const float along[3] = {dot(axes[0], direction), dot(axes[1], direction), dot(axes[2], direction)};
  int k = 0;
  for (int i = 1; i < 3; ++i) {
    if (std::abs(along[i]) > std::abs(along[k])) k = i;
  }
  const float side = along[k] < 0 ? -1.0f : 1.0f;
  const auto scaled = [&](int i) { return axes[i] * half[static_cast<std::size_t>(i)]; };
  const Vec3 middle = center + side * scaled(k);
  // With the outward normal towards the eye, (k+1) and (k+2) are right-handed; on the other side they swap.
  const Vec3 u = scaled((k + 1) % 3), v = side * scaled((k + 2) % 3);
  ContactFace face;
  face.add(middle - u - v);
  face.add(middle + u - v);
  face.add(middle + u + v);
  face.add(middle - u + v);
  return face;
}

void collide_boxes(const PlacedBox& a, const PlacedBox& b, float max_distance, ContactPatch& patch) {
  patch.count = 0;
  AxisSearch search{a, b, a.center - b.center, max_distance, {}, {}};
  if (!search.run()) return;
  const float size = std::min(std::min({a.half.x, a.half.y, a.half.z}), std::min({b.half.x, b.half.y, b.half.z}));
  const Axis& face = search.face;
  const Axis& edge = search.edge;
  // Separations are negative for overlap, so "clearly better" is clearly larger.
  const float to_beat = std::max(kEdgeRelative * face.separation, face.separation) + kEdgeAbsolute * size;
  const bool use_edge = edge.edge_a >= 0 && edge.separation > to_beat;
  if (use_edge) return touch_edges(a, b, edge, patch);
  const Vec3 n = face.direction;
  if (!clip_faces(a.face_towards(-n), b.face_towards(n), n, max_distance, patch)) patch.count = 0;
}

}  // namespace pliant
