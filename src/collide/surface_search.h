// The search for features of two surfaces that may touch as long as their trees keep their boxes.
#pragma once

#include <cstdint>

#include "collide/surface_contacts.h"
#include "collide/surface_pair.h"

namespace pliant {

class SurfaceSearch {
 public:
  /// `a` and `b` are the same object when a surface is searched for contacts with itself.
  SurfaceSearch(const SurfaceTree& a, const SurfaceTree& b, const SurfaceContacts::Candidates& known,
                bool skips_nodes_of_b);

  /// Whether the boxes of two nodes may overlap.
  bool overlap(std::uint32_t node_a, std::uint32_t node_b) const;
  /// Puts into `next` what is left to be looked at when one goes down one level from `part`.
  void expand(SurfaceContacts::Part part, std::vector<SurfaceContacts::Part>& next) const;
  bool is_leaf(SurfaceContacts::Part part) const { return a_.is_leaf(part.a) && b_.is_leaf(part.b); }
  /// All candidates in a part. Gives up after `max_candidates`.
  void run(SurfaceContacts::Part part, std::size_t max_candidates, SurfaceContacts::Found& found) const;
  /// All candidates of one leaf, named by its number as an owner, but for those that another leaf of this search owns.
  void run_leaf(std::uint32_t owner, std::size_t max_candidates, SurfaceContacts::Found& found) const;

 private:
  using Leaf = SurfaceTree::Leaf;
  using Masks = std::array<std::uint8_t, 8>;  ///< per element of the one leaf: which of the other are near

  void search_leaves(SurfaceContacts::Part part, SurfaceContacts::Found& found) const;
  void search_leaves(const Leaf& a, const Leaf& b, SurfaceContacts::Part part, SurfaceContacts::Found& found) const;
  /// What is left to be looked at of two leaves, along the axis that tells the surfaces apart.
  struct Meeting {
    float highest_of_a = 0, lowest_of_b = 0;  ///< m
    float reach = 0;                          ///< m, what is farther apart does not count
  };
  Meeting meeting_of(const Leaf& a, const Leaf& b, Vec3 apart) const;
  /// Half of how far what is below the one node may get in relation to what is below the other, along each axis.
  Vec3 way_apart(const SurfaceTree::Node& a, const SurfaceTree::Node& b) const;
  void find_nodes(SurfaceCandidate::Kind kind, const Leaf& a, const Leaf& b, const SurfaceTree::Node& node_b,
                  Vec3 offset, const Masks& masks, const Meeting& meeting, float motion,
                  SurfaceContacts::Found& found) const;
  float motion_of(SurfaceCandidate::Kind kind, std::uint32_t node, const Leaf& a, const Leaf& b,
                  const SurfaceTree::Node& node_b) const;
  void find_edges(const Leaf& a, const Leaf& b, bool is_same, Vec3 room, const Meeting& meeting, float motion,
                  SurfaceContacts::Found& found) const;
  void add_edges(std::uint32_t edge_a, std::uint32_t edge_b, float nearness, SurfaceContacts::Found& found) const;

  const SurfaceTree &a_, &b_;
  const SurfaceContacts::Candidates& known_;
  bool is_self_, skips_nodes_of_b_;
  Vec3 axis_;          ///< of length 1, from a to b; zero where what is found is to last
  Vec3 offset_;        ///< m, of the frame of a in that of b
  Vec3 way_;           ///< m, half of how far that is to get
  float more_;         ///< m, that boxes may be apart besides
  float drift_slack_;  ///< m, how far the frame may stray
  float slack_;        ///< m, how far features may stray from their foretold paths
  float thickness_;    ///< m, the sum of the radii
  float nearness_;     ///< m, that and the margin
  float depth_;        ///< m, how far behind a face of a closed surface one is still inside
};

}  // namespace pliant
