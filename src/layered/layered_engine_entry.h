// What the engine keeps of each layered body, shared by the files that implement it.
#pragma once

#include "layered/layered_engine.h"
#include "layered/layered_guest.h"

namespace pliant {

/// What of a layered body decides the future, besides what its body holds.
struct LayeredSettings {
  float friction = 0.5f, gravity_scale = 1;
  CollisionFilter filter{};
  bool awake = true, frozen = false;
};

struct LayeredEngine::Entry {
  BodyId id{};
  std::unique_ptr<LayeredBody> body;
  LayeredSettings settings;
  std::uint64_t revision = 0;  ///< which body it is, of all that ever were
  std::unique_ptr<LayeredGuest> guest;

  // Of this step.
  Vec3 force{}, torque{};                                   ///< on all of it, N, N m
  std::vector<std::pair<std::uint32_t, Vec3>> node_forces;  ///< N
  std::vector<NodeTouch> touches;
  std::vector<std::uint32_t> shared_touches;  ///< which of them are rows of the island
  bool is_guest = false;                      ///< solved together with others
  NodeTouchSearch touch_search;
  LayeredState before;  ///< where the step began

  // Filled when somebody asks.
  mutable std::vector<Vec3> positions, velocities;
  mutable Aabb box;
  mutable LayeredTotals totals;
  mutable double energy = 0;
  mutable std::uint64_t hash = 0;
  mutable bool positions_fresh = false, velocities_fresh = false, totals_fresh = false, energy_fresh = false,
               hash_fresh = false;

  bool is_active() const { return settings.awake && !settings.frozen; }
  void set_stale() { positions_fresh = velocities_fresh = totals_fresh = energy_fresh = hash_fresh = false; }
};

}  // namespace pliant
