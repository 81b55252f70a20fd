#include "io/polygon.h"

#include <cmath>

namespace pliant {

namespace {

constexpr std::size_t kMaxEarCorners = 64;

struct Point2 {
  double x, y;
};

/// Twice the signed area of a triangle.
double area(Point2 a, Point2 b, Point2 c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/// The corners in the coordinate plane that shows the most of the polygon, counter-clockwise.
std::vector<Point2> flattened(std::span<const Vec3> points, std::span<const std::uint32_t> corners) {
  double n[3] = {};  // Newell's normal
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec3 a = points[corners[i]], b = points[corners[(i + 1) % corners.size()]];
    n[0] += (double{a.y} - b.y) * (double{a.z} + b.z);
    n[1] += (double{a.z} - b.z) * (double{a.x} + b.x);
    n[2] += (double{a.x} - b.x) * (double{a.y} + b.y);
  }
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k)
    if (std::abs(n[k]) > std::abs(n[axis])) axis = k;
  const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  std::vector<Point2> flat;
  for (const std::uint32_t c : corners) {
    const Vec3 p = points[c];
    flat.push_back(n[axis] >= 0 ? Point2{p[u], p[v]} : Point2{p[v], p[u]});
  }
  return flat;
}

bool is_convex(const std::vector<Point2>& flat) {
  const std::size_t n = flat.size();
  for (std::size_t i = 0; i < n; ++i)
    if (area(flat[i], flat[(i + 1) % n], flat[(i + 2) % n]) < 0) return false;
  return true;
}

/// True if corner `at` of the ring can be cut off: it turns left and no other corner lies in its triangle.
bool is_ear(const std::vector<Point2>& flat, const std::vector<std::size_t>& ring, std::size_t at) {
  const std::size_t n = ring.size(), before = (at + n - 1) % n, after = (at + 1) % n;
  const Point2 a = flat[ring[before]], b = flat[ring[at]], c = flat[ring[after]];
  if (area(a, b, c) <= 0) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == before || i == at || i == after) continue;
    const Point2 p = flat[ring[i]];
    if (area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0) return false;
  }
  return true;
}

void clip_ears(const std::vector<Point2>& flat, std::span<const std::uint32_t> corners, std::vector<Face>& faces) {
  std::vector<std::size_t> ring(corners.size());
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i] = i;
  while (ring.size() > 3) {
    const std::size_t n = ring.size();
    std::size_t ear = 1;  // where there is none (the polygon crosses itself) any corner will do
    for (std::size_t i = 0; i < n; ++i)
      if (is_ear(flat, ring, (i + 1) % n)) {
        ear = (i + 1) % n;
        break;
      }
    faces.push_back({corners[ring[(ear + n - 1) % n]], corners[ring[ear]], corners[ring[(ear + 1) % n]]});
    ring.erase(ring.begin() + static_cast<std::ptrdiff_t>(ear));
  }
  faces.push_back({corners[ring[0]], corners[ring[1]], corners[ring[2]]});
}

}  // namespace

void triangulate_polygon(std::span<const Vec3> points, std::span<const std::uint32_t> corners,
                         std::vector<Face>& faces) {
  if (corners.size() < 3) return;
  if (corners.size() > 3 && corners.size() <= kMaxEarCorners) {
    const std::vector<Point2> flat = flattened(points, corners);
    if (!is_convex(flat)) return clip_ears(flat, corners, faces);
  }
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) faces.push_back({corners[0], corners[i], corners[i + 1]});
}

}  // namespace pliant
