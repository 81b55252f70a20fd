// The search for contacts between two parts of surfaces: from overlapping boxes to contacts.
#pragma once

#include <cstdint>

#include "collide/surface_contacts.h"
#include "collide/surface_pair.h"

namespace pliant {

class SurfaceSearch {
 public:
  /// `a` and `b` are the same object when a surface is searched for contacts with itself.
  SurfaceSearch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceSides& sides);

  /// Whether the boxes of two nodes overlap at any time of the substep.
  bool overlap(std::uint32_t node_a, std::uint32_t node_b) const;
  /// Puts into `next` what is left to be looked at when one goes down one level from `part`.
  void expand(SurfaceContacts::Part part, std::vector<SurfaceContacts::Part>& next) const;
  bool is_leaf(SurfaceContacts::Part part) const { return a_.is_leaf(part.a) && b_.is_leaf(part.b); }
  /// All contacts in a part. Gives up after `max_tests` close looks.
  void run(SurfaceContacts::Part part, std::size_t max_tests, SurfaceContacts::Found& found) const;

 private:
  using Leaf = SurfaceTree::Leaf;
  using Masks = std::array<std::uint8_t, 8>;  ///< per element of the one leaf: which of the other are near

  void search_leaves(SurfaceContacts::Part part, SurfaceContacts::Found& found) const;
  void test_nodes(const SurfaceTree& first, const Leaf& a, const SurfaceTree& second, std::uint32_t node_b,
                  const Masks& masks, Vec3 drift, SurfaceContacts::Found& found) const;
  void test_node(const SurfaceTree& first, std::uint32_t node, const SurfaceTree& second, std::uint32_t face,
                 Vec3 drift, SurfaceContacts::Found& found) const;
  void test_edges(const Leaf& a, const Leaf& b, const Masks& masks, SurfaceContacts::Found& found) const;
  void test_edges(const SurfaceElement& a, unsigned edges_a, const SurfaceElement& b, unsigned edges_b, float nearness,
                  SurfaceContacts::Found& found) const;
  bool is_far(const SurfacePair& pair, float nearness) const;
  void test(const SurfacePair& pair, SurfaceContacts::Found& found) const;
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
  Vec3 drift_;  ///< m, of a relative to b
  float drift_length_;
  float thickness_;  ///< m, the sum of the radii
  float margin_;     ///< m
};

}  // namespace pliant
