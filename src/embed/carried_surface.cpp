#include "embed/carried_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/bvh.h"
#include "geometry/creases.h"
#include "geometry/primitives.h"
#include "geometry/refine_surface.h"
#include "geometry/triangle_tree.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

/// Edges sharper than this stay edges, in radians.
constexpr double kCrease = 0.7;
/// A carried surface is refined to this many edges of a tet, so that cracks can follow the tets, unless that makes more
/// than so many faces.
constexpr float kFinestEdge = 0.4f;
constexpr std::size_t kMostFaces = 400'000;
constexpr std::size_t kGrain = 256;

double mean_edge(const TetMesh& mesh) {
  double sum = 0;
  for (const Tet& tet : mesh.tets) {
    for (std::size_t i = 0; i < 4; ++i) {
      sum += double(length(mesh.nodes[tet[i]] - mesh.nodes[tet[(i + 1) % 4]]));
    }
  }
  return sum / (4 * double(mesh.tets.size()));
}

/// The middle of what the faces enclose, or of their vertices where they enclose nothing.
Vec3 middle_of(const TriMesh& mesh, std::span<const Face> faces) {
  const Vec3d first(mesh.vertices[faces[0][0]]);
  Vec3d weighted, mean;
  double volume = 0, size = 0;
  for (const Face& f : faces) {
    const Vec3d a(mesh.vertices[f[0]]), b(mesh.vertices[f[1]]), c(mesh.vertices[f[2]]);
    const double v = six_volumes(first, a, b, c);
    weighted += 0.25 * v * (a + b + c + first);
    volume += v, size += std::abs(v);
    mean += (a + b + c) / 3;
  }
  const bool is_closed = volume > 0.01 * size && volume > 0;
  return (is_closed ? weighted / volume : mean / double(faces.size())).to_float();
}

class Association {
 public:
  Association(Workers& workers, CarriedSurface& out)
      : workers_(workers), out_(out), mesh_(out.def->mesh), search_(mesh_) {}

  bool run() {
    if (search_.empty()) return false;
    out_.neighbours = tet_tets(mesh_.tets, mesh_.nodes.size());
    out_.def->splinters ? take_splinters() : take_surface();
    out_.facing.assign(out_.look.faces.size(), kNoNeighbor);
    if (out_.def->splinters) find_facing();
    bind(out_.look.vertices, out_.bindings);
    if (out_.def->splinters) settle_homes();
    find_near_tets();
    return true;
  }

