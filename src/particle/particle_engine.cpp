// Adding, removing and reading.
#include "particle/particle_engine.h"

#include <algorithm>
#include <cmath>

#include "base/world_limits.h"
#include "math/point_masses.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

bool is_within(Vec3 v, float limit) {
  // Written so that NaN is outside.
  return std::abs(v.x) <= limit && std::abs(v.y) <= limit && std::abs(v.z) <= limit;
}

}  // namespace

ParticleEngine::ParticleEngine(Workers& workers) : workers_(workers), loaded_(std::make_unique<LoadedRows>()) {}
ParticleEngine::~ParticleEngine() = default;

std::span<Vec4> ParticleEngine::positions(const Body& b) { return std::span(x_).subspan(b.first, b.count); }
std::span<Vec4> ParticleEngine::velocities(const Body& b) { return std::span(v_).subspan(b.first, b.count); }
std::span<const Vec4> ParticleEngine::positions(const Body& b) const { return std::span(x_).subspan(b.first, b.count); }
std::span<const Vec4> ParticleEngine::velocities(const Body& b) const {
  return std::span(v_).subspan(b.first, b.count);
}
std::span<const float> ParticleEngine::masses(const Body& b) const {
  return std::span(masses_).subspan(b.first, b.count);
}

void ParticleEngine::add_body(BodyId id, std::shared_ptr<const ParticleDef> def,
                              std::shared_ptr<const ParticleModel> model) {
  const ParticleCommon common = common_of(*def);
  auto added = std::make_unique<Body>();
  Body& b = *added;
  b.id = id;
  b.settings = {.friction = common.friction, .gravity_scale = common.gravity_scale, .filter = common.filter};
  b.first = static_cast<std::uint32_t>(x_.size());
  b.count = static_cast<std::uint32_t>(model->rest.size());
  b.capacity = model->tear ? model->tear->most_nodes : b.count;
  b.chains = Chains(model->lines, b.count);
  b.springs = SpringRows(model->springs, b.count);
  b.line_bends = BendLines(model->line_bends, b.count);
  b.hinges = BendRows(model->hinges, b.count);
  make_jelly(b, *model);
  b.held.assign(b.capacity, 0), b.anchored.assign(b.capacity, 0);

  const Transform world_from_body{common.position, common.rotation.normalized()};
  Vec3 center{};
  float mass = 0;
  for (std::uint32_t i = 0; i < b.count; ++i) center += model->rest[i] * model->masses[i], mass += model->masses[i];
  center = world_from_body * (center / mass);
  for (std::uint32_t i = 0; i < b.count; ++i) {
    const Vec3 x = world_from_body * model->rest[i];
    const Vec3 v = common.velocity + cross(common.angular_velocity, x - center);
    x_.push_back({x.x, x.y, x.z, 0});
    v_.push_back({v.x, v.y, v.z, 1 / model->masses[i]});
    masses_.push_back(model->masses[i]);
  }
  x_.resize(b.first + b.capacity), v_.resize(x_.size()), masses_.resize(x_.size());
  forces_.resize(x_.size());
  x_before_ = x_;
  b.def = std::move(def);
  b.model = std::move(model);
  insert(id, std::move(added));
  for (const HeldNodes& held : common.held) {
    if (const auto nodes = select_nodes(b.model->rest, held.nodes)) hold(id.index, *nodes, true);
  }
}

void ParticleEngine::make_jelly(Body& b, const ParticleModel& model) {
  if (const auto* rest = std::get_if<MassSpringRest>(&model.jelly)) b.jelly = MassSpring::create(*rest).value();
  if (const auto* rest = std::get_if<PositionBasedRest>(&model.jelly)) b.jelly = PositionBased::create(*rest).value();
  if (const auto* rest = std::get_if<ShapeMatchingRest>(&model.jelly)) b.jelly = ShapeMatching::create(*rest).value();
}

void ParticleEngine::insert(BodyId id, std::unique_ptr<Body> added) {
  if (bodies_.size() <= id.index) bodies_.resize(id.index + 1);
  bodies_[id.index] = std::move(added);
  slots_.insert(std::lower_bound(slots_.begin(), slots_.end(), id.index), id.index);
}

void ParticleEngine::adopt_body(BodyId id, std::unique_ptr<Body> known) {
  known->id = id;
  known->first = static_cast<std::uint32_t>(x_.size());
  const std::vector<float>& masses = known->model->masses;
  masses_.insert(masses_.end(), masses.begin(), masses.end());
  masses_.resize(known->first + known->capacity);
  x_.resize(masses_.size()), v_.resize(masses_.size()), forces_.resize(masses_.size());
  insert(id, std::move(known));
}

