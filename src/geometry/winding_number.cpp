#include "geometry/winding_number.h"

#include <algorithm>
#include <cmath>

#include "math/vec3d.h"

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

/// What a node keeps of its triangles, in double.
struct Moments {
  std::array<double, 6> first{};
  Vec3d second;
  std::array<double, 10> cubic{};

  /// A triangle by its corners, seen from the node's centre.
  void add(const std::array<Vec3d, 3>& d) {
    const Vec3d n = cross(d[1] - d[0], d[2] - d[0]) / 2, c = (d[0] + d[1] + d[2]) / 3;
    const std::array<double, 6> own{c.x * n.x,
                                    c.y * n.y,
                                    c.z * n.z,
                                    (c.x * n.y + c.y * n.x) / 2,
                                    (c.y * n.z + c.z * n.y) / 2,
                                    (c.z * n.x + c.x * n.z) / 2};
    for (std::size_t i = 0; i < 6; ++i) first[i] += own[i];
    // The mean of d dᵀ over a triangle is (Σ corners + 9 · centroid) / 12 of theirs.
    const auto mean = [&](std::size_t i, std::size_t j) {
      return (d[0][i] * d[0][j] + d[1][i] * d[1][j] + d[2][i] * d[2][j] + 9 * c[i] * c[j]) / 12;
    };
    const double xx = mean(0, 0), yy = mean(1, 1), zz = mean(2, 2), xy = mean(0, 1), yz = mean(1, 2), zx = mean(2, 0);
    const Vec3d along{xx * n.x + xy * n.y + zx * n.z, xy * n.x + yy * n.y + yz * n.z, zx * n.x + yz * n.y + zz * n.z};
    second += 2 * along + (xx + yy + zz) * n;
    const std::array<double, 10> polynomial{n.x * xx,
                                            n.y * yy,
                                            n.z * zz,
                                            2 * n.x * xy + n.y * xx,
                                            2 * n.x * zx + n.z * xx,
                                            2 * n.y * xy + n.x * yy,
                                            2 * n.y * yz + n.z * yy,
                                            2 * n.z * zx + n.x * zz,
                                            2 * n.z * yz + n.y * zz,
                                            2 * (n.x * yz + n.y * zx + n.z * xy)};
    for (std::size_t i = 0; i < 10; ++i) cubic[i] += polynomial[i];
  }
};

/// The solid angle of what a node holds, from r to its centre: the integral of n·x / |x|³ over x = r + d, expanded in
/// d.
template <typename Node>
float far_angle(const Node& node, Vec3 r, float rr) {
  const auto& f = node.first;
  const auto& c = node.cubic;
  const float x = r.x, y = r.y, z = r.z;
  const float quadratic = f[0] * x * x + f[1] * y * y + f[2] * z * z + 2 * (f[3] * x * y + f[4] * y * z + f[5] * z * x);
  const float cubic = x * x * (c[0] * x + c[3] * y + c[4] * z) + y * y * (c[1] * y + c[5] * x + c[6] * z) +
                      z * z * (c[2] * z + c[7] * x + c[8] * y) + c[9] * x * y * z;
  const float inverse = 1 / rr;
  const float sum = dot(node.area, r) + f[0] + f[1] + f[2] - 3 * quadratic * inverse -
                    1.5f * dot(node.second, r) * inverse + 7.5f * cubic * inverse * inverse;
  return sum * inverse / std::sqrt(rr);
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

  Moments moments;
  double radius_squared = 0;
  for (const Triangle& t : triangles) {
    const std::array<Vec3d, 3> d{Vec3d(t.a) - center, Vec3d(t.b) - center, Vec3d(t.c) - center};
    for (const Vec3d v : d) radius_squared = std::max(radius_squared, length_squared(v));
    moments.add(d);
  }
  Node node{center.to_float(), float(kOpening * kOpening * radius_squared), area.to_float(), {}, {}, {}, 0, 0};
  std::copy(moments.first.begin(), moments.first.end(), node.first.begin());
  node.second = moments.second.to_float();
  std::copy(moments.cubic.begin(), moments.cubic.end(), node.cubic.begin());
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
      sum += far_angle(node, r, rr);
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
