// Cloth, rope and jelly under rigid bodies that are much heavier: all their rows at once (solve/loaded_rows.h).
#include <algorithm>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Rounds of the solve in each of its turns with other rows.
constexpr int kRounds = 8;
/// Of an overlap, so much is let be.
constexpr float kSlop = 2e-4f;  // m
/// And the rest is undone no faster than this: the heavy body keeps the speed.
constexpr float kPartSpeed = 0.1f;  // m/s

float load_target(float gap, float h) {
  if (gap > -kSlop) return gap > 0 ? -gap / h : 0;
  return std::min(kRecoveredPerStep * (-gap - kSlop) / h, kPartSpeed);
}

}  // namespace

/// The order in which its nodes are eliminated; once for a body, or for what it is after it has torn.
void ParticleEngine::find_load_pattern(Body& b) {
  find_springs(b);
  if (b.load_model == b.model) return;
  b.load_model = b.model;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  const auto join = [&](std::uint32_t i, std::uint32_t k) {
    if (i != k) pairs.emplace_back(std::min(i, k), std::max(i, k));
  };
  for (const NodeTie& tie : b.ties) join(tie.nodes[0], tie.nodes[1]);
  for (const Face& face : b.model->faces) join(face[0], face[1]), join(face[1], face[2]), join(face[2], face[0]);
  for (const auto& segment : b.model->segments) join(segment[0], segment[1]);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  b.load_factor.analyze(b.count, pairs);
}

/// What has a gas, ties or anchors, or touches a solid, takes turns with them. What can tear would have another pattern
/// after each tear.
bool ParticleEngine::may_be_loaded(const Body& b) const {
  if (!b.is_active() || b.is_guest || b.model->pressure > 0 || b.model->tear) return false;
  const auto is_tied = [&](const TieRow& row) { return row.slots[0] == b.id.index || row.slots[1] == b.id.index; };
  const auto is_its = [&](const auto& row) { return row.slot == b.id.index; };
  return std::none_of(tie_rows_.begin(), tie_rows_.end(), is_tied) &&
         std::none_of(anchor_rows_.begin(), anchor_rows_.end(), is_its) &&
         std::none_of(solid_rows_.begin(), solid_rows_.end(), is_its);
}

/// Which bodies are solved at once in this substep, and which of the others bear more than their own weight.
void ParticleEngine::find_loaded(std::span<const RigidBodyMotion> rigid) {
  loads_.clear();
  for (const NodeContact& row : rigid_contacts_) loads_.emplace_back(row.slot, row.rigid);
  for (const PointContact& row : point_contacts_) {
    if (row.rigid != kFixed) loads_.emplace_back(row.slot, row.rigid);
  }
  std::sort(loads_.begin(), loads_.end());
  loads_.erase(std::unique(loads_.begin(), loads_.end()), loads_.end());
  for (const std::uint32_t slot : slots_) body(slot).load = 0, body(slot).settings.is_laden = false;
  for (auto begin = loads_.begin(); begin != loads_.end();) {
    Body& b = body(begin->first);
    float total = 0, heaviest = 0;
    std::size_t count = 0;
    for (; begin != loads_.end() && begin->first == b.id.index; ++begin, ++count) {
      const float mass = rigid[begin->second].inverse_mass > 0 ? 1 / rigid[begin->second].inverse_mass : 0;
      total += mass, heaviest = std::max(heaviest, mass);
    }
    float own = 0;
    for (const float mass : masses(b)) own += mass;
    const std::size_t most = std::holds_alternative<JellyDef>(*b.def) ? kMostOfJelly : kMostCouplings;
    if (total > kHeavyLoad * own && b.count * count <= most && may_be_loaded(b)) b.load = heaviest;
    // A rope needs nothing for it: no other line undoes what its own did.
    b.settings.is_laden = std::holds_alternative<ClothDef>(*b.def) && total > own && !b.is_apart();
  }
}

/// Before any row has acted on the velocities.
void ParticleEngine::begin_loaded(std::span<const RigidBodyMotion> rigid, float h) {
  find_loaded(rigid);
  loaded_->clear();
  const auto set_apart = [&](auto& rows) {
    for (auto& row : rows) row.is_apart = body(row.slot).is_apart();
  };
  set_apart(rigid_contacts_), set_apart(point_contacts_);
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    if (b.load <= 0) continue;
    find_load_pattern(b);
    list_load_springs(b, h);
    b.load_place = loaded_->add({.factor = &b.load_factor,
                                 .x = positions(b),
                                 .v = velocities(b),
                                 .v_before = std::span(v_before_).subspan(b.first, b.count),
                                 .springs = b.load_springs,
                                 .load = static_cast<double>(b.load)});
    add_segments(b, h);
    add_touches(b, h);
  }
  add_rigid_rows(h);
}

