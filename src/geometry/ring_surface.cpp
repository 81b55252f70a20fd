#include "geometry/ring_surface.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// How far along the profile each point lies, 0 to 1; for a closed one out and back, so that uvs have no seam.
std::vector<float> places_along(const std::vector<ProfilePoint>& profile, bool closed) {
  std::vector<double> at(profile.size(), 0);
  for (std::size_t i = 1; i < profile.size(); ++i) {
    at[i] = at[i - 1] + std::hypot(profile[i].radius - profile[i - 1].radius, profile[i].y - profile[i - 1].y);
  }
  double total = at.back();
  if (closed) total += std::hypot(profile[0].radius - profile.back().radius, profile[0].y - profile.back().y);
  std::vector<float> v(profile.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double share = total > 0 ? at[i] / total : 0;
    v[i] = float(closed ? 1 - std::abs(2 * share - 1) : share);
  }
  return v;
}

}  // namespace

void join_rings(std::vector<Face>& faces, const std::vector<std::uint32_t>& lower,
                const std::vector<std::uint32_t>& upper) {
  const std::size_t n = lower.size();
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t k = (j + 1) % n;
    faces.push_back({lower[j], lower[k], upper[k]});
    faces.push_back({lower[j], upper[k], upper[j]});
  }
}

void join_tip(std::vector<Face>& faces, const std::vector<std::uint32_t>& ring, std::uint32_t tip, bool is_top) {
  const std::size_t n = ring.size();
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t k = (j + 1) % n;
    faces.push_back(is_top ? Face{ring[j], ring[k], tip} : Face{ring[k], ring[j], tip});
  }
}

TriMesh lathe(const std::vector<ProfilePoint>& profile, int segments, const LatheOptions& options) {
  TriMesh mesh;
  const std::vector<float> v = places_along(profile, options.closed_profile);
  std::vector<std::vector<std::uint32_t>> rings(profile.size());
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const bool is_pole = profile[i].radius == 0;
    for (int j = 0; j < (is_pole ? 1 : segments); ++j) {
      const double turn = double(j) / segments, angle = 2 * kPiD * turn;
      Vec3d p(profile[i].radius * std::cos(angle), profile[i].y, -profile[i].radius * std::sin(angle));
      if (options.displace) p = options.displace(p, angle, i);
      rings[i].push_back(std::uint32_t(mesh.vertices.size()));
      mesh.vertices.push_back(p.to_float());
      mesh.uvs.push_back({is_pole ? 0.5f : float(1 - std::abs(2 * turn - 1)), v[i]});
    }
  }
  const std::size_t bands = profile.size() - (options.closed_profile ? 0 : 1);
  for (std::size_t i = 0; i < bands; ++i) {
    const auto &lower = rings[i], &upper = rings[(i + 1) % rings.size()];
    if (lower.size() == 1 && upper.size() == 1) continue;
    if (lower.size() == 1) {
      join_tip(mesh.faces, upper, lower[0], false);
    } else if (upper.size() == 1) {
      join_tip(mesh.faces, lower, upper[0], true);
    } else {
      join_rings(mesh.faces, lower, upper);
    }
  }
  return mesh;
}

void append_arc(std::vector<ProfilePoint>& profile, double center_radius, double center_y, double arc_radius,
                double from, double to, int steps) {
  for (int i = 0; i <= steps; ++i) {
    const double angle = from + (to - from) * i / steps;
    double radius = center_radius + arc_radius * std::cos(angle);
    if (std::abs(radius) < 1e-12 * arc_radius) radius = 0;  // a pole, exactly
    profile.push_back({radius, center_y + arc_radius * std::sin(angle)});
  }
}

}  // namespace pliant
