// Solids that broke: their pieces become bodies, and what is said of their nodes is found in the pieces.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "world/world_impl.h"

namespace pliant {
namespace {

/// Where the nodes and tets of a piece come from, given by their numbers in what it was part of.
std::shared_ptr<const SolidOrigin> origin_of(const BodyRecord& whole, SolidEngine::Fragment& piece, BodyId parent) {
  auto origin = std::make_shared<SolidOrigin>();
  origin->ancestor = whole.origin ? whole.origin->ancestor : whole.id;
  origin->def = whole.origin ? whole.origin->def : whole.solid_def;
  origin->parent = parent;
  origin->nodes = std::move(piece.nodes);
  origin->tets = std::move(piece.part.tets);
  if (whole.origin) {
    for (std::uint32_t& node : origin->nodes) node = whole.origin->nodes[node];
    for (std::uint32_t& tet : origin->tets) tet = whole.origin->tets[tet];
  }
  return origin;
}

std::vector<std::uint32_t> count_to(std::size_t size) {
  std::vector<std::uint32_t> all(size);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

}  // namespace

void World::Impl::adopt_fragments() {
  break_offs.clear();
  std::vector<SolidEngine::Fragment> fragments = solid.break_up();
  if (fragments.empty()) return;
  queries_stale = true;
  std::vector<SolidPiece> tied;  // pieces of what nodes of cloth, rope and jelly are tied to
  const auto note_tied = [&](BodyId whole, BodyId id, const std::vector<std::uint32_t>& tets) {
    if (particle.has_ties_to(whole)) tied.push_back({whole, id, tets});
  };
  // Those that break off first: they need the record of the whole as it was.
  for (SolidEngine::Fragment& fragment : fragments) {
    if (fragment.stays) continue;
    const BodyRecord& whole = state.bodies[fragment.parent];
    const BodyId parent = whole.id;
    const std::vector<std::uint32_t> tets = fragment.part.tets;
    BodyRecord record{.solid_def = fragment.def,
                      .origin = origin_of(whole, fragment, parent),
                      .small = small_piece(*fragment.def, state.time),
                      .is_committed = true,
                      .allow_sleep = whole.allow_sleep};
    const BodyId id = make_body(std::move(record));
    note_tied(parent, id, tets);
    solid.add_fragment(id, fragment);
    break_offs.push_back({.body = id, .parent = parent, .position = fragment.center});
  }
  for (SolidEngine::Fragment& fragment : fragments) {
    if (!fragment.stays) continue;
    BodyRecord& whole = state.bodies[fragment.parent];
    note_tied(whole.id, whole.id, fragment.part.tets);
    whole.origin = origin_of(whole, fragment, whole.origin ? whole.origin->parent : BodyId{});
    whole.solid_def = fragment.def;
    // What is left of the body that was added keeps its id, however small it is.
    if (!whole.small && !whole.origin->parent.is_null()) whole.small = small_piece(*fragment.def, state.time);
  }
  particle.follow_pieces(tied);
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
  return record.origin ? record.origin->nodes : count_to(record.solid_def->mesh.nodes.size());
}

Result<std::vector<std::uint32_t>> World::origin_tets(BodyId body) const {
  if (Status status = impl_->check_solid(body, "origin_tets"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  return record.origin ? record.origin->tets : count_to(record.solid_def->mesh.tets.size());
}

Result<std::shared_ptr<const SolidDef>> World::origin_def(BodyId body) const {
  if (Status status = impl_->check_solid(body, "origin_def"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  return record.origin ? record.origin->def : record.solid_def;
}

}  // namespace pliant
