// The part of a carried surface that one piece of a body shows.
#include <algorithm>
#include <array>
#include <limits>

#include "embed/carried_surface.h"
#include "geometry/primitives.h"

namespace pliant {
namespace {

constexpr std::uint32_t kNone = kNoNeighbor;
/// A vertex that is out of a tet by no more counts as in it: those of splinters lie on faces of tets.
constexpr double kLeastWeight = -1e-4;

class PieceBuilder {
 public:
  PieceBuilder(const CarriedSurface& carried, const TetMesh& piece, std::span<const std::uint32_t> origin)
      : carried_(carried), whole_(carried.def->mesh), piece_(piece), origin_(origin) {}

  PieceSurface run() {
    find_cuts();
    find_torn_units();
    for (std::uint32_t u = 0; u < carried_.units.size(); ++u) {
      if (is_here(u)) add_unit(u);
    }
    if (!carried_.crack_corners.empty()) close_cracks();
    return std::move(out_);
  }

 private:
  /// The vertex that was last made of one of the whole.
  struct Slot {
    std::uint32_t group = kNone, vertex = 0;
  };
  bool is_here(std::uint32_t unit) const { return here_[carried_.units[unit].home] != kNone; }

  /// Tets of the whole that are not here, or have lost a neighbour.
  void find_cuts() {
    here_.assign(whole_.tets.size(), kNone);
    for (std::uint32_t t = 0; t < origin_.size(); ++t) here_[origin_[t]] = t;
    neighbours_ = tet_tets(piece_.tets, piece_.nodes.size());
    is_cut_.assign(whole_.tets.size(), 1);
    for (std::uint32_t t = 0; t < origin_.size(); ++t) {
      bool is_cut = false;
      for (std::size_t f = 0; f < 4; ++f) is_cut |= is_open(t, f);
      is_cut_[origin_[t]] = is_cut;
    }
  }
  /// Whether a crack opened a face of one of the tets here.
  bool is_open(std::uint32_t tet, std::size_t face) const {
    return neighbours_[tet][face] == kNone && carried_.neighbours[origin_[tet]][face] != kNone;
  }

  /// A unit near a cut tet may have to be carried otherwise. Near such units, sides that were inside can be seen.
  void find_torn_units() {
    is_torn_.assign(carried_.units.size(), 0);
    is_seen_inside_.assign(whole_.tets.size(), 0);
    for (std::uint32_t u = 0; u < carried_.units.size(); ++u) {
      if (!is_here(u)) continue;
      const auto near = carried_.tets[u];
      const bool is_cut = std::any_of(near.begin(), near.end(), [&](std::uint32_t t) { return is_cut_[t] != 0; });
      is_torn_[u] = is_cut || carried_.units[u].is_spread;
      if (!is_cut) continue;
      for (const std::uint32_t t : near) is_seen_inside_[t] = 1;
    }
  }
  bool shows_inside(std::uint32_t unit) const {
    const auto near = carried_.tets[unit];
    return std::any_of(near.begin(), near.end(), [&](std::uint32_t t) { return is_seen_inside_[t] != 0; });
  }

  void add_unit(std::uint32_t u) {
    const CarriedSurface::Unit& unit = carried_.units[u];
    const bool inside_too = shows_inside(u);
    bool is_shown = false;
    for (std::uint32_t f = unit.first_face; f < unit.last_face; ++f) {
      const bool is_inside = carried_.is_inside[f] != 0;
      if (is_inside && (!inside_too || is_covered(u, f))) continue;
      Face face;
      for (std::size_t i = 0; i < 3; ++i) face[i] = vertex(u, carried_.look.faces[f][i], is_inside);
      out_.mesh.faces.push_back(face);
      is_shown = true;
    }
    if (is_shown) out_.units.push_back(u);
  }

