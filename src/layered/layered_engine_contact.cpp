// Layered bodies against others: finding touches, solving, and what islands are told of them. Rays against them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/primitives.h"
#include "layered/layered_engine_entry.h"

namespace pliant {
namespace {

/// Share of a cell within which a node is watched, moving or not.
constexpr float kMargin = 0.1f;
/// Share of a cell by which skins are thicker where they meet other surfaces.
constexpr float kRadius = 0.01f;

/// What the surface meets with its back or edge on: a box that has sunk in a little, with its side.
bool is_passed_by(const LayeredBody& body, const NodeTouch& touch) {
  constexpr float kShallow = 0.25f, kSideways = 0.1f;
  if (touch.gap < -kShallow * body.layer().cell()) return false;
  const Vec3 inward = body.state().rotation.rotate(body.layer().inward().get(touch.node));
  return dot(touch.normal, inward) < kSideways * length(inward);
}

/// A plane has no bounds; what is far above it is still told from what is near. Of all other obstacles nothing is.
struct StillPlane {
  Vec3 normal{};
  float offset = 0;

  explicit StillPlane(const Obstacle& obstacle) {
    const auto* plane = std::get_if<Plane>(obstacle.shape.get());
    if (!plane || obstacle.moves) return;
    const Vec3 up = normalized(plane->normal);
    normal = obstacle.world_from_shape.rotation.rotate(up);
    offset = plane->offset + dot(normal, obstacle.world_from_shape.position);
  }
  float height(Vec3 point) const { return dot(normal, point) - offset; }
};

}  // namespace

/// m/s², by the forces on a body, without gravity: one that begins in this substep moves it as far as gravity does.
Vec3 LayeredEngine::acceleration(const Entry& layered) const {
  Vec3 force = layered.force;
  for (const auto& [node, on_node] : layered.node_forces) force += on_node;
  if (force == Vec3{}) return {};
  return force / static_cast<float>(layered.body->totals(workers_).mass);
}

void LayeredEngine::find_contacts(std::span<const Obstacle> obstacles, Vec3 gravity, float dt) {
  obstacle_probes_.clear();
  obstacles_ = obstacles;
  if (slots_.empty()) return;
  for (const Obstacle& obstacle : obstacles) obstacle_probes_.push_back(&probes_.of(obstacle.shape));
  for (const std::uint32_t slot : slots_) find_contacts(slot, gravity, dt);
}

void LayeredEngine::find_contacts(std::uint32_t slot, Vec3 gravity, float dt) {
  Entry& layered = entry(slot);
  layered.touches.clear();
  if (layered.is_active()) find_touches(layered, gravity, dt);
}

void LayeredEngine::find_touches(Entry& layered, Vec3 gravity, float dt) const {
  const std::uint32_t slot = layered.id.index;
  const std::span<const Vec3> x = node_positions(slot), v = node_velocities(slot);
  const Vec3 boost = dt * (layered.settings.gravity_scale * gravity + acceleration(layered));
  const auto against_core = [&](std::size_t node) { return length(v[node] - layered.body->core_velocity_at(x[node])); };
  float fastest = 0;
  for (std::size_t i = 0; i < v.size(); ++i) fastest = std::max(fastest, length(v[i] + boost) + against_core(i));
  if (!is_finite(layered.box.size()) || !std::isfinite(fastest)) return;
  const float margin = kMargin * layered.body->layer().cell(), farthest = margin + dt * fastest;
  const Aabb bounds = layered.box.expanded(farthest);
  for (std::size_t o = 0; o < obstacles_.size(); ++o) {
    const Obstacle& obstacle = obstacles_[o];
    if (!collide(layered.settings.filter, obstacle.filter) || !bounds.overlaps(obstacle.bounds)) continue;
    const float friction = std::sqrt(layered.settings.friction * obstacle.friction);
    const Aabb near_box = obstacle.bounds.expanded(farthest);
    const StillPlane ground(obstacle);
    const auto look = [&](std::uint32_t node, LookingNode& at) {
      if (!near_box.contains(x[node]) || ground.height(x[node]) > farthest) return false;
      at.x = x[node];
      at.surface_velocity = obstacle.velocity_at(at.x);
      at.approach = v[node] + boost - at.surface_velocity;
      // It may follow the core, too: where nodes beside it have been stopped already.
      at.watched = margin + dt * against_core(node);
      return true;
    };
    const auto keep = [&](NodeTouch& touch) {
      if (touch.gap < 0) keep_side(layered.body->state().touches, touch.node, touch);
      return !is_passed_by(*layered.body, touch);
    };
    layered.touch_search.find(workers_, x.size(), obstacle, *obstacle_probes_[o], friction, dt, look, keep,
                              layered.touches);
  }
}

void LayeredEngine::find_pushed_sleepers(std::span<const Obstacle> obstacles, std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (layered.settings.awake || layered.settings.frozen) continue;
    const Aabb box = bounds(slot).expanded(kMargin * layered.body->layer().cell());
    const bool pushed = std::any_of(obstacles.begin(), obstacles.end(), [&](const Obstacle& obstacle) {
      return obstacle.moves && collide(layered.settings.filter, obstacle.filter) && box.overlaps(obstacle.bounds);
    });
    if (pushed) slots.push_back(slot);
  }
}

