// Adding, removing, reading and the stages of the step.
#include "solid/solid_engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/world_limits.h"
#include "solid/solid_engine_entry.h"
#include "solid/solid_measures.h"

namespace pliant {
namespace {

/// Cells; from how deep inside a thick body others are pushed out.
constexpr float kDeepest = 3;

bool is_within(const LaneVectors& vectors, float limit) {
  // A NaN fails every comparison.
  return std::all_of(vectors.floats().begin(), vectors.floats().end(),
                     [&](float value) { return value >= -limit && value <= limit; });
}

/// A half period of its slowest bending is about its length over the speed of sound, and as much longer as it is
/// slender: at most as slender as one cell is to its length.
float give_time_of(const SolidDef& def, float size, float cell) {
  const auto square_of_speed = [](const SolidMaterial& m) { return m.young_modulus / m.density; };
  float slowest = square_of_speed(def.material);
  for (const SolidMaterial& material : def.region_materials) slowest = std::min(slowest, square_of_speed(material));
  return size * size / (cell * std::sqrt(slowest));
}

}  // namespace

SolidEngine::SolidEngine(Workers& workers) : workers_(workers) {}
SolidEngine::~SolidEngine() = default;

void SolidEngine::add_body(BodyId id, std::unique_ptr<SolidBody> body) {
  const SolidDef& def = body->def();
  auto breaks = SolidFracture::is_breakable(def) ? std::make_unique<SolidFracture>(def) : nullptr;
  auto entry = std::make_unique<Entry>(std::move(body), std::move(breaks));
  entry->settings = {.friction = def.friction, .gravity_scale = def.gravity_scale, .filter = def.filter};
  insert(id, std::move(entry));
}

SolidEngine::Entry::Entry(std::unique_ptr<SolidBody> solid, std::unique_ptr<SolidFracture> breaks)
    : body(std::move(solid)), fracture(std::move(breaks)) {
  const TetMesh& mesh = body->def().mesh;
  list_faces();
  face_starts.assign(mesh.nodes.size() + 1, 0);
  for (const Face& face : faces) {
    for (const std::uint32_t node : face) ++face_starts[node + 1];
  }
  std::partial_sum(face_starts.begin(), face_starts.end(), face_starts.begin());
  faces_of_node.resize(3 * faces.size());
  std::vector<std::uint32_t> next(face_starts.begin(), face_starts.end() - 1);
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    for (const std::uint32_t node : faces[f]) faces_of_node[next[node]++] = f;
  }
  is_inner.assign(mesh.nodes.size(), 0);
  for (std::size_t node = 0; node < is_inner.size(); ++node) {
    is_inner[node] = face_starts[node] == face_starts[node + 1] ? 1 : 0;
  }
  cell = static_cast<float>(std::cbrt(mesh.volume() / static_cast<double>(mesh.tets.size())));
  // Beyond the middle one would be pushed out at the far side.
  const Vec3 size = mesh.bounds().size();
  give_time = give_time_of(body->def(), length(size), cell);
  deepest = std::max(cell, std::min(kDeepest * cell, 0.4f * std::min({size.x, size.y, size.z})));
}

