// The surface that a solid or a jelly shows: that of its tets, or a finer one that they carry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "embed/deforming_surface.h"
#include "embed/embedding.h"
#include "embed/surface_normals.h"

namespace pliant {

class TetSurface final : public DeformingSurface {
 public:
  /// `surface` is what is carried; may be null.
  TetSurface(Workers& workers, const TetMesh& tets, const std::shared_ptr<const TriMesh>& surface);

  /// A solid that has broken shows the surface of its tets from then on.
  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) override;

 private:
  void show_tets(const TetMesh& tets);
  bool show_broken(const World& world, BodyId body);
  void spread_values(Workers& workers, const TetMesh& mesh, const std::vector<float>& of_tets);

  std::vector<Tet> tets_;
  std::vector<std::uint32_t> nodes_;    ///< of the vertices, where the surface is the tets' own
  std::optional<Embedding> embedding_;  ///< where it is not
  std::vector<float> node_values_, node_weights_;
  SurfaceNormals surface_normals_;
};

}  // namespace pliant
