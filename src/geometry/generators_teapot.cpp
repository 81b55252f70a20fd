// A teapot of pliant's own: a body turned on a lathe, and a spout and a handle swept along curves. The three are one
// surface: patches of the body's grid are left out, and the tubes grow from the rims of these holes.
#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/generator_arguments.h"
#include "geometry/ring_surface.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

// All measures here are in units of the belly's radius; y = 0 is the table.

constexpr std::array<ProfilePoint, 21> kBodyProfile{
    {{0, 0},       {0.4, 0},     {0.72, 0},    {0.8, 0.05},  {0.92, 0.22}, {0.99, 0.42}, {1, 0.58},
     {0.95, 0.8},  {0.85, 1},    {0.75, 1.13}, {0.7, 1.22},  {0.69, 1.28}, {0.62, 1.32}, {0.45, 1.4},
     {0.28, 1.46}, {0.13, 1.51}, {0.09, 1.57}, {0.14, 1.65}, {0.15, 1.7},  {0.09, 1.76}, {0, 1.78}}};

/// The profile as a smooth curve (Catmull-Rom) through its points, at about even distances.
std::vector<ProfilePoint> smooth_profile(double spacing) {
  std::vector<ProfilePoint> profile;
  const int last = int(kBodyProfile.size()) - 1;
  for (int i = 0; i < last; ++i) {
    const ProfilePoint a = kBodyProfile[i], b = kBodyProfile[i + 1];
    const ProfilePoint before = i > 0 ? kBodyProfile[i - 1] : a, after = i + 1 < last ? kBodyProfile[i + 2] : b;
    const int steps = std::max(1, int(std::lround(std::hypot(b.radius - a.radius, b.y - a.y) / spacing)));
    for (int s = 0; s < steps; ++s) {
      const double t = double(s) / steps, h1 = t * t * t - 2 * t * t + t, h2 = t * t * t - t * t;
      const double h0 = 2 * t * t * t - 3 * t * t + 1;
      const auto blend = [&](double p, double from, double to, double n) {
        return h0 * from + (1 - h0) * to + h1 * (to - p) / 2 + h2 * (n - from) / 2;
      };
      profile.push_back({blend(before.radius, a.radius, b.radius, after.radius), blend(before.y, a.y, b.y, after.y)});
    }
  }
  profile.front() = kBodyProfile.front();
  profile.push_back(kBodyProfile.back());
  return profile;
}

/// A patch of the body's grid that is left out: 2 `reach` columns about `column` and 2 `reach` rows about `row`.
struct Hole {
  int column, row, reach;

  bool covers(int c, int r, int columns) const {
    const int across = ((c - column + reach) % columns + columns) % columns;
    return across < 2 * reach && r >= row - reach && r < row + reach;
  }
};

/// The rim of a hole, counter-clockwise seen from outside, from its lower left corner on.
Ring rim_of(const Hole& hole, const std::vector<Ring>& rings) {
  Ring rim;
  const int columns = int(rings[hole.row].size()), n = 2 * hole.reach;
  const auto add = [&](int c, int r) {
    rim.push_back(rings[hole.row - hole.reach + r][(hole.column - hole.reach + c + columns) % columns]);
  };
  for (int i = 0; i < n; ++i) add(i, 0);
  for (int i = 0; i < n; ++i) add(n, i);
  for (int i = n; i > 0; --i) add(i, n);
  for (int i = n; i > 0; --i) add(0, i);
  return rim;
}

/// A curve in the XY plane (cubic Bézier) with a tube around it.
struct Tube {
  std::array<Vec3d, 4> controls;
  double radius_start, radius_end;

  Vec3d point(double t) const {
    const double s = 1 - t;
    return s * s * s * controls[0] + 3 * s * s * t * controls[1] + 3 * s * t * t * controls[2] +
           t * t * t * controls[3];
  }
  Vec3d tangent(double t) const {
    const double s = 1 - t;
    return normalized(s * s * (controls[1] - controls[0]) + 2 * s * t * (controls[2] - controls[1]) +
                      t * t * (controls[3] - controls[2]));
  }
  /// In the plane, at right angles to the tangent; the third axis is always +Z.
  Vec3d normal(double t) const {
    const Vec3d d = tangent(t);
    return {-d.y, d.x, 0};
  }
  double radius(double t) const { return radius_start + t * (radius_end - radius_start); }
  int steps(double spacing) const {
    double length_sum = 0;
    for (int i = 0; i < 32; ++i) length_sum += length(point((i + 1) / 32.0) - point(i / 32.0));
    return std::max(4, int(std::lround(length_sum / spacing)));
  }
};

/// The angles at which the vertices of a rim stand about the tube's curve at t.
std::vector<double> angles_about(const TriMesh& mesh, const Ring& rim, const Tube& tube, double t) {
  Vec3d middle;
  for (const std::uint32_t v : rim) middle += Vec3d(mesh.vertices[v]) / double(rim.size());
  std::vector<double> angles;
  for (const std::uint32_t v : rim) {
    const Vec3d d = Vec3d(mesh.vertices[v]) - middle;
    angles.push_back(std::atan2(d.z, dot(d, tube.normal(t))));
  }
  return angles;
}

/// The difference of two angles, −π to π.
double turn_between(double from, double to) { return std::remainder(to - from, 2 * kPiD); }

