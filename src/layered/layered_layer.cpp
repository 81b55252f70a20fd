#include "layered/layered_layer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "geometry/adjacency.h"
#include "geometry/layer_core.h"
#include "geometry/mass_integrals.h"

namespace pliant {
namespace {

Status check_factors(const char* name, const std::vector<float>& factors, std::size_t nodes) {
  if (!factors.empty() && factors.size() != nodes) {
    return Error{
        .message = fmt::format("{} factors were given for {} nodes; give one for each, or none", factors.size(), nodes),
        .field = name};
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] > 0) || !std::isfinite(factors[i])) {
      return Error{.message = fmt::format("a factor must be positive and finite, not {}", factors[i]),
                   .field = fmt::format("{}[{}]", name, i)};
    }
  }
  return {};
}

/// That the surface can carry a layer: sound, every node of some face, sharing its edges between two faces at most.
Status check_surface(const TriMesh& surface) {
  if (surface.faces.empty()) return Error{.message = "the surface has no faces", .field = "atlas.surface"};
  const std::vector<MeshProblem> problems = validate(surface);
  if (!problems.empty()) return Error{.message = problems.front().message, .field = "atlas.surface"};
  const Csr faces = vertex_faces(surface.faces, surface.vertices.size());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (faces[i].empty()) {
      return Error{.message = fmt::format("node {} belongs to no face", i), .field = "atlas.surface"};
    }
  }
  return {};
}

Error bad_layout(std::string message) { return Error{.message = std::move(message), .field = "atlas.layout"}; }

/// That texture coordinates, where there are any, are those of the surface.
Status check_layout(const Atlas& atlas) {
  const AtlasLayout& layout = atlas.layout;
  const std::size_t nodes = atlas.surface.vertices.size(), faces = atlas.surface.faces.size();
  if (layout.empty() && layout.uvs.empty() && layout.nodes.empty()) return {};
  if (layout.nodes.size() != layout.uvs.size()) {
    return bad_layout(fmt::format("{} nodes for {} texture coordinates", layout.nodes.size(), layout.uvs.size()));
  }
  if (layout.faces.size() != faces || (!layout.charts.empty() && layout.charts.size() != faces)) {
    return bad_layout(fmt::format("{} faces, with charts of {}, for {} of the surface", layout.faces.size(),
                                  layout.charts.size(), faces));
  }
  for (std::size_t i = 0; i < layout.uvs.size(); ++i) {
    if (layout.nodes[i] >= nodes)
      return bad_layout(fmt::format("point {} is of node {}: there are {}", i, layout.nodes[i], nodes));
    if (!std::isfinite(layout.uvs[i].x) || !std::isfinite(layout.uvs[i].y)) {
      return bad_layout(fmt::format("the texture coordinates of point {} are not finite", i));
    }
  }
  for (std::size_t f = 0; f < faces; ++f) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t point = layout.faces[f][k];
      if (point >= layout.nodes.size()) {
        return bad_layout(fmt::format("face {} has point {}: there are {}", f, point, layout.nodes.size()));
      }
      if (layout.nodes[point] != atlas.surface.faces[f][k]) {
        return bad_layout(fmt::format("face {} is another one than that of the surface", f));
      }
    }
  }
  return {};
}

/// The same of grids.
Status check_charts(const Atlas& atlas) {
  std::size_t faces = 0;
  for (std::size_t i = 0; i < atlas.charts.size(); ++i) {
    const AtlasChart& chart = atlas.charts[i];
    const auto refuse = [&](std::string message) {
      return Error{.message = std::move(message), .field = fmt::format("atlas.charts[{}]", i)};
    };
    if (chart.columns < 2 || chart.rows < 2 ||
        chart.nodes.size() != static_cast<std::size_t>(chart.columns) * static_cast<std::size_t>(chart.rows)) {
      return refuse(fmt::format("{} nodes for {} columns and {} rows", chart.nodes.size(), chart.columns, chart.rows));
    }
    for (const std::uint32_t node : chart.nodes) {
      if (node >= atlas.surface.vertices.size()) {
        return refuse(fmt::format("node {} does not exist: there are {}", node, atlas.surface.vertices.size()));
      }
    }
    faces += 2 * static_cast<std::size_t>(chart.columns - 1) * static_cast<std::size_t>(chart.rows - 1);
  }
  if (faces == 0 || faces == atlas.surface.faces.size()) return {};
  return Error{.message = fmt::format("they have {} faces, the surface {}", faces, atlas.surface.faces.size()),
               .field = "atlas.charts"};
}

/// Closed, but with its inside out: its layer would be outside.
bool is_inside_out(const TriMesh& surface) {
  return validate(surface, {.require_closed = true, .max_problems = 1}).empty() && enclosed_volume(surface) < 0;
}

