// The stages of a substep: free motion, rows, positions.
#include <algorithm>
#include <cmath>

#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

constexpr std::size_t kNodesPerChunk = 4096;
/// Sweeps over contacts and anchors in each round. They are cheap beside the chains.
constexpr int kRowSweeps = 2;
/// From so many nodes on the loops of a jelly's method are worth two threads; smaller jellies are shared out whole.
constexpr std::uint32_t kLargeJelly = 4096;
/// See `hold_jellies`.
constexpr float kHeldShare = 0.5f;

void add(Vec4& v, Vec3 change) { v.x += change.x, v.y += change.y, v.z += change.z; }

}  // namespace

void ParticleEngine::begin_step(float dt) {
  contacts_.clear();
  report_ = {};
  x_before_ = x_;
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    for (const DrivenParticle& driven : b.driven) {
      Vec4& v = v_[b.first + driven.node];
      const Vec3 velocity = (driven.target - x_[b.first + driven.node].xyz()) / dt;
      v.x = velocity.x, v.y = velocity.y, v.z = velocity.z;
    }
    if (b.is_active()) apply_damping(b, dt);
  }
}

/// Only the deformation is damped. Document 004's factor on all velocities (eq. 2 and 3) brakes falling bodies too.
void ParticleEngine::apply_damping(Body& b, float dt) {
  if (b.model->damping <= 0 || carries_rigid(b)) return;
  if (b.model->piece_count > 1 || has_held_nodes(b)) return damp_pieces(b, dt);
  const RigidFit fit = fit_rigid(workers_, positions(b), velocities(b), masses(b), moment_parts_);
  const float keep = std::exp(-b.model->damping * dt);
  parallel_for(workers_, b.count, kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = b.first + begin; i < b.first + end; ++i) {
      if (v_[i].w <= 0) continue;
      const Vec3 rigid = fit.velocity + cross(fit.angular_velocity, x_[i].xyz() - fit.center);
      add(v_[i], (v_[i].xyz() - rigid) * (keep - 1));
    }
  });
}

void ParticleEngine::predict(Vec3 gravity, Vec3 wind, float h) {
  last_substep_ = h;
  gravity_ = gravity;
  for_each_active([&](Body& b) {
    if (b.settings.is_laden) b.chains.damp(workers_, velocities(b), h);
  });
  v_before_.resize(v_.size());
  parallel_for(workers_, v_.size(), kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    std::copy(v_.begin() + std::ptrdiff_t(begin), v_.begin() + std::ptrdiff_t(end),
              v_before_.begin() + std::ptrdiff_t(begin));
  });
  for_each_active([&](Body& b) {
    const Vec3 pull = gravity * (b.settings.gravity_scale * h);
    parallel_for(workers_, b.count, kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = b.first + begin; i < b.first + end; ++i) {
        if (v_[i].w > 0) add(v_[i], pull + forces_[i] * (v_[i].w * h));
      }
    });
    apply_air(b, wind, h);
  });
  predict_jellies(h);
  for_each_active([&](Body& b) {
    b.springs.sweep(workers_, positions(b), velocities(b), h);
    b.line_bends.sweep(workers_, positions(b), velocities(b), h);
    b.hinges.sweep(workers_, positions(b), velocities(b), h);
  });
}

/// A part of what held jellies in the last substep holds them while they move alone, and is taken back before contacts
/// are solved. Without it a jelly answers its weight and its load as if nothing touched it, and the nodes that touch,
/// which the contacts then stop alone, lie deeper than elasticity says by h² F/m: four jellies under a bar lost 3 % of
/// their volume. With all of it they keep their volume within 1 %, but swing on for ever, as contacts then change by no
/// more than the mass of the nodes that touch in each substep.
void ParticleEngine::hold_jellies(float sign) {
  const auto is_held = [](const Body& b) {
    return b.is_active() && b.settings.took_turns && !std::holds_alternative<std::monostate>(b.jelly);
  };
  for (const NodeContact& row : rigid_contacts_) {
    if (has(row.slot) && is_held(body(row.slot)) && !row.is_apart) {
      add(v_[row.node], row.impulse() * (sign * v_[row.node].w));
    }
  }
  for_each_active([&](Body& b) {
    if (!is_held(b)) return;
    for_each_touch(b.touches, [&](const ContactGroup& group, std::uint32_t lane) {
      Vec4& v = v_[b.first + group.node + lane];
      add(v, group.impulse_of(lane) * (sign * v.w));
    });
  });
}

