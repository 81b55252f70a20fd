#include "geometry/layer_core.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/bvh.h"
#include "geometry/primitives.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

/// The least volume of a tet over that of a third of an upright prism of the same face and
/// least thickness.
constexpr double kLeastShare = 0.05;
/// The layer takes at most this share of the way through the body: the other side needs as much, and the core some.
constexpr double kMostDepth = 0.48;

class CoreMaker {
 public:
  CoreMaker(const TriMesh& surface, std::span<const float> thickness)
      : surface_(surface), count_(surface.vertices.size()), faces_of_(vertex_faces(surface.faces, count_)) {
    for (std::size_t i = 0; i < count_; ++i) {
      surface_points_.emplace_back(surface.vertices[i]);
      asked_.push_back(double(thickness.size() == 1 ? thickness[0] : thickness[i]));
    }
    std::vector<Aabb> boxes(surface.faces.size());
    for (std::size_t f = 0; f < boxes.size(); ++f) {
      for (const std::uint32_t k : surface.faces[f]) boxes[f].include(surface.vertices[k]);
    }
    tree_.build(boxes);
    thickness_ = asked_;
  }

  Result<LayerCore> make() {
    limit_thickness();
    offset_from_smooth();
    share_.assign(count_, 1.0);
    constexpr int kRounds = 60;
    for (int round = 0; round < kRounds; ++round) {
      if (round == kRounds / 3) turn_thin_places();
      if (!thin_bad_places(round > 2 * kRounds / 3) && !thin_deep_places()) return finish();
    }
    const std::size_t face = worst_face();
    // Where it is: the faces may be those of a mesh that was cut anew.
    Vec3d at{};
    for (const std::uint32_t i : surface_.faces[face]) at += surface_points_[i] / 3;
    return Error{.message = fmt::format("there is no room for a layer under face {} at ({:.3g}, {:.3g}, {:.3g}): the "
                                        "surface folds there, or is thinner than twice the layer; give less thickness, "
                                        "more nodes, or a core",
                                        face, at.x, at.y, at.z),
                 .field = fmt::format("faces[{}]", face)};
  }

 private:
  Vec3d core(std::size_t i) const { return surface_points_[i] + inward_[i] * share_[i]; }
  Vec3d point(std::uint32_t i) const { return i < count_ ? surface_points_[i] : core(i - count_); }

  Vec3d face_normal(const std::vector<Vec3d>& at, const Face& f) const {
    return cross(at[f[1]] - at[f[0]], at[f[2]] - at[f[0]]);
  }

  /// How far a way inward goes before it leaves the body, m; endless under surfaces that enclose nothing.
  double way_through(std::size_t i, Vec3d direction) const {
    const Vec3 origin = surface_.vertices[i], along = normalized(direction).to_float();
    constexpr float kFar = 1e30f;
    float nearest = kFar;
    tree_.cast_ray(origin, along, kFar, [&](std::uint32_t f, float t) {
      const Face& face = surface_.faces[f];
      if (std::find(face.begin(), face.end(), i) != face.end()) return t;
      const auto hit = intersect_ray_triangle(origin, along, t, surface_.vertices[face[0]], surface_.vertices[face[1]],
                                              surface_.vertices[face[2]]);
      return hit && !hit->from_front ? nearest = hit->t : t;
    });
    return nearest < kFar ? double(nearest) : 1e300;
  }

  /// Nowhere more than the body has room for. What counts is the least of a node and its neighbours: a ray may pass by
  /// a rim.
  void limit_thickness() {
    std::vector<double> room(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      Vec3d normal;
      for (const std::uint32_t f : faces_of_[i]) normal += face_normal(surface_points_, surface_.faces[f]);
      room[i] = kMostDepth * way_through(i, -normal);
    }
    // It grows no faster than this along the surface: a step in the thickness would show where the skin is pressed.
    constexpr double kSlope = 0.5;
    constexpr int kMostSweeps = 100;
    bool has_changed = true;
    for (int sweep = 0; sweep < kMostSweeps && has_changed; ++sweep) {
      has_changed = false;
      for (const Face& face : surface_.faces) {
        for (std::size_t k = 0; k < 3; ++k) {
          const std::uint32_t a = face[k], b = face[(k + 1) % 3];
          const double most = kSlope * length(surface_points_[a] - surface_points_[b]);
          has_changed = has_changed || std::abs(room[a] - room[b]) > 1.0001 * most;
          room[a] = std::min(room[a], room[b] + most), room[b] = std::min(room[b], room[a] + most);
        }
      }
    }
    for (std::size_t i = 0; i < count_; ++i) {
      for (const std::uint32_t f : faces_of_[i]) {
        for (const std::uint32_t k : surface_.faces[f]) thickness_[i] = std::min(thickness_[i], room[k]);
      }
    }
  }