void LayeredEngine::for_each_link(void (*link)(void*, BodyId, BodyId), void* context) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (layered.is_active()) {
      for (const NodeTouch& touch : layered.touches) link(context, layered.id, touch.other);
    } else {
      // Those with whom it fell asleep.
      for (const NodeTouchMemory& touch : layered.body->state().touches) {
        if (!touch.other.is_null()) link(context, layered.id, touch.other);
      }
    }
  }
}

std::span<const BodySurface> LayeredEngine::list_surfaces() {
  surfaces_.clear();
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    const float cell = layered.body->layer().cell();
    surfaces_.push_back({.id = layered.id,
                         .revision = layered.revision,
                         .faces = faces(slot),
                         .rest = layered.body->def().atlas.surface.vertices,
                         .x = node_positions(slot),
                         .v = node_velocities(slot),
                         .radius = kRadius * cell,
                         .depth = cell,
                         .slop = layered.body->slop(),
                         .friction = layered.settings.friction,
                         .gravity_scale = layered.settings.gravity_scale,
                         .acceleration = acceleration(layered),
                         .filter = layered.settings.filter,
                         .is_active = layered.is_active(),
                         .is_skin = true,
                         .thickness = layered.body->layer().thickness()});
  }
  return surfaces_;
}

/// Forces and the system of a body, without rows.
void LayeredEngine::begin(Entry& layered, Vec3 gravity, float dt) {
  LayeredBody& body = *layered.body;
  body.foresee(acceleration(layered) * dt);
  body.push(layered.force * dt, layered.torque * dt);
  for (const auto& [node, force] : layered.node_forces) body.push_node(node, force * dt);
  body.begin(workers_, gravity * layered.settings.gravity_scale, dt);
  layered.shared_touches.clear();
}

void LayeredEngine::share(std::span<const std::uint32_t> slots, std::span<const SharedRigid> rigids,
                          std::span<const Pressed> pressed, Vec3 gravity, float dt, SharedGuests& guests) {
  guests.count = 0;
  const auto gives_way = [&](BodyId id) {
    const auto at = std::lower_bound(rigids.begin(), rigids.end(), id.index,
                                     [](const SharedRigid& rigid, std::uint32_t slot) { return rigid.slot < slot; });
    return at != rigids.end() && at->id == id;
  };
  for (const std::uint32_t slot : slots_) {
    Entry& layered = entry(slot);
    layered.is_guest = layered.is_active() && std::binary_search(slots.begin(), slots.end(), slot);
    if (!layered.is_guest) continue;
    if (guests.bodies.size() == guests.count) guests.bodies.emplace_back();
    SharedGuest& guest = guests.bodies[guests.count++];
    guest.id = layered.id, guest.guest = layered.guest.get();
    guest.nodes = layered.body->node_count(), guest.slop = layered.body->slop();
    guest.rows.clear(), guest.ties.clear();
    begin(layered, gravity, dt);
    const std::span<const Vec3> x = node_positions(slot);
    for (std::uint32_t i = 0; i < layered.touches.size(); ++i) {
      const NodeTouch& touch = layered.touches[i];
      const auto add_row = [&](const NodeTouch& seen) {
        guest.rows.push_back({.nodes = {seen.node},
                              .rigid = touch.other.index,
                              .point = x[touch.node] - touch.normal * touch.gap,
                              .normal = touch.normal,
                              .gap = seen.gap,
                              .friction = touch.friction,
                              .multiplier = layered.body->remembered(seen)});
        layered.shared_touches.push_back(i);
      };
      if (gives_way(touch.other)) {
        add_row(touch);
        if (const std::optional<NodeTouch> of_core = layered.body->touch_of_core(touch, dt)) add_row(*of_core);
      } else {
        layered.body->add_row(touch, i, dt);
        layered.body->add_floor(touch, i, dt);
      }
      layered.body->add_limit(touch.node, touch.surface_velocity, dt);
    }
    auto at = std::lower_bound(pressed.begin(), pressed.end(), layered.id,
                               [](const Pressed& p, BodyId id) { return p.body < id; });
    for (; at != pressed.end() && at->body == layered.id; ++at) layered.body->add_limit(at->node, at->velocity, dt);
  }
}

