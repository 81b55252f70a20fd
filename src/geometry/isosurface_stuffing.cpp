#include "geometry/isosurface_stuffing.h"

#include <algorithm>
#include <array>

#include "geometry/adjacency.h"
#include "geometry/union_find.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

using Point = BccLattice::Point;

/// A point nearer to a cut of one of its edges than this share of the edge is warped there (the paper's α). Tried on
/// random regions with cuts at the worst places: no angle below 10.6 or above 164.7 degrees, better than all pairs
/// around.
constexpr float kNearLong = 0.285f, kNearShort = 0.395f;
constexpr float near_share(int direction) { return BccLattice::is_long(direction) ? kNearLong : kNearShort; }
constexpr float edge_length(int direction) { return BccLattice::is_long(direction) ? 1.0f : 0.8660254f; }

enum State : std::uint8_t { kOutside, kInside, kOnSurface };

class Stuffer {
 public:
  Stuffer(const BccLattice& lattice, const LatticeRegion& region, Workers& workers)
      : lattice_(lattice), region_(region), workers_(workers), is_pinned_(region.is_pinned) {}

  StuffedSolid run() {
    find_border();
    cut_edges();
    // Each round takes at least one warped point back, and without warped points nothing can touch: it ends.
    do {
      warp_points();
      fill_tets();
    } while (pin_touching_points());
    return collect();
  }

 private:
  void find_border();
  void cut_edges();
  void warp_points();
  void warp_point(std::size_t slot);
  void fill_tets();
  bool pin_touching_points();
  StuffedSolid collect();

  void fill_tet(const std::array<Point, 4>& tet, std::vector<Tet>& out) const;
  void fill_pyramid(const std::array<Point, 4>& tet, int p, int q, int m, std::vector<Tet>& out) const;
  void fill_wedge(const std::array<Point, 4>& tet, std::array<int, 2> in, std::array<int, 2> out_of,
                  std::vector<Tet>& out) const;
  void fill_frustum(const std::array<Point, 4>& tet, int m, std::vector<Tet>& out) const;

  int direction(Point from, Point to) const {
    int d = 0;
    while (lattice_.neighbor(from, d) != to) ++d;
    return d;
  }
  /// The node on the edge between a point inside and one outside.
  std::uint32_t cut_node(Point inside, Point outside) const {
    return lattice_.point_count() + BccLattice::kDirections * slot_of_[inside] +
           std::uint32_t(direction(inside, outside));
  }
  bool diagonal_touches(Point p, Point q, Point m) const;
  Vec3 position(std::uint32_t node) const;

  const BccLattice& lattice_;
  const LatticeRegion& region_;
  Workers& workers_;
  std::vector<std::uint8_t> is_pinned_;

  std::vector<std::uint8_t> state_;
  std::vector<Point> border_;           ///< points with a neighbour on the other side, ascending
  std::vector<std::uint32_t> slot_of_;  ///< per lattice point: where it stands in border_
  std::vector<float> cuts_;             ///< per border point inside and direction: the crossing
  std::vector<Vec3> places_;            ///< per border point: where it stands now
  std::vector<Tet> tets_;               ///< nodes are lattice points, then cuts
};

// The border ----------------------------------------------------------------------------------------------------------

void Stuffer::find_border() {
  const auto size = lattice_.size();
  std::vector<std::vector<Point>> layers(std::size_t(2 * size[2]));
  parallel_for(workers_, layers.size(), 1, [&](std::size_t layer, std::size_t) {
    const int kind = layer >= std::size_t(size[2]), k = int(layer) - kind * size[2];
    const Point first = lattice_.point(kind, 0, 0, k), end = first + Point(size[0] * size[1]);
    for (Point p = first; p < end; ++p) {
      if (lattice_.is_on_rim(p)) continue;
      for (int d = 0; d < BccLattice::kDirections; ++d) {
        if (region_.is_inside[lattice_.neighbor(p, d)] == region_.is_inside[p]) continue;
        layers[layer].push_back(p);
        break;
      }
    }
  });
  slot_of_.assign(lattice_.point_count(), kNoNeighbor);
  for (const auto& layer : layers) {
    for (const Point p : layer) {
      slot_of_[p] = std::uint32_t(border_.size());
      border_.push_back(p);
    }
  }
}

void Stuffer::cut_edges() {
  cuts_.assign(border_.size() * BccLattice::kDirections, 0);
  parallel_for(workers_, border_.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      if (!region_.is_inside[border_[s]]) continue;
      for (int d = 0; d < BccLattice::kDirections; ++d) {
        if (region_.is_inside[lattice_.neighbor(border_[s], d)]) continue;
        cuts_[s * BccLattice::kDirections + std::size_t(d)] = std::clamp(region_.crossing(border_[s], d), 0.0f, 1.0f);
      }
    }
  });
}

