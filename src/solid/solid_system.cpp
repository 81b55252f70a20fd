#include "solid/solid_system.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr std::uint32_t kNone = SolidLayout::kNone;
constexpr std::uint32_t kChunkGroups = 96;  ///< of eight slots: one chunk is some microseconds of work

/// The inverse of symmetric positive definite blocks; zero where `mask` is.
LaneSym3<Float8> inverse_where(Float8 mask, const LaneSym3<Float8>& m) {
  // Scaled first: entries range from 1e-6 to 1e12, and the determinant would leave the range of floats.
  const Float8 scale = broadcast(1.0f) / max(m.trace(), broadcast(1e-30f));
  const LaneSym3<Float8> s = m * scale;
  const Float8 det = determinant(s);
  const Float8 factor = select(det > 1e-12f, scale / max(det, broadcast(1e-12f)), broadcast(0.0f));
  return adjugate(s) * (factor * mask);
}

/// Blocks of eight edges from where their elements left them, transposed where the top bit says so.
LaneMat3<Float8> gather_blocks(const float* blocks, Int8 at) {
  const Int8 transposed = at >> 31;  // all bits of lanes that are
  const Int8 offset = at & 0x7fffffff;
  const auto entry = [&](std::int32_t row, std::int32_t column) {
    const Int8 there = (transposed & (8 * (3 * column + row))) | (~transposed & (8 * (3 * row + column)));
    return gather8(blocks, offset + there);
  };
  return {{entry(0, 0), entry(1, 0), entry(2, 0)},
          {entry(0, 1), entry(1, 1), entry(2, 1)},
          {entry(0, 2), entry(1, 2), entry(2, 2)}};
}

/// Where the block of eight edges goes: entry (row, column) of lane l to `at[l]`, or transposed. Padding stands behind
/// the edges and is not written: two threads would write to the same `nowhere`.
void scatter_blocks(float* values, std::uint32_t nowhere, const std::uint32_t* at, const std::uint32_t* transposed_at,
                    const LaneMat3<Float8>& k) {
  alignas(32) float entries[9][8];
  const LaneVec3<Float8>* columns[3] = {&k.c0, &k.c1, &k.c2};
  for (std::size_t c = 0; c < 3; ++c) {
    store8(entries[c], columns[c]->x), store8(entries[3 + c], columns[c]->y), store8(entries[6 + c], columns[c]->z);
  }
  for (std::size_t l = 0; l < kLanes && at[l] != nowhere; ++l) {
    float* to = values + at[l];
    float* back = values + transposed_at[l];
    for (std::size_t e = 0; e < 9; ++e) to[8 * e] = entries[e][l];
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) back[8 * (3 * c + r)] = entries[3 * r + c][l];
    }
  }
}

}  // namespace

SolidSystem::SolidSystem(const SolidLayout& layout, const TetMesh& mesh) {
  const auto aggregates = static_cast<std::uint32_t>(layout.aggregate_starts.size() - 1);
  for (std::uint32_t begin = 0; begin < aggregates;) {
    std::uint32_t end = begin + 1;
    while (end < aggregates && layout.aggregate_starts[end + 1] - layout.aggregate_starts[begin] <= kChunkGroups) ++end;
    chunks_.push_back({begin, end});
    begin = end;
  }
  sums_.resize(chunks_.size());
  measure_aggregates(layout, mesh);
  rigid_.prepare(aggregates, 0.5 * static_cast<double>(length(mesh.bounds().size())));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const SolidLayout::Pair& pair : layout.pairs) {
    if (pair.a != pair.b) links.push_back({pair.a, pair.b});
  }
  coarse_.analyze(aggregates, links);
  holds_.assign(aggregates, 0);
  coarse_x_.assign(aggregates * 8, 0.0f);
  coarse_r_ = coarse_x_;
  pair_blocks_.resize(layout.pairs.size());
  arms_.assign(layout.slot_count);
  arm_nodes_.assign(layout.slot_count, {});
  p_.assign(layout.slot_count);
  p_nodes_.assign(layout.slot_count, {});
  q_.assign(layout.slot_count);
  elastic_.assign(layout.slot_count / 8 * 48, 0.0f);
  elastic_is_old_.assign(layout.slot_count / 8, 1);
  inverse_.assign(layout.slot_count / 8 * 48, 0.0f);
  extra_of_group_.assign(layout.slot_count / 8, kNone);
  inverse_is_old_.assign(layout.slot_count / 8, 1);
}

