// Adding, removing, reading and the stages of the step.
#include "layered/layered_engine.h"

#include <algorithm>
#include <cmath>

#include "base/world_limits.h"
#include "layered/layered_engine_entry.h"

namespace pliant {
namespace {

void add_floats(Hasher& hasher, const LaneVectors& vectors) {
  hasher.add_array(std::span<const float>(vectors.floats()));
}

void stop(LayeredState& state) {
  state.velocity = {};
  std::fill(state.elastic_velocity.floats().begin(), state.elastic_velocity.floats().end(), 0.0f);
}

}  // namespace

LayeredEngine::LayeredEngine(Workers& workers) : workers_(workers) {}
LayeredEngine::~LayeredEngine() = default;

void LayeredEngine::add_body(BodyId id, std::unique_ptr<LayeredBody> body) {
  auto entry = std::make_unique<Entry>();
  const LayeredDef& def = body->def();
  entry->id = id;
  entry->settings = {.friction = def.friction, .gravity_scale = def.gravity_scale, .filter = def.filter};
  entry->body = std::move(body);
  entry->before = entry->body->state();
  entry->revision = ++revisions_;
  entry->guest = std::make_unique<LayeredGuest>(*entry->body);
  insert(id, std::move(entry));
}

void LayeredEngine::insert(BodyId id, std::unique_ptr<Entry> entry) {
  if (entries_.size() <= id.index) entries_.resize(id.index + 1);
  entries_[id.index] = std::move(entry);
  slots_.insert(std::lower_bound(slots_.begin(), slots_.end(), id.index), id.index);
}

void LayeredEngine::remove_body(std::uint32_t slot) {
  entries_[slot].reset();
  slots_.erase(std::lower_bound(slots_.begin(), slots_.end(), slot));
}

// --- The step
// ---------------------------------------------------------------------------------------------------------

void LayeredEngine::begin_step(float) {
  contacts_.clear();
  report_ = {};
  for (const std::uint32_t slot : slots_) {
    if (entry(slot).is_active()) entry(slot).before = entry(slot).body->state();
  }
}

void LayeredEngine::advance(float dt) {
  for (const std::uint32_t slot : slots_) {
    Entry& layered = entry(slot);
    if (!layered.is_active()) continue;
    layered.body->advance(workers_, dt);
    layered.set_stale();
  }
}

void LayeredEngine::settle(float dt) {
  for (const std::uint32_t slot : slots_) {
    if (entry(slot).is_active()) entry(slot).body->settle(workers_, dt);
  }
}

void LayeredEngine::end_step() {
  for (const std::uint32_t slot : slots_) {
    Entry& layered = entry(slot);
    layered.force = layered.torque = {};
    layered.node_forces.clear();
    report_.nodes += layered.body->node_count();
    report_.tets += layered.body->layer().tet_count();
  }
}

void LayeredEngine::find_lost(std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (!layered.is_active()) continue;
    const LayeredState& state = layered.body->state();
    const bool is_near = length(state.position) <= static_cast<double>(kMaxDistance) &&
                         length(part_of(state.velocity, 0)) <= static_cast<double>(kMaxSpeed);
    if (!is_near || !layered.body->is_finite()) slots.push_back(slot);
  }
}

void LayeredEngine::freeze(std::uint32_t slot) {
  Entry& layered = entry(slot);
  layered.body->state() = layered.before;
  layered.body->state().touches.clear();
  stop(layered.body->state());
  layered.settings.frozen = true;
  layered.set_stale();
}

void LayeredEngine::thaw(std::uint32_t slot) { entry(slot).settings.frozen = false; }

void LayeredEngine::set_awake(std::uint32_t slot, bool awake) {
  Entry& layered = entry(slot);
  layered.settings.awake = awake;
  if (awake) return;
  stop(layered.body->state());
  layered.set_stale();
}

// --- Reading
// ----------------------------------------------------------------------------------------------------------

BodyId LayeredEngine::id(std::uint32_t slot) const { return entry(slot).id; }
const LayeredBody& LayeredEngine::body(std::uint32_t slot) const { return *entry(slot).body; }
bool LayeredEngine::is_awake(std::uint32_t slot) const { return entry(slot).is_active(); }
bool LayeredEngine::is_frozen(std::uint32_t slot) const { return entry(slot).settings.frozen; }

bool LayeredEngine::is_calm(std::uint32_t slot, float speed) const {
  const auto most = speed * speed;
  const std::span<const Vec3> velocities = node_velocities(slot);
  return std::all_of(velocities.begin(), velocities.end(), [&](Vec3 v) { return length_squared(v) <= most; }) &&
         length(part_of(body(slot).state().velocity, 0)) <= static_cast<double>(speed);
}

