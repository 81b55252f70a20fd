#include "geometry/winding_number.h"

#include <algorithm>
#include <cmath>

#include "geometry/vec3d.h"

namespace pliant {
namespace {

constexpr std::size_t kLeafSize = 6;
/// How many radii away a group of triangles counts as one (β of Barill et al.).
constexpr double kOpening = 2.0;
constexpr float kFourPi = 4 * kPi;

/// The solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
float solid_angle(Vec3 a, Vec3 b, Vec3 c) {
  const float la = length(a), lb = length(b), lc = length(c);
  const float triple = dot(a, cross(b, c));
  return 2 * std::atan2(triple, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

template <typename T>
Vec3d centroid(const T& t) {
  return (Vec3d(t.a) + Vec3d(t.b) + Vec3d(t.c)) / 3;
}

}  // namespace

WindingNumber::WindingNumber(std::span<const Vec3> vertices, std::span<const Face> faces) {
  triangles_.reserve(faces.size());
  for (const Face& f : faces) triangles_.push_back({vertices[f[0]], vertices[f[1]], vertices[f[2]]});
  nodes_.reserve(faces.size() / 2 + 1);
  if (!triangles_.empty()) build(triangles_);
}

WindingNumber::Node WindingNumber::summarize(std::span<const Triangle> triangles) {
  Vec3d area, weighted, plain;
  double total = 0;
  for (const Triangle& t : triangles) {
    const Vec3d twice = cross(Vec3d(t.b) - Vec3d(t.a), Vec3d(t.c) - Vec3d(t.a));
    const double size = length(twice) / 2;
    area += twice / 2;
    weighted += size * centroid(t);
    plain += centroid(t);
    total += size;
  }
  const Vec3d center = total > 0 ? weighted / total : plain / double(triangles.size());

  double radius_squared = 0;
  std::array<double, 6> skew{};
  for (const Triangle& t : triangles) {
    for (const Vec3 v : {t.a, t.b, t.c}) radius_squared = std::max(radius_squared, length_squared(Vec3d(v) - center));
    const Vec3d n = cross(Vec3d(t.b) - Vec3d(t.a), Vec3d(t.c) - Vec3d(t.a)) / 2, d = centroid(t) - center;
    const std::array<double, 6> own{d.x * n.x,
                                    d.y * n.y,
                                    d.z * n.z,
                                    (d.x * n.y + d.y * n.x) / 2,
                                    (d.y * n.z + d.z * n.y) / 2,
                                    (d.z * n.x + d.x * n.z) / 2};
    for (std::size_t i = 0; i < 6; ++i) skew[i] += own[i];
  }
  Node node{center.to_float(), float(kOpening * kOpening * radius_squared), area.to_float(), {}, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) node.skew[i] = float(skew[i]);
  return node;
}

void WindingNumber::build(std::span<Triangle> triangles) {
  const std::size_t n = nodes_.size();
  nodes_.push_back(summarize(triangles));
  if (triangles.size() <= kLeafSize) {
    nodes_[n].link = std::uint32_t(triangles.data() - triangles_.data());
    nodes_[n].count = std::uint32_t(triangles.size());
    return;
  }
  Aabb box;
  for (const Triangle& t : triangles) box.include(centroid(t).to_float());
  const Vec3 size = box.size();
  const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const auto middle = triangles.begin() + std::ptrdiff_t(triangles.size() / 2);
  std::nth_element(triangles.begin(), middle, triangles.end(), [&](const Triangle& p, const Triangle& q) {
    return p.a[axis] + p.b[axis] + p.c[axis] < q.a[axis] + q.b[axis] + q.c[axis];
  });
  build({triangles.begin(), middle});
  nodes_[n].link = std::uint32_t(nodes_.size());
  build({middle, triangles.end()});
}

double WindingNumber::operator()(Vec3 point) const {
  if (nodes_.empty()) return 0;
  std::uint32_t stack[64];  // halving 2³² triangles goes 32 levels down
  int top = 0;
  stack[top++] = 0;
  double sum = 0;
  while (top > 0) {
    const std::uint32_t n = stack[--top];
    const Node& node = nodes_[n];
    const Vec3 r = node.center - point;
    const float rr = dot(r, r);
    if (rr > node.near_squared) {
      const auto& s = node.skew;
      const float quadratic = s[0] * r.x * r.x + s[1] * r.y * r.y + s[2] * r.z * r.z +
                              2 * (s[3] * r.x * r.y + s[4] * r.y * r.z + s[5] * r.z * r.x);
      sum += (dot(node.area, r) + s[0] + s[1] + s[2] - 3 * quadratic / rr) / (rr * std::sqrt(rr));
    } else if (node.count == 0) {
      stack[top++] = node.link;
      stack[top++] = n + 1;
    } else {
      for (std::uint32_t i = node.link; i < node.link + node.count; ++i) {
        const Triangle& t = triangles_[i];
        sum += solid_angle(t.a - point, t.b - point, t.c - point);
      }
    }
  }
  return sum / kFourPi;
}

}  // namespace pliant
