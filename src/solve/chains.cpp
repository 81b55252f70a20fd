#include "solve/chains.h"

#include <algorithm>

#include "math/node_lanes.h"
#include "solve/chain_constants.h"

namespace pliant {
namespace {

using Vec = LaneVec3<Float8>;

constexpr float kTiny = 1e-12f;

Float8 length_of(const Vec& d) { return sqrt(max(dot(d, d), broadcast(kTiny))); }

// Elimination without cancellation. The diagonal of a row is w₀ + w₁, of its two nodes, and the coupling with the row
// before −w₀ c, where c is the cosine between the segments. In a straight line under a heavy load the pivots are tiny
// differences of these: with 100 kg on a rope of 0.1 kg, plain elimination in floats leaves nothing of them. Written as
// pivot = w₁ + e, the excess follows e = w₀ (e₋ + w₀ s²)/(w₀ + e₋), with the sine s of the same angle: sums of positive
// numbers only.
Float8 eliminate(Float8 excess_before, Float8 w, const Vec& direction_before, const Vec& direction) {
  const Vec across = cross(direction_before, direction);
  const Float8 sine_squared = dot(across, across);
  const Float8 shared = w * (excess_before + w * sine_squared) / (w + excess_before);
  return select(w + excess_before > 0, shared, Float8{});
}
/// The excess before a line's first row, where nothing is eliminated: e = w₀.
const Float8 kNoNeighbour = broadcast(1e30f);

}  // namespace

Chains::Chains(std::span<const ChainLine> lines, std::size_t node_count) {
  std::vector<std::uint32_t> all_nodes, starts{0}, rings;
  std::vector<std::uint8_t> tension_only;
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    const ChainLine& line = lines[i];
    // A ring is left out here: without nodes it is in nobody's way.
    if (line.is_closed()) rings.push_back(i);
    if (!line.is_closed()) all_nodes.insert(all_nodes.end(), line.nodes.begin(), line.nodes.end());
    starts.push_back(static_cast<std::uint32_t>(all_nodes.size()));
    tension_only.push_back(line.tension_only ? 1 : 0);
    rows_ += line.lengths.size();
  }
  lines_ = LineBatches({all_nodes, starts}, tension_only, node_count, 2);
  for (const std::uint32_t ring : rings) lines_.add_apart(ring, lines[ring].nodes);
  for (auto* array : {&lengths_, &compliance_, &impulses_, &direction_x_, &direction_y_, &direction_z_, &error_speed_,
                      &off_diagonal_, &softness_, &inverse_pivot_}) {
    array->assign(lines_.nodes.size(), 0);
  }
  line_starts_.assign(lines.size(), 0);
  lines_.for_each_line([&](std::uint32_t line, std::size_t at) {
    line_starts_[line] = static_cast<std::uint32_t>(at);
    for (std::size_t i = 0; i < lines[line].lengths.size(); ++i, at += kLanes) {
      lengths_[at] = lines[line].lengths[i];
      if (i < lines[line].compliance.size()) compliance_[at] = lines[line].compliance[i];
    }
  });
  scratch_.resize(lines_.range_count);
  for (Scratch& scratch : scratch_) {
    scratch.v.resize(lines_.longest), scratch.aux.resize(lines_.longest), scratch.old.resize(lines_.longest),
        scratch.rhs.resize(lines_.longest);
    scratch.gain.resize(lines_.longest);
  }
}

template <typename Body>
void Chains::for_each_batch(Workers& workers, Body&& body) const {
  lines_.for_each(workers, [&](const Batch& batch, std::size_t range) { body(batch, scratch_[range]); });
}

void Chains::prepare(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h, bool is_laden) {
  const float softness = is_laden ? kLadenSoftness : kSoftness;
  for_each_batch(workers, [&](const Batch& batch, Scratch&) { prepare(batch, x.data(), v.data(), h, softness); });
  for (const Batch& ring : rings()) prepare_ring(ring, x.data(), v.data(), h, softness);
}

