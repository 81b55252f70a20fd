// Bodies cut into splinters. A splinter is what a convex cell and the tets have in common. Its surface is made tet by
// tet: outer faces of the tet cut by the cell, and sides of the cell cut by the tet. So all is clipping of convex
// polygons by planes, splinters fill the body exactly, and they bend as the tets do.
#include "pliant/splinters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/bvh.h"
#include "geometry/creases.h"
#include "geometry/splinter_patterns.h"
#include "geometry/triangle_tree.h"
#include "geometry/union_find.h"

namespace pliant {
namespace {

/// Outer edges sharper than this stay edges, in radians.
constexpr double kCrease = 0.7;
/// Places nearer than this are one, over the size of the body.
constexpr double kSamePlace = 2e-7;

Error wrong(std::string field, std::string message, Error::Code code = Error::Code::InvalidArgument) {
  return {code, std::move(message), "", std::move(field), 0};
}

Error too_many() {
  return wrong("splinters", fmt::format("they have more than {} vertices: make them larger", kMaxSplinterVertices),
               Error::Code::CapacityExceeded);
}

/// Vertices of one splinter at one place get the same place, to the last bit.
class Places {
 public:
  explicit Places(double tolerance) : cell_(std::max(64 * tolerance, 1e-30)), tolerance_(tolerance) {}
  void clear() { grid_.clear(), places_.clear(); }
  std::uint32_t find(Vec3d p) {
    const Vec3d out{tolerance_, tolerance_, tolerance_};
    const Key from = key_of(p - out), to = key_of(p + out);  // nearly always the same
    for (std::int64_t i = from[0]; i <= to[0]; ++i) {
      for (std::int64_t j = from[1]; j <= to[1]; ++j) {
        for (std::int64_t k = from[2]; k <= to[2]; ++k) {
          const auto found = grid_.find({i, j, k});
          if (found == grid_.end()) continue;
          for (const std::uint32_t place : found->second) {
            if (length(places_[place] - p) <= tolerance_) return place;
          }
        }
      }
    }
    grid_[key_of(p)].push_back(std::uint32_t(places_.size()));
    places_.push_back(p);
    return std::uint32_t(places_.size() - 1);
  }
  Vec3d operator[](std::uint32_t place) const { return places_[place]; }

 private:
  using Key = std::array<std::int64_t, 3>;
  Key key_of(Vec3d p) const {
    return {std::llround(p.x / cell_), std::llround(p.y / cell_), std::llround(p.z / cell_)};
  }
  double cell_, tolerance_;
  std::map<Key, std::vector<std::uint32_t>> grid_;
  std::vector<Vec3d> places_;
};

/// The tets of a body, ready to be cut.
class TetCutter {
 public:
  explicit TetCutter(const TetMesh& mesh) : mesh_(mesh), neighbours_(tet_tets(mesh.tets, mesh.nodes.size())) {
    std::vector<Aabb> boxes(mesh.tets.size());
    for (std::size_t t = 0; t < boxes.size(); ++t) {
      for (const std::uint32_t node : mesh.tets[t]) boxes[t].include(mesh.nodes[node]);
    }
    tree_.build(boxes);
    find_outer_normals();
    slack_ = 1e-7 * double(length(mesh.bounds().size()));
  }

  /// A part of the surface of a splinter.
  struct Patch {
    std::uint32_t tet;
    std::uint32_t side;  ///< of the cell, or kOuter
    Polygon corners;
    std::vector<Vec3d> normals;  ///< one, or one for each corner
  };
  static constexpr std::uint32_t kOuter = 0xffffffff;

