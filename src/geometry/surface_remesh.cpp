#include "geometry/surface_remesh.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/adjacency.h"
#include "geometry/half_edges.h"
#include "geometry/primitives.h"
#include "geometry/union_find.h"

namespace pliant {
namespace {

using Index = HalfEdges::Index;

constexpr int kRounds = 6;
constexpr double kLongest = 4.0 / 3, kShortest = 4.0 / 5, kNeedle = 0.4;
/// Of a vertex that is not folded: a cosine.
constexpr double kLeastOpenness = 0.25;
/// The cosine of how far a face may be turned by one operation.
constexpr double kLeastTurn = 0.6;
/// A line that bends by more than this has a corner there.
constexpr double kCornerCosine = 0.7;

class Remesher {
 public:
  Remesher(const GroupedSurface& source, double length, Workers& workers)
      : locator_(source),
        length_(length),
        workers_(workers),
        mesh_(std::vector<Vec3d>(source.vertices.begin(), source.vertices.end()), source.faces, source.groups) {
    for (Index h = 0; h < mesh_.edge_count(); ++h) {
      const bool is_border = mesh_.group(h / 3) != mesh_.group(mesh_.twin(h) / 3);
      const auto marks = std::uint8_t(source.fixed[h / 3][h % 3] | (is_border ? kSeam : 0));
      if (marks != 0) mesh_.fix(h, marks);
    }
  }

  GroupedSurface run() {
    for (int round = 0; round < kRounds; ++round) {
      split_long();
      collapse_short(kShortest);
      for (int pass = 0; pass < 3; ++pass) flip_all();
      relax();
    }
    clean_up();
    HalfEdges::Compact all = mesh_.compact();
    GroupedSurface out{{}, std::move(all.faces), std::move(all.groups), std::move(all.fixed)};
    for (const Vec3d& p : all.positions) out.vertices.push_back(p.to_float());
    return out;
  }

 private:
  Vec3d unit_normal(Index face) const { return normalized(mesh_.area_vector(face)); }

  Vec3d vertex_normal(Index v) const {
    Vec3d sum;
    mesh_.for_each_out(v, [&](Index h) { sum += mesh_.area_vector(h / 3); });
    return normalized(sum);
  }

  void split_long() {
    // Edges that come into being are longer than half of what they come from: they are met later in the same pass.
    for (Index h = 0; h < mesh_.edge_count(); ++h) {
      if (!mesh_.is_alive(h)) continue;
      while (mesh_.length_of(h) > kLongest * length_) {
        const Index longest = longest_around(h);
        mesh_.split(longest, 0.5 * (mesh_.position(mesh_.start(longest)) + mesh_.position(mesh_.end(longest))));
      }
    }
  }

  /// The longest edge of the two faces at h, then of the two faces there, and so on: halving others first leaves
  /// needles (Rivara 1984).
  Index longest_around(Index h) const {
    for (;;) {
      Index best = h;
      for (const Index side : {h, mesh_.twin(h)}) {
        for (const Index k : {HalfEdges::next(side), HalfEdges::previous(side)}) {
          if (mesh_.length_of(k) > mesh_.length_of(best) * 1.0001) best = k;
        }
      }
      if (best == h) return h;
      h = best;
    }
  }

  /// What creases smaller than a triangle leave: needles between them, and folds.
  void clean_up() {
    binding_marks_ = kSeam;
    collapse_short(kNeedle);
    for (int pass = 0; pass < 3; ++pass) flip_all();
    for (int pass = 0; pass < 40 && unfold(); ++pass) flip_all();
    flip_all();
  }

  /// Moves vertices from which no way inward is free of all faces around towards the middle of their neighbours. True
  /// if there were any.
  bool unfold() {
    std::vector<std::pair<Index, Vec3d>> moves;
    for (Index v = 0; v < mesh_.vertex_count(); ++v) {
      if (!mesh_.has_vertex(v) || openness(v) > kLeastOpenness) continue;
      moves.emplace_back(v, neighbors_middle(v));
      mesh_.for_each_out(v, [&](Index h) { moves.emplace_back(mesh_.end(h), neighbors_middle(mesh_.end(h))); });
    }
    for (const auto& [v, to] : moves) mesh_.move(v, 0.7 * mesh_.position(v) + 0.3 * to);
    return !moves.empty();
  }

  Vec3d neighbors_middle(Index v) const {
    Vec3d sum;
    mesh_.for_each_out(v, [&](Index h) { sum += mesh_.position(mesh_.end(h)); });
    return sum / mesh_.valence(v);
  }

