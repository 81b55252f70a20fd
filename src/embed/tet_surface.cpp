#include "embed/tet_surface.h"

#include <algorithm>

#include "geometry/creases.h"

namespace pliant {
namespace {

/// Edges sharper than this stay edges, in radians.
constexpr double kCrease = 0.7;

/// For each vertex of `split`, which has the faces of `whole` in the same order, the vertex that it is a copy of.
std::vector<std::uint32_t> originals(const TriMesh& split, const TriMesh& whole) {
  std::vector<std::uint32_t> of(split.vertices.size(), 0);
  for (std::size_t f = 0; f < split.faces.size(); ++f) {
    for (std::size_t k = 0; k < 3; ++k) of[split.faces[f][k]] = whole.faces[f][k];
  }
  return of;
}

}  // namespace

TetSurface::TetSurface(Workers& workers, const TetMesh& tets, const std::shared_ptr<const TriMesh>& surface)
    : tets_(tets.tets) {
  show_whole(workers, tets, surface);
}

TetSurface::TetSurface(Workers& workers, const World& world, BodyId body, const SolidDef& def, CarriedSurfaces& carried)
    : carried_surfaces_(&carried), tets_(def.mesh.tets) {
  const bool is_whole = world.origin_def(body)->get() == &def;
  if (is_whole && !def.splinters) {
    show_whole(workers, def.mesh, def.surface);
  } else {
    show_piece(workers, world, body, def.mesh);
  }
}

void TetSurface::show_whole(Workers& workers, const TetMesh& tets, const std::shared_ptr<const TriMesh>& surface) {
  if (surface) {
    // A model that comes with normals is split where its maker wanted it to be.
    auto mesh = std::make_shared<const TriMesh>(surface->normals.empty() ? split_creases(*surface, kCrease) : *surface);
    Result<Embedding> bound = Embedding::create(workers, tets, mesh->vertices);
    if (bound) {
      use(std::move(mesh));
      embedding_ = std::move(*bound);
    }
  }
  if (!embedding_) show_tets(tets);
  surface_normals_ = SurfaceNormals(*mesh_);
}

void TetSurface::show_tets(const TetMesh& tets) {
  std::vector<std::uint32_t> surface_nodes;
  const TriMesh whole = extract_surface(tets, &surface_nodes);
  use(std::make_shared<const TriMesh>(split_creases(whole, kCrease)));
  nodes_.clear();
  for (const std::uint32_t vertex : originals(*mesh_, whole)) nodes_.push_back(surface_nodes[vertex]);
}

void TetSurface::show_piece(Workers& workers, const World& world, BodyId body, const TetMesh& mesh) {
  carried_ = carried_surfaces_->of(workers, *world.origin_def(body));
  embedding_.reset();
  colors_.clear();
  if (!carried_) return show_whole(workers, mesh, nullptr);
  PieceSurface piece = surface_of_piece(*carried_, mesh, *world.origin_tets(body));
  embedding_ = Embedding::from_bindings(mesh, piece.bindings);
  use(std::make_shared<const TriMesh>(std::move(piece.mesh)));
  colors_ = std::move(piece.colors);
  surface_normals_ = SurfaceNormals(*mesh_, piece.groups);
}

bool TetSurface::show_broken(Workers& workers, const World& world, BodyId body) {
  const Result<const SolidDef*> solid = world.solid_def(body);
  if (!solid || (*solid)->mesh.tets == tets_) return false;
  tets_ = (*solid)->mesh.tets;
  show_piece(workers, world, body, (*solid)->mesh);
  return true;
}

bool TetSurface::update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) {
  const bool is_new = show_broken(workers, world, body);
  const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
  if (embedding_) {
    embedding_->update(workers, positions, vertices_);
    embedding_->update(workers, velocities, velocities_);
  } else {
    for (std::size_t i = 0; i < nodes_.size(); ++i) vertices_[i] = positions[nodes_[i]];
    for (std::size_t i = 0; i < nodes_.size(); ++i) velocities_[i] = velocities[nodes_[i]];
  }
  surface_normals_.update(workers, vertices_, normals_);
  values_.clear();
  const Result<const SolidDef*> solid = world.solid_def(body);  // jelly knows no stress
  if (value && solid) spread_values(workers, (*solid)->mesh, *world.tet_values(body, *value));
  return is_new;
}

/// From tets to nodes by the mean of those around, from nodes to vertices.
void TetSurface::spread_values(Workers& workers, const TetMesh& mesh, const std::vector<float>& of_tets) {
  node_values_.assign(mesh.nodes.size(), 0);
  node_weights_.assign(mesh.nodes.size(), 0);
  for (std::size_t tet = 0; tet < mesh.tets.size(); ++tet) {
    for (const std::uint32_t node : mesh.tets[tet]) node_values_[node] += of_tets[tet], node_weights_[node] += 1;
  }
  for (std::size_t i = 0; i < node_values_.size(); ++i) node_values_[i] /= std::max(node_weights_[i], 1.0f);
  values_.resize(vertices_.size());
  if (embedding_) {
    embedding_->interpolate(workers, node_values_, values_);
  } else {
    for (std::size_t i = 0; i < nodes_.size(); ++i) values_[i] = node_values_[nodes_[i]];
  }
}

std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World& world, BodyId body, const SolidDef& def,
                                               CarriedSurfaces& carried) {
  return std::make_unique<TetSurface>(workers, world, body, def, carried);
}
std::unique_ptr<DeformingSurface> make_surface(Workers& workers, const World&, BodyId, const JellyDef& def) {
  return std::make_unique<TetSurface>(workers, def.mesh, def.surface);
}

}  // namespace pliant