void Stuffer::warp_points() {
  state_.assign(region_.is_inside.begin(), region_.is_inside.end());
  places_.resize(border_.size());
  parallel_for(workers_, border_.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) warp_point(s);
  });
}

/// Moves a point to the nearest of the cuts that are too close to it, if there are any.
void Stuffer::warp_point(std::size_t s) {
  const Point p = border_[s];
  places_[s] = lattice_.position(p);
  if (is_pinned_[p]) return;
  float nearest = 2;
  int to = -1;
  float share = 0;
  for (int d = 0; d < BccLattice::kDirections; ++d) {
    const Point q = lattice_.neighbor(p, d);
    if (region_.is_inside[p] == region_.is_inside[q]) continue;
    const float t = region_.is_inside[p]
                        ? cuts_[s * BccLattice::kDirections + std::size_t(d)]
                        : 1 - cuts_[slot_of_[q] * BccLattice::kDirections + std::size_t(BccLattice::opposite(d))];
    if (t >= near_share(d) || t * edge_length(d) >= nearest) continue;
    nearest = t * edge_length(d), to = d, share = t;
  }
  if (to < 0) return;
  places_[s] += share * BccLattice::step_vector(to);
  state_[p] = kOnSurface;
}

// Stencils ------------------------------------------------------------------------------------------------------------

void Stuffer::fill_tets() {
  const auto size = lattice_.size();
  std::vector<std::vector<Tet>> layers(std::size_t(size[2] - 2));
  parallel_for(workers_, layers.size(), 1, [&](std::size_t layer, std::size_t) {
    const int k = int(layer);
    for (int j = 0; j + 2 < size[1]; ++j) {
      for (int i = 0; i + 2 < size[0]; ++i) {
        const Point c = lattice_.point(1, i, j, k);
        for (int axis = 0; axis < 3; ++axis) {
          lattice_.for_each_tet(c, axis, [&](const std::array<Point, 4>& tet) { fill_tet(tet, layers[layer]); });
        }
      }
    }
  });
  std::size_t count = 0;
  for (const auto& layer : layers) count += layer.size();
  tets_.clear();
  tets_.reserve(count);
  for (auto& layer : layers) {
    tets_.insert(tets_.end(), layer.begin(), layer.end());
    std::vector<Tet>().swap(layer);
  }
}

/// What lies inside of one lattice tet: all of it, or up to three tets.
void Stuffer::fill_tet(const std::array<Point, 4>& tet, std::vector<Tet>& out) const {
  std::array<int, 4> in{}, off{};
  int in_count = 0, off_count = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint8_t s = state_[tet[std::size_t(i)]];
    if (s == kInside) in[std::size_t(in_count++)] = i;
    if (s == kOutside) off[std::size_t(off_count++)] = i;
  }
  if (in_count == 0) return;
  if (off_count == 0) {
    out.push_back(tet);
  } else if (in_count == 1) {
    Tet corner = tet;
    for (int i = 0; i < off_count; ++i)
      corner[std::size_t(off[std::size_t(i)])] =
          cut_node(tet[std::size_t(in[0])], tet[std::size_t(off[std::size_t(i)])]);
    out.push_back(corner);
  } else if (in_count == 3) {
    fill_frustum(tet, off[0], out);
  } else if (off_count == 2) {
    fill_wedge(tet, {in[0], in[1]}, {off[0], off[1]}, out);
  } else {
    fill_pyramid(tet, in[0], in[1], off[0], out);
  }
}

/// On the lattice face (p, q, m) with m outside, the quadrilateral that is left has two diagonals. Whether it is the
/// one at p, rather than the one at q: a choice that both tets at the face make alike, and that keeps the angles good.
bool Stuffer::diagonal_touches(Point p, Point q, Point m) const {
  const int to_m = direction(p, m);
  // At the cut of the long edge, if there is one.
  if (BccLattice::is_long(to_m)) return false;
  if (BccLattice::is_long(direction(q, m))) return true;
  // The parity rule: alternate diagonals around a long edge.
  bool odd = false;
  for (const int s : BccLattice::step(to_m)) odd ^= s < 0;
  return odd;
}

/// Two points inside, one outside, one on the surface.
void Stuffer::fill_pyramid(const std::array<Point, 4>& tet, int p, int q, int m, std::vector<Tet>& out) const {
  const auto at = [&](int i) { return tet[std::size_t(i)]; };
  const std::uint32_t cut_p = cut_node(at(p), at(m)), cut_q = cut_node(at(q), at(m));
  Tet first = tet, second = tet;
  if (diagonal_touches(at(p), at(q), at(m))) {
    first[std::size_t(m)] = cut_q;
    second[std::size_t(q)] = cut_q, second[std::size_t(m)] = cut_p;
  } else {
    first[std::size_t(m)] = cut_p;
    second[std::size_t(p)] = cut_p, second[std::size_t(m)] = cut_q;
  }
  out.push_back(first);
  out.push_back(second);
}

