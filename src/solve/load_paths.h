// How much may press through a contact.
//
// The penalty of a contact must suit what it carries: too weak for a heavy body that stands on a light one, and the
// multipliers need many rounds to take the weight; too strong for a small body on a large one, and they overshoot, so
// that it is thrown or held by friction it should not have. What a contact of two bodies carries is at most what can
// reach it on either side: the heaviest body that hangs together with the one when the other is taken away, and the
// same the other way round. What stands on fixed ground can carry anything.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pliant {

class LoadPaths {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  /// `masses` of the bodies, infinite for those that stand on or are held by something fixed; `touching` pairs, each
  /// once. O(bodies + pairs). Memory is kept.
  void find(std::span<const double> masses, std::span<const Pair> touching);

  /// The mass that may press through a pair of `touching`, by its place there.
  double load(std::size_t pair) const { return loads_[pair]; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// A body in a depth-first walk: every pair joins a body with one further up.
  struct Body {
    double mass = 0;
    double below = 0;    ///< heaviest of it and all further down
    double outside = 0;  ///< heaviest of those that are not
    double joined = 0;   ///< heaviest of what stays joined to those without this body
    std::uint32_t parent = kNone, order = kNone;
    std::uint32_t highest = 0;  ///< the order of the first body that its own below touch
  };
  struct Edge {
    std::uint32_t to, pair;
  };

  void list_edges(std::span<const Pair> touching);
  void walk(std::uint32_t from);
  void find_heaviest();
  bool is_cut_off(std::uint32_t body) const;

  std::vector<Body> bodies_;
  std::vector<std::uint32_t> starts_, next_, path_, walked_;
  std::vector<Edge> edges_;
  std::vector<Pair> ends_;                ///< of each pair, the upper one first
  std::vector<std::uint32_t> down_from_;  ///< of each pair, the body next below its upper end on the way to the lower
  /// Of each body's children, the two with the heaviest below: all but one child's are known from them.
  std::vector<std::pair<double, double>> heaviest_below_;
  std::vector<double> loads_;
};

}  // namespace pliant
