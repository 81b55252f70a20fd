#include "solid/solid_meetings.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace pliant {
namespace {

/// Share of the depth within which features are watched, moving or not.
constexpr float kMargin = 0.05f;
/// The same of the radius of open surfaces.
constexpr float kOpenMargin = 0.5f;
/// Share of the depth by which edges may sink in before they count beside the nodes.
constexpr float kFlatness = 0.02f;
/// Skins with at least so many faces each are looked at by textures.
constexpr std::size_t kTextured = 5'000;
/// Surfaces with more faces are worked on by all threads.
constexpr std::size_t kLarge = 20'000;

Vec3 boost_of(const BodySurface& solid, Vec3 gravity, float dt) {
  return solid.is_active ? dt * (solid.gravity_scale * gravity + solid.acceleration) : Vec3{};
}

bool is_sound(const BodySurface& s) {
  return !(s.faces.empty() && s.segments.empty()) && s.x.size() == s.rest.size() && s.v.size() == s.rest.size();
}

/// How far from others a solid is watched, moving or not.
float margin_of(const BodySurface& solid) { return solid.is_open ? kOpenMargin * solid.radius : kMargin * solid.depth; }

/// With room for what turns a fast body aside in the substep.
Aabb box_of(const BodySurface& solid, Vec3 boost, float margin, float dt) {
  Vec3 lower{1e30f, 1e30f, 1e30f}, upper = -lower;
  float fastest = 0;
  for (std::size_t i = 0; i < solid.x.size(); ++i) {
    const Vec3 from = solid.x[i], way = dt * (solid.v[i] + boost), to = from + way;
    fastest = std::max(fastest, length_squared(way));
    lower = min_each(lower, min_each(from, to)), upper = max_each(upper, max_each(from, to));
  }
  const float turned = 0.5f * std::min(std::sqrt(fastest), solid.surprise * solid.depth);
  return Aabb{lower, upper}.expanded(solid.radius + margin + turned);
}

std::unique_ptr<SurfaceTree> make_tree(const BodySurface& solid) {
  std::vector<Vec4> rest;
  rest.reserve(solid.rest.size());
  for (const Vec3 p : solid.rest) rest.push_back({p.x, p.y, p.z, 0});
  auto topology = make_surface_topology({.faces = solid.faces,
                                         .free_edges = solid.segments,
                                         .rest = rest,
                                         .radius = solid.radius,
                                         .first_feature = 0,
                                         .depth = solid.is_open ? 0 : solid.depth,
                                         .deepest = solid.is_open ? 0 : solid.deepest,
                                         .surprise = solid.surprise * solid.depth,
                                         .flatness = solid.is_open ? 0 : kFlatness * solid.depth});
  if (!topology) return nullptr;
  return std::make_unique<SurfaceTree>(std::move(topology).value(), solid.self_collision);
}

Vec3 mean_of(const MeetingSide& side, std::span<const Vec3> by_node) {
  Vec3 mean;
  for (std::size_t k = 0; k < side.count; ++k) mean += side.weights[k] * by_node[side.nodes[k]];
  return mean;
}

/// Of two parts of one body: nodes of a stiff one that are thrown about do not get as far as they would by themselves,
/// and contacts along those ways would be thousands that never come to be.
bool is_out_of_reach(const BodySurface& solid, const SolidMeeting& meeting) {
  const float reach = margin_of(solid) + solid.give_time * length(meeting.velocity_a - meeting.velocity_b);
  return meeting.gap > 0 && length(mean_of(meeting.a, solid.x) - mean_of(meeting.b, solid.x)) > reach;
}

std::uint64_t key_of(BodyId a, BodyId b, std::uint64_t features) {
  Hasher hasher;
  hasher.add(std::uint64_t{a.index} << 32 | b.index);
  hasher.add(features);
  return hasher.value();
}

}  // namespace