void SolidSystem::measure_aggregates(const SolidLayout& layout, const TetMesh& mesh) {
  for (std::uint32_t a = 0; a + 1 < layout.aggregate_starts.size(); ++a) {
    double sum = 0, count = 0, middle[3] = {};
    const auto for_each_node = [&](auto&& visit) {
      for (std::uint32_t s = 8 * layout.aggregate_starts[a]; s < 8 * layout.aggregate_starts[a + 1]; ++s) {
        if (layout.node_of_slot[s] != kNone) visit(mesh.nodes[layout.node_of_slot[s]]);
      }
    };
    for_each_node([&](Vec3 x) {
      for (std::size_t k = 0; k < 3; ++k) middle[k] += static_cast<double>(x[k]);
      count += 1;
    });
    for_each_node([&](Vec3 x) {
      for (std::size_t k = 0; k < 3; ++k) sum += std::pow(static_cast<double>(x[k]) - middle[k] / count, 2);
    });
    radii_.push_back(static_cast<float>(std::max(std::sqrt(sum / count), 1e-30)));
  }
}

void SolidSystem::locate_aggregates(Workers& workers, const SolidLayout& layout, const LaneVectors& positions) {
  reference_ = positions.get(0);
  parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::uint32_t a = chunks_[begin].begin; a < chunks_[end - 1].end; ++a) {
      const std::uint32_t first = layout.aggregate_starts[a], last = layout.aggregate_starts[a + 1];
      // From the first node, so that a body far from the origin loses nothing.
      const Vec3 base = positions.get(8 * first);
      const LaneVec3<Float8> from{broadcast(base.x), broadcast(base.y), broadcast(base.z)};
      LaneVec3<Float8> total;
      Float8 count{};
      for (std::uint32_t g = first; g < last; ++g) {
        Float8 real;
        for (std::uint32_t l = 0; l < 8; ++l) real[l] = layout.node_of_slot[8 * g + l] != kNone ? 1.0f : 0.0f;
        total = total + (positions.group(g) - from) * real;
        count += real;
      }
      const float n = sum(count);
      const Vec3 center = base + Vec3{sum(total.x) / n, sum(total.y) / n, sum(total.z) / n};
      const LaneVec3<Float8> middle{broadcast(center.x), broadcast(center.y), broadcast(center.z)};
      rigid_.place(a, center - reference_, radii_[a]);
      const Float8 scale = broadcast(1 / radii_[a]);
      for (std::uint32_t g = first; g < last; ++g) {
        const LaneVec3<Float8> arms = (positions.group(g) - middle) * scale;
        arms_.set_group(g, arms);
        store_nodes(arm_nodes_.data() + 8 * g, {arms, free_mask(g)});
      }
    }
  });
}

