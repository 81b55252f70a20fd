#include "collide/surface_patches.h"

#include <algorithm>
#include <array>

#include "geometry/union_find.h"

namespace pliant {
namespace {

/// The square of the outline's length against 4π times the area: 1 for a disc, 3.2 for a strip of 1 by 8.
constexpr double kMaxSlenderness = 4;

struct Piece {
  std::int64_t euler = 0;  ///< nodes − edges + faces: 1 for a disc
  std::uint32_t parts = 0;
  double outline = 0, area = 0;
  bool is_sound = true;  ///< no free edges, none with three faces

  bool is_patch() const {
    return is_sound && parts == 1 && euler == 1 && outline * outline <= kMaxSlenderness * 4 * double(kPi) * area;
  }
};

/// What nodes or edges have in common with each other on one level.
struct Meeting {
  std::uint32_t a, b;
  std::int32_t nodes, edges;

  friend bool operator<(const Meeting& x, const Meeting& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }
};

/// The different entries of a short list, in ascending order.
void sort_out(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

class PatchFinder {
 public:
  PatchFinder(const SurfaceTopology& topology, std::span<const std::uint32_t> leaf_of, std::uint32_t levels)
      : topology_(topology),
        leaf_of_(leaf_of),
        levels_(levels),
        pieces_((std::size_t{1} << levels) - 1),
        joined_elements_(topology.elements.size()),
        elements_of_node_(topology.nodes.size()),
        elements_of_edge_(topology.edges.size()) {
    for (std::uint32_t e = 0; e < topology.elements.size(); ++e) {
      const SurfaceElement& element = topology.elements[e];
      for (std::size_t i = 0; i < element.node_count(); ++i) elements_of_node_[element.nodes[i]].push_back(e);
      for (std::size_t i = 0; i < element.edge_count(); ++i) elements_of_edge_[element.edges[i]].push_back(e);
    }
  }

  /// From the leaves to the root: what hangs together below still does above.
  void run() {
    for (std::uint32_t level = levels_; level-- > 0;) {
      count_elements(level);
      for (const auto& elements : elements_of_node_) count_node(elements, level);
      for (std::uint32_t e = 0; e < topology_.edges.size(); ++e) count_edge(e, level);
      for (std::uint32_t e = 0; e < topology_.elements.size(); ++e) {
        if (joined_elements_.root(e) == e) ++pieces_[place(e, level)].parts;
      }
      keep_meetings();
    }
  }

  const std::vector<Piece>& pieces() const { return pieces_; }
  const std::vector<Meeting>& joints() const { return joints_; }

 private:
  std::uint32_t place(std::uint32_t element, std::uint32_t level) const {
    return (1u << level) - 1 + (leaf_of_[element] >> (levels_ - 1 - level));
  }
  double length_of(const SurfaceEdge& edge) const {
    return double(length(topology_.rest[edge.nodes[1]] - topology_.rest[edge.nodes[0]]));
  }
  void count_elements(std::uint32_t level) {
    for (std::uint32_t e = 0; e < topology_.elements.size(); ++e) {
      const SurfaceElement& element = topology_.elements[e];
      Piece& piece = pieces_[place(e, level)];
      piece.is_sound &= element.is_face;
      piece.euler += 1;
      const Vec3 a = topology_.rest[element.nodes[0]];
      const Vec3 n = cross(topology_.rest[element.nodes[1]] - a, topology_.rest[element.nodes[2]] - a);
      piece.area += 0.5 * double(length(n));
    }
  }
  void list_places(const std::vector<std::uint32_t>& elements, std::uint32_t level) {
    places_.clear();
    for (const std::uint32_t e : elements) places_.push_back(place(e, level));
    sort_out(places_);
  }
  void add_meetings(std::int32_t nodes, std::int32_t edges) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (std::size_t j = i + 1; j < places_.size(); ++j) meetings_.push_back({places_[i], places_[j], nodes, edges});
    }
  }
  void count_node(const std::vector<std::uint32_t>& elements, std::uint32_t level) {
    list_places(elements, level);
    for (const std::uint32_t p : places_) ++pieces_[p].euler;
    if (places_.size() <= kMaxMeeting) add_meetings(1, 0);
  }
  void count_edge(std::uint32_t e, std::uint32_t level) {
    const std::vector<std::uint32_t>& elements = elements_of_edge_[e];
    list_places(elements, level);
    const bool is_inside = elements.size() == 2 && places_.size() == 1;
    if (is_inside) joined_elements_.join(elements[0], elements[1]);
    for (const std::uint32_t p : places_) {
      --pieces_[p].euler;
      if (!is_inside) pieces_[p].outline += length_of(topology_.edges[e]);
      pieces_[p].is_sound &= elements.size() <= 2;
    }
    if (places_.size() <= kMaxMeeting) add_meetings(0, 1);
  }
  /// Pieces that have one unbroken line in common: one more node than edges.
  void keep_meetings() {
    std::sort(meetings_.begin(), meetings_.end());
    for (std::size_t i = 0; i < meetings_.size();) {
      Meeting sum = meetings_[i];
      for (++i; i < meetings_.size() && meetings_[i].a == sum.a && meetings_[i].b == sum.b; ++i) {
        sum.nodes += meetings_[i].nodes, sum.edges += meetings_[i].edges;
      }
      if (sum.edges > 0 && sum.nodes - sum.edges == 1) joints_.push_back(sum);
    }
    meetings_.clear();
  }

  /// Where more pieces meet in one node none of them is joined: the hub of a fan would meet all pairs.
  static constexpr std::size_t kMaxMeeting = 8;

  const SurfaceTopology& topology_;
  std::span<const std::uint32_t> leaf_of_;
  std::uint32_t levels_;
  std::vector<Piece> pieces_;
  UnionFind joined_elements_;
  std::vector<std::vector<std::uint32_t>> elements_of_node_, elements_of_edge_;
  std::vector<std::uint32_t> places_;
  std::vector<Meeting> meetings_, joints_;
};

}  // namespace

SurfacePatches::SurfacePatches(const SurfaceTopology& topology, std::span<const std::uint32_t> leaf_of,
                               std::uint32_t levels) {
  PatchFinder finder(topology, leaf_of, levels);
  finder.run();
  const std::vector<Piece>& pieces = finder.pieces();
  for (const Piece& piece : pieces) is_patch_.push_back(std::uint8_t(piece.is_patch()));
  std::vector<Meeting> joints = finder.joints();
  std::erase_if(joints, [&](const Meeting& m) { return !is_patch(m.a) || !is_patch(m.b); });
  std::sort(joints.begin(), joints.end());
  joined_.offsets.assign(pieces.size() + 1, 0);
  for (const Meeting& m : joints) ++joined_.offsets[m.a + 1], joined_.items.push_back(m.b);
  for (std::size_t i = 0; i < pieces.size(); ++i) joined_.offsets[i + 1] += joined_.offsets[i];
}

}  // namespace pliant