  /// The patches of a cell and the tets that it has volume in common with, ascending.
  void cut(const ConvexCell& cell, std::vector<Patch>& patches, std::vector<std::uint32_t>& tets) const {
    patches.clear(), tets.clear();
    Vec3d lower, upper;
    cell.bounds(lower, upper);
    const float grow = float(slack_);
    const Aabb box{lower.to_float() - Vec3{grow, grow, grow}, upper.to_float() + Vec3{grow, grow, grow}};
    std::vector<std::uint32_t> near;
    tree_.for_each_overlap(box, [&](std::uint32_t tet) { near.push_back(tet); });
    std::sort(near.begin(), near.end());
    for (const std::uint32_t tet : near) {
      const std::size_t before = patches.size();
      cut_sides(cell, tet, patches);
      cut_outer_faces(cell, tet, patches);
      if (patches.size() > before || cell.contains(center(tet))) tets.push_back(tet);
    }
  }

  /// Tets that hang together by faces: the number of the part of each.
  std::vector<std::uint32_t> parts(std::span<const std::uint32_t> tets) const {
    UnionFind joined(tets.size());
    for (std::uint32_t i = 0; i < tets.size(); ++i) {
      for (const std::uint32_t other : neighbours_[tets[i]]) {
        const auto found = std::lower_bound(tets.begin(), tets.end(), other);
        if (found != tets.end() && *found == other) joined.join(i, std::uint32_t(found - tets.begin()));
      }
    }
    std::vector<std::uint32_t> part(tets.size());
    for (std::uint32_t i = 0; i < tets.size(); ++i) part[i] = joined.root(i);
    return part;
  }

  double slack() const { return slack_; }

 private:
  Vec3d corner(std::uint32_t tet, std::size_t i) const { return Vec3d(mesh_.nodes[mesh_.tets[tet][i]]); }
  Vec3d center(std::uint32_t tet) const {
    return 0.25 * (corner(tet, 0) + corner(tet, 1) + corner(tet, 2) + corner(tet, 3));
  }
  HalfSpace plane(std::uint32_t tet, std::size_t face) const {
    const auto& f = kTetFaces[face];
    const Vec3d a = corner(tet, std::size_t(f[0])), b = corner(tet, std::size_t(f[1])),
                c = corner(tet, std::size_t(f[2]));
    const Vec3d normal = normalized(cross(b - a, c - a));
    return {normal, dot(normal, a)};
  }
  static bool lies_in(const Polygon& polygon, const HalfSpace& plane, double slack) {
    return std::all_of(polygon.begin(), polygon.end(), [&](Vec3d p) { return std::abs(plane.distance(p)) <= slack; });
  }
  bool has_area(const Polygon& polygon) const {
    return polygon.size() >= 3 && length(double_area(polygon)) > slack_ * slack_;
  }

  void cut_sides(const ConvexCell& cell, std::uint32_t tet, std::vector<Patch>& patches) const {
    std::array<HalfSpace, 4> planes;
    for (std::size_t f = 0; f < 4; ++f) planes[f] = plane(tet, f);
    Polygon scratch;
    for (std::uint32_t s = 0; s < cell.sides.size(); ++s) {
      Polygon polygon = cell.sides[s].corners;
      for (std::size_t f = 0; f < 4 && !polygon.empty(); ++f) clip(polygon, planes[f], slack_, scratch);
      if (!has_area(polygon)) continue;
      // A side in a face of the tet belongs to the tet that the cell has volume in common with. At the body's surface
      // it is not a side at all but part of that.
      bool is_kept = true;
      for (std::size_t f = 0; f < 4; ++f) {
        if (!lies_in(polygon, planes[f], 4 * slack_)) continue;
        is_kept = dot(planes[f].normal, cell.sides[s].plane.normal) > 0 && neighbours_[tet][f] != kNoNeighbor;
      }
      if (is_kept) patches.push_back({tet, s, std::move(polygon), {cell.sides[s].plane.normal}});
    }
  }

