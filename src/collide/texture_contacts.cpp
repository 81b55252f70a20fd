#include "collide/texture_contacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "geometry/primitives.h"

namespace pliant {
namespace {

/// Clusters that look away from each other more than this cannot touch.
constexpr float kFacing = 0.5f;
/// Texels over the mean edge of the finer surface, and the most of them along a side of a window.
constexpr float kTexel = 0.7f;
constexpr int kMostTexels = 1024;
/// A node that looks the same way as the normal of a contact is not pushed by it.
constexpr float kFromBehind = 0.25f;
/// Mean edges that a search goes deep at first, and how much deeper each time that this is not deep enough.
constexpr float kFirstReach = 2, kDeeper = 3;
constexpr float kLeastReach = 1e-3f;  ///< of what is asked for
/// Nodes that look across in one piece of work.
constexpr std::size_t kLookGrain = 512;

/// The corner or side of a cube that a direction points to: regions of one direction lie in one of these.
std::uint32_t bin_of(Vec3 d) {
  const auto part = [](float v) { return v > 0.45f ? 2u : v < -0.45f ? 0u : 1u; };
  return part(d.x) + 3 * part(d.y) + 9 * part(d.z);
}

/// The point of a surface nearest to `p`, downhill from a face on.
struct Nearest {
  std::uint32_t face;
  TrianglePoint at;
};

Nearest walk_to_nearest(const TexturedSurface& surface, Vec3 p, std::uint32_t start) {
  constexpr int kMostSteps = 64;
  const auto point_on = [&](std::uint32_t f) {
    const Face& face = surface.faces()[f];
    return closest_on_triangle(p, surface.x()[face[0]], surface.x()[face[1]], surface.x()[face[2]]);
  };
  Nearest best{start, point_on(start)};
  for (int step = 0; step < kMostSteps; ++step) {
    const std::uint32_t from = best.face;
    const Vec3 weights = best.at.weights;
    // Inside a face nothing beside it is nearer.
    if (weights.x > 0 && weights.y > 0 && weights.z > 0) break;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!(weights[k] > 0)) continue;
      for (const std::uint32_t f : surface.faces_of(surface.faces()[from][k])) {
        if (f == from) continue;
        const TrianglePoint at = point_on(f);
        if (at.squared_distance < best.at.squared_distance) best = {f, at};
      }
    }
    if (best.face == from) break;
  }
  return best;
}

/// The texel that a coordinate falls into; −1 if that is none, whatever the number.
int texel_at(float v, int count) { return v >= 0 && v < static_cast<float>(count) ? static_cast<int>(v) : -1; }

/// The first and the last centre of a texel that a triangle may cover along an axis.
std::pair<int, int> texels_between(const float (&v)[3], int count) {
  const float most = static_cast<float>(count - 1);
  const float first = std::ceil(std::clamp(std::min({v[0], v[1], v[2]}), 0.0f, most + 1));
  const float last = std::floor(std::clamp(std::max({v[0], v[1], v[2]}), -1.0f, most));
  return {static_cast<int>(first), static_cast<int>(last)};
}

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t i) {
  while (parents[i] != i) i = parents[i] = parents[parents[i]];
  return i;
}

}  // namespace

std::span<const TextureContact> TextureContacts::find(const TexturedSurface& a, const TexturedSurface& b,
                                                      const TextureSearch& search, Workers& workers) {
  contacts_.clear();
  regions_used_ = looks_used_ = 0;
  const Surfaces surfaces = {&a, &b};
  const float edge = std::max(a.edge(), b.edge());
  for (float reach = std::max(kFirstReach * edge, kLeastReach * search.reach);; reach *= kDeeper) {
    const bool is_last = !(reach < search.reach);
    const float deepest = search_to(surfaces, {is_last ? search.reach : reach, search.margin}, workers);
    if (is_last || deepest + edge < reach) break;
  }
  gather();
  return contacts_;
}

/// Fills the looks. Returns the depth of the deepest node that is inside.
float TextureContacts::search_to(const Surfaces& surfaces, const TextureSearch& search, Workers& workers) {
  const float near = search.reach + search.margin;
  find_pairs(surfaces, near);
  make_regions();
  parallel_for(workers, regions_used_, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Region& region = regions_[i];
      region.columns = region.rows = 0;
      if (set_window(surfaces, near, region)) continue;
      region.nodes[0].clear(), region.nodes[1].clear();
    }
  });
  parallel_for(workers, 2 * regions_used_, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) rasterise(*surfaces[i % 2], regions_[i / 2], i % 2);
  });
  list_looks();
  parallel_for(workers, looks_used_, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) look(surfaces, search, looks_[i]);
  });
  float deepest = 0;
  for (std::size_t i = 0; i < looks_used_; ++i) deepest = std::max(deepest, looks_[i].deepest);
  return deepest;
}