std::span<const SolidMeeting> SolidMeetings::find(std::span<const BodySurface> solids,
                                                  std::span<const Obstacle> obstacles, Vec3 gravity, float dt,
                                                  Workers& workers, bool solids_meet) {
  meetings_.clear();
  overflowed_ = false;
  if (std::none_of(solids.begin(), solids.end(), [](const BodySurface& s) { return s.is_active; })) return meetings_;
  find_pairs(solids, obstacles, gravity, dt, workers, solids_meet);
  build_trees(solids, workers);
  searches_.restore_fits(workers);
  fit_trees(solids, gravity, dt, workers);
  look(workers);
  open_rigid(solids, obstacles, workers);
  look_at_rigid(solids, obstacles, workers);
  look_at_skins(solids, gravity, dt, workers);
  for (const Near& near : near_) add_meetings(solids, near);
  for (const NearSkins& near : near_skins_) add_meetings(solids, near);
  for (const NearRigid& n : near_rigid_) add_meetings(solids[n.solid], obstacles[n.obstacle], *n.search);
  return meetings_;
}

void SolidMeetings::find_pairs(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles, Vec3 gravity,
                               float dt, Workers& workers, bool solids_meet) {
  const std::size_t count = solids.size();
  margins_.resize(count);
  boxes_.resize(count + obstacles.size());
  proxies_.resize(count + obstacles.size());
  parallel_for(workers, count, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3 boost = boost_of(solids[i], gravity, dt);
      margins_[i] = margin_of(solids[i]);
      boxes_[i] = box_of(solids[i], boost, margins_[i], dt);
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    proxies_[i] = {solids[i].filter, !solids[i].is_active, is_sound(solids[i])};
  }
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    boxes_[count + i] = obstacles[i].bounds;
    // As far as solids are concerned, for obstacles do not meet each other here.
    proxies_[count + i] = {
        .filter = obstacles[i].filter, .is_static = true, .is_active = obstacles[i].shape != nullptr};
  }
  near_.clear();
  near_rigid_.clear();
  near_skins_.clear();
  is_used_.assign(count, 0);
  for (const ProxyPair pair : broad_phase_.update(boxes_, proxies_)) {
    const bool is_open = solids[pair.a].is_open;
    const bool is_other_open = pair.b < count && solids[pair.b].is_open;
    const bool is_skin = solids[pair.a].is_skin || (pair.b < count && solids[pair.b].is_skin);
    if (!solids_meet && pair.b < count && !is_open && !is_other_open && !is_skin) continue;
    if (pair.b >= count) {
      const RigidFeatures& features = *features_.of(obstacles[pair.b - count].shape);
      const float cell = solids[pair.a].depth;
      if (features.is_met_by_nodes(cell) || (is_skin && !features.may_pass_between(cell))) continue;
    }
    if (is_open && (pair.b >= count || is_other_open)) continue;
    const auto is_fine = [&](std::uint32_t i) { return solids[i].is_skin && solids[i].faces.size() >= kTextured; };
    if (pair.b < count && is_fine(pair.a) && is_fine(pair.b)) {
      near_skins_.push_back({pair.a, pair.b, nullptr});
      continue;
    }
    is_used_[pair.a] = 1;
    if (pair.b < count) {
      near_.push_back({pair.a, pair.b, nullptr});
      is_used_[pair.b] = 1;
    } else {
      near_rigid_.push_back({pair.a, pair.b - std::uint32_t(count), nullptr});
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!solids_meet || !solids[i].is_active || !solids[i].self_collision || solids[i].is_open || !is_sound(solids[i]))
      continue;
    near_.push_back({i, i, nullptr});
    is_used_[i] = 1;
  }
  const auto by_bodies = [](const auto& x, const auto& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; };
  std::sort(near_.begin(), near_.end(), by_bodies);
  std::sort(near_skins_.begin(), near_skins_.end(), by_bodies);
}

