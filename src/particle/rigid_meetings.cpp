#include "particle/rigid_meetings.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

/// Share of the radius within which features are watched, moving or not.
constexpr float kMargin = 0.5f;
/// Things larger than so many cells are left to the nodes. With these contacts too, dishes on a fine tablecloth are
/// dragged along by it.
constexpr float kLargeRound = 2, kLarge = 3;

Aabb box_of_way(const BodySurface& surface, float h) {
  Aabb box;
  for (std::size_t i = 0; i < surface.x.size(); ++i) {
    box.include(surface.x[i]);
    box.include(surface.x[i] + surface.v[i] * h);
  }
  return box.expanded((1 + kMargin) * surface.radius);
}

/// Whether features of a shape could get between the nodes of a surface at all.
bool is_sharp(const Shape& shape, float cell) {
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return sphere->radius < kLargeRound * cell;
  if (const auto* capsule = std::get_if<Capsule>(&shape)) return capsule->radius < kLargeRound * cell;
  return !std::holds_alternative<Plane>(shape) && !std::holds_alternative<Heightfield>(shape);
}

/// Whether two of the three sides of its box are smaller than `size`: a plate, however thin, is not, a rod is.
bool is_small(const RigidFeatures::Piece& piece, float size) {
  if (piece.is_large()) return false;
  Aabb box;
  for (const Vec3 point : piece.points) box.include(point);
  const Vec3 sides = box.expanded(piece.radius).size();
  return (sides.x < size) + (sides.y < size) + (sides.z < size) >= 2;
}

std::unique_ptr<SurfaceTree> make_tree(const BodySurface& surface) {
  std::vector<Vec4> rest;
  for (const Vec3 p : surface.rest) rest.push_back({p.x, p.y, p.z, 0});
  auto topology = make_surface_topology(
      {.faces = surface.faces, .free_edges = surface.segments, .rest = rest, .radius = surface.radius});
  return topology ? std::make_unique<SurfaceTree>(std::move(topology).value(), false) : nullptr;
}

}  // namespace

void RigidMeetings::find_pairs(std::span<const BodySurface> surfaces, std::span<const Obstacle> obstacles, float h) {
  near_.clear();
  pairs_.clear();
  for (std::uint32_t s = 0; s < surfaces.size(); ++s) {
    const BodySurface& surface = surfaces[s];
    if (!surface.is_active || (surface.faces.empty() && surface.segments.empty())) continue;
    const auto may_slip = [&](const RigidFeatures::Piece& piece) { return is_small(piece, kLarge * surface.depth); };
    // Mostly there is nothing that could, and the surface need not be looked at.
    std::optional<Aabb> box;
    for (std::uint32_t o = 0; o < obstacles.size(); ++o) {
      const Obstacle& obstacle = obstacles[o];
      if (!collide(surface.filter, obstacle.filter) || !is_sharp(*obstacle.shape, surface.depth)) continue;
      if (!box) box = box_of_way(surface, h);
      if (!is_finite(box->size())) break;
      if (!box->overlaps(obstacle.bounds)) continue;
      const auto& features = features_.of(obstacle.shape);
      if (std::none_of(features->pieces().begin(), features->pieces().end(), may_slip)) continue;
      near_.push_back({s, o});
      pairs_.emplace_back(surface.id, obstacle.id);
    }
  }
}

