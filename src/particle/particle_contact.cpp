// Nodes against rigid shapes, and anchors.
#include <algorithm>
#include <cmath>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Share of the radius within which a node is watched, moving or not.
constexpr float kMargin = 0.5f;

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
  rigid_before_.swap(rigid_contacts_);
  rigid_contacts_.clear();
  rigid_slots_.clear();
  if (slots_.empty()) return;
  find_meetings(h);
  obstacle_probes_.clear();
  for (const Obstacle& obstacle : obstacles) obstacle_probes_.push_back(&probes_.of(obstacle.shape));
  place_anchors(obstacles, h);
  drop_tied_contacts();
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    b.touches_before.swap(b.touches);
    b.touches.resize((b.count + kNodesPerPart - 1) / kNodesPerPart);
    b.touches_before.resize(b.touches.size());
    for (auto& part : b.touches) part.clear();
    if (b.is_active()) find_node_contacts(b, obstacles, h);
  }
  recall(rigid_before_, rigid_contacts_);
  find_point_contacts(obstacles, h);
  number_rigid_bodies();
}

/// Where corners and edges of rigid bodies touch between nodes. Impulses go on from the last substep.
void ParticleEngine::find_point_contacts(std::span<const Obstacle> obstacles, float h) {
  points_before_.swap(point_contacts_);
  point_contacts_.clear();
  rigid_meetings_.find(list_surfaces(), obstacles, h, workers_, point_contacts_);
  for (PointContact& row : point_contacts_) {
    for (std::uint32_t k = 0; k < row.count; ++k) row.nodes[k] += body(row.slot).first;
  }
  std::erase_if(point_contacts_, [&](const PointContact& row) {
    return std::any_of(row.nodes.begin(), row.nodes.begin() + row.count,
                       [&](std::uint32_t node) { return does_not_meet(node, row.other); });
  });
  const auto is_before = [](const PointContact& a, const PointContact& b) {
    if (a.slot != b.slot) return a.slot < b.slot;
    return a.other == b.other ? a.key < b.key : a.other < b.other;
  };
  std::sort(points_before_.begin(), points_before_.end(), is_before);
  for (PointContact& row : point_contacts_) {
    const auto known = std::lower_bound(points_before_.begin(), points_before_.end(), row, is_before);
    if (known == points_before_.end() || is_before(row, *known)) continue;
    row.normal_impulse = known->normal_impulse;
    row.friction_impulse = known->friction_impulse - row.normal * dot(known->friction_impulse, row.normal);
  }
}

/// With the velocities that the last substep left: those of now have felt forces that rows will undo.
void ParticleEngine::find_meetings(float h) {
  surface_bodies_.clear();
  for (const std::uint32_t slot : slots_) {
    const Body& b = body(slot);
    surface_bodies_.push_back({.id = b.id,
                               .first = b.first,
                               .model = b.model,
                               .friction = b.settings.friction,
                               .filter = b.settings.filter,
                               .is_active = b.is_active(),
                               .self_collision = common_of(*b.def).self_collision});
  }
  std::sort(surface_bodies_.begin(), surface_bodies_.end(),
            [](const SurfaceBody& a, const SurfaceBody& b) { return a.id < b.id; });
  meetings_.find(surface_bodies_, x_, v_before_, h, workers_);
}

