// What a person should know of a surface beyond what makes it invalid: whether it is closed, and which way it faces.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "pliant/mesh.h"

namespace pliant {

struct SurfaceFaults {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  std::size_t open_edges = 0;              ///< of one face only
  std::size_t crowded_edges = 0;           ///< of more than two faces
  std::size_t opposed_edges = 0;           ///< of two faces that face opposite ways
  std::size_t duplicates = 0;              ///< faces of the same three vertices as one before them
  std::optional<Pair> opposed, duplicate;  ///< the first of these, by their faces
  bool is_inside_out = false;              ///< closed, of one mind, and looking inward

  bool is_closed() const { return open_edges == 0 && crowded_edges == 0; }
  /// Whether it encloses a volume that can be told.
  bool has_volume() const { return is_closed() && opposed_edges == 0 && duplicates == 0; }
};

SurfaceFaults find_surface_faults(const TriMesh& mesh);

}  // namespace pliant
