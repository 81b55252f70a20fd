#include "solid/solid_overlaps.h"

#include <algorithm>
#include <cmath>

#include "geometry/primitives.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

using TetPoints = std::array<Vec3, 4>;

TetPoints points_of(const BodySurface& solid, std::uint32_t tet, float after) {
  TetPoints points;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::uint32_t node = solid.tets[tet][k];
    points[k] = solid.x[node] + after * solid.v[node];
  }
  return points;
}

Aabb box_of(const TetPoints& points) {
  Aabb box;
  for (const Vec3 p : points) box.include(p);
  return box;
}

Aabb box_of(const BodySurface& solid, float after) {
  Aabb box;
  for (std::size_t i = 0; i < solid.x.size(); ++i) box.include(solid.x[i] + after * solid.v[i]);
  return box;
}

/// Of a point inside the tet. A tet too flat to tell gives each node a quarter.
std::array<float, 4> barycentric(const TetPoints& p, Vec3 at) {
  const Vec3d o(p[3]), a = Vec3d(p[0]) - o, b = Vec3d(p[1]) - o, c = Vec3d(p[2]) - o, q = Vec3d(at) - o;
  const double six_volumes = dot(cross(a, b), c);
  if (six_volumes == 0) return {0.25f, 0.25f, 0.25f, 0.25f};
  const double u = dot(cross(q, b), c) / six_volumes, v = dot(cross(a, q), c) / six_volumes;
  const double w = dot(cross(a, b), q) / six_volumes;
  return {float(u), float(v), float(w), float(1 - u - v - w)};
}

bool share_a_node(const Tet& a, const Tet& b) {
  return std::any_of(a.begin(), a.end(), [&](std::uint32_t n) { return std::find(b.begin(), b.end(), n) != b.end(); });
}

bool is_sound(const BodySurface& s) {
  return !s.tets.empty() && s.x.size() == s.rest.size() && s.v.size() == s.rest.size();
}

Face sorted_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  Face face{a, b, c};
  std::sort(face.begin(), face.end());
  return face;
}

std::vector<std::uint32_t> surface_tets(const BodySurface& solid) {
  std::vector<Face> outer;
  outer.reserve(solid.faces.size());
  for (const Face& f : solid.faces) outer.push_back(sorted_face(f[0], f[1], f[2]));
  std::sort(outer.begin(), outer.end());
  std::vector<std::uint32_t> tets;
  for (std::uint32_t t = 0; t < solid.tets.size(); ++t) {
    const Tet& n = solid.tets[t];
    for (std::size_t k = 0; k < 4; ++k) {
      const Face face = sorted_face(n[(k + 1) % 4], n[(k + 2) % 4], n[(k + 3) % 4]);
      if (!std::binary_search(outer.begin(), outer.end(), face)) continue;
      tets.push_back(t);
      break;
    }
  }
  return tets;
}

}  // namespace

std::span<const SolidOverlap> SolidOverlaps::find(std::span<const BodySurface> solids, Workers& workers) {
  overlaps_.clear();
  keep_skins(solids);
  parallel_for(workers, solids.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (skin_of_[i]) fit(solids[i], 0, *skin_of_[i]);
    }
  });
  find_pairs(solids);
  if (found_.size() < pairs_.size()) found_.resize(pairs_.size());
  parallel_for(workers, pairs_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) look(solids, pairs_[i], found_[i]);
  });
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    overlaps_.insert(overlaps_.end(), found_[i].begin(), found_[i].end());
  }
  return overlaps_;
}

void SolidOverlaps::keep_skins(std::span<const BodySurface> solids) {
  std::erase_if(skins_, [&](const auto& known) {
    return !std::binary_search(solids.begin(), solids.end(), BodySurface{.id = known.first},
                               [](const BodySurface& x, const BodySurface& y) { return x.id < y.id; });
  });
  skin_of_.assign(solids.size(), nullptr);
  for (std::size_t i = 0; i < solids.size(); ++i) {
    if (!is_sound(solids[i])) continue;
    Skin& skin = skins_[solids[i].id];
    if (skin.is_new || skin.revision != solids[i].revision) {
      skin = {.revision = solids[i].revision, .tets = surface_tets(solids[i])};
    }
    skin_of_[i] = &skin;
  }
}

/// Boxes and tree as they will be `after` so many seconds.
void SolidOverlaps::fit(const BodySurface& solid, float after, Skin& skin) const {
  skin.boxes.resize(skin.tets.size());
  for (std::size_t i = 0; i < skin.tets.size(); ++i) skin.boxes[i] = box_of(points_of(solid, skin.tets[i], after));
  skin.is_new ? skin.tree.build(skin.boxes) : skin.tree.refit(skin.boxes);
  skin.is_new = false;
}

