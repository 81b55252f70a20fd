// The look of a solid as it was added, and which tets each part of it hangs on: what its pieces share out among them.
//
// After Parker and O'Brien 2009, section 5. The look is divided into units that stay whole: splinters, or the triangles
// of a carried surface around one tet. A unit belongs to its home, the tet that holds its middle, and to the body that
// has this tet. Its vertices are carried by the tets they lie in, as long as these are connected to the home.
//
// Connected means through faces of tets near the unit, not through the whole body: a crack that has opened but has not
// yet gone all the way is not bridged either. (The paper asks whether the tets are connected at all.) Where vertices
// are carried depends on the mesh as it is now alone, not on the way it got there: a restored snapshot, or a viewer
// that comes late, shows the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "embed/cage_binding.h"
#include "geometry/adjacency.h"
#include "pliant/solid.h"

namespace pliant {

struct CarriedSurface {
  struct Unit {
    std::uint32_t home;                   ///< tet
    std::uint32_t first_face, last_face;  ///< one beyond
    bool is_spread = false;               ///< some vertices lie in tets that are not near it
  };

  /// Of the def with which a body was added. Null where nothing can be carried: no tet has any volume.
  static std::shared_ptr<const CarriedSurface> create(Workers& workers, std::shared_ptr<const SolidDef> def);

  std::shared_ptr<const SolidDef> def;
  TriMesh look;                         ///< at rest, faces by unit
  std::vector<std::uint8_t> is_inside;  ///< per face
  std::vector<std::uint32_t> facing;    ///< per face: the unit on its other side, or kNoNeighbor
  std::vector<VertexBinding> bindings;  ///< of the vertices in the whole mesh
  std::vector<Unit> units;
  Csr tets;  ///< of each unit, ascending: those near it
  /// Where what a crack lays open ends, per node: on the carried surface for nodes of the mesh's own surface. Empty for
  /// splinters, which are closed.
  std::vector<Vec3> crack_corners;
  std::vector<std::array<std::uint32_t, 4>> neighbours;  ///< per tet, across the face opposite to each node

  bool has_colors() const { return def->interior_color || (def->splinters && !def->splinters->colors.empty()); }
  Vec3 color(std::uint32_t unit, bool is_of_inside) const;
};

/// What one body shows.
struct PieceSurface {
  TriMesh mesh;
  std::vector<VertexBinding> bindings;      ///< in its own mesh
  std::vector<Vec3> colors;                 ///< per vertex, or empty
  std::vector<std::uint32_t> groups;        ///< vertices of different groups may move apart
  std::vector<std::uint32_t> units;         ///< that are shown, ascending
  std::vector<std::uint32_t> vertex_units;  ///< of each vertex; kNoNeighbor for faces that close a crack
};

/// `piece` is the mesh of the body now, `origin` for each of its tets its number in the whole. Sides of units that
/// still lie against each other are left out.
PieceSurface surface_of_piece(const CarriedSurface& carried, const TetMesh& piece,
                              std::span<const std::uint32_t> origin);

/// Carried surfaces by the def that was added: pieces of one body share one.
class CarriedSurfaces {
 public:
  std::shared_ptr<const CarriedSurface> of(Workers& workers, const std::shared_ptr<const SolidDef>& def);

 private:
  std::map<const SolidDef*, std::weak_ptr<const CarriedSurface>> known_;  ///< each keeps its def alive
};

}  // namespace pliant