template <typename Sums>
void SolidSystem::assemble_pair(SolidLayout& layout, const SolidElements& elements, std::size_t pair) {
  const bool uniform = elements.is_uniform();
  Sums sums;
  for (std::size_t batch = layout.pairs[pair].begin; batch < layout.pairs[pair].end; ++batch) {
    LaneMat3<Float8> w, weighted;
    for (std::size_t k = layout.incidence_starts[batch]; k < layout.incidence_starts[batch + 1]; ++k) {
      const auto [h_i, ratio] = load_nodes(elements.h(), layout.incidences.data() + 16 * k);
      const LaneVec3<Float8> h_j = load_nodes(elements.h(), layout.incidences.data() + 16 * k + 8).xyz;
      const LaneMat3<Float8> outer{h_i * h_j.x, h_i * h_j.y, h_i * h_j.z};
      w = w + outer;
      if (!uniform) weighted = weighted + outer * ratio;
    }
    if (uniform) weighted = w * broadcast(elements.h()[0].w);
    LaneMat3<Float8> block = weighted + w.transposed();
    const Float8 trace = w.c0.x + w.c1.y + w.c2.z;
    block.c0.x += trace, block.c1.y += trace, block.c2.z += trace;

    for (std::size_t k = layout.block_incidence_starts[batch]; k < layout.block_incidence_starts[batch + 1]; ++k) {
      block = block + gather_blocks(elements.blocks(), load_index8(layout.block_incidences.data() + 8 * k));
    }

    const std::uint32_t* targets = layout.edge_targets.data() + 16 * batch;
    scatter_blocks(layout.matrix.values(), layout.matrix.nowhere(), targets, targets + 8, block);

    const std::uint32_t* slots = layout.edge_slots.data() + 16 * batch;
    const auto [r_i, free_i] = load_nodes(arm_nodes_.data(), slots);
    const auto [r_j, free_j] = load_nodes(arm_nodes_.data(), slots + 8);
    sums.add(block, r_i, r_j, free_i, free_j);
  }
  finish(sums, pair_blocks_[pair]);
}

void SolidSystem::find_held(const SolidLayout& layout) {
  is_free_ = true;
  for (std::size_t a = 0; a < radii_.size(); ++a) {
    bool holds = false;
    for (std::uint32_t s = 8 * layout.aggregate_starts[a]; s < 8 * layout.aggregate_starts[a + 1]; ++s) {
      holds |= free_[s] == 0 && tied_[s] > 0;
    }
    holds_[a] = holds;
    is_free_ &= !holds;
  }
}

void SolidSystem::assemble(Workers& workers, SolidLayout& layout, const SolidElements& elements,
                           const LaneVectors& positions, const std::vector<float>& free,
                           const std::vector<float>& tied) {
  free_ = free;
  tied_ = tied;
  is_rounded_ = false;
  std::fill(elastic_is_old_.begin(), elastic_is_old_.end(), std::uint8_t{1});
  std::fill(inverse_is_old_.begin(), inverse_is_old_.end(), std::uint8_t{1});
  find_held(layout);
  locate_aggregates(workers, layout, positions);
  parallel_for(workers, layout.pairs.size(), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t pair = begin; pair < end; ++pair) {
      const SolidLayout::Pair& p = layout.pairs[pair];
      if (holds_[p.a] || holds_[p.b]) {
        assemble_pair<HeldCoarseSums>(layout, elements, pair);
      } else if (p.a == p.b) {
        assemble_pair<InnerCoarseSums>(layout, elements, pair);
      } else {
        assemble_pair<CoarseSums>(layout, elements, pair);
      }
    }
  });
}

void SolidSystem::round(Workers& workers, const SolidLayout& layout) {
  constexpr float kSmall = 0.02f;
  rounded_.assign(workers, layout.matrix);
  is_rounded_ = rounded_.largest_step(tied_) <= kSmall;
}

void SolidSystem::clear_extras() {
  for (std::size_t g = 0; g < extra_of_group_.size(); ++g) {
    if (extra_of_group_[g] != kNone) inverse_is_old_[g] = 1;
  }
  std::fill(extra_of_group_.begin(), extra_of_group_.end(), kNone);
  extras_.clear();
}

void SolidSystem::add_extra(std::uint32_t slot, const LaneSym3<float>& block) {
  std::uint32_t& entry = extra_of_group_[slot / 8];
  if (entry == kNone) {
    entry = static_cast<std::uint32_t>(extras_.size() / 48);
    extras_.resize(extras_.size() + 48, 0.0f);
    inverse_is_old_[slot / 8] = 1;
  }
  float* at = extras_.data() + 48 * entry + slot % 8;
  at[0] += block.xx, at[8] += block.yy, at[16] += block.zz;
  at[24] += block.xy, at[32] += block.xz, at[40] += block.yz;
}

LaneVec3<Float8> SolidSystem::tied_part(std::size_t group, const LaneVec3<Float8>& x) const {
  LaneVec3<Float8> y = x * load8(tied_.data() + 8 * group);
  if (extra_of_group_[group] != kNone) y = y + load_sym8(extras_.data() + 48 * extra_of_group_[group]) * x;
  return y;
}