/// Only of solids that are near to others, and only if they have changed.
void SolidMeetings::build_trees(std::span<const BodySurface> solids, Workers& workers) {
  const auto place_of = [&](BodyId body) {
    const auto at =
        std::lower_bound(solids.begin(), solids.end(), body, [](const BodySurface& s, BodyId id) { return s.id < id; });
    return at != solids.end() && at->id == body ? std::size_t(at - solids.begin()) : solids.size();
  };
  searches_.tidy([&](BodyId body) { return place_of(body) == solids.size(); },
                 [&](BodyId body) { return is_used_[place_of(body)] != 0; });
  std::erase_if(revisions_, [&](const auto& known) { return !searches_.tree(known.first); });
  used_.clear();
  for (std::uint32_t i = 0; i < solids.size(); ++i) {
    if (!is_used_[i]) continue;
    const auto known = revisions_.find(solids[i].id);
    if (known == revisions_.end() || known->second != solids[i].revision) used_.push_back(i);
  }
  std::vector<std::unique_ptr<SurfaceTree>> made(used_.size());
  parallel_for(workers, used_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) made[i] = make_tree(solids[used_[i]]);
  });
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i]) continue;
    searches_.set_tree(solids[used_[i]].id, std::move(made[i]));
    revisions_[solids[used_[i]].id] = solids[used_[i]].revision;
  }
}

void SolidMeetings::fit_trees(std::span<const BodySurface> solids, Vec3 gravity, float dt, Workers& workers) {
  trees_.assign(solids.size(), nullptr);
  used_.clear();
  for (std::uint32_t i = 0; i < solids.size(); ++i) {
    if (is_used_[i] && (trees_[i] = searches_.tree(solids[i].id))) used_.push_back(i);
  }
  const auto fit = [&](std::uint32_t i, Workers& with) {
    const BodySurface& s = solids[i];
    trees_[i]->refit(s.x, s.v, boost_of(s, gravity, dt), dt, margins_[i], with);
  };
  const auto is_large = [&](std::uint32_t i) { return solids[i].faces.size() > kLarge; };
  for (const std::uint32_t i : used_) {
    if (is_large(i)) fit(i, workers);
  }
  parallel_for(workers, used_.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (!is_large(used_[k])) fit(used_[k], alone_);
    }
  });
  std::erase_if(near_, [&](const Near& n) { return !trees_[n.a] || !trees_[n.b]; });
  pairs_.clear();
  for (const Near& n : near_) pairs_.emplace_back(solids[n.a].id, solids[n.b].id);
  searches_.keep_searches(pairs_);
  for (std::size_t i = 0; i < near_.size(); ++i) near_[i].search = &searches_.search(i);
}

void SolidMeetings::look_at_skins(std::span<const BodySurface> solids, Vec3 gravity, float dt, Workers& workers) {
  for (auto& [id, skin] : skins_) skin.is_used = false;
  for (const NearSkins& n : near_skins_) {
    for (const std::uint32_t i : {n.a, n.b}) {
      const BodySurface& s = solids[i];
      Skin& skin = skins_[s.id];
      if (skin.is_used) continue;
      skin.is_used = true;
      if (!skin.surface || skin.revision != s.revision) {
        skin.surface = std::make_unique<TexturedSurface>(s.faces, s.rest);
        skin.revision = s.revision;
      }
      skin.surface->fit(s.x, s.v, boost_of(s, gravity, dt), dt, workers);
    }
  }
  std::erase_if(skins_, [](const auto& known) { return !known.second.is_used; });
  const auto id_of = [&](const NearSkins& n) { return SurfacePairId{solids[n.a].id, solids[n.b].id}; };
  pairs_.clear();
  for (const NearSkins& n : near_skins_) pairs_.push_back(id_of(n));
  std::sort(pairs_.begin(), pairs_.end());
  std::erase_if(textures_,
                [&](const auto& known) { return !std::binary_search(pairs_.begin(), pairs_.end(), known.first); });
  for (NearSkins& n : near_skins_) {
    const BodySurface &a = solids[n.a], &b = solids[n.b];
    n.search = &textures_[id_of(n)];
    n.search->find(*skins_[a.id].surface, *skins_[b.id].surface,
                   {.reach = std::min(a.thickness, b.thickness),
                    .margin = a.radius + b.radius + 0.5f * kMargin * (a.depth + b.depth)},
                   workers);
  }
}

