// The body-centred cubic lattice: the corners of unit cubes and their centres.
//
// Every point has 14 neighbours: six along the axes at distance 1 (long edges) and eight along the diagonals at √3/2
// (short edges). Its Delaunay tets are all alike, with dihedral angles of 60 and 90 degrees: two long edges that cross
// at right angles, one between corners and one between centres, and four short ones.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "pliant/math.h"

namespace pliant {

class BccLattice {
 public:
  using Point = std::uint32_t;

  /// A direction to a neighbour, by its number: 0 to 2 are +x, +y, +z, 3 to 6 the diagonals with z > 0; d and d + 7 are
  /// opposite.
  static constexpr int kDirections = 14;
  static constexpr int opposite(int d) { return d < 7 ? d + 7 : d - 7; }
  static constexpr bool is_long(int d) { return d % 7 < 3; }
  /// The step to the neighbour, in half units.
  static constexpr std::array<int, 3> step(int d) {
    constexpr std::array<std::array<int, 3>, 7> kSteps{
        {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}, {-1, 1, 1}, {-1, -1, 1}, {1, -1, 1}}};
    const auto s = kSteps[std::size_t(d % 7)];
    return d < 7 ? s : std::array<int, 3>{-s[0], -s[1], -s[2]};
  }
  static Vec3 step_vector(int d) {
    const auto s = step(d);
    return {0.5f * float(s[0]), 0.5f * float(s[1]), 0.5f * float(s[2])};
  }

  /// `size` corners along each axis and as many centres, from the corner `lower` on. Points on the rim have neighbours
  /// that do not exist: do not ask for them.
  BccLattice(std::array<int, 3> lower, std::array<int, 3> size)
      : lower_(lower),
        size_(size),
        per_kind_(std::uint32_t(size[0]) * std::uint32_t(size[1]) * std::uint32_t(size[2])) {
    for (int kind = 0; kind < 2; ++kind) {
      for (int d = 0; d < kDirections; ++d) offsets_[kind][d] = offset(kind, step(d));
    }
  }

  std::uint32_t point_count() const { return 2 * per_kind_; }
  std::array<int, 3> size() const { return size_; }
  /// 0 for a corner, 1 for a centre.
  int kind(Point p) const { return p >= per_kind_; }
  Point point(int kind, int i, int j, int k) const {
    return std::uint32_t(kind) * per_kind_ +
           (std::uint32_t(k) * std::uint32_t(size_[1]) + std::uint32_t(j)) * std::uint32_t(size_[0]) + std::uint32_t(i);
  }
  Point neighbor(Point p, int d) const { return Point(std::int64_t(p) + offsets_[kind(p)][d]); }

  /// Which corner or centre it is along each axis.
  std::array<int, 3> cell(Point p) const {
    const std::uint32_t q = kind(p) ? p - per_kind_ : p, row = q / std::uint32_t(size_[0]);
    return {int(q % std::uint32_t(size_[0])), int(row % std::uint32_t(size_[1])), int(row / std::uint32_t(size_[1]))};
  }
  bool is_on_rim(Point p) const {
    const auto c = cell(p);
    for (std::size_t a = 0; a < 3; ++a) {
      if (c[a] == 0 || c[a] >= size_[a] - 1 - kind(p)) return true;
    }
    return false;
  }
  Vec3 position(Point p) const {
    const auto c = cell(p);
    const float half = kind(p) ? 0.5f : 0;
    return {float(lower_[0] + c[0]) + half, float(lower_[1] + c[1]) + half, float(lower_[2] + c[2]) + half};
  }
  /// The lattice point that is closest to a place, which must lie within.
  Point nearest(Vec3 place) const {
    const Point corner = snapped(place, 0), center = snapped(place, 1);
    return length_squared(position(corner) - place) <= length_squared(position(center) - place) ? corner : center;
  }

  /// Calls visit(tet) for the four tets around the long edge from the centre `c` to the next one along `axis`. Their
  /// points are (centre, centre, corner, corner), the right way round.
  template <typename Visit>
  void for_each_tet(Point c, int axis, Visit&& visit) const {
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    constexpr int kRing[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    std::array<Point, 4> ring;
    for (int i = 0; i < 4; ++i) {
      std::array<int, 3> to{};
      to[std::size_t(axis)] = 1, to[std::size_t(a)] = kRing[i][0], to[std::size_t(b)] = kRing[i][1];
      ring[std::size_t(i)] = Point(std::int64_t(c) + offset(1, to));
    }
    const Point other = neighbor(c, axis);
    for (std::size_t i = 0; i < 4; ++i) visit(std::array<Point, 4>{c, other, ring[i], ring[(i + 1) % 4]});
  }

 private:
  /// What to add to the number of a point of a kind for a step in half units.
  std::int64_t offset(int kind, std::array<int, 3> s) const {
    const bool is_diagonal = s[0] % 2 != 0;
    std::array<std::int64_t, 3> cells;
    // From a corner, the centres around it have its own numbers or one less; from a centre, the corners its own or one
    // more.
    for (std::size_t a = 0; a < 3; ++a) cells[a] = is_diagonal ? (s[a] - 1) / 2 + kind : s[a] / 2;
    const std::int64_t within = (cells[2] * size_[1] + cells[1]) * size_[0] + cells[0];
    return within + (!is_diagonal ? 0 : kind == 0 ? std::int64_t(per_kind_) : -std::int64_t(per_kind_));
  }
  Point snapped(Vec3 place, int of_kind) const {
    std::array<int, 3> c;
    for (std::size_t a = 0; a < 3; ++a) {
      c[a] = int(std::floor(place[a] - float(lower_[a]) + (of_kind ? 0.0f : 0.5f)));
    }
    return point(of_kind, c[0], c[1], c[2]);
  }

  std::array<int, 3> lower_, size_;
  std::uint32_t per_kind_;
  std::int64_t offsets_[2][kDirections];
};

}  // namespace pliant
