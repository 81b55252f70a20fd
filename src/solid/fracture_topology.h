// The tets of a solid as cracks see them: which share faces, which share nodes, and how a node comes apart.
//
// After Parker and O'Brien 2009, section 5: a crack never cuts a tet. It gives the tets on one side of a node a copy of
// it. Three rules keep what is left sound:
//   - a piece of fewer than `min_tets` tets that hang together by faces is not made: such a split does not happen;
//   - tets that would hang together by a node only (a ball joint) or by an edge only (a hinge) are separated there;
//   - no tet is made or lost.
// The second rule has a simple form: the tets around each node hang together by faces that hold the node. Two parts
// that share an edge alone are two such parts at both of its ends.
//
// All memory is taken when it is made: the tets around a node are a range of one list, and a split divides the range.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/mesh.h"

namespace pliant {

/// Where numbers below a bound stand in an ascending list that has them. Of a list of a few of them it takes no memory:
/// a body may break into hundreds of pieces in one step.
class PlacesIn {
 public:
  PlacesIn(std::span<const std::uint32_t> list, std::size_t bound);
  std::uint32_t of(std::uint32_t number) const {
    if (!place_.empty()) return place_[number];
    return static_cast<std::uint32_t>(std::lower_bound(list_.begin(), list_.end(), number) - list_.begin());
  }

 private:
  static constexpr std::size_t kFew = 16;  ///< fewer than one in so many are looked for
  std::span<const std::uint32_t> list_;
  std::vector<std::uint32_t> place_;
};

class FractureTopology {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// A corner of a tet: `4 tet + corner`.
  static constexpr std::uint32_t tet_of(std::uint32_t corner) { return corner / 4; }

  FractureTopology(std::span<const Tet> tets, std::uint32_t node_count, std::uint32_t min_tets = 3);
  /// Some of the tets with their nodes, ascending.
  struct Part {
    std::vector<std::uint32_t> nodes, tets;
  };
  /// A part of another topology alone: nodes and tets are numbered by their places in the part's lists.
  FractureTopology(const FractureTopology& whole, const Part& part);

  std::span<const Tet> tets() const { return tets_; }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(origin_.size()); }
  /// Nodes before the first split; those from there on are copies.
  std::uint32_t first_copy() const { return first_copy_; }
  /// Which of the first nodes a node is a copy of; itself for those.
  std::uint32_t origin(std::uint32_t node) const { return origin_[node]; }
  /// The corners at a node.
  std::span<const std::uint32_t> star(std::uint32_t node) const {
    return {star_.data() + ranges_[node].begin, ranges_[node].end - ranges_[node].begin};
  }
  /// The tet on the other side of the face opposite to a corner, or kNone.
  std::uint32_t neighbour(std::uint32_t corner) const { return neighbours_[corner]; }

  /// Gives the tets of `star(node)` for which `is_above` is not 0 a copy of the node, and separates what then hangs
  /// together by nodes or edges alone. False, and nothing is changed, if that leaves a piece that is too small, or
  /// separates nothing.
  bool split(std::uint32_t node, std::span<const std::uint8_t> is_above);
  /// The faces that the last split opened, each once: the corners opposite to them.
  std::span<const std::uint32_t> opened() const { return opened_; }
  /// The copies that it made.
  struct Copy {
    std::uint32_t from, to;
  };
  std::span<const Copy> copies() const { return copies_; }
  /// As if the last call had split nothing.
  void forget_last() { opened_.clear(), other_sides_.clear(), copies_.clear(); }

  /// What hangs together, by faces or otherwise: parts numbered by their first tets.
  std::vector<Part> parts() const;

  std::size_t bytes() const;

 private:
  struct Range {
    std::uint32_t begin, end;
  };
  void reserve();
  std::uint32_t find_parts(std::vector<std::uint32_t>& part_of_tet) const;
  void link_faces();
  void list_stars();
  void divide(std::uint32_t node, std::uint32_t first_of_copy);
  void open_faces(std::uint32_t node, std::uint32_t copy);
  void open(std::uint32_t corner, std::uint32_t other);
  void separate_star(std::uint32_t node);
  bool leaves_crumb() const;
  bool is_crumb(std::uint32_t tet) const;
  void undo();
  std::uint32_t corner_of_node(std::uint32_t tet, std::uint32_t node) const;

  std::vector<Tet> tets_;
  std::uint32_t first_copy_ = 0, min_tets_ = 3;
  std::vector<std::uint32_t> origin_;
  std::vector<std::uint32_t> neighbours_;  ///< by corner
  std::vector<Range> ranges_;              ///< by node, of star_
  std::vector<std::uint32_t> star_;
  // Of the last split; kept for its memory.
  std::vector<std::uint32_t> opened_, other_sides_;
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> scratch_, queue_;
};

}  // namespace pliant
