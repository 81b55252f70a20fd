// Cloth, rope and jelly that are tied to solids, or carry heavy ones: the islands of these solve them whole
// (solve/loaded_guest.h).
#include <algorithm>

#include "particle/particle_body.h"

namespace pliant {
namespace {

/// Of a contact's overlap, so much is let be.
constexpr float kSlop = 2e-4f;  // m

}  // namespace

void ParticleEngine::add_solid_tie(AnchorId id, std::uint32_t slot, std::span<const std::uint32_t> nodes, BodyId to,
                                   std::span<const SolidPoint> points, float break_force) {
  auto anchor = std::make_unique<Anchor>();
  anchor->id = id, anchor->slot = slot, anchor->to = to, anchor->break_force = break_force;
  anchor->kind = AnchorKind::Solid;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    AnchorNode tied{nodes[i], x_[body(slot).first + nodes[i]].xyz()};
    tied.solid = points[i];
    anchor->nodes.push_back(tied);
  }
  put_anchor(std::move(anchor));
}

void ParticleEngine::list_solid_points(std::vector<PlacedPoint>& points) const {
  points.clear();
  for (const auto& anchor : anchors_) {
    if (!anchor || anchor->kind != AnchorKind::Solid) continue;
    for (const AnchorNode& node : anchor->nodes) points.push_back({.point = node.solid});
  }
}

/// Nodes whose solid is gone come loose. A solid that is frozen holds them like any other fixed thing.
void ParticleEngine::place_solid_ties(std::span<const PlacedPoint> points, float h) {
  solid_ties_.clear(), tied_nodes_.clear();
  std::size_t next = 0;
  for (std::uint32_t a = 0; a < anchors_.size(); ++a) {
    if (!anchors_[a] || anchors_[a]->kind != AnchorKind::Solid) continue;
    Anchor& anchor = *anchors_[a];
    const Body& b = body(anchor.slot);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < anchor.nodes.size(); ++k) {
      const PlacedPoint& placed = points[next++];
      AnchorNode& node = anchor.nodes[k];
      const bool is_fixed = placed.is_there && !placed.gives_way;
      if (node.holds_fixed != is_fixed) is_fixed ? hold_fixed(anchor, node) : release_fixed(anchor, node);
      if (!placed.is_there) continue;
      const std::uint32_t i = b.first + node.node;
      tied_nodes_.push_back({b.id, node.node, node.solid.solid});
      const Vec3 target = draw_velocity(placed.place - x_[i].xyz(), h);
      if (is_fixed) {
        v_[i].x = target.x, v_[i].y = target.y, v_[i].z = target.z;
      } else if (!b.settings.frozen) {
        solid_ties_.push_back({.slot = anchor.slot,
                               .anchor = a,
                               .index = static_cast<std::uint32_t>(kept),
                               .tie = {.node = node.node,
                                       .other = node.solid.solid,
                                       .count = 4,
                                       .nodes = placed.nodes,
                                       .weights = node.solid.weights,
                                       .target = target,
                                       .impulse = node.impulse}});
      }
      if (kept != k) anchor.nodes[kept] = node;
      ++kept;
    }
    anchor.nodes.resize(kept);
  }
  std::sort(tied_nodes_.begin(), tied_nodes_.end());
}

bool ParticleEngine::has_ties_to(BodyId solid) const {
  return std::any_of(anchors_.begin(), anchors_.end(), [&](const auto& anchor) {
    return anchor && anchor->kind == AnchorKind::Solid &&
           std::any_of(anchor->nodes.begin(), anchor->nodes.end(),
                       [&](const AnchorNode& node) { return node.solid.solid == solid; });
  });
}

void ParticleEngine::follow_pieces(std::span<const SolidPiece> pieces) {
  for (const auto& anchor : anchors_) {
    if (!anchor || anchor->kind != AnchorKind::Solid) continue;
    for (AnchorNode& node : anchor->nodes) {
      for (const SolidPiece& piece : pieces) {
        if (node.solid.solid != piece.whole) continue;
        const auto found = std::find(piece.tets.begin(), piece.tets.end(), node.solid.tet);
        if (found == piece.tets.end()) continue;
        node.solid.solid = piece.id;
        node.solid.tet = static_cast<std::uint32_t>(found - piece.tets.begin());
        break;
      }
    }
  }
}

void ParticleEngine::for_each_solid_link(void (*link)(void*, BodyId, BodyId), void* context) const {
  for (const SolidTie& tie : solid_ties_) link(context, body(tie.slot).id, tie.tie.other);
}

