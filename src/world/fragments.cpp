// Solids that broke: their pieces become bodies, and what is said of their nodes is found in the pieces.
#include <algorithm>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {
namespace {

/// Where the nodes of a piece come from, `nodes` being their numbers in what it was part of.
std::shared_ptr<const SolidOrigin> origin_of(const BodyRecord& whole, std::vector<std::uint32_t> nodes, BodyId parent) {
  auto origin = std::make_shared<SolidOrigin>();
  origin->ancestor = whole.origin ? whole.origin->ancestor : whole.id;
  origin->parent = parent;
  origin->nodes = std::move(nodes);
  if (whole.origin) {
    for (std::uint32_t& node : origin->nodes) node = whole.origin->nodes[node];
  }
  return origin;
}

}  // namespace

void World::Impl::adopt_fragments() {
  break_offs.clear();
  std::vector<SolidEngine::Fragment> fragments = solid.break_up();
  if (fragments.empty()) return;
  queries_stale = true;
  // Those that break off first: they need the record of the whole as it was.
  for (SolidEngine::Fragment& fragment : fragments) {
    if (fragment.stays) continue;
    const BodyRecord& whole = state.bodies[fragment.parent];
    const BodyId parent = whole.id;
    BodyRecord record{.solid_def = fragment.def,
                      .origin = origin_of(whole, std::move(fragment.nodes), parent),
                      .small = small_piece(*fragment.def, state.time),
                      .is_committed = true,
                      .allow_sleep = whole.allow_sleep};
    const BodyId id = make_body(std::move(record));
    solid.add_fragment(id, fragment);
    break_offs.push_back({.body = id, .parent = parent, .position = fragment.center});
  }
  for (SolidEngine::Fragment& fragment : fragments) {
    if (!fragment.stays) continue;
    BodyRecord& whole = state.bodies[fragment.parent];
    whole.origin = origin_of(whole, std::move(fragment.nodes), whole.origin ? whole.origin->parent : BodyId{});
    whole.solid_def = fragment.def;
    // What is left of the body that was added keeps its id, however small it is.
    if (!whole.small && !whole.origin->parent.is_null()) whole.small = small_piece(*fragment.def, state.time);
  }
}

std::vector<BodyId> World::Impl::family(BodyId id) const {
  std::vector<BodyId> members{id};
  if (!state.bodies[id.index].origin) return members;
  for (const BodyId other : state.body_order) {
    const BodyRecord& record = state.bodies[other.index];
    if (!(other == id) && record.solid_def && record.origin && record.origin->ancestor == id) members.push_back(other);
  }
  return members;
}

BodyId World::parent(BodyId body) const {
  if (!contains(body) || !impl_->state.bodies[body.index].origin) return {};
  return impl_->state.bodies[body.index].origin->parent;
}

BodyId World::ancestor(BodyId body) const {
  if (!contains(body)) return {};
  const auto& origin = impl_->state.bodies[body.index].origin;
  return origin ? origin->ancestor : body;
}

Result<std::vector<std::uint32_t>> World::origin_nodes(BodyId body) const {
  if (Status status = impl_->check_solid(body, "origin_nodes"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.origin) return record.origin->nodes;
  std::vector<std::uint32_t> all(record.solid_def->mesh.nodes.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

}  // namespace pliant
