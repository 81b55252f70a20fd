// What the engine keeps of each body and anchor, shared by the files that implement it.
#pragma once

#include "geometry/adjacency.h"
#include "particle/particle_engine.h"
#include "solve/bend_lines.h"
#include "solve/loaded_guest.h"
#include "solve/loaded_rows.h"

namespace pliant {

/// What of a body decides the future, besides its nodes and impulses.
struct ParticleSettings {
  float friction = 0.5f, gravity_scale = 1;
  CollisionFilter filter{};
  bool awake = true, frozen = false;
  bool took_turns = false;  ///< in the last substep: its contacts were solved by turns alone
  bool was_apart = false;   ///< in the last substep: its rows were solved all at once
  bool is_laden = false;    ///< in the last substep: it took turns under rigid bodies heavier than itself
  float gas_impulse = 0;    ///< Pa s, over the last substep
};

/// A held node's way to a place, over one step.
struct DrivenParticle {
  std::uint32_t node;  ///< of the body
  Vec3 target;
};

/// Nodes of a body that one thread searches for contacts, and sweeps them.
inline constexpr std::size_t kNodesPerPart = 512;

/// What lies on a body must be so many times as heavy as it for its rows to be solved at once. What is lighter does
/// well with rows that take turns.
inline constexpr float kHeavyLoad = 5;
/// The same of a solid on a jelly, whose springs its island knows.
inline constexpr float kHeavyLoadOfJelly = 40;
/// Of nodes times bodies that lie on them. The factor of more nodes, and what more bodies see through it, take too
/// long. A jelly's factor is that of a volume, with many more blocks.
inline constexpr std::size_t kMostCouplings = 1600, kMostOfJelly = 600;

/// What holds two nodes together.
struct NodeTie {
  std::array<std::uint32_t, 2> nodes;
  float stiffness;  ///< N/m
};

struct ParticleEngine::Body {
  BodyId id{};
  std::shared_ptr<const ParticleDef> def;
  std::shared_ptr<const ParticleModel> model;
  ParticleSettings settings;
  std::uint32_t first = 0, count = 0;  ///< its nodes among all
  std::uint32_t capacity = 0;          ///< with those that tearing may add; they have no meaning before

  Chains chains;
  SpringRows springs;
  BendLines line_bends;
  BendRows hinges;
  std::variant<std::monostate, MassSpring, PositionBased, ShapeMatching> jelly;
  std::vector<std::uint8_t> held;  ///< by node of the body: by the user, and by how many anchors to fixed things
  std::vector<std::uint8_t> anchored;
  std::vector<DrivenParticle> driven;
  // What its nodes touch that does not give way, in parts of `kNodesPerPart` nodes; now and in the substep before.
  std::vector<std::vector<ContactGroup>> touches, touches_before;
  // Where each node last looked for obstacles, and how far it (or they) may go from there before it must look again.
  std::vector<Vec4> looks;
  std::uint64_t obstacles_hash = 0;
  float obstacles_way = 0;  ///< m, that the fastest of them may have gone since the looks were renewed
  // The gas, in this substep: how the volume grows with each node, and its row.
  std::vector<Vec3> outward;
  float gas_target = 0, gas_softness = 0, gas_diagonal = 0;

  // For what touches solids.
  std::shared_ptr<const ParticleModel> surface_model;  ///< whose these are:
  std::uint64_t revision = 0;                          ///< which surface it is, of all that ever were
  float cell = 0;                                      ///< m, the mean edge
  std::vector<Vec3> way_velocities;                    ///< m/s, when the substep began
  std::shared_ptr<const ParticleModel> springs_model;  ///< whose these are:
  std::vector<NodeTie> ties;
  std::size_t first_spring = 0;  ///< of the ties, the first that is not a chain's segment
  Csr ties_of_node;

  // Under a heavy load (particle_loaded.cpp).
  float load = 0;                                   ///< kg, of the heaviest body on it; 0: its rows take turns
  std::uint32_t load_place = 0;                     ///< among all such bodies
  std::shared_ptr<const ParticleModel> load_model;  ///< whose this is:
  BlockCholesky3 load_factor;
  std::vector<SharedSpring> load_springs;
  bool is_guest = false;  ///< an island of solids solves it whole (particle_guest.cpp)
  std::unique_ptr<LoadedGuest> guest;

  // Filled when somebody asks.
  mutable std::vector<Vec3> positions, velocities;
  mutable bool positions_fresh = false, velocities_fresh = false;

  std::size_t row_count() const {
    return chains.row_count() + springs.row_count() + line_bends.row_count() + hinges.row_count();
  }
  /// What a jelly remembers from substep to substep.
  std::span<Vec4> jelly_memory() {
    auto* springs_of = std::get_if<MassSpring>(&jelly);
    return springs_of ? springs_of->memory() : std::span<Vec4>();
  }
  bool is_active() const { return settings.awake && !settings.frozen; }
  /// Its rows are solved all at once, and do not take turns.
  bool is_apart() const { return load > 0 || is_guest; }
  void forget_looks() { looks.clear(); }
  void set_stale() { positions_fresh = velocities_fresh = false; }
};

template <typename Visit>
void ParticleEngine::for_each_active(Visit&& visit) {
  for (const std::uint32_t slot : slots_) {
    if (body(slot).is_active()) visit(body(slot));
  }
}

/// Rows with something fixed touch one node each, and parts of a body have no node in common.
template <typename Visit>
void ParticleEngine::for_each_touched_part(Visit&& visit) {
  constexpr std::size_t kParts = 4;
  for_each_active([&](Body& b) {
    if (b.is_apart()) return;
    parallel_for(workers_, b.touches.size(), kParts, [&](std::size_t begin, std::size_t end) {
      for (std::size_t part = begin; part < end; ++part) visit(b, std::span<ContactGroup>(b.touches[part]));
    });
  });
}

/// Calls `visit(group, lane)` for each touch of a body with what does not give way.
template <typename Parts, typename Visit>
void for_each_touch(Parts& parts, Visit&& visit) {
  for (auto& part : parts) {
    for (auto& group : part) {
      for (std::uint32_t i = 0; i < group.count; ++i) {
        if (group.touches[i] != 0) visit(group, i);
      }
    }
  }
}

/// A point of a body of nodes: a node of it, or a point of a face or segment.
struct TiePoint {
  std::uint32_t index = 0;  ///< of the node, face or segment
  bool is_node = false;
  Vec3 weights{1, 0, 0};  ///< of the corners
};

struct ParticleEngine::AnchorNode {
  std::uint32_t node;  ///< of the body
  Vec3 place;          ///< in the frame of what it is tied to, or the world's
  TiePoint point{};    ///< of the body of nodes that it is tied to
  SolidPoint solid{};  ///< or of the solid
  Vec3 impulse{};      ///< N s on the node, over the last substep
  bool holds_fixed = false;
};

/// What an anchor's nodes are tied to.
enum class AnchorKind : std::uint8_t { Rigid, Nodes, Solid };  ///< the world is rigid

struct ParticleEngine::Anchor {
  AnchorId id{};
  std::uint32_t slot = 0;  ///< of the body
  BodyId to{};
  AnchorKind kind = AnchorKind::Rigid;
  float break_force = kInfinity;
  std::vector<AnchorNode> nodes;
  Vec3 force{};  ///< N, on the nodes together
  bool knows_unmet = false;
  std::vector<std::uint32_t> unmet{};  ///< nodes that do not meet the rigid body, the anchored ones among them
};

}  // namespace pliant
