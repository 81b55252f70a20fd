#include "layered/level_hierarchy.h"

#include <algorithm>

#include "solid/aggregates.h"

namespace pliant {
namespace {

constexpr std::uint32_t kPatch = 9;             ///< nodes of a patch
constexpr std::size_t kCoarsest = 24;           ///< patches of the coarsest level, about
constexpr std::size_t kFewest = 9 * kCoarsest;  ///< nodes below which the next level is the coarsest

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Rows = std::vector<SlicedWeights::Row>;

/// Patches of about `size` nodes that hang together; of nodes next to each other in their order where that would make
/// too many, on a surface of many small pieces.
Aggregates make_patches(const std::vector<Vec3>& places, const Edges& edges, std::size_t size) {
  Aggregates patches = make_aggregates(places, edges, static_cast<std::uint32_t>(size));
  const std::size_t wanted = (places.size() + size - 1) / size;
  if (patches.count <= 2 * wanted) return patches;
  patches.count = static_cast<std::uint32_t>(wanted);
  for (std::size_t i = 0; i < places.size(); ++i) patches.group_of[i] = static_cast<std::uint32_t>(i / size);
  return patches;
}

/// How much of each patch's motion a node takes: of its own, and of those of its neighbours as they are near.
Rows parent_weights(const std::vector<Vec3>& places, const Edges& edges, const Aggregates& patches) {
  constexpr float kSmoothing = 2.0f / 3;  // linear interpolation along a line of patches of three nodes
  std::vector<float> sums(places.size(), 0);
  const auto nearness = [&](std::uint32_t a, std::uint32_t b) {
    return 1 / std::max(length_squared(places[a] - places[b]), 1e-30f);
  };
  for (const auto& [a, b] : edges) sums[a] += nearness(a, b), sums[b] += nearness(a, b);
  Rows rows(places.size());
  const auto add = [&](std::uint32_t node, std::uint32_t patch, float weight) {
    for (auto& [other, sum] : rows[node]) {
      if (other == patch) return void(sum += weight);
    }
    rows[node].emplace_back(patch, weight);
  };
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    add(i, patches.group_of[i], sums[i] > 0 ? 1 - kSmoothing : 1.0f);
  }
  for (const auto& [a, b] : edges) {
    const float near = kSmoothing * nearness(a, b);
    add(a, patches.group_of[b], near / sums[a]), add(b, patches.group_of[a], near / sums[b]);
  }
  for (auto& row : rows) {
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    if (row.size() > LevelHierarchy::kMostParents) row.resize(LevelHierarchy::kMostParents);
    float sum = 0;
    for (const auto& [patch, weight] : row) sum += weight;
    for (auto& [patch, weight] : row) weight /= sum;
  }
  return rows;
}

Rows transposed(const Rows& rows, std::size_t count) {
  Rows out(count);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (const auto& [column, weight] : rows[i]) out[column].emplace_back(i, weight);
  }
  return out;
}

/// PᵀKP.
BlockRows galerkin(const BlockRows& fine, const Rows& parents, const Rows& children) {
  BlockRows coarse;
  std::vector<std::uint32_t> place(children.size(), 0);  // of a column in this row, less where the row begins, plus 1
  for (const auto& row : children) {
    const std::size_t begin = coarse.columns.size();
    for (const auto& [i, weight] : row) {
      for (std::uint32_t k = fine.starts[i]; k < fine.starts[i + 1]; ++k) {
        for (const auto& [column, other] : parents[fine.columns[k]]) {
          if (place[column] == 0) {
            coarse.columns.push_back(column), coarse.blocks.push_back({});
            place[column] = static_cast<std::uint32_t>(coarse.columns.size() - begin);
          }
          const double both = static_cast<double>(weight) * static_cast<double>(other);
          auto& block = coarse.blocks[begin + place[column] - 1];
          for (std::size_t e = 0; e < 9; ++e) block[e] += both * fine.blocks[k][e];
        }
      }
    }
    for (std::size_t k = begin; k < coarse.columns.size(); ++k) place[coarse.columns[k]] = 0;
    coarse.starts.push_back(static_cast<std::uint32_t>(coarse.columns.size()));
  }
  return coarse;
}

std::vector<float> diagonal_blocks(const BlockRows& rows, std::size_t groups) {
  std::vector<float> out(48 * groups, 0);
  constexpr std::size_t kEntries[6] = {0, 4, 8, 1, 2, 5};  // of LaneSym3
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      if (rows.columns[k] != i) continue;
      for (std::size_t e = 0; e < 6; ++e) {
        out[i / kLanes * 48 + e * kLanes + i % kLanes] = static_cast<float>(rows.blocks[k][kEntries[e]]);
      }
    }
  }
  return out;
}

