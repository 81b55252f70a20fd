// Cloth sewn of woven panels: a lattice of yarns in each, cut to its outline, that carries the mesh which is seen.
//
// Lattices are as wide and long as the panels, in whole cells, so that straight rims along yarns are yarns. Nodes of
// two rims that are sewn together become one, and yarns that go on there become one line: a pull goes through a seam
// as through cloth, and a seam costs nothing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "geometry/quad_faces.h"
#include "particle/cloth_builder.h"
#include "particle/weave_panels.h"

namespace pliant {
namespace {

/// A cell of which less is covered is left out.
constexpr float kLeastCover = 0.25f;

Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
Vec2 operator*(Vec2 a, float s) { return {a.x * s, a.y * s}; }
float length_squared(Vec2 a) { return a.x * a.x + a.y * a.y; }
float cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }

/// The area of a triangle within a box.
float area_within(const std::array<Vec2, 3>& triangle, Vec2 lower, Vec2 upper) {
  std::vector<Vec2> polygon(triangle.begin(), triangle.end()), cut;
  // Sutherland and Hodgman 1974: what is beyond one side after another is cut off.
  const auto keep = [&](auto&& inside) {
    cut.clear();
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Vec2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
      const float da = inside(a), db = inside(b);
      if (da >= 0) cut.push_back(a);
      if ((da >= 0) != (db >= 0)) cut.push_back(a + (b - a) * (da / (da - db)));
    }
    polygon.swap(cut);
  };
  keep([&](Vec2 p) { return p.x - lower.x; });
  keep([&](Vec2 p) { return upper.x - p.x; });
  keep([&](Vec2 p) { return p.y - lower.y; });
  keep([&](Vec2 p) { return upper.y - p.y; });
  float area = 0;
  for (std::size_t i = 2; i < polygon.size(); ++i) area += cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
  return 0.5f * std::abs(area);
}

/// A panel cut into cells; nodes are corners of cells that are used.
struct Lattice {
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Cell {
    float area = 0;                    ///< m², that the panel covers
    std::vector<std::uint32_t> faces;  ///< of the panel, that cover it
    bool is_used = false;
  };
  Vec2 lower{}, size{};
  std::uint32_t nx = 1, ny = 1;
  float dx = 0, dy = 0;
  std::vector<Cell> cells;
  std::vector<std::uint32_t> nodes;  ///< by corner: the node of the body

  Cell& cell(std::uint32_t i, std::uint32_t k) { return cells[i + k * nx]; }
  bool uses(std::int64_t i, std::int64_t k) const {
    return i >= 0 && k >= 0 && i < nx && k < ny && cells[static_cast<std::size_t>(i + k * nx)].is_used;
  }
  std::uint32_t node(std::uint32_t i, std::uint32_t k) const { return nodes[i + k * (nx + 1)]; }
  Vec2 place(std::uint32_t i, std::uint32_t k) const {
    return lower + Vec2{static_cast<float>(i) * dx, static_cast<float>(k) * dy};
  }
};

Lattice make_lattice(const WeavePanel& panel, float cell) {
  Lattice lattice;
  Vec2 lower = panel.pattern[0][0], upper = lower;
  for (const auto& triangle : panel.pattern) {
    for (const Vec2 p : triangle) {
      lower = {std::min(lower.x, p.x), std::min(lower.y, p.y)};
      upper = {std::max(upper.x, p.x), std::max(upper.y, p.y)};
    }
  }
  const auto count = [&](float size) { return static_cast<std::uint32_t>(std::max(1.0f, std::round(size / cell))); };
  lattice.lower = lower, lattice.size = upper - lower;
  lattice.nx = count(lattice.size.x), lattice.ny = count(lattice.size.y);
  lattice.dx = lattice.size.x / static_cast<float>(lattice.nx);
  lattice.dy = lattice.size.y / static_cast<float>(lattice.ny);
  lattice.cells.resize(static_cast<std::size_t>(lattice.nx) * lattice.ny);
  lattice.nodes.assign(static_cast<std::size_t>(lattice.nx + 1) * (lattice.ny + 1), Lattice::kNone);
  return lattice;
}

