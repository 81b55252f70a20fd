#include "geometry/chart_clusters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>

#include "geometry/adjacency.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
/// Cosines: where a chart gets another seed, and up to where a small one joins its neighbour.
constexpr double kSplitCosine = 0.26, kJoinCosine = 0.17;
constexpr int kRounds = 24;
constexpr std::size_t kMaxSeeds = 4000;

class Clusters {
 public:
  explicit Clusters(const TriMesh& surface)
      : neighbors_(face_neighbors(surface.faces, edge_faces(surface.faces, surface.vertices.size()))) {
    for (const Face& f : surface.faces) {
      const Vec3d a(surface.vertices[f[0]]);
      const Vec3d twice = cross(Vec3d(surface.vertices[f[1]]) - a, Vec3d(surface.vertices[f[2]]) - a);
      areas_.push_back(length(twice) / 2), normals_.push_back(normalized(twice));
    }
  }

  std::vector<std::uint32_t> find() {
    seed_every_piece();
    for (int round = 0; round < kRounds; ++round) {
      grow();
      const bool is_last = round + 1 == kRounds;
      const std::size_t before = seeds_.size();
      move_seeds();
      if (!is_last) add_seeds();
      // Two rounds more, after the last seed, for the seeds to find their places.
      calm_ = seeds_.size() == before ? calm_ + 1 : 0;
      if (calm_ > 2) break;
    }
    grow();
    for (int pass = 0; pass < 4; ++pass) smooth_borders();
    join_small();
    return numbered();
  }

 private:
  /// One seed in each connected piece of the surface.
  void seed_every_piece() {
    std::vector<bool> is_reached(areas_.size(), false);
    std::vector<std::uint32_t> stack;
    for (std::uint32_t seed = 0; seed < areas_.size(); ++seed) {
      if (is_reached[seed]) continue;
      seeds_.push_back(seed);
      stack.assign(1, seed), is_reached[seed] = true;
      while (!stack.empty()) {
        const std::uint32_t f = stack.back();
        stack.pop_back();
        for (const std::uint32_t g : neighbors_[f]) {
          if (!is_reached[g]) is_reached[g] = true, stack.push_back(g);
        }
      }
    }
    means_.resize(seeds_.size());
    for (std::size_t k = 0; k < seeds_.size(); ++k) means_[k] = normals_[seeds_[k]];
  }

  double cost(std::uint32_t face, std::uint32_t chart) const { return 1 - dot(normals_[face], means_[chart]); }

  /// All charts at once from their seeds, the faces that fit best first.
  void grow() {
    charts_.assign(areas_.size(), kNone);
    using Offer = std::tuple<double, std::uint32_t, std::uint32_t>;  // cost, face, chart
    std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
    for (std::uint32_t k = 0; k < seeds_.size(); ++k) offers.emplace(-1.0, seeds_[k], k);
    while (!offers.empty()) {
      const auto [price, f, k] = offers.top();
      offers.pop();
      if (charts_[f] != kNone) continue;
      charts_[f] = k;
      for (const std::uint32_t g : neighbors_[f]) {
        if (charts_[g] == kNone) offers.emplace(cost(g, k), g, k);
      }
    }
  }

  void find_means() {
    means_.assign(seeds_.size(), {});
    for (std::uint32_t f = 0; f < charts_.size(); ++f) means_[charts_[f]] += areas_[f] * normals_[f];
    for (std::size_t k = 0; k < means_.size(); ++k) means_[k] = normalized(means_[k], normals_[seeds_[k]]);
  }

  /// Each to the face of its chart that is most like the mean.
  void move_seeds() {
    find_means();
    std::vector<double> best(seeds_.size(), 1e300);
    for (std::uint32_t f = 0; f < charts_.size(); ++f) {
      const std::uint32_t k = charts_[f];
      if (cost(f, k) < best[k]) best[k] = cost(f, k), seeds_[k] = f;
    }
  }

  /// A new one where a chart is bent most, if it is bent too much.
  void add_seeds() {
    std::vector<double> worst(seeds_.size(), 1 - kSplitCosine);
    std::vector<std::uint32_t> where(seeds_.size(), kNone);
    for (std::uint32_t f = 0; f < charts_.size(); ++f) {
      const std::uint32_t k = charts_[f];
      if (f != seeds_[k] && cost(f, k) > worst[k]) worst[k] = cost(f, k), where[k] = f;
    }
    for (const std::uint32_t f : where) {
      if (f == kNone || seeds_.size() >= kMaxSeeds) continue;
      seeds_.push_back(f), means_.push_back(normals_[f]);
    }
  }