/// Kept, for contacts change a diagonal in every round, and its sum reads all of the group's matrix.
LaneSym3<Float8> SolidSystem::elastic_diagonal(const SolidLayout& layout, std::size_t group) {
  if (elastic_is_old_[group]) {
    store_sym8(elastic_.data() + 48 * group, layout.matrix.diagonal(group));
    elastic_is_old_[group] = 0;
  }
  return load_sym8(elastic_.data() + 48 * group);
}

void SolidSystem::invert_diagonal(const SolidLayout& layout, std::size_t aggregate) {
  for (std::uint32_t g = layout.aggregate_starts[aggregate]; g < layout.aggregate_starts[aggregate + 1]; ++g) {
    if (!inverse_is_old_[g]) continue;
    inverse_is_old_[g] = 0;
    LaneSym3<Float8> d = elastic_diagonal(layout, g);
    const Float8 tied = load8(tied_.data() + 8 * g);
    d.xx += tied, d.yy += tied, d.zz += tied;
    if (extra_of_group_[g] != kNone) d = d + load_sym8(extras_.data() + 48 * extra_of_group_[g]);
    store_sym8(inverse_.data() + 48 * g, inverse_where(free_mask(g), d));
  }
}

/// Σ w_iᵀ D_i w_i over the slots of an aggregate.
void SolidSystem::add_tied_modes(const SolidLayout& layout, std::size_t aggregate, double* block) const {
  LaneMat3<Float8> tt, rt;
  LaneSym3<Float8> rr;
  for (std::uint32_t g = layout.aggregate_starts[aggregate]; g < layout.aggregate_starts[aggregate + 1]; ++g) {
    const Float8 mass = load8(tied_.data() + 8 * g) * free_mask(g);
    LaneSym3<Float8> d{mass, mass, mass, {}, {}, {}};
    if (extra_of_group_[g] != kNone) d = d + load_sym8(extras_.data() + 48 * extra_of_group_[g]) * free_mask(g);
    const LaneVec3<Float8> r = arms_.group(g);
    const LaneMat3<Float8> k{{d.xx, d.xy, d.xz}, {d.xy, d.yy, d.yz}, {d.xz, d.yz, d.zz}};
    const LaneMat3<Float8> columns{cross(r, k.c0), cross(r, k.c1), cross(r, k.c2)};
    const LaneMat3<Float8> rows = columns.transposed();
    tt = tt + k;
    rt = rt + columns;
    rr = rr + symmetric_part(LaneMat3<Float8>{cross(r, rows.c0), cross(r, rows.c1), cross(r, rows.c2)});
  }
  set_own_block(block, tt, rt, rr);
  for (std::size_t k = 0; k < 36; ++k) block[k] = -block[k];
}

void SolidSystem::invert_diagonals(Workers& workers, const SolidLayout& layout) {
  parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::uint32_t a = chunks_[begin].begin; a < chunks_[end - 1].end; ++a) invert_diagonal(layout, a);
  });
}

void SolidSystem::factor_coarse(Workers& workers, const SolidLayout& layout, bool is_in_island) {
  if (is_in_island && is_one()) return;
  const bool has_whole = is_free_ && !is_in_island;
  coarse_.clear();
  rigid_.clear();
  double block[36];
  for (std::uint32_t a = 0; a < coarse_.size(); ++a) {
    add_tied_modes(layout, a, block);
    coarse_.add_diagonal(a, block);
    if (has_whole) rigid_.add(a, block);
  }
  if (has_whole) rigid_.factor();
  if (is_one()) return;
  for (std::size_t k = 0; k < layout.pairs.size(); ++k) {
    const SolidLayout::Pair& pair = layout.pairs[k];
    const CoarseBlocks& blocks = pair_blocks_[k];
    coarse_.add_diagonal(pair.a, blocks.aa);
    coarse_.add_diagonal(pair.b, blocks.bb);
    if (pair.a != pair.b) {
      coarse_.add(pair.a, pair.b, blocks.ab);
      continue;
    }
    for (std::size_t r = 0; r < 6; ++r) {
      for (std::size_t c = 0; c < 6; ++c) block[r * 6 + c] = blocks.ab[r * 6 + c] + blocks.ab[c * 6 + r];
    }
    coarse_.add_diagonal(pair.a, block);
  }
  coarse_.factor(&workers);
}