void SolidOverlaps::find_pairs(std::span<const BodySurface> solids) {
  pairs_.clear();
  for (std::uint32_t a = 0; a < solids.size(); ++a) {
    if (!skin_of_[a]) continue;
    if (solids[a].is_active && solids[a].self_collision) pairs_.push_back({a, a});
    const Aabb box = skin_of_[a]->tree.bounds();
    for (std::uint32_t b = a + 1; b < solids.size(); ++b) {
      if (!skin_of_[b] || !(solids[a].is_active || solids[b].is_active)) continue;
      if (!collide(solids[a].filter, solids[b].filter) || !box.overlaps(skin_of_[b]->tree.bounds())) continue;
      pairs_.push_back({a, b});
    }
  }
}

void SolidOverlaps::look(std::span<const BodySurface> solids, Pair pair, std::vector<SolidOverlap>& found) const {
  found.clear();
  const BodySurface &first = solids[pair.a], &second = solids[pair.b];
  const Skin &skin_a = *skin_of_[pair.a], &skin_b = *skin_of_[pair.b];
  const float friction = std::sqrt(first.friction * second.friction);
  const auto cut = [&](std::uint32_t i, std::uint32_t j) {
    const std::uint32_t s = skin_a.tets[i], t = skin_b.tets[j];
    if (pair.a == pair.b && share_a_node(first.tets[s], first.tets[t])) return;
    const TetPoints p = points_of(first, s, 0), q = points_of(second, t, 0);
    const TetOverlap common = intersect_tets(p, q);
    const float area = length(common.area_normal);
    if (!(common.volume > 0) || !(area > 0) || !std::isfinite(area)) return;
    found.push_back({.a = {first.id, first.tets[s], barycentric(p, common.centroid)},
                     .b = {second.id, second.tets[t], barycentric(q, common.centroid)},
                     .point = common.centroid,
                     .normal = common.area_normal / -area,
                     .area = area,
                     .volume = static_cast<float>(common.volume),
                     .friction = friction,
                     .key = std::uint64_t{s} << 32 | t});
  };
  pair.a == pair.b ? skin_a.tree.for_each_self_pair(cut) : skin_a.tree.for_each_pair(skin_b.tree, cut);
  // The order in which a tree finds them depends on its past.
  std::sort(found.begin(), found.end(), [](const SolidOverlap& x, const SolidOverlap& y) { return x.key < y.key; });
}

bool SolidOverlaps::overlap_after(std::span<const BodySurface> solids, Pair pair, float after) {
  for (const std::uint32_t i : {pair.a, pair.b}) fit(solids[i], after, *skin_of_[i]);
  bool any = false;
  skin_of_[pair.a]->tree.for_each_pair(skin_of_[pair.b]->tree, [&](std::uint32_t i, std::uint32_t j) {
    any = any || tets_overlap(points_of(solids[pair.a], skin_of_[pair.a]->tets[i], after),
                              points_of(solids[pair.b], skin_of_[pair.b]->tets[j], after));
  });
  return any;
}

float SolidOverlaps::free_share(std::span<const BodySurface> solids, std::size_t which, float dt) {
  constexpr float kFast = 1.0f / 6;
  constexpr int kMostParts = 1000;
  const BodySurface& solid = solids[which];
  if (which >= skin_of_.size() || !skin_of_[which]) return 1;
  float fastest = 0;
  for (const Vec3 v : solid.v) fastest = std::max(fastest, length_squared(v));
  const Aabb from = box_of(solid, 0), to = box_of(solid, dt);
  const float way = dt * std::sqrt(fastest), step = kFast * length(from.size());
  if (!(way > step) || !std::isfinite(way)) return 1;
  const int parts = static_cast<int>(std::min(std::ceil(way / step), float(kMostParts)));
  Aabb swept = from;
  swept.include(to.lower), swept.include(to.upper);
  int first = parts;
  for (std::uint32_t other = 0; other < solids.size(); ++other) {
    if (other == which || !skin_of_[other] || !collide(solid.filter, solids[other].filter)) continue;
    Aabb theirs = box_of(solids[other], 0);
    const Aabb later = box_of(solids[other], dt);
    theirs.include(later.lower), theirs.include(later.upper);
    const Pair pair{static_cast<std::uint32_t>(which), other};
    if (!swept.overlaps(theirs) || overlap_after(solids, pair, 0)) continue;
    for (int k = 1; k < first; ++k) {
      if (!overlap_after(solids, pair, dt * float(k) / float(parts))) continue;
      first = k;
    }
  }
  return float(first) / float(parts);
}

}  // namespace pliant
