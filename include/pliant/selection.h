// Which nodes of a body are meant: by their place at rest, by name or by number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "pliant/math.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

/// All nodes in a box.
struct NodeBox {
  Aabb box{};
};
/// All nodes on the far side of a plane: dot(node, normal) ≥ offset.
struct NodeHalfSpace {
  Vec3 normal{0, 1, 0};
  float offset = 0;  ///< m, for a normal of any length
};
/// All nodes near a plane: |dot(node, n) − offset| ≤ thickness / 2, with n the normal at unit length.
struct NodeSlab {
  Vec3 normal{0, 1, 0};
  float offset = 0;         ///< m
  float thickness = 1e-3f;  ///< m
};
/// A named set of the mesh, such as a physical group of Gmsh's.
struct NodeSet {
  std::string name{};
};
/// The `count` nodes nearest to a point.
struct NearestNodes {
  Vec3 point{};
  int count = 1;
};
/// Nodes by number.
struct NodeList {
  std::vector<std::uint32_t> nodes{};
};
struct AllNodes {};

using NodeSelection = std::variant<AllNodes, NodeBox, NodeHalfSpace, NodeSlab, NodeSet, NearestNodes, NodeList>;

/// The nodes that a selection names, ascending; an error where a set is unknown, a number is out of range, or nothing
/// is selected.
Result<std::vector<std::uint32_t>> select_nodes(const TetMesh& mesh, const NodeSelection& selection);
/// The same among nodes that have places but no named sets, as those of cloth and rope.
Result<std::vector<std::uint32_t>> select_nodes(std::span<const Vec3> nodes, const NodeSelection& selection);

/// The faces all of whose corners are among the nodes, by index; an error where there is none.
Result<std::vector<std::uint32_t>> select_faces(std::span<const Face> faces, std::span<const std::uint32_t> nodes);

/// Nodes that move as told and pull the rest along: held where they are, or driven (`World::drive`).
struct HeldNodes {
  std::string name{};  ///< for `World::drive` and scenes; may be empty
  NodeSelection nodes = AllNodes{};
};

}  // namespace pliant