std::array<double, 36> SolidSystem::whole_matrix(const SolidLayout& layout) {
  rigid_.clear();
  double block[36];
  for (std::uint32_t a = 0; a < coarse_.size(); ++a) {
    add_tied_modes(layout, a, block);
    rigid_.add(a, block);
  }
  return rigid_.matrix();
}

/// Wᵀ r of one aggregate.
void SolidSystem::restrict_to(std::size_t aggregate, const SolidLayout& layout, const LaneVectors& r) {
  LaneVec3<Float8> force, torque;
  for (std::uint32_t g = layout.aggregate_starts[aggregate]; g < layout.aggregate_starts[aggregate + 1]; ++g) {
    const LaneVec3<Float8> f = r.group(g);
    force = force + f;
    torque = torque + cross(arms_.group(g), f);
  }
  float* to = coarse_x_.data() + 8 * aggregate;
  to[0] = sum(force.x), to[1] = sum(force.y), to[2] = sum(force.z);
  to[3] = sum(torque.x), to[4] = sum(torque.y), to[5] = sum(torque.z);
}

/// W e of the slots of a group.
LaneVec3<Float8> SolidSystem::prolong(std::size_t aggregate, std::size_t group) const {
  const float* e = coarse_x_.data() + 8 * aggregate;
  const LaneVec3<Float8> shift{broadcast(e[0]), broadcast(e[1]), broadcast(e[2])};
  const LaneVec3<Float8> turn{broadcast(e[3]), broadcast(e[4]), broadcast(e[5])};
  return (shift + cross(turn, arms_.group(group))) * free_mask(group);
}

SolidSystem::Sums SolidSystem::precondition(const SolidLayout& layout, const Chunk& chunk, LaneVectors& x,
                                            LaneVectors& r, double step) {
  Sums out;
  const Float8 alpha = broadcast(static_cast<float>(step));
  for (std::uint32_t a = chunk.begin; a < chunk.end; ++a) {
    Float8 rz{};
    ImpulseSquares size;
    for (std::uint32_t g = layout.aggregate_starts[a]; g < layout.aggregate_starts[a + 1]; ++g) {
      LaneVec3<Float8> residual = r.group(g);
      if (step != 0) {
        residual = residual - q_.group(g) * alpha;
        r.set_group(g, residual);
        x.set_group(g, x.group(g) + p_.group(g) * alpha);
      }
      const LaneVec3<Float8> z = load_sym8(inverse_.data() + 48 * g) * residual;
      q_.set_group(g, z);
      rz += dot(residual, z);
      size.add(residual, load8(tied_.data() + 8 * g));
    }
    restrict_to(a, layout, r);
    out.product += static_cast<double>(sum(rz)), out.size += size.total();
  }
  return out;
}

double SolidSystem::solve_coarse(Workers& workers) {
  coarse_r_ = coarse_x_;
  if (is_one()) {
    std::fill(coarse_x_.begin(), coarse_x_.end(), 0.0f);
    return 0;
  }
  coarse_.solve(coarse_x_.data(), &workers);
  double product = 0;
  for (std::size_t i = 0; i < coarse_x_.size(); ++i) {
    product += static_cast<double>(coarse_r_[i]) * static_cast<double>(coarse_x_[i]);
  }
  return product;
}

void SolidSystem::renew_direction(const SolidLayout& layout, const Chunk& chunk, float beta) {
  const Float8 share = broadcast(beta);
  for (std::uint32_t a = chunk.begin; a < chunk.end; ++a) {
    for (std::uint32_t g = layout.aggregate_starts[a]; g < layout.aggregate_starts[a + 1]; ++g) {
      const LaneVec3<Float8> p = q_.group(g) + prolong(a, g) + p_.group(g) * share;
      p_.set_group(g, p);
      store_nodes(p_nodes_.data() + 8 * g, {p});
    }
  }
}

