// Pattern search: a node tries a few places around its own and takes the best, if the worst angle around it gets
// better. Slower than Laplacian smoothing, but every move is a gain, so it can run on the worst tets alone.
#include "geometry/tet_smooth.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/adjacency.h"
#include "geometry/tet_quality.h"

namespace pliant {
namespace {

constexpr int kSmoothPasses = 8, kFitPasses = 6;
/// Cosine of 30 degrees: tets whose angles all lie between 30 and 150 degrees are left in peace.
constexpr double kGoodEnough = 0.866;
/// Cosine of 14 degrees: what may be given up for a better fit.
constexpr double kBearable = 0.970;
/// Nodes of the boundary this close to the surface lie on it.
constexpr float kOnSurface = 0.02f;

class NodeMover {
 public:
  enum Kind : std::uint8_t {
    kInner,    ///< goes anywhere
    kSliding,  ///< on the surface, and stays on it
    kAstray,   ///< too far outside, or on the boundary too deep inside
    kFixed     ///< closes a hole
  };

  NodeMover(StuffedSolid& solid, const EnclosingSurface& surface, Workers& workers)
      : mesh_(solid.mesh),
        surface_(surface),
        workers_(workers),
        tets_of_(node_tets(solid.mesh.tets, solid.mesh.nodes.size())),
        is_boundary_(solid.is_surface),
        kind_(solid.mesh.nodes.size(), kInner) {
    for_each_node([&](std::uint32_t node) {
      if (is_boundary_[node]) kind_[node] = boundary_kind(mesh_.nodes[node]);
    });
  }

  void fit() {
    // Inner nodes that lie outside are those that were added.
    for_each_node([&](std::uint32_t node) {
      const Vec3 place = mesh_.nodes[node];
      if (is_boundary_[node] || surface_.tree().distance(place, 1) >= 1) return;
      if (surface_.winding(place) < 0.3) kind_[node] = kAstray;
    });
    std::vector<std::uint32_t> astray, beside;
    for (std::uint32_t node = 0; node < kind_.size(); ++node) {
      if (kind_[node] == kAstray) astray.push_back(node);
      if (kind_[node] == kInner && is_beside_astray(node)) beside.push_back(node);
    }
    for (int pass = 0; pass < kFitPasses; ++pass) {
      for (const std::uint32_t node : astray) pull(node);
      for (const std::uint32_t node : beside) improve(node, 0.05f);  // makes room
    }
    for (const std::uint32_t node : astray)
      kind_[node] = is_boundary_[node] ? boundary_kind(mesh_.nodes[node]) : kInner;
  }

  void smooth() {
    std::vector<std::uint32_t> bad;
    for (const std::uint32_t node : nodes_of_bad_tets()) {
      if (kind_[node] == kInner || kind_[node] == kSliding) bad.push_back(node);
    }
    float step = 0.12f;
    for (int pass = 0; pass < kSmoothPasses; ++pass) {
      for (const std::uint32_t node : bad) improve(node, step);
      if (pass % 2 == 1) step *= 0.5f;
    }
  }

 private:
  Kind boundary_kind(Vec3 place) const {
    if (surface_.tree().distance(place, 2 * kOnSurface) < kOnSurface) return kSliding;
    // A skin over a hole lies where the surface winds around by one half.
    return std::abs(surface_.winding(place) - 0.5) > 0.3 ? kAstray : kFixed;
  }

  template <typename Visit>
  void for_each_node(Visit&& visit) {
    parallel_for(workers_, kind_.size(), 512, [&](std::size_t begin, std::size_t end) {
      for (std::size_t node = begin; node < end; ++node) visit(std::uint32_t(node));
    });
  }