  /// True if the layer of some nodes goes beyond what the body has room for, along the ways that were found.
  bool thin_deep_places() {
    constexpr double kAllowed = 0.49;  // between nodes that lean towards each other
    bool any = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const double reach = length(inward_[i]) * share_[i], room = way_through(i, inward_[i]);
      if (reach <= kAllowed * room) continue;
      share_[i] *= std::min(kMostDepth * room / reach, 0.95);
      any = true;
    }
    return any;
  }

  /// Core points at full thickness: below a copy of the surface whose bumps are smoothed away at the scale of the
  /// thickness.
  void offset_from_smooth() {
    std::vector<Vec3d> smooth = surface_points_, next = smooth;
    for (int round = 0; round < smoothing_rounds(); ++round) {
      for (std::size_t i = 0; i < count_; ++i) next[i] = (smooth[i] + around(smooth, i)) * 0.5;
      // A second, outward pass keeps the surface from shrinking (Taubin 1995).
      for (std::size_t i = 0; i < count_; ++i) smooth[i] = next[i] + (next[i] - around(next, i)) * 0.51;
    }
    inward_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      Vec3d normal;
      for (const std::uint32_t f : faces_of_[i]) normal += face_normal(smooth, surface_.faces[f]);
      normal = normalized(normal);
      // Smoothing also drags nodes along the surface, which would lean the prisms over.
      const double depth = thickness_[i] - dot(smooth[i] - surface_points_[i], normal);
      inward_[i] = normal * -std::max(depth, 0.25 * thickness_[i]);
    }
  }

  /// Enough to spread a bump over about the thickness.
  int smoothing_rounds() const {
    double edge = 0, thickness = 0;
    for (const Face& f : surface_.faces) edge += length(surface_points_[f[1]] - surface_points_[f[0]]);
    for (const double t : thickness_) thickness += t;
    edge /= double(std::max<std::size_t>(surface_.faces.size(), 1)),
        thickness /= double(std::max<std::size_t>(count_, 1));
    const double steps = edge > 0 ? thickness / edge : 0;
    return int(std::clamp(2 * steps * steps, 2.0, 40.0));
  }

  Vec3d around(const std::vector<Vec3d>& at, std::size_t i) const {
    Vec3d sum;
    double weight = 0;
    for (const std::uint32_t f : faces_of_[i]) {
      for (const std::uint32_t k : surface_.faces[f]) {
        if (k != i) sum += at[k], weight += 1;
      }
    }
    return weight > 0 ? sum / weight : at[i];
  }

  /// The least of the three volumes under a face, over what it should be; negative for an inverted tet.
  double quality(std::size_t f) const {
    const Face& face = surface_.faces[f];
    double depth = 1e300;
    for (const std::uint32_t k : face) depth = std::min(depth, share_[k] * thickness_[k]);
    const double upright = length(face_normal(surface_points_, face)) * depth;  // six times a third of the prism
    double least = 1e300;
    for (const Tet& t : layer_tets(face, std::uint32_t(count_))) {
      least = std::min(least, six_volumes(point(t[0]), point(t[1]), point(t[2]), point(t[3])));
    }
    return upright > 0 ? least / upright : -1;
  }

  /// True if there were bad places. Late rounds also turn the way inward towards what all faces around a node allow.
  bool thin_bad_places(bool turn) {
    std::vector<std::uint8_t> is_bad(count_, 0);
    bool any = false;
    for (std::size_t f = 0; f < surface_.faces.size(); ++f) {
      if (quality(f) >= kLeastShare) continue;
      any = true;
      for (const std::uint32_t k : surface_.faces[f]) is_bad[k] = 1;
    }
    for (std::size_t i = 0; any && i < count_; ++i) {
      if (!is_bad[i]) continue;
      share_[i] *= 0.8;
      if (turn) inward_[i] = turned(i);
    }
    return any;
  }

  /// Where much had to be taken off, the way inward was a bad one: a new start along the way that is most against all
  /// faces around the node.
  void turn_thin_places() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (share_[i] > 0.3) continue;
      for (int step = 0; step < 30; ++step) inward_[i] = turned(i);
      share_[i] = 0.4;
    }
  }

  /// The way inward, a little more against the face that it is least against.
  Vec3d turned(std::size_t i) const {
    Vec3d direction = normalized(inward_[i]), worst;
    double least = 2;
    for (const std::uint32_t f : faces_of_[i]) {
      const Vec3d normal = normalized(face_normal(surface_points_, surface_.faces[f]));
      if (-dot(normal, direction) < least) least = -dot(normal, direction), worst = normal;
    }
    return normalized(direction - worst * 0.3, direction) * thickness_[i];
  }

  std::size_t worst_face() const {
    std::size_t worst = 0;
    for (std::size_t f = 1; f < surface_.faces.size(); ++f) {
      if (quality(f) < quality(worst)) worst = f;
    }
    return worst;
  }

  Result<LayerCore> finish() const {
    LayerCore out;
    for (std::size_t i = 0; i < count_; ++i) {
      out.points.push_back(core(i).to_float());
      const double share = share_[i] * thickness_[i] / asked_[i];
      if (share < 1) ++out.thinned;
      out.thinnest = std::min(out.thinnest, float(share));
    }
    const Result<double> volume = check_layer_core(surface_, out.points);
    if (!volume) return volume.error();
    out.smallest_volume = *volume;
    return out;
  }

  const TriMesh& surface_;
  std::size_t count_;
  Csr faces_of_;
  std::vector<Vec3d> surface_points_, inward_;  ///< inward: to the core at full thickness
  std::vector<double> asked_, thickness_, share_;
  Bvh tree_;  ///< of the faces
};

}  // namespace

