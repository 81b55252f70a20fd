// Nodes against rigid shapes, and anchors.
#include <algorithm>
#include <cmath>

#include "particle/particle_body.h"

namespace pliant {
namespace {

constexpr std::size_t kNodesPerChunk = 512;
/// Share of the radius within which a node is watched, moving or not.
constexpr float kMargin = 0.5f;
/// Looks along a node's way at most.
constexpr int kLooks = 8;

/// How far beyond its way a node looks, so that it need not look again in every substep.
constexpr float kLookAhead = 0.1f;  // m

struct Touch {
  Vec3 normal;  ///< in the shape's frame
  float gap;
};

/// Where a ball of `radius` that goes from `from` along `way` first comes as near as `margin`. What is near already is
/// seen from where it is; else the normal is that of the place where they meet (conservative advancement), so that a
/// node that passes by is not stopped by the plane of some other part of the surface. `clearance` falls to how far the
/// ball can go in any direction before it comes near.
std::optional<Touch> find_touch(const ShapeProbe& probe, Vec3 from, Vec3 way, float radius, float margin,
                                float& clearance) {
  const float distance = length(way);
  auto near = probe.nearest(from, radius + margin + distance + kLookAhead);
  clearance = std::min(clearance, near ? near->distance - radius - margin : distance + kLookAhead);
  if (!near || near->distance - radius - margin > distance) return {};
  if (near->distance - radius <= margin) return Touch{near->normal, near->distance - radius};
  float gone = 0;
  for (int look = 0; look < kLooks; ++look) {
    // Up to half the margin, so that it ends inside of it.
    gone += near->distance - radius - 0.5f * margin;
    if (gone >= distance) return {};
    near = probe.nearest(from + way * (gone / distance), radius + margin + distance - gone);
    if (!near) return {};
    if (near->distance - radius <= margin) break;
  }
  return Touch{near->normal, near->distance - radius - gone / distance * dot(way, near->normal)};
}

/// Gives each contact the impulses that the same node had with the same body. Both lists are sorted by node.
void recall(std::span<const NodeContact> before, std::span<NodeContact> now) {
  std::size_t at = 0;
  for (NodeContact& row : now) {
    while (at < before.size() && before[at].node < row.node) ++at;
    for (std::size_t i = at; i < before.size() && before[i].node == row.node; ++i) {
      if (!(before[i].other == row.other)) continue;
      row.normal_impulse = before[i].normal_impulse;
      row.friction_impulse = before[i].friction_impulse;
      row.friction_impulse -= row.normal * dot(row.friction_impulse, row.normal);
    }
  }
}

}  // namespace

void ParticleEngine::find_pushed_sleepers(std::span<const Obstacle> obstacles,
                                          std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    if (b.settings.awake || b.settings.frozen) continue;
    const Aabb box = bounds(slot).expanded((1 + kMargin) * b.model->radius);
    const bool pushed = std::any_of(obstacles.begin(), obstacles.end(), [&](const Obstacle& obstacle) {
      return obstacle.moves && collide(b.settings.filter, obstacle.filter) && box.overlaps(obstacle.bounds);
    });
    if (pushed) slots.push_back(slot);
  }
}

void ParticleEngine::find_contacts(std::span<const Obstacle> obstacles, float h) {
  fixed_before_.swap(fixed_contacts_), rigid_before_.swap(rigid_contacts_);
  fixed_contacts_.clear(), rigid_contacts_.clear();
  rigid_slots_.clear();
  if (slots_.empty()) return;
  find_meetings(h);
  obstacle_probes_.clear();
  for (const Obstacle& obstacle : obstacles) obstacle_probes_.push_back(&probes_.of(obstacle.shape));
  place_anchors(obstacles, h);
  drop_tied_contacts();
  for (const std::uint32_t slot : slots_) {
    if (body(slot).is_active()) find_node_contacts(body(slot), obstacles, h);
  }
  recall(fixed_before_, fixed_contacts_);
  recall(rigid_before_, rigid_contacts_);
  number_rigid_bodies();
}

/// With the velocities that the last substep left: those of now have felt forces that rows will undo.
void ParticleEngine::find_meetings(float h) {
  surface_bodies_.clear();
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    surface_bodies_.push_back({.slot = slot,
                               .first = b.first,
                               .model = b.model,
                               .friction = b.settings.friction,
                               .filter = b.settings.filter,
                               .is_active = b.is_active(),
                               .self_collision = common_of(*b.def).self_collision});
  }
  std::sort(surface_bodies_.begin(), surface_bodies_.end(),
            [](const SurfaceBody& a, const SurfaceBody& b) { return a.first < b.first; });
  meetings_.find(surface_bodies_, x_, v_before_, h, workers_);
}

