// Where the rows of cloth, rope and jelly begin: with the impulses of the last substep, unless these would throw a body
// about.
//
// The impulses of many rows are large beside what they do together. Cloth between two heavy bodies is pushed from both
// sides, and what it carries pulls at a corner as much as the corner pushes. When one of such rows is gone, because its
// contact was lost or another solver took over, the rest gives light nodes thousands of metres a second. Rounds that
// take turns pass that on before they undo it.
#include <algorithm>
#include <cmath>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// How much more than gravity and the rows of the last substep the impulses may change the velocities.
constexpr double kFar = 3;
constexpr std::size_t kNodesPerSum = 4096;

}  // namespace

/// √Σ m |v − v_before|²: what the substep has changed so far.
double ParticleEngine::changed_motion(const Body& b) {
  const std::size_t parts = (b.count + kNodesPerSum - 1) / kNodesPerSum;
  changes_.assign(parts, 0.0);
  parallel_for(workers_, parts, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t last = b.first + std::min<std::size_t>(b.count, (p + 1) * kNodesPerSum);
      double sum = 0;
      for (std::size_t i = b.first + p * kNodesPerSum; i < last; ++i) {
        if (v_[i].w <= 0) continue;
        sum += static_cast<double>(masses_[i] * length_squared(v_[i].xyz() - v_before_[i].xyz()));
      }
      changes_[p] = sum;
    }
  });
  double total = 0;
  for (const double change : changes_) total += change;
  return std::sqrt(total);
}

void ParticleEngine::warm_start_rows(std::span<RigidBodyMotion> rigid, float h) {
  v_unpushed_ = v_;
  for_each_active([&](Body& b) { b.most_change = kFar * std::max(changed_motion(b), double(b.settings.last_change)); });
  for_each_touched_part([&](Body& b, std::span<const ContactGroup> groups) { warm_start(groups, velocities(b)); });
  warm_start(rigid_contacts_, v_, rigid);
  warm_start(solid_rows_, v_, rigid);
  warm_start(point_contacts_, v_, rigid);
  warm_start(std::span<const FeatureContact>(meetings_.contacts()), v_);
  for_each_active([&](Body& b) { begin_gas(b, h); });
  share_masses(rigid);
  begin_sharing();
  for_each_active([&](Body& b) {
    if (b.is_apart()) unloaded_.assign(velocities(b).begin(), velocities(b).end());
    b.chains.prepare(workers_, positions(b), velocities(b), h);
    if (b.is_apart()) std::copy(unloaded_.begin(), unloaded_.end(), velocities(b).begin());
  });
  end_sharing();
  for_each_active([&](Body& b) {
    if (!b.is_apart() && changed_motion(b) > b.most_change) start_cold(b, rigid);
  });
}

/// Takes back what its rows gave a body, and those that it touches.
void ParticleEngine::start_cold(Body& b, std::span<RigidBodyMotion> rigid) {
  const std::uint32_t slot = b.id.index;
  const auto forget = [&](auto&& rows, auto&& is_its, auto&& take) {
    for (auto& row : rows) {
      if (!is_its(row)) continue;
      take(row);
      row.normal_impulse = 0, row.friction_impulse = {};
    }
  };
  const auto is_its = [&](const auto& row) { return row.slot == slot; };
  const auto from_rigid = [&](const auto& row) {
    if (row.rigid != kFixed && !row.is_apart) rigid[row.rigid].push(row.impulse(), row.arm);
  };
  forget(rigid_contacts_, is_its, from_rigid);
  forget(point_contacts_, is_its, from_rigid);
  forget(solid_rows_, is_its, [](const PointContact&) {});
  forget(
      meetings_.contacts(), [&](const FeatureContact& row) { return row.slots[0] == slot || row.slots[1] == slot; },
      [&](const FeatureContact& row) {
        const Vec3 impulse = row.normal * row.normal_impulse + row.friction_impulse;
        for (std::size_t k = 0; k < 4; ++k) {
          Vec4& v = v_[row.nodes[k]];
          const Vec3 change = impulse * (-row.weights[k] * v.w);
          v.x += change.x, v.y += change.y, v.z += change.z;
        }
      });
  for_each_touch(b.touches, [](ContactGroup& group, std::uint32_t lane) { group.set_impulse(lane, {}); });
  b.chains.forget_impulses();
  b.settings.gas_impulse = 0;
  const auto nodes = std::span(v_unpushed_).subspan(b.first, b.count);
  std::copy(nodes.begin(), nodes.end(), velocities(b).begin());
}

}  // namespace pliant
