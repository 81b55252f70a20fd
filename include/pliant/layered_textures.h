// What a layered body is and does, as textures for shading and export.
//
//   Result<LayeredTextures> textures = LayeredTextures::create(world, head, 256);
//   for (…) { world.step(); textures->update(world); draw(textures->positions(), textures->normals()); }
#pragma once

#include "pliant/atlas.h"
#include "pliant/ids.h"
#include "pliant/texture_io.h"
#include "pliant/world.h"

namespace pliant {

class LayeredTextures {
 public:
  /// Textures of `resolution` texels a side. An error for a body that is not layered, or whose surface is not laid out.
  static Result<LayeredTextures> create(const World& world, BodyId body, int resolution);

  /// As the world is now. An error if the body is gone.
  Status update(const World& world);

  const AtlasLayout& layout() const { return layout_; }
  const TexelMap& map() const { return map_; }
  // World axes. Texels that show nothing are 0.
  const VectorTexture& positions() const { return positions_; }  ///< m
  const VectorTexture& normals() const { return normals_; }      ///< unit
  /// N s on the nodes by what they touch, of the last substep.
  const VectorTexture& contacts() const { return contacts_; }

 private:
  void gather_contacts(const World& world, std::span<const Vec3> nodes);

  BodyId body_{};
  TriMesh surface_;
  AtlasLayout layout_;
  TexelMap map_;
  VectorTexture positions_, normals_, contacts_;
  std::vector<Vec3> impulses_;  ///< by node
};

}  // namespace pliant