void Chains::prepare(const Batch& batch, const Vec4* x, Vec4* v, float h, float softness_of_rows) {
  const float inverse_h = 1 / h, warm_start = batch.kind != 0 ? kSlackWarmStart : kWarmStart;
  const std::size_t begin = 8 * std::size_t{batch.first}, end = begin + 8 * segments(batch);
  Vec here = load_nodes(x, &lines_.nodes[begin]).xyz;
  NodeLanes v_here = load_nodes(v, &lines_.nodes[begin]);
  Float8 excess = kNoNeighbour;
  Vec direction_before{};
  for (std::size_t at = begin; at < end; at += 8) {
    const Vec there = load_nodes(x, &lines_.nodes[at + 8]).xyz;
    NodeLanes v_there = load_nodes(v, &lines_.nodes[at + 8]);
    const Float8 rest = load8(&lengths_[at]);
    const Int8 is_row = rest > 0;
    const Vec step = there - here;
    const Float8 length = length_of(step);
    const Vec direction = step * (1 / length);

    // The coupling of this segment with the one before, through the node between them.
    const Float8 cosine = dot(direction_before, direction);
    const Float8 off = select(is_row, -v_here.w * cosine, Float8{});
    const Float8 softness =
        softness_of_rows * (v_here.w + v_there.w) + load8(&compliance_[at]) * (inverse_h * inverse_h);
    excess = eliminate(excess, v_here.w, direction_before, direction) + softness;
    const Float8 pivot = v_there.w + excess;
    const Float8 inverse_pivot = select(is_row & (pivot > 0), 1 / pivot, Float8{});
    excess = select(is_row, excess, kNoNeighbour);
    if (at > begin) store8(&off_diagonal_[at - 8], off);
    store8(&inverse_pivot_[at], inverse_pivot);
    store8(&softness_[at], softness);
    store8(&error_speed_[at], (length - rest) * inverse_h);
    store8(&direction_x_[at], direction.x);
    store8(&direction_y_[at], direction.y);
    store8(&direction_z_[at], direction.z);

    const Float8 impulse = select(is_row, warm_start * load8(&impulses_[at]), Float8{});
    store8(&impulses_[at], impulse);
    v_here.xyz = v_here.xyz - direction * (v_here.w * impulse);
    v_there.xyz = v_there.xyz + direction * (v_there.w * impulse);
    store_nodes(v, &lines_.nodes[at], lines_.lanes_in_use[at / 8], v_here);

    here = there, v_here = v_there;
    direction_before = select(is_row, direction, Vec{});
  }
  store_nodes(v, &lines_.nodes[end], lines_.lanes_in_use[end / 8], v_here);
}

void Chains::solve(Workers& workers, std::span<Vec4> v) {
  for_each_batch(workers, [&](const Batch& batch, Scratch& scratch) {
    batch.kind != 0 ? solve<true>(batch, v.data(), scratch) : solve<false>(batch, v.data(), scratch);
  });
  for (const Batch& ring : rings()) solve_ring(ring, v.data());
}

