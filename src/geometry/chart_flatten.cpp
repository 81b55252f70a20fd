#include "geometry/chart_flatten.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

// Under a name of its own: programs that build Eigen with other settings, such as tests without vector code, would get
// half of its functions from here and half from there, with memory that one allocates and the other cannot free.
#define Eigen PliantChartEigen
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>

#include "geometry/texel_raster.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

/// How much a length may shrink or grow on its way to the plane, at worst.
constexpr double kMaxStretch = 2.5;

Vec3d at(const TriMesh& surface, const FlatChart& chart, std::uint32_t point) {
  return Vec3d(surface.vertices[chart.nodes[point]]);
}

Vec3d twice_area(const TriMesh& surface, const FlatChart& chart, const Face& t) {
  const Vec3d a = at(surface, chart, t[0]);
  return cross(at(surface, chart, t[1]) - a, at(surface, chart, t[2]) - a);
}

double twice_area(const FlatChart& chart, const Face& t) {
  const Vec2d a = chart.points[t[0]], b = chart.points[t[1]], c = chart.points[t[2]];
  return (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
}

/// Seen from the mean of the normals.
void project(const TriMesh& surface, FlatChart& chart) {
  Vec3d normal;
  for (const Face& t : chart.triangles) normal += twice_area(surface, chart, t);
  normal = normalized(normal, {0, 0, 1});
  const Vec3d u = normalized(cross(std::abs(normal.y) < 0.9 ? Vec3d(0, 1, 0) : Vec3d(1, 0, 0), normal));
  const Vec3d v = cross(normal, u);
  for (std::uint32_t i = 0; i < chart.points.size(); ++i) {
    const Vec3d p = at(surface, chart, i);
    chart.points[i] = {dot(p, u), dot(p, v)};
  }
}

/// Two points far from each other.
std::array<std::uint32_t, 2> far_apart(const FlatChart& chart) {
  std::uint32_t from = 0, to = 0;
  for (int pass = 0; pass < 3; ++pass) {
    double most = -1;
    for (std::uint32_t i = 0; i < chart.points.size(); ++i) {
      const double d = std::hypot(chart.points[i].x - chart.points[from].x, chart.points[i].y - chart.points[from].y);
      if (d > most) most = d, to = i;
    }
    std::swap(from, to);
  }
  return {from, to};
}

/// The least of Σ |∂U/∂x + i ∂U/∂y|² area, with two points held where `project` has put them.
bool map_conformally(const TriMesh& surface, FlatChart& chart) {
  const auto pins = far_apart(chart);
  if (pins[0] == pins[1]) return false;
  const auto count = chart.points.size();
  std::vector<int> column(count, -1);
  int columns = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != pins[0] && i != pins[1]) column[i] = columns++;
  }
  if (columns == 0) return true;
  using Matrix = Eigen::SparseMatrix<double>;
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(2 * Eigen::Index(chart.triangles.size()));
  for (std::size_t f = 0; f < chart.triangles.size(); ++f) {
    const Face& t = chart.triangles[f];
    const Vec3d a = at(surface, chart, t[0]), ab = at(surface, chart, t[1]) - a, ac = at(surface, chart, t[2]) - a;
    const Vec3d x = normalized(ab), n = normalized(cross(ab, ac)), y = cross(n, x);
    const std::array<Vec2d, 3> p{{{0, 0}, {dot(ab, x), 0}, {dot(ac, x), dot(ac, y)}}};
    const double root = std::sqrt(std::max(p[1].x * p[2].y, 1e-300));
    for (std::size_t k = 0; k < 3; ++k) {
      // W_k of the paper: the edge across from corner k.
      const Vec2d w{(p[(k + 2) % 3].x - p[(k + 1) % 3].x) / root, (p[(k + 2) % 3].y - p[(k + 1) % 3].y) / root};
      const int c = column[t[k]], row = 2 * int(f);
      if (c < 0) {
        right[row] -= w.x * chart.points[t[k]].x - w.y * chart.points[t[k]].y;
        right[row + 1] -= w.y * chart.points[t[k]].x + w.x * chart.points[t[k]].y;
        continue;
      }
      entries.emplace_back(row, c, w.x), entries.emplace_back(row, columns + c, -w.y);
      entries.emplace_back(row + 1, c, w.y), entries.emplace_back(row + 1, columns + c, w.x);
    }
  }
  Matrix m(2 * Eigen::Index(chart.triangles.size()), 2 * columns);
  m.setFromTriplets(entries.begin(), entries.end());
  const Matrix normal = m.transpose() * m;
  const Eigen::SimplicialLDLT<Matrix> factor(normal);
  if (factor.info() != Eigen::Success) return false;
  const Eigen::VectorXd found = factor.solve(m.transpose() * right);
  if (!found.allFinite()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (column[i] >= 0) chart.points[i] = {found[column[i]], found[columns + column[i]]};
  }
  return true;
}

