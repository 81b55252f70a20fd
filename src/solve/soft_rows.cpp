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
  FlatNodes(std::span<const Row> rows, std::size_t per_row) {
    for (const Row& row : rows) {
      starts.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.insert(nodes.end(), row.nodes.begin(), row.nodes.begin() + static_cast<std::ptrdiff_t>(per_row));
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
    : batches_(FlatNodes<Spring>(springs, 2).view(), node_count), count_(springs.size()) {
  for (std::size_t i = 0; i < batches_.rows.size(); ++i) {
    // Lanes without a row read the nodes of the first row of their batch and are never written.
    const std::uint32_t row = batches_.rows[i];
    const Spring& spring = springs[row != RowBatches::kNoRow ? row : batches_.rows[i / kLanes * kLanes]];
    a_.push_back(spring.nodes[0]), b_.push_back(spring.nodes[1]);
    lengths_.push_back(spring.length);
    compliance_.push_back(1 / spring.stiffness);
    max_tension_.push_back(spring.max_tension), max_thrust_.push_back(spring.max_thrust);
  }
  for (auto* array : {&direction_x_, &direction_y_, &direction_z_, &error_speed_, &softness_, &inverse_diagonal_,
                      &impulses_, &lower_, &upper_}) {
    array->assign(batches_.rows.size(), 0);
  }
}

void SpringRows::prepare(Workers& workers, std::span<const Vec4> x, std::span<const Vec4> v, float h) {
  parallel_for(workers, batches_.count(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) prepare(i, x.data(), v.data(), h);
  });
}

void SpringRows::prepare(std::size_t batch, const Vec4* x, const Vec4* v, float h) {
  const std::size_t at = 8 * batch;
  const Vec step = load_nodes(x, &b_[at]).xyz - load_nodes(x, &a_[at]).xyz;
  const Float8 length = length_of(step);
  const Vec direction = step * (1 / length);
  const Float8 softness = load8(&compliance_[at]) * (1 / (h * h));
  const Float8 diagonal = load_nodes(v, &a_[at]).w + load_nodes(v, &b_[at]).w + softness;
  store8(&direction_x_[at], direction.x);
  store8(&direction_y_[at], direction.y);
  store8(&direction_z_[at], direction.z);
  store8(&error_speed_[at], (length - load8(&lengths_[at])) * (1 / h));
  store8(&softness_[at], softness);
  store8(&inverse_diagonal_[at], select(diagonal > 0, 1 / diagonal, Float8{}));
  store8(&impulses_[at], Float8{});
  store8(&lower_[at], -h * load8(&max_tension_[at]));
  store8(&upper_[at], h * load8(&max_thrust_[at]));
}

void SpringRows::sweep(Workers& workers, std::span<Vec4> v) {
  batches_.for_each(workers, [&](std::size_t batch) { sweep(batch, v.data()); });
}

void SpringRows::sweep(std::size_t batch, Vec4* v) {
  const std::size_t at = 8 * batch;
  NodeLanes a = load_nodes(v, &a_[at]), b = load_nodes(v, &b_[at]);
  const Vec direction{load8(&direction_x_[at]), load8(&direction_y_[at]), load8(&direction_z_[at])};
  const Float8 before = load8(&impulses_[at]);
  const Float8 wrong = dot(direction, b.xyz - a.xyz) + load8(&error_speed_[at]) + load8(&softness_[at]) * before;
  const Float8 wanted = before - wrong * load8(&inverse_diagonal_[at]);
  const Float8 impulse = max(min(wanted, load8(&upper_[at])), load8(&lower_[at]));
  store8(&impulses_[at], impulse);
  const Vec change = direction * (impulse - before);
  a.xyz = a.xyz - change * a.w;
  b.xyz = b.xyz + change * b.w;
  store_nodes(v, &a_[at], batches_.lanes[batch], a);
  store_nodes(v, &b_[at], batches_.lanes[batch], b);
}

BendRows::BendRows(std::span<const Bend> bends, std::size_t node_count, std::size_t nodes_per_row)
    : batches_(FlatNodes<Bend>(bends, nodes_per_row).view(), node_count),
      count_(bends.size()),
      nodes_per_row_(nodes_per_row) {
  for (std::size_t i = 0; i < batches_.rows.size(); ++i) {
    const std::uint32_t row = batches_.rows[i];
    const Bend& bend = bends[row != RowBatches::kNoRow ? row : batches_.rows[i / kLanes * kLanes]];
    for (std::size_t k = 0; k < 4; ++k) {
      nodes_[k].push_back(bend.nodes[k]);
      weights_[k].push_back(bend.weights[k]);
    }
    compliance_.push_back(1 / bend.stiffness);
    rest_.push_back(bend.rest);
    has_rest_ = has_rest_ || bend.rest != 0;
  }
}

void BendRows::sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const {
  batches_.for_each(workers, [&](std::size_t batch) {
    nodes_per_row_ == 3 ? sweep<3>(batch, x.data(), v.data(), h) : sweep<4>(batch, x.data(), v.data(), h);
  });
}

template <std::size_t kNodes>
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
  if constexpr (kNodes == 4) {
    if (has_rest_) {
      const Vec edge = place[1] - place[0];
      const Vec normal = cross(edge, place[2] - place[0]) + cross(place[3] - place[0], edge);
      bent = bent - normal * (load8(&rest_[at]) / length_of(normal));
    }
  }
  const Vec impulse = (bent * broadcast(1 / h) + speed) * (-1 / diagonal);
  for (std::size_t k = 0; k < kNodes; ++k) {
    velocity[k].xyz = velocity[k].xyz + impulse * (load8(&weights_[k][at]) * velocity[k].w);
    store_nodes(v, &nodes_[k][at], batches_.lanes[batch], velocity[k]);
  }
}

}  // namespace pliant