template <bool kTensionOnly>
void Chains::solve(const Batch& batch, Vec4* v, Scratch& scratch) {
  const std::size_t begin = 8 * std::size_t{batch.first};
  // Down the lines: what is wrong with each row, less what the rows before take of it.
  scratch.v[0] = load_nodes(v, &lines_.nodes[begin]);
  Float8 rhs{}, inverse_pivot{}, off{};
  [[maybe_unused]] Float8 excess = kNoNeighbour;
  [[maybe_unused]] Vec direction_before{};
  [[maybe_unused]] Int8 was_active{};
  for (std::size_t i = 0; i < segments(batch); ++i) {
    const std::size_t at = begin + 8 * i;
    scratch.v[i + 1] = load_nodes(v, &lines_.nodes[at + 8]);
    const Vec direction{load8(&direction_x_[at]), load8(&direction_y_[at]), load8(&direction_z_[at])};
    const Float8 speed = dot(direction, scratch.v[i + 1].xyz - scratch.v[i].xyz);
    const Float8 softness = load8(&softness_[at]), impulse = load8(&impulses_[at]);
    const Float8 wrong = -(speed + load8(&error_speed_[at]) + softness * impulse);
    if constexpr (kTensionOnly) {
      // A segment that is slack and stays so has no row; the lines are factored anew without it.
      const Int8 active = (load8(&lengths_[at]) > 0) & ((impulse < 0) | (wrong < 0));
      rhs = wrong - select(active & was_active, off, Float8{}) * inverse_pivot * rhs;
      excess = eliminate(excess, scratch.v[i].w, direction_before, direction) + softness;
      const Float8 pivot = scratch.v[i + 1].w + excess;
      inverse_pivot = select(active & (pivot > 0), 1 / pivot, Float8{});
      excess = select(active, excess, kNoNeighbour);
      direction_before = direction;
      scratch.gain[i] = inverse_pivot;
      was_active = active;
    } else {
      rhs = wrong - off * inverse_pivot * rhs;
      inverse_pivot = load8(&inverse_pivot_[at]);
    }
    scratch.rhs[i] = rhs;
    off = load8(&off_diagonal_[at]);
  }
  // And up again: the impulses, and what they do to the nodes.
  Float8 change{};
  for (std::size_t i = segments(batch); i-- > 0;) {
    const std::size_t at = begin + 8 * i;
    const Float8 before = load8(&impulses_[at]);
    const Float8 pivot = kTensionOnly ? scratch.gain[i] : load8(&inverse_pivot_[at]);
    change = pivot * (scratch.rhs[i] - load8(&off_diagonal_[at]) * change);
    Float8 applied = change;
    if constexpr (kTensionOnly) {
      applied = min(kSlackRelaxation * change, -before);
      change = min(change, -before);
    }
    store8(&impulses_[at], before + applied);
    const Vec push = Vec{load8(&direction_x_[at]), load8(&direction_y_[at]), load8(&direction_z_[at])} * applied;
    scratch.v[i].xyz = scratch.v[i].xyz - push * scratch.v[i].w;
    scratch.v[i + 1].xyz = scratch.v[i + 1].xyz + push * scratch.v[i + 1].w;
    store_nodes(v, &lines_.nodes[at + 8], lines_.lanes_in_use[at / 8 + 1], scratch.v[i + 1]);
  }
  store_nodes(v, &lines_.nodes[begin], lines_.lanes_in_use[begin / 8], scratch.v[0]);
}

// A segment under tension T pulls a node that leaves the line back with T/L per metre. Left to itself that force is
// explicit, and above h² T/L = m transverse waves explode. Here the change of velocity over the substep is damped by
// (M + θ h² K)⁻¹ M, with K the stiffness T/L of the line across itself; h² T/L = h λ/L. For a wave of frequency ω that
// is v' = v − h ω²/(1 + θ h² ω²) x: the same symplectic step as without it, for a slower wave. Energy is kept, and
// θ ≥ 1/4 is stable always. (Backward Euler for the whole velocity, (M + h² K)⁻¹ M v, is as stable but lost 13 % of a
// hanging sheet's swing energy in 5 s at 50 x 50 cells, 20 % at 100 x 100; this loses nothing.)
void Chains::stiffen(Workers& workers, std::span<const Vec4> v_before, std::span<Vec4> v, float h) const {
  smooth(workers, v_before.data(), v.data(), kTheta * h);
}

// Where lines cross, `stiffen` of the one changes what the other asked for, and the next substep mends that. Little is
// fed to waves by it while h² T/L is less than m; beyond, all short waves have nearly the same period, of some four
// substeps, and what their tension does twice in that time drives them. A net under sixteen times its weight so never
// came to rest. Here velocities themselves are smoothed, not their change, and before lengths are solved: the waves of
// frequency ω lose a share of some `kWaveDamping` h² ω² of their energy in each substep.
void Chains::damp(Workers& workers, std::span<Vec4> v, float h) const {
  smooth(workers, nullptr, v.data(), kWaveDamping * h);
}

