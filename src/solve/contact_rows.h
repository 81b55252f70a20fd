// Contact and anchor rows of nodes with rigid bodies and with other nodes, solved by projected Gauss-Seidel.
//
// Document 004, sections 4.1, 4.3 and 4.4, with three changes: rows act on up to four nodes by their exact weights, so
// there are no dummy nodes and no averaging, and momentum is exact; friction is bounded by the row's own normal impulse
// instead of a pressure guessed from gravity; both directions of friction are solved together and bounded by a cone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "math/rigid_body_motion.h"
#include "math/vec4.h"
#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// Of an overlap, so much is undone in one substep, at most at this speed.
inline constexpr float kRecoveredPerStep = 0.2f;
inline constexpr float kMaxPushSpeed = 1;  // m/s

/// An impulse with the normal, as contacts keep it.
template <typename Row>
void keep_impulse(Row& row, Vec3 impulse) {
  const float along = dot(impulse, row.normal);
  row.normal_impulse = along > 0 ? along : 0.0f;
  row.friction_impulse = impulse - row.normal * along;
}

/// What the nodes of a row touch: `kFixed`, or a rigid body of the list that is given to the solver.
inline constexpr std::uint32_t kFixed = 0xffffffff;

/// One touch of a node with something rigid.
struct NodeContact {
  std::uint32_t node = 0;
  std::uint32_t slot = 0;  ///< of the node's body
  std::uint32_t rigid = kFixed;
  BodyId other{};           ///< the rigid body
  Vec3 normal{};            ///< unit, towards the node
  Vec3 arm{};               ///< from the rigid body's centre of mass
  Vec3 surface_velocity{};  ///< of something that moves as told
  float gap = 0;            ///< m
  float friction = 0;
  bool is_apart = false;  ///< solved elsewhere: left out here
  // Found by the solve, kept for the next substep.
  float normal_impulse = 0;
  Vec3 friction_impulse{};

  Vec3 impulse() const { return normal * normal_impulse + friction_impulse; }
  void set_impulse(Vec3 impulse) { keep_impulse(*this, impulse); }
};

/// One touch of a point of a surface, on a face or an edge, with something rigid; or with a solid.
struct PointContact {
  std::uint32_t count = 0;               ///< of nodes, up to 3
  std::array<std::uint32_t, 3> nodes{};  ///< any that exist beyond `count`
  std::array<float, 3> weights{};        ///< with the sum 1
  std::uint32_t slot = 0;                ///< of the nodes' body
  std::uint32_t rigid = kFixed;
  BodyId other{};           ///< the rigid body or the solid
  Vec3 normal{};            ///< unit, towards the nodes
  Vec3 arm{};               ///< from the rigid body's centre of mass
  Vec3 surface_velocity{};  ///< of something that moves as told
  float gap = 0;            ///< m
  float friction = 0;
  bool is_apart = false;  ///< solved elsewhere: left out here
  std::uint64_t key = 0;
  // Found by the solve, kept for the next substep.
  float normal_impulse = 0;
  Vec3 friction_impulse{};

  Vec3 impulse() const { return normal * normal_impulse + friction_impulse; }
  void set_impulse(Vec3 impulse) { keep_impulse(*this, impulse); }
};

/// One touch between surfaces of nodes: a node on a face, or two edges.
struct FeatureContact {
  std::array<std::uint32_t, 4> nodes{};
  std::array<std::uint32_t, 2> slots{};  ///< of the two bodies
  std::array<float, 4> weights{};        ///< of the relative velocity; they add up to 0
  Vec3 normal{};
  float gap = 0;
  float gap_offset = 0;  ///< the gap less Σ weights[i] dot(normal, x[nodes[i]])
  float friction = 0;
  std::uint64_t key = 0;
  float normal_impulse = 0;
  Vec3 friction_impulse{};
};

/// A node tied to a place of a rigid body, or of the world.
struct AnchorRow {
  std::uint32_t node = 0;
  std::uint32_t slot = 0;  ///< of the node's body
  std::uint32_t rigid = kFixed;
  std::uint32_t anchor = 0, index = 0;  ///< whose row it is
  std::uint32_t sharers = 1;            ///< anchor rows of the same rigid body
  Vec3 arm{};                           ///< from the rigid body's centre of mass
  Vec3 target{};                        ///< m/s, relative: what brings it there
  Vec3 impulse{};
  bool is_apart = false;  ///< solved elsewhere: left out here
};

/// A node tied to a point of a face, of a segment or to another node: the two are one point.
struct TieRow {
  std::array<std::uint32_t, 4> nodes{};
  std::array<std::uint32_t, 2> slots{};  ///< of the two bodies
  std::array<float, 4> weights{};        ///< of the relative velocity; they add up to 0
  std::uint32_t anchor = 0, index = 0;   ///< whose row it is
  Vec3 target{};                         ///< m/s, relative: what brings the points together
  Vec3 impulse{};                        ///< on the first node
  /// The impulse that a wrong relative velocity takes while the chains of both bodies hold them together; only where it
  /// is known. Without them a chain gives way like the one light node at its end.
  bool knows_chains = false;
  bool is_apart = false;  ///< solved elsewhere: left out here
  Mat3 gain{};
};

/// The speed along the normal that a contact must have at least: what is apart may just meet within the substep.
float contact_target(float gap, float h);

/// Applies the impulses that the rows hold already.
void warm_start(std::span<const NodeContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid);
void warm_start(std::span<const PointContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid);
void warm_start(std::span<const FeatureContact> rows, std::span<Vec4> v);
void warm_start(std::span<const AnchorRow> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid);

/// One sweep in the order of the rows.
void sweep(std::span<NodeContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid, float h);
void sweep(std::span<PointContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid, float h);
void sweep(std::span<FeatureContact> rows, std::span<Vec4> v, float h);
void sweep(std::span<AnchorRow> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid);
void sweep(std::span<TieRow> rows, std::span<Vec4> v);
/// The relative velocity of what is tied.
Vec3 relative_velocity(const TieRow& row, std::span<const Vec4> v);
void push(const TieRow& row, std::span<Vec4> v, Vec3 impulse);

/// After the positions moved: parts what still overlaps, a share of it in each substep. Velocities stay as they are:
/// pushing through them, tried first, threw folded cloth about at 0.2 m/s for ever.
void push_out(std::span<const NodeContact> rows, std::span<const Vec4> v, std::span<const RigidBodyMotion> rigid,
              std::span<Vec4> x, float h);
void push_out(std::span<const PointContact> rows, std::span<const Vec4> v, std::span<const RigidBodyMotion> rigid,
              std::span<Vec4> x, float h);
void push_out(std::span<const FeatureContact> rows, std::span<const Vec4> v, std::span<Vec4> x, float h);

}  // namespace pliant