/// A node that was seen to be far from everything need not look again until it, or what is around it, has gone that
/// far. What it would see then is what it would see anyway, so this changes the time that a step takes and nothing
/// else.
void ParticleEngine::renew_looks(Body& b, float h) {
  Hasher hasher;
  float fastest = 0;
  for (const NearObstacle& near : near_obstacles_) {
    const Obstacle& obstacle = *near.obstacle;
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

/// Around where the nodes are and where they are heading; endless if that is not finite.
Aabb ParticleEngine::bounds_of_way(const Body& b, float h) {
  const std::span<const Vec4> x = positions(b), v = velocities(b);
  const auto around = [&](std::size_t begin, std::size_t end) {
    Float4 lower = load4(&x[begin].x), upper = lower, lost{};
    for (std::size_t i = begin; i < end; ++i) {
      const Float4 from = load4(&x[i].x), to = from + load4(&v[i].x) * h;
      lower = from < lower ? from : lower, upper = from > upper ? from : upper;
      lower = to < lower ? to : lower, upper = to > upper ? to : upper;
      lost += to - to;
    }
    if (!(lost[0] + lost[1] + lost[2] == 0)) return Aabb{{-kInfinity, 0, 0}, {kInfinity, 0, 0}};
    return Aabb{{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
  };
  const auto join = [](Aabb all, const Aabb& part) {
    all.include(part);
    return all;
  };
  return parallel_reduce(workers_, b.count, 8 * kNodesPerPart, Aabb{}, box_parts_, around, join);
}

void ParticleEngine::find_node_contacts(Body& b, std::span<const Obstacle> obstacles, float h) {
  const float radius = b.model->radius, margin = kMargin * radius, reach = radius + margin + kLookAhead;
  const Aabb way = bounds_of_way(b, h).expanded(reach);
  if (!is_finite(way.size())) return;
  near_obstacles_.clear();
  for (std::size_t o = 0; o < obstacles.size(); ++o) {
    if (collide(b.settings.filter, obstacles[o].filter) && way.overlaps(obstacles[o].bounds)) {
      near_obstacles_.emplace_back(obstacles[o], *obstacle_probes_[o], reach);
    }
  }
  if (near_obstacles_.empty()) return;
  renew_looks(b, h);

  const NodeSearch search{.x = positions(b),
                          .v = velocities(b),
                          .looks = b.looks,
                          .obstacles = near_obstacles_,
                          .unmet = unmet_,
                          .first = b.first,
                          .slot = b.id.index,
                          .radius = radius,
                          .margin = margin,
                          .friction = b.settings.friction,
                          .obstacles_way = b.obstacles_way,
                          .h = h};
  contact_parts_.resize(std::max(contact_parts_.size(), b.touches.size()));
  for (auto& part : contact_parts_) part.clear();
  parallel_for(workers_, b.count, kNodesPerPart, [&](std::size_t begin, std::size_t end) {
    const std::size_t part = begin / kNodesPerPart;
    search.find(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), b.touches_before[part],
                b.touches[part], contact_parts_[part]);
  });
  for (const auto& part : contact_parts_) rigid_contacts_.insert(rigid_contacts_.end(), part.begin(), part.end());
}

/// Where anchored nodes should be. To something that moves as told, a node is simply there; to a dynamic body it is
/// tied by a row.
void ParticleEngine::place_anchors(std::span<const Obstacle> obstacles, float h) {
  anchor_rows_.clear(), tie_rows_.clear(), ties_.clear(), unmet_.clear();
  for (std::uint32_t a = 0; a < anchors_.size(); ++a) {
    if (anchors_[a] && anchors_[a]->kind == AnchorKind::Nodes) {
      place_tie(a, h);
      continue;
    }
    if (!anchors_[a] || anchors_[a]->kind == AnchorKind::Solid || !body(anchors_[a]->slot).is_active()) continue;
    Anchor& anchor = *anchors_[a];
    Body& b = body(anchor.slot);
    const auto found =
        std::find_if(obstacles.begin(), obstacles.end(), [&](const Obstacle& o) { return o.id == anchor.to; });
    const bool is_dynamic = found != obstacles.end() && found->is_dynamic;
    if (found != obstacles.end() && !anchor.knows_unmet) {
      find_unmet(anchor, *found, *obstacle_probes_[static_cast<std::size_t>(found - obstacles.begin())]);
    }
    if (anchor.nodes.empty()) continue;  // all have come loose
    for (const std::uint32_t node : anchor.unmet) unmet_.emplace_back(b.first + node, anchor.to);
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
  for (const SolidTie& tie : solid_ties_) ties_.emplace_back(body(tie.slot).first + tie.tie.node, tie.tie.other);
  unmet_.insert(unmet_.end(), ties_.begin(), ties_.end());
  std::sort(unmet_.begin(), unmet_.end());
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
  for (const PointContact& row : point_contacts_) {
    if (row.rigid != kFixed) rigid_slots_.push_back(row.rigid);
  }
  std::sort(rigid_slots_.begin(), rigid_slots_.end());
  rigid_slots_.erase(std::unique(rigid_slots_.begin(), rigid_slots_.end()), rigid_slots_.end());
  const auto number = [&](std::uint32_t slot) {
    return static_cast<std::uint32_t>(std::lower_bound(rigid_slots_.begin(), rigid_slots_.end(), slot) -
                                      rigid_slots_.begin());
  };
  for (NodeContact& row : rigid_contacts_) row.rigid = number(row.rigid);
  for (AnchorRow& row : anchor_rows_) row.rigid = number(row.rigid);
  for (PointContact& row : point_contacts_) {
    if (row.rigid != kFixed) row.rigid = number(row.rigid);
  }
  for (AnchorRow& row : anchor_rows_) {
    row.sharers = static_cast<std::uint32_t>(std::count_if(
        anchor_rows_.begin(), anchor_rows_.end(), [&](const AnchorRow& other) { return other.rigid == row.rigid; }));
  }
}

void ParticleEngine::take_contacts(std::vector<Contact>& contacts) {
  if (contacts.empty()) {
    contacts.swap(contacts_);
  } else {
    contacts.insert(contacts.end(), contacts_.begin(), contacts_.end());
  }
  contacts_.clear();
}

/// A cloth has thousands of them, which all threads write down.
void ParticleEngine::note_touches(const Body& b) {
  constexpr std::size_t kParts = 4;
  touch_starts_.assign(1, contacts_.size());
  for (const auto& part : b.touches) {
    Int8 count{};
    for (const ContactGroup& group : part) count -= group.touches;
    std::size_t total = touch_starts_.back();
    for (std::size_t lane = 0; lane < kLanes; ++lane) total += static_cast<std::size_t>(count[lane]);
    touch_starts_.push_back(total);
  }
  contacts_.resize(touch_starts_.back());
  parallel_for(workers_, b.touches.size(), kParts, [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = begin; part < end; ++part) {
      note_touches(b, b.touches[part], contacts_.data() + touch_starts_[part]);
    }
  });
}

void ParticleEngine::note_touches(const Body& b, std::span<const ContactGroup> groups, Contact* to) const {
  const std::span<const Vec4> x = positions(b);
  for (const ContactGroup& group : groups) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      if (group.touches[i] == 0) continue;
      const Vec3 normal = group.normal_of(i);
      *to++ = {.a = b.id,
               .b = group.other,
               .position = x[group.node + i].xyz() - normal * (group.gap[i] + b.model->radius),
               .normal = normal,
               .depth = -group.gap[i],
               .normal_impulse = group.normal_impulse[i],
               .friction_impulse = lane_of(group.friction_impulse, i)};
    }
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
  for (const std::uint32_t slot : slots_) note_touches(body(slot));
  for (const NodeContact& row : rigid_contacts_) note(row);
  for (const PointContact& row : point_contacts_) {
    Vec3 place{};
    for (std::size_t k = 0; k < row.count; ++k) place += x_[row.nodes[k]].xyz() * row.weights[k];
    contacts_.push_back({.a = body(row.slot).id,
                         .b = row.other,
                         .position = place - row.normal * (row.gap + body(row.slot).model->radius),
                         .normal = row.normal,
                         .depth = -row.gap,
                         .normal_impulse = row.normal_impulse,
                         .friction_impulse = row.friction_impulse});
  }
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
  for (const auto& part : body(slot).touches) {
    for (const ContactGroup& group : part) {
      if (group.other == other) return true;
    }
  }
  const auto is_it = [&](const auto& row) { return row.slot == slot && row.other == other; };
  return std::any_of(rigid_contacts_.begin(), rigid_contacts_.end(), is_it) ||
         std::any_of(point_contacts_.begin(), point_contacts_.end(), is_it);
}

}  // namespace pliant
