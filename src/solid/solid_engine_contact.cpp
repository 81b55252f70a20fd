// Solids against what does not give way to them, and rays against solids.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/adjacency.h"
#include "geometry/primitives.h"
#include "math/vec3d.h"
#include "solid/solid_engine_entry.h"

namespace pliant {
namespace {

/// Share of a cell within which a node is watched, moving or not.
constexpr float kMargin = 0.1f;
/// Share of a cell by which solids are thicker where they meet each other.
constexpr float kRadius = 0.01f;

/// What a solid, or a piece of one that broke, may be surprised by, see `BodySurface`.
constexpr float kSurprise = 3, kSurpriseOfPieces = 0.25f;

/// Whether the body was pushed from opposite sides in the last substep: then its inner nodes may go anywhere.
bool is_squeezed(const SolidEngine::Entry& solid) {
  const auto& memory = solid.body->state().touches;
  return std::any_of(memory.begin(), memory.end(),
                     [&](const NodeTouchMemory& m) { return dot(m.normal, memory.front().normal) < -0.5f; });
}

/// Whether a shape has edges at which the nearest of its sides may be the wrong one.
bool has_edges(const Shape& shape) {
  return !std::holds_alternative<Sphere>(shape) && !std::holds_alternative<Capsule>(shape) &&
         !std::holds_alternative<Plane>(shape) && !std::holds_alternative<Heightfield>(shape);
}

/// A box that has sunk a little into a soft surface meets the nodes before it with its side. They look past it: what
/// holds the box are its corners and edges against the faces (SolidMeetings), and the nodes below it.
bool is_passed_by(const SolidEngine::Entry& solid, const NodeTouch& touch) {
  constexpr float kShallow = 0.1f, kSideways = 0.1f;
  if (solid.is_inner[touch.node] || touch.gap < -kShallow * solid.cell) return false;
  const Vec3 outward = solid.outward(touch.node);
  return dot(touch.normal, outward) > -kSideways * length(outward);
}

}  // namespace

Vec3 SolidEngine::Entry::outward(std::uint32_t node) const {
  Vec3 sum;
  for (std::uint32_t i = face_starts[node]; i < face_starts[node + 1]; ++i) {
    const Face& face = faces[faces_of_node[i]];
    const Vec3 a = body->position(face[0]);
    sum += cross(body->position(face[1]) - a, body->position(face[2]) - a);
  }
  return sum;
}

void SolidEngine::find_contacts(std::span<const Obstacle> obstacles, std::span<const BodySurface> others, Vec3 gravity,
                                float dt) {
  obstacle_probes_.clear();
  obstacles_ = obstacles;
  others_ = others;
  const auto is_skin = [](const BodySurface& surface) { return surface.is_skin; };
  if (slots_.empty() && std::none_of(others.begin(), others.end(), is_skin)) {
    surfaces_.clear();
    meetings_.find({}, {}, gravity, dt, workers_);  // none
    return;
  }
  for (const Obstacle& obstacle : obstacles) obstacle_probes_.push_back(&probes_.of(obstacle.shape));
  for_bodies([&](std::size_t i, Workers& workers) {
    Entry& solid = entry(slots_[i]);
    solid.touches.clear();
    if (solid.is_active()) find_touches(workers, solid, obstacles, gravity, dt);
  });
  woken_ = false;
  find_meetings(gravity, dt);
}

void SolidEngine::find_contacts_of_woken(std::span<const BodySurface> others, bool some_woke, Vec3 gravity, float dt) {
  others_ = others;
  if (woken_ || some_woke) find_meetings(gravity, dt);
  woken_ = false;
}

void SolidEngine::find_meetings(Vec3 gravity, float dt) {
  list_surfaces();
  const bool is_damped = contact_ == SolidContact::Damped;
  if (is_damped) overlaps_.find(surfaces_, workers_);
  surfaces_.insert(surfaces_.end(), others_.begin(), others_.end());
  std::sort(surfaces_.begin(), surfaces_.end(), [](const BodySurface& a, const BodySurface& b) { return a.id < b.id; });
  meetings_.find(surfaces_, obstacles_, gravity, dt, workers_, !is_damped);
  drop_tied_meetings();
}

void SolidEngine::drop_tied_meetings() {
  if (tied_.empty()) return;
  meetings_.drop([&](const SolidMeeting& meeting) {
    const auto end = meeting.b.nodes.begin() + meeting.b.count;
    return meeting.b_is_open && std::any_of(meeting.b.nodes.begin(), end, [&](std::uint32_t node) {
             return std::binary_search(tied_.begin(), tied_.end(), TiedNode{meeting.b.body, node, meeting.a.body});
           });
  });
}

SolidPoint SolidEngine::nearest_point(std::uint32_t slot, Vec3 place) const {
  const std::span<const Vec3> x = node_positions(slot);
  const std::vector<Tet>& tets = entry(slot).body->def().mesh.tets;
  SolidPoint nearest{.solid = entry(slot).id};
  float best = std::numeric_limits<float>::max();
  for (std::uint32_t t = 0; t < tets.size() && best > 0; ++t) {
    const Tet& tet = tets[t];
    const std::array<Vec3d, 4> corners{Vec3d(x[tet[0]]), Vec3d(x[tet[1]]), Vec3d(x[tet[2]]), Vec3d(x[tet[3]])};
    const double volume = six_volumes(corners[0], corners[1], corners[2], corners[3]);
    std::array<float, 4> weights{};
    for (std::size_t k = 0; k < 4; ++k) {
      std::array<Vec3d, 4> with = corners;
      with[k] = Vec3d(place);
      weights[k] = static_cast<float>(six_volumes(with[0], with[1], with[2], with[3]) / volume);
    }
    if (std::all_of(weights.begin(), weights.end(), [](float w) { return w >= 0; })) {
      nearest.tet = t, nearest.weights = weights;
      return nearest;
    }
    Aabb box;
    for (const std::uint32_t node : tet) box.include(x[node]);
    if (length_squared(max_each(box.lower, min_each(box.upper, place)) - place) >= best) continue;
    for (const auto& face : kTetFaces) {
      const auto corner = [&](std::size_t k) { return static_cast<std::size_t>(face[k]); };
      const TrianglePoint near = closest_on_triangle(place, x[tet[corner(0)]], x[tet[corner(1)]], x[tet[corner(2)]]);
      if (near.squared_distance >= best) continue;
      best = near.squared_distance;
      nearest.tet = t, nearest.weights = {};
      for (std::size_t k = 0; k < 3; ++k) nearest.weights[corner(k)] = near.weights[k];
    }
  }
  return nearest;
}

void SolidEngine::place(std::span<PlacedPoint> points) const {
  for (PlacedPoint& placed : points) {
    const SolidPoint& point = placed.point;
    placed.is_there = has(point.solid.index) && entry(point.solid.index).id == point.solid;
    if (!placed.is_there) continue;
    const SolidBody& body = *entry(point.solid.index).body;
    placed.gives_way = is_dynamic(point.solid.index);
    placed.nodes = body.def().mesh.tets[point.tet];
    placed.place = {};
    for (std::size_t k = 0; k < 4; ++k) placed.place += body.position(placed.nodes[k]) * point.weights[k];
  }
}

void SolidEngine::list_surfaces() {
  surfaces_.clear();
  for_bodies([&](std::size_t i, Workers&) { (void)node_positions(slots_[i]), (void)node_velocities(slots_[i]); });
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    surfaces_.push_back({.id = solid.id,
                         .revision = solid.revision,
                         .faces = solid.faces,
                         .tets = solid.body->def().mesh.tets,
                         .rest = solid.body->def().mesh.nodes,
                         .x = node_positions(slot),
                         .v = node_velocities(slot),
                         .radius = kRadius * solid.cell,
                         .depth = solid.cell,
                         .deepest = solid.deepest,
                         .surprise = solid.settings.is_piece ? kSurpriseOfPieces : kSurprise,
                         .slop = solid.body->slop(),
                         .friction = solid.settings.friction,
                         .gravity_scale = solid.settings.gravity_scale,
                         .acceleration = solid.body->acceleration(),
                         .filter = solid.settings.filter,
                         .is_active = solid.is_active(),
                         .self_collision = solid.body->def().self_collision,
                         .give_time = solid.give_time});
  }
}