/// The faces of one tet alone, outward; in the order of the tets where they are known already.
void SolidEngine::Entry::list_faces() {
  if (!fracture) {
    std::vector<std::uint32_t> surface_nodes;
    const TriMesh surface = extract_surface(body->def().mesh, &surface_nodes);
    for (Face face : surface.faces) {
      for (std::uint32_t& vertex : face) vertex = surface_nodes[vertex];
      faces.push_back(face);
    }
    return;
  }
  constexpr std::size_t kOutward[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const FractureTopology& topology = fracture->topology();
  const auto corners = static_cast<std::uint32_t>(4 * topology.tets().size());
  std::size_t count = 0;
  for (std::uint32_t corner = 0; corner < corners; ++corner) {
    count += topology.neighbour(corner) == FractureTopology::kNone ? 1 : 0;
  }
  faces.reserve(count);
  for (std::uint32_t corner = 0; corner < corners; ++corner) {
    if (topology.neighbour(corner) != FractureTopology::kNone) continue;
    const Tet& tet = topology.tets()[corner / 4];
    const auto& order = kOutward[corner % 4];
    faces.push_back({tet[order[0]], tet[order[1]], tet[order[2]]});
  }
}

void SolidEngine::insert(BodyId id, std::unique_ptr<Entry> entry) {
  entry->id = id;
  if (entry->revision == 0) entry->revision = ++added_;
  if (entries_.size() <= id.index) entries_.resize(id.index + 1);
  entries_[id.index] = std::move(entry);
  slots_.insert(std::lower_bound(slots_.begin(), slots_.end(), id.index), id.index);
}

void SolidEngine::remove_body(std::uint32_t slot) {
  entries_[slot].reset();
  slots_.erase(std::lower_bound(slots_.begin(), slots_.end(), slot));
}

// --- The step
// ----------------------------------------------------------------------------------------------------------

void SolidEngine::begin_step(float dt) {
  contacts_.clear();
  report_ = {};
  for_bodies([&](std::size_t i, Workers&) {
    Entry& solid = entry(slots_[i]);
    if (!solid.is_active() && solid.driven.empty()) return;
    solid.positions_before = solid.body->state().positions;
    solid.velocities_before = solid.body->state().velocities;
    for (const DrivenNode& driven : solid.driven) {
      solid.body->set_held_velocity(driven.node, (driven.target - solid.body->position(driven.node)) / dt);
    }
  });
}

void SolidEngine::predict(Vec3 wind, float dt) {
  for_bodies([&](std::size_t i, Workers& workers) {
    Entry& solid = entry(slots_[i]);
    if (!solid.is_active()) return;
    drag(solid, wind, dt);
    solid.body->assemble(workers, dt);
  });
}

void SolidEngine::predict(std::uint32_t slot, Vec3 gravity, float dt) {
  Entry& solid = entry(slot);
  if (!solid.is_active()) return;
  solid.body->assemble(workers_, dt);
  woken_ = true;
  solid.touches.clear();
  find_touches(workers_, solid, obstacles_, gravity, dt);
}

void SolidEngine::advance(float dt) {
  if (contact_ == SolidContact::Damped) find_free_shares(dt);
  for_bodies([&](std::size_t i, Workers& workers) {
    Entry& solid = entry(slots_[i]);
    if (!solid.is_active()) return;
    solid.body->advance(workers, contact_ == SolidContact::Damped ? dt * free_shares_[i] : dt);
    solid.set_stale();
  });
}

void SolidEngine::settle(float dt) {
  for_bodies([&](std::size_t i, Workers& workers) {
    if (entry(slots_[i]).is_active()) entry(slots_[i]).body->settle(workers, dt);
  });
}

void SolidEngine::end_step() {
  for (const std::uint32_t slot : slots_) {
    Entry& solid = entry(slot);
    solid.body->clear_forces();
    for (const DrivenNode& driven : solid.driven) solid.body->set_held_velocity(driven.node, {});
    solid.driven.clear();
    solid.drag.clear();
    report_.nodes += solid.body->node_count();
    report_.tets += solid.body->tet_count();
  }
}

void SolidEngine::find_lost(std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (!solid.is_active()) continue;
    const SolidState& state = solid.body->state();
    if (!is_within(state.positions, kMaxDistance) || !is_within(state.velocities, kMaxSpeed)) slots.push_back(slot);
  }
}

void SolidEngine::freeze(std::uint32_t slot) {
  Entry& solid = entry(slot);
  SolidState& state = solid.body->state();
  state.positions = solid.positions_before;
  state.touches.clear();
  state.tangled = false;
  state.surplus = 0;
  state.exertion = 0;
  for (LaneVectors* vectors : {&state.velocities, &state.change}) {
    std::fill(vectors->floats().begin(), vectors->floats().end(), 0.0f);
  }
  solid.body->reset_rotations();
  solid.settings.frozen = true;
  solid.set_stale();
}

void SolidEngine::thaw(std::uint32_t slot) { entry(slot).settings.frozen = false; }

void SolidEngine::set_awake(std::uint32_t slot, bool awake) {
  Entry& solid = entry(slot);
  solid.settings.awake = awake;
  if (awake) return;
  for (LaneVectors* vectors : {&solid.body->state().velocities, &solid.body->state().change}) {
    std::fill(vectors->floats().begin(), vectors->floats().end(), 0.0f);
  }
  solid.set_stale();
}

// --- Reading
// -----------------------------------------------------------------------------------------------------------

BodyId SolidEngine::id(std::uint32_t slot) const { return entry(slot).id; }
const SolidBody& SolidEngine::body(std::uint32_t slot) const { return *entry(slot).body; }
bool SolidEngine::is_awake(std::uint32_t slot) const { return entry(slot).is_active(); }
bool SolidEngine::is_frozen(std::uint32_t slot) const { return entry(slot).settings.frozen; }

bool SolidEngine::is_calm(std::uint32_t slot, float speed) const {
  // Corners of a body that rocks are several times faster than most of it, and a node that comes to lie on another
  // body's edge may never find rest: to wait for each of them would keep a pile of soft bodies awake for long.
  constexpr float kFastest = 10;
  const LaneVectors& velocities = entry(slot).body->state().velocities;
  const Float8 limit = broadcast(kFastest * kFastest * speed * speed);
  double sum = 0;
  for (std::size_t g = 0; g < velocities.groups(); ++g) {
    const LaneVec3<Float8> v = velocities.group(g);
    const Float8 squared = dot(v, v);
    if (any(!(squared <= limit))) return false;
    for (std::size_t lane = 0; lane < 8; ++lane) sum += static_cast<double>(squared[lane]);
  }
  const auto count = static_cast<double>(entry(slot).body->node_count());
  return sum <= count * static_cast<double>(speed) * static_cast<double>(speed);
}