void cover(const WeavePanel& panel, Lattice& lattice) {
  for (std::uint32_t f = 0; f < panel.pattern.size(); ++f) {
    const std::array<Vec2, 3>& t = panel.pattern[f];
    const auto range = [](float a, float b, float c, float from, float step, std::uint32_t count) {
      const auto clamp = [&](float x) {
        return static_cast<std::uint32_t>(std::clamp((x - from) / step, 0.0f, static_cast<float>(count - 1)));
      };
      return std::pair(clamp(std::min({a, b, c})), clamp(std::max({a, b, c})));
    };
    const auto [i0, i1] = range(t[0].x, t[1].x, t[2].x, lattice.lower.x, lattice.dx, lattice.nx);
    const auto [k0, k1] = range(t[0].y, t[1].y, t[2].y, lattice.lower.y, lattice.dy, lattice.ny);
    for (std::uint32_t k = k0; k <= k1; ++k) {
      for (std::uint32_t i = i0; i <= i1; ++i) {
        const float area = area_within(t, lattice.place(i, k), lattice.place(i + 1, k + 1));
        if (!(area > 0)) continue;
        lattice.cell(i, k).area += area;
        lattice.cell(i, k).faces.push_back(f);
      }
    }
  }
  const float whole = lattice.dx * lattice.dy;
  float most = 0;
  for (const Lattice::Cell& cell : lattice.cells) most = std::max(most, cell.area);
  for (Lattice::Cell& cell : lattice.cells) {
    cell.is_used = !cell.faces.empty() && cell.area >= std::min(kLeastCover * whole, most);
  }
}

/// Where a place of the pattern is in space, by the nearest of some triangles.
Vec3 lift(const TriMesh& mesh, const WeavePanel& panel, std::span<const std::uint32_t> faces, Vec2 p) {
  float best = std::numeric_limits<float>::max();
  Vec3 place{};
  for (const std::uint32_t f : faces) {
    const std::array<Vec2, 3>& t = panel.pattern[f];
    const float area = cross(t[1] - t[0], t[2] - t[0]);
    if (!(std::abs(area) > 0)) continue;
    const float b = cross(p - t[0], t[2] - t[0]) / area, c = cross(t[1] - t[0], p - t[0]) / area, a = 1 - b - c;
    const float outside = std::max({-a, -b, -c, 0.0f}) * std::sqrt(std::abs(area));
    if (outside >= best) continue;
    best = outside;
    const Face& face = mesh.faces[panel.faces[f]];
    place = mesh.vertices[face[0]] * a + mesh.vertices[face[1]] * b + mesh.vertices[face[2]] * c;
  }
  return place;
}

void add_nodes(const TriMesh& mesh, const WeavePanel& panel, float density, Lattice& lattice, ParticleModel& model) {
  double covered = 0, used = 0;
  for (const Lattice::Cell& cell : lattice.cells) {
    covered += static_cast<double>(cell.area);
    if (cell.is_used) used += static_cast<double>(cell.area);
  }
  const float share = density * static_cast<float>(covered / used) / 4;
  std::vector<std::uint32_t> around;
  for (std::uint32_t k = 0; k <= lattice.ny; ++k) {
    for (std::uint32_t i = 0; i <= lattice.nx; ++i) {
      float mass = 0;
      around.clear();
      for (const auto& [di, dk] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
        if (!lattice.uses(std::int64_t{i} - di, std::int64_t{k} - dk)) continue;
        const Lattice::Cell& cell =
            lattice.cell(i - static_cast<std::uint32_t>(di), k - static_cast<std::uint32_t>(dk));
        mass += share * cell.area;
        around.insert(around.end(), cell.faces.begin(), cell.faces.end());
      }
      if (around.empty()) continue;
      lattice.nodes[i + k * (lattice.nx + 1)] = static_cast<std::uint32_t>(model.rest.size());
      model.rest.push_back(lift(mesh, panel, around, lattice.place(i, k)));
      model.masses.push_back(mass);
    }
  }
}

/// A yarn, or a part of one, before seams join them.
struct Yarn {
  std::vector<std::uint32_t> nodes{};
  std::vector<float> lengths{}, widths{};  ///< m, by segment
  std::uint32_t panel = 0;
};