  /// The cosine between the way that is most along all normals around a vertex, and the normal it is least along.
  double openness(Index v) const {
    Vec3d way = vertex_normal(v);
    double least = -1;
    for (int step = 0; step < 12; ++step) {
      Vec3d worst;
      double along = 2;
      mesh_.for_each_out(v, [&](Index h) {
        const Vec3d n = unit_normal(h / 3);
        if (dot(n, way) < along) along = dot(n, way), worst = n;
      });
      least = std::max(least, along);
      if (least > kLeastOpenness) return least;
      way = normalized(way + 0.3 * worst, way);
    }
    return least;
  }

  enum class Place { Smooth, Line, Corner };
  Place place(Index v) const {
    std::array<Vec3d, 2> along;
    std::size_t count = 0;
    mesh_.for_each_out(v, [&](Index h) {
      if ((mesh_.marks(h) & binding_marks_) == 0) return;
      if (count < 2) along[count] = normalized(mesh_.position(mesh_.end(h)) - mesh_.position(v));
      ++count;
    });
    if (count == 0) return Place::Smooth;
    return count == 2 && -dot(along[0], along[1]) > kCornerCosine ? Place::Line : Place::Corner;
  }

  void collapse_short(double share) {
    for (Index h = 0; h < mesh_.edge_count(); ++h) {
      if (!mesh_.is_alive(h) || mesh_.length_of(h) >= share * length_) continue;
      if (!try_collapse(h) && mesh_.is_alive(h)) try_collapse(mesh_.twin(h));
    }
  }

  bool try_collapse(Index h) {
    const Index a = mesh_.start(h), b = mesh_.end(h);
    const Place from = place(a), to = place(b);
    if (from == Place::Corner || (from == Place::Line && (mesh_.marks(h) & binding_marks_) == 0)) return false;
    if (!mesh_.can_collapse(h)) return false;
    const Vec3d at =
        from == Place::Smooth && to == Place::Smooth ? middle_on_source(h, unit_normal(h / 3)) : mesh_.position(b);
    if (!allows(a, b, at) || !allows(b, a, at)) return false;
    mesh_.collapse(h);
    mesh_.move(b, at);
    return true;
  }

  Vec3d middle_on_source(Index h, Vec3d normal) const {
    const Vec3d middle = 0.5 * (mesh_.position(mesh_.start(h)) + mesh_.position(mesh_.end(h)));
    return Vec3d(locator_.closest(middle.to_float(), normal.to_float(), mesh_.group(h / 3)).position);
  }

  /// Whether the faces around v, but for those with `other`, stay as they face when v moves, and its edges short.
  bool allows(Index v, Index other, Vec3d to) const {
    bool good = true;
    mesh_.for_each_out(v, [&](Index h) {
      const Index p = mesh_.end(h), q = mesh_.across(h);
      if (p == other || q == other) return;
      if (other != HalfEdges::kNone && length(mesh_.position(p) - to) > kLongest * length_) good = false;
      if (turns_over(h / 3, to, mesh_.position(p), mesh_.position(q))) good = false;
    });
    return good;
  }

  /// Whether (a, b, c) faces another way than a face does, or is a needle.
  bool turns_over(Index face, Vec3d a, Vec3d b, Vec3d c) const {
    const Vec3d old_normal = mesh_.area_vector(face), normal = cross(b - a, c - a);
    const double longest = std::max({length_squared(b - a), length_squared(c - b), length_squared(a - c)});
    if (length(normal) < 0.02 * longest) return length(normal) <= length(old_normal);
    if (length(old_normal) < 1e-6 * length_ * length_) return false;  // a sliver: it faces no way
    return dot(normal, old_normal) < kLeastTurn * length(normal) * length(old_normal);
  }

  void flip_all() {
    for (Index h = 0; h < mesh_.edge_count(); ++h) {
      if (mesh_.is_alive(h) && h < mesh_.twin(h) && wants_flip(h) && mesh_.can_flip(h)) mesh_.flip(h);
    }
  }

  double cotangent(Vec3d apex, Vec3d p, Vec3d q) const {
    const Vec3d u = p - apex, v = q - apex;
    return dot(u, v) / std::max(length(cross(u, v)), 1e-300);
  }

  bool wants_flip(Index h) const {
    if (mesh_.is_fixed(h)) return false;
    const Index t = mesh_.twin(h);
    const Vec3d a = mesh_.position(mesh_.start(h)), b = mesh_.position(mesh_.end(h));
    const Vec3d c = mesh_.position(mesh_.across(h)), d = mesh_.position(mesh_.across(t));
    if (cotangent(c, a, b) + cotangent(d, a, b) > -1e-3) return false;
    return !turns_over(h / 3, d, c, a) && !turns_over(t / 3, c, d, b) && !turns_over(h / 3, c, d, b) &&
           !turns_over(t / 3, d, c, a);
  }