  void cut_outer_faces(const ConvexCell& cell, std::uint32_t tet, std::vector<Patch>& patches) const {
    Polygon scratch;
    for (std::size_t f = 0; f < 4; ++f) {
      if (neighbours_[tet][f] != kNoNeighbor) continue;
      const auto& n = kTetFaces[f];
      Polygon polygon{corner(tet, std::size_t(n[0])), corner(tet, std::size_t(n[1])), corner(tet, std::size_t(n[2]))};
      const std::array<Vec3d, 3> triangle{polygon[0], polygon[1], polygon[2]};
      const HalfSpace face = plane(tet, f);
      for (const ConvexCell::Side& side : cell.sides) clip(polygon, side.plane, slack_, scratch);
      if (!has_area(polygon)) continue;
      const bool is_beyond = std::any_of(cell.sides.begin(), cell.sides.end(), [&](const ConvexCell::Side& side) {
        return lies_in(polygon, side.plane, 4 * slack_) && dot(face.normal, side.plane.normal) < 0;
      });
      if (is_beyond) continue;
      patches.push_back({tet, kOuter, polygon, normals_at(4 * tet + std::uint32_t(f), triangle, polygon)});
    }
  }

  /// The normals that the whole body's surface has at points of one of its triangles.
  std::vector<Vec3d> normals_at(std::uint32_t half_face, const std::array<Vec3d, 3>& triangle,
                                const Polygon& points) const {
    const auto& of_corners = outer_normals_.at(half_face);
    const Vec3d area = cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
    std::vector<Vec3d> out;
    for (const Vec3d& p : points) {
      const double w1 = dot(cross(p - triangle[0], triangle[2] - triangle[0]), area) / dot(area, area),
                   w2 = dot(cross(triangle[1] - triangle[0], p - triangle[0]), area) / dot(area, area);
      out.push_back(
          normalized((1 - w1 - w2) * Vec3d(of_corners[0]) + w1 * Vec3d(of_corners[1]) + w2 * Vec3d(of_corners[2]),
                     normalized(area)));
    }
    return out;
  }

  void find_outer_normals() {
    TriMesh outer;
    outer.vertices = mesh_.nodes;
    std::vector<std::uint32_t> half_faces;
    for (std::uint32_t t = 0; t < mesh_.tets.size(); ++t) {
      for (std::size_t f = 0; f < 4; ++f) {
        if (neighbours_[t][f] != kNoNeighbor) continue;
        const Tet& tet = mesh_.tets[t];
        const auto& n = kTetFaces[f];
        outer.faces.push_back({tet[std::size_t(n[0])], tet[std::size_t(n[1])], tet[std::size_t(n[2])]});
        half_faces.push_back(4 * t + std::uint32_t(f));
      }
    }
    const TriMesh split = split_creases(outer, kCrease);
    for (std::size_t i = 0; i < half_faces.size(); ++i) {
      const Face& face = split.faces[i];
      outer_normals_[half_faces[i]] = {split.normals[face[0]], split.normals[face[1]], split.normals[face[2]]};
    }
  }

  const TetMesh& mesh_;
  std::vector<std::array<std::uint32_t, 4>> neighbours_;
  Bvh tree_;
  std::map<std::uint32_t, std::array<Vec3, 3>> outer_normals_;  ///< by half face
  double slack_ = 0;
};

/// Puts patches together.
class SplinterBuilder {
 public:
  SplinterBuilder(Splinters& out, double tolerance) : out_(out), places_(tolerance) { out_.first_faces = {0}; }

  void begin() { places_.clear(), vertices_.clear(); }
  void add(const TetCutter::Patch& patch) {
    std::vector<std::uint32_t> corners;
    for (std::size_t i = 0; i < patch.corners.size(); ++i) {
      const std::uint32_t place = places_.find(patch.corners[i]);
      const Vec3d normal = patch.normals[patch.normals.size() == 1 ? 0 : i];
      const std::uint32_t vertex = vertex_at(place, patch.side, normal);
      if (std::find_if(corners.begin(), corners.end(), [&](std::uint32_t v) {
            return out_.mesh.vertices[v] == out_.mesh.vertices[vertex];
          }) == corners.end()) {
        corners.push_back(vertex);
      }
    }
    for (std::size_t i = 2; i < corners.size(); ++i) {
      out_.mesh.faces.push_back({corners[0], corners[i - 1], corners[i]});
      out_.is_inside.push_back(patch.side != TetCutter::kOuter);
    }
  }
  /// True if there was anything.
  bool end() {
    if (out_.mesh.faces.size() == out_.first_faces.back()) return false;
    out_.first_faces.push_back(std::uint32_t(out_.mesh.faces.size()));
    return true;
  }

