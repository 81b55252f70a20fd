// What the engine keeps of each solid, shared by the files that implement it.
#pragma once

#include "solid/solid_engine.h"
#include "solid/solid_fracture.h"

namespace pliant {

/// A held node's way to a place, over one step.
struct DrivenNode {
  std::uint32_t node;
  Vec3 target;
};

/// The air's force on a node, for one substep.
struct DragForce {
  std::uint32_t node;
  Vec3 force;
};

/// What of a solid decides the future, besides what its body holds.
struct SolidSettings {
  float friction = 0.5f, gravity_scale = 1;
  CollisionFilter filter{};
  bool awake = true, frozen = false;
  bool is_piece = false;  ///< of a solid that broke
};

struct SolidEngine::Entry {
  BodyId id{};
  std::unique_ptr<SolidBody> body;
  std::unique_ptr<SolidFracture> fracture;  ///< null for what does not break
  SolidSettings settings;

  Entry() = default;
  explicit Entry(std::unique_ptr<SolidBody> solid, std::unique_ptr<SolidFracture> breaks);

  // Set once.
  std::vector<Face> faces;                                ///< of the surface, by node
  std::vector<std::uint8_t> is_inner;                     ///< by node: not of the surface
  std::vector<std::uint32_t> face_starts, faces_of_node;  ///< the faces around each node
  float cell = 0;                                         ///< m, the size of a tet
  float deepest = 0;                                      ///< m, how far inside it one is still pushed out
  float give_time = 0;                                    ///< s, see `BodySurface`
  std::uint64_t revision = 0;                             ///< which body it is, of all that ever were

  // Of this step.
  std::vector<DrivenNode> driven;
  std::vector<DragForce> drag;
  std::vector<NodeTouch> touches;
  NodeTouchSearch touch_search;
  SolveResult result;
  LaneVectors positions_before, velocities_before;  ///< where the step began

  // Filled when somebody asks.
  mutable std::vector<Vec3> positions, velocities;
  mutable bool positions_fresh = false, velocities_fresh = false;
  // Sums of a body that sleeps, so that it costs nothing.
  mutable SolidTotals totals;
  mutable double energy = 0;
  mutable std::uint64_t hash = 0;
  mutable bool totals_fresh = false, energy_fresh = false, hash_fresh = false;

  /// Away from the body at a node of its surface; not of unit length.
  Vec3 outward(std::uint32_t node) const;

  void list_faces();
  bool is_active() const { return settings.awake && !settings.frozen; }
  void set_stale() { positions_fresh = velocities_fresh = totals_fresh = energy_fresh = hash_fresh = false; }
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename Visit>
void SolidEngine::for_bodies(Visit&& visit) const {
  // Tets; below that threads would wait for each other more than they work, if there are others to work on.
  constexpr std::uint32_t kLarge = 4000;
  constexpr std::size_t kFew = 4;
  const bool are_few = slots_.size() < kFew;
  const auto is_large = [&](std::size_t i) { return are_few || entry(slots_[i]).body->tet_count() > kLarge; };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (is_large(i)) visit(i, workers_);
  }
  parallel_for(workers_, slots_.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_large(i)) visit(i, alone_);
    }
  });
}

}  // namespace pliant