/// Along one direction; `node(line, i)` and `is_used(line, i)` of the cells on the side of the line with its number.
template <typename Node, typename IsUsed>
void add_yarns(std::uint32_t panel, std::uint32_t count, std::uint32_t cells, float cell, float spacing, Node&& node,
               IsUsed&& is_used, std::vector<Yarn>& yarns) {
  for (std::int64_t line = 0; line <= count; ++line) {
    Yarn yarn{.panel = panel};
    for (std::int64_t i = 0; i < cells; ++i) {
      const int sides = (is_used(line - 1, i) ? 1 : 0) + (is_used(line, i) ? 1 : 0);
      if (sides == 0) {
        if (!yarn.nodes.empty()) yarns.push_back(std::exchange(yarn, Yarn{.panel = panel}));
        continue;
      }
      if (yarn.nodes.empty()) yarn.nodes.push_back(node(line, i));
      yarn.nodes.push_back(node(line, i + 1));
      yarn.lengths.push_back(cell);
      yarn.widths.push_back(0.5f * spacing * static_cast<float>(sides));
    }
    if (!yarn.nodes.empty()) yarns.push_back(std::move(yarn));
  }
}

void add_cells(Lattice& lattice, float shear_stiffness, ParticleModel& model) {
  const float diagonal = std::hypot(lattice.dx, lattice.dy);
  const float stiffness = 0.5f * shear_stiffness * diagonal * diagonal / (lattice.dx * lattice.dy);
  for (std::uint32_t k = 0; k < lattice.ny; ++k) {
    for (std::uint32_t i = 0; i < lattice.nx; ++i) {
      if (!lattice.cell(i, k).is_used) continue;
      const std::uint32_t a = lattice.node(i, k), b = lattice.node(i + 1, k), c = lattice.node(i + 1, k + 1),
                          d = lattice.node(i, k + 1);
      add_quad(model.faces, {a, b, c, d}, (i + k) % 2 == 0);
      if (shear_stiffness <= 0) continue;
      model.springs.push_back({.nodes = {a, c}, .length = diagonal, .stiffness = stiffness});
      model.springs.push_back({.nodes = {b, d}, .length = diagonal, .stiffness = stiffness});
    }
  }
}

// --- Seams -----------------------------------------------------------------------------------------------------------

/// Which nodes are one.
struct Merging {
  explicit Merging(std::size_t count) : parent(count) { std::iota(parent.begin(), parent.end(), 0u); }
  std::uint32_t root(std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  }
  std::vector<std::uint32_t> parent;
};

std::uint32_t nearest_node(const Lattice& lattice, Vec2 p, float& squared) {
  std::uint32_t best = Lattice::kNone;
  squared = std::numeric_limits<float>::max();
  const auto corner = [](float x, float step, std::uint32_t most) {
    return static_cast<std::int64_t>(std::clamp(std::round(x / step), 0.0f, static_cast<float>(most)));
  };
  const std::int64_t ci = corner(p.x - lattice.lower.x, lattice.dx, lattice.nx),
                     ck = corner(p.y - lattice.lower.y, lattice.dy, lattice.ny);
  for (std::int64_t k = std::max<std::int64_t>(ck - 1, 0); k <= std::min<std::int64_t>(ck + 1, lattice.ny); ++k) {
    for (std::int64_t i = std::max<std::int64_t>(ci - 1, 0); i <= std::min<std::int64_t>(ci + 1, lattice.nx); ++i) {
      const auto column = static_cast<std::uint32_t>(i), row = static_cast<std::uint32_t>(k);
      const float distance = length_squared(lattice.place(column, row) - p);
      if (lattice.node(column, row) == Lattice::kNone || distance >= squared) continue;
      best = lattice.node(column, row), squared = distance;
    }
  }
  return best;
}

