// Shapes from a lathe with a pattern on them: the ridged pumpkin and the treaded tire.
#include <algorithm>
#include <cmath>

#include "geometry/generator_arguments.h"
#include "geometry/ring_surface.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

double smooth_step(double from, double to, double x) {
  const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

/// The height of the fruit's skin at distance rho from the axis (both in radii), on the upper half: a flattened ball
/// with a dimple.
double pumpkin_height(double rho, double flatness) {
  return flatness * (std::sqrt(std::max(0.0, 1 - rho * rho)) - 0.18 * std::exp(-rho * rho / 0.1));
}

std::vector<ProfilePoint> pumpkin_profile(double radius, double flatness, int segments) {
  constexpr double kStemRadius = 0.11;
  const int steps = std::max(6, segments / 4);
  std::vector<ProfilePoint> profile;
  for (int i = 0; i <= steps; ++i) {  // from the bottom to the widest place
    const double rho = i == 0 ? 0 : std::sin(kPiD / 2 * i / steps);
    profile.push_back({radius * rho, -radius * pumpkin_height(rho, flatness)});
  }
  const double stem_angle = std::asin(kStemRadius);
  for (int i = 1; i <= steps; ++i) {  // from there to the foot of the stem
    const double rho = std::sin(kPiD / 2 + (stem_angle - kPiD / 2) * i / steps);
    profile.push_back({radius * rho, radius * pumpkin_height(rho, flatness)});
  }
  const double foot = profile.back().y;
  for (const auto& [r, y] : {ProfilePoint{0.08, 0.06}, {0.065, 0.14}, {0.065, 0.22}, {0.08, 0.3}, {0, 0.3}}) {
    profile.push_back({radius * r, foot + radius * y});
  }
  return profile;
}

void check(const TireShape& t) {
  require_positive("tri_tire", "radius", t.radius);
  require_positive("tri_tire", "rim_radius", t.rim_radius);
  require_positive("tri_tire", "width", t.width);
  require_positive("tri_tire", "tread_depth", t.tread_depth);
  require_count("tri_tire", "treads", t.treads, 1);
  require_count("tri_tire", "segments", t.segments, 8);
  if (t.rim_radius + t.tread_depth >= t.radius) {
    refuse_argument("tri_tire", "rim_radius", "must be less than radius − tread_depth");
  }
}

/// The cross-section of a tire without treads: a box with well rounded corners (a superellipse), at even distances.
std::vector<ProfilePoint> tire_profile(const TireShape& t, int points) {
  constexpr double kExponent = 0.6;
  const auto rounded = [](double c) { return std::copysign(std::pow(std::abs(c), kExponent), c); };
  const double outer = double(t.radius) - t.tread_depth, middle = (outer + t.rim_radius) / 2;
  const double half_height = (outer - t.rim_radius) / 2, half_width = t.width / 2.0;
  const int fine = points * (points < 4096 ? 64 : 4);
  std::vector<ProfilePoint> curve;
  std::vector<double> along{0};
  for (int i = 0; i <= fine; ++i) {
    const double angle = 2 * kPiD * i / fine - kPiD;
    curve.push_back({middle + half_height * rounded(std::cos(angle)), half_width * rounded(std::sin(angle))});
    if (i > 0)
      along.push_back(along[i - 1] + std::hypot(curve[i].radius - curve[i - 1].radius, curve[i].y - curve[i - 1].y));
  }
  std::vector<ProfilePoint> profile;
  for (int i = 0; i < points; ++i) {
    const auto at = std::lower_bound(along.begin(), along.end(), along.back() * i / points);
    profile.push_back(curve[std::size_t(at - along.begin())]);
  }
  return profile;
}

/// How high a tread stands, 0 to 1, at a turn (0 to 1 around) and a place across (−1 to 1): two rows of blocks, half a
/// block apart, on both sides of a groove.
double tread_height(double turn, double across, int treads) {
  const double phase = turn * treads + (across > 0 ? 0.5 : 0);
  const double from_middle = std::abs(phase - std::floor(phase) - 0.5);
  const double block = 1 - smooth_step(0.22, 0.4, from_middle);
  const double beside_groove = smooth_step(0.04, 0.14, std::abs(across));
  const double before_shoulder = 1 - smooth_step(0.8, 0.95, std::abs(across));
  return block * beside_groove * before_shoulder;
}

}  // namespace

TriMesh tri_pumpkin(const PumpkinShape& p) {
  const double radius = require_positive("tri_pumpkin", "radius", p.radius);
  const double flatness = require_positive("tri_pumpkin", "flatness", p.flatness);
  require_count("tri_pumpkin", "ridges", p.ridges, 0);
  require_count("tri_pumpkin", "segments", p.segments, 8);
  require_size("tri_pumpkin", 2.0 * p.ridges + p.segments);
  if (!(p.ridge_depth >= 0 && p.ridge_depth <= 0.5f)) {
    refuse_argument("tri_pumpkin", "ridge_depth", "must be a share of the radius from 0 to 0.5");
  }
  const int segments = round_up(p.segments, std::max(1, 2 * p.ridges));
  require_size("tri_pumpkin", 2.0 * segments * (segments / 2.0 + 6));
  const std::vector<ProfilePoint> profile = pumpkin_profile(radius, flatness, segments);
  const std::size_t stem = profile.size() - 5;

  LatheOptions options;
  options.displace = [&](Vec3d q, double angle, std::size_t i) {
    if (i >= stem) return q + Vec3d(0.6 * (q.y - profile[stem - 1].y) * (q.y - profile[stem - 1].y) / radius, 0, 0);
    // Full ridges where the fruit is wide, none towards the poles.
    const double valley = 1 - std::abs(std::cos(p.ridges * angle / 2));
    const double keep = 1 - p.ridge_depth * valley * smooth_step(0.05, 0.8, profile[i].radius / radius);
    return Vec3d(q.x * keep, q.y * (1 - 0.3 * (1 - keep)), q.z * keep);
  };
  TriMesh mesh = lathe(profile, segments, options);
  center_on_origin(mesh);
  return mesh;
}

TriMesh tri_tire(const TireShape& t) {
  check(t);
  require_size("tri_tire", 4.0 * t.treads + t.segments);
  const int segments = round_up(t.segments, 4 * t.treads);
  const double edge = 2 * kPiD * t.radius / segments;
  const double around_section = 2.0 * (double(t.width) + t.radius - t.rim_radius);
  require_size("tri_tire", 2.0 * segments * (around_section / edge + 16));
  const int points = round_up(std::max(16, int(around_section / edge)), 4);
  const std::vector<ProfilePoint> profile = tire_profile(t, points);

  LatheOptions options;
  options.closed_profile = true;
  options.displace = [&](Vec3d q, double angle, std::size_t i) {
    const double across = 2 * profile[i].y / t.width;
    const double middle = (double(t.radius) - t.tread_depth + t.rim_radius) / 2;
    double radius = profile[i].radius;
    if (radius > middle) radius += t.tread_depth * tread_height(angle / (2 * kPiD), across, t.treads);
    // The blocks lie aslant because the whole grid does: so their sides run along its edges and stay straight.
    const double slanted = angle - 2 * kPiD * 0.4 * std::abs(across) / t.treads;
    return Vec3d(radius * std::cos(slanted), q.y, -radius * std::sin(slanted));
  };
  return lathe(profile, segments, options);
}

}  // namespace pliant
