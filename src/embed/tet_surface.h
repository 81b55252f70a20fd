// The surface that a solid or a jelly shows: that of its tets, or a finer one that they carry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "embed/carried_surface.h"
#include "embed/deforming_surface.h"
#include "embed/embedding.h"
#include "embed/surface_normals.h"

namespace pliant {

class TetSurface final : public DeformingSurface {
 public:
  /// `surface` is what is carried; may be null.
  TetSurface(Workers& workers, const TetMesh& tets, const std::shared_ptr<const TriMesh>& surface);
  /// Of a solid, which may be a piece of another.
  TetSurface(Workers& workers, const World& world, BodyId body, const SolidDef& def, CarriedSurfaces& carried);

  /// A solid that has broken shows its part of what was carried by the whole.
  bool update(Workers& workers, const World& world, BodyId body, std::optional<TetValue> value) override;

 private:
  void show_whole(Workers& workers, const TetMesh& tets, const std::shared_ptr<const TriMesh>& surface);
  void show_tets(const TetMesh& tets);
  void show_piece(Workers& workers, const World& world, BodyId body, const TetMesh& mesh);
  bool show_broken(Workers& workers, const World& world, BodyId body);
  void spread_values(Workers& workers, const TetMesh& mesh, const std::vector<float>& of_tets);

  CarriedSurfaces* carried_surfaces_ = nullptr;    ///< of a solid
  std::shared_ptr<const CarriedSurface> carried_;  ///< that the surface is part of, where it is
  std::vector<Tet> tets_;
  std::vector<std::uint32_t> nodes_;    ///< of the vertices, where the surface is the tets' own
  std::optional<Embedding> embedding_;  ///< where it is not
  std::vector<float> node_values_, node_weights_;
  SurfaceNormals surface_normals_;
};

}  // namespace pliant
