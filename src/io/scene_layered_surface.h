// The surface of a layered body: one of the built-in forms, or a mesh.
#pragma once

#include <optional>
#include <vector>

#include "io/scene_builder.h"
#include "pliant/atlas.h"

namespace pliant {

/// Blocks around the Y axis that stand out from the surface: the teeth of a gear, the treads of a tire.
struct Ridges {
  int count = 16;
  float depth = 0.05f;  ///< m
};

/// How far a ridge stands out at a place of the surface.
Vec3 ridge_at(const Ridges& ridges, Vec3 position, Vec3 normal);

/// What is wrong is refused; then the atlas stays empty. Ridges are read, and not made: the core is that of the plain
/// surface.
void read_layered_surface(const SceneReader& r, Atlas& atlas, std::optional<Ridges>& ridges);

void describe_layered_surface(std::vector<FieldSet>& sets);

}  // namespace pliant
