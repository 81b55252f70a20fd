// Where the rows of cloth, rope and jelly begin: with the impulses of the last substep, unless another solver found
// them.
//
// The impulses of many rows are large beside what they do together. Cloth between two heavy bodies is pushed from both
// sides, and what it carries pulls at a corner as much as the corner pushes. What solves such a body at once, alone or
// in the island of a solid, finds impulses that hold it only all together. When the load is gone some of the rows are
// too; what is left gives light nodes thousands of metres a second, and rounds that take turns pass that on before they
// undo it. (Of eight random piles of all kinds five threw cloth about until a substep that takes over began anew.)
#include <algorithm>

#include "particle/particle_body.h"

namespace pliant {

void ParticleEngine::warm_start_rows(std::span<RigidBodyMotion> rigid, float h) {
  for_each_active([&](Body& b) {
    if (b.settings.was_apart && !b.is_apart()) forget_impulses(b);
  });
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
    b.chains.prepare(workers_, positions(b), velocities(b), h, b.settings.is_laden);
    if (b.is_apart()) std::copy(unloaded_.begin(), unloaded_.end(), velocities(b).begin());
  });
  end_sharing();
}

void ParticleEngine::forget_impulses(Body& b) {
  const std::uint32_t slot = b.id.index;
  const auto forget = [](auto& row) { row.normal_impulse = 0, row.friction_impulse = {}; };
  const auto forget_its = [&](auto& rows) {
    for (auto& row : rows) {
      if (row.slot == slot) forget(row);
    }
  };
  forget_its(rigid_contacts_);
  forget_its(point_contacts_);
  forget_its(solid_rows_);
  for (FeatureContact& row : meetings_.contacts()) {
    if (row.slots[0] == slot || row.slots[1] == slot) forget(row);
  }
  for_each_touch(b.touches, [](ContactGroup& group, std::uint32_t lane) { group.set_impulse(lane, {}); });
  b.chains.forget_impulses();
}

}  // namespace pliant
