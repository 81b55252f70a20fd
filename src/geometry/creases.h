// Vertices split along sharp edges, so that each copy has the normal of its own side.
#pragma once

#include "pliant/mesh.h"

namespace pliant {

/// A copy of the mesh with normals, in which neighbouring faces that meet at more than `angle` radians share no
/// vertices. The faces keep their order. Uvs are kept.
TriMesh split_creases(const TriMesh& mesh, double angle);

}  // namespace pliant
