// A closed surface cut into charts that are nearly flat: clusters of faces whose normals agree (after Cohen-Steiner,
// Alliez and Desbrun 2004, "Variational shape approximation").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// The chart of each face, numbered from 0. Charts are connected; their normals stay within about 75 degrees of their
/// mean, but for charts of a few faces.
std::vector<std::uint32_t> cluster_by_normals(const TriMesh& surface);

/// Cuts a connected set of faces (of at least two) in two parts of about the same size: true for those of the second,
/// which may not hang together.
std::vector<bool> halve_chart(std::span<const std::uint32_t> faces,
                              const std::vector<std::array<std::uint32_t, 3>>& neighbors);

}  // namespace pliant