void ParticleEngine::remove_body(std::uint32_t slot) {
  const std::uint32_t first = body(slot).first, count = body(slot).capacity;
  const auto erase = [&](auto& array) { array.erase(array.begin() + first, array.begin() + first + count); };
  erase(x_), erase(v_), erase(masses_), erase(forces_), erase(x_before_);
  bodies_[slot].reset();
  slots_.erase(std::lower_bound(slots_.begin(), slots_.end(), slot));
  for (const std::uint32_t other : slots_) {
    if (body(other).first > first) body(other).first -= count;
  }
  std::erase_if(rigid_contacts_, [&](const NodeContact& row) { return row.slot == slot; });
  std::erase_if(point_contacts_, [&](const PointContact& row) { return row.slot == slot; });
  for (NodeContact& row : rigid_contacts_) row.node -= row.node > first ? count : 0;
  for (auto& anchor : anchors_) {
    if (anchor && (anchor->slot == slot || (anchor->kind == AnchorKind::Nodes && anchor->to.index == slot)))
      anchor.reset();
  }
  anchor_rows_.clear(), tie_rows_.clear(), solid_ties_.clear(), tied_nodes_.clear();
  meetings_.forget(), rigid_meetings_.forget();
}

void ParticleEngine::find_lost(std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    if (!b.is_active()) continue;
    bool is_lost = false;
    for (std::uint32_t i = b.first; i < b.first + b.count && !is_lost; ++i) {
      is_lost = !is_within(x_[i].xyz(), kMaxDistance) || !is_within(v_[i].xyz(), kMaxSpeed);
    }
    if (is_lost) slots.push_back(slot);
  }
}

void ParticleEngine::rest_nodes(Body& b) {
  for (std::uint32_t i = b.first; i < b.first + b.count; ++i) v_[i].x = v_[i].y = v_[i].z = 0;
  b.set_stale();
}

void ParticleEngine::freeze(std::uint32_t slot) {
  Body& b = body(slot);
  std::copy_n(x_before_.begin() + b.first, b.count, x_.begin() + b.first);
  rest_nodes(b);
  b.forget_looks();
  b.chains.forget_impulses();
  b.touches.clear();
  std::erase_if(rigid_contacts_, [&](const NodeContact& row) { return row.slot == slot; });
  meetings_.forget(), rigid_meetings_.forget();
  b.settings.frozen = true;
}

void ParticleEngine::thaw(std::uint32_t slot) { body(slot).settings.frozen = false; }

void ParticleEngine::set_awake(std::uint32_t slot, bool awake) {
  body(slot).settings.awake = awake;
  if (!awake) rest_nodes(body(slot));
}

BodyId ParticleEngine::id(std::uint32_t slot) const { return body(slot).id; }
const ParticleModel& ParticleEngine::model(std::uint32_t slot) const { return *body(slot).model; }
bool ParticleEngine::is_awake(std::uint32_t slot) const { return body(slot).is_active(); }
bool ParticleEngine::is_frozen(std::uint32_t slot) const { return body(slot).settings.frozen; }

bool ParticleEngine::has_awake_bodies() const {
  return std::any_of(slots_.begin(), slots_.end(), [&](std::uint32_t slot) { return body(slot).is_active(); });
}

float ParticleEngine::longest_substep() const {
  float longest = kInfinity;
  for (const std::uint32_t slot : slots_) {
    if (body(slot).is_active()) longest = std::min(longest, body(slot).model->longest_substep);
  }
  return longest;
}

bool ParticleEngine::is_calm(std::uint32_t slot, float speed) const {
  const std::span<const Vec4> v = velocities(body(slot));
  return std::all_of(v.begin(), v.end(), [&](const Vec4& n) { return length_squared(n.xyz()) <= speed * speed; });
}

Aabb ParticleEngine::bounds(std::uint32_t slot) const {
  Aabb box;
  for (const Vec4& x : positions(body(slot))) box.include(x.xyz());
  return box;
}

BodyState ParticleEngine::state(std::uint32_t slot) const {
  const Body& b = body(slot);
  const RigidFit fit = fit_rigid(positions(b), velocities(b), masses(b));
  const Quat rotation = fit_rotation(b.model->rest, positions(b), masses(b));
  Vec3 rest_center{};
  for (std::uint32_t i = 0; i < b.count; ++i) {
    rest_center += b.model->rest[i] * (b.model->masses[i] / static_cast<float>(fit.mass));
  }
  return {.world_from_body = {fit.center - rotation.rotate(rest_center), rotation},
          .velocity = fit.velocity,
          .angular_velocity = fit.angular_velocity,
          .center_of_mass = fit.center,
          .bounds = bounds(slot).expanded(b.model->radius),
          .mass = static_cast<float>(fit.mass),
          .awake = b.is_active(),
          .quarantined = b.settings.frozen};
}