 private:
  /// Vertices of one side are shared; those of the outer surface where their normals are alike.
  std::uint32_t vertex_at(std::uint32_t place, std::uint32_t side, Vec3d normal) {
    std::vector<std::uint32_t>& known = vertices_[{place, side}];
    for (const std::uint32_t v : known) {
      if (dot(Vec3d(out_.mesh.normals[v]), normal) > 0.9999) return v;
    }
    known.push_back(std::uint32_t(out_.mesh.vertices.size()));
    out_.mesh.vertices.push_back(places_[place].to_float());
    out_.mesh.normals.push_back(normal.to_float());
    return known.back();
  }

  Splinters& out_;
  Places places_;
  std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> vertices_;
};

Vec3 color_of(const SplinterDef& def, const ConvexCell& cell, std::size_t number) {
  const auto* brick = std::get_if<BrickSplinters>(&def.pattern);
  const Vec3 color = cell.part == 1 && brick ? brick->joint_color : def.color;
  const double chance = splinter_chance(def.seed, std::int64_t(number), 0, 0, 8);
  return min_each(color * float(1 + double(def.variation) * (2 * chance - 1)), {1, 1, 1});
}

Status check_mesh(const TetMesh& mesh) {
  if (mesh.tets.empty()) return wrong("mesh", "it has no tets");
  const std::vector<MeshProblem> problems = validate(mesh, {.max_problems = 1});
  if (!problems.empty()) return wrong("mesh", problems.front().message);
  return {};
}

}  // namespace

Result<Splinters> make_splinters(const TetMesh& mesh, const SplinterDef& def) {
  if (Status status = check_mesh(mesh); !status) return status.error();
  if (!is_finite(def.color)) return wrong("color", "it is not finite");
  if (!(def.variation >= 0 && def.variation <= 1)) {
    return wrong("variation", fmt::format("{} is not allowed; it must be from 0 to 1", def.variation));
  }
  const TetCutter cutter(mesh);
  Splinters out;
  SplinterBuilder builder(out, 2 * kSamePlace * double(length(mesh.bounds().size())));
  std::vector<TetCutter::Patch> patches;
  std::vector<std::uint32_t> tets;
  std::size_t number = 0;
  const Status cut = for_each_splinter_cell(mesh.nodes, def, [&](const ConvexCell& cell) {
    cutter.cut(cell, patches, tets);
    const std::vector<std::uint32_t> part = cutter.parts(tets);
    const Vec3 color = color_of(def, cell, number++);
    for (std::uint32_t first = 0; first < tets.size(); ++first) {
      if (part[first] != first) continue;
      builder.begin();
      for (const TetCutter::Patch& patch : patches) {
        const auto at = std::lower_bound(tets.begin(), tets.end(), patch.tet) - tets.begin();
        if (part[std::size_t(at)] == first) builder.add(patch);
      }
      if (builder.end()) out.colors.push_back(color);
    }
    return out.mesh.vertices.size() <= kMaxSplinterVertices;
  });
  if (!cut) return cut.error();
  if (out.mesh.vertices.size() > kMaxSplinterVertices) return too_many();
  return out;
}

Result<Splinters> splinters_from(const std::vector<TriMesh>& pieces, const TetMesh& mesh) {
  if (Status status = check_mesh(mesh); !status) return status.error();
  if (pieces.empty()) return wrong("pieces", "there are none");
  const TriMesh outer = extract_surface(mesh);
  const TriangleTree tree(outer.vertices, outer.faces);
  Splinters out;
  out.first_faces = {0};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (const MeshProblem& problem : validate(pieces[i])) {
      if (problem.kind == MeshProblem::Kind::NotFinite || problem.kind == MeshProblem::Kind::IndexOutOfRange) {
        return wrong(fmt::format("pieces[{}]", i), problem.message);
      }
    }
    if (pieces[i].faces.empty()) return wrong(fmt::format("pieces[{}]", i), "it has no faces");
    if (out.mesh.vertices.size() + 2 * pieces[i].vertices.size() > kMaxSplinterVertices) return too_many();
    const TriMesh piece = pieces[i].normals.empty() ? split_creases(pieces[i], kCrease) : pieces[i];
    const float near = 0.02f * length(piece.bounds().size());
    const auto first = std::uint32_t(out.mesh.vertices.size());
    out.mesh.vertices.insert(out.mesh.vertices.end(), piece.vertices.begin(), piece.vertices.end());
    out.mesh.normals.insert(out.mesh.normals.end(), piece.normals.begin(), piece.normals.end());
    for (const Face& f : piece.faces) {
      const Vec3 a = piece.vertices[f[0]], b = piece.vertices[f[1]], c = piece.vertices[f[2]];
      const bool is_outside = std::max({tree.distance(a, 2 * near), tree.distance(b, 2 * near),
                                        tree.distance(c, 2 * near), tree.distance((a + b + c) / 3, 2 * near)}) <= near;
      out.mesh.faces.push_back({f[0] + first, f[1] + first, f[2] + first});
      out.is_inside.push_back(!is_outside);
    }
    out.first_faces.push_back(std::uint32_t(out.mesh.faces.size()));
  }
  return out;
}