void TextureContacts::list_looks() {
  looks_used_ = 0;
  for (std::uint32_t i = 0; i < regions_used_; ++i) {
    for (const std::uint32_t side : {0u, 1u}) {
      const std::size_t count = regions_[i].nodes[side].size();
      for (std::size_t begin = 0; begin < count; begin += kLookGrain) {
        if (looks_used_ == looks_.size()) looks_.emplace_back();
        Look& work = looks_[looks_used_++];
        work.region = i, work.side = side;
        work.begin = static_cast<std::uint32_t>(begin);
        work.end = static_cast<std::uint32_t>(std::min(begin + kLookGrain, count));
      }
    }
  }
}

/// All that was found, by side and node. Of several hits the nearest: regions look from several sides, and a rim is
/// near from one and far from another.
void TextureContacts::gather() {
  found_.clear();
  for (std::size_t i = 0; i < looks_used_; ++i) {
    found_.insert(found_.end(), looks_[i].found.begin(), looks_[i].found.end());
  }
  // Side, node and place in one number each, which sorts faster than contacts do.
  order_.clear();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    order_.push_back(std::uint64_t{found_[i].is_of_b} << 63 | std::uint64_t{found_[i].node} << 31 | i);
  }
  std::sort(order_.begin(), order_.end());
  for (const std::uint64_t entry : order_) {
    const TextureContact& contact = found_[entry & 0x7fffffff];
    const bool is_same =
        !contacts_.empty() && contacts_.back().node == contact.node && contacts_.back().is_of_b == contact.is_of_b;
    if (!is_same) {
      contacts_.push_back(contact);
    } else if (std::abs(contact.gap) < std::abs(contacts_.back().gap)) {
      contacts_.back() = contact;
    }
  }
}

std::size_t TextureContacts::texels() const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < regions_used_; ++i) {
    total += static_cast<std::size_t>(regions_[i].columns) * static_cast<std::size_t>(regions_[i].rows);
  }
  return total;
}

/// Clusters that come near and look at each other.
void TextureContacts::find_pairs(const Surfaces& surfaces, float near) {
  pairs_.clear();
  for (const std::size_t side : {0u, 1u}) {
    for (const std::uint32_t c : near_[side]) places_[side][c] = kNone;
    near_[side].clear(), normals_[side].clear();
    places_[side].resize(surfaces[side]->cluster_count(), kNone);
  }
  const auto a = surfaces[0]->tree(), b = surfaces[1]->tree();
  stack_.clear();
  if (!a.empty() && !b.empty()) stack_.emplace_back(0, 0);
  while (!stack_.empty()) {
    const auto [i, k] = stack_.back();
    stack_.pop_back();
    if (!a[i].box.expanded(near).overlaps(b[k].box)) continue;
    if (a[i].is_leaf() && b[k].is_leaf()) {
      add_pair(surfaces, a[i].first, b[k].first);
    } else if (b[k].is_leaf() ||
               (!a[i].is_leaf() && length_squared(a[i].box.size()) > length_squared(b[k].box.size()))) {
      stack_.emplace_back(a[i].second, k), stack_.emplace_back(a[i].first, k);
    } else {
      stack_.emplace_back(i, b[k].second), stack_.emplace_back(i, b[k].first);
    }
  }
}

void TextureContacts::add_pair(const Surfaces& surfaces, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t i = place_of(*surfaces[0], 0, a), k = place_of(*surfaces[1], 1, b);
  if (dot(normals_[0][i], normals_[1][k]) > kFacing) return;
  pairs_.push_back({i, k, bin_of(normalized(normals_[1][k] - normals_[0][i], normals_[1][k]))});
}

std::uint32_t TextureContacts::place_of(const TexturedSurface& surface, std::size_t side, std::uint32_t cluster) {
  std::uint32_t& place = places_[side][cluster];
  if (place == kNone) {
    place = static_cast<std::uint32_t>(near_[side].size());
    near_[side].push_back(cluster);
    normals_[side].push_back(surface.mean_normal(cluster));
  }
  return place;
}