/// Small pairs one per thread; all threads together on each of the others.
void SolidMeetings::look(Workers& workers) {
  const auto is_large = [&](const Near& n) {
    return std::max(trees_[n.a]->topology().face_count, trees_[n.b]->topology().face_count) > kLarge;
  };
  const auto run = [&](const Near& n, Workers& with, SurfaceContacts::Scratch& scratch) {
    n.search->find(*trees_[n.a], *trees_[n.b], with, scratch);
  };
  for (const Near& n : near_) {
    if (is_large(n)) run(n, workers, *scratches_.lend());
  }
  parallel_for(workers, near_.size(), 4, [&](std::size_t begin, std::size_t end) {
    const auto scratch = scratches_.lend();
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_large(near_[i])) run(near_[i], alone_, *scratch);
    }
  });
}

/// Keeps the searches of those pairs that are near and makes those that are new.
void SolidMeetings::open_rigid(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles,
                               Workers& workers) {
  std::erase_if(near_rigid_, [&](const NearRigid& n) {
    return !trees_[n.solid] || features_.of(obstacles[n.obstacle].shape)->pieces().empty();
  });
  const auto id_of = [&](const NearRigid& n) { return SurfacePairId{solids[n.solid].id, obstacles[n.obstacle].id}; };
  pairs_.clear();
  for (const NearRigid& n : near_rigid_) pairs_.push_back(id_of(n));
  std::sort(pairs_.begin(), pairs_.end());
  std::erase_if(rigid_,
                [&](const auto& known) { return !std::binary_search(pairs_.begin(), pairs_.end(), known.first); });
  for (NearRigid& n : near_rigid_) {
    const std::shared_ptr<const RigidFeatures>& features = features_.of(obstacles[n.obstacle].shape);
    auto known = rigid_.find(id_of(n));
    if (known != rigid_.end() && &known->second.features() != features.get()) {
      rigid_.erase(known);
      known = rigid_.end();
    }
    if (known == rigid_.end()) {
      known = rigid_.emplace(id_of(n), RigidContacts(features)).first;
      for (const auto& [pair, memory] : saved_rigid_) {
        if (pair == known->first) known->second.restore(memory, workers);
      }
    }
    n.search = &known->second;
  }
  saved_rigid_.clear();
}

void SolidMeetings::look_at_rigid(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles,
                                  Workers& workers) {
  parallel_for(workers, near_rigid_.size(), 4, [&](std::size_t begin, std::size_t end) {
    const auto scratch = scratches_.lend();
    for (std::size_t i = begin; i < end; ++i) {
      const NearRigid& n = near_rigid_[i];
      const Obstacle& o = obstacles[n.obstacle];
      const RigidPath motion{o.world_from_shape, o.velocity, o.angular_velocity, o.center_of_mass};
      n.search->find(*trees_[n.solid], motion, solids[n.solid].depth, alone_, *scratch);
    }
  });
}

void SolidMeetings::forget() {
  searches_.forget();
  rigid_.clear();
  saved_rigid_.clear();
}

void SolidMeetings::forget(BodyId solid) {
  searches_.forget(solid);
  revisions_.erase(solid);
  std::erase_if(rigid_, [&](const auto& known) { return known.first.first == solid; });
  std::erase_if(saved_rigid_, [&](const auto& known) { return known.first.first == solid; });
}

SolidMeetings::Memory SolidMeetings::memory() const {
  Memory memory{searches_.memory(), saved_rigid_};
  for (const auto& [pair, search] : rigid_) memory.rigid.emplace_back(pair, search.memory());
  return memory;
}

void SolidMeetings::restore(const Memory& memory) {
  forget();
  searches_.restore(memory.surfaces);
  saved_rigid_ = memory.rigid;
}

