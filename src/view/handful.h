// The part of a body of nodes that a hand takes hold of.
//
// A force on one triangle of a soft body would pull that triangle out of it. A hand takes more than that: the pull is
// shared by the nodes about the held point, less and less towards the rim, and by their mass, so that it moves them all
// alike. The softer the body is for its weight, the more of it is taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pliant/world.h"

namespace pliant {

class Handful {
 public:
  /// `mass`: of the whole body, kg. `point`: where it is held, in the mesh at rest.
  Handful(const SolidDef& def, float mass, Vec3 point);
  Handful(const JellyDef& def, float mass, Vec3 point);
  /// Of a cloth or rope, as it lies now: `point` is a place in the world.
  Handful(const World& world, BodyId body, float mass, Vec3 point);

  /// How fast its mean moves.
  Vec3 velocity(std::span<const Vec3> node_velocities) const;
  /// How its mean would answer an impulse if nothing else hung on it, 1/kg. With the rest of the body it answers less.
  float response() const { return response_; }
  /// N. A solid bears this pull: a third of Young's modulus in the mean, or three times the weight where that is more.
  float most_force() const { return most_force_; }
  /// Queues the pull on its nodes for the next step.
  void pull(World& world, BodyId body, Vec3 force) const;
  /// Of the whole body about its centre of mass, kg m²/s.
  Vec3 angular_momentum(const BodyState& state, std::span<const Vec3> positions,
                        std::span<const Vec3> velocities) const;

  float radius() const { return radius_; }  ///< m
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t body_node_count() const { return masses_.size(); }

 private:
  void choose(std::span<const Vec3> places, float mass, float stress, Vec3 point);
  void take(std::span<const Vec3> places, Vec3 point);

  std::vector<float> masses_;         ///< of all nodes, kg
  std::vector<std::uint32_t> nodes_;  ///< those that are held …
  std::vector<float> shares_;         ///< … and their shares of the pull; the sum is 1
  float radius_ = 0, response_ = 0, most_force_ = 0;
};

}  // namespace pliant