/// Walks along all seams and joins the nodes that are nearest, the best pairs first. No two nodes of one face become
/// one, nor two that the same other node would have to be.
void sew(std::span<const WeaveSeam> seams, std::span<const Lattice> lattices, ParticleModel& model, Merging& merging) {
  struct Pair {
    float squared;
    std::uint32_t a, b;
    std::array<std::uint32_t, 2> panels;
  };
  std::vector<Pair> pairs;
  for (const WeaveSeam& seam : seams) {
    const Lattice &a = lattices[seam.a.panel], &b = lattices[seam.b.panel];
    const float step = 0.5f * std::min({a.dx, a.dy, b.dx, b.dy});
    const float size = std::sqrt(length_squared(seam.a.to - seam.a.from));
    const auto count = static_cast<std::uint32_t>(std::min(std::ceil(size / step), 1e5f)) + 1;
    for (std::uint32_t i = 0; i <= count; ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(count);
      float near_a = 0, near_b = 0;
      const std::uint32_t node_a = nearest_node(a, seam.a.from + (seam.a.to - seam.a.from) * t, near_a);
      const std::uint32_t node_b = nearest_node(b, seam.b.from + (seam.b.to - seam.b.from) * t, near_b);
      const float reach = std::max({a.dx, a.dy, b.dx, b.dy});
      if (node_a == Lattice::kNone || node_b == Lattice::kNone || node_a == node_b) continue;
      if (near_a + near_b > reach * reach) continue;
      pairs.push_back({near_a + near_b, node_a, node_b, {seam.a.panel, seam.b.panel}});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.squared < y.squared; });
  // A node meets each panel once at most, but where panels meet themselves.
  std::map<std::array<std::uint32_t, 2>, std::uint32_t> partner;  // node and panel
  for (const Pair& pair : pairs) {
    const std::array<std::uint32_t, 2> from_a{pair.a, pair.panels[1]}, from_b{pair.b, pair.panels[0]};
    if (partner.contains(from_a) || partner.contains(from_b)) continue;
    partner[from_a] = pair.b, partner[from_b] = pair.a;
    const std::uint32_t ra = merging.root(pair.a), rb = merging.root(pair.b);
    if (ra != rb) merging.parent[std::max(ra, rb)] = std::min(ra, rb);
  }
  // Faces that a seam would fold to nothing are no longer faces.
  std::erase_if(model.faces, [&](const Face& f) {
    const std::uint32_t a = merging.root(f[0]), b = merging.root(f[1]), c = merging.root(f[2]);
    return a == b || b == c || c == a;
  });
}

/// Nodes that are one are numbered once; they are in the middle of where they were.
void renumber(Merging& merging, ParticleModel& model, std::vector<Yarn>& yarns) {
  std::vector<std::uint32_t> number(model.rest.size(), Lattice::kNone);
  std::vector<Vec3> rest;
  std::vector<float> masses;
  for (std::uint32_t i = 0; i < model.rest.size(); ++i) {
    std::uint32_t& own = number[merging.root(i)];
    if (own == Lattice::kNone) own = static_cast<std::uint32_t>(rest.size()), rest.push_back({}), masses.push_back(0);
    rest[own] += model.rest[i] * model.masses[i];
    masses[own] += model.masses[i];
  }
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = rest[i] / masses[i];
  const auto renew = [&](std::uint32_t& node) { node = number[merging.root(node)]; };
  for (Face& face : model.faces) std::for_each(face.begin(), face.end(), renew);
  for (Spring& spring : model.springs) std::for_each(spring.nodes.begin(), spring.nodes.end(), renew);
  std::erase_if(model.springs, [](const Spring& spring) { return spring.nodes[0] == spring.nodes[1]; });
  for (Yarn& yarn : yarns) std::for_each(yarn.nodes.begin(), yarn.nodes.end(), renew);
  model.rest = std::move(rest), model.masses = std::move(masses);
}

