// Edits of layered bodies: checking, queueing and carrying them out.
#include "world/world_impl.h"

namespace pliant {

Result<BodyId> World::Impl::add_layered(const LayeredDef& given) {
  LayeredDef def = given;
  const SolidSolver solver =
      solver_of({.tolerance = given.tolerance, .max_iterations = given.max_iterations}, given.material);
  def.tolerance = solver.tolerance, def.max_iterations = solver.max_iterations;
  const auto turn_down = [&](Error error) {
    error.field = error.field.empty() ? "add" : "add: " + error.field;
    return refuse(std::move(error));
  };
  if (Status status = check_def(def); !status) return turn_down(status.error());
  Result<std::shared_ptr<const LayeredLayer>> layer = LayeredLayer::make(def);
  if (!layer) return turn_down(layer.error());
  auto shared_def = std::make_shared<const LayeredDef>(std::move(def));
  const BodyId id = make_body({.layered_def = shared_def, .allow_sleep = shared_def->allow_sleep});
  edits.push_back(edit::AddLayered{id, std::make_unique<LayeredBody>(std::move(shared_def), std::move(*layer))});
  return id;
}

void World::Impl::apply(const edit::AddLayered& edit) {
  layered.add_body(edit.id, std::move(edit.body));
  if (state.bodies[edit.id.index].id == edit.id) state.bodies[edit.id.index].is_committed = true;
}

Result<BodyId> World::add(const LayeredDef& def) { return impl_->add_layered(def); }

Result<const LayeredDef*> World::layered_def(BodyId body) const {
  if (Status status = impl_->check(body, "layered_def"); !status) return status.error();
  const BodyRecord& record = impl_->state.bodies[body.index];
  if (record.layered_def) return record.layered_def.get();
  return Error{.message = "the body is not layered", .field = "layered_def"};
}

}  // namespace pliant
