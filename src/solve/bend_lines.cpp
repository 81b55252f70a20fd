#include "solve/bend_lines.h"

#include "math/lane_vectors.h"
#include "math/node_lanes.h"

namespace pliant {

BendLines::BendLines(std::span<const Bend> bends, std::size_t node_count) : rows_(bends.size()) {
  std::vector<std::uint32_t> nodes, starts, first_rows;
  for (std::uint32_t i = 0; i < bends.size(); ++i) {
    const auto& row = bends[i].nodes;
    // A line must not meet itself, and a ring would.
    const bool goes_on =
        i > 0 && bends[i - 1].nodes[1] == row[0] && bends[i - 1].nodes[2] == row[1] && row[2] != nodes[starts.back()];
    if (!goes_on) {
      starts.push_back(static_cast<std::uint32_t>(nodes.size()));
      first_rows.push_back(i);
      nodes.insert(nodes.end(), {row[0], row[1]});
    }
    nodes.push_back(row[2]);
  }
  starts.push_back(static_cast<std::uint32_t>(nodes.size()));
  const RowNodes lines{nodes, starts};
  lines_ = LineBatches(lines, {}, node_count, 3);
  compliance_.assign(lines_.nodes.size(), kInfinity);
  for (auto& weights : weights_) weights.assign(lines_.nodes.size(), 0);
  bent_speeds_.assign(3 * lines_.nodes.size(), 0);
  lines_.for_each_line([&](std::uint32_t line, std::size_t at) {
    for (std::size_t i = 0; i + 2 < lines.of(line).size(); ++i, at += kLanes) {
      const Bend& bend = bends[first_rows[line] + i];
      for (std::size_t k = 0; k < 3; ++k) weights_[k][at] = bend.weights[k];
      compliance_[at] = 1 / bend.stiffness;
    }
  });
}

void BendLines::sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) {
  const auto there = [&](const LineBatches::Batch& batch, std::size_t) { sweep<false>(batch, x.data(), v.data(), h); };
  const auto back = [&](const LineBatches::Batch& batch, std::size_t) { sweep<true>(batch, x.data(), v.data(), h); };
  lines_.for_each(workers, there);
  lines_.for_each_back(workers, back);
}

template <bool kIsBack>
void BendLines::sweep(const LineBatches::Batch& batch, const Vec4* x, Vec4* v, float h) {
  const float inverse_h = 1 / h, inverse_h_squared = inverse_h * inverse_h;
  const std::size_t begin = kLanes * std::size_t{batch.first}, rows = batch.places - 2;
  const auto place = [&](std::size_t i) { return &lines_.nodes[begin + kLanes * i]; };
  const auto store = [&](std::size_t i, const NodeLanes& node) {
    store_nodes(v, place(i), lines_.lanes_in_use[begin / kLanes + i], node);
  };
  // Of the three nodes of a row, two are those of the row before; which two goes by the way of the sweep.
  constexpr std::size_t kLast = kIsBack ? 0 : 2, kFirst = 2 - kLast;
  LaneVec3<Float8> place_of[3];
  NodeLanes node[3];
  const std::size_t start = kIsBack ? rows - 1 : 0;
  for (const std::size_t k : {kFirst, std::size_t{1}}) {
    if constexpr (!kIsBack) place_of[k] = load_nodes(x, place(start + k)).xyz;
    node[k] = load_nodes(v, place(start + k));
  }
  for (std::size_t n = 0; n < rows; ++n) {
    const std::size_t row = kIsBack ? rows - 1 - n : n, at = begin + kLanes * row;
    if constexpr (!kIsBack) place_of[kLast] = load_nodes(x, place(row + kLast)).xyz;
    node[kLast] = load_nodes(v, place(row + kLast));
    const Float8 a = load8(&weights_[0][at]), b = load8(&weights_[1][at]), c = load8(&weights_[2][at]);
    const Float8 aw = a * node[0].w, bw = b * node[1].w, cw = c * node[2].w;
    const Float8 softness = load8(&compliance_[at]) * inverse_h_squared;
    const Float8 diagonal = softness + a * aw + b * bw + c * cw;
    const LaneVec3<Float8> speed = node[0].xyz * a + node[1].xyz * b + node[2].xyz * c;
    LaneVec3<Float8> bent;
    if constexpr (kIsBack) {
      bent = load_vec8(&bent_speeds_[3 * at]);
    } else {
      bent = (place_of[0] * a + place_of[1] * b + place_of[2] * c) * broadcast(inverse_h);
    }
    const LaneVec3<Float8> impulse = (bent + speed) * (-1 / diagonal);
    // What is left of it on the way back, when the row has given this already.
    if constexpr (!kIsBack) {
      const LaneVec3<Float8> given = select(softness < kInfinity, impulse * softness, LaneVec3<Float8>{});
      store_vec8(&bent_speeds_[3 * at], bent + given);
    }
    node[0].xyz = node[0].xyz + impulse * aw;
    node[1].xyz = node[1].xyz + impulse * bw;
    node[2].xyz = node[2].xyz + impulse * cw;
    store(row + kFirst, node[kFirst]);
    if constexpr (!kIsBack) place_of[kFirst] = place_of[1], place_of[1] = place_of[kLast];
    node[kFirst] = node[1], node[1] = node[kLast];
  }
  store(kIsBack ? 1 : rows, node[kFirst]), store(kIsBack ? 0 : rows + 1, node[1]);
}

}  // namespace pliant
