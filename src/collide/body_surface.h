// The surface of a body of nodes, as others meet it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "pliant/defs.h"
#include "pliant/ids.h"
#include "pliant/mesh.h"

namespace pliant {

/// Asleep and frozen bodies are given too, with `is_active` false: they touch active ones.
struct BodySurface {
  BodyId id{};
  std::uint64_t revision = 0;      ///< another one whenever `faces`, `segments` or `rest` change
  std::span<const Face> faces{};   ///< by node; those of a solid are closed and look outward
  std::span<const Tet> tets{};     ///< of a solid, by node
  std::span<const Vec3> rest{};    ///< m, by node
  std::span<const Vec3> x{}, v{};  ///< m and m/s, by node
  float radius = 0;                ///< m, round the surface; of a solid about 1 % of a cell
  float depth = 0;                 ///< m, about a cell: what distances are measured by
  float deepest = 0;               ///< m, of a solid, what is deeper inside is not found; 0 for `depth`
  /// Share of the depth: how much nearer than foreseen others may come while one of the two is stopped. Less for
  /// debris, whose many neighbours fly along with it.
  float surprise = 1;
  float slop = 5e-4f;  ///< m, the depth of contact that is left alone
  float friction = 0.5f;
  float gravity_scale = 1;
  Vec3 acceleration{};  ///< m/s², by forces on the body, without gravity
  CollisionFilter filter{};
  bool is_active = true;
  bool self_collision = false;
  /// s, the longest that parts of it go on relative to each other before its stiffness stops them: how far ahead its
  /// contacts with itself are looked for.
  float give_time = 0;
  /// Cloth, rope or jelly: with two sides instead of an inside. Their meetings with each other are found elsewhere.
  bool is_open = false;
  /// The skin of a layered body: closed as that of a solid, but never told of as overlapping volumes.
  bool is_skin = false;
  float thickness = 0;                                       ///< m, of a skin: what is deeper inside is in the core
  std::span<const std::array<std::uint32_t, 2>> segments{};  ///< of a rope
};

}  // namespace pliant
