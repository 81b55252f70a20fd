// Where solids overlap each other, tet by tet: the `damped` contact of a world (SolidContact::Damped).
//
// Parker and O'Brien 2009, section 6: of every two tets at the surfaces of two solids that overlap, the polyhedron that
// they have in common, with its volume, its centre c and the sum r of the area-weighted normals of those of its faces
// that come from one of the two. What they do to each other is damping alone: a force −φ r̂ (r · v), where v is the
// velocity of one against the other at c. It never chatters, for it can only take energy; and it never mends an
// overlap.
//
// Departures: tets are found by their boxes and then cut, where the paper first looks for pairs of outer triangles that
// intersect; so a tet that lies wholly inside another is found too.
//
// Cost: linear in the surface tets and in the overlaps, about 2 µs for each pair of tets whose boxes overlap. Results
// do not depend on the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "geometry/bvh.h"
#include "solid/solid_meetings.h"

namespace pliant {

/// A tet of a solid, and where in it the point of contact is.
struct OverlapSide {
  BodyId body{};
  std::array<std::uint32_t, 4> nodes{};
  std::array<float, 4> weights{};  ///< barycentric, of the overlap's centroid
};

struct SolidOverlap {
  OverlapSide a, b;
  Vec3 point{};      ///< c, m
  Vec3 normal{};     ///< unit, from b towards a
  float area = 0;    ///< |r|, m²
  float volume = 0;  ///< m³
  float friction = 0;
  std::uint64_t key = 0;  ///< names the two tets of the two bodies
};

class SolidOverlaps {
 public:
  /// All overlaps at the places where the solids are now, pair by pair in the order of the solids, which must be sorted
  /// by id. They stay until the next search.
  std::span<const SolidOverlap> find(std::span<const BodySurface> solids, Workers& workers);
  std::span<const SolidOverlap> overlaps() const { return overlaps_; }

  /// The paper's approximate continuous detection: what share of its motion x + t v, 0 ≤ t ≤ dt, a solid may make. One
  /// that moves by more than a sixth of the diagonal of its box is looked at in as many parts as make each less than
  /// that, and ends with the part in which it first overlaps another that it did not overlap before. Slower ones: 1.
  float free_share(std::span<const BodySurface> solids, std::size_t which, float dt);

 private:
  /// What is kept of a solid while its mesh stays the same.
  struct Skin {
    std::uint64_t revision = 0;
    std::vector<std::uint32_t> tets{};  ///< those with a face of the surface
    std::vector<Aabb> boxes{};
    Bvh tree{};
    bool is_new = true;
  };
  struct Pair {
    std::uint32_t a, b;
  };
  void keep_skins(std::span<const BodySurface> solids);
  void fit(const BodySurface& solid, float after, Skin& skin) const;
  void find_pairs(std::span<const BodySurface> solids);
  void look(std::span<const BodySurface> solids, Pair pair, std::vector<SolidOverlap>& found) const;
  bool overlap_after(std::span<const BodySurface> solids, Pair pair, float after);

  std::map<BodyId, Skin> skins_;
  std::vector<SolidOverlap> overlaps_;
  // Scratch, kept for its memory:
  std::vector<Skin*> skin_of_;  ///< by solid
  std::vector<Pair> pairs_;
  std::vector<std::vector<SolidOverlap>> found_;  ///< by pair
};

}  // namespace pliant
