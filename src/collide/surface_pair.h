// Two features of surfaces in one substep: where their points are and go, and what their surroundings say about them.
#pragma once

#include <array>
#include <cstdint>

#include "collide/surface_features.h"
#include "collide/surface_tree.h"

namespace pliant {

struct SurfacePair {
  FeaturePair kind;
  const SurfaceTree* first;            ///< the surface of the node, or of the first edge
  const SurfaceTree* second;           ///< the surface of the face, or of the second edge
  std::array<std::uint32_t, 4> nodes;  ///< local
  std::uint32_t feature[2];            ///< node and face (its element), or edge and edge
  PairPoints x{};                      ///< m, now
  PairPoints motion{};                 ///< m, in this substep, relative to the drift of the second surface
  Vec3 drift{};                        ///< m, of the first surface relative to the second

  /// Without its points. `a` and `b` are the numbers of the node and the face, or of the two edges.
  static SurfacePair of(FeaturePair kind, const SurfaceTree& first, std::uint32_t a, const SurfaceTree& second,
                        std::uint32_t b);
  /// Places the points as they are now.
  void place(Vec3 drift_of_first);

  std::uint64_t key() const;
  /// Whether another pair says the same as this one, or something nearer, at the moment t of the substep.
  bool is_redundant(const Separation& at, float t) const;
  /// 1 if the node is in front of the surface to which the face belongs, −1 behind, 0 where it could get round or where
  /// the surface is folded so sharply that this says little.
  float side_of_node(const Separation& now) const;
  /// Outward, of length 1 (or 0): of the face, or where the nearest point is on its edge or corner of what is around
  /// that (Bærentzen and Aanæs 2005). The node is outside a closed surface if this and the offset agree, for the
  /// nearest face of all.
  Vec3 normal_of_face(const Separation& at, float t) const;
  /// Outward, of the first or the second edge.
  Vec3 normal_of_edge(bool is_first, float t) const;
  /// Whether both edges stand out from their surroundings along the normal of their contact, as seen from the other. A
  /// ridge of a closed surface counts even where one of its faces is at right angles to the normal: what lies across it
  /// may have no node on that face. Such a face may even rise a little, unless the edges are `deep` in each other: then
  /// the normal may be the wrong one.
  bool are_ridges(Vec3 normal, float t, bool is_deep) const;
  /// At right angles to the face or to both edges, where these have directions at all.
  Vec3 common_normal(float t) const;
  /// Between the points of contact, m, at rest.
  float rest_distance(const std::array<float, 4>& weights) const;

 private:
  Vec3 point_of_first(std::uint32_t node, float t) const {
    return first->positions()[node].xyz() + t * (first->motions()[node].xyz() + drift);
  }
  Vec3 point_of_second(std::uint32_t node, float t) const {
    return second->positions()[node].xyz() + t * second->motions()[node].xyz();
  }
  bool is_redundant_on_face(const Separation& at, float t) const;
  bool is_redundant_of_edges(const Separation& at, float t) const;
  template <typename PointOf>
  bool is_redundant_at_end(const SurfaceTree& tree, std::uint32_t edge, std::uint32_t node, Vec3 away,
                           PointOf&& point_of) const;
};

}  // namespace pliant
