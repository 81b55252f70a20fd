// Where the surfaces of particle bodies touch each other and themselves.
//
// Contacts are looked for in every substep. Looking once a step, tried first, made do with normals that were out of
// date and missed what turned within the step: cloth passed through itself, and what had passed never came to rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collide/surface_contacts.h"
#include "particle/particle_model.h"
#include "solve/contact_rows.h"

namespace pliant {

/// A body as its surface sees it.
struct SurfaceBody {
  std::uint32_t slot = 0;
  std::uint32_t first = 0;  ///< its first node among all
  std::shared_ptr<const ParticleModel> model;
  float friction = 0;
  CollisionFilter filter{};
  bool is_active = false;
  bool self_collision = false;
};

class SurfaceMeetings {
 public:
  /// Finds the contacts of all bodies, given in the order of their nodes, for the next `h` seconds.
  void find(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v, float h,
            Workers& workers);
  /// Bodies were moved by hand, added or removed: what was remembered means nothing now.
  void forget();
  /// One body got another surface.
  void forget(std::uint32_t slot);
  /// Leaves out the contacts for which `is_unwanted(contact)`.
  template <typename IsUnwanted>
  void drop(IsUnwanted&& is_unwanted) {
    std::erase_if(contacts_, is_unwanted);
  }

  std::span<FeatureContact> contacts() { return contacts_; }
  std::span<const FeatureContact> contacts() const { return contacts_; }
  bool overflowed() const { return overflowed_; }

  /// What decides the future.
  struct Memory {
    struct Search {
      std::pair<std::uint32_t, std::uint32_t> slots;
      std::vector<SideNote> sides;
      SurfaceContacts::Candidates candidates;
    };
    std::vector<FeatureContact> contacts;
    std::vector<Search> searches;
    std::vector<std::pair<std::uint32_t, SurfaceTree::Fit>> fits;  ///< by slot
  };
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  struct Tree {
    std::shared_ptr<const ParticleModel> model;
    std::uint32_t first = 0, first_feature = 0;
    std::unique_ptr<SurfaceTree> tree;
    bool is_fitted = false;
  };
  bool may_meet(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v, float h);
  void build_trees(std::span<const SurfaceBody> bodies);
  void restore_fits(Workers& workers);
  void look(const SurfaceBody& a, const SurfaceBody& b, std::span<const Vec4> x, Workers& workers);

  std::map<std::uint32_t, Tree> trees_;                                          ///< by slot
  std::map<std::pair<std::uint32_t, std::uint32_t>, SurfaceContacts> searches_;  ///< by slots; equal for self contact
  std::vector<FeatureContact> contacts_, before_;
  std::vector<std::pair<std::uint32_t, SurfaceTree::Fit>> saved_fits_;  ///< to be restored when there are trees again
  std::vector<Vec4> rest_;                                              // scratch, kept for its memory, like the next
  std::vector<Aabb> boxes_;
  bool overflowed_ = false;
};

}  // namespace pliant