  /// Moves vertices towards the middle of what is around them, along the surface.
  void relax() {
    std::vector<Vec3d> wished(mesh_.vertex_count());
    parallel_for(workers_, wished.size(), 256, [&](std::size_t begin, std::size_t end) {
      for (Index v = Index(begin); v < end; ++v) {
        if (mesh_.has_vertex(v) && place(v) == Place::Smooth) wished[v] = relaxed(v);
      }
    });
    for (Index v = 0; v < wished.size(); ++v) {
      if (!mesh_.has_vertex(v) || place(v) != Place::Smooth) continue;
      if (allows(v, HalfEdges::kNone, wished[v])) mesh_.move(v, wished[v]);
    }
  }

  Vec3d relaxed(Index v) const {
    Vec3d sum;
    double weight = 0;
    mesh_.for_each_out(v, [&](Index h) {
      const Vec3d p = mesh_.position(mesh_.end(h)), q = mesh_.position(mesh_.across(h));
      const double area = length(mesh_.area_vector(h / 3));
      sum += area / 3 * (mesh_.position(v) + p + q), weight += area;
    });
    if (!(weight > 0)) return mesh_.position(v);
    const Vec3d normal = vertex_normal(v), step = sum / weight - mesh_.position(v);
    const Vec3d to = mesh_.position(v) + (step - dot(step, normal) * normal) * 0.8;
    const std::uint32_t group = mesh_.group(mesh_.out(v) / 3);
    return Vec3d(locator_.closest(to.to_float(), normal.to_float(), group).position);
  }

  SurfaceLocator locator_;
  double length_;
  Workers& workers_;
  HalfEdges mesh_;
  std::uint8_t binding_marks_ = kSeam | kCrease;  ///< of edges whose vertices stay on them
};

}  // namespace

SurfaceLocator::SurfaceLocator(const GroupedSurface& surface) : surface_(surface) {
  std::vector<Aabb> boxes(surface.faces.size());
  for (std::size_t f = 0; f < boxes.size(); ++f) {
    std::array<Vec3d, 3> x;
    for (std::size_t i = 0; i < 3; ++i) {
      boxes[f].include(surface.vertices[surface.faces[f][i]]);
      x[i] = Vec3d(surface.vertices[surface.faces[f][i]]);
    }
    normals_.push_back(normalized(cross(x[1] - x[0], x[2] - x[0])).to_float());
  }
  bvh_.build(boxes);
}

SurfaceLocator::Found SurfaceLocator::closest(Vec3 point, Vec3 normal, std::uint32_t group) const {
  Found best;
  for (const bool choosy : {true, false}) {
    bvh_.find_closest(point, std::numeric_limits<float>::max(), [&](std::uint32_t f, float limit) {
      if (choosy && (dot(normals_[f], normal) <= 0 || (group != kAnyGroup && surface_.groups[f] != group))) {
        return limit;
      }
      const Face& face = surface_.faces[f];
      const TrianglePoint on = closest_on_triangle(point, surface_.vertices[face[0]], surface_.vertices[face[1]],
                                                   surface_.vertices[face[2]]);
      if (!(on.squared_distance < limit)) return limit;
      best = {f, on.weights, on.position, on.squared_distance};
      return on.squared_distance;
    });
    if (best.face != kNoFace) return best;
  }
  return best;
}

GroupedSurface remesh(const GroupedSurface& surface, double length, Workers& workers) {
  return Remesher(surface, length, workers).run();
}

void fix_creases(GroupedSurface& surface, double angle, double least) {
  const EdgeAdjacency edges = edge_faces(surface.faces, surface.vertices.size());
  std::vector<Vec3d> normals;
  for (const Face& f : surface.faces) {
    const Vec3d a(surface.vertices[f[0]]);
    normals.push_back(normalized(cross(Vec3d(surface.vertices[f[1]]) - a, Vec3d(surface.vertices[f[2]]) - a)));
  }
  const double cosine = std::cos(angle);
  UnionFind lines(surface.vertices.size());
  std::vector<std::size_t> creases;
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    const auto pair = edges.elements[e];
    if (pair.size() != 2 || dot(normals[pair[0]], normals[pair[1]]) >= cosine) continue;
    creases.push_back(e);
    lines.join(edges.edges[e][0], edges.edges[e][1]);
  }
  std::vector<double> lengths(surface.vertices.size(), 0);
  const auto length_of = [&](std::size_t e) {
    return length(Vec3d(surface.vertices[edges.edges[e][1]]) - Vec3d(surface.vertices[edges.edges[e][0]]));
  };
  for (const std::size_t e : creases) lengths[lines.root(edges.edges[e][0])] += length_of(e);
  for (const std::size_t e : creases) {
    if (lengths[lines.root(edges.edges[e][0])] < least) continue;
    for (const std::uint32_t f : edges.elements[e]) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto ends = std::minmax(surface.faces[f][i], surface.faces[f][(i + 1) % 3]);
        if (ends.first == edges.edges[e][0] && ends.second == edges.edges[e][1]) surface.fixed[f][i] |= kCrease;
      }
    }
  }
}

}  // namespace pliant