/// Pairs of one bin that share a cluster belong together.
void TextureContacts::make_regions() {
  regions_used_ = 0;
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& p, const Pair& q) { return std::tie(p.bin, p.a, p.b) < std::tie(q.bin, q.a, q.b); });
  for (std::size_t begin = 0; begin < pairs_.size();) {
    std::size_t end = begin;
    while (end < pairs_.size() && pairs_[end].bin == pairs_[begin].bin) ++end;
    const auto count = static_cast<std::uint32_t>(near_[0].size());
    parents_.resize(near_[0].size() + near_[1].size());
    std::iota(parents_.begin(), parents_.end(), 0u);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t p = root_of(parents_, pairs_[i].a), q = root_of(parents_, count + pairs_[i].b);
      parents_[std::max(p, q)] = std::min(p, q);
    }
    const std::size_t before = regions_used_;
    roots_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t root = root_of(parents_, pairs_[i].a);
      std::size_t place = before;
      while (place - before < roots_.size() && roots_[place - before] != root) ++place;
      if (place - before == roots_.size()) {
        roots_.push_back(root);
        if (regions_used_ == regions_.size()) regions_.emplace_back();
        Region& fresh = regions_[regions_used_++];
        fresh.clusters[0].clear(), fresh.clusters[1].clear();
        fresh.direction = {};
      }
      Region& region = regions_[place];
      region.clusters[0].push_back(pairs_[i].a), region.clusters[1].push_back(pairs_[i].b);
      region.direction += normals_[1][pairs_[i].b] - normals_[0][pairs_[i].a];
    }
    begin = end;
  }
  for (std::size_t i = 0; i < regions_used_; ++i) {
    Region& region = regions_[i];
    region.direction = normalized(region.direction, {0, 1, 0});
    const Vec3 d = region.direction;
    region.across = normalized(std::abs(d.x) < 0.6f ? cross(d, {1, 0, 0}) : cross(d, {0, 1, 0}));
    region.along = cross(d, region.across);
    for (const std::size_t side : {0u, 1u}) {
      auto& clusters = region.clusters[side];
      std::sort(clusters.begin(), clusters.end());
      clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
      for (std::uint32_t& c : clusters) c = near_[side][c];
    }
  }
}

/// Where both patches are; false if that is nowhere.
bool TextureContacts::set_window(const Surfaces& surfaces, float near, Region& region) const {
  float lower[2] = {-1e30f, -1e30f}, upper[2] = {1e30f, 1e30f};
  for (const std::size_t side : {0u, 1u}) {
    const TexturedSurface& surface = *surfaces[side];
    auto& nodes = region.nodes[side];
    nodes.clear();
    region.is_listed.resize(std::max(region.is_listed.size(), surface.x().size()), 0);
    for (const std::uint32_t c : region.clusters[side]) {
      for (const std::uint32_t node : surface.cluster(c).nodes) {
        if (region.is_listed[node]++ == 0) nodes.push_back(node);
      }
    }
    for (const std::uint32_t c : region.clusters[side]) {
      for (const std::uint32_t node : surface.cluster(c).nodes) region.is_listed[node] = 0;
    }
    float least[2] = {1e30f, 1e30f}, most[2] = {-1e30f, -1e30f};
    for (const std::uint32_t node : nodes) {
      const float u = dot(surface.x()[node], region.across), v = dot(surface.x()[node], region.along);
      least[0] = std::min(least[0], u), most[0] = std::max(most[0], u);
      least[1] = std::min(least[1], v), most[1] = std::max(most[1], v);
    }
    for (const std::size_t k : {0u, 1u}) {
      lower[k] = std::max(lower[k], least[k] - near), upper[k] = std::min(upper[k], most[k] + near);
    }
  }
  const float width = upper[0] - lower[0], height = upper[1] - lower[1];
  if (!(width > 0 && height > 0) || !std::isfinite(width) || !std::isfinite(height)) return false;
  region.texel = kTexel * std::min(surfaces[0]->edge(), surfaces[1]->edge());
  region.texel = std::max({region.texel, width / kMostTexels, height / kMostTexels, 1e-9f});
  region.left = lower[0] - region.texel, region.low = lower[1] - region.texel;
  region.columns = static_cast<int>(width / region.texel) + 3,
  region.rows = static_cast<int>(height / region.texel) + 3;
  return true;
}

