#include "particle/spring_matrix.h"

#include <algorithm>
#include <tuple>

#include "math/node_lanes.h"

namespace pliant {
namespace {

/// What joins a pair of nodes, a < b: where its numbers are.
struct Pair {
  std::uint32_t a = 0, b = 0;
  std::vector<std::uint32_t> springs;
  std::vector<std::array<std::uint32_t, 2>> corners;
};

std::uint32_t corner_of(std::uint32_t slot, std::uint32_t corner) {
  return static_cast<std::uint32_t>(SpringMatrix::corner_index(slot / kLanes, corner) + slot % kLanes);
}

/// All pairs, those with the most tets first, so that the pairs of a batch have about as many.
std::vector<Pair> find_pairs(std::span<const std::array<std::uint32_t, 2>> springs,
                             std::span<const std::uint32_t> spring_slots,
                             std::span<const std::array<std::uint32_t, 4>> tets,
                             std::span<const std::uint32_t> tet_slots) {
  struct Link {
    std::uint32_t a, b, at, other;
    bool is_spring;
  };
  std::vector<Link> links;
  for (std::size_t i = 0; i < springs.size(); ++i) {
    const auto [a, b] = std::minmax(springs[i][0], springs[i][1]);
    links.push_back({a, b, spring_slots[i], 0, true});
  }
  for (std::size_t i = 0; i < tets.size(); ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      for (std::uint32_t k = 0; k < 4; ++k) {
        if (tets[i][j] >= tets[i][k]) continue;
        links.push_back({tets[i][j], tets[i][k], corner_of(tet_slots[i], j), corner_of(tet_slots[i], k), false});
      }
    }
  }
  std::sort(links.begin(), links.end(), [](const Link& l, const Link& r) {
    return std::tie(l.a, l.b, l.is_spring, l.at, l.other) < std::tie(r.a, r.b, r.is_spring, r.at, r.other);
  });
  std::vector<Pair> pairs;
  for (const Link& link : links) {
    if (pairs.empty() || pairs.back().a != link.a || pairs.back().b != link.b)
      pairs.push_back({link.a, link.b, {}, {}});
    if (link.is_spring) {
      pairs.back().springs.push_back(link.at);
    } else {
      pairs.back().corners.push_back({link.at, link.other});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& l, const Pair& r) { return l.corners.size() > r.corners.size(); });
  return pairs;
}

}  // namespace

SpringMatrix::SpringMatrix(std::size_t node_count, std::span<const std::array<std::uint32_t, 2>> springs,
                           std::span<const std::uint32_t> spring_slots,
                           std::span<const std::array<std::uint32_t, 4>> tets,
                           std::span<const std::uint32_t> tet_slots) {
  const std::vector<Pair> pairs = find_pairs(springs, spring_slots, tets, tet_slots);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (const Pair& pair : pairs) entries.push_back({pair.a, pair.b}), entries.push_back({pair.b, pair.a});
  blocks_.build((node_count + kLanes - 1) / kLanes * kLanes, entries);

  for (std::size_t first = 0; first < pairs.size(); first += kLanes) {
    const std::size_t used = std::min(kLanes, pairs.size() - first);
    const std::span<const Pair> of_batch = std::span(pairs).subspan(first, used);
    Batch batch{.first_spring = static_cast<std::uint32_t>(spring_counts_.size()),
                .springs = 0,
                .first_corner = static_cast<std::uint32_t>(corner_counts_.size()),
                .corners = 0,
                .block = {},
                .mirror = {}};
    for (const Pair& pair : of_batch) {
      batch.springs = std::max(batch.springs, static_cast<std::uint32_t>(pair.springs.size()));
      batch.corners = std::max(batch.corners, static_cast<std::uint32_t>(pair.corners.size()));
    }
    for (std::size_t k = 0; k < batch.springs; ++k) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const bool is_there = lane < used && k < of_batch[lane].springs.size();
        spring_at_.push_back(is_there ? of_batch[lane].springs[k] : 0);
        spring_counts_.push_back(is_there ? 1.0f : 0.0f);
      }
    }
    for (std::size_t k = 0; k < batch.corners; ++k) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const bool is_there = lane < used && k < of_batch[lane].corners.size();
        first_at_.push_back(is_there ? of_batch[lane].corners[k][0] : 0);
        second_at_.push_back(is_there ? of_batch[lane].corners[k][1] : 0);
        corner_counts_.push_back(is_there ? 1.0f : 0.0f);
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool is_there = lane < used;
      batch.block[lane] = is_there ? blocks_.find(of_batch[lane].a, of_batch[lane].b) : blocks_.nowhere();
      batch.mirror[lane] = is_there ? blocks_.find(of_batch[lane].b, of_batch[lane].a) : blocks_.nowhere();
    }
    batches_.push_back(batch);
  }
}

void SpringMatrix::assemble(Workers& workers, const Vec4* springs, const Vec4* corners) {
  constexpr std::size_t kGrain = 256;
  parallel_for(workers, batches_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) assemble(batches_[i], springs, corners);
  });
}

void SpringMatrix::assemble(const Batch& batch, const Vec4* springs, const Vec4* corners) {
  Float8 k[9] = {};
  for (std::size_t at = batch.first_spring; at < batch.first_spring + kLanes * batch.springs; at += kLanes) {
    const auto [s, b] = load_nodes(springs, &spring_at_[at]);
    const Float8 count = load8(&spring_counts_[at]), across = b * count;
    const LaneVec3<Float8> t = s * count;
    k[0] -= s.x * t.x + across, k[1] -= s.x * t.y, k[2] -= s.x * t.z;
    k[3] -= s.y * t.x, k[4] -= s.y * t.y + across, k[5] -= s.y * t.z;
    k[6] -= s.z * t.x, k[7] -= s.z * t.y, k[8] -= s.z * t.z + across;
  }
  for (std::size_t at = batch.first_corner; at < batch.first_corner + kLanes * batch.corners; at += kLanes) {
    const LaneVec3<Float8> a = load_nodes(corners, &first_at_[at]).xyz * load8(&corner_counts_[at]);
    const LaneVec3<Float8> b = load_nodes(corners, &second_at_[at]).xyz;
    k[0] += a.x * b.x, k[1] += a.x * b.y, k[2] += a.x * b.z;
    k[3] += a.y * b.x, k[4] += a.y * b.y, k[5] += a.y * b.z;
    k[6] += a.z * b.x, k[7] += a.z * b.y, k[8] += a.z * b.z;
  }
  float entries[9][kLanes];
  for (std::size_t i = 0; i < 9; ++i) store8(entries[i], k[i]);
  float* values = blocks_.values();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    float* block = values + batch.block[lane];
    float* mirror = values + batch.mirror[lane];
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t column = 0; column < 3; ++column) {
        block[kLanes * (3 * row + column)] = entries[3 * row + column][lane];
        mirror[kLanes * (3 * column + row)] = entries[3 * row + column][lane];
      }
    }
  }
}

}  // namespace pliant
