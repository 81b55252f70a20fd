#include "solve/load_paths.h"

#include <algorithm>

namespace pliant {

void LoadPaths::find(std::span<const double> masses, std::span<const Pair> touching) {
  bodies_.assign(masses.size(), {});
  for (std::size_t i = 0; i < masses.size(); ++i) bodies_[i].mass = bodies_[i].below = masses[i];
  list_edges(touching);
  ends_.resize(touching.size());
  down_from_.resize(touching.size());
  walked_.clear();
  for (std::uint32_t i = 0; i < masses.size(); ++i) {
    if (bodies_[i].order == kNone) walk(i);
  }
  find_heaviest();
  loads_.resize(touching.size());
  for (std::size_t i = 0; i < touching.size(); ++i) {
    const auto [upper, lower] = ends_[i];
    const std::uint32_t next = down_from_[i];
    const double without_upper = is_cut_off(next) ? bodies_[next].below : bodies_[upper].joined;
    loads_[i] = std::min(without_upper, bodies_[lower].joined);
  }
}

void LoadPaths::list_edges(std::span<const Pair> touching) {
  starts_.assign(bodies_.size() + 1, 0);
  for (const auto& [a, b] : touching) ++starts_[a], ++starts_[b];
  std::uint32_t sum = 0;
  for (std::uint32_t& start : starts_) sum += start, start = sum - start;
  next_.assign(starts_.begin(), starts_.end());
  edges_.resize(sum);
  for (std::uint32_t i = 0; i < touching.size(); ++i) {
    const auto [a, b] = touching[i];
    edges_[next_[a]++] = {b, i};
    edges_[next_[b]++] = {a, i};
  }
  next_.assign(starts_.begin(), starts_.end());
}

/// Whether a body and those below are on their own when its parent is taken away (Tarjan 1972).
bool LoadPaths::is_cut_off(std::uint32_t body) const {
  return bodies_[body].highest >= bodies_[bodies_[body].parent].order;
}

void LoadPaths::walk(std::uint32_t from) {
  const auto enter = [&](std::uint32_t body, std::uint32_t parent) {
    bodies_[body].parent = parent;
    bodies_[body].order = bodies_[body].highest = static_cast<std::uint32_t>(walked_.size());
    walked_.push_back(body);
    path_.push_back(body);
  };
  const std::uint32_t first = static_cast<std::uint32_t>(walked_.size());
  path_.clear();
  enter(from, kNone);
  while (!path_.empty()) {
    const std::uint32_t at = path_.back();
    if (next_[at] == starts_[at + 1]) {
      path_.pop_back();
      if (!path_.empty()) {
        bodies_[path_.back()].highest = std::min(bodies_[path_.back()].highest, bodies_[at].highest);
      }
      continue;
    }
    const Edge edge = edges_[next_[at]++];
    if (bodies_[edge.to].order == kNone) {
      ends_[edge.pair] = {at, edge.to};
      down_from_[edge.pair] = edge.to;
      enter(edge.to, at);
    } else if (bodies_[edge.to].order < bodies_[at].order && edge.to != bodies_[at].parent) {
      bodies_[at].highest = std::min(bodies_[at].highest, bodies_[edge.to].order);
      ends_[edge.pair] = {edge.to, at};
      const auto upper =
          std::lower_bound(path_.begin(), path_.end(), bodies_[edge.to].order,
                           [&](std::uint32_t b, std::uint32_t order) { return bodies_[b].order < order; });
      down_from_[edge.pair] = *(upper + 1);
    }
  }
  // From the last to the first, so that all below come before.
  for (std::size_t i = walked_.size(); --i > first;) {
    const Body& body = bodies_[walked_[i]];
    bodies_[body.parent].below = std::max(bodies_[body.parent].below, body.below);
  }
}

void LoadPaths::find_heaviest() {
  heaviest_below_.assign(bodies_.size(), {});
  for (const std::uint32_t at : walked_) {
    if (bodies_[at].parent == kNone) continue;
    auto& [most, second] = heaviest_below_[bodies_[at].parent];
    second = std::max(second, std::min(most, bodies_[at].below));
    most = std::max(most, bodies_[at].below);
  }
  for (const std::uint32_t at : walked_) {
    Body& body = bodies_[at];
    if (body.parent == kNone) continue;
    const Body& parent = bodies_[body.parent];
    const auto [most, second] = heaviest_below_[body.parent];
    const double others = body.below == most ? second : most;
    body.outside = std::max({parent.outside, parent.mass, others});
    body.joined = std::max(body.joined, body.outside);
    if (!is_cut_off(at)) bodies_[body.parent].joined = std::max(parent.joined, body.below);
  }
}

}  // namespace pliant
