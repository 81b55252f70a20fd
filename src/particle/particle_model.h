// What a particle body is at rest: nodes, masses, the surface that touches and is seen, and the rows that keep it
// together. Made once from the def, shared by snapshots.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "particle/mass_spring.h"
#include "particle/position_based.h"
#include "particle/shape_matching.h"
#include "pliant/particle.h"
#include "solve/chains.h"
#include "solve/soft_rows.h"

namespace pliant {

struct TearRest;

struct ParticleModel {
  std::vector<Vec3> rest;     ///< m, in the body's frame
  std::vector<float> masses;  ///< kg
  std::vector<Face> faces;
  std::vector<std::array<std::uint32_t, 2>> segments;  ///< of a rope
  float radius = 0;                                    ///< m, round nodes, faces and segments

  std::vector<ChainLine> lines;  ///< keep their length
  std::vector<Spring> springs;   ///< hold the shape softly
  std::vector<Bend> line_bends;  ///< three nodes each
  std::vector<Bend> hinges;      ///< four

  /// How a jelly finds its shape.
  std::variant<std::monostate, MassSpringRest, PositionBasedRest, ShapeMatchingRest> jelly;

  float rest_volume = 0;  ///< m³, of a closed surface
  float pressure = 0;     ///< Pa, over that outside, at the rest volume
  float outside_pressure = 0;
  float damping = 0;  ///< 1/s
  /// s. Chains are explicit in what they leave out, so substeps must be short; shorter still for fine irregular meshes,
  /// and where a gas stretches lines that run in three directions (at 1/240 s the skin of a balloon shivers, at 1/480 s
  /// it comes to rest).
  float longest_substep = 1.0f / 240;

  // Of a body that can tear; else empty. What it was when it was whole, the node that each of its nodes was then, and
  // the chain's row (line, segment) of each element beside each segment that the whole body's chains have.
  std::shared_ptr<const TearRest> tear;
  std::vector<std::uint32_t> origins;
  std::vector<std::array<std::uint32_t, 2>> chain_rows;
  // Of one that has torn: which of its pieces each node belongs to.
  std::vector<std::uint32_t> pieces;
  std::uint32_t piece_count = 1;
};

ParticleModel build_model(const ClothDef& def);
ParticleModel build_model(const RopeDef& def);
/// The mesh must be valid.
ParticleModel build_model(const JellyDef& def);

/// What all three kinds of defs have.
struct ParticleCommon {
  const std::string& name;
  Vec3 position;
  Quat rotation;
  Vec3 velocity, angular_velocity;
  const std::vector<HeldNodes>& held;
  float friction, gravity_scale, drag;
  CollisionFilter filter;
  bool self_collision, allow_sleep;
};
ParticleCommon common_of(const ParticleDef& def);

}  // namespace pliant