BodyState LayeredEngine::state(std::uint32_t slot) const {
  const Entry& layered = entry(slot);
  if (!layered.totals_fresh) layered.totals = layered.body->totals(workers_), layered.totals_fresh = true;
  const LayeredTotals& t = layered.totals;
  BodyState state;
  state.world_from_body = layered.body->world_from_body();
  state.velocity = (t.momentum / t.mass).to_float();
  state.angular_velocity = t.angular_velocity.to_float();
  state.center_of_mass = t.center.to_float();
  state.bounds = bounds(slot);
  state.mass = static_cast<float>(t.mass);
  state.awake = layered.is_active();
  state.quarantined = layered.settings.frozen;
  return state;
}

Aabb LayeredEngine::bounds(std::uint32_t slot) const {
  node_positions(slot);
  return entry(slot).box;
}

std::span<const Face> LayeredEngine::faces(std::uint32_t slot) const { return body(slot).def().atlas.surface.faces; }

bool LayeredEngine::touches(std::uint32_t slot, BodyId other) const {
  const auto& memory = body(slot).state().touches;
  return std::any_of(memory.begin(), memory.end(), [&](const NodeTouchMemory& m) { return m.other == other; });
}

std::span<const Vec3> LayeredEngine::node_positions(std::uint32_t slot) const {
  const Entry& layered = entry(slot);
  if (!layered.positions_fresh) {
    layered.body->copy_positions(workers_, layered.positions);
    layered.box = {};
    for (const Vec3 x : layered.positions) layered.box.include(x);
    layered.positions_fresh = true;
  }
  return layered.positions;
}

std::span<const Vec3> LayeredEngine::node_velocities(std::uint32_t slot) const {
  const Entry& layered = entry(slot);
  if (!layered.velocities_fresh) layered.body->copy_velocities(workers_, layered.velocities);
  layered.velocities_fresh = true;
  return layered.velocities;
}

void LayeredEngine::add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3],
                                double (&angular)[3]) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (layered.settings.frozen) continue;
    state(slot);  // brings the totals up to date
    const LayeredTotals& t = layered.totals;
    const Vec3d turning = t.spin + cross(t.center, t.momentum);
    kinetic += t.kinetic;
    potential -= t.mass * dot(Vec3d(gravity * layered.settings.gravity_scale), t.center);
    for (std::size_t k = 0; k < 3; ++k) linear[k] += t.momentum[k], angular[k] += turning[k];
  }
}

double LayeredEngine::elastic_energy() const {
  double total = 0;
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (!layered.energy_fresh) layered.energy = layered.body->elastic_energy(workers_), layered.energy_fresh = true;
    total += layered.energy;
  }
  return total;
}

void LayeredEngine::add_to_hash(Hasher& hasher) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (!layered.hash_fresh) {
      Hasher own;
      const LayeredState& state = layered.body->state();
      for (std::size_t k = 0; k < 3; ++k) own.add(state.position[k]);
      for (const float value : {state.rotation.x, state.rotation.y, state.rotation.z, state.rotation.w}) own.add(value);
      for (const double value : state.velocity) own.add(value);
      add_floats(own, state.displacement), add_floats(own, state.plastic), add_floats(own, state.elastic_velocity);
      for (const NodeTouchMemory& touch : state.touches) {
        own.add(touch.slot);
        for (std::size_t k = 0; k < 3; ++k) own.add(touch.impulse[k]);
      }
      layered.hash = own.value(), layered.hash_fresh = true;
    }
    hasher.add(slot);
    hasher.add(layered.hash);
    hasher.add(layered.settings.awake);
    hasher.add(layered.settings.frozen);
  }
}

// --- Snapshots
// --------------------------------------------------------------------------------------------------------

struct LayeredSnapshot {
  struct Body {
    BodyId id;
    std::shared_ptr<const LayeredDef> def;
    std::shared_ptr<const LayeredLayer> layer;
    LayeredSettings settings;
    LayeredState state;
    Vec3 force, torque;
    std::vector<std::pair<std::uint32_t, Vec3>> node_forces, pushes;
  };
  std::vector<Body> bodies;
};

std::shared_ptr<const LayeredSnapshot> LayeredEngine::snapshot() const {
  auto out = std::make_shared<LayeredSnapshot>();
  for (const std::uint32_t slot : slots_) {
    const Entry& e = entry(slot);
    out->bodies.push_back({e.id, e.body->shared_def(), e.body->shared_layer(), e.settings, e.body->state(), e.force,
                           e.torque, e.node_forces, e.body->pushes()});
  }
  return out;
}

void LayeredEngine::restore(const LayeredSnapshot& snapshot) {
  entries_.clear();
  slots_.clear();
  for (const LayeredSnapshot::Body& saved : snapshot.bodies) {
    add_body(saved.id, std::make_unique<LayeredBody>(saved.def, saved.layer));
    Entry& e = entry(saved.id.index);
    e.settings = saved.settings;
    e.body->state() = saved.state;
    e.before = saved.state;
    e.force = saved.force, e.torque = saved.torque;
    e.node_forces = saved.node_forces;
    e.body->pushes() = saved.pushes;
  }
  contacts_.clear();
}

}  // namespace pliant