  /// Whether the unit on the other side of a face still lies against it: the tet that the face is in carries both.
  bool is_covered(std::uint32_t u, std::uint32_t f) {
    const std::uint32_t other = carried_.facing[f];
    if (other == kNone || !is_here(other)) return false;
    if (!is_torn_[u] && !is_torn_[other]) return true;
    const Face& face = carried_.look.faces[f];
    const std::vector<Vec3>& places = carried_.look.vertices;
    const Vec3 middle = (places[face[0]] + places[face[1]] + places[face[2]]) / 3;
    const std::uint32_t tet = tet_with(connected(u), middle);
    return tet != kNone && tet == tet_with(connected(other), middle);
  }

  /// The tets near a unit that hang together with its home, the nearest of them first.
  const std::vector<std::uint32_t>& connected(std::uint32_t unit) {
    connected_.resize(carried_.units.size());
    std::vector<std::uint32_t>& list = connected_[unit];
    if (!list.empty()) return list;
    const auto near = carried_.tets[unit];
    reached_by_.resize(piece_.tets.size(), kNone);
    list.assign(1, here_[carried_.units[unit].home]);
    reached_by_[list[0]] = unit;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const std::uint32_t other : neighbours_[list[i]]) {
        if (other == kNone || reached_by_[other] == unit) continue;
        if (!std::binary_search(near.begin(), near.end(), origin_[other])) continue;
        reached_by_[other] = unit;
        list.push_back(other);
      }
    }
    std::erase_if(list, [&](std::uint32_t t) { return !is_sound(piece_, piece_.tets[t]); });
    return list;
  }
  /// The first that holds a place, or kNone.
  std::uint32_t tet_with(const std::vector<std::uint32_t>& tets, Vec3 place) const {
    for (const std::uint32_t t : tets) {
      const auto [w1, w2, w3] = weights_in(piece_, piece_.tets[t], place);
      if (std::min({w1, w2, w3, 1 - w1 - w2 - w3}) >= kLeastWeight) return t;
    }
    return kNone;
  }

  /// Units that are as ever share their vertices; those that are torn are for themselves.
  std::uint32_t vertex(std::uint32_t unit, std::uint32_t v, bool is_inside) {
    const bool is_torn = is_torn_[unit] != 0;
    const std::uint32_t group = is_torn ? unit + 1 : 0;
    std::vector<Slot>& slots = slots_[is_torn][is_inside];
    slots.resize(carried_.look.vertices.size());
    if (slots[v].group == group) return slots[v].vertex;
    slots[v] = {group, static_cast<std::uint32_t>(out_.bindings.size())};
    add_vertex(carried_.look.vertices[v], carried_.look.normals[v], is_torn ? bind_anew(unit, v) : as_ever(v), group,
               unit, is_inside);
    if (!carried_.look.uvs.empty()) out_.mesh.uvs.push_back(carried_.look.uvs[v]);
    return slots[v].vertex;
  }
  void add_vertex(Vec3 place, Vec3 normal, const VertexBinding& binding, std::uint32_t group, std::uint32_t unit,
                  bool is_inside) {
    out_.mesh.vertices.push_back(place);
    out_.mesh.normals.push_back(normal);
    out_.bindings.push_back(binding);
    out_.groups.push_back(group);
    out_.vertex_units.push_back(unit);
    if (carried_.has_colors()) out_.colors.push_back(carried_.color(unit, is_inside));
  }

  /// The binding in the whole, by the numbers of the piece; its tet is here.
  VertexBinding as_ever(std::uint32_t v) const {
    VertexBinding binding = carried_.bindings[v];
    const Tet& old = whole_.tets[binding.tet];
    binding.tet = here_[binding.tet];
    for (std::uint32_t& node : binding.nodes) {
      node = piece_.tets[binding.tet][std::size_t(std::find(old.begin(), old.end(), node) - old.begin())];
    }
    return binding;
  }