 private:
  void bind(std::span<const Vec3> points, std::vector<VertexBinding>& bindings) const {
    bindings.resize(points.size());
    parallel_for(workers_, points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) bindings[i] = search_.bind(points[i]);
    });
  }

  void take_splinters() {
    const Splinters& splinters = *out_.def->splinters;
    out_.look = splinters.mesh;
    out_.is_inside = splinters.is_inside;
    std::vector<Vec3> middles;
    for (std::size_t i = 0; i < splinters.size(); ++i) {
      const std::uint32_t begin = splinters.first_faces[i], end = splinters.first_faces[i + 1];
      out_.units.push_back({0, begin, end});
      middles.push_back(begin == end ? mesh_.nodes[mesh_.tets[0][0]] : middle_of(out_.look, faces(out_.units.back())));
    }
    std::vector<VertexBinding> homes;
    bind(middles, homes);
    for (std::size_t i = 0; i < homes.size(); ++i) out_.units[i].home = homes[i].tet;
  }

  /// Sides that lie in one another, seen from opposite ways. A face that lies against two others has none: it would be
  /// seen where one of them goes.
  void find_facing() {
    std::vector<std::uint32_t> unit_of(out_.look.faces.size());
    for (std::uint32_t u = 0; u < out_.units.size(); ++u) {
      std::fill(unit_of.begin() + out_.units[u].first_face, unit_of.begin() + out_.units[u].last_face, u);
    }
    std::vector<Vec3> normals;
    for (std::size_t f = 0; f < unit_of.size(); ++f) {
      const auto [a, b, c] = corners(f);
      normals.push_back(normalized(cross(b - a, c - a)));
    }
    std::vector<Aabb> boxes(out_.look.faces.size());  // empty for those outside: never found
    for (std::size_t f = 0; f < boxes.size(); ++f) {
      for (const std::uint32_t v : out_.look.faces[f]) {
        if (out_.is_inside[f]) boxes[f].include(out_.look.vertices[v]);
      }
    }
    Bvh tree;
    tree.build(boxes);
    const float slack = 1e-5f * length(mesh_.bounds().size());
    parallel_for(workers_, boxes.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f) {
        if (!out_.is_inside[f]) continue;
        const std::array<Vec3, 3> c = corners(f);
        const Vec3 middle = (c[0] + c[1] + c[2]) / 3, out{slack, slack, slack};
        const auto unit_at = [&](Vec3 place) {
          std::uint32_t best = kNoNeighbor;
          tree.for_each_overlap({place - out, place + out}, [&](std::uint32_t other) {
            if (unit_of[other] == unit_of[f] || dot(normals[f], normals[other]) > -0.999f) return;
            const std::array<Vec3, 3> o = corners(other);
            const TrianglePoint q = closest_on_triangle(place, o[0], o[1], o[2]);
            if (q.squared_distance <= slack * slack) best = std::min(best, unit_of[other]);
          });
          return best;
        };
        const std::uint32_t across = unit_at(middle);
        const bool is_one = std::all_of(
            c.begin(), c.end(), [&](Vec3 corner) { return unit_at(middle + 0.95f * (corner - middle)) == across; });
        out_.facing[f] = is_one ? across : kNoNeighbor;
      }
    });
  }
  std::array<Vec3, 3> corners(std::size_t f) const {
    const Face& face = out_.look.faces[f];
    return {out_.look.vertices[face[0]], out_.look.vertices[face[1]], out_.look.vertices[face[2]]};
  }

  /// A splinter round a corner may have its middle in a tet that it has nothing to do with: then the tet of the vertex
  /// that is nearest to the middle is its home.
  void settle_homes() {
    for (CarriedSurface::Unit& unit : out_.units) {
      if (unit.first_face == unit.last_face) continue;
      const Vec3 middle = middle_of(out_.look, faces(unit));
      if (search_.bind(middle).offset == Vec3{}) continue;
      float best = std::numeric_limits<float>::infinity();
      for (const Face& f : faces(unit)) {
        for (const std::uint32_t v : f) {
          const float distance = length_squared(out_.look.vertices[v] - middle);
          if (distance < best) best = distance, unit.home = out_.bindings[v].tet;
        }
      }
    }
  }

  /// Triangles by the tets that hold their middles.
  void take_surface() {
    const std::shared_ptr<const TriMesh>& carried = out_.def->surface;
    if (carried) {
      TriMesh whole = carried->normals.empty() ? split_creases(*carried, kCrease) : *carried;
      out_.look = refine_edges(std::move(whole), kFinestEdge * float(mean_edge(mesh_)), kMostFaces);
    } else {
      out_.look = split_creases(extract_surface(mesh_), kCrease);
    }
    find_crack_corners(carried != nullptr);
    std::vector<Vec3> middles;
    for (const Face& f : out_.look.faces) {
      middles.push_back((out_.look.vertices[f[0]] + out_.look.vertices[f[1]] + out_.look.vertices[f[2]]) / 3);
    }
    std::vector<VertexBinding> homes;
    bind(middles, homes);
    std::vector<std::uint32_t> order(homes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return homes[a].tet < homes[b].tet; });
    std::vector<Face> sorted;
    for (const std::uint32_t f : order) {
      const auto at = std::uint32_t(sorted.size());
      if (out_.units.empty() || out_.units.back().home != homes[f].tet) out_.units.push_back({homes[f].tet, at, at});
      sorted.push_back(out_.look.faces[f]);
      out_.units.back().last_face = at + 1;
    }
    out_.look.faces = std::move(sorted);
    out_.is_inside.assign(out_.look.faces.size(), 0);
  }

  void find_crack_corners(bool is_carried) {
    out_.crack_corners = mesh_.nodes;
    if (!is_carried || out_.look.faces.empty()) return;
    std::vector<std::uint32_t> outer;
    extract_surface(mesh_, &outer);
    const TriangleTree tree(out_.look.vertices, out_.look.faces);
    const auto limit = float(mean_edge(mesh_));
    parallel_for(workers_, outer.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Vec3 on_surface;
        if (tree.closest(mesh_.nodes[outer[i]], limit, on_surface)) out_.crack_corners[outer[i]] = on_surface;
      }
    });
  }

  /// Tets whose boxes overlap the unit's, as far as they hang together by such tets.
  void find_near_tets() {
    std::vector<std::uint32_t> seen(mesh_.tets.size(), kNoNeighbor), near;
    for (std::uint32_t u = 0; u < out_.units.size(); ++u) {
      const Aabb box = box_of(out_.units[u]);
      near.assign(1, out_.units[u].home);
      seen[near[0]] = u;
      for (std::size_t i = 0; i < near.size(); ++i) {
        for (const std::uint32_t other : out_.neighbours[near[i]]) {
          if (other == kNoNeighbor || seen[other] == u || !overlaps(box, mesh_.tets[other])) continue;
          seen[other] = u;
          near.push_back(other);
        }
      }
      for (const Face& f : faces(out_.units[u])) {
        for (const std::uint32_t v : f) out_.units[u].is_spread |= seen[out_.bindings[v].tet] != u;
      }
      std::sort(near.begin(), near.end());
      out_.tets.items.insert(out_.tets.items.end(), near.begin(), near.end());
      out_.tets.offsets.push_back(std::uint32_t(out_.tets.items.size()));
    }
  }

  /// With the points of the mesh that vertices outside hang on.
  Aabb box_of(const CarriedSurface::Unit& unit) const {
    Aabb box;
    for (const Face& f : faces(unit)) {
      for (const std::uint32_t v : f) {
        box.include(out_.look.vertices[v]);
        box.include(out_.look.vertices[v] - out_.bindings[v].offset);
      }
    }
    return box;
  }
  bool overlaps(const Aabb& box, const Tet& tet) const {
    Aabb other;
    for (const std::uint32_t node : tet) other.include(mesh_.nodes[node]);
    for (std::size_t a = 0; a < 3; ++a) {
      if (box.lower[a] > other.upper[a] || other.lower[a] > box.upper[a]) return false;
    }
    return true;
  }
  std::span<const Face> faces(const CarriedSurface::Unit& unit) const {
    return std::span(out_.look.faces).subspan(unit.first_face, unit.last_face - unit.first_face);
  }

  Workers& workers_;
  CarriedSurface& out_;
  const TetMesh& mesh_;
  CageSearch search_;
};

}  // namespace

std::shared_ptr<const CarriedSurface> CarriedSurface::create(Workers& workers, std::shared_ptr<const SolidDef> def) {
  auto out = std::make_shared<CarriedSurface>();
  out->def = std::move(def);
  return Association(workers, *out).run() ? out : nullptr;
}

Vec3 CarriedSurface::color(std::uint32_t unit, bool is_of_inside) const {
  if (is_of_inside && def->interior_color) return *def->interior_color;
  const bool has_own = def->splinters && !def->splinters->colors.empty() && unit < def->splinters->colors.size();
  return has_own ? def->splinters->colors[unit] : def->appearance.color;
}

std::shared_ptr<const CarriedSurface> CarriedSurfaces::of(Workers& workers,
                                                          const std::shared_ptr<const SolidDef>& def) {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const CarriedSurface>& slot = known_[def.get()];
  std::shared_ptr<const CarriedSurface> carried = slot.lock();
  if (!carried) slot = carried = CarriedSurface::create(workers, def);
  return carried;
}

}  // namespace pliant