/// A prism with edges a[i] - b[i], whose face a faces b. Of its side between i and j, `to(i, j)` says whether the
/// diagonal runs from a[i] to b[j]; the three must not run around in a circle.
template <typename To>
void fill_prism(const std::array<std::uint32_t, 3>& a, const std::array<std::uint32_t, 3>& b, To&& to,
                std::vector<Tet>& out) {
  std::array<std::size_t, 3> order{0, 1, 2};  // the diagonals run from a of the earlier to b of the later
  bool even = true;
  const auto sort_pair = [&](std::size_t i, std::size_t j) {
    if (!to(order[i], order[j])) std::swap(order[i], order[j]), even = !even;
  };
  sort_pair(0, 1);
  sort_pair(1, 2);
  sort_pair(0, 1);
  const auto [x, y, z] = order;
  const auto emit = [&](Tet t) {
    if (!even) std::swap(t[2], t[3]);
    out.push_back(t);
  };
  emit({a[x], a[y], a[z], b[z]});
  emit({a[x], a[y], b[z], b[y]});
  emit({a[x], b[x], b[y], b[z]});
}

/// Three points inside, one outside.
void Stuffer::fill_frustum(const std::array<Point, 4>& tet, int m, std::vector<Tet>& out) const {
  // The face opposite m looks away from it; turned, it looks at m.
  const auto& f = kTetFaces[std::size_t(m)];
  const std::array<std::uint32_t, 3> a{tet[std::size_t(f[0])], tet[std::size_t(f[2])], tet[std::size_t(f[1])]};
  std::array<std::uint32_t, 3> b;
  for (std::size_t i = 0; i < 3; ++i) b[i] = cut_node(a[i], tet[std::size_t(m)]);
  fill_prism(
      a, b, [&](std::size_t i, std::size_t j) { return diagonal_touches(a[i], a[j], tet[std::size_t(m)]); }, out);
}

/// Two points inside, two outside.
void Stuffer::fill_wedge(const std::array<Point, 4>& tet, std::array<int, 2> in, std::array<int, 2> off,
                         std::vector<Tet>& out) const {
  const auto [p, q] = in;
  auto [m, n] = off;
  // The prism from the cut corner at p to that at q has the right sense if (p, m, n, q) is an even arrangement. As
  // p < q and m < n, (p, q, m, n) is even but for two of the six ways to choose p and q; (p, m, n, q) is alike.
  const bool even = !((p == 0 && q == 2) || (p == 1 && q == 3));
  if (!even) std::swap(m, n);
  const Point vp = tet[std::size_t(p)], vq = tet[std::size_t(q)], vm = tet[std::size_t(m)], vn = tet[std::size_t(n)];
  const std::array<std::uint32_t, 3> a{vp, cut_node(vp, vm), cut_node(vp, vn)};
  const std::array<std::uint32_t, 3> b{vq, cut_node(vq, vm), cut_node(vq, vn)};
  const bool at_p[2] = {diagonal_touches(vp, vq, vm), diagonal_touches(vp, vq, vn)};
  // The side that lies on the surface belongs to this tet alone. Where the others leave a choice, its shorter diagonal.
  bool forward = !at_p[0];
  if (at_p[0] == at_p[1]) {
    forward = length_squared(position(a[1]) - position(b[2])) <= length_squared(position(a[2]) - position(b[1]));
  }
  const auto to = [&](std::size_t i, std::size_t j) {
    if (i == 0) return at_p[j - 1];
    if (j == 0) return !at_p[i - 1];
    return (i == 1) == forward;
  };
  fill_prism(a, b, to, out);
}

Vec3 Stuffer::position(std::uint32_t node) const {
  if (node < lattice_.point_count()) {
    return slot_of_[node] == kNoNeighbor ? lattice_.position(node) : places_[slot_of_[node]];
  }
  const std::uint32_t cut = node - lattice_.point_count(), slot = cut / BccLattice::kDirections;
  const int d = int(cut % BccLattice::kDirections);
  // Cuts closer than this occur only at points that could not be warped.
  const float t = std::clamp(cuts_[cut], near_share(d), 1 - near_share(d));
  return lattice_.position(border_[slot]) + t * BccLattice::step_vector(d);
}

// The boundary --------------------------------------------------------------------------------------------------------

