// Saving and bringing back the state of all particle bodies.
#include <algorithm>

#include "particle/particle_body.h"

namespace pliant {

struct ParticleSnapshot {
  struct SavedBody {
    BodyId id;
    std::shared_ptr<const ParticleDef> def;
    std::shared_ptr<const ParticleModel> model;
    ParticleSettings settings;
    Chains::Memory chains;
    std::vector<std::uint8_t> held, anchored;
    std::vector<DrivenParticle> driven;
    std::vector<Vec4> x, v, jelly_memory;
    std::vector<Vec3> forces;
    std::vector<std::vector<ContactGroup>> touches;
  };
  std::vector<SavedBody> bodies;  ///< in the order of their nodes
  std::vector<ParticleEngine::Anchor> anchors;
  std::vector<NodeContact> rigid_contacts;
  std::vector<PointContact> point_contacts;
  SurfaceMeetings::Memory meetings;
  RigidMeetings::Memory rigid_meetings;
};

std::shared_ptr<const ParticleSnapshot> ParticleEngine::snapshot() const {
  auto out = std::make_shared<ParticleSnapshot>();
  std::vector<std::uint32_t> order(slots_);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return body(a).first < body(b).first; });
  for (const std::uint32_t slot : order) {
    const Body& b = body(slot);
    const auto part = [&](const auto& array) {
      return std::vector(array.begin() + b.first, array.begin() + b.first + b.capacity);
    };
    out->bodies.push_back({b.id,
                           b.def,
                           b.model,
                           b.settings,
                           b.chains.memory(),
                           b.held,
                           b.anchored,
                           b.driven,
                           part(x_),
                           part(v_),
                           {},
                           part(forces_),
                           b.touches});
    const std::span<Vec4> memory = bodies_[slot]->jelly_memory();
    out->bodies.back().jelly_memory.assign(memory.begin(), memory.end());
  }
  for (const auto& anchor : anchors_) {
    if (anchor) out->anchors.push_back(*anchor);
  }
  out->rigid_contacts = rigid_contacts_;
  out->point_contacts = point_contacts_;
  out->meetings = meetings_.memory();
  out->rigid_meetings = rigid_meetings_.memory();
  return out;
}

void ParticleEngine::restore(const ParticleSnapshot& snapshot) {
  // Bodies that are still there keep their colours and batches, which take long to find.
  std::vector<std::unique_ptr<Body>> before = std::move(bodies_);
  bodies_.clear(), slots_.clear(), anchors_.clear();
  x_.clear(), v_.clear(), masses_.clear(), forces_.clear();
  for (const ParticleSnapshot::SavedBody& saved : snapshot.bodies) {
    const std::uint32_t slot = saved.id.index;
    if (slot < before.size() && before[slot] && before[slot]->model == saved.model) {
      adopt_body(saved.id, std::move(before[slot]));
    } else {
      add_body(saved.id, saved.def, saved.model);
    }
    Body& b = body(slot);
    b.settings = saved.settings;
    b.chains.restore(saved.chains);
    b.held = saved.held, b.anchored = saved.anchored, b.driven = saved.driven;
    std::copy(saved.x.begin(), saved.x.end(), x_.begin() + b.first);
    std::copy(saved.v.begin(), saved.v.end(), v_.begin() + b.first);
    std::copy(saved.forces.begin(), saved.forces.end(), forces_.begin() + b.first);
    std::copy(saved.jelly_memory.begin(), saved.jelly_memory.end(), b.jelly_memory().begin());
    b.touches = saved.touches;
    b.forget_looks();
    b.set_stale();
  }
  for (const Anchor& saved : snapshot.anchors) {
    if (anchors_.size() <= saved.id.index) anchors_.resize(saved.id.index + 1);
    anchors_[saved.id.index] = std::make_unique<Anchor>(saved);
  }
  rigid_contacts_ = snapshot.rigid_contacts;
  point_contacts_ = snapshot.point_contacts;
  meetings_.restore(snapshot.meetings);
  rigid_meetings_.restore(snapshot.rigid_meetings);
  x_before_ = x_;
  anchor_rows_.clear(), tie_rows_.clear(), solid_ties_.clear(), tied_nodes_.clear(), contacts_.clear();
}

}  // namespace pliant