void RigidMeetings::find(std::span<const BodySurface> surfaces, std::span<const Obstacle> obstacles, float h,
                         Workers& workers, std::vector<PointContact>& rows) {
  overflowed_ = false;
  find_pairs(surfaces, obstacles, h);
  // Boxes of surfaces that are near to nothing are out of date when they come near again.
  const auto place_of = [&](BodyId id) {
    return std::lower_bound(surfaces.begin(), surfaces.end(), id,
                            [](const BodySurface& surface, BodyId body) { return surface.id < body; });
  };
  trees_.tidy([&](BodyId id) { return place_of(id) == surfaces.end() || !(place_of(id)->id == id); },
              [&](BodyId id) {
                return std::any_of(pairs_.begin(), pairs_.end(),
                                   [&](const SurfacePairId& pair) { return pair.first == id; });
              });
  std::erase_if(revisions_, [&](const auto& known) { return !trees_.tree(known.first); });
  std::sort(pairs_.begin(), pairs_.end());
  std::erase_if(searches_,
                [&](const auto& known) { return !std::binary_search(pairs_.begin(), pairs_.end(), known.first); });
  for (const Near& near : near_) build_tree(surfaces[near.surface]);
  trees_.restore_fits(workers);
  SurfaceTree* tree = nullptr;
  auto last = static_cast<std::uint32_t>(surfaces.size());
  for (const Near& near : near_) {
    const BodySurface& surface = surfaces[near.surface];
    const Obstacle& obstacle = obstacles[near.obstacle];
    const auto& features = features_.of(obstacle.shape);
    if (near.surface != last) {
      last = near.surface;
      tree = trees_.tree(surface.id);
      if (tree) tree->refit(surface.x, surface.v, Vec3{}, h, kMargin * surface.radius, workers);
    }
    if (!tree) continue;
    RigidContacts& search = search_of({surface.id, obstacle.id}, features, workers);
    const RigidPath path{obstacle.world_from_shape, obstacle.velocity, obstacle.angular_velocity,
                         obstacle.center_of_mass};
    search.find(*tree, path, surface.depth, workers, scratch_);
    overflowed_ = overflowed_ || search.overflowed();
    add_rows(surface, obstacle, search, rows);
  }
  saved_.clear();
}

/// If there is none yet, or the surface has changed.
void RigidMeetings::build_tree(const BodySurface& surface) {
  const auto known = revisions_.find(surface.id);
  if (known != revisions_.end() && known->second == surface.revision) return;
  auto made = make_tree(surface);
  if (!made) return;
  trees_.set_tree(surface.id, std::move(made));
  revisions_[surface.id] = surface.revision;
}

RigidContacts& RigidMeetings::search_of(const SurfacePairId& pair, const std::shared_ptr<const RigidFeatures>& features,
                                        Workers& workers) {
  auto known = searches_.find(pair);
  if (known != searches_.end() && &known->second.features() != features.get()) {
    searches_.erase(known);
    known = searches_.end();
  }
  if (known == searches_.end()) {
    known = searches_.emplace(pair, RigidContacts(features)).first;
    for (const auto& [saved_pair, memory] : saved_) {
      if (saved_pair == pair) known->second.restore(memory, workers);
    }
  }
  return known->second;
}

void RigidMeetings::add_rows(const BodySurface& surface, const Obstacle& obstacle, const RigidContacts& search,
                             std::vector<PointContact>& rows) {
  for (const RigidContact& contact : search.contacts()) {
    rows.push_back({.count = contact.count,
                    .nodes = contact.nodes,
                    .weights = contact.weights,
                    .slot = surface.id.index,
                    .rigid = obstacle.is_dynamic ? obstacle.id.index : kFixed,
                    .other = obstacle.id,
                    .normal = contact.normal,
                    .arm = contact.point - obstacle.center_of_mass,
                    .surface_velocity = obstacle.velocity_at(contact.point),
                    .gap = contact.gap,
                    .friction = std::sqrt(surface.friction * obstacle.friction),
                    .key = contact.key});
  }
}

void RigidMeetings::forget() {
  trees_.forget();
  searches_.clear();
  saved_.clear();
}

RigidMeetings::Memory RigidMeetings::memory() const {
  Memory memory{trees_.memory(), saved_};
  for (const auto& [pair, search] : searches_) memory.rigid.emplace_back(pair, search.memory());
  return memory;
}

void RigidMeetings::restore(const Memory& memory) {
  forget();
  trees_.restore(memory.surfaces);
  saved_ = memory.rigid;
}

}  // namespace pliant
