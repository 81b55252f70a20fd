// From features that may touch to contacts: what is near now, and what meets in this substep.
#pragma once

#include <cstdint>
#include <span>

#include "collide/surface_contacts.h"
#include "collide/surface_pair.h"

namespace pliant {

class SurfaceTouch {
 public:
  /// Distances below this (m) are made of rounding: they have no direction.
  static constexpr float kTouching = 1e-6f;

  /// `a` and `b` are the same object when a surface is searched for contacts with itself.
  /// `axis`, of length 1 and from a to b, is one along which they are nearly parted, or zero.
  SurfaceTouch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceSides& sides, SurfaceContacts::Reach reach,
               Vec3 axis = {});

  void run(std::span<const SurfaceCandidate> candidates, SurfaceContacts::Found& found) const;

 private:
  bool is_far(const SurfaceCandidate& candidate) const;
  bool is_parted(const SurfaceCandidate& candidate) const;
  void test(const SurfacePair& pair, SurfaceContacts::Found& found) const;
  // Where a closed surface tells the sides (surface_touch_closed.cpp):
  enum class Place { Far, Beside, Before };
  Place place_of(std::uint32_t node, const SurfaceTree& first, std::uint32_t face, const SurfaceTree& second,
                 Vec3 drift, Separation& now) const;
  void run_closed(const SurfaceCandidate& candidate, Vec3 drift, SurfaceContacts::Found& found) const;
  bool has_inside(const SurfacePair& pair) const;
  void test_node(const SurfacePair& pair, const Separation& now, SurfaceContacts::Found& found) const;
  /// Along the motion of this substep, then as if one of the two were stopped.
  void test_node_paths(const SurfacePair& pair, const Separation& now, float thickness,
                       SurfaceContacts::Found& found) const;
  bool test_node_path(const SurfacePair& pair, const Separation& now, const PairPoints& motion, float thickness,
                      SurfaceContacts::Found& found) const;
  /// How the points move if the first feature, or the second, is stopped.
  static PairPoints stopped(const SurfacePair& pair, bool is_first);
  void test_edges(const SurfacePair& pair, const Separation& now, SurfaceContacts::Found& found) const;
  void test_edges_paths(const SurfacePair& pair, const Separation& now, SurfaceContacts::Found& found) const;
  bool test_edges_path(const SurfacePair& pair, const Separation& now, const PairPoints& motion,
                       SurfaceContacts::Found& found) const;
  static bool look_at_each_other(const SurfacePair& pair);
  /// Whether a normal of two edges leads out of the second and into the first.
  static bool leads_out(const SurfacePair& pair, Vec3 normal, float t);
  static bool faces_away(const SurfacePair& pair, const Separation& at, Vec3 normal);
  static float facing_of(const SurfacePair& pair, Vec3 normal);
  void test_path(const SurfacePair& pair, const Separation& now, bool is_near, SurfaceContacts::Found& found) const;
  void add_now(const SurfacePair& pair, const Separation& now, SurfaceContacts::Found& found) const;
  void add_meeting(const SurfacePair& pair, const Separation& now, float t, SurfaceContacts::Found& found) const;
  const SideNote* note_of(const SurfacePair& pair, std::uint64_t key) const;
  bool has_slipped(const SurfacePair& pair, const SideNote& note, float side, Vec3 normal) const;
  void add(const SurfacePair& pair, std::uint64_t key, const std::array<float, 4>& weights, Vec3 normal, float gap,
           SurfaceContacts::Found& found) const;

  const SurfaceTree &a_, &b_;
  const SurfaceSides& sides_;
  bool is_self_;
  Vec3 axis_;
  Vec3 drift_;  ///< m, of a relative to b
  float drift_length_;
  float thickness_;  ///< m, the sum of the radii
  float margin_;     ///< m
  float surprise_;   ///< m, beyond the margin, where both surfaces are closed: what is hit if one is stopped
  float depth_;      ///< m, how far behind a face of a closed surface one is still inside
  float shallow_;    ///< m, up to where it is plain that one is
};

}  // namespace pliant