/// A node that was seen to be far from everything need not look again until it, or what is around it, has gone that
/// far. What it would see then is what it would see anyway, so this changes the time that a step takes and nothing
/// else.
void ParticleEngine::renew_looks(Body& b, std::span<const Obstacle> obstacles, float h) {
  Hasher hasher;
  float fastest = 0;
  for (const NearObstacle& near : near_obstacles_) {
    const Obstacle& obstacle = obstacles[near.index];
    hasher.add(obstacle.id.index), hasher.add(obstacle.id.generation), hasher.add(obstacle.is_dynamic);
    hasher.add(obstacle.filter.category), hasher.add(obstacle.filter.mask);
    const float spin = length(obstacle.angular_velocity) * length(obstacle.bounds.size());
    if (obstacle.moves) fastest = std::max(fastest, length(obstacle.velocity) + spin);
  }
  // Twice, as they may speed up within the substep.
  b.obstacles_way += 2 * fastest * h;
  if (hasher.value() == b.obstacles_hash && b.looks.size() == b.count) return;
  b.obstacles_hash = hasher.value();
  b.obstacles_way = 0;
  b.looks.assign(b.count, {});
}

void ParticleEngine::find_node_contacts(Body& b, std::span<const Obstacle> obstacles, float h) {
  const float radius = b.model->radius, margin = kMargin * radius;
  Aabb way;
  for (std::uint32_t i = b.first; i < b.first + b.count; ++i) {
    way.include(x_[i].xyz());
    way.include(x_[i].xyz() + v_[i].xyz() * h);
  }
  if (!is_finite(way.size())) return;
  way = way.expanded(radius + margin + kLookAhead);
  near_obstacles_.clear();
  for (std::uint32_t o = 0; o < obstacles.size(); ++o) {
    if (collide(b.settings.filter, obstacles[o].filter) && way.overlaps(obstacles[o].bounds)) {
      near_obstacles_.push_back(
          {o, obstacles[o].world_from_shape.inverse(), obstacles[o].bounds.expanded(radius + margin + kLookAhead)});
    }
  }
  if (near_obstacles_.empty()) return;
  renew_looks(b, obstacles, h);

  contact_parts_.resize(std::max(contact_parts_.size(), (b.count + kNodesPerChunk - 1) / kNodesPerChunk));
  for (auto& part : contact_parts_) part.clear();
  parallel_for(workers_, b.count, kNodesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = b.first + begin; i < b.first + end; ++i) {
      const Vec3 x = x_[i].xyz(), v = v_[i].xyz();
      Vec4& look = b.looks[i - b.first];
      if (length(x - look.xyz()) + length(v) * h + b.obstacles_way < look.w) continue;
      float clearance = kLookAhead;
      Aabb box;
      box.include(x), box.include(x + v * h);
      for (const NearObstacle& near : near_obstacles_) {
        if (!near.bounds.overlaps(box)) continue;
        const Obstacle& obstacle = obstacles[near.index];
        if (v_[i].w <= 0 && !obstacle.is_dynamic) continue;
        if (is_tied(static_cast<std::uint32_t>(i), obstacle.id)) {
          clearance = 0;
          continue;
        }
        const Vec3 surface_velocity = obstacle.velocity_at(x);
        const auto touch =
            find_touch(*obstacle_probes_[near.index], near.shape_from_world * x,
                       near.shape_from_world.rotation.rotate((v - surface_velocity) * h), radius, margin, clearance);
        if (!touch) continue;
        const Vec3 normal = obstacle.world_from_shape.rotation.rotate(touch->normal);
        contact_parts_[begin / kNodesPerChunk].push_back(
            {.node = static_cast<std::uint32_t>(i),
             .slot = b.id.index,
             .rigid = obstacle.is_dynamic ? obstacle.id.index : kFixed,
             .other = obstacle.id,
             .normal = normal,
             .arm = x - normal * (radius + touch->gap) - obstacle.center_of_mass,
             .surface_velocity = surface_velocity,
             .gap = touch->gap,
             .friction = std::sqrt(b.settings.friction * obstacle.friction)});
      }
      look = {x.x, x.y, x.z, clearance + b.obstacles_way};
    }
  });
  for (const auto& part : contact_parts_) {
    for (const NodeContact& row : part) (row.rigid == kFixed ? fixed_contacts_ : rigid_contacts_).push_back(row);
  }
}