/// Ends of yarns that meet at a seam and go on straight become one yarn; one that meets itself becomes a ring.
void join_yarns(std::span<const Vec3> rest, std::vector<Yarn>& yarns) {
  // Cosines. Between panels a seam may be a fold; within one a rim's yarns turn at its corners.
  constexpr float kStraight = -0.5f, kFolded = 0.3f;
  struct End {
    std::uint32_t yarn;
    bool is_last;
  };
  std::map<std::uint32_t, std::vector<End>> ends;
  for (std::uint32_t y = 0; y < yarns.size(); ++y) {
    ends[yarns[y].nodes.front()].push_back({y, false}), ends[yarns[y].nodes.back()].push_back({y, true});
  }
  std::vector<std::array<std::int64_t, 2>> next(yarns.size(), {-1, -1});  // by end: 2 yarn + end
  const auto inward = [&](End e) {
    const std::vector<std::uint32_t>& nodes = yarns[e.yarn].nodes;
    const std::uint32_t at = e.is_last ? nodes.back() : nodes.front();
    return normalized(rest[e.is_last ? nodes[nodes.size() - 2] : nodes[1]] - rest[at]);
  };
  for (const auto& [node, list] : ends) {
    struct Turn {
      float cosine;
      std::size_t a, b;
    };
    std::vector<Turn> turns;
    for (std::size_t a = 0; a < list.size(); ++a) {
      for (std::size_t b = a + 1; b < list.size(); ++b) {
        const float cosine = dot(inward(list[a]), inward(list[b]));
        const bool is_fold = yarns[list[a].yarn].panel != yarns[list[b].yarn].panel;
        if (cosine < (is_fold ? kFolded : kStraight)) turns.push_back({cosine, a, b});
      }
    }
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& x, const Turn& y) { return x.cosine < y.cosine; });
    for (const Turn& turn : turns) {
      const End a = list[turn.a], b = list[turn.b];
      if (next[a.yarn][a.is_last] >= 0 || next[b.yarn][b.is_last] >= 0) continue;
      next[a.yarn][a.is_last] = 2 * std::int64_t{b.yarn} + b.is_last;
      next[b.yarn][b.is_last] = 2 * std::int64_t{a.yarn} + a.is_last;
    }
  }
  std::vector<Yarn> joined;
  std::vector<bool> used(yarns.size(), false);
  const auto follow = [&](std::uint32_t first, bool from_last) {
    Yarn line;
    std::int64_t at = 2 * std::int64_t{first} + from_last;  // the end at which the next piece begins
    while (at >= 0 && !used[static_cast<std::size_t>(at / 2)]) {
      const auto y = static_cast<std::uint32_t>(at / 2);
      Yarn piece = yarns[y];
      if (at % 2 == 1) {
        std::reverse(piece.nodes.begin(), piece.nodes.end()), std::reverse(piece.lengths.begin(), piece.lengths.end());
        std::reverse(piece.widths.begin(), piece.widths.end());
      }
      // A line has no node twice but for a ring's first: what would cross itself ends here.
      const bool closes = !line.nodes.empty() && piece.nodes.back() == line.nodes.front();
      const auto is_known = [&](std::uint32_t node) {
        return std::find(line.nodes.begin(), line.nodes.end(), node) != line.nodes.end();
      };
      const auto last = piece.nodes.end() - (closes ? 1 : 0);
      if (!line.nodes.empty() && std::any_of(piece.nodes.begin() + 1, last, is_known)) break;
      used[y] = true;
      line.nodes.insert(line.nodes.end(), piece.nodes.begin() + (line.nodes.empty() ? 0 : 1), piece.nodes.end());
      line.lengths.insert(line.lengths.end(), piece.lengths.begin(), piece.lengths.end());
      line.widths.insert(line.widths.end(), piece.widths.begin(), piece.widths.end());
      if (closes) break;
      at = next[y][at % 2 == 1 ? 0 : 1];
    }
    if (!line.nodes.empty()) joined.push_back(std::move(line));
  };
  for (const bool rings : {false, true}) {
    for (std::uint32_t y = 0; y < yarns.size(); ++y) {
      for (const bool is_last : {false, true}) {
        if (!used[y] && (rings || next[y][is_last] < 0)) follow(y, is_last);
      }
    }
  }
  yarns = std::move(joined);
}

/// A line has no node twice, but for the first one of a ring.
void cut_loops(std::vector<Yarn>& yarns) {
  std::vector<Yarn> cut;
  for (const Yarn& yarn : yarns) {
    const std::size_t count = yarn.nodes.size();
    Yarn line{.nodes = {yarn.nodes[0]}};
    for (std::size_t i = 1; i < count; ++i) {
      const bool is_known = std::find(line.nodes.begin(), line.nodes.end(), yarn.nodes[i]) != line.nodes.end();
      const bool closes = i + 1 == count && line.nodes.size() > 2 && yarn.nodes[i] == line.nodes.front();
      if (is_known && !closes) {
        if (line.nodes.size() > 1) cut.push_back(line);
        line = Yarn{.nodes = {yarn.nodes[i - 1]}};
        if (yarn.nodes[i] == yarn.nodes[i - 1]) continue;
      }
      line.nodes.push_back(yarn.nodes[i]);
      line.lengths.push_back(yarn.lengths[i - 1]), line.widths.push_back(yarn.widths[i - 1]);
    }
    if (line.nodes.size() > 1) cut.push_back(std::move(line));
  }
  yarns = std::move(cut);
}