  /// A face that two of its neighbours' charts would rather have goes there.
  void smooth_borders() {
    for (std::uint32_t f = 0; f < charts_.size(); ++f) {
      const auto& [a, b, c] = neighbors_[f];
      for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, c}, std::pair{c, a}}) {
        const std::uint32_t to = charts_[x];
        if (to == charts_[f] || charts_[y] != to || cost(f, to) > 1 - kJoinCosine) continue;
        charts_[f] = to;
        break;
      }
    }
  }

  void join_small() {
    find_means();
    const auto count = std::uint32_t(means_.size());
    std::vector<double> areas(count, 0), worst(count, 0);
    std::vector<std::size_t> sizes(count, 0);
    double total = 0;
    for (std::uint32_t f = 0; f < charts_.size(); ++f)
      areas[charts_[f]] += areas_[f], ++sizes[charts_[f]], total += areas_[f];
    std::vector<std::vector<std::uint32_t>> members(count);
    for (std::uint32_t f = 0; f < charts_.size(); ++f) members[charts_[f]].push_back(f);
    for (std::uint32_t k = 0; k < count; ++k) {
      if (members[k].empty() || (areas[k] > 0.004 * total && sizes[k] > 8)) continue;
      std::map<std::uint32_t, int> borders;
      for (const std::uint32_t f : members[k]) {
        for (const std::uint32_t g : neighbors_[f]) borders[charts_[g]] += charts_[g] != k ? 1 : 0;
      }
      std::uint32_t best = kNone;
      int most = 0;
      for (const auto& [other, edges] : borders) {
        const bool fits = std::all_of(members[k].begin(), members[k].end(),
                                      [&, o = other](std::uint32_t f) { return cost(f, o) < 1 - kJoinCosine; });
        if (other != k && edges > most && fits) most = edges, best = other;
      }
      if (best == kNone) continue;
      for (const std::uint32_t f : members[k]) charts_[f] = best, members[best].push_back(f);
      areas[best] += areas[k], sizes[best] += sizes[k];
      members[k].clear();
    }
  }

  /// Without gaps, in the order in which they first come. Parts of a chart that do not hang together get numbers of
  /// their own.
  std::vector<std::uint32_t> numbered() const {
    std::vector<std::uint32_t> out(charts_.size(), kNone), stack;
    std::uint32_t count = 0;
    for (std::uint32_t seed = 0; seed < charts_.size(); ++seed) {
      if (out[seed] != kNone) continue;
      stack.assign(1, seed), out[seed] = count;
      while (!stack.empty()) {
        const std::uint32_t f = stack.back();
        stack.pop_back();
        for (const std::uint32_t g : neighbors_[f]) {
          if (out[g] == kNone && charts_[g] == charts_[f]) out[g] = count, stack.push_back(g);
        }
      }
      ++count;
    }
    return out;
  }

  std::vector<std::array<std::uint32_t, 3>> neighbors_;
  std::vector<double> areas_;
  std::vector<Vec3d> normals_, means_;
  std::vector<std::uint32_t> seeds_, charts_;
  int calm_ = 0;
};

}  // namespace

std::vector<std::uint32_t> cluster_by_normals(const TriMesh& surface) { return Clusters(surface).find(); }

std::vector<bool> halve_chart(std::span<const std::uint32_t> faces,
                              const std::vector<std::array<std::uint32_t, 3>>& neighbors) {
  std::map<std::uint32_t, std::uint32_t> local;
  for (std::uint32_t i = 0; i < faces.size(); ++i) local[faces[i]] = i;
  // Breadth first from one face, then from the one reached last; the nearer half of what that reaches is one part.
  std::vector<std::uint32_t> order;
  std::uint32_t seed = 0;
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<bool> is_reached(faces.size(), false);
    order.assign(1, seed), is_reached[seed] = true;
    for (std::size_t next = 0; next < order.size(); ++next) {
      for (const std::uint32_t g : neighbors[faces[order[next]]]) {
        const auto found = local.find(g);
        if (found == local.end() || is_reached[found->second]) continue;
        is_reached[found->second] = true, order.push_back(found->second);
      }
    }
    seed = order.back();
  }
  std::vector<bool> second(faces.size(), true);
  for (std::size_t i = 0; i < order.size() / 2; ++i) second[order[i]] = false;
  return second;
}

}  // namespace pliant