void SolidMeetings::add_meetings(std::span<const BodySurface> solids, const Near& near) {
  overflowed_ |= near.search->report().overflowed();
  const float friction = std::sqrt(solids[near.a].friction * solids[near.b].friction);
  for (const SurfaceContact& contact : near.search->contacts()) {
    const BodySurface& first = solids[contact.is_swapped ? near.b : near.a];
    const BodySurface& second = solids[contact.is_swapped ? near.a : near.b];
    SolidMeeting meeting{.a = {.body = first.id},
                         .b = {.body = second.id},
                         .normal = contact.normal,
                         .gap = contact.gap,
                         .slop = first.is_open ? second.slop : first.slop,
                         .friction = friction,
                         .key = key_of(first.id, second.id, contact.key)};
    const std::uint32_t split = contact.is_edges() ? 2 : 1;
    for (std::uint32_t k = 0; k < 4; ++k) {
      MeetingSide& side = k < split ? meeting.a : meeting.b;
      const float weight = std::abs(contact.weights[k]);
      side.nodes[side.count] = contact.nodes[k];
      side.weights[side.count++] = weight;
      const BodySurface& surface = k < split ? first : second;
      meeting.point += 0.5f * weight * surface.x[contact.nodes[k]];
      (k < split ? meeting.velocity_a : meeting.velocity_b) += weight * surface.v[contact.nodes[k]];
    }
    if (near.a == near.b && is_out_of_reach(first, meeting)) continue;
    if (first.is_open) {
      std::swap(meeting.a, meeting.b), std::swap(meeting.velocity_a, meeting.velocity_b);
      meeting.normal = -meeting.normal;
    }
    meeting.b_is_open = first.is_open || second.is_open;
    meetings_.push_back(meeting);
  }
}

void SolidMeetings::add_meetings(std::span<const BodySurface> solids, const NearSkins& near) {
  const float friction = std::sqrt(solids[near.a].friction * solids[near.b].friction);
  for (const TextureContact& contact : near.search->contacts()) {
    const BodySurface& first = solids[contact.is_of_b ? near.b : near.a];
    const BodySurface& second = solids[contact.is_of_b ? near.a : near.b];
    SolidMeeting meeting{.a = {.body = first.id, .count = 1, .nodes = {contact.node}, .weights = {1}},
                         .b = {.body = second.id, .count = 3, .nodes = contact.nodes},
                         .velocity_a = first.v[contact.node],
                         .normal = contact.normal,
                         .gap = contact.gap - first.radius - second.radius,
                         .slop = first.slop,
                         .friction = friction,
                         .key = key_of(first.id, second.id, contact.node)};
    meeting.point = 0.5f * first.x[contact.node];
    for (std::size_t k = 0; k < 3; ++k) {
      meeting.b.weights[k] = contact.weights[k];
      meeting.point += 0.5f * contact.weights[k] * second.x[contact.nodes[k]];
      meeting.velocity_b += contact.weights[k] * second.v[contact.nodes[k]];
    }
    meetings_.push_back(meeting);
  }
}

void SolidMeetings::add_meetings(const BodySurface& solid, const Obstacle& obstacle, const RigidContacts& search) {
  overflowed_ |= search.overflowed();
  const float friction = std::sqrt(solid.friction * obstacle.friction);
  for (const RigidContact& contact : search.contacts()) {
    const MeetingSide side{solid.id, contact.count, contact.nodes, contact.weights};
    meetings_.push_back({.a = side,
                         .b = {.body = obstacle.id},
                         .point = contact.point,
                         .surface_velocity = obstacle.is_dynamic ? Vec3{} : obstacle.velocity_at(contact.point),
                         .velocity_b = obstacle.velocity_at(contact.point),
                         .normal = contact.normal,
                         .gap = contact.gap,
                         .slop = solid.slop,
                         .friction = friction,
                         .key = key_of(solid.id, obstacle.id, contact.key)});
  }
}

}  // namespace pliant