SolveResult SolidSystem::solve(Workers& workers, const SolidLayout& layout, LaneVectors& x, LaneVectors& r,
                               const ImpulseSize& threshold, int max_iterations) {
  SolveResult result;
  const auto all_coarse = [&] {
    double product = solve_coarse(workers);
    if (!is_free_) return product;
    const RigidMotion force = whole_force(), motion = rigid_.solve(force);
    for (std::size_t k = 0; k < 6; ++k) product += force[k] * motion[k];
    add_whole_motion(motion);
    return product;
  };
  const auto with_contacts = [&](std::size_t g, const LaneVec3<Float8>& p, const LaneVec3<Float8>& own) {
    if (extra_of_group_[g] == kNone) return own;
    return own + load_sym8(extras_.data() + 48 * extra_of_group_[g]) * p;
  };

  Sums sums = reduce(workers, [&](const Chunk& chunk) { return precondition(layout, chunk, x, r, 0); });
  double rz = 0, rz_before = 1;
  while (true) {
    rz = sums.product + all_coarse();
    const ImpulseSize size = sqrt(sums.size);
    result.residual = size.plain;
    result.converged = size.is_within(threshold);
    if (result.converged || result.iterations >= max_iterations || !(rz > 0) || !std::isfinite(rz)) break;
    const float beta = result.iterations == 0 ? 0.0f : static_cast<float>(rz / rz_before);
    parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) renew_direction(layout, chunks_[c], beta);
    });
    const Sums curvature = reduce(workers, [&](const Chunk& chunk) {
      return Sums{multiply(layout, chunk, with_contacts), {}};
    });
    if (!(curvature.product > 0) || !std::isfinite(curvature.product)) break;
    const double alpha = rz / curvature.product;
    rz_before = rz;
    sums = reduce(workers, [&](const Chunk& chunk) { return precondition(layout, chunk, x, r, alpha); });
    ++result.iterations;
  }
  return result;
}

void SolidSystem::correct_coarse(Workers& workers, const SolidLayout& layout, LaneVectors& x) {
  // `solve` ended with the coarse solution of the residual that it left.
  parallel_for(workers, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::uint32_t a = chunks_[begin].begin; a < chunks_[end - 1].end; ++a) {
      for (std::uint32_t g = layout.aggregate_starts[a]; g < layout.aggregate_starts[a + 1]; ++g) {
        x.set_group(g, x.group(g) + prolong(a, g));
      }
    }
  });
}

float SolidSystem::response(std::uint32_t slot, Vec3 normal) const {
  const float* at = inverse_.data() + 48 * (slot / 8) + slot % 8;
  const LaneSym3<float> inverse{at[0], at[8], at[16], at[24], at[32], at[40]};
  return dot(to_lane(normal), inverse * to_lane(normal));
}

float SolidSystem::least_stiffness() const {
  Float8 largest{};
  for (std::size_t g = 0; g < inverse_.size() / 48; ++g) {
    largest = max(largest, load_sym8(inverse_.data() + 48 * g).trace() * load8(tied_.data() + 8 * g));
  }
  float most = 0;
  for (std::size_t l = 0; l < kLanes; ++l) most = std::max(most, largest[l]);
  return most > 0 ? 3 / most : 0.0f;
}

std::size_t SolidSystem::bytes() const {
  const std::size_t floats = arms_.floats().size() + p_.floats().size() + q_.floats().size() + z_.floats().size() +
                             4 * (p_nodes_.size() + arm_nodes_.size()) + elastic_.size() + inverse_.size() +
                             free_.size() + tied_.size() + extras_.capacity() + radii_.size() + coarse_x_.size() +
                             coarse_r_.size();
  return sizeof(float) * floats + sizeof(std::uint32_t) * extra_of_group_.size() + elastic_is_old_.size() +
         inverse_is_old_.size() + holds_.size() + sizeof(Chunk) * chunks_.size() + sizeof(Sums) * sums_.size() +
         sizeof(CoarseBlocks) * pair_blocks_.size() + coarse_.bytes() + rigid_.bytes() + rounded_.bytes();
}

}  // namespace pliant
