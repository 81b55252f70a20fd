// Surfaces with no edge too long.
#pragma once

#include "pliant/mesh.h"

namespace pliant {

/// A copy in which edges longer than `longest` are halved until none is, or until there are more than `most` faces. An
/// edge is halved on both its sides, so what was closed stays closed. Normals and uvs are halved too.
TriMesh refine_edges(TriMesh mesh, float longest, std::size_t most);

}  // namespace pliant
