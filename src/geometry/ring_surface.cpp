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

void join_rings(std::vector<Face>& faces, const Ring& lower, const Ring& upper,
                const std::function<bool(std::size_t)>& keep) {
  const std::size_t n = std::max(lower.size(), upper.size());
  for (std::size_t j = 0; n > 1 && j < n; ++j) {
    if (keep && !keep(j)) continue;
    const std::size_t k = (j + 1) % n;
    if (lower.size() == 1) {
      faces.push_back({lower[0], upper[k], upper[j]});
    } else if (upper.size() == 1) {
      faces.push_back({lower[j], lower[k], upper[0]});
    } else {
      faces.push_back({lower[j], lower[k], upper[k]});
      faces.push_back({lower[j], upper[k], upper[j]});
    }
  }
}

void join_all(std::vector<Face>& faces, const std::vector<Ring>& rings, bool closed) {
  for (std::size_t i = 0; i + 1 < rings.size(); ++i) join_rings(faces, rings[i], rings[i + 1]);
  if (closed) join_rings(faces, rings.back(), rings.front());
}

void center_on_origin(TriMesh& mesh) {
  const Vec3 center = mesh.bounds().center();
  for (Vec3& v : mesh.vertices) v -= center;
}

TriMesh lathe(const std::vector<ProfilePoint>& profile, int segments, const LatheOptions& options) {
  TriMesh mesh;
  const std::vector<float> v = places_along(profile, options.closed_profile);
  std::vector<Ring> rings;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const bool is_pole = profile[i].radius == 0;
    rings.push_back(add_ring(mesh, is_pole ? 1 : segments, [&](int j) {
      const double turn = double(j) / segments, angle = 2 * kPiD * turn;
      mesh.uvs.push_back({is_pole ? 0.5f : float(1 - std::abs(2 * turn - 1)), v[i]});
      const Vec3d p(profile[i].radius * std::cos(angle), profile[i].y, -profile[i].radius * std::sin(angle));
      return options.displace ? options.displace(p, angle, i) : p;
    }));
  }
  join_all(mesh.faces, rings, options.closed_profile);
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