/// Whether what lies on a body is so heavy that rows that take turns do not hold it, and it is small enough for more.
bool ParticleEngine::is_laden(const Body& b, std::span<const float> mass_of) {
  const bool is_jelly = std::holds_alternative<JellyDef>(*b.def);
  if (b.count > (is_jelly ? kMostOfJelly : kMostCouplings)) return false;
  // Of several rows with one body the mean normal counts: what is wrapped around a thing touches it from below too.
  constexpr float kDownward = 0.3f;
  laden_by_.clear();
  for (const PointContact& row : solid_rows_) {
    if (row.slot == b.id.index && row.count > 0) laden_by_.emplace_back(row.other.index, row.normal);
  }
  std::stable_sort(laden_by_.begin(), laden_by_.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  float load = 0, own = 0;
  for (auto begin = laden_by_.begin(); begin != laden_by_.end();) {
    const std::uint32_t slot = begin->first;
    Vec3 normals{};
    float count = 0;
    for (; begin != laden_by_.end() && begin->first == slot; ++begin) normals += begin->second, ++count;
    if (dot(normals, gravity_) > kDownward * count * length(gravity_)) load += mass_of[slot];
  }
  for (const float mass : masses(b)) own += mass;
  return load > (is_jelly ? kHeavyLoadOfJelly : kHeavyLoad) * own;
}

void ParticleEngine::find_guests(std::span<const std::uint32_t> slots, std::span<const float> mass_of) {
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    b.is_guest = false;
    if (!b.is_active() || !std::binary_search(slots.begin(), slots.end(), slot)) continue;
    const auto is_its = [&](const SolidTie& tie) { return tie.slot == slot; };
    b.is_guest = std::any_of(solid_ties_.begin(), solid_ties_.end(), is_its) || is_laden(b, mass_of);
  }
  // What is tied to a guest is one with it.
  for (bool has_spread = true; has_spread;) {
    has_spread = false;
    for (const TieRow& row : tie_rows_) {
      Body &a = body(row.slots[0]), &b = body(row.slots[1]);
      if (a.is_guest == b.is_guest || !a.is_active() || !b.is_active()) continue;
      a.is_guest = b.is_guest = has_spread = true;
    }
  }
  const auto set_apart = [&](auto& rows) {
    for (auto& row : rows) row.is_apart = body(row.slot).is_guest;
  };
  set_apart(anchor_rows_), set_apart(solid_rows_);
  for (TieRow& row : tie_rows_) row.is_apart = body(row.slots[0]).is_guest && body(row.slots[1]).is_guest;
}

// --- Into the island -------------------------------------------------------------------------------------------------

void ParticleEngine::share_guests(SharedGuests& guests, float h) {
  first_guest_ = guests.count;
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    if (!b.is_guest) continue;
    begin_guest(b, h);
    if (guests.bodies.size() == guests.count) guests.bodies.emplace_back();
    SharedGuest& guest = guests.bodies[guests.count++];
    guest.id = b.id, guest.guest = b.guest.get(), guest.nodes = b.count, guest.slop = kSlop;
    guest.rows.clear(), guest.ties.clear();
    list_guest_rows(b, guest);
    list_guest_ties(b, guest);
  }
}

void ParticleEngine::begin_guest(Body& b, float h) {
  find_load_pattern(b);
  list_load_springs(b, h);
  if (!b.guest) b.guest = std::make_unique<LoadedGuest>();
  b.guest->clear({.factor = &b.load_factor,
                  .x = positions(b),
                  .v = velocities(b),
                  .v_before = std::span(v_before_).subspan(b.first, b.count),
                  .springs = b.load_springs},
                 h);
  for (const ChainLine& line : b.model->lines) {
    for (std::size_t s = 0; s + 1 < line.nodes.size(); ++s) {
      b.guest->add(LoadedGuest::Segment{
          .nodes = {line.nodes[s], line.nodes[s + 1]},
          .rest = static_cast<double>(line.lengths[s]),
          .softness = line.compliance.empty() ? 0 : static_cast<double>(line.compliance[s] / (h * h)),
          .pushes = !line.tension_only});
    }
  }
  const auto add = [&](Vec3 normal, Vec3 surface_velocity, float gap, float friction, Vec3 impulse, auto&& set) {
    LoadedGuest::Touch touch;
    touch.normal = normal, touch.friction = friction;
    touch.target = surface_velocity + normal * contact_target_speed(gap, kSlop, h);
    touch.multiplier = project_to_cone(impulse, normal, friction);
    set(touch);
    b.guest->add(touch);
  };
  for_each_touch(b.touches, [&](const ContactGroup& group, std::uint32_t i) {
    add(group.normal_of(i), lane_of(group.surface_velocity, i), group.gap[i], group.friction, group.impulse_of(i),
        [&](LoadedGuest::Touch& touch) { touch.count = 1, touch.nodes[0] = group.node + i, touch.weights[0] = 1; });
  });
  for (const PointContact& row : point_contacts_) {
    if (row.slot != b.id.index || row.rigid != kFixed) continue;
    add(row.normal, row.surface_velocity, row.gap, row.friction, row.impulse(), [&](LoadedGuest::Touch& touch) {
      touch.count = row.count, touch.weights = row.weights;
      for (std::uint32_t k = 0; k < row.count; ++k) touch.nodes[k] = row.nodes[k] - b.first;
    });
  }
}