void ParticleEngine::predict_jellies(float h) {
  const auto move = [&](Body& b, Workers& workers) {
    std::visit(
        [&](auto& jelly) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(jelly)>, std::monostate>) {
            jelly.free_velocity(workers, positions(b), velocities(b), h);
          }
        },
        b.jelly);
  };
  hold_jellies(kHeldShare);
  small_jellies_.clear();
  for_each_active([&](Body& b) {
    if (std::holds_alternative<std::monostate>(b.jelly)) return;
    b.count < kLargeJelly ? small_jellies_.push_back(b.id.index) : move(b, workers_);
  });
  parallel_for(workers_, small_jellies_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) move(body(small_jellies_[i]), alone_);
  });
  hold_jellies(-kHeldShare);
}

/// Each face takes its share of the momentum of the air that it meets, at most all of the speed between them.
void ParticleEngine::apply_air(Body& b, Vec3 wind, float h) {
  const float density = common_of(*b.def).drag;
  if (density <= 0) return;
  const auto push = [&](std::span<const std::uint32_t> nodes, Vec3 normal, float area) {
    Vec3 velocity{};
    float weight = 0;
    for (const std::uint32_t node : nodes) {
      velocity += v_[b.first + node].xyz();
      weight += v_[b.first + node].w;
    }
    const auto count = static_cast<float>(nodes.size());
    const float against = dot(velocity / count - wind, normal);
    const float rate = 0.5f * density * area * std::abs(against) * h;
    const float share = rate / (1 + rate * weight / (count * count));
    for (const std::uint32_t node : nodes) {
      add(v_[b.first + node], normal * (-share * against / count * v_[b.first + node].w));
    }
  };
  for (const Face& face : b.model->faces) {
    const Vec3 a = x_[b.first + face[0]].xyz(), ab = x_[b.first + face[1]].xyz() - a,
               ac = x_[b.first + face[2]].xyz() - a;
    const Vec3 area = 0.5f * cross(ab, ac);
    push(face, normalized(area), length(area));
  }
  for (const auto& segment : b.model->segments) {
    const Vec3 along = x_[b.first + segment[1]].xyz() - x_[b.first + segment[0]].xyz();
    const Vec3 velocity = 0.5f * (v_[b.first + segment[0]].xyz() + v_[b.first + segment[1]].xyz()) - wind;
    const Vec3 direction = normalized(along), across = velocity - direction * dot(velocity, direction);
    push(segment, normalized(across), 2 * b.model->radius * length(along));
  }
}

void ParticleEngine::for_each_link(void (*link)(void*, std::uint32_t, std::uint32_t), void* context) const {
  for (const NodeContact& row : rigid_contacts_) link(context, row.slot, rigid_slots_[row.rigid]);
  for (const PointContact& row : point_contacts_) {
    if (row.rigid != kFixed) link(context, row.slot, rigid_slots_[row.rigid]);
  }
  for (const AnchorRow& row : anchor_rows_) {
    if (row.rigid != kFixed) link(context, row.slot, rigid_slots_[row.rigid]);
  }
  for (const FeatureContact& row : meetings_.contacts()) link(context, row.slots[0], row.slots[1]);
  for (const TieRow& row : tie_rows_) link(context, row.slots[0], row.slots[1]);
}

/// How a rigid body answers the chain that ends at its anchored node, along it. Where chains go on, in the mean of all
/// directions: they pull from several sides.
float ParticleEngine::response_along_chains(const AnchorRow& row, const RigidBodyMotion& motion) {
  Body& b = body(row.slot);
  find_springs(b);
  float along_end = 0;
  int segments = 0;
  for (const std::uint32_t tie : b.ties_of_node[row.node - b.first]) {
    if (tie >= b.first_spring) continue;
    const auto [from, to] = b.ties[tie].nodes;
    along_end = motion.response(row.arm, normalized(x_[b.first + to].xyz() - x_[b.first + from].xyz()));
    ++segments;
  }
  if (segments == 1) return along_end;
  float sum = 0;
  for (const Vec3 axis : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) sum += motion.response(row.arm, axis);
  return sum / 3;
}