void SolidEngine::find_touches(Workers& workers, Entry& solid, std::span<const Obstacle> obstacles, Vec3 gravity,
                               float dt) const {
  // A force that begins in this substep moves the body as far as gravity does.
  const Vec3 boost = dt * (solid.settings.gravity_scale * gravity + solid.body->acceleration());
  Aabb bounds;
  Vec3 mean;
  float fastest = 0;
  for (std::uint32_t node = 0; node < solid.body->node_count(); ++node) {
    if (solid.body->mass(node) <= 0) continue;  // of no tet
    bounds.include(solid.body->position(node));
    mean += solid.body->velocity(node) / static_cast<float>(solid.body->node_count());
    fastest = std::max(fastest, length_squared(solid.body->velocity(node) + boost));
  }
  if (!is_finite(bounds.size()) || !std::isfinite(fastest)) return;
  const float margin = kMargin * solid.cell, inner_margin = is_squeezed(solid) ? solid.cell : margin;
  bounds = bounds.expanded(std::max(margin, inner_margin) + dt * std::sqrt(fastest));

  for (std::size_t o = 0; o < obstacles.size(); ++o) {
    const Obstacle& obstacle = obstacles[o];
    if (!collide(solid.settings.filter, obstacle.filter) || !bounds.overlaps(obstacle.bounds)) continue;
    const float friction = std::sqrt(solid.settings.friction * obstacle.friction);
    const bool edged = has_edges(*obstacle.shape) && !is_squeezed(solid);
    const auto look = [&](std::uint32_t node, LookingNode& at) {
      if (solid.body->is_held(node)) return false;
      at.x = solid.body->position(node);
      at.surface_velocity = obstacle.velocity_at(at.x);
      // Inner nodes are behind others, and come near only when those are crushed: they count by their own motion.
      const Vec3 v = solid.body->velocity(node);
      at.approach = solid.is_inner[node] ? v - mean : v + boost - at.surface_velocity;
      at.watched = solid.is_inner[node] ? inner_margin : margin;
      return true;
    };
    const auto keep = [&](NodeTouch& touch) {
      const std::uint32_t slot = solid.body->layout().slot_of_node[touch.node];
      if (touch.gap < 0) keep_side(solid.body->state().touches, slot, touch);
      return !(edged && is_passed_by(solid, touch));
    };
    solid.touch_search.find(workers, solid.body->node_count(), obstacle, *obstacle_probes_[o], friction, dt, look, keep,
                            solid.touches);
  }
}