// (M + strength λ/L)⁻¹ M of the velocities, or of what they differ from those before.
void Chains::smooth(Workers& workers, const Vec4* v_before, Vec4* v, float strength) const {
  for_each_batch(workers, [&](const Batch& batch, Scratch& scratch) { smooth(batch, v_before, v, strength, scratch); });
  for (const Batch& ring : rings()) smooth_ring(ring, v_before, v, strength);
}

void Chains::smooth(const Batch& batch, const Vec4* v_before, Vec4* v, float strength, Scratch& scratch) const {
  const std::size_t begin = 8 * std::size_t{batch.first};
  scratch.v[0] = load_nodes(v, &lines_.nodes[begin]);
  Int8 is_taut{};
  for (std::size_t i = 0; i < segments(batch); ++i) {
    const std::size_t at = begin + 8 * i;
    scratch.v[i + 1] = load_nodes(v, &lines_.nodes[at + 8]);
    const Float8 rest = load8(&lengths_[at]);
    const Float8 gain = -strength * load8(&impulses_[at]) / rest;
    const Int8 taut = (rest > 0) & (gain > 0);
    scratch.gain[i] = select(taut, gain, Float8{});
    is_taut |= taut;
  }
  if (!any(is_taut)) return;
  for (std::size_t i = 0; i <= segments(batch); ++i) {
    scratch.old[i] = v_before ? load_nodes(v_before, &lines_.nodes[begin + 8 * i]).xyz : Vec{};
    scratch.v[i].xyz = scratch.v[i].xyz - scratch.old[i];
  }

  // Thomas again, three right-hand sides. Row i: −w g₋ v'₋ + (1 + w (g₋ + g₊)) v'ᵢ − w g₊ v'₊ = vᵢ.
  Float8 gain_before{}, upper{};
  Vec before{};
  for (std::size_t i = 0; i <= segments(batch); ++i) {
    const Float8 w = scratch.v[i].w;
    const Float8 gain = i < segments(batch) ? scratch.gain[i] : Float8{};
    const Float8 lower = w * gain_before;
    const Float8 inverse = 1 / (1 + w * (gain_before + gain) - lower * upper);
    before = (scratch.v[i].xyz + before * lower) * inverse;
    upper = w * gain * inverse;
    scratch.aux[i] = before;
    scratch.rhs[i] = upper;
    gain_before = gain;
  }
  Vec next{};
  for (std::size_t i = segments(batch) + 1; i-- > 0;) {
    next = scratch.aux[i] + next * scratch.rhs[i];
    scratch.v[i].xyz = next + scratch.old[i];
    store_nodes(v, &lines_.nodes[begin + 8 * i], lines_.lanes_in_use[begin / 8 + i], scratch.v[i]);
  }
}

void Chains::limit(Workers& workers, std::span<Vec4> x, std::span<Vec4> v, float h) const {
  for_each_batch(workers, [&](const Batch& batch, Scratch& scratch) { limit(batch, x.data(), v.data(), h, scratch); });
  for (const Batch& ring : rings()) limit_ring(ring, x.data(), v.data(), h);
}