std::array<Tet, 3> layer_tets(const Face& face, std::uint32_t node_count) {
  Face s = face;
  bool flipped = false;
  const auto order = [&](std::size_t i, std::size_t k) {
    if (s[i] > s[k]) std::swap(s[i], s[k]), flipped = !flipped;
  };
  order(0, 1), order(1, 2), order(0, 1);
  const Face c{s[0] + node_count, s[1] + node_count, s[2] + node_count};
  // Faces look outward and the core is behind them.
  std::array<Tet, 3> tets{{{c[0], c[1], c[2], s[0]}, {s[0], s[1], c[1], c[2]}, {s[0], s[2], s[1], c[2]}}};
  if (flipped) {
    for (Tet& tet : tets) std::swap(tet[0], tet[1]);
  }
  return tets;
}

Result<LayerCore> make_layer_core(const TriMesh& surface, std::span<const float> thickness) {
  if (thickness.size() != 1 && thickness.size() != surface.vertices.size()) {
    return Error{.message = fmt::format("{} thicknesses were given for {} nodes; give one for each, or one for all",
                                        thickness.size(), surface.vertices.size()),
                 .field = "thickness"};
  }
  for (const float t : thickness) {
    if (!(t > 0) || !std::isfinite(t)) {
      return Error{.message = fmt::format("a thickness must be positive and finite, not {}", t), .field = "thickness"};
    }
  }
  return CoreMaker(surface, thickness).make();
}

Result<double> check_layer_core(const TriMesh& surface, std::span<const Vec3> points) {
  const auto count = std::uint32_t(surface.vertices.size());
  if (points.size() != count) {
    return Error{.message = fmt::format("the core has {} points for {} nodes of the surface", points.size(), count),
                 .field = "core"};
  }
  const auto at = [&](std::uint32_t i) { return Vec3d(i < count ? surface.vertices[i] : points[i - count]); };
  double smallest = 1e300;
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    for (const Tet& tet : layer_tets(surface.faces[f], count)) {
      const double volume = six_volumes(at(tet[0]), at(tet[1]), at(tet[2]), at(tet[3])) / 6;
      if (!(volume > 0)) {
        return Error{
            .message = fmt::format("a tet between face {} and the core has a volume of {:.3g} m³: the core must "
                                   "lie behind every face",
                                   f, volume),
            .field = fmt::format("core[{}]", surface.faces[f][0])};
      }
      smallest = std::min(smallest, volume);
    }
  }
  return smallest;
}

}  // namespace pliant