/// Yarns of two rims that are sewn together are one that is as wide as both.
void merge_rims(std::vector<Yarn>& yarns) {
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  std::vector<Yarn> merged;
  for (Yarn& yarn : yarns) {
    if (yarn.nodes.back() < yarn.nodes.front()) {
      std::reverse(yarn.nodes.begin(), yarn.nodes.end()), std::reverse(yarn.lengths.begin(), yarn.lengths.end());
      std::reverse(yarn.widths.begin(), yarn.widths.end());
    }
    const auto [found, is_new] = known.try_emplace(yarn.nodes, merged.size());
    if (is_new) {
      merged.push_back(std::move(yarn));
      continue;
    }
    Yarn& same = merged[found->second];
    for (std::size_t s = 0; s < same.widths.size(); ++s) {
      same.lengths[s] = 0.5f * (same.lengths[s] + yarn.lengths[s]), same.widths[s] += yarn.widths[s];
    }
  }
  yarns = std::move(merged);
}

void add_lines(std::span<const Yarn> yarns, const ClothMaterial& material, ParticleModel& model) {
  for (const Yarn& yarn : yarns) {
    ChainLine line{.nodes = yarn.nodes, .lengths = yarn.lengths};
    for (std::size_t s = 0; s < yarn.lengths.size(); ++s) {
      if (std::isfinite(material.stretch_stiffness)) {
        line.compliance.push_back(yarn.lengths[s] / (material.stretch_stiffness * yarn.widths[s]));
      }
      if (std::isfinite(material.strength)) line.strengths.push_back(material.strength * yarn.widths[s]);
    }
    model.lines.push_back(std::move(line));
    if (material.bend_stiffness <= 0) continue;
    for (std::size_t s = 0; s + 1 < yarn.lengths.size(); ++s) {
      const float l0 = yarn.lengths[s], l1 = yarn.lengths[s + 1], mean = 0.5f * (l0 + l1);
      const float width = 0.5f * (yarn.widths[s] + yarn.widths[s + 1]);
      // The curvature is (e₁/l₁ − e₀/l₀) over the mean length, for edges e of lengths l, over a piece of that length.
      model.line_bends.push_back({.nodes = {yarn.nodes[s], yarn.nodes[s + 1], yarn.nodes[s + 2], yarn.nodes[s]},
                                  .weights = {1 / l0, -1 / l0 - 1 / l1, 1 / l1, 0},
                                  .stiffness = material.bend_stiffness * width / mean});
    }
  }
}

}  // namespace

void build_weave(const ClothWeave& weave, const ClothMaterial& material, ParticleModel& model) {
  const WeavePattern pattern = find_pattern(weave);
  std::vector<Lattice> lattices;
  std::vector<Yarn> yarns;
  for (const WeavePanel& panel : pattern.panels) {
    Lattice& lattice = lattices.emplace_back(make_lattice(panel, weave.cell));
    cover(panel, lattice);
    add_nodes(weave.mesh, panel, material.density, lattice, model);
    add_cells(lattice, material.shear_stiffness, model);
    const auto at = [&](std::int64_t i, std::int64_t k) {
      return lattice.node(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k));
    };
    const auto number = static_cast<std::uint32_t>(lattices.size() - 1);
    add_yarns(
        number, lattice.ny, lattice.nx, lattice.dx, lattice.dy,
        [&](std::int64_t line, std::int64_t i) { return at(i, line); },
        [&](std::int64_t line, std::int64_t i) { return lattice.uses(i, line); }, yarns);
    add_yarns(
        number, lattice.nx, lattice.ny, lattice.dy, lattice.dx,
        [&](std::int64_t line, std::int64_t i) { return at(line, i); },
        [&](std::int64_t line, std::int64_t i) { return lattice.uses(line, i); }, yarns);
  }
  Merging merging(model.rest.size());
  sew(pattern.seams, lattices, model, merging);
  renumber(merging, model, yarns);
  join_yarns(model.rest, yarns);
  cut_loops(yarns);
  merge_rims(yarns);
  add_lines(yarns, material, model);
}

}  // namespace pliant
