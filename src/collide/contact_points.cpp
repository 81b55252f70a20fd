#include "collide/contact_points.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

// Faces lie against each other when their normals differ by less than about five degrees.
constexpr float kAligned = 0.996f;
constexpr int kMaxClipped = 2 * ContactFace::kMaxVertices;

struct ClippedPolygon {
  Vec3 vertices[kMaxClipped];
  int count = 0;

  void add(Vec3 v) {
    if (count < kMaxClipped) vertices[count++] = v;
  }
};

/// Keeps what lies on the inner side of the plane through `origin` whose normal `outward` points out (Sutherland and
/// Hodgman 1974). Works for edges too, which are polygons with two vertices and one side.
ClippedPolygon clip(const ClippedPolygon& in, Vec3 origin, Vec3 outward) {
  ClippedPolygon out;
  const int sides = in.count == 2 ? 1 : in.count;
  if (in.count == 1) {
    if (dot(in.vertices[0] - origin, outward) <= 0) out.add(in.vertices[0]);
    return out;
  }
  for (int i = 0; i < sides; ++i) {
    const Vec3 p = in.vertices[i], q = in.vertices[(i + 1) % in.count];
    const float dp = dot(p - origin, outward), dq = dot(q - origin, outward);
    if (dp <= 0) out.add(p);
    if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) out.add(p + (q - p) * (dp / (dp - dq)));
    if (sides == 1 && dq <= 0) out.add(q);
  }
  return out;
}

/// Four of many points: the deepest, and three that span the largest area with it.
void reduce(ContactPoint* points, int count, Vec3 normal, ContactPatch& patch) {
  patch.count = 0;
  if (count <= ContactPatch::kMaxPoints) {
    std::copy_n(points, count, patch.points);
    patch.count = count;
    return;
  }
  // Takes the point with the largest score and leaves the rest; ties go to the first.
  const auto take_best = [&](auto&& score) {
    int best = 0;
    float best_score = score(points[0]);
    for (int i = 1; i < count; ++i) {
      const float s = score(points[i]);
      if (s > best_score) best = i, best_score = s;
    }
    patch.points[patch.count++] = points[best];
    points[best] = points[--count];
  };
  take_best([](const ContactPoint& p) { return -p.distance; });
  const Vec3 first = patch.points[0].on_b;
  take_best([&](const ContactPoint& p) { return length_squared(p.on_b - first); });
  const Vec3 along = patch.points[1].on_b - first;
  const Vec3 across = cross(normal, along);
  take_best([&](const ContactPoint& p) { return std::abs(dot(across, p.on_b - first)); });
  // The fourth stands farthest outside the triangle of the first three.
  const Vec3 second = patch.points[1].on_b, third = patch.points[2].on_b;
  const float turn = dot(across, third - first) >= 0 ? 1.0f : -1.0f;
  const auto outside = [&](Vec3 from, Vec3 to, Vec3 p) { return -turn * dot(cross(normal, to - from), p - from); };
  take_best([&](const ContactPoint& p) {
    return std::max({outside(first, second, p.on_b), outside(second, third, p.on_b), outside(third, first, p.on_b)});
  });
}

/// Clips `incident` to the prism that stands on `reference`, and keeps what is below its plane.
bool clip_against(const ContactFace& reference, Vec3 reference_normal, const ContactFace& incident, bool reference_is_a,
                  float max_distance, ContactPatch& patch) {
  ClippedPolygon polygon;
  for (int i = 0; i < incident.count; ++i) polygon.add(incident.vertices[i]);
  for (int i = 0; i < reference.count; ++i) {
    const Vec3 p = reference.vertices[i], q = reference.vertices[(i + 1) % reference.count];
    polygon = clip(polygon, p, cross(q - p, reference_normal));
    if (polygon.count == 0) return false;
  }
  ContactPoint points[kMaxClipped];
  int count = 0;
  for (int i = 0; i < polygon.count; ++i) {
    const Vec3 p = polygon.vertices[i];
    const float distance = dot(p - reference.vertices[0], reference_normal);
    if (distance > max_distance) continue;
    const Vec3 on_reference = p - distance * reference_normal;
    points[count++] =
        reference_is_a ? ContactPoint{on_reference, p, distance} : ContactPoint{p, on_reference, distance};
  }
  if (count == 0) return false;
  patch.normal = reference_is_a ? -reference_normal : reference_normal;
  reduce(points, count, patch.normal, patch);
  return true;
}

/// Two edges side by side: the stretch they share.
bool clip_edges(const ContactFace& a, const ContactFace& b, Vec3 normal, float max_distance, ContactPatch& patch) {
  const Vec3 along = a.vertices[1] - a.vertices[0];
  const float squared = length_squared(along);
  const Vec3 other = b.vertices[1] - b.vertices[0];
  if (squared == 0 || std::abs(dot(along, other)) < kAligned * std::sqrt(squared) * length(other)) return false;
  const Vec3 side = along - normal * dot(along, normal);
  const float scale = length_squared(side);
  if (scale == 0) return false;
  patch.count = 0;
  for (int i = 0; i < 2; ++i) {
    const Vec3 on_b = b.vertices[i];
    const float t = std::clamp(dot(on_b - a.vertices[0], side) / scale, 0.0f, 1.0f);
    const Vec3 on_a = a.vertices[0] + t * along;
    // Where b reaches beyond a, the point on b moves back to face the end of a.
    const float s = length_squared(other) > 0
                        ? std::clamp(dot(on_a - b.vertices[0], other) / length_squared(other), 0.0f, 1.0f)
                        : 0;
    const Vec3 facing = b.vertices[0] + s * other;
    const float distance = dot(on_a - facing, normal);
    if (distance <= max_distance) patch.points[patch.count++] = {on_a, facing, distance};
  }
  patch.normal = normal;
  return patch.count > 0;
}

}  // namespace

Vec3 ContactFace::normal() const {
  if (count < 3) return {};
  Vec3 sum;
  for (int i = 1; i + 1 < count; ++i) sum += cross(vertices[i] - vertices[0], vertices[i + 1] - vertices[0]);
  return sum;
}

bool clip_faces(const ContactFace& a, const ContactFace& b, Vec3 normal, float max_distance, ContactPatch& patch) {
  const Vec3 normal_a = normalized(a.normal()), normal_b = normalized(b.normal());
  const float aligned_a = -dot(normal_a, normal), aligned_b = dot(normal_b, normal);
  // b is preferred where they are equal, so that the choice does not flicker.
  if (aligned_b >= kAligned && aligned_b >= aligned_a - 1e-4f) {
    return clip_against(b, normal_b, a, false, max_distance, patch);
  }
  if (aligned_a >= kAligned) return clip_against(a, normal_a, b, true, max_distance, patch);
  return a.count == 2 && b.count == 2 && clip_edges(a, b, normal, max_distance, patch);
}

void PlaneClipper::add(Vec3 vertex) {
  const float distance = dot(vertex, normal_) - offset_;
  if (distance > max_distance_) return;
  const ContactPoint point{vertex, vertex - distance * normal_, distance};
  if (count_ < kMaxPoints) {
    points_[count_++] = point;
  } else {  // a hull with that many vertices near the plane: keep the deepest
    ContactPoint* highest =
        std::max_element(points_, points_ + count_,
                         [](const ContactPoint& a, const ContactPoint& b) { return a.distance < b.distance; });
    if (point.distance < highest->distance) *highest = point;
  }
}

void PlaneClipper::finish(ContactPatch& patch) {
  patch.normal = normal_;
  reduce(points_, count_, normal_, patch);
}

}  // namespace pliant
