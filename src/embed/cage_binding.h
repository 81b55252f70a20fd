// Where the vertices of a render surface lie in the tets of a cage.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "geometry/bvh.h"
#include "pliant/mesh.h"

namespace pliant {

/// Nearly the least volume, as a share of the cube of its longest edge, at which a tet can say where a point is.
inline constexpr double kLeastTetVolume = 1e-7;

/// One vertex in or beside a tet.
struct VertexBinding {
  std::uint32_t tet;
  bool is_outside;
  /// Inside: those of the tet. Outside: the first three are the face that is nearest, counter-clockwise from outside.
  std::array<std::uint32_t, 4> nodes;
  /// Of the nodes but the first, whose own makes the sum 1. Inside: barycentric. Outside: of the nearest point of the
  /// face, the third is 0.
  std::array<float, 3> weights;
  Vec3 offset;  ///< from the nearest point of the face to the vertex, m; 0 inside
};

/// Whether a tet of a cage can say where a point is: its nodes exist, are finite, and it has some volume.
bool is_sound(const TetMesh& cage, const Tet& tet);

/// The weights of all corners but the first at a point, of a tet that is sound.
std::array<double, 3> weights_in(const TetMesh& cage, const Tet& tet, Vec3 point);

/// Beside a face of a sound tet, counter-clockwise from outside, with the point of it that has these weights (of the
/// second and third corner) as the nearest.
VertexBinding bind_beside(const TetMesh& cage, std::uint32_t tet, const Face& face, Vec3 vertex, float w1, float w2);

/// A face of a tet, counter-clockwise from outside, also of a tet that is inside out.
Face outward_face(const TetMesh& cage, const Tet& tet, std::size_t face);

/// The tets of a cage at rest, ready to be searched. Tets of no volume, of nodes that are not finite or do not exist
/// are left out: a vertex in one of them goes to its neighbour. Tets may be inside out.
class CageSearch {
 public:
  /// Keeps a view of the cage, which must outlive it.
  explicit CageSearch(const TetMesh& cage);

  bool empty() const { return tets_.empty(); }
  /// Those that are not left out.
  std::span<const Tet> tets() const { return tets_; }

  /// Of a finite point; the cage may not be empty. In the tet that holds it, or beside the nearest outer face.
  VertexBinding bind(Vec3 vertex) const;

 private:
  bool bind_inside(Vec3 vertex, VertexBinding& binding) const;
  VertexBinding bind_outside(Vec3 vertex) const;

  const TetMesh& cage_;
  std::vector<Tet> tets_;
  std::vector<std::uint32_t> tet_numbers_;  ///< in the cage
  std::vector<Face> outer_faces_;           ///< of one of these tets only, counter-clockwise from outside
  std::vector<std::uint32_t> outer_face_tets_;
  Bvh tet_tree_, face_tree_;
};

}  // namespace pliant