/// Rings along a tube from a rim that it leaves; the angles go over from those of its start to those of its end.
std::vector<Ring> add_tube(TriMesh& mesh, const Tube& tube, const Ring& rim, const std::vector<double>& angles_start,
                           const std::vector<double>& angles_end, double spacing) {
  std::vector<Ring> rings{rim};
  const int steps = tube.steps(spacing);
  for (int s = 0; s <= steps; ++s) {
    const double t = double(s) / steps;
    rings.push_back(add_ring(mesh, int(rim.size()), [&](int i) {
      const double angle = angles_start[i] + t * turn_between(angles_start[i], angles_end[i]);
      const double r = tube.radius(t);
      return tube.point(t) + r * std::cos(angle) * tube.normal(t) + Vec3d(0, 0, r * std::sin(angle));
    }));
  }
  return rings;
}

void add_spout(TriMesh& mesh, const Ring& rim, double spacing) {
  const Tube spout{{{{1.1, 0.46, 0}, {1.5, 0.5, 0}, {1.38, 1.02, 0}, {1.78, 1.2, 0}}}, 0.2, 0.085};
  const std::vector<double> angles = angles_about(mesh, rim, spout, 0);
  std::vector<Ring> rings = add_tube(mesh, spout, rim, angles, angles, spacing);
  rings.push_back(add_ring(mesh, 1, [&](int) { return spout.point(1) + 0.02 * spout.tangent(1); }));
  join_all(mesh.faces, rings, false);
}

void add_handle(TriMesh& mesh, const Ring& upper_rim, const Ring& lower_rim, double spacing) {
  const Tube handle{{{{-1.0, 0.97, 0}, {-1.75, 1.2, 0}, {-1.85, 0.42, 0}, {-1.12, 0.4, 0}}}, 0.08, 0.075};
  const std::vector<double> angles_start = angles_about(mesh, upper_rim, handle, 0);
  // The tube arrives where another would leave: its last ring runs the other way round, from the best matching vertex.
  Ring arrival(lower_rim.rbegin(), lower_rim.rend());
  const std::vector<double> angles = angles_about(mesh, arrival, handle, 1);
  const std::size_t n = arrival.size();
  std::size_t best = 0;
  double least = 1e300;
  for (std::size_t shift = 0; shift < n; ++shift) {
    double twist = 0;
    for (std::size_t i = 0; i < n; ++i) twist += std::pow(turn_between(angles_start[i], angles[(i + shift) % n]), 2);
    if (twist < least) least = twist, best = shift;
  }
  std::vector<double> angles_end(n);
  for (std::size_t i = 0; i < n; ++i) angles_end[i] = angles[(i + best) % n];
  std::rotate(arrival.begin(), arrival.begin() + std::ptrdiff_t(best), arrival.end());

  std::vector<Ring> rings = add_tube(mesh, handle, upper_rim, angles_start, angles_end, spacing);
  rings.push_back(arrival);
  join_all(mesh.faces, rings, false);
}

/// Drops vertices that no face names.
void drop_unused_vertices(TriMesh& mesh) {
  constexpr std::uint32_t kUnused = 0xffffffffu;
  std::vector<std::uint32_t> number(mesh.vertices.size(), kUnused);
  for (const Face& f : mesh.faces) {
    for (const std::uint32_t v : f) number[v] = 0;
  }
  std::uint32_t kept = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] == kUnused) continue;
    mesh.vertices[kept] = mesh.vertices[v];
    number[v] = kept++;
  }
  mesh.vertices.resize(kept);
  for (Face& f : mesh.faces) {
    for (std::uint32_t& v : f) v = number[v];
  }
}

int row_nearest(const std::vector<ProfilePoint>& profile, double y) {
  int best = 0;
  for (int i = 0; i < int(profile.size()); ++i) {
    if (profile[i].radius > 0.8 && std::abs(profile[i].y - y) < std::abs(profile[best].y - y)) best = i;
  }
  return best;
}

}  // namespace

TriMesh tri_teapot(float size, int segments) {
  require_positive("tri_teapot", "size", size);
  require_count("tri_teapot", "segments", segments, 24);
  require_size("tri_teapot", 3.0 * segments * segments);
  const int columns = (segments + 1) / 2 * 2;  // the handle stands right across from the spout
  const double spacing = std::min(2 * kPiD / columns, 0.16);
  const std::vector<ProfilePoint> profile = smooth_profile(spacing);

  TriMesh mesh;
  std::vector<Ring> rings;
  for (const ProfilePoint& p : profile) {
    rings.push_back(add_ring(mesh, p.radius == 0 ? 1 : columns, [&](int i) {
      const double angle = 2 * kPiD * i / columns;
      return Vec3d(p.radius * std::cos(angle), p.y, -p.radius * std::sin(angle));
    }));
  }
  const auto reach = [&](double radius) { return std::max(1, int(std::lround(radius / spacing))); };
  const Hole spout{0, row_nearest(profile, 0.46), reach(0.2)};
  const Hole upper{columns / 2, row_nearest(profile, 0.93), reach(0.08)};
  const Hole lower{columns / 2, row_nearest(profile, 0.4), reach(0.08)};
  for (int row = 0; row + 1 < int(rings.size()); ++row) {
    join_rings(mesh.faces, rings[row], rings[row + 1], [&](std::size_t j) {
      const int c = int(j);
      return !spout.covers(c, row, columns) && !upper.covers(c, row, columns) && !lower.covers(c, row, columns);
    });
  }
  add_spout(mesh, rim_of(spout, rings), spacing);
  add_handle(mesh, rim_of(upper, rings), rim_of(lower, rings), spacing);

  drop_unused_vertices(mesh);
  const float scale = size / mesh.bounds().size().x;
  for (Vec3& v : mesh.vertices) v *= scale;
  center_on_origin(mesh);
  return mesh;
}

}  // namespace pliant