/// Where anchored nodes should be. To something that moves as told, a node is simply there; to a dynamic body it is
/// tied by a row.
void ParticleEngine::place_anchors(std::span<const Obstacle> obstacles, float h) {
  anchor_rows_.clear(), tie_rows_.clear(), ties_.clear();
  for (std::uint32_t a = 0; a < anchors_.size(); ++a) {
    if (anchors_[a] && anchors_[a]->is_tie) {
      place_tie(a, h);
      continue;
    }
    if (!anchors_[a] || !body(anchors_[a]->slot).is_active()) continue;
    Anchor& anchor = *anchors_[a];
    Body& b = body(anchor.slot);
    const auto found =
        std::find_if(obstacles.begin(), obstacles.end(), [&](const Obstacle& o) { return o.id == anchor.to; });
    const bool is_dynamic = found != obstacles.end() && found->is_dynamic;
    for (std::uint32_t k = 0; k < anchor.nodes.size(); ++k) {
      AnchorNode& node = anchor.nodes[k];
      const std::uint32_t i = b.first + node.node;
      ties_.emplace_back(i, anchor.to);
      if (node.holds_fixed == is_dynamic) is_dynamic ? release_fixed(anchor, node) : hold_fixed(anchor, node);
      const Vec3 place = found != obstacles.end() ? found->world_from_shape * node.place : node.place;
      if (!is_dynamic) {
        const Vec3 ahead = found != obstacles.end() ? found->velocity_at(place) * h : Vec3{};
        const Vec3 velocity = (place + ahead - x_[i].xyz()) / h;
        v_[i].x = velocity.x, v_[i].y = velocity.y, v_[i].z = velocity.z;
        continue;
      }
      anchor_rows_.push_back({.node = i,
                              .slot = anchor.slot,
                              .rigid = anchor.to.index,
                              .anchor = a,
                              .index = k,
                              .arm = place - found->center_of_mass,
                              .target = (place - x_[i].xyz()) / h,
                              .impulse = {}});
    }
  }
  std::sort(ties_.begin(), ties_.end());
}

/// What a node is anchored to it does not also collide with.
bool ParticleEngine::is_tied(std::uint32_t node, BodyId other) const {
  return !ties_.empty() && std::binary_search(ties_.begin(), ties_.end(), std::pair(node, other));
}

void ParticleEngine::hold_fixed(const Anchor& anchor, AnchorNode& node) {
  Body& b = body(anchor.slot);
  node.holds_fixed = true;
  ++b.anchored[node.node];
  update_mass(b, node.node);
}

void ParticleEngine::release_fixed(const Anchor& anchor, AnchorNode& node) {
  Body& b = body(anchor.slot);
  node.holds_fixed = false;
  --b.anchored[node.node];
  update_mass(b, node.node);
}

/// Rows name rigid bodies by slot until here; from now on by their place in `rigid_slots_`.
void ParticleEngine::number_rigid_bodies() {
  for (const NodeContact& row : rigid_contacts_) rigid_slots_.push_back(row.rigid);
  for (const AnchorRow& row : anchor_rows_) rigid_slots_.push_back(row.rigid);
  std::sort(rigid_slots_.begin(), rigid_slots_.end());
  rigid_slots_.erase(std::unique(rigid_slots_.begin(), rigid_slots_.end()), rigid_slots_.end());
  const auto number = [&](std::uint32_t slot) {
    return static_cast<std::uint32_t>(std::lower_bound(rigid_slots_.begin(), rigid_slots_.end(), slot) -
                                      rigid_slots_.begin());
  };
  for (NodeContact& row : rigid_contacts_) row.rigid = number(row.rigid);
  for (AnchorRow& row : anchor_rows_) row.rigid = number(row.rigid);
  for (AnchorRow& row : anchor_rows_) {
    row.sharers = static_cast<std::uint32_t>(std::count_if(
        anchor_rows_.begin(), anchor_rows_.end(), [&](const AnchorRow& other) { return other.rigid == row.rigid; }));
  }
}

void ParticleEngine::note_contacts() {
  const auto note = [&](const NodeContact& row) {
    contacts_.push_back({.a = body(row.slot).id,
                         .b = row.other,
                         .position = x_[row.node].xyz() - row.normal * (row.gap + body(row.slot).model->radius),
                         .normal = row.normal,
                         .depth = -row.gap,
                         .normal_impulse = row.normal_impulse,
                         .friction_impulse = row.friction_impulse});
  };
  for (const NodeContact& row : fixed_contacts_) note(row);
  for (const NodeContact& row : rigid_contacts_) note(row);
  for (const FeatureContact& row : meetings_.contacts()) {
    Vec3 place{};
    float share = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if (row.weights[k] >= 0) continue;
      place -= x_[row.nodes[k]].xyz() * row.weights[k];
      share -= row.weights[k];
    }
    contacts_.push_back({.a = body(row.slots[0]).id,
                         .b = body(row.slots[1]).id,
                         .position = place / share,
                         .normal = row.normal,
                         .depth = -row.gap,
                         .normal_impulse = row.normal_impulse,
                         .friction_impulse = row.friction_impulse});
  }
}

bool ParticleEngine::touches(std::uint32_t slot, BodyId other) const {
  const auto is_touch = [&](const NodeContact& row) { return row.slot == slot && row.other == other; };
  return std::any_of(fixed_contacts_.begin(), fixed_contacts_.end(), is_touch) ||
         std::any_of(rigid_contacts_.begin(), rigid_contacts_.end(), is_touch);
}

}  // namespace pliant