/// Faces that look at the other patch, the foremost of them at every texel's centre.
void TextureContacts::rasterise(const TexturedSurface& surface, Region& region, std::size_t side) const {
  Texture& texture = region.textures[side];
  const auto texels = static_cast<std::size_t>(region.columns) * static_cast<std::size_t>(region.rows);
  texture.depths.assign(texels, 1e30f);
  texture.faces.assign(texels, kNone);
  // Seen from below, the lowest of a; seen from above, the highest of b.
  const Vec3 depth_axis = side == 0 ? region.direction : -region.direction;
  const float scale = 1 / region.texel;
  for (const std::uint32_t c : region.clusters[side]) {
    for (const std::uint32_t f : surface.cluster(c).faces) {
      if (dot(surface.area_normal(f), depth_axis) >= 0) continue;
      float u[3], v[3], d[3];
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 p = surface.x()[surface.faces()[f][k]];
        u[k] = (dot(p, region.across) - region.left) * scale - 0.5f;
        v[k] = (dot(p, region.along) - region.low) * scale - 0.5f;
        d[k] = dot(p, depth_axis);
      }
      const float area = (u[1] - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (v[1] - v[0]);
      if (!(std::abs(area) > 0 && std::abs(area) < 1e12f)) continue;  // NaN too
      const auto [first_column, last_column] = texels_between(u, region.columns);
      const auto [first_row, last_row] = texels_between(v, region.rows);
      for (int row = first_row; row <= last_row; ++row) {
        for (int column = first_column; column <= last_column; ++column) {
          const auto x = static_cast<float>(column), y = static_cast<float>(row);
          const float w1 = ((x - u[0]) * (v[2] - v[0]) - (u[2] - u[0]) * (y - v[0])) / area;
          const float w2 = ((u[1] - u[0]) * (y - v[0]) - (x - u[0]) * (v[1] - v[0])) / area;
          constexpr float kRim = -1e-4f;  // no holes where faces meet
          if (w1 < kRim || w2 < kRim || 1 - w1 - w2 < kRim) continue;
          const float depth = d[0] + w1 * (d[1] - d[0]) + w2 * (d[2] - d[0]);
          const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(region.columns) +
                          static_cast<std::size_t>(column);
          if (depth < texture.depths[at]) texture.depths[at] = depth, texture.faces[at] = f;
        }
      }
    }
  }
}

/// Whether one of the node's own faces is in the texture, where it is or beside that.
bool TextureContacts::was_seen(const TexturedSurface& surface, const Region& region, std::size_t side,
                               std::uint32_t node, int column, int row) const {
  for (int y = std::max(row - 1, 0); y <= std::min(row + 1, region.rows - 1); ++y) {
    for (int x = std::max(column - 1, 0); x <= std::min(column + 1, region.columns - 1); ++x) {
      const std::uint32_t f = region.textures[side].faces[static_cast<std::size_t>(y * region.columns + x)];
      if (f == kNone) continue;
      const Face& face = surface.faces()[f];
      if (face[0] == node || face[1] == node || face[2] == node) return true;
    }
  }
  return false;
}

void TextureContacts::look(const Surfaces& surfaces, const TextureSearch& search, Look& work) const {
  const Region& region = regions_[work.region];
  const std::size_t side = work.side;
  const TexturedSurface &own = *surfaces[side], &other = *surfaces[1 - side];
  const float scale = 1 / region.texel;
  work.found.clear(), work.deepest = 0;
  for (std::uint32_t i = work.begin; i < work.end; ++i) {
    const std::uint32_t node = region.nodes[side][i];
    const Vec3 p = own.x()[node];
    const int column = texel_at((dot(p, region.across) - region.left) * scale, region.columns);
    const int row = texel_at((dot(p, region.along) - region.low) * scale, region.rows);
    if (column < 0 || row < 0) continue;
    std::uint32_t across = region.textures[1 - side].faces[static_cast<std::size_t>(row * region.columns + column)];
    for (int y = std::max(row - 1, 0); across == kNone && y <= std::min(row + 1, region.rows - 1); ++y) {
      for (int x = std::max(column - 1, 0); across == kNone && x <= std::min(column + 1, region.columns - 1); ++x) {
        across = region.textures[1 - side].faces[static_cast<std::size_t>(y * region.columns + x)];
      }
    }
    if (across == kNone || !was_seen(own, region, side, node, column, row)) continue;
    // Far before the other patch, by its plane alone.
    const Face& seen = other.faces()[across];
    const Vec3 plane = normalized(other.area_normal(across));
    const float watched = search.margin + length(own.motion(node)) + length(other.motion(seen[0])) + other.edge();
    if (dot(p - other.x()[seen[0]], plane) > watched + search.margin) continue;
    const Nearest nearest = walk_to_nearest(other, p, across);
    const Face& face = other.faces()[nearest.face];
    const Vec3 weights = nearest.at.weights, offset = p - nearest.at.position;
    Vec3 normal, motion = own.motion(node);
    for (std::size_t k = 0; k < 3; ++k) {
      if (weights[k] > 0) normal += weights[k] * other.node_normal(face[k]);
      motion -= weights[k] * other.motion(face[k]);
    }
    normal = normalized(normal, plane);
    const float distance = std::sqrt(nearest.at.squared_distance);
    const bool is_inside = dot(offset, normal) < 0;
    const float gap = is_inside ? -distance : distance;
    if (is_inside) work.deepest = std::max(work.deepest, distance);
    if (is_inside ? distance > search.reach : gap + std::min(dot(motion, normal), 0.0f) > search.margin) continue;
    if (dot(normal, own.node_normal(node)) > kFromBehind) continue;
    work.found.push_back({node, face, weights, normal, gap, side == 1});
  }
}

}  // namespace pliant
