// The surface that a cloth shows: its own triangles, or a surface that they carry.
#pragma once

#include <optional>
#include <vector>

#include "embed/deforming_surface.h"
#include "embed/sheet_embedding.h"
#include "embed/surface_normals.h"

namespace pliant {

class ClothSurface final : public DeformingSurface {
 public:
  ClothSurface(const World& world, BodyId body, const ClothDef& def);

  /// A cloth that has torn shows its own triangles from then on: the surface that it carried is still whole.
  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) override;

 private:
  void show_own(std::span<const Vec3> nodes);
  void show_torn(const World& world, BodyId body);

  std::vector<Face> faces_;
  std::optional<SheetEmbedding> embedding_;
  SurfaceNormals surface_normals_;
};

/// Where the nodes of a cloth are at rest, in its frame.
std::vector<Vec3> rest_nodes(const ClothDef& def);

}  // namespace pliant
