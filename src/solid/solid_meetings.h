// Where the surfaces of solids touch each other, themselves, cloth, rope and jelly, and the corners and edges of rigid
// bodies.
//
// A solid is closed: what is behind its faces is inside, up to some cells where two bodies overlap that deep, and is
// pushed out at the nearest face of those it looks at. So nothing has to be remembered of sides, and solids that
// overlap from the beginning come apart. Contacts are those of surfaces (collide/surface_contacts.h): nodes against
// faces and edges against edges, near now or on their way to meet in the substep.
//
// Cost: linear in the surfaces that are near to others and in what touches: about 1 µs of one core per meeting at rest
// (tests/solid/solid_meetings_test.cpp measures it). Results do not depend on the number of threads.
//
// Nodes of solids against rigid shapes are not here: the engine finds them by the distance to the shape. Skins of
// layered bodies are so fine that this is enough for most shapes; only those that are thin or sharp meet them with
// their corners and edges.
//
// Two fine skins of layered bodies are looked at by textures instead (collide/texture_contacts.h). That knows no edges
// and no lateral motion within a substep, which hardly matters where texels are small; it finds what is as deep inside
// as the skins are thick, remembers nothing, and has no expensive first search. Measured on one core, two rings of 64²,
// 128² and 256² texels in contact all around, in µs for each contact: 2.8, 1.9, 2.8, against 2.1, 2.9, 3.9 by surfaces
// and 6 to 9 in the substep in which they meet.
//
// Limits: a node that is deeper inside than `BodySurface::deepest` is not found. Within one solid sides are remembered
// from substep to substep, for there the back of a face is the body itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/spares.h"
#include "collide/body_surface.h"
#include "collide/broad_phase.h"
#include "collide/obstacle.h"
#include "collide/rigid_features.h"
#include "collide/surface_searches.h"
#include "collide/texture_contacts.h"
#include "solid/solid_meeting.h"

namespace pliant {

class SolidMeetings {
 public:
  /// All meetings along the motion v + dt g of the next `dt` seconds, pair by pair in the order of the surfaces, which
  /// must be sorted by id as the obstacles are; first those of surfaces, then those with obstacles. Within a pair they
  /// are sorted by features. They stay until the next search. Between two solids `a` is the one whose node it is;
  /// a surface that is open is always `b`, and so is an obstacle, with no nodes. Open surfaces meet solids alone.
  /// Where `solids_meet` is false solids meet obstacles and open surfaces alone.
  std::span<const SolidMeeting> find(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles,
                                     Vec3 gravity, float dt, Workers& workers, bool solids_meet = true);
  std::span<const SolidMeeting> meetings() const { return meetings_; }
  /// Takes those away for which `is_wrong(meeting)`.
  template <typename IsWrong>
  void drop(IsWrong&& is_wrong) {
    std::erase_if(meetings_, is_wrong);
  }
  /// Meetings are missing, for there were absurdly many in one place.
  bool overflowed() const { return overflowed_; }

  /// Solids were moved by hand.
  void forget();
  /// A solid is another one now: its nodes have other numbers.
  void forget(BodyId solid);

  /// What decides the future.
  struct Memory {
    SurfaceSearches::Memory surfaces;
    std::vector<std::pair<SurfacePairId, RigidContacts::Memory>> rigid;  ///< by solid and obstacle
  };
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  struct Near {
    std::uint32_t a, b;  ///< places among the solids
    SurfaceContacts* search;
  };
  struct NearSkins {
    std::uint32_t a, b;
    TextureContacts* search;
  };
  /// A skin as textures see it.
  struct Skin {
    std::uint64_t revision = 0;
    std::unique_ptr<TexturedSurface> surface;
    bool is_used = false;
  };
  struct NearRigid {
    std::uint32_t solid, obstacle;
    RigidContacts* search;
  };
  void find_pairs(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles, Vec3 gravity, float dt,
                  Workers& workers, bool solids_meet);
  void build_trees(std::span<const BodySurface> solids, Workers& workers);
  void fit_trees(std::span<const BodySurface> solids, Vec3 gravity, float dt, Workers& workers);
  void look(Workers& workers);
  void open_rigid(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles, Workers& workers);
  void look_at_rigid(std::span<const BodySurface> solids, std::span<const Obstacle> obstacles, Workers& workers);
  void look_at_skins(std::span<const BodySurface> solids, Vec3 gravity, float dt, Workers& workers);
  void add_meetings(std::span<const BodySurface> solids, const Near& near);
  void add_meetings(std::span<const BodySurface> solids, const NearSkins& near);
  void add_meetings(const BodySurface& solid, const Obstacle& obstacle, const RigidContacts& search);

  SurfaceSearches searches_;
  std::map<BodyId, std::uint64_t> revisions_;  ///< of the trees
  std::map<SurfacePairId, RigidContacts> rigid_;
  std::vector<std::pair<SurfacePairId, RigidContacts::Memory>> saved_rigid_;  ///< to be restored by the next search
  RigidFeaturesOfShapes features_;
  std::map<BodyId, Skin> skins_;
  std::map<SurfacePairId, TextureContacts> textures_;
  BroadPhase broad_phase_;
  Workers alone_{1};  ///< for what is small, each done by one thread
  std::vector<SolidMeeting> meetings_;
  bool overflowed_ = false;
  // Scratch, kept for its memory:
  Spares<SurfaceContacts::Scratch> scratches_;
  std::vector<float> margins_;  ///< m, by solid
  std::vector<Aabb> boxes_;
  std::vector<BroadPhaseProxy> proxies_;
  std::vector<Near> near_;
  std::vector<NearRigid> near_rigid_;
  std::vector<NearSkins> near_skins_;
  std::vector<SurfacePairId> pairs_;
  std::vector<std::uint8_t> is_used_;  ///< by solid
  std::vector<std::uint32_t> used_;
  std::vector<SurfaceTree*> trees_;  ///< by solid
};

}  // namespace pliant
