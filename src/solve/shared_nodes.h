// Nodes of cloth, rope and jelly that touch a solid, as its island takes them and gives them back.
//
// A particle body solves its own rows first, with what it touches as something that moves on and does not give way. An
// island of solids then finds the impulses anew, both ways. For that it must know how the body answers an impulse: its
// masses, and springs that stand for all that holds it together. A bare node would give way at once, and learn what
// hangs on it in the next substep; where that is heavy, or stiff, the two then throw each other about.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "pliant/ids.h"
#include "pliant/math.h"

namespace pliant {

/// Resists what parts its two nodes, or brings them together.
struct SharedSpring {
  std::uint32_t a, b;  ///< places among the shared nodes
  Vec3 along;          ///< unit
  float stiffness;     ///< kg: N/m times the substep squared
};

/// A contact of shared nodes with something rigid, which the body's own rows have solved already.
struct SharedNodeRow {
  static constexpr std::uint32_t kFixed = 0xffffffff;
  std::uint32_t count = 0;
  std::array<std::uint32_t, 3> nodes{};  ///< places among the shared nodes
  std::array<float, 3> weights{};        ///< with the sum 1
  std::uint32_t rigid = kFixed;          ///< the slot of a body that gives way
  Vec3 point{};                          ///< m, world: where it acts on that
  Vec3 normal{};                         ///< unit, towards the nodes
  Vec3 surface_velocity{};               ///< m/s, of something that does not give way
  float gap = 0, friction = 0;
  Vec3 impulse{};  ///< on the nodes, N s: as their velocities have felt it; then, as it should be
};

/// Those nodes of one body that feel what it touches.
struct SharedNodes {
  BodyId id{};
  std::vector<std::uint32_t> nodes;  ///< of the body, ascending
  std::vector<float> masses;         ///< kg; 0: held
  std::vector<Vec3> x, v, v_before;  ///< m, m/s: now, and when the substep began
  std::vector<Vec3> change;          ///< m/s: what the island adds to v
  std::vector<SharedSpring> springs;
  std::vector<SharedNodeRow> rows;

  /// The place of a node of the body among these; it must be one of them.
  std::uint32_t place_of(std::uint32_t node) const {
    return static_cast<std::uint32_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  }
};

/// All of them, and what their own rows made of their contacts with solids.
struct SharedBodies {
  std::vector<SharedNodes> bodies;  ///< ascending ids
  std::size_t count = 0;            ///< of those in use
  std::vector<Vec3> impulses;       ///< N s, on the nodes: by meeting of solids with particle bodies
};

}  // namespace pliant
