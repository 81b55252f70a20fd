// Corners and edges of rigid bodies against the faces, edges and segments of cloth, rope and jelly: what the distances
// of nodes from rigid shapes (node_search.h) miss. Small spheres and capsules count as points and edges; large ones
// cannot get between nodes, and are left to these.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collide/body_surface.h"
#include "collide/obstacle.h"
#include "collide/rigid_features.h"
#include "collide/surface_searches.h"
#include "solve/contact_rows.h"

namespace pliant {

class RigidMeetings {
 public:
  /// All contacts in the next `h` seconds, surface by surface, obstacle by obstacle; both sorted by id. Rows name nodes
  /// of the body and rigid bodies that give way by their slots, and have no impulses. They are added to `rows`.
  void find(std::span<const BodySurface> surfaces, std::span<const Obstacle> obstacles, float h, Workers& workers,
            std::vector<PointContact>& rows);
  /// Bodies were moved by hand, added or removed.
  void forget();
  bool overflowed() const { return overflowed_; }

  /// What decides the future.
  struct Memory {
    SurfaceSearches::Memory surfaces;
    std::vector<std::pair<SurfacePairId, RigidContacts::Memory>> rigid;
  };
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  struct Near {
    std::uint32_t surface, obstacle;
  };
  void find_pairs(std::span<const BodySurface> surfaces, std::span<const Obstacle> obstacles, float h);
  void build_tree(const BodySurface& surface);
  RigidContacts& search_of(const SurfacePairId& pair, const std::shared_ptr<const RigidFeatures>& features,
                           Workers& workers);
  static void add_rows(const BodySurface& surface, const Obstacle& obstacle, const RigidContacts& search,
                       std::vector<PointContact>& rows);

  SurfaceSearches trees_;
  std::map<BodyId, std::uint64_t> revisions_;
  std::map<SurfacePairId, RigidContacts> searches_;
  std::vector<std::pair<SurfacePairId, RigidContacts::Memory>> saved_;  ///< to be restored by the next search
  RigidFeaturesOfShapes features_;
  bool overflowed_ = false;
  // Scratch, kept for its memory:
  SurfaceContacts::Scratch scratch_;
  std::vector<Near> near_;
  std::vector<SurfacePairId> pairs_;
};

}  // namespace pliant