Result<std::vector<Vec3>> core_points(const LayeredDef& def) {
  const TriMesh& surface = def.atlas.surface;
  if (!def.core.empty()) {
    if (const Result<double> volume = check_layer_core(surface, def.core); !volume) return volume.error();
    return def.core;
  }
  std::vector<float> thickness{def.thickness};
  if (!def.thickness_factors.empty()) {
    thickness = def.thickness_factors;
    for (float& t : thickness) t *= def.thickness;
  }
  Result<LayerCore> made = make_layer_core(surface, thickness);
  if (!made) return made.error();
  return std::move(made->points);
}

float factor(const std::vector<float>& factors, std::uint32_t node) { return factors.empty() ? 1.0f : factors[node]; }

/// Gradients of the shape functions of a tet, and its volume.
struct TetShape {
  std::array<Vec3d, 4> gradients;
  double volume;

  explicit TetShape(const std::array<Vec3d, 4>& x) {
    const double six = six_volumes(x[0], x[1], x[2], x[3]);
    volume = six / 6;
    gradients[1] = cross(x[2] - x[0], x[3] - x[0]) / six;
    gradients[2] = cross(x[3] - x[0], x[1] - x[0]) / six;
    gradients[3] = cross(x[1] - x[0], x[2] - x[0]) / six;
    gradients[0] = -(gradients[1] + gradients[2] + gradients[3]);
  }
};

/// A matrix of nothing, with a block for each node and two for each edge.
BlockRows make_pattern(const std::vector<std::array<std::uint32_t, 2>>& edges, std::size_t nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (std::uint32_t i = 0; i < nodes; ++i) entries.emplace_back(i, i);
  for (const auto& [a, b] : edges) entries.emplace_back(a, b), entries.emplace_back(b, a);
  std::sort(entries.begin(), entries.end());
  BlockRows rows;
  rows.starts.assign(nodes + 1, 0);
  for (const auto& [row, column] : entries) ++rows.starts[row + 1], rows.columns.push_back(column);
  for (std::size_t i = 0; i < nodes; ++i) rows.starts[i + 1] += rows.starts[i];
  rows.blocks.resize(entries.size());
  return rows;
}

std::array<double, 9>& block_at(BlockRows& rows, std::uint32_t row, std::uint32_t column) {
  const auto begin = rows.columns.begin() + rows.starts[row], end = rows.columns.begin() + rows.starts[row + 1];
  return rows.blocks[static_cast<std::size_t>(std::lower_bound(begin, end, column) - rows.columns.begin())];
}

bool is_closed(const TriMesh& surface) { return validate(surface, {.require_closed = true}).empty(); }

}  // namespace

Result<std::shared_ptr<const LayeredLayer>> LayeredLayer::make(const LayeredDef& def) {
  const std::size_t nodes = def.atlas.surface.vertices.size();
  if (Status status = check_surface(def.atlas.surface); !status) return status.error();
  if (Status status = check_layout(def.atlas); !status) return status.error();
  if (Status status = check_charts(def.atlas); !status) return status.error();
  if (is_inside_out(def.atlas.surface)) {
    return Error{.message = "the faces look inward: turn them round", .field = "atlas.surface"};
  }
  if (Status s = check_factors("thickness_factors", def.thickness_factors, nodes); !s) return s.error();
  if (Status s = check_factors("stiffness_factors", def.stiffness_factors, nodes); !s) return s.error();
  if (Status s = check_factors("density_factors", def.density_factors, nodes); !s) return s.error();
  if (!def.colors.empty() && def.colors.size() != nodes) {
    return Error{.message = fmt::format("{} colours for {} nodes", def.colors.size(), nodes), .field = "colors"};
  }
  const Result<std::vector<Vec3>> core = core_points(def);
  if (!core) return core.error();

  auto layer = std::make_shared<LayeredLayer>();
  layer->node_count_ = static_cast<std::uint32_t>(nodes);
  layer->build_matrix(def, *core);
  layer->build_core(def, *core);
  layer->find_core_stiffness();
  return std::shared_ptr<const LayeredLayer>(std::move(layer));
}

