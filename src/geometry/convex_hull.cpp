// Quickhull (Barber, Dobkin and Huhdanpaa 1996) in exact integers.
//
// A hull is the same under any affine map, so each axis is scaled to the grid by itself and a thin cloud keeps its
// detail. With less than 20 bits per coordinate a plane test fits in 63 bits. A point sees a face only if it is
// strictly above it: that is what it would see from a place slightly nearer to the hull, where nothing is coplanar, so
// the faces seen always form a disk and no new face is degenerate.
#include "geometry/convex_hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace pliant {
namespace {

/// Steps of the grid along each axis. Many small numbers divide it, so that points at even distances stay so.
constexpr int kGridSteps = 720720;
/// A cloud no thicker than this many steps in some direction is flat: snapping alone moves a point by half a step.
constexpr double kMinThickness = 4;
/// What lies this near to a plane, in steps, may have been in it before snapping.
constexpr double kPlaneTolerance = 2;

struct GridPoint {
  std::int64_t x, y, z;

  friend GridPoint operator-(GridPoint a, GridPoint b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend bool operator<(GridPoint a, GridPoint b) {
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
  }
  friend bool operator==(GridPoint a, GridPoint b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

GridPoint cross(GridPoint a, GridPoint b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
std::int64_t dot(GridPoint a, GridPoint b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double length(GridPoint a) { return std::sqrt(double(a.x) * a.x + double(a.y) * a.y + double(a.z) * a.z); }

Error flat_error(const char* form) {
  return {Error::Code::InvalidArgument,
          fmt::format("the points of a convex hull must enclose a volume, but these lie in {}", form), "", "points", 0};
}

class HullBuilder {
 public:
  /// `points` are distinct.
  explicit HullBuilder(const std::vector<GridPoint>& points) : points_(points) {}

  /// False if the points are flat; `flat_form` then says how.
  bool build() {
    if (!start_with_tet()) return false;
    // New faces are appended, so this loop also comes to those that are made on the way.
    for (std::size_t f = 0; f < faces_.size(); ++f) {
      if (faces_[f].alive && !faces_[f].above.empty()) add_point(std::uint32_t(f));
    }
    return true;
  }
  const char* flat_form() const { return flat_form_; }

  std::vector<Face> faces() const {
    std::vector<Face> result;
    for (const HullFace& f : faces_) {
      if (f.alive) result.push_back(f.v);
    }
    return result;
  }

 private:
  struct HullFace {
    Face v;
    std::array<std::uint32_t, 3> next{};  ///< the face across the edge from v[i] to v[i + 1]
    GridPoint normal;
    std::vector<std::uint32_t> above;  ///< points that see this face, each filed under one face only
    bool alive = true;
    bool seen = false;
  };
  struct HorizonEdge {
    std::uint32_t a, b;     ///< as it ran in the face that was seen
    std::uint32_t outside;  ///< the face across, which stays
  };

  std::int64_t height(const HullFace& f, std::uint32_t p) const { return dot(f.normal, points_[p] - points_[f.v[0]]); }

  std::uint32_t make_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    HullFace f;
    f.v = {a, b, c};
    f.normal = cross(points_[b] - points_[a], points_[c] - points_[a]);
    faces_.push_back(std::move(f));
    return std::uint32_t(faces_.size() - 1);
  }

  template <typename Measure>
  std::uint32_t farthest(Measure&& measure, double& value) const {
    std::uint32_t best = 0;
    value = -1;
    for (std::uint32_t i = 0; i < points_.size(); ++i) {
      const double m = measure(i);
      if (m > value) value = m, best = i;
    }
    return best;
  }

  bool start_with_tet() {
    const auto order = [](GridPoint a, GridPoint b) { return a < b; };
    const std::uint32_t a = std::uint32_t(std::min_element(points_.begin(), points_.end(), order) - points_.begin());
    double value;
    const std::uint32_t b = farthest([&](std::uint32_t i) { return length(points_[i] - points_[a]); }, value);
    if (value < kMinThickness) return flat_form_ = "one point", false;
    const GridPoint ab = points_[b] - points_[a];
    const std::uint32_t c =
        farthest([&](std::uint32_t i) { return length(cross(ab, points_[i] - points_[a])) / length(ab); }, value);
    if (value < kMinThickness) return flat_form_ = "one line", false;
    const GridPoint normal = cross(ab, points_[c] - points_[a]);
    std::uint32_t d = farthest(
        [&](std::uint32_t i) { return std::abs(double(dot(normal, points_[i] - points_[a]))) / length(normal); },
        value);
    if (value < kMinThickness) return flat_form_ = "one plane", false;

    std::array<std::uint32_t, 4> t{a, b, c, d};
    if (dot(normal, points_[d] - points_[a]) > 0) std::swap(t[1], t[2]);
    // (t0, t1, t2) now faces away from t3.
    make_face(t[0], t[1], t[2]);
    make_face(t[0], t[3], t[1]);
    make_face(t[1], t[3], t[2]);
    make_face(t[2], t[3], t[0]);
    faces_[0].next = {1, 2, 3};
    faces_[1].next = {3, 2, 0};
    faces_[2].next = {1, 3, 0};
    faces_[3].next = {2, 1, 0};
    std::vector<std::uint32_t> all(points_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    file_points(all, 0);
    return true;
  }

  /// Files each point under the first face from `first_face` on that it sees; points that see none are inside for good.
  void file_points(const std::vector<std::uint32_t>& points, std::size_t first_face) {
    for (const std::uint32_t p : points) {
      for (std::size_t f = first_face; f < faces_.size(); ++f) {
        if (height(faces_[f], p) <= 0) continue;
        faces_[f].above.push_back(p);
        break;
      }
    }
  }

  /// The highest point above a face. Of equally high ones (a flat side) the greatest in order, which is a corner of it.
  std::uint32_t highest(const HullFace& f) const {
    std::uint32_t best = f.above[0];
    std::int64_t best_height = height(f, best);
    for (const std::uint32_t p : f.above) {
      const std::int64_t h = height(f, p);
      if (h > best_height || (h == best_height && points_[best] < points_[p])) best = p, best_height = h;
    }
    return best;
  }

  /// Replaces all faces that the highest point above `start` sees by a cone from their rim to the point.
  void add_point(std::uint32_t start) {
    const std::uint32_t apex = highest(faces_[start]);
    std::vector<std::uint32_t> seen_faces{start}, orphans;
    std::vector<HorizonEdge> horizon;
    faces_[start].seen = true;
    for (std::size_t i = 0; i < seen_faces.size(); ++i) {
      const std::uint32_t f = seen_faces[i];
      for (std::size_t e = 0; e < 3; ++e) {
        const std::uint32_t across = faces_[f].next[e];
        if (faces_[across].seen) continue;
        if (height(faces_[across], apex) > 0) {
          faces_[across].seen = true;
          seen_faces.push_back(across);
        } else {
          horizon.push_back({faces_[f].v[e], faces_[f].v[(e + 1) % 3], across});
        }
      }
    }
    for (const std::uint32_t f : seen_faces) {
      faces_[f].alive = false;
      for (const std::uint32_t p : faces_[f].above) {
        if (p != apex) orphans.push_back(p);
      }
      faces_[f].above = {};
    }
    const std::size_t first_new = faces_.size();
    make_cone(apex, horizon);
    file_points(orphans, first_new);
  }

  void make_cone(std::uint32_t apex, std::vector<HorizonEdge>& horizon) {
    chain(horizon);
    const std::uint32_t first = std::uint32_t(faces_.size()), n = std::uint32_t(horizon.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      const HorizonEdge& e = horizon[i];
      const std::uint32_t f = make_face(e.a, e.b, apex);
      faces_[f].next = {e.outside, first + (i + 1) % n, first + (i + n - 1) % n};
      HullFace& outside = faces_[e.outside];
      for (std::size_t k = 0; k < 3; ++k) {
        if (outside.v[k] == e.b && outside.v[(k + 1) % 3] == e.a) outside.next[k] = f;
      }
    }
  }

  /// Puts the edges of the rim, which is one loop, one after the other.
  void chain(std::vector<HorizonEdge>& horizon) {
    if (edge_from_.size() < points_.size()) edge_from_.resize(points_.size());
    for (std::uint32_t i = 0; i < horizon.size(); ++i) edge_from_[horizon[i].a] = i;
    std::vector<HorizonEdge> loop;
    for (std::uint32_t i = 0; loop.size() < horizon.size(); i = edge_from_[horizon[i].b]) loop.push_back(horizon[i]);
    horizon = std::move(loop);
  }

  const std::vector<GridPoint>& points_;
  std::vector<HullFace> faces_;
  std::vector<std::uint32_t> edge_from_;
  const char* flat_form_ = "";
};

/// The cloud on its grid, without points that fall together. `source` gets each one's number in the cloud.
std::vector<GridPoint> snap(std::span<const Vec3> points, const Aabb& box, std::vector<std::uint32_t>& source) {
  std::array<double, 3> scale;
  for (std::size_t a = 0; a < 3; ++a) {
    const double size = double(box.upper[a]) - double(box.lower[a]);
    scale[a] = size > 0 ? kGridSteps / size : 0;
  }
  const auto step = [&](Vec3 p, std::size_t a) {
    return std::int64_t(std::llround((double(p[a]) - double(box.lower[a])) * scale[a]));
  };
  std::vector<GridPoint> all(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) all[i] = {step(points[i], 0), step(points[i], 1), step(points[i], 2)};

  std::vector<std::uint32_t> order(points.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return all[a] == all[b] ? a < b : all[a] < all[b]; });
  std::vector<GridPoint> distinct;
  source.clear();
  for (const std::uint32_t i : order) {
    if (!distinct.empty() && distinct.back() == all[i]) continue;
    distinct.push_back(all[i]);
    source.push_back(i);
  }
  return distinct;
}

/// Whether all faces around a vertex lie in one or two planes: then it is in the middle of a side or an edge.
bool is_redundant(const std::vector<GridPoint>& points, const std::vector<Face>& faces,
                  std::vector<std::uint32_t>& around) {
  const auto normal = [&](std::uint32_t f) {
    return cross(points[faces[f][1]] - points[faces[f][0]], points[faces[f][2]] - points[faces[f][0]]);
  };
  // The largest first: slivers have no plane of their own worth the name.
  std::sort(around.begin(), around.end(), [&](std::uint32_t f, std::uint32_t g) {
    const double a = length(normal(f)), b = length(normal(g));
    return a != b ? a > b : f < g;
  });
  std::vector<std::uint32_t> planes;
  for (const std::uint32_t f : around) {
    const bool known = std::any_of(planes.begin(), planes.end(), [&](std::uint32_t plane) {
      const GridPoint n = normal(plane);
      return std::all_of(faces[f].begin(), faces[f].end(), [&](std::uint32_t v) {
        return std::abs(double(dot(n, points[v] - points[faces[plane][0]]))) <= kPlaneTolerance * length(n);
      });
    });
    if (!known) planes.push_back(f);
    if (planes.size() > 2) return false;
  }
  return true;
}

/// The vertices of the hull without redundant ones, ascending. Of two neighbours only one goes at a time, because one
/// may be redundant only as long as the other stays.
std::vector<std::uint32_t> corners_of(const std::vector<GridPoint>& points, const std::vector<Face>& faces) {
  std::vector<std::vector<std::uint32_t>> around(points.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    for (const std::uint32_t v : faces[f]) around[v].push_back(f);
  }
  std::vector<bool> must_stay(points.size(), false);
  std::vector<std::uint32_t> corners;
  for (std::uint32_t v = 0; v < points.size(); ++v) {
    if (around[v].empty()) continue;
    if (must_stay[v] || !is_redundant(points, faces, around[v])) {
      corners.push_back(v);
      continue;
    }
    for (const std::uint32_t f : around[v]) {
      for (const std::uint32_t neighbor : faces[f]) must_stay[neighbor] = true;
    }
  }
  return corners;
}

TriMesh mesh_of(std::span<const Vec3> points, const std::vector<std::uint32_t>& source, std::vector<Face> faces) {
  std::vector<std::uint32_t> used;
  for (const Face& f : faces) {
    for (const std::uint32_t v : f) used.push_back(source[v]);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  TriMesh mesh;
  for (const std::uint32_t i : used) mesh.vertices.push_back(points[i]);
  for (Face& f : faces) {
    for (std::uint32_t& v : f) {
      v = std::uint32_t(std::lower_bound(used.begin(), used.end(), source[v]) - used.begin());
    }
  }
  mesh.faces = std::move(faces);
  return mesh;
}

Status check_points(std::span<const Vec3> points) {
  if (points.size() < 4) {
    return Error{Error::Code::InvalidArgument,
                 fmt::format("a convex hull needs at least 4 points, not {}", points.size()), "", "points", 0};
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_finite(points[i])) continue;
    return Error{Error::Code::InvalidArgument,
                 fmt::format("a point must be finite, not ({}, {}, {})", points[i].x, points[i].y, points[i].z), "",
                 fmt::format("points[{}]", i), 0};
  }
  return {};
}

}  // namespace

Result<TriMesh> convex_hull(std::span<const Vec3> points) {
  if (const Status status = check_points(points); !status) return status.error();
  Aabb box;
  for (const Vec3 p : points) box.include(p);
  const Vec3 size = box.size();
  const float largest = std::max({size.x, size.y, size.z});
  if (!std::isfinite(largest)) {
    return Error{Error::Code::InvalidArgument, "the points of a convex hull lie too far apart", "", "points", 0};
  }
  // Flat along an axis: the grid would blow rounding noise up to its full depth.
  if (!(std::min({size.x, size.y, size.z}) > 1e-6f * largest)) return flat_error("one plane");

  std::vector<std::uint32_t> source;
  std::vector<GridPoint> grid = snap(points, box, source);
  HullBuilder first(grid);
  if (!first.build()) return flat_error(first.flat_form());
  std::vector<Face> faces = first.faces();
  // Dropping redundant vertices can leave others redundant; a few rounds are enough, and any round may be the last.
  for (int round = 0; round < 32; ++round) {
    const std::vector<std::uint32_t> corners = corners_of(grid, faces);
    if (corners.size() == faces.size() / 2 + 2) break;  // all vertices, by Euler's formula
    std::vector<GridPoint> fewer;
    std::vector<std::uint32_t> fewer_source;
    for (const std::uint32_t v : corners) fewer.push_back(grid[v]), fewer_source.push_back(source[v]);
    HullBuilder again(fewer);
    if (!again.build()) break;
    grid = std::move(fewer);
    source = std::move(fewer_source);
    faces = again.faces();
  }
  return mesh_of(points, source, std::move(faces));
}

}  // namespace pliant