/// Whether the tets around a node, given by the faces opposite it, fill a ball or half a ball: then the boundary does
/// not touch itself there.
bool is_disk_or_sphere(std::vector<std::array<std::uint32_t, 3>>& link) {
  std::vector<std::uint32_t> nodes;
  for (const auto& f : link) nodes.insert(nodes.end(), f.begin(), f.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<std::array<std::uint32_t, 3>> edges;  // two local nodes and a face
  for (std::uint32_t f = 0; f < link.size(); ++f) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [a, b] = std::minmax(link[f][i], link[f][(i + 1) % 3]);
      const auto local = [&](std::uint32_t node) {
        return std::uint32_t(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
      };
      edges.push_back({local(a), local(b), f});
    }
  }
  std::sort(edges.begin(), edges.end());
  UnionFind parts(link.size());
  std::vector<int> rim_edges(nodes.size(), 0);
  std::size_t distinct = 0;
  bool has_rim = false;
  for (std::size_t e = 0; e < edges.size(); ++distinct) {
    const bool shared = e + 1 < edges.size() && edges[e][0] == edges[e + 1][0] && edges[e][1] == edges[e + 1][1];
    if (shared) {
      parts.join(edges[e][2], edges[e + 1][2]);
    } else {
      has_rim = true;
      ++rim_edges[edges[e][0]], ++rim_edges[edges[e][1]];
    }
    e += shared ? 2 : 1;
  }
  for (std::uint32_t f = 0; f < link.size(); ++f) {
    if (parts.root(f) != 0) return false;
  }
  if (std::any_of(rim_edges.begin(), rim_edges.end(), [](int n) { return n > 2; })) return false;
  // Euler's characteristic of a connected surface: 1 for a disk, 2 for a sphere, less for anything else with as many
  // rims.
  return int(nodes.size() + link.size()) - int(distinct) == (has_rim ? 1 : 2);
}

/// Pins warped points around which the boundary touches itself. Elsewhere it cannot: points inside are surrounded by
/// tets, and around a cut the boundary crosses each lattice tet once. False if there are none.
bool Stuffer::pin_touching_points() {
  std::vector<std::uint32_t> first(border_.size() + 1, 0);
  const auto for_each_warped = [&](auto&& visit) {
    for (std::uint32_t t = 0; t < tets_.size(); ++t) {
      for (const std::uint32_t node : tets_[t]) {
        if (node < lattice_.point_count() && state_[node] == kOnSurface) visit(slot_of_[node], t);
      }
    }
  };
  for_each_warped([&](std::uint32_t slot, std::uint32_t) { ++first[slot + 1]; });
  for (std::size_t s = 0; s < border_.size(); ++s) first[s + 1] += first[s];
  std::vector<std::uint32_t> tets(first.back()), next(first.begin(), first.end() - 1);
  for_each_warped([&](std::uint32_t slot, std::uint32_t t) { tets[next[slot]++] = t; });

  std::vector<std::uint8_t> touches(border_.size(), 0);
  parallel_for(workers_, border_.size(), 256, [&](std::size_t begin, std::size_t end) {
    std::vector<std::array<std::uint32_t, 3>> link;
    for (std::size_t s = begin; s < end; ++s) {
      link.clear();
      for (std::uint32_t i = first[s]; i < first[s + 1]; ++i) {
        const Tet& t = tets_[tets[i]];
        const std::size_t own = std::size_t(std::find(t.begin(), t.end(), border_[s]) - t.begin());
        link.push_back({t[(own + 1) % 4], t[(own + 2) % 4], t[(own + 3) % 4]});
      }
      if (!link.empty()) touches[s] = !is_disk_or_sphere(link);
    }
  });
  bool any = false;
  for (std::size_t s = 0; s < border_.size(); ++s) {
    if (touches[s]) is_pinned_[border_[s]] = any = true;
  }
  return any;
}

StuffedSolid Stuffer::collect() {
  std::vector<std::uint32_t> number(lattice_.point_count() + cuts_.size(), kNoNeighbor);
  for (const Tet& t : tets_) {
    for (const std::uint32_t node : t) number[node] = 0;
  }
  StuffedSolid solid;
  for (std::uint32_t node = 0; node < number.size(); ++node) {
    if (number[node] == kNoNeighbor) continue;
    number[node] = std::uint32_t(solid.mesh.nodes.size());
    solid.mesh.nodes.push_back(position(node));
    solid.is_surface.push_back(node >= lattice_.point_count() || state_[node] == kOnSurface);
  }
  // As the boundary touches itself nowhere, tets with a node in common are joined by faces around it.
  UnionFind pieces(solid.mesh.nodes.size());
  for (Tet& t : tets_) {
    for (std::uint32_t& node : t) node = number[node];
    for (std::size_t i = 1; i < 4; ++i) pieces.join(t[0], t[i]);
  }
  for (std::uint32_t node = 0; node < solid.mesh.nodes.size(); ++node) solid.pieces += pieces.root(node) == node;
  solid.mesh.tets = std::move(tets_);
  return solid;
}

}  // namespace

StuffedSolid stuff_lattice(const BccLattice& lattice, const LatticeRegion& region, Workers& workers) {
  return Stuffer(lattice, region, workers).run();
}

}  // namespace pliant
