#include "embed/solid_surface.h"

#include <algorithm>

namespace pliant {
namespace {

std::shared_ptr<const TriMesh> carried_mesh(const SolidDef& def) {
  // A mesh with normals of its own would keep them as it deforms.
  auto mesh = std::make_shared<TriMesh>(*def.surface);
  mesh->normals.clear();
  return mesh;
}

}  // namespace

SolidSurface::SolidSurface(Workers& workers, const SolidDef& def) {
  if (def.surface) {
    Result<Embedding> bound = Embedding::create(workers, def.mesh, def.surface->vertices);
    if (bound) {
      mesh_ = carried_mesh(def);
      embedding_ = std::move(*bound);
    }
  }
  if (!embedding_) mesh_ = std::make_shared<const TriMesh>(extract_surface(def.mesh, &nodes_));
  vertices_.resize(mesh_->vertices.size());
  velocities_.resize(mesh_->vertices.size());
}

void SolidSurface::update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) {
  const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
  if (embedding_) {
    embedding_->update(workers, positions, vertices_);
    embedding_->update(workers, velocities, velocities_);
  } else {
    for (std::size_t i = 0; i < nodes_.size(); ++i) vertices_[i] = positions[nodes_[i]];
    for (std::size_t i = 0; i < nodes_.size(); ++i) velocities_[i] = velocities[nodes_[i]];
  }
  values_.clear();
  if (value) spread_values(workers, (*world.solid_def(body))->mesh, *world.tet_values(body, *value));
}

/// From tets to nodes by the mean of those around, from nodes to vertices.
void SolidSurface::spread_values(Workers& workers, const TetMesh& mesh, const std::vector<float>& of_tets) {
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

}  // namespace pliant
