// Triangle and tetrahedral meshes: what they hold, and what makes one valid.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pliant/math.h"
#include "pliant/result.h"

namespace pliant {

using Face = std::array<std::uint32_t, 3>;  ///< three vertices, counter-clockwise seen from outside
using Tet = std::array<std::uint32_t, 4>;   ///< four nodes, the fourth on the side that face (0, 1, 2) faces

/// A surface. `normals` and `uvs` are empty or as many as `vertices`.
struct TriMesh {
  std::vector<Vec3> vertices;  ///< m
  std::vector<Face> faces;
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;

  Aabb bounds() const;
};

/// A solid cut into tetrahedra. A tet (a, b, c, d) is the right way round when (b−a)×(c−a)·(d−a) > 0.
struct TetMesh {
  std::vector<Vec3> nodes;  ///< m, at rest
  std::vector<Tet> tets;
  std::vector<std::int32_t> regions;                            ///< material region per tet; empty means all 0
  std::map<std::string, std::vector<std::uint32_t>> node_sets;  ///< named selections, such as Gmsh's physical groups

  Aabb bounds() const;
  double volume() const;  ///< m³
};

/// One thing that is wrong with a mesh.
struct MeshProblem {
  enum class Kind {
    NotFinite,          ///< a vertex or node with a NaN or infinite coordinate
    IndexOutOfRange,    ///< an element that names a vertex or node that does not exist
    Degenerate,         ///< an element of (nearly) no area or volume, or that names a node twice
    Inverted,           ///< a tet that is inside out
    NonManifold,        ///< an edge with more than two faces, or a tet face with more than two tets
    InconsistentFaces,  ///< two neighbours that face opposite ways
    Open                ///< an edge with one face, where a closed surface is asked for
  };
  Kind kind;
  std::uint32_t element;  ///< the index of the face, tet, vertex or node that `message` names
  std::string message;    ///< "tet 17 is inverted: its volume is -2.1e-05 m³"
};

struct ValidateOptions {
  bool require_closed = false;    ///< also report `Open` and `InconsistentFaces`
  std::size_t max_problems = 20;  ///< stop after so many
};

/// All that is wrong with the mesh, in a fixed order; empty for a valid mesh. Linear in the mesh's size.
std::vector<MeshProblem> validate(const TriMesh& mesh, const ValidateOptions& options = {});
std::vector<MeshProblem> validate(const TetMesh& mesh, const ValidateOptions& options = {});

/// The outer faces of a tet mesh. The vertices are the surface nodes in ascending order of node; `surface_nodes` gets
/// the node of each vertex when it is not null.
TriMesh extract_surface(const TetMesh& mesh, std::vector<std::uint32_t>* surface_nodes = nullptr);

/// Area-weighted vertex normals.
std::vector<Vec3> compute_normals(const TriMesh& mesh);

/// Volume enclosed by a closed surface, m³; negative when its faces look inward.
double enclosed_volume(const TriMesh& mesh);

}  // namespace pliant