  /// In the tet that the vertex lies in, where that is connected to the home; else beside the nearest one that is.
  VertexBinding bind_anew(std::uint32_t unit, std::uint32_t v) {
    const Vec3 place = carried_.look.vertices[v];
    const std::vector<std::uint32_t>& tets = connected(unit);
    if (carried_.bindings[v].is_outside) {
      const std::uint32_t tet = here_[carried_.bindings[v].tet];
      if (tet != kNone && std::find(tets.begin(), tets.end(), tet) != tets.end()) return as_ever(v);
    }
    if (const std::uint32_t t = tet_with(tets, place); t != kNone) {
      const auto [w1, w2, w3] = weights_in(piece_, piece_.tets[t], place);
      return {t, false, piece_.tets[t], {float(w1), float(w2), float(w3)}, {}};
    }
    float best = std::numeric_limits<float>::infinity();
    VertexBinding binding{};
    for (const std::uint32_t t : tets) {
      for (std::size_t f = 0; f < 4; ++f) {
        const Face face = outward_face(piece_, piece_.tets[t], f);
        const TrianglePoint q =
            closest_on_triangle(place, piece_.nodes[face[0]], piece_.nodes[face[1]], piece_.nodes[face[2]]);
        if (!(q.squared_distance < best)) continue;
        best = q.squared_distance;
        binding = bind_beside(piece_, t, face, place, q.weights.y, q.weights.z);
      }
    }
    return binding;
  }

  /// The faces of tets that cracks have opened, drawn out or in to where the carried surface is.
  void close_cracks() {
    for (std::uint32_t t = 0; t < origin_.size(); ++t) {
      if (!is_sound(piece_, piece_.tets[t])) continue;
      for (std::size_t f = 0; f < 4; ++f) {
        if (is_open(t, f)) close(t, f);
      }
    }
  }
  void close(std::uint32_t t, std::size_t f) {
    const Face nodes = outward_face(piece_, piece_.tets[t], f);
    const Tet &tet = piece_.tets[t], &old = whole_.tets[origin_[t]];
    std::array<Vec3, 3> places;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto corner = std::size_t(std::find(tet.begin(), tet.end(), nodes[i]) - tet.begin());
      places[i] = carried_.crack_corners[old[corner]];
    }
    const Vec3 normal = normalized(cross(places[1] - places[0], places[2] - places[0]), {0, 1, 0});
    const auto first = static_cast<std::uint32_t>(out_.bindings.size());
    const auto group = static_cast<std::uint32_t>(carried_.units.size() + out_.mesh.faces.size() + 1);  // flat
    for (const Vec3 place : places) {
      const auto [w1, w2, w3] = weights_in(piece_, tet, place);
      add_vertex(place, normal, {t, false, tet, {float(w1), float(w2), float(w3)}, {}}, group, kNone, true);
      if (!carried_.look.uvs.empty()) out_.mesh.uvs.push_back({0, 0});
    }
    out_.mesh.faces.push_back({first, first + 1, first + 2});
  }

  const CarriedSurface& carried_;
  const TetMesh &whole_, &piece_;
  std::span<const std::uint32_t> origin_;
  PieceSurface out_;
  std::vector<std::uint32_t> here_;                        ///< by tet of the whole: its number in the piece, or kNone
  std::vector<std::array<std::uint32_t, 4>> neighbours_;   ///< in the piece
  std::vector<std::uint8_t> is_cut_, is_seen_inside_;      ///< by tet of the whole
  std::vector<std::uint8_t> is_torn_;                      ///< by unit
  std::vector<std::vector<std::uint32_t>> connected_;      ///< by unit; empty where nobody has asked
  std::vector<std::uint32_t> reached_by_;                  ///< by tet: the last unit to which it was
  std::array<std::array<std::vector<Slot>, 2>, 2> slots_;  ///< whether torn, whether inside; by vertex of the whole
};

}  // namespace

PieceSurface surface_of_piece(const CarriedSurface& carried, const TetMesh& piece,
                              std::span<const std::uint32_t> origin) {
  return PieceBuilder(carried, piece, origin).run();
}

}  // namespace pliant