void ParticleEngine::list_load_springs(Body& b, float h) {
  b.load_springs.clear();
  for (std::size_t t = b.first_spring; t < b.ties.size(); ++t) {
    const auto [i, k] = b.ties[t].nodes;
    const Vec3 along = normalized(x_[b.first + k].xyz() - x_[b.first + i].xyz());
    b.load_springs.push_back({i, k, along, h * h * b.ties[t].stiffness});
  }
}

void ParticleEngine::add_segments(const Body& b, float h) {
  for (std::size_t l = 0; l < b.model->lines.size(); ++l) {
    const ChainLine& line = b.model->lines[l];
    for (std::size_t s = 0; s + 1 < line.nodes.size(); ++s) {
      const std::uint32_t i = line.nodes[s], k = line.nodes[s + 1];
      loaded_->add({.law = LoadedLaw::Segment,
                    .body = b.load_place,
                    .count = 2,
                    .nodes = {i, k},
                    .weights = {-1, 1},
                    .rest = line.lengths[s],
                    .pushes = !line.tension_only,
                    .softness = line.compliance.empty() ? 0 : line.compliance[s] / (h * h)});
    }
  }
}

void ParticleEngine::add_touches(const Body& b, float h) {
  for_each_touch(b.touches, [&](const ContactGroup& group, std::uint32_t i) {
    loaded_->add({.body = b.load_place,
                  .count = 1,
                  .nodes = {group.node + i},
                  .weights = {1},
                  .normal = group.normal_of(i),
                  .target = lane_of(group.surface_velocity, i) + group.normal_of(i) * load_target(group.gap[i], h),
                  .friction = group.friction,
                  .impulse = group.impulse_of(i)});
  });
}

void ParticleEngine::add_rigid_rows(float h) {
  for (const NodeContact& row : rigid_contacts_) {
    if (body(row.slot).load <= 0) continue;
    loaded_->add({.body = body(row.slot).load_place,
                  .count = 1,
                  .nodes = {row.node - body(row.slot).first},
                  .weights = {1},
                  .rigid = row.rigid,
                  .arm = row.arm,
                  .normal = row.normal,
                  .target = row.surface_velocity + row.normal * load_target(row.gap, h),
                  .friction = row.friction,
                  .impulse = row.normal * row.normal_impulse + row.friction_impulse});
  }
  for (const PointContact& row : point_contacts_) {
    if (body(row.slot).load <= 0) continue;
    LoadedRow loaded{.body = body(row.slot).load_place,
                     .count = row.count,
                     .weights = row.weights,
                     .rigid = row.rigid,
                     .arm = row.arm,
                     .normal = row.normal,
                     .target = row.surface_velocity + row.normal * load_target(row.gap, h),
                     .friction = row.friction,
                     .impulse = row.impulse()};
    for (std::uint32_t k = 0; k < row.count; ++k) loaded.nodes[k] = row.nodes[k] - body(row.slot).first;
    loaded_->add(loaded);
  }
}

void ParticleEngine::solve_loaded(std::span<RigidBodyMotion> rigid) {
  if (!loaded_->is_empty()) loaded_->solve(workers_, rigid, kRounds, last_substep_);
}

/// Impulses go back to where they came from, in the order in which they were taken.
void ParticleEngine::end_loaded() {
  loaded_->finish();
  auto next = loaded_->rows().begin();
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    if (b.load <= 0) continue;
    for (std::size_t l = 0; l < b.model->lines.size(); ++l) {
      for (std::size_t s = 0; s + 1 < b.model->lines[l].nodes.size(); ++s, ++next) {
        b.chains.set_impulse(l, s, dot(next->impulse, next->normal));
      }
    }
    for_each_touch(b.touches, [&](ContactGroup& group, std::uint32_t i) { group.set_impulse(i, (next++)->impulse); });
  }
  for (NodeContact& row : rigid_contacts_) {
    if (body(row.slot).load > 0) row.set_impulse((next++)->impulse);
  }
  for (PointContact& row : point_contacts_) {
    if (body(row.slot).load > 0) row.set_impulse((next++)->impulse);
  }
}

}  // namespace pliant
