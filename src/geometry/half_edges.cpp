#include "geometry/half_edges.h"

#include <algorithm>

#include "geometry/adjacency.h"

namespace pliant {

HalfEdges::HalfEdges(std::vector<Vec3d> positions, std::span<const Face> faces, std::span<const std::uint32_t> groups)
    : positions_(std::move(positions)),
      start_(3 * faces.size()),
      twin_(3 * faces.size(), kNone),
      out_(positions_.size(), kNone),
      fixed_(3 * faces.size(), 0),
      groups_(groups.begin(), groups.end()) {
  for (Index h = 0; h < start_.size(); ++h) start_[h] = faces[h / 3][h % 3], out_[start_[h]] = h;
  const EdgeAdjacency edges = edge_faces(faces, positions_.size());
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    std::array<Index, 2> sides{};
    for (std::size_t side = 0; side < 2; ++side) {
      const Index f = edges.elements[e][side];
      for (Index h = 3 * f; h < 3 * f + 3; ++h) {
        if (std::minmax(start(h), end(h)) == std::minmax(edges.edges[e][0], edges.edges[e][1])) sides[side] = h;
      }
    }
    pair(sides[0], sides[1]);
  }
}

Vec3d HalfEdges::area_vector(Index face) const {
  const Vec3d a = positions_[start_[3 * face]];
  return cross(positions_[start_[3 * face + 1]] - a, positions_[start_[3 * face + 2]] - a);
}

int HalfEdges::valence(Index v) const {
  int count = 0;
  for_each_out(v, [&](Index) { ++count; });
  return count;
}

bool HalfEdges::are_joined(Index a, Index b) const {
  bool found = false;
  for_each_out(a, [&](Index h) { found = found || end(h) == b; });
  return found;
}

HalfEdges::Index HalfEdges::split(Index h, Vec3d at) {
  // (a, b, c) becomes (a, m, c) and (m, b, c); (b, a, d) becomes (b, m, d) and (m, a, d).
  const Index t = twin_[h], hn = next(h), tn = next(t);
  const Index a = start(h), b = start(t), c = across(h), d = across(t), m = Index(positions_.size());
  const Index x = Index(start_.size()), y = x + 3;  // the first half-edges of the two new faces
  positions_.push_back(at);
  out_.push_back(x);
  start_.insert(start_.end(), {m, b, c, m, a, d});
  twin_.resize(start_.size());
  fixed_.insert(fixed_.end(), {fixed_[h], fixed_[hn], 0, fixed_[h], fixed_[tn], 0});
  groups_.push_back(std::uint32_t(groups_[h / 3]));
  groups_.push_back(std::uint32_t(groups_[t / 3]));
  const Index outer_h = twin_[hn], outer_t = twin_[tn];
  pair(x + 1, outer_h), pair(y + 1, outer_t);
  start_[hn] = start_[tn] = m;
  fixed_[hn] = fixed_[tn] = 0;
  pair(hn, x + 2), pair(tn, y + 2);
  pair(h, y), pair(t, x);
  out_[a] = h, out_[b] = t;
  return m;
}

bool HalfEdges::can_collapse(Index h) const {
  const Index a = start(h), b = end(h), c = across(h), d = across(twin_[h]);
  if (c == d || valence(c) <= 3 || valence(d) <= 3) return false;
  int common = 0;
  for_each_out(a, [&](Index k) { common += end(k) != b && are_joined(end(k), b) ? 1 : 0; });
  return common == 2;
}

void HalfEdges::collapse(Index h) {
  const Index t = twin_[h], a = start(h), b = end(h), c = across(h), d = across(t);
  const Index hn = next(h), hp = previous(h), tn = next(t), tp = previous(t);
  const Index from_c = twin_[hn], to_c = twin_[hp], to_a = twin_[tn], to_d = twin_[tp];
  std::vector<Index> outgoing;
  for_each_out(a, [&](Index k) { outgoing.push_back(k); });
  for (const Index k : outgoing) start_[k] = b;
  const std::uint8_t fix_c = fixed_[hn] | fixed_[hp], fix_d = fixed_[tn] | fixed_[tp];
  pair(from_c, to_c), pair(to_a, to_d);
  fixed_[from_c] = fixed_[to_c] = fix_c;
  fixed_[to_a] = fixed_[to_d] = fix_d;
  for (const Index k : {h, hn, hp, t, tn, tp}) start_[k] = twin_[k] = kNone;
  out_[a] = kNone;
  out_[b] = to_c, out_[c] = from_c, out_[d] = to_a;
}

bool HalfEdges::can_flip(Index h) const {
  const Index t = twin_[h], c = across(h), d = across(t);
  if (fixed_[h] || c == d || groups_[h / 3] != groups_[t / 3]) return false;
  return valence(start(h)) > 3 && valence(end(h)) > 3 && !are_joined(c, d);
}

void HalfEdges::flip(Index h) {
  // (a, b, c) and (b, a, d) become (d, c, a) and (c, d, b).
  const Index t = twin_[h], hn = next(h), hp = previous(h), tn = next(t), tp = previous(t);
  const Index a = start(h), b = start(t), c = start(hp), d = start(tp);
  const std::array<Index, 4> outer{twin_[hn], twin_[hp], twin_[tn], twin_[tp]};  // of bc, ca, ad, db
  start_[h] = d, start_[hn] = c, start_[hp] = a;
  start_[t] = c, start_[tn] = d, start_[tp] = b;
  pair(hn, outer[1]), pair(hp, outer[2]), pair(tn, outer[3]), pair(tp, outer[0]);
  for (const Index k : {hn, hp, tn, tp}) fixed_[k] = fixed_[twin_[k]];
  out_[a] = hp, out_[b] = tp, out_[c] = hn, out_[d] = tn;
}

HalfEdges::Compact HalfEdges::compact() const {
  Compact out;
  std::vector<Index> number(positions_.size(), kNone);
  for (Index v = 0; v < positions_.size(); ++v) {
    if (out_[v] == kNone) continue;
    number[v] = Index(out.positions.size());
    out.positions.push_back(positions_[v]);
  }
  for (Index f = 0; 3 * f < start_.size(); ++f) {
    if (!is_alive(3 * f)) continue;
    out.faces.push_back({number[start_[3 * f]], number[start_[3 * f + 1]], number[start_[3 * f + 2]]});
    out.groups.push_back(groups_[f]);
    out.fixed.push_back({fixed_[3 * f], fixed_[3 * f + 1], fixed_[3 * f + 2]});
  }
  return out;
}

}  // namespace pliant