// An anchored node and its rigid body are one thing to the chain that pulls at them. With its own small mass the node
// would give way at once, and the body would learn of it only sweep by sweep; so the node stands for its share of the
// body while the chain is solved, and what the chain gave it is then passed on by the anchor's row. It is the share
// that the chain feels: far from the centre of mass a body answers across its arm several times as much as along it,
// and with the mean of the directions a ball that swings on a rope gained energy until it burst the rope.
//
// The same for contacts, along their normals, and heavier nodes in lines under large tension were tried: a sheet then
// holds a body a thousand times as heavy, which else falls through, but throws it about, and dishes on a tablecloth and
// boxes in a net gain energy. Such bodies are solved at once (particle_loaded.cpp).
void ParticleEngine::share_masses(std::span<const RigidBodyMotion> rigid) {
  anchor_shares_.clear();
  for (const AnchorRow& row : anchor_rows_) {
    const Vec4& v = v_[row.node];
    if (row.rigid == kFixed || v.w <= 0 || row.is_apart) continue;
    const float response = response_along_chains(row, rigid[row.rigid]);
    // Several anchors share the body.
    const float share = 1 / (response * static_cast<float>(row.sharers));
    anchor_shares_.push_back({row.node, v.w, 1 / (1 / v.w + share), {}});
  }
  merge_shares();
}

void ParticleEngine::begin_sharing() {
  for (Shared& node : anchor_shares_) {
    node.velocity_before = v_[node.node].xyz();
    v_[node.node].w = node.weight;
  }
}

void ParticleEngine::end_sharing() {
  for (const Shared& node : anchor_shares_) {
    Vec4& v = v_[node.node];
    const Vec3 change = v.xyz() - node.velocity_before;
    v.w = node.weight_before;
    add(v, change * (node.weight_before / node.weight - 1));
  }
}

void ParticleEngine::sweep_rows(std::span<RigidBodyMotion> rigid, float h, int sweeps) {
  // A row of one node with something fixed is exact at once; only together with others does it need more sweeps.
  const bool is_alone = anchor_rows_.empty() && tie_rows_.empty() && rigid_contacts_.empty();
  if (is_alone && point_contacts_.empty() && solid_rows_.empty() && meetings_.contacts().empty()) sweeps = 1;
  for (int i = 0; i < sweeps; ++i) {
    sweep(anchor_rows_, v_, rigid);
    sweep(tie_rows_, v_);
    sweep(meetings_.contacts(), v_, h);
    sweep(solid_rows_, v_, rigid, h);
    sweep(point_contacts_, v_, rigid, h);
    sweep(rigid_contacts_, v_, rigid, h);
    for_each_touched_part([&](Body& b, std::span<ContactGroup> groups) { sweep(groups, velocities(b), h); });
  }
}

void ParticleEngine::begin_solve(std::span<RigidBodyMotion> rigid, float h) {
  begin_loaded(rigid, h);
  warm_start_rows(rigid, h);
  sweep(anchor_rows_, v_, rigid);
  find_tie_gains();
}

/// Under a heavy load yarns are drawn to the load until those that cross are almost parallel, and then know little of
/// each other after one turn each.
void ParticleEngine::solve_chains(Body& b) {
  if (b.is_apart()) return;
  const int turns = b.settings.is_laden ? 2 : 1;
  for (int i = 0; i < turns; ++i) b.chains.solve(workers_, velocities(b));
}

void ParticleEngine::solve_round(std::span<RigidBodyMotion> rigid, float h) {
  for_each_active([&](Body& b) { solve_gas(b); });
  if (tie_rows_.empty()) {
    begin_sharing();
    for_each_active([&](Body& b) { solve_chains(b); });
    end_sharing();
  } else {
    solve_tied_chains(rigid);
  }
  solve_loaded(rigid);
  sweep_rows(rigid, h, kRowSweeps);
}

void ParticleEngine::end_solve(std::span<RigidBodyMotion> rigid, float h) {
  begin_sharing();
  for_each_active([&](Body& b) {
    if (!b.is_apart()) b.chains.stiffen(workers_, std::span(v_before_).subspan(b.first, b.count), velocities(b), h);
  });
  damp_carriers(h);
  end_sharing();
  sweep_rows(rigid, h, kRowSweeps);
  solve_loaded(rigid);
  end_loaded();
  rigid_motions_.assign(rigid.begin(), rigid.end());
}