BodyState SolidEngine::state(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  BodyState state = rigid_fit(*solid.body);
  state.bounds = solid.body->bounds();
  state.awake = solid.is_active();
  state.quarantined = solid.settings.frozen;
  return state;
}

bool SolidEngine::touches(std::uint32_t slot, BodyId other) const {
  const auto& memory = entry(slot).body->state().touches;
  return std::any_of(memory.begin(), memory.end(),
                     [&](const NodeTouchMemory& m) { return m.other == other && length_squared(m.impulse) > 0; });
}

std::span<const Vec3> SolidEngine::node_positions(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  if (!solid.positions_fresh) {
    solid.positions.resize(solid.body->node_count());
    for (std::uint32_t i = 0; i < solid.positions.size(); ++i) solid.positions[i] = solid.body->position(i);
    solid.positions_fresh = true;
  }
  return solid.positions;
}

std::span<const Vec3> SolidEngine::node_velocities(std::uint32_t slot) const {
  const Entry& solid = entry(slot);
  if (!solid.velocities_fresh) {
    solid.velocities.resize(solid.body->node_count());
    for (std::uint32_t i = 0; i < solid.velocities.size(); ++i) solid.velocities[i] = solid.body->velocity(i);
    solid.velocities_fresh = true;
  }
  return solid.velocities;
}

std::span<const Face> SolidEngine::faces(std::uint32_t slot) const { return entry(slot).faces; }

std::vector<float> SolidEngine::tet_values(std::uint32_t slot, TetValue value) const {
  return measure_tets(*entry(slot).body, value);
}

Vec3 SolidEngine::held_force(std::uint32_t slot, std::span<const std::uint32_t> nodes) const {
  Vec3 total;
  for (const std::uint32_t node : nodes) {
    if (entry(slot).body->is_held(node)) total += entry(slot).body->reaction(node);
  }
  return total;
}

void SolidEngine::add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3],
                              double (&angular)[3]) const {
  for_bodies([&](std::size_t i, Workers&) {
    const Entry& solid = entry(slots_[i]);
    if (!solid.totals_fresh) solid.totals = solid.body->totals(), solid.totals_fresh = true;
  });
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (solid.settings.frozen) continue;
    const SolidTotals& t = solid.totals;
    kinetic += t.kinetic;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      potential -= t.mass * static_cast<double>(gravity[k] * solid.settings.gravity_scale) * t.center[k];
      linear[k] += t.momentum[k];
      angular[k] += t.spin[k] + t.center[i] * t.momentum[j] - t.center[j] * t.momentum[i];
    }
  }
}

double SolidEngine::elastic_energy() const {
  for_bodies([&](std::size_t i, Workers& workers) {
    const Entry& solid = entry(slots_[i]);
    if (!solid.energy_fresh) solid.energy = measure_energy(workers, *solid.body, energy_parts_);
    solid.energy_fresh = true;
  });
  double total = 0;
  for (const std::uint32_t slot : slots_) total += entry(slot).energy;
  return total;
}

void SolidEngine::add_to_hash(Hasher& hasher) const {
  for_bodies([&](std::size_t i, Workers&) {
    const Entry& solid = entry(slots_[i]);
    if (!solid.hash_fresh || solid.is_active()) solid.hash = hash_of(solid), solid.hash_fresh = true;
  });
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    hasher.add(slot);
    hasher.add(solid.hash);
    hasher.add(solid.settings.awake);
    hasher.add(solid.settings.frozen);
  }
}

std::uint64_t SolidEngine::hash_of(const Entry& solid) {
  Hasher hasher;
  const auto add = [&](const std::vector<float>& floats) { hasher.add_array(std::span<const float>(floats)); };
  const SolidState& state = solid.body->state();
  add(state.positions.floats()), add(state.velocities.floats()), add(state.change.floats());
  add(solid.body->elements().rotations()), add(solid.body->elements().rest_strains());
  for (const NodeTouchMemory& touch : state.touches) {
    if (!(length_squared(touch.impulse) > 0)) continue;
    hasher.add(touch.slot);
    for (std::size_t k = 0; k < 3; ++k) hasher.add(touch.impulse[k]);
  }
  hasher.add(state.tangled);
  hasher.add(state.surplus);
  hasher.add(state.exertion);
  if (solid.fracture) hasher.add(solid.fracture->random()), hasher.add(solid.fracture->topology().node_count());
  if (solid.fracture) add(solid.fracture->factors());
  return hasher.value();
}

}  // namespace pliant