void LayeredEngine::take_back(const SharedGuests& guests, float dt) {
  for (std::size_t i = 0; i < guests.count; ++i) {
    const SharedGuest& guest = guests.bodies[i];
    Entry& layered = entry(guest.id.index);
    memory_.clear();
    note_contacts(layered);
    for (std::size_t k = 0; k < guest.rows.size(); ++k) {
      const NodeTouch& touch = layered.touches[layered.shared_touches[k]];
      note_contact(layered, touch, guest.rows[k].impulse);
      if (!(length_squared(guest.rows[k].multiplier) > 0)) continue;
      memory_.push_back({guest.rows[k].nodes[0], touch.other, guest.rows[k].multiplier, touch.normal, touch.gap});
    }
    layered.body->finish(layered.touches, dt, memory_);
    report_.rows += layered.body->system().rows().size();
    layered.set_stale();
  }
}

void LayeredEngine::solve_alone(Vec3 gravity, float dt) {
  for (const std::uint32_t slot : slots_) {
    Entry& layered = entry(slot);
    const bool was_guest = std::exchange(layered.is_guest, false);
    if (!layered.is_active() || was_guest) continue;
    LayeredBody& body = *layered.body;
    begin(layered, gravity, dt);
    for (std::uint32_t i = 0; i < layered.touches.size(); ++i) {
      body.add_row(layered.touches[i], i, dt);
      body.add_floor(layered.touches[i], i, dt);
      body.add_limit(layered.touches[i].node, layered.touches[i].surface_velocity, dt);
    }
    const SolveResult result = body.solve_alone(workers_, dt);
    report_.iterations += static_cast<std::size_t>(result.iterations);
    report_.unconverged += result.converged ? 0 : 1;
    note_contacts(layered);
    body.finish(layered.touches, dt);
    report_.rows += body.system().rows().size();
    layered.set_stale();
  }
}

void LayeredEngine::note_contacts(const Entry& layered) {
  const LayeredSystem& system = layered.body->system();
  for (const LayeredRow& row : system.rows()) {
    if (row.kind == LayeredRow::Kind::Limit || (row.kind == LayeredRow::Kind::Floor && !row.active)) continue;
    note_contact(layered, layered.touches[row.touch], system.row_impulse(row));
  }
}

void LayeredEngine::note_contact(const Entry& layered, const NodeTouch& touch, Vec3 impulse) {
  const float along = dot(impulse, touch.normal);
  if (!(along > 0) && touch.gap > 0) return;
  contacts_.push_back({.a = layered.id,
                       .b = touch.other,
                       .position = node_positions(layered.id.index)[touch.node] - touch.normal * touch.gap,
                       .normal = touch.normal,
                       .depth = -touch.gap,
                       .normal_impulse = std::max(along, 0.0f),
                       .friction_impulse = impulse - touch.normal * along});
}

void LayeredEngine::ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                             std::vector<RayHit>& hits) const {
  const Vec3 along = normalized(direction);
  for (const std::uint32_t slot : slots_) {
    const Entry& layered = entry(slot);
    if (layered.id == filter.ignore || (layered.settings.filter.category & filter.mask) == 0) continue;
    const std::span<const Vec3> x = node_positions(slot);
    RayHit nearest{.body = layered.id, .distance = max_distance};
    bool found = false;
    for (const Face& face : faces(slot)) {
      const Vec3 a = x[face[0]], b = x[face[1]], c = x[face[2]];
      const auto hit = intersect_ray_triangle(from, along, nearest.distance, a, b, c);
      if (!hit) continue;
      found = true;
      nearest.distance = hit->t;
      nearest.position = from + along * hit->t;
      nearest.normal = normalized(cross(b - a, c - a), -along);
    }
    if (found) hits.push_back(nearest);
  }
}

}  // namespace pliant