/// Contacts with rigid bodies that give way.
void ParticleEngine::list_guest_rows(const Body& b, SharedGuest& guest) const {
  const auto add = [&](const auto& row, Vec3 impulse) -> GuestRow& {
    guest.rows.push_back({.rigid = rigid_slots_[row.rigid],
                          .point = rigid_motions_[row.rigid].center + row.arm,
                          .normal = row.normal,
                          .gap = row.gap,
                          .friction = row.friction,
                          .multiplier = project_to_cone(impulse, row.normal, row.friction)});
    return guest.rows.back();
  };
  for (const NodeContact& row : rigid_contacts_) {
    if (row.slot != b.id.index) continue;
    add(row, row.impulse()).nodes[0] = row.node - b.first;
  }
  for (const PointContact& row : point_contacts_) {
    if (row.slot != b.id.index || row.rigid == kFixed) continue;
    GuestRow& added = add(row, row.impulse());
    added.count = row.count, added.weights = row.weights;
    for (std::uint32_t k = 0; k < row.count; ++k) added.nodes[k] = row.nodes[k] - b.first;
  }
}

/// To solids, to rigid bodies that give way, and to other guests.
void ParticleEngine::list_guest_ties(const Body& b, SharedGuest& guest) const {
  for (const SolidTie& tie : solid_ties_) {
    if (tie.slot == b.id.index) guest.ties.push_back(tie.tie);
  }
  for (const AnchorRow& row : anchor_rows_) {
    if (row.slot != b.id.index) continue;
    const Anchor& anchor = *anchors_[row.anchor];
    guest.ties.push_back({.node = row.node - b.first,
                          .other = anchor.to,
                          .point = rigid_motions_[row.rigid].center + row.arm,
                          .target = row.target,
                          .impulse = anchor.nodes[row.index].impulse});
  }
  for (const TieRow& row : tie_rows_) {
    if (!row.is_apart || row.slots[0] != b.id.index) continue;
    const Body& other = body(row.slots[1]);
    GuestTie tie{.node = row.nodes[0] - b.first,
                 .other = other.id,
                 .target = row.target,
                 .impulse = anchors_[row.anchor]->nodes[row.index].impulse};
    for (std::size_t k = 1; k < 4; ++k) {
      if (row.weights[k] == 0) continue;
      tie.nodes[tie.count] = row.nodes[k] - other.first;
      tie.weights[tie.count++] = -row.weights[k];
    }
    guest.ties.push_back(tie);
  }
}

// --- Out of it -------------------------------------------------------------------------------------------------------

void ParticleEngine::take_back_guests(SharedGuests& guests) {
  for (std::size_t g = first_guest_; g < guests.count; ++g) {
    const SharedGuest& guest = guests.bodies[g];
    Body& b = body(guest.id.index);
    for (std::uint32_t i = 0; i < b.count; ++i) {
      const Vec3 v = b.guest->velocity(i);
      Vec4& to = v_[b.first + i];
      if (to.w > 0) to.x = v.x, to.y = v.y, to.z = v.z;
    }
    take_guest_rows(b, guest);
    auto tie = guest.ties.begin();
    for (SolidTie& own : solid_ties_) {
      if (own.slot == b.id.index) own.tie.impulse = (tie++)->impulse;
    }
    for (AnchorRow& row : anchor_rows_) {
      if (row.slot == b.id.index) row.impulse = (tie++)->impulse;
    }
    for (TieRow& row : tie_rows_) {
      if (row.is_apart && row.slots[0] == b.id.index) row.impulse = (tie++)->impulse;
    }
  }
  guests.count = first_guest_;
}

/// In the order in which they were listed.
void ParticleEngine::take_guest_rows(Body& b, const SharedGuest& guest) {
  auto segment = b.guest->segments().begin();
  for (std::size_t l = 0; l < b.model->lines.size(); ++l) {
    for (std::size_t s = 0; s + 1 < b.model->lines[l].nodes.size(); ++s) {
      b.chains.set_impulse(l, s, b.guest->pull(*segment++));
    }
  }
  auto touch = b.guest->touches().begin();
  for_each_touch(b.touches,
                 [&](ContactGroup& group, std::uint32_t i) { group.set_impulse(i, b.guest->impulse(*touch++)); });
  auto row = guest.rows.begin();
  for (NodeContact& contact : rigid_contacts_) {
    if (contact.slot == b.id.index) contact.set_impulse((row++)->impulse);
  }
  for (PointContact& contact : point_contacts_) {
    if (contact.slot != b.id.index) continue;
    contact.set_impulse(contact.rigid == kFixed ? b.guest->impulse(*touch++) : (row++)->impulse);
  }
}

}  // namespace pliant
