// Saving and bringing back the state of all solids.
#include <optional>
#include <vector>

#include "solid/solid_engine_entry.h"

namespace pliant {

struct SolidSnapshot {
  struct Body {
    BodyId id;
    std::shared_ptr<const SolidDef> def;
    SolidSettings settings;
    SolidMemory memory;
    std::vector<DrivenNode> driven;
    std::optional<SolidFracture::Memory> fracture;
  };
  std::vector<Body> bodies;
  std::vector<MeetingMemory> meetings;
  SolidMeetings::Memory searches;
  std::vector<RigidPush> pushes;
};

std::shared_ptr<const SolidSnapshot> SolidEngine::snapshot() const {
  auto out = std::make_shared<SolidSnapshot>();
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    out->bodies.push_back({solid.id, solid.body->shared_def(), solid.settings, solid.body->save(), solid.driven, {}});
    if (solid.fracture) out->bodies.back().fracture = solid.fracture->save();
  }
  out->meetings = meeting_memory_;
  out->searches = meetings_.memory();
  out->pushes = pushes_;
  return out;
}

void SolidEngine::restore(const SolidSnapshot& snapshot) {
  // Bodies that are still there keep their matrices, which take long to lay out.
  std::vector<std::unique_ptr<Entry>> before = std::move(entries_);
  entries_.clear();
  slots_.clear();
  for (const SolidSnapshot::Body& saved : snapshot.bodies) {
    const std::uint32_t slot = saved.id.index;
    if (slot < before.size() && before[slot] && before[slot]->body->shared_def() == saved.def) {
      before[slot]->id = saved.id;
      insert(saved.id, std::move(before[slot]));
    } else {
      add_body(saved.id, std::make_unique<SolidBody>(saved.def));
    }
    Entry& solid = entry(slot);
    solid.settings = saved.settings;
    solid.driven = saved.driven;
    solid.touches.clear();
    solid.body->load(saved.memory);
    if (solid.fracture) solid.fracture->load(*saved.fracture);
    solid.set_stale();
  }
  meeting_memory_ = snapshot.meetings;
  pushes_ = snapshot.pushes;
  meetings_.restore(snapshot.searches);
  contacts_.clear();
}

}  // namespace pliant