std::vector<Vec3> patch_places(const std::vector<Vec3>& places, const Aggregates& patches) {
  std::vector<Vec3> sums(patches.count);
  std::vector<float> counts(patches.count, 0);
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    sums[patches.group_of[i]] += places[i], counts[patches.group_of[i]] += 1;
  }
  for (std::size_t p = 0; p < sums.size(); ++p) sums[p] = sums[p] / counts[p];
  return sums;
}

Edges patch_edges(const Edges& edges, const Aggregates& patches) {
  Edges out;
  for (const auto& [i, j] : edges) {
    const std::uint32_t a = patches.group_of[i], b = patches.group_of[j];
    if (a != b) out.emplace_back(std::min(a, b), std::max(a, b));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<double> dense(const BlockRows& rows) {
  const std::size_t width = 3 * rows.size();
  std::vector<double> out(width * width, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      for (std::size_t e = 0; e < 9; ++e)
        out[(3 * i + e / 3) * width + 3 * rows.columns[k] + e % 3] = rows.blocks[k][e];
    }
  }
  return out;
}

}  // namespace

void SlicedWeights::build(const std::vector<Row>& rows) {
  starts_.assign(1, 0), columns_.clear(), weights_.clear();
  for (std::size_t begin = 0; begin < rows.size(); begin += kLanes) {
    const std::size_t end = std::min(begin + kLanes, rows.size());
    std::size_t width = 0;
    for (std::size_t i = begin; i < end; ++i) width = std::max(width, rows[i].size());
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t i = begin; i < begin + kLanes; ++i) {
        const bool is_there = i < end && k < rows[i].size();
        columns_.push_back(is_there ? rows[i][k].first : 0);
        weights_.push_back(is_there ? rows[i][k].second : 0.0f);
      }
    }
    starts_.push_back(starts_.back() + width);
  }
}

void LevelHierarchy::build(std::vector<Vec3> places, Edges edges, std::vector<double> masses, BlockRows stiffness) {
  levels_.clear();
  for (bool is_last = false; !is_last;) {
    is_last = places.size() <= kFewest;
    const std::size_t size = is_last ? (places.size() + kCoarsest - 1) / kCoarsest : kPatch;
    const Aggregates patches = make_patches(places, edges, size);
    const Rows parents = parent_weights(places, edges, patches), children = transposed(parents, patches.count);
    Level& level = levels_.emplace_back();
    level.count = patches.count;
    level.up.build(children), level.down.build(parents);
    level.parent_starts.assign(1, 0);
    std::vector<double> sums((patches.count + kLanes - 1) / kLanes * kLanes, 0);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      level.parents.insert(level.parents.end(), parents[i].begin(), parents[i].end());
      level.parent_starts.push_back(static_cast<std::uint32_t>(level.parents.size()));
      for (const auto& [patch, weight] : parents[i]) sums[patch] += static_cast<double>(weight) * masses[i];
    }
    level.masses.assign(sums.begin(), sums.end());
    stiffness = galerkin(stiffness, parents, children);
    level.stiffness = diagonal_blocks(stiffness, sums.size() / kLanes);
    masses = std::move(sums);
    edges = patch_edges(edges, patches), places = patch_places(places, patches);
  }
  coarsest_ = dense(stiffness);
  core_columns_.assign(3 * levels_.back().count, {});
}

void LevelHierarchy::set_core_column(std::size_t column, const QuadVectors& forces) {
  QuadVectors fine = forces, coarse;
  for (const Level& level : levels_) {
    coarse.assign(level.count);
    for (std::size_t g = 0; g < coarse.groups(); ++g) coarse.set_group(g, level.up.products(g, fine));
    std::swap(fine, coarse);
  }
  for (std::uint32_t i = 0; i < levels_.back().count; ++i) {
    for (std::size_t k = 0; k < 3; ++k) core_columns_[3 * i + k][column] = -static_cast<double>(fine.get(i)[k]);
  }
}

std::size_t LevelHierarchy::bytes() const {
  std::size_t total = 8 * coarsest_.size();
  for (const Level& level : levels_) {
    total += level.up.bytes() + level.down.bytes() + 4 * (level.stiffness.size() + level.masses.size()) +
             4 * level.parent_starts.size() + 8 * level.parents.size();
  }
  return total;
}

}  // namespace pliant
