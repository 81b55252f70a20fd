// The end of a step: events, sums and the hash.
#include <algorithm>

#include "world/world_impl.h"

namespace pliant {

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::CommitEdits:
      return "commit_edits";
    case Stage::AdoptFragments:
      return "adopt_fragments";
    case Stage::Predict:
      return "predict";
    case Stage::FindContacts:
      return "find_contacts";
    case Stage::BuildRows:
      return "build_rows";
    case Stage::SolveIslands:
      return "solve_islands";
    case Stage::Advance:
      return "advance";
    case Stage::SettleMaterials:
      return "settle_materials";
    case Stage::Quarantine:
      return "quarantine";
    case Stage::RestIslands:
      return "rest_islands";
    case Stage::Publish:
      return "publish";
    case Stage::Count:
      break;
  }
  return "";
}

void World::Impl::publish_solids() {
  const SolidReport& sums = solid.report();
  report.nodes = sums.nodes;
  report.tets = sums.tets;
  report.fractures = sums.fractures;
  report.rows += sums.rows;
  report.cg_iterations = sums.iterations;
  report.unconverged_solids = sums.unconverged;
  for (const std::uint32_t slot : solid.slots()) {
    report.awake_bodies += solid.is_awake(slot) ? 1 : 0;
    report.quarantined += solid.is_frozen(slot) ? 1 : 0;
  }
}

void World::Impl::publish_particles() {
  const ParticleReport& sums = particle.report();
  report.nodes += sums.nodes;
  report.rows += sums.rows;
  report.max_stretch = sums.max_stretch;
  report.capacity_reached = report.capacity_reached || sums.overflowed;
  for (const std::uint32_t slot : particle.slots()) {
    report.awake_bodies += particle.is_awake(slot) ? 1 : 0;
    report.quarantined += particle.is_frozen(slot) ? 1 : 0;
  }
}

void World::Impl::publish_layered() {
  const LayeredReport& sums = layered.report();
  report.nodes += sums.nodes;
  report.tets += sums.tets;
  report.rows += sums.rows;
  report.cg_iterations += sums.iterations;
  report.unconverged_solids += sums.unconverged;
  for (const std::uint32_t slot : layered.slots()) {
    report.awake_bodies += layered.is_awake(slot) ? 1 : 0;
    report.quarantined += layered.is_frozen(slot) ? 1 : 0;
  }
}

std::span<const Contact> World::Impl::contacts() const { return all_contacts; }

void World::Impl::publish() {
  // With room to spare: contacts come and go, and each step with more than ever would allocate.
  const std::size_t count = rigid.contacts().size() + solid.contacts().size() + layered.contacts().size();
  if (count > all_contacts.capacity()) all_contacts.reserve(2 * count);
  all_contacts.assign(rigid.contacts().begin(), rigid.contacts().end());
  all_contacts.insert(all_contacts.end(), solid.contacts().begin(), solid.contacts().end());
  particle.take_contacts(all_contacts);
  all_contacts.insert(all_contacts.end(), layered.contacts().begin(), layered.contacts().end());
  find_touch_events();
  report.step = state.step;
  report.time = state.time;
  report.bodies = state.body_order.size();
  for (const std::uint32_t slot : rigid.dynamic_slots()) report.awake_bodies += rigid.is_awake(slot) ? 1 : 0;
  for (const std::uint32_t slot : rigid.slots()) report.quarantined += rigid.is_frozen(slot) ? 1 : 0;
  report.rows = rigid.row_count();
  report.islands = awake_starts.empty() ? 0 : awake_starts.size() - 1;
  publish_solids();
  publish_particles();
  publish_layered();
  report.contacts = contacts().size();

  const Momenta momenta = rigid.momenta();
  report.kinetic_energy = momenta.kinetic;
  report.potential_energy = momenta.potential;
  std::copy_n(momenta.linear, 3, report.linear_momentum);
  std::copy_n(momenta.angular, 3, report.angular_momentum);
  solid.add_momenta(state.def.gravity, report.kinetic_energy, report.potential_energy, report.linear_momentum,
                    report.angular_momentum);
  report.elastic_energy = solid.elastic_energy() + layered.elastic_energy();
  particle.add_momenta(state.def.gravity, report.kinetic_energy, report.potential_energy, report.linear_momentum,
                       report.angular_momentum);
  layered.add_momenta(state.def.gravity, report.kinetic_energy, report.potential_energy, report.linear_momentum,
                      report.angular_momentum);

  report.errors.swap(refused);
  refused.clear();
  woke_up.swap(waking);
  waking.clear();
  report.hash = hash();
  queries_stale = true;
}

/// The contacts are many: they are gone through once, for what the report says of them too.
void World::Impl::find_touch_events() {
  touching_now.clear();
  const Contact* last = nullptr;
  for (const Contact& contact : contacts()) {
    report.max_penetration = std::max(report.max_penetration, contact.depth);
    if (contact.normal_impulse <= 0 && contact.depth < 0) continue;  // near, but not touching
    // A cloth touches with many nodes, one after the other.
    if (last && last->a == contact.a && last->b == contact.b) continue;
    last = &contact;
    const std::pair<BodyId, BodyId> pair = std::minmax(contact.a, contact.b);
    if (touching_now.empty() || touching_now.back() != pair) touching_now.push_back(pair);
  }
  // Sleepers are not looked at, and go on touching what they touched.
  const auto is_resting = [&](BodyId id) { return !state.body_ids.contains(id) || !is_awake(id.index); };
  for (const auto& pair : state.touching) {
    if (state.body_ids.contains(pair.first) && state.body_ids.contains(pair.second) && is_resting(pair.first) &&
        is_resting(pair.second)) {
      touching_now.push_back(pair);
    }
  }
  std::sort(touching_now.begin(), touching_now.end());
  touching_now.erase(std::unique(touching_now.begin(), touching_now.end()), touching_now.end());

  const auto note_missing = [](const auto& from, const auto& in, std::vector<TouchEvent>& out) {
    for (const auto& pair : from) {
      if (!std::binary_search(in.begin(), in.end(), pair)) out.push_back({pair.first, pair.second});
    }
  };
  note_missing(touching_now, state.touching, touch_begins);
  note_missing(state.touching, touching_now, touch_ends);
  state.touching.swap(touching_now);
}

std::uint64_t World::Impl::hash() const {
  Hasher hasher;
  hasher.add(state.step);
  hasher.add(state.time);
  for (const BodyRecord& body : state.bodies) {
    hasher.add(body.id.generation);
    hasher.add(body.calm_time);
    if (body.small) hasher.add(body.small->since);
  }
  for (const JointRecord& joint : state.joints) hasher.add(joint.id.generation);
  rigid.add_to_hash(hasher);
  solid.add_to_hash(hasher);
  if (!particle.slots().empty()) particle.add_to_hash(hasher);
  if (!layered.slots().empty()) layered.add_to_hash(hasher);
  return hasher.value();
}

}  // namespace pliant
