#include "solve/soft_rows.h"

#include <algorithm>

#include "math/node_lanes.h"

namespace pliant {
namespace {

using Vec = LaneVec3<Float8>;

constexpr float kTiny = 1e-12f;

Float8 length_of(const Vec& d) { return sqrt(max(dot(d, d), broadcast(kTiny))); }

/// The list of all rows' nodes, for colouring.
template <typename Row>
struct FlatNodes {
  explicit FlatNodes(std::span<const Row> rows) {
    for (const Row& row : rows) {
      starts.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.insert(nodes.end(), row.nodes.begin(), row.nodes.end());
    }
    starts.push_back(static_cast<std::uint32_t>(nodes.size()));
  }
  RowNodes view() const { return {nodes, starts}; }
  std::vector<std::uint32_t> nodes, starts;
};

}  // namespace

RowBatches::RowBatches(const RowNodes& row_nodes, std::size_t node_count) {
  const Coloring coloring = color_rows(row_nodes, node_count);
  for (std::size_t color = 0; color < coloring.count(); ++color) {
    color_starts.push_back(static_cast<std::uint32_t>(lanes.size()));
    const auto of_color = coloring.rows(color);
    for (std::size_t begin = 0; begin < of_color.size(); begin += kLanes) {
      const std::size_t used = std::min(kLanes, of_color.size() - begin);
      lanes.push_back(static_cast<std::uint8_t>(used));
      for (std::size_t lane = 0; lane < kLanes; ++lane) rows.push_back(lane < used ? of_color[begin + lane] : kNoRow);
    }
  }
  color_starts.push_back(static_cast<std::uint32_t>(lanes.size()));
}

SpringRows::SpringRows(std::span<const Spring> springs, std::size_t node_count)
    : batches_(FlatNodes<Spring>(springs).view(), node_count), count_(springs.size()) {
  for (std::size_t i = 0; i < batches_.rows.size(); ++i) {
    // Lanes without a row read the nodes of the first row of their batch and are never written.
    const std::uint32_t row = batches_.rows[i];
    const Spring& spring = springs[row != RowBatches::kNoRow ? row : batches_.rows[i / kLanes * kLanes]];
    a_.push_back(spring.nodes[0]), b_.push_back(spring.nodes[1]);
    lengths_.push_back(spring.length);
    compliance_.push_back(1 / spring.stiffness);
    max_tension_.push_back(spring.max_tension), max_thrust_.push_back(spring.max_thrust);
  }
}

void SpringRows::sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const {
  batches_.for_each(workers, [&](std::size_t batch) { sweep(batch, x.data(), v.data(), h); });
}

void SpringRows::sweep(std::size_t batch, const Vec4* x, Vec4* v, float h) const {
  const std::size_t at = 8 * batch;
  const Vec step = load_nodes(x, &b_[at]).xyz - load_nodes(x, &a_[at]).xyz;
  NodeLanes a = load_nodes(v, &a_[at]), b = load_nodes(v, &b_[at]);
  const Float8 length = length_of(step);
  const Float8 diagonal = a.w + b.w + load8(&compliance_[at]) * (1 / (h * h));
  // With the direction step/length: (direction·(v_b − v_a) + (length − rest)/h) / diagonal.
  const Float8 wrong = dot(step, b.xyz - a.xyz) / length + (length - load8(&lengths_[at])) * (1 / h);
  const Float8 wanted = select(diagonal > 0, -wrong / diagonal, Float8{});
  const Float8 impulse = max(min(wanted, h * load8(&max_thrust_[at])), -h * load8(&max_tension_[at]));
  const Vec change = step * (impulse / length);
  a.xyz = a.xyz - change * a.w;
  b.xyz = b.xyz + change * b.w;
  store_nodes(v, &a_[at], batches_.lanes[batch], a);
  store_nodes(v, &b_[at], batches_.lanes[batch], b);
}

BendRows::BendRows(std::span<const Bend> bends, std::size_t node_count)
    : batches_(FlatNodes<Bend>(bends).view(), node_count), count_(bends.size()) {
  for (std::size_t i = 0; i < batches_.rows.size(); ++i) {
    const std::uint32_t row = batches_.rows[i];
    const Bend& bend = bends[row != RowBatches::kNoRow ? row : batches_.rows[i / kLanes * kLanes]];
    for (std::size_t k = 0; k < kNodes; ++k) {
      nodes_[k].push_back(bend.nodes[k]);
      weights_[k].push_back(bend.weights[k]);
    }
    compliance_.push_back(1 / bend.stiffness);
    rest_.push_back(bend.rest);
    has_rest_ = has_rest_ || bend.rest != 0;
  }
}

void BendRows::sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const {
  batches_.for_each(workers, [&](std::size_t batch) { sweep(batch, x.data(), v.data(), h); });
}

void BendRows::sweep(std::size_t batch, const Vec4* x, Vec4* v, float h) const {
  const std::size_t at = 8 * batch;
  std::array<NodeLanes, kNodes> velocity;
  std::array<Vec, kNodes> place;
  Vec bent{}, speed{};
  Float8 diagonal = load8(&compliance_[at]) * (1 / (h * h));
  for (std::size_t k = 0; k < kNodes; ++k) {
    const Float8 weight = load8(&weights_[k][at]);
    velocity[k] = load_nodes(v, &nodes_[k][at]);
    place[k] = load_nodes(x, &nodes_[k][at]).xyz;
    bent = bent + place[k] * weight;
    speed = speed + velocity[k].xyz * weight;
    diagonal = diagonal + weight * weight * velocity[k].w;
  }
  if (has_rest_) {
    const Vec edge = place[1] - place[0];
    const Vec normal = cross(edge, place[2] - place[0]) + cross(place[3] - place[0], edge);
    bent = bent - normal * (load8(&rest_[at]) / length_of(normal));
  }
  const Vec impulse = (bent * broadcast(1 / h) + speed) * (-1 / diagonal);
  for (std::size_t k = 0; k < kNodes; ++k) {
    velocity[k].xyz = velocity[k].xyz + impulse * (load8(&weights_[k][at]) * velocity[k].w);
    store_nodes(v, &nodes_[k][at], batches_.lanes[batch], velocity[k]);
  }
}

}  // namespace pliant