void SolidEngine::find_pushed_sleepers(std::span<const Obstacle> obstacles, std::vector<std::uint32_t>& slots) const {
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (solid.settings.awake || solid.settings.frozen) continue;
    const Aabb bounds = solid.body->bounds().expanded(kMargin * solid.cell);
    const bool pushed = std::any_of(obstacles.begin(), obstacles.end(), [&](const Obstacle& obstacle) {
      return obstacle.moves && collide(solid.settings.filter, obstacle.filter) && bounds.overlaps(obstacle.bounds);
    });
    if (pushed) slots.push_back(slot);
  }
}

void SolidEngine::note_contacts(const Entry& solid) {
  solid.body->for_each_contact([&](const SolidContactRows::Row& row, Vec3 impulse) {
    const NodeTouch& touch = solid.touches[row.touch];
    const Vec3 point = solid.body->position(touch.node) - touch.normal * touch.gap;
    note_contact(solid.id, touch.other, point, row.normal, -touch.gap, impulse);
  });
}

void SolidEngine::note_contact(BodyId a, BodyId b, Vec3 point, Vec3 normal, float depth, Vec3 impulse) {
  const float along = dot(impulse, normal);
  contacts_.push_back({.a = a,
                       .b = b,
                       .position = point,
                       .normal = normal,
                       .depth = depth,
                       .normal_impulse = std::max(along, 0.0f),
                       .friction_impulse = impulse - normal * along});
}

void SolidEngine::ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter,
                           std::vector<RayHit>& hits) const {
  const Vec3 along = normalized(direction);
  for (const std::uint32_t slot : slots_) {
    const Entry& solid = entry(slot);
    if (solid.id == filter.ignore || (solid.settings.filter.category & filter.mask) == 0) continue;
    const std::span<const Vec3> nodes = node_positions(slot);
    RayHit nearest{.body = solid.id, .distance = max_distance};
    bool found = false;
    for (const Face& face : solid.faces) {
      const Vec3 a = nodes[face[0]], ab = nodes[face[1]] - a, ac = nodes[face[2]] - a;
      // Möller and Trumbore 1997.
      const Vec3 p = cross(along, ac), q = cross(from - a, ab);
      const float det = dot(ab, p);
      if (det == 0) continue;
      const float u = dot(from - a, p) / det, v = dot(along, q) / det, t = dot(ac, q) / det;
      if (!(u >= 0 && v >= 0 && u + v <= 1 && t >= 0 && t < nearest.distance)) continue;
      found = true;
      nearest.distance = t;
      nearest.position = from + along * t;
      nearest.normal = normalized(cross(ab, ac), -along);
    }
    if (found) hits.push_back(nearest);
  }
}

}  // namespace pliant
