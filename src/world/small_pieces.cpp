// What becomes of small pieces: they turn rigid or go, so that a shattered scene stays fast. As Parker and O'Brien's
// game did it (2009, section 8), where pieces fade away once they are no longer needed.
//
// A piece turns rigid when it touches nothing that moves: its hull fills its hollows, and would begin inside of its
// neighbours, who press against it. Pieces that sleep cost nothing and do not turn rigid; those that are held stay as
// they are.
#include <algorithm>

#include "world/world_impl.h"

namespace pliant {

/// What applies to a piece that is made now.
std::optional<SmallPiece> World::Impl::small_piece(const SolidDef& def, double now) {
  const SmallPieces& rule = def.fracture.small_pieces;
  if (!(rule.rigid_after < kInfinity || rule.gone_after < kInfinity)) return {};
  const Vec3 size = def.mesh.bounds().size();
  const bool is_small = def.mesh.tets.size() <= static_cast<std::size_t>(rule.max_tets) ||
                        std::max({size.x, size.y, size.z}) <= rule.max_size ||
                        def.mesh.volume() <= static_cast<double>(rule.max_volume);
  return is_small ? std::optional<SmallPiece>({rule, now}) : std::nullopt;
}

void World::Impl::retire_small_pieces() {
  retirements.clear();
  const auto is_small = [&](BodyId id) { return state.bodies[id.index].small.has_value(); };
  if (std::none_of(state.body_order.begin(), state.body_order.end(), is_small)) return;
  std::vector<std::uint8_t> is_pressed(state.bodies.size(), 0);
  for (const auto& [a, b] : state.touching) {
    if (gives_way(a) && gives_way(b)) is_pressed[a.index] = is_pressed[b.index] = 1;
  }
  std::vector<BodyId> due;
  for (const BodyId id : state.body_order) {
    const BodyRecord& record = state.bodies[id.index];
    if (!record.small || !record.is_committed) continue;
    const double age = state.time - record.small->since;
    const bool is_over = age >= static_cast<double>(record.small->rule.gone_after);
    const bool turns = record.solid_def && age >= static_cast<double>(record.small->rule.rigid_after) &&
                       !is_pressed[id.index] && solid.is_awake(id.index) && !solid.is_frozen(id.index);
    if (is_over || turns) due.push_back(id);
  }
  for (const BodyId id : due) retire(id);
  if (!due.empty()) queries_stale = true;
}

void World::Impl::retire(BodyId piece) {
  if (solid.has(piece.index) && (!solid.is_loose(piece.index) || particle.has_ties_to(piece))) return;
  const SmallPiece small = *state.bodies[piece.index].small;
  if (!(state.time - small.since >= static_cast<double>(small.rule.gone_after))) return make_rigid(piece);
  const Vec3 center =
      with_engine(piece.index, [&](const auto& engine) { return engine.state(piece.index); }).center_of_mass;
  retirements.push_back({.piece = piece, .position = center});
  take_away(piece);
}

void World::Impl::take_away(BodyId piece) {
  forget(piece);
  edits.push_back(edit::RemoveBody{piece.index});
  commit_edits();
}

/// Another body with another id, so that nobody takes the one for the other. A piece without a hull stays as it is.
void World::Impl::make_rigid(BodyId piece) {
  auto def = std::make_shared<const RigidDef>(solid.rigid_twin(piece.index));
  Result<std::shared_ptr<const RigidShape>> shape = make_rigid_shape(*def);
  BodyRecord record{.def = def,
                    .origin = state.bodies[piece.index].origin,
                    .small = state.bodies[piece.index].small,
                    .allow_sleep = state.bodies[piece.index].allow_sleep};
  if (!shape) return state.bodies[piece.index].small.reset();
  const Vec3 center = solid.state(piece.index).center_of_mass;
  take_away(piece);
  const BodyId id = make_body(std::move(record));
  apply(edit::AddBody{id, std::move(def), std::move(*shape)});
  retirements.push_back({.piece = piece, .rigid = id, .position = center});
}

float World::Impl::opacity(const BodyRecord& record) const {
  if (!record.small || !(record.small->rule.gone_after < kInfinity)) return 1;
  const double left = record.small->since + static_cast<double>(record.small->rule.gone_after) - state.time;
  const double fade = static_cast<double>(record.small->rule.fade);
  return fade > 0 ? static_cast<float>(std::clamp(left / fade, 0.0, 1.0)) : 1.0f;
}

}  // namespace pliant
