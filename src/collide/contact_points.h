// The points at which two convex bodies touch: whole faces at once, not one point a step.
//
// A physics engine that adds a contact point per step lets boxes sink and rock until four have been collected. Here the
// two faces that meet are clipped against each other each time (as in Dirk Gregorius' talks on contact creation, GDC
// 2013 and 2015), so that a manifold is a function of where the bodies are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pliant/math.h"

namespace pliant {

/// A convex polygon, an edge (2) or a single point (1), counter-clockwise seen from outside the body.
struct ContactFace {
  static constexpr int kMaxVertices = 16;
  Vec3 vertices[kMaxVertices];
  int count = 0;

  void add(Vec3 v) {
    if (count < kMaxVertices) vertices[count++] = v;
  }
  /// Not of unit length; zero for edges and points.
  Vec3 normal() const;
};

struct ContactPoint {
  Vec3 on_a, on_b;     ///< world, m
  float distance = 0;  ///< m; negative where the bodies overlap
};

/// Up to four points with one common normal, from b towards a.
struct ContactPatch {
  static constexpr int kMaxPoints = 4;
  Vec3 normal{};
  ContactPoint points[kMaxPoints];
  int count = 0;
};

/// Where two faces meet that lie against each other along `normal` (unit, from b towards a). Points farther apart than
/// `max_distance` are left out. Returns false, and leaves the patch alone, when the faces do not lie against each other
/// (edges that cross, corners): then one point along the normal is all there is.
bool clip_faces(const ContactFace& a, const ContactFace& b, Vec3 normal, float max_distance, ContactPatch& patch);

/// All points of a convex body near a plane: give it the body's extreme points one by one.
class PlaneClipper {
 public:
  PlaneClipper(Vec3 normal, float offset, float max_distance)
      : normal_(normal), offset_(offset), max_distance_(max_distance) {}

  void add(Vec3 vertex);
  void finish(ContactPatch& patch);

 private:
  static constexpr int kMaxPoints = 64;
  Vec3 normal_;
  float offset_, max_distance_;
  ContactPoint points_[kMaxPoints];
  int count_ = 0;
};

}  // namespace pliant