/// To the area that the chart has on the surface. False if it has none in the plane.
bool scale_to_area(const TriMesh& surface, FlatChart& chart) {
  double wanted = 0, found = 0;
  for (const Face& t : chart.triangles) {
    wanted += length(twice_area(surface, chart, t)), found += twice_area(chart, t);
  }
  if (!(found > 0) || !(wanted > 0)) return false;
  const double scale = std::sqrt(wanted / found);
  for (Vec2d& p : chart.points) p = {p.x * scale, p.y * scale};
  return std::all_of(chart.points.begin(), chart.points.end(),
                     [](Vec2d p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

/// The longest and shortest that a unit of length becomes; the latter is 0 where a triangle is turned over.
std::array<double, 2> stretch(const TriMesh& surface, const FlatChart& chart, const Face& t) {
  const Vec3d a = at(surface, chart, t[0]), ab = at(surface, chart, t[1]) - a, ac = at(surface, chart, t[2]) - a;
  const double along = length(ab), twice = length(cross(ab, ac));
  if (!(twice_area(chart, t) > 0) || !(twice > 0)) return {1e300, 0};
  const Vec2d o = chart.points[t[0]], p = chart.points[t[1]], q = chart.points[t[2]];
  // The map's columns over the triangle's own axes, the first along ab.
  const double x = dot(ac, ab) / along, y = twice / along;
  const Vec2d u{(p.x - o.x) / along, (p.y - o.y) / along};
  const Vec2d v{(q.x - o.x - x * u.x) / y, (q.y - o.y - x * u.y) / y};
  const double e = u.x * u.x + u.y * u.y, f = u.x * v.x + u.y * v.y, g = v.x * v.x + v.y * v.y;
  const double root = std::sqrt((e - g) * (e - g) + 4 * f * f);
  return {std::sqrt((e + g + root) / 2), std::sqrt(std::max((e + g - root) / 2, 0.0))};
}

bool is_little_stretched(const TriMesh& surface, const FlatChart& chart) {
  return std::all_of(chart.triangles.begin(), chart.triangles.end(), [&](const Face& t) {
    const auto [most, least] = stretch(surface, chart, t);
    return most < kMaxStretch && least > 1 / kMaxStretch;
  });
}

}  // namespace

FlatChart chart_of(const TriMesh& surface, std::span<const std::uint32_t> faces) {
  FlatChart chart;
  chart.faces.assign(faces.begin(), faces.end());
  std::map<std::uint32_t, std::uint32_t> points;
  for (const std::uint32_t f : faces) {
    Face t{};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t node = surface.faces[f][k];
      const auto [known, is_new] = points.try_emplace(node, std::uint32_t(chart.nodes.size()));
      if (is_new) chart.nodes.push_back(node);
      t[k] = known->second;
    }
    chart.triangles.push_back(t);
  }
  chart.points.resize(chart.nodes.size());
  return chart;
}

bool lies_over_itself(const FlatChart& chart) {
  // On a grid of about six samples a triangle.
  double area = 0;
  Vec2d low = chart.points[0], high = low;
  for (const Face& t : chart.triangles) area += std::abs(twice_area(chart, t)) / 2;
  for (const Vec2d p : chart.points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)}, high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double cell =
      std::max(std::sqrt(area / double(6 * chart.triangles.size())), std::max(high.x - low.x, high.y - low.y) / 4000);
  const int width = int((high.x - low.x) / cell) + 1, height = int((high.y - low.y) / cell) + 1;
  std::vector<std::uint8_t> hits(std::size_t(width) * std::size_t(height), 0);
  bool found = false;
  for (const Face& t : chart.triangles) {
    std::array<Vec2d, 3> p;
    for (std::size_t k = 0; k < 3; ++k) {
      p[k] = {(chart.points[t[k]].x - low.x) / cell, (chart.points[t[k]].y - low.y) / cell};
    }
    // A little less than the triangle: what is on a common edge is in neither.
    rasterize(p, width, height, -1e-6, [&](int x, int y, double, double) {
      std::uint8_t& hit = hits[std::size_t(y) * std::size_t(width) + std::size_t(x)];
      found = found || hit != 0;
      hit = 1;
    });
  }
  return found;
}

bool flatten(const TriMesh& surface, FlatChart& chart) {
  project(surface, chart);
  const std::vector<Vec2d> seen = chart.points;
  const auto is_good = [&] {
    return scale_to_area(surface, chart) && is_little_stretched(surface, chart) && !lies_over_itself(chart);
  };
  if (map_conformally(surface, chart) && is_good()) return true;
  chart.points = seen;
  return is_good();
}

void turn_upright(FlatChart& chart) {
  const auto turned = [&](double angle) {
    std::vector<Vec2d> out;
    const double c = std::cos(angle), s = std::sin(angle);
    for (const Vec2d p : chart.points) out.push_back({c * p.x - s * p.y, s * p.x + c * p.y});
    return out;
  };
  const auto box = [](const std::vector<Vec2d>& points) {
    std::array<Vec2d, 2> b{points[0], points[0]};
    for (const Vec2d p : points) {
      b[0] = {std::min(b[0].x, p.x), std::min(b[0].y, p.y)}, b[1] = {std::max(b[1].x, p.x), std::max(b[1].y, p.y)};
    }
    return b;
  };
  double best = 1e300;
  std::vector<Vec2d> points;
  for (int step = 0; step < 45; ++step) {
    std::vector<Vec2d> candidate = turned(step * kPiD / 90);
    const auto [low, high] = box(candidate);
    const double area = (high.x - low.x) * (high.y - low.y);
    if (area < best * 0.9999) best = area, points = std::move(candidate);
  }
  const Vec2d low = box(points)[0];
  for (Vec2d& p : points) p = {p.x - low.x, p.y - low.y};
  chart.points = std::move(points);
}

}  // namespace pliant