  /// Moves make no other tets bad, so these are all that will ever matter.
  std::vector<std::uint32_t> nodes_of_bad_tets() {
    std::vector<std::uint8_t> is_bad(mesh_.tets.size());
    parallel_for(workers_, is_bad.size(), 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) is_bad[t] = worst_of(corners_of(mesh_.tets[t])) >= kGoodEnough;
    });
    std::vector<std::uint32_t> nodes;
    for (std::size_t t = 0; t < is_bad.size(); ++t) {
      if (is_bad[t]) nodes.insert(nodes.end(), mesh_.tets[t].begin(), mesh_.tets[t].end());
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  std::array<Vec3d, 4> corners_of(const Tet& t) const {
    return {Vec3d(mesh_.nodes[t[0]]), Vec3d(mesh_.nodes[t[1]]), Vec3d(mesh_.nodes[t[2]]), Vec3d(mesh_.nodes[t[3]])};
  }

  bool is_beside_astray(std::uint32_t node) const {
    for (const std::uint32_t t : tets_of_[node]) {
      for (const std::uint32_t n : mesh_.tets[t]) {
        if (kind_[n] == kAstray) return true;
      }
    }
    return false;
  }

  /// The worst angle of a tet: the cosine of the smallest, or of what the largest leaves of 180 degrees. 2 if it is
  /// inside out.
  static double worst_of(const std::array<Vec3d, 4>& corners) {
    if (!(six_volumes(corners[0], corners[1], corners[2], corners[3]) > 1e-3)) return 2;
    const auto cosines = dihedral_cosines(corners);
    return std::max(cosines[0], -cosines[1]);
  }

  /// The worst of the tets at a node if it stood elsewhere. Stops looking beyond `limit`.
  double worst(std::uint32_t node, Vec3 place, double limit) const {
    double worst = -1;
    for (const std::uint32_t t : tets_of_[node]) {
      std::array<Vec3d, 4> corners = corners_of(mesh_.tets[t]);
      for (std::size_t i = 0; i < 4; ++i) {
        if (mesh_.tets[t][i] == node) corners[i] = Vec3d(place);
      }
      worst = std::max(worst, worst_of(corners));
      if (worst >= limit) return worst;
    }
    return worst;
  }

  /// Moves a node towards the surface, an inner one a little beyond, as far as the shapes can bear.
  void pull(std::uint32_t node) {
    const Vec3 from = mesh_.nodes[node];
    Vec3 target;
    if (!surface_.tree().closest(from, 1, target)) return;
    if (!is_boundary_[node]) target += 0.1f * normalized(target - from);
    const double limit = std::max(kBearable, worst(node, from, 3)) + 1e-9;
    for (const float share : {1.0f, 0.5f, 0.25f, 0.125f}) {
      const Vec3 place = from + share * (target - from);
      if (worst(node, place, limit) >= limit) continue;
      mesh_.nodes[node] = place;
      return;
    }
  }

  void improve(std::uint32_t node, float step) {
    const Vec3 from = mesh_.nodes[node];
    double best = worst(node, from, 3) - 1e-4;
    if (best < kGoodEnough) return;
    constexpr float d = 0.57735f;
    constexpr Vec3 kPattern[14] = {{1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},  {0, 0, 1},
                                   {0, 0, -1},  {d, d, d},   {-d, d, d},  {d, -d, d},  {d, d, -d},
                                   {-d, -d, d}, {-d, d, -d}, {d, -d, -d}, {-d, -d, -d}};
    for (const Vec3 direction : kPattern) {
      Vec3 place = from + step * direction;
      if (kind_[node] == kSliding && !surface_.tree().closest(place, 2 * step, place)) continue;
      const double after = worst(node, place, best);
      if (after >= best) continue;
      best = after;
      mesh_.nodes[node] = place;
    }
  }

  TetMesh& mesh_;
  const EnclosingSurface& surface_;
  Workers& workers_;
  Csr tets_of_;
  const std::vector<std::uint8_t>& is_boundary_;
  std::vector<Kind> kind_;
};

}  // namespace

void smooth_tets(StuffedSolid& solid, const EnclosingSurface& surface, const SmoothOptions& options, Workers& workers) {
  if (!options.fit_thin_parts && !options.improve_angles) return;
  NodeMover mover(solid, surface, workers);
  if (options.fit_thin_parts) mover.fit();
  if (options.improve_angles) mover.smooth();
}

}  // namespace pliant
