#include "solve/bend_lines.h"

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
  lines_.for_each_line([&](std::uint32_t line, std::size_t at) {
    for (std::size_t i = 0; i + 2 < lines.of(line).size(); ++i, at += kLanes) {
      const Bend& bend = bends[first_rows[line] + i];
      for (std::size_t k = 0; k < 3; ++k) weights_[k][at] = bend.weights[k];
      compliance_[at] = 1 / bend.stiffness;
    }
  });
}

void BendLines::sweep(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) const {
  lines_.for_each(workers, [&](const LineBatches::Batch& batch, std::size_t) { sweep(batch, x.data(), v.data(), h); });
}

void BendLines::sweep(const LineBatches::Batch& batch, const Vec4* x, Vec4* v, float h) const {
  const float inverse_h = 1 / h, inverse_h_squared = inverse_h * inverse_h;
  std::size_t at = kLanes * std::size_t{batch.first};
  const std::size_t end = at + kLanes * (batch.places - 2);
  const std::uint32_t* nodes = lines_.nodes.data();
  const auto store = [&](std::size_t i, const NodeLanes& node) {
    store_nodes(v, nodes + i, lines_.lanes_in_use[i / kLanes], node);
  };
  LaneVec3<Float8> x0 = load_nodes(x, nodes + at).xyz, x1 = load_nodes(x, nodes + at + 8).xyz;
  NodeLanes v0 = load_nodes(v, nodes + at), v1 = load_nodes(v, nodes + at + 8);
  for (; at < end; at += kLanes) {
    const LaneVec3<Float8> x2 = load_nodes(x, nodes + at + 16).xyz;
    NodeLanes v2 = load_nodes(v, nodes + at + 16);
    const Float8 a = load8(&weights_[0][at]), b = load8(&weights_[1][at]), c = load8(&weights_[2][at]);
    const Float8 aw = a * v0.w, bw = b * v1.w, cw = c * v2.w;
    const Float8 diagonal = load8(&compliance_[at]) * inverse_h_squared + a * aw + b * bw + c * cw;
    const LaneVec3<Float8> bent = x0 * a + x1 * b + x2 * c;
    const LaneVec3<Float8> speed = v0.xyz * a + v1.xyz * b + v2.xyz * c;
    const LaneVec3<Float8> impulse = (bent * broadcast(inverse_h) + speed) * (-1 / diagonal);
    v0.xyz = v0.xyz + impulse * aw;
    v1.xyz = v1.xyz + impulse * bw;
    v2.xyz = v2.xyz + impulse * cw;
    store(at, v0);
    x0 = x1, x1 = x2, v0 = v1, v1 = v2;
  }
  store(end, v0), store(end + kLanes, v1);
}

}  // namespace pliant
