// Layered bodies against rigid ones: finding touches, and solving islands. Rays against layered bodies.
#include <algorithm>
#include <cmath>

#include "geometry/primitives.h"
#include "layered/layered_engine_entry.h"

namespace pliant {
namespace {

/// Share of a cell within which a node is watched, moving or not.
constexpr float kMargin = 0.1f;

/// What the surface meets with its back or edge on: a box that has sunk in a little, with its side.
bool is_passed_by(const LayeredBody& body, const NodeTouch& touch) {
  constexpr float kShallow = 0.25f, kSideways = 0.1f;
  if (touch.gap < -kShallow * body.layer().cell()) return false;
  const Vec3 inward = body.state().rotation.rotate(body.layer().inward().get(touch.node));
  return dot(touch.normal, inward) < kSideways * length(inward);
}

}  // namespace

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
  if (layered.is_active()) find_touches(layered, gravity * layered.settings.gravity_scale, dt);
}

void LayeredEngine::find_touches(Entry& layered, Vec3 gravity, float dt) const {
  const std::uint32_t slot = layered.id.index;
  const std::span<const Vec3> x = node_positions(slot), v = node_velocities(slot);
  float fastest = 0;
  for (const Vec3 velocity : v) fastest = std::max(fastest, length_squared(velocity + gravity * dt));
  if (!is_finite(layered.box.size()) || !std::isfinite(fastest)) return;
  const float margin = kMargin * layered.body->layer().cell();
  const Aabb bounds = layered.box.expanded(margin + dt * std::sqrt(fastest));
  for (std::size_t o = 0; o < obstacles_.size(); ++o) {
    const Obstacle& obstacle = obstacles_[o];
    if (!collide(layered.settings.filter, obstacle.filter) || !bounds.overlaps(obstacle.bounds)) continue;
    const float friction = std::sqrt(layered.settings.friction * obstacle.friction);
    const Aabb near_box = obstacle.bounds.expanded(margin + dt * std::sqrt(fastest));
    const auto look = [&](std::uint32_t node, LookingNode& at) {
      if (!near_box.contains(x[node])) return false;
      at.x = x[node];
      at.surface_velocity = obstacle.velocity_at(at.x);
      at.approach = v[node] + gravity * dt - at.surface_velocity;
      at.watched = margin;
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

void LayeredEngine::solve(std::span<const std::uint32_t> bodies, std::span<const std::uint32_t> starts,
                          std::vector<SharedRigid>& rigids, Vec3 gravity, float dt) {
  pushes_.clear();
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    solve_island(bodies.subspan(starts[i], starts[i + 1] - starts[i]), rigids, gravity, dt);
  }
  std::sort(pushes_.begin(), pushes_.end(), [](const RigidPush& a, const RigidPush& b) { return a.body < b.body; });
}

void LayeredEngine::solve_island(std::span<const std::uint32_t> bodies, std::vector<SharedRigid>& rigids, Vec3 gravity,
                                 float dt) {
  members_.clear(), partners_.clear();
  for (const std::uint32_t slot : bodies) {
    if (has(slot) && entry(slot).is_active()) members_.push_back(slot);
  }
  if (members_.empty()) return;
  island_.clear();
  // The rigid bodies that are touched, each once.
  const auto place_of = [&](BodyId id) {
    const auto at = std::lower_bound(rigids.begin(), rigids.end(), id.index,
                                     [](const SharedRigid& rigid, std::uint32_t slot) { return rigid.slot < slot; });
    return at != rigids.end() && at->id == id ? static_cast<std::uint32_t>(at - rigids.begin()) : LayeredBody::kNoRigid;
  };
  for (const std::uint32_t slot : members_) {
    Entry& layered = entry(slot);
    layered.rigid_of.clear(), layered.arms.clear();
    BodyId last{};
    std::uint32_t place = LayeredBody::kNoRigid;
    for (const NodeTouch& touch : layered.touches) {
      if (!(touch.other == last)) last = touch.other, place = place_of(last);
      layered.rigid_of.push_back(place);
      if (place != LayeredBody::kNoRigid) partners_.push_back(place);
    }
  }
  std::sort(partners_.begin(), partners_.end());
  partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
  for (const std::uint32_t place : partners_) island_.add_rigid(rigids[place].motion);

  LayeredTolerance tolerance = entry(members_.front()).body->tolerance();
  for (const std::uint32_t slot : members_) {
    Entry& layered = entry(slot);
    LayeredBody& body = *layered.body;
    const std::span<const Vec3> x = node_positions(slot);
    for (std::size_t t = 0; t < layered.touches.size(); ++t) {
      std::uint32_t& rigid = layered.rigid_of[t];
      Vec3 arm;
      if (rigid != LayeredBody::kNoRigid) {
        const NodeTouch& touch = layered.touches[t];
        arm = x[touch.node] - touch.normal * touch.gap - rigids[rigid].motion.center;
        rigid =
            static_cast<std::uint32_t>(std::lower_bound(partners_.begin(), partners_.end(), rigid) - partners_.begin());
      }
      layered.arms.push_back(arm);
    }
    body.push(layered.force * dt, layered.torque * dt);
    for (const auto& [node, force] : layered.node_forces) body.push_node(node, force * dt);
    body.begin(workers_, gravity * layered.settings.gravity_scale, dt);
    body.add_rows(layered.touches, layered.rigid_of, layered.arms, dt);
    island_.add_body(body.system());
    const LayeredTolerance own = body.tolerance();
    tolerance = {std::min(tolerance.residual, own.residual), std::max(tolerance.max_iterations, own.max_iterations),
                 std::min(tolerance.violation, own.violation)};
  }
  const SolveResult result = island_.solve(workers_, tolerance, dt);
  report_.iterations += static_cast<std::size_t>(result.iterations);
  report_.unconverged += result.converged ? 0 : 1;
  for (const std::uint32_t slot : members_) {
    Entry& layered = entry(slot);
    note_contacts(layered);
    layered.body->finish(workers_, layered.touches, dt);
    report_.rows += layered.body->system().rows().size();
    layered.set_stale();
  }
  for (std::uint32_t i = 0; i < partners_.size(); ++i) {
    SharedRigid& rigid = rigids[partners_[i]];
    const Vector6 given = island_.given(i);
    pushes_.push_back({rigid.id, rounded(given, 0), rounded(given, 3)});
    rigid.motion = island_.rigid(i);
  }
}

void LayeredEngine::note_contacts(const Entry& layered) {
  const std::span<const Vec3> x = node_positions(layered.id.index);
  for (const LayeredRow& row : layered.body->system().rows()) {
    if (row.rigid == LayeredRow::kOwnCore) continue;
    const NodeTouch& touch = layered.touches[row.touch];
    const Vec3 impulse = island_.impulse(layered.body->system(), row);
    const float along = dot(impulse, row.normal);
    if (!(along > 0) && touch.gap > 0) continue;
    contacts_.push_back({.a = layered.id,
                         .b = touch.other,
                         .position = x[row.node] - touch.normal * touch.gap,
                         .normal = row.normal,
                         .depth = -touch.gap,
                         .normal_impulse = std::max(along, 0.0f),
                         .friction_impulse = impulse - row.normal * along});
  }
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
