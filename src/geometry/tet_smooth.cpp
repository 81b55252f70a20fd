// Pattern search: a node tries a few places around its own and takes the best, if the worst angle around it gets
// better. Slower than Laplacian smoothing, but every move is a gain, so it can run on the worst tets alone.
#include "geometry/tet_smooth.h"

#include <algorithm>
#include <array>

#include "geometry/adjacency.h"
#include "geometry/tet_quality.h"

namespace pliant {
namespace {

constexpr int kPasses = 8;
/// Cosine of 30 degrees: tets whose angles all lie between 30 and 150 degrees are left in peace.
constexpr double kGoodEnough = 0.866;
/// Boundary nodes further from the surface than this close a hole or keep a thin part: they stay.
constexpr float kOnSurface = 0.02f;

class Smoother {
 public:
  Smoother(TetMesh& mesh, const EnclosingSurface& surface)
      : mesh_(mesh),
        surface_(surface),
        tets_of_(node_tets(mesh.tets, mesh.nodes.size())),
        kind_(mesh.nodes.size(), kFree) {
    std::vector<std::uint32_t> boundary;
    extract_surface(mesh, &boundary);
    for (const std::uint32_t node : boundary) {
      kind_[node] = surface.tree().distance(mesh.nodes[node], 2 * kOnSurface) < kOnSurface ? kSliding : kFixed;
    }
  }

  void run() {
    float step = 0.12f;
    for (int pass = 0; pass < kPasses; ++pass) {
      std::size_t moved = 0;
      for (std::uint32_t node = 0; node < mesh_.nodes.size(); ++node)
        moved += kind_[node] != kFixed && improve(node, step);
      if (moved == 0 || pass % 2 == 1) step *= 0.5f;
    }
  }

 private:
  enum Kind : std::uint8_t { kFree, kSliding, kFixed };

  /// The worst angle of the tets at a node if it stood elsewhere: the cosine of the smallest, or of what the largest
  /// leaves of 180 degrees. 2 if one turns inside out. Stops looking beyond `limit`.
  double worst(std::uint32_t node, Vec3 place, double limit) const {
    double worst = -1;
    for (const std::uint32_t t : tets_of_[node]) {
      std::array<Vec3d, 4> corners;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::uint32_t n = mesh_.tets[t][i];
        corners[i] = Vec3d(n == node ? place : mesh_.nodes[n]);
      }
      if (!(six_volumes(corners[0], corners[1], corners[2], corners[3]) > 1e-3)) return 2;
      const auto cosines = dihedral_cosines(corners);
      worst = std::max({worst, cosines[0], -cosines[1]});
      if (worst >= limit) return worst;
    }
    return worst;
  }

  bool improve(std::uint32_t node, float step) {
    const double before = worst(node, mesh_.nodes[node], 3);
    if (before < kGoodEnough) return false;
    constexpr float d = 0.57735f;
    constexpr Vec3 kPattern[14] = {{1, 0, 0},   {-1, 0, 0},  {0, 1, 0},   {0, -1, 0},  {0, 0, 1},
                                   {0, 0, -1},  {d, d, d},   {-d, d, d},  {d, -d, d},  {d, d, -d},
                                   {-d, -d, d}, {-d, d, -d}, {d, -d, -d}, {-d, -d, -d}};
    double best = before - 1e-4;
    const Vec3 from = mesh_.nodes[node];
    for (const Vec3 direction : kPattern) {
      Vec3 place = from + step * direction;
      if (kind_[node] == kSliding && !surface_.tree().closest(place, 2 * step, place)) continue;
      const double after = worst(node, place, best);
      if (after >= best) continue;
      best = after;
      mesh_.nodes[node] = place;
    }
    return best < before - 1e-4;
  }

  TetMesh& mesh_;
  const EnclosingSurface& surface_;
  Csr tets_of_;
  std::vector<Kind> kind_;
};

}  // namespace

void smooth_tets(TetMesh& mesh, const EnclosingSurface& surface, Workers&) { Smoother(mesh, surface).run(); }

}  // namespace pliant