void Chains::limit(const Batch& batch, Vec4* x, Vec4* v, float h, Scratch& scratch) const {
  const std::size_t begin = 8 * std::size_t{batch.first};
  // By squares, as most segments are not too long and need no root.
  const auto is_long = [&](std::size_t i, Float8 length_squared) {
    const Float8 rest = load8(&lengths_[begin + 8 * i]), allowed = kAllowedStretch * rest;
    return (rest > 0) & (length_squared > allowed * allowed) & (load8(&compliance_[begin + 8 * i]) == 0);
  };
  // Where segments are too long, from the first to the last: mostly a short part of the batch, or none.
  std::size_t first = segments(batch), last = 0;
  scratch.v[0] = load_nodes(x, &lines_.nodes[begin]);
  for (std::size_t i = 0; i < segments(batch); ++i) {
    scratch.v[i + 1] = load_nodes(x, &lines_.nodes[begin + 8 * (i + 1)]);
    const Vec step = scratch.v[i + 1].xyz - scratch.v[i].xyz;
    if (any(is_long(i, dot(step, step)))) first = std::min(first, i), last = i;
  }
  if (first == segments(batch)) return;

  // A segment that is shortened may lengthen its neighbours, the one before in the next sweep.
  for (std::size_t sweep = 0; sweep < kLimitSweeps; ++sweep) {
    for (std::size_t i = first - std::min(first, sweep); i < segments(batch); ++i) {
      const Vec step = scratch.v[i + 1].xyz - scratch.v[i].xyz;
      const Float8 length_squared = dot(step, step);
      const Int8 too_long = is_long(i, length_squared);
      if (!any(too_long)) {
        if (i > last) break;
        continue;
      }
      last = std::max(last, i);
      const Float8 length = sqrt(max(length_squared, broadcast(kTiny)));
      const Float8 w0 = load_nodes(v, &lines_.nodes[begin + 8 * i]).w;
      const Float8 w1 = load_nodes(v, &lines_.nodes[begin + 8 * (i + 1)]).w;
      const Float8 excess = length - load8(&lengths_[begin + 8 * i]);
      const Float8 share = select(too_long & (w0 + w1 > 0), excess / (length * (w0 + w1)), Float8{});
      scratch.v[i].xyz = scratch.v[i].xyz + step * (share * w0);
      scratch.v[i + 1].xyz = scratch.v[i + 1].xyz - step * (share * w1);
    }
  }
  for (std::size_t i = first - std::min(first, kLimitSweeps); i <= last + 1; ++i) {
    const std::uint32_t* nodes = &lines_.nodes[begin + 8 * i];
    const std::size_t lanes = lines_.lanes_in_use[begin / 8 + i];
    NodeLanes velocity = load_nodes(v, nodes);
    velocity.xyz = velocity.xyz + (scratch.v[i].xyz - load_nodes(x, nodes).xyz) * broadcast(1 / h);
    store_nodes(x, nodes, lanes, scratch.v[i]);
    store_nodes(v, nodes, lanes, velocity);
  }
}

float Chains::max_stretch(Workers& workers, std::span<const Vec4> x) const {
  return parallel_reduce(
      workers, lines_.batches.size(), 16, 0.0f, stretch_parts_,
      [&](std::size_t begin, std::size_t end) {
        float most = 0;
        for (std::size_t i = begin; i < end; ++i) most = std::max(most, max_stretch(lines_.batches[i], x.data()));
        return most;
      },
      [](float a, float b) { return std::max(a, b); });
}

float Chains::max_stretch(const Batch& batch, const Vec4* x) const {
  Float8 most{};
  for (std::size_t place = batch.first; place < batch.first + segments(batch); ++place) {
    const Vec step = load_nodes(x, &lines_.nodes[8 * (place + 1)]).xyz - load_nodes(x, &lines_.nodes[8 * place]).xyz;
    const Float8 rest = load8(&lengths_[8 * place]);
    const Int8 keeps_length = (rest > 0) & (load8(&compliance_[8 * place]) == 0);
    most = max(most, select(keeps_length, length_of(step) / rest - 1, Float8{}));
  }
  float largest = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) largest = std::max(largest, most[lane]);
  return largest;
}

void Chains::forget_impulses() { std::fill(impulses_.begin(), impulses_.end(), 0.0f); }

void Chains::restore(const Memory& memory) { impulses_ = memory.impulses; }

void Chains::add_to_hash(Hasher& hasher) const { hasher.add_array(std::span<const float>(impulses_)); }

}  // namespace pliant