void LayeredLayer::build_matrix(const LayeredDef& def, const std::vector<Vec3>& core) {
  const TriMesh& surface = def.atlas.surface;
  const EdgeAdjacency edges = edge_faces(surface.faces, node_count_);
  double lengths = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& [a, b] : edges.edges) {
    pairs.emplace_back(a, b);
    lengths += static_cast<double>(length(surface.vertices[a] - surface.vertices[b]));
  }
  cell_ = static_cast<float>(lengths / static_cast<double>(std::max<std::size_t>(edges.edges.size(), 1)));
  BlockRows rows = make_pattern(edges.edges, node_count_);
  core_lumps_.assign(node_count_, 0);
  std::vector<double> masses((node_count_ + kLanes - 1) / kLanes * kLanes, 0);

  const LameParameters lame = lame_parameters(def.material);
  const auto at = [&](std::uint32_t i) { return Vec3d(i < node_count_ ? surface.vertices[i] : core[i - node_count_]); };
  for (const Face& face : surface.faces) {
    for (const Tet& tet : layer_tets(face, node_count_)) {
      const TetShape shape({at(tet[0]), at(tet[1]), at(tet[2]), at(tet[3])});
      // A tet is made of what the nodes above it are made of.
      double stiffness = 0, density = 0;
      for (const std::uint32_t k : face) {
        stiffness += static_cast<double>(factor(def.stiffness_factors, k)) / 3;
        density += static_cast<double>(factor(def.density_factors, k)) / 3;
      }
      const double lambda = stiffness * static_cast<double>(lame.lambda), mu = stiffness * static_cast<double>(lame.mu);
      const double lump = density * static_cast<double>(def.material.density) * shape.volume / 4;
      for (std::size_t a = 0; a < 4; ++a) {
        if (tet[a] >= node_count_) {
          core_lumps_[tet[a] - node_count_] += lump;
          continue;
        }
        masses[tet[a]] += lump;
        const Vec3d ga = shape.gradients[a];
        for (std::size_t b = 0; b < 4; ++b) {
          if (tet[b] >= node_count_) continue;
          const Vec3d gb = shape.gradients[b];
          auto& block = block_at(rows, tet[a], tet[b]);
          for (std::size_t k = 0; k < 9; ++k) {
            const std::size_t i = k / 3, j = k % 3;
            block[k] += shape.volume * (lambda * ga[i] * gb[j] + mu * ga[j] * gb[i] + (i == j ? mu * dot(ga, gb) : 0));
          }
        }
      }
      ++tet_count_;
    }
  }
  masses_.assign(masses.begin(), masses.end());
  matrix_.build(rows);
  hierarchy_.build(surface.vertices, std::move(pairs), std::move(masses), std::move(rows));
}

void LayeredLayer::build_core(const LayeredDef& def, const std::vector<Vec3>& core) {
  const TriMesh& surface = def.atlas.surface;
  MassMoments moments;
  if (is_closed(surface)) {
    TriMesh inner = surface;
    inner.vertices = core;
    moments = enclosed_moments(inner);
    moments.mass *= static_cast<double>(def.core_density);
    moments.second = static_cast<double>(def.core_density) * moments.second;
    if (!(moments.mass > 0)) moments = {};  // a core without an inside: its points are all its mass
  }
  Vec3d sum = moments.center * moments.mass;
  core_mass_ = moments.mass;
  for (std::size_t i = 0; i < core.size(); ++i) sum += Vec3d(core[i]) * core_lumps_[i], core_mass_ += core_lumps_[i];
  center_ = sum / core_mass_;
  Sym3d second = moments.second + moments.mass * outer(moments.center - center_);
  for (std::size_t i = 0; i < core.size(); ++i) second = second + core_lumps_[i] * outer(Vec3d(core[i]) - center_);
  const double trace = second.xx + second.yy + second.zz;
  core_inertia_ = {trace - second.xx, -second.xy, -second.zx, -second.xy,       trace - second.yy,
                   -second.yz,        -second.zx, -second.yz, trace - second.zz};
  rest_.assign(node_count_), inward_.assign(node_count_);
  for (std::uint32_t i = 0; i < node_count_; ++i) {
    rest_.set(i, (Vec3d(surface.vertices[i]) - center_).to_float());
    inward_.set(i, core[i] - surface.vertices[i]);
    thickness_ += length(inward_.get(i)) / static_cast<float>(node_count_);
  }
}

void LayeredLayer::find_core_stiffness() {
  QuadVectors motion, force;
  motion.assign(node_count_), force.assign(node_count_);
  footing_.assign(node_count_, 0);
  const auto unit = [](std::size_t k) {
    Vec3 v;
    v[k % 3] = 1;
    return v;
  };
  for (std::size_t column = 0; column < 6; ++column) {
    for (std::uint32_t i = 0; i < node_count_; ++i) {
      motion.set(i, column < 3 ? unit(column) : cross(unit(column), rest_.get(i)));
    }
    for (std::size_t g = 0; g < groups(); ++g) force.set_group(g, stiffness_times(g, motion));
    hierarchy_.set_core_column(column, force);
    for (std::uint32_t i = 0; i < node_count_; ++i) {
      if (column < 3) {
        const Vec3 way = normalized(inward_.get(i));
        footing_[i] += way[column] * dot(way, force.get(i));
      }
      const Vec3d f(force.get(i)), turn = cross(Vec3d(rest_.get(i)), f);
      for (std::size_t k = 0; k < 3; ++k) {
        core_stiffness_[6 * k + column] += f[k];
        core_stiffness_[6 * (k + 3) + column] += turn[k];
      }
    }
  }
}

}  // namespace pliant