void ParticleEngine::note_solved(float h) {
  // What touches a solid is solved again in its island, which knows the springs behind the nodes that touch.
  for_each_active([&](Body& b) {
    b.settings.took_turns = !b.is_apart();
    b.settings.was_apart = b.is_apart();
  });
  for (const PointContact& row : solid_rows_) {
    if (row.count > 0) body(row.slot).settings.took_turns = false;
  }
  for_each_active([&](Body& b) { report_.rows += b.row_count(); });
  report_.rows += 3 * (anchor_rows_.size() + tie_rows_.size() + solid_ties_.size());
  report_.overflowed = report_.overflowed || meetings_.overflowed() || rigid_meetings_.overflowed();
  const std::size_t contacts_before = contacts_.size();
  note_contacts();
  report_.rows += 3 * (contacts_.size() - contacts_before);
  note_reactions(h);
}

void ParticleEngine::advance(float h) {
  for_each_active([&](Body& b) {
    parallel_for(workers_, b.count, kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = b.first + begin; i < b.first + end; ++i) add(x_[i], v_[i].xyz() * h);
    });
    if (!b.is_apart()) b.chains.limit(workers_, positions(b), velocities(b), h);
    b.set_stale();
  });
  push_out(std::span<const FeatureContact>(meetings_.contacts()), v_, x_, h);
  push_out(point_contacts_, v_, rigid_motions_, x_, h);
  push_out(rigid_contacts_, v_, rigid_motions_, x_, h);
  for_each_touched_part(
      [&](Body& b, std::span<const ContactGroup> groups) { push_out(groups, velocities(b), positions(b), h); });
}

void ParticleEngine::note_reactions(float h) {
  for (const auto& anchor : anchors_) {
    if (!anchor) continue;
    anchor->force = {};
    for (AnchorNode& node : anchor->nodes) node.impulse = {};
  }
  for (const AnchorRow& row : anchor_rows_) anchors_[row.anchor]->nodes[row.index].impulse = row.impulse;
  for (const TieRow& row : tie_rows_) anchors_[row.anchor]->nodes[row.index].impulse = row.impulse;
  for (const SolidTie& tie : solid_ties_) anchors_[tie.anchor]->nodes[tie.index].impulse = tie.tie.impulse;
  note_fixed_reactions();
  for (const auto& anchor : anchors_) {
    if (!anchor) continue;
    for (const AnchorNode& node : anchor->nodes) anchor->force += node.impulse / h;
  }
}

/// Nodes that are tied to what does not give way have no row: they take what the chains put on them.
void ParticleEngine::note_fixed_reactions() {
  for (const auto& anchor : anchors_) {
    if (!anchor || anchor->nodes.empty() || !anchor->nodes[0].holds_fixed || !body(anchor->slot).is_active()) continue;
    const Body& b = body(anchor->slot);
    anchored_node_.assign(b.count, kFixed);
    for (std::uint32_t k = 0; k < anchor->nodes.size(); ++k) anchored_node_[anchor->nodes[k].node] = k;
    b.chains.for_each_impulse([&](std::uint32_t from, std::uint32_t to, Vec3 impulse) {
      if (anchored_node_[to] != kFixed) anchor->nodes[anchored_node_[to]].impulse -= impulse;
      if (anchored_node_[from] != kFixed) anchor->nodes[anchored_node_[from]].impulse += impulse;
    });
  }
}

void ParticleEngine::find_broken_anchors(float h, std::vector<AnchorBreak>& breaks) {
  for (const auto& anchor : anchors_) {
    if (!anchor || !std::isfinite(anchor->break_force)) continue;
    AnchorBreak found{.anchor = anchor->id};
    const auto is_broken = [&](AnchorNode& node) {
      const float force = length(node.impulse) / h;
      if (!(force > anchor->break_force)) return false;
      found.force = std::max(found.force, force);
      ++found.nodes;
      if (node.holds_fixed) release_fixed(*anchor, node);
      return true;
    };
    std::erase_if(anchor->nodes, is_broken);
    if (found.nodes > 0) breaks.push_back(found);
  }
}

void ParticleEngine::end_step() {
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    for (const DrivenParticle& driven : b.driven) {
      Vec4& v = v_[b.first + driven.node];
      v.x = v.y = v.z = 0;
    }
    b.driven.clear();
    report_.nodes += b.count;
    report_.max_stretch = std::max(report_.max_stretch, b.chains.max_stretch(workers_, positions(b)));
  }
  std::fill(forces_.begin(), forces_.end(), Vec3{});
}

}  // namespace pliant