namespace {

std::span<const Vec3> refresh(std::span<const Vec4> from, std::vector<Vec3>& to, bool& fresh) {
  if (!fresh) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i].xyz();
    fresh = true;
  }
  return to;
}

}  // namespace

std::span<const Vec3> ParticleEngine::node_positions(std::uint32_t slot) const {
  return refresh(positions(body(slot)), body(slot).positions, body(slot).positions_fresh);
}

std::span<const Vec3> ParticleEngine::node_velocities(std::uint32_t slot) const {
  return refresh(velocities(body(slot)), body(slot).velocities, body(slot).velocities_fresh);
}

std::span<const Face> ParticleEngine::faces(std::uint32_t slot) const { return body(slot).model->faces; }

std::span<const std::array<std::uint32_t, 2>> ParticleEngine::segments(std::uint32_t slot) const {
  return body(slot).model->segments;
}

bool ParticleEngine::is_held(std::uint32_t slot, std::uint32_t node) const { return body(slot).held[node] != 0; }

Vec3 ParticleEngine::held_force(std::uint32_t slot, std::span<const std::uint32_t> nodes) const {
  const Body& b = body(slot);
  std::vector<bool> asked(b.count, false);
  for (const std::uint32_t node : nodes) asked[node] = b.held[node] != 0;
  Vec3 pull{};
  b.chains.for_each_impulse([&](std::uint32_t from, std::uint32_t to, Vec3 impulse) {
    if (asked[to]) pull += impulse;
    if (asked[from]) pull -= impulse;
  });
  return last_substep_ > 0 ? pull / -last_substep_ : Vec3{};
}

std::array<BodyId, 2> ParticleEngine::anchored_bodies(std::uint32_t anchor_slot) const {
  if (anchor_slot >= anchors_.size() || !anchors_[anchor_slot]) return {};
  return {body(anchors_[anchor_slot]->slot).id, anchors_[anchor_slot]->to};
}

AnchorState ParticleEngine::anchor_state(std::uint32_t anchor_slot) const {
  const Anchor& anchor = *anchors_[anchor_slot];
  return {.force = anchor.force, .nodes = anchor.nodes.size()};
}

void ParticleEngine::add_momenta(Vec3 gravity, double& kinetic, double& potential, double (&linear)[3],
                                 double (&angular)[3]) const {
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    if (b.settings.frozen) continue;
    const RigidFit fit = fit_rigid(workers_, positions(b), velocities(b), masses(b), moment_parts_);
    kinetic += fit.kinetic;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      const double center = static_cast<double>(fit.center[k]);
      potential -= fit.mass * static_cast<double>(gravity[k] * b.settings.gravity_scale) * center;
      linear[k] += fit.mass * static_cast<double>(fit.velocity[k]);
      angular[k] +=
          fit.spin[k] + fit.mass * (static_cast<double>(fit.center[i]) * static_cast<double>(fit.velocity[j]) -
                                    static_cast<double>(fit.center[j]) * static_cast<double>(fit.velocity[i]));
    }
  }
}

void ParticleEngine::add_to_hash(Hasher& hasher) const {
  hasher.add_array(std::span<const Vec4>(x_));
  hasher.add_array(std::span<const Vec4>(v_));
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    hasher.add(slot);
    b.chains.add_to_hash(hasher);
    hasher.add_array(std::span<const Vec4>(bodies_[slot]->jelly_memory()));
    hasher.add(b.settings.awake);
    hasher.add(b.settings.frozen);
    hasher.add(b.settings.gas_impulse);
    hasher.add(b.settings.was_apart);
    hasher.add(b.settings.is_laden);
    for (const auto& part : b.touches) {
      for (const ContactGroup& group : part) {
        hasher.add(group.node);
        for (std::size_t i = 0; i < kLanes; ++i) hasher.add(float{group.normal_impulse[i]});
      }
    }
  }
  for (const SolidTie& tie : solid_ties_) {
    hasher.add(tie.tie.node);
    hasher.add(tie.tie.impulse.x), hasher.add(tie.tie.impulse.y), hasher.add(tie.tie.impulse.z);
  }
  for (const NodeContact& row : rigid_contacts_) {
    hasher.add(row.node);
    hasher.add(row.normal_impulse);
  }
  for (const FeatureContact& row : meetings_.contacts()) {
    hasher.add(row.key);
    hasher.add(row.normal_impulse);
  }
}

}  // namespace pliant
