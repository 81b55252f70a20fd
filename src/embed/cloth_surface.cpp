#include "embed/cloth_surface.h"

#include <algorithm>

#include "particle/particle_model.h"

namespace pliant {

std::vector<Vec3> rest_nodes(const ClothDef& def) {
  if (const auto* mesh = std::get_if<TriMesh>(&def.shape)) return mesh->vertices;
  if (std::holds_alternative<ClothWeave>(def.shape)) return build_model(def).rest;
  const auto& sheet = std::get<ClothSheet>(def.shape);
  std::vector<Vec3> nodes;
  for (int k = 0; k <= sheet.cells_z; ++k) {
    for (int i = 0; i <= sheet.cells_x; ++i) {
      nodes.push_back({sheet.width * (static_cast<float>(i) / static_cast<float>(sheet.cells_x) - 0.5f), 0,
                       sheet.length * (static_cast<float>(k) / static_cast<float>(sheet.cells_z) - 0.5f)});
    }
  }
  return nodes;
}

namespace {

/// Null for a cloth that shows its own triangles.
std::shared_ptr<const TriMesh> carried_surface(const ClothDef& def) {
  if (def.surface && !def.surface->vertices.empty()) return def.surface;
  const auto* weave = std::get_if<ClothWeave>(&def.shape);
  return weave ? std::make_shared<const TriMesh>(weave->mesh) : nullptr;
}

}  // namespace

ClothSurface::ClothSurface(const World& world, BodyId body, const ClothDef& def) {
  const std::span<const Face> faces = *world.surface_faces(body);
  faces_.assign(faces.begin(), faces.end());
  const std::vector<Vec3> rest = rest_nodes(def);
  if (world.node_positions(body)->size() != rest.size()) {
    show_torn(world, body);
  } else if (const std::shared_ptr<const TriMesh> carried = carried_surface(def)) {
    use(carried);
    embedding_.emplace(rest, faces_, carried->vertices);
    surface_normals_ = SurfaceNormals(*mesh_);
  } else {
    show_own(rest);
  }
}

/// Its own triangles, as they are now: the nodes that it had at rest are no longer all.
void ClothSurface::show_torn(const World& world, BodyId body) {
  const std::span<const Vec3> positions = *world.node_positions(body);
  std::vector<Vec3> nodes(positions.begin(), positions.end());
  const Transform body_from_world = world.state(body)->world_from_body.inverse();
  for (Vec3& node : nodes) node = body_from_world * node;
  show_own(nodes);
}

void ClothSurface::show_own(std::span<const Vec3> nodes) {
  TriMesh mesh;
  mesh.vertices.assign(nodes.begin(), nodes.end());
  mesh.faces = faces_;
  use(std::make_shared<const TriMesh>(std::move(mesh)));
  surface_normals_ = SurfaceNormals(*mesh_);
}

bool ClothSurface::update(Workers& workers, const World& world, BodyId body, std::optional<TetValue>) {
  const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
  const std::span<const Face> faces = *world.surface_faces(body);
  const bool is_torn = !std::equal(faces.begin(), faces.end(), faces_.begin(), faces_.end());
  if (is_torn) {
    embedding_.reset();
    faces_.assign(faces.begin(), faces.end());
    show_torn(world, body);
  }
  if (embedding_) {
    embedding_->update(workers, positions, vertices_);
    embedding_->interpolate(workers, velocities, velocities_);
  } else {
    std::copy(positions.begin(), positions.end(), vertices_.begin());
    std::copy(velocities.begin(), velocities.end(), velocities_.begin());
  }
  surface_normals_.update(workers, vertices_, normals_);
  return is_torn;
}

std::unique_ptr<DeformingSurface> make_surface(Workers&, const World& world, BodyId body, const ClothDef& def) {
  return std::make_unique<ClothSurface>(world, body, def);
}

}  // namespace pliant