Status check_splinters(const Splinters& s) {
  if (s.first_faces.size() < 2 || s.first_faces.front() != 0 || s.first_faces.back() != s.mesh.faces.size() ||
      !std::is_sorted(s.first_faces.begin(), s.first_faces.end())) {
    return wrong("first_faces", "they must ascend from 0 to the number of faces, one for each splinter and one more");
  }
  if (s.is_inside.size() != s.mesh.faces.size()) return wrong("is_inside", "there must be one for each face");
  if (!s.colors.empty() && s.colors.size() != s.size()) return wrong("colors", "there must be none, or one a splinter");
  if (s.mesh.normals.size() != s.mesh.vertices.size()) return wrong("mesh.normals", "there must be one a vertex");
  if (s.mesh.vertices.size() > kMaxSplinterVertices) return too_many();
  for (const auto* points : {&s.mesh.vertices, &s.mesh.normals, &s.colors}) {
    for (const Vec3& p : *points) {
      if (!is_finite(p)) return wrong("mesh", "a vertex, normal or colour is not finite");
    }
  }
  constexpr std::uint32_t kNobody = 0xffffffff;
  std::vector<std::uint32_t> owner(s.mesh.vertices.size(), kNobody);
  for (std::uint32_t i = 0; i < s.size(); ++i) {
    for (std::uint32_t f = s.first_faces[i]; f < s.first_faces[i + 1]; ++f) {
      for (const std::uint32_t v : s.mesh.faces[f]) {
        if (v >= owner.size())
          return wrong(fmt::format("mesh.faces[{}]", f), fmt::format("vertex {} does not exist", v));
        if (owner[v] != kNobody && owner[v] != i) {
          return wrong(fmt::format("mesh.faces[{}]", f), fmt::format("vertex {} belongs to splinter {}", v, owner[v]));
        }
        owner[v] = i;
      }
    }
  }
  return {};
}

TriMesh splinter_surface(const Splinters& s, std::size_t index) {
  TriMesh out;
  std::map<std::array<float, 3>, std::uint32_t> known;
  for (std::uint32_t f = s.first_faces[index]; f < s.first_faces[index + 1]; ++f) {
    Face face;
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3 p = s.mesh.vertices[s.mesh.faces[f][i]];
      const auto [at, is_new] = known.try_emplace({p.x, p.y, p.z}, std::uint32_t(out.vertices.size()));
      if (is_new) out.vertices.push_back(p);
      face[i] = at->second;
    }
    out.faces.push_back(face);
  }
  return out;
}

}  // namespace pliant
