// Holding a body by a point of its surface and pulling it: a damped spring between that point and the mouse.
//
// The spring's pull is the one that an implicit step would find, which stays calm for large steps where an explicit one
// explodes; it is scaled by the body's mass, so that a pebble and a boulder follow alike. A rigid body is pulled at the
// point, a body of nodes by a handful of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "embed/render_surface.h"
#include "pliant/world.h"

#include "view/handful.h"
#include "view/screen.h"

namespace pliant {

/// A point of a body's surface, found again as the body moves and deforms.
struct SurfacePoint {
  BodyId body{};
  Vec3 local{};                        ///< of a body that does not deform: in its frame, m
  std::array<std::size_t, 3> nodes{};  ///< of one that does: three vertices …
  std::array<float, 3> weights{};      ///< … and their shares

  static SurfacePoint at(const RenderSurface& surface, Vec3 world);
  /// False once the surface is another one that has no such point: the body broke.
  bool is_on(const RenderSurface& surface) const;
  /// In the mesh at rest.
  Vec3 rest_position(const RenderSurface& surface) const;
  Vec3 position(const RenderSurface& surface) const;
  Vec3 velocity(const RenderSurface& surface) const;
};

class Grab {
 public:
  /// Takes hold where the ray hit.
  Grab(const World& world, const RenderSurface& surface, Vec3 position);

  BodyId body() const { return point_.body; }
  Vec3 target() const { return target_; }
  void pull_to(Vec3 target);
  Vec3 position(const RenderSurface& surface) const { return point_.position(surface); }

  /// Queues the pull of a step of `dt` seconds.
  void apply(World& world, const RenderSurface& surface, float dt) const;

 private:
  void pull_rigid(World& world, const BodyState& state, Vec3 x, Vec3 v, float dt) const;
  void pull_nodes(World& world, const BodyState& state, Vec3 x, float dt) const;
  void drag(World& world, const BodyState& state, Vec3 angular_momentum, Vec3 held, float dt) const;

  SurfacePoint point_;
  std::optional<Handful> handful_;  ///< of a body of nodes
  Vec3 target_{};
};

/// How a point of a body answers an impulse: velocity = `response` * impulse. Of a body without known inertia it is
/// that of its mass at the point.
Mat3 response_at(const World& world, BodyId body, Vec3 point);

}  // namespace pliant
