// Where the surfaces of particle bodies touch each other and themselves.
//
// Contacts are looked for in every substep. Looking once a step, tried first, made do with normals that were out of
// date and missed what turned within the step: cloth passed through itself, and what had passed never came to rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collide/surface_searches.h"
#include "particle/particle_model.h"
#include "solve/contact_rows.h"

namespace pliant {

/// A body as its surface sees it.
struct SurfaceBody {
  BodyId id{};
  std::uint32_t first = 0;  ///< its first node among all
  std::shared_ptr<const ParticleModel> model;
  float friction = 0;
  CollisionFilter filter{};
  bool is_active = false;
  bool self_collision = false;
};

class SurfaceMeetings {
 public:
  /// Finds the contacts of all bodies, which must be sorted by id, for the next `h` seconds.
  void find(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v, float h,
            Workers& workers);
  /// Bodies were moved by hand, added or removed: what was remembered means nothing now.
  void forget();
  /// One body got another surface.
  void forget(BodyId body);
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
    std::vector<FeatureContact> contacts;
    SurfaceSearches::Memory surfaces;
  };
  Memory memory() const { return {contacts_, searches_.memory()}; }
  void restore(const Memory& memory);

 private:
  /// What a tree was made of.
  struct Source {
    std::shared_ptr<const ParticleModel> model;
    std::uint32_t first = 0, first_feature = 0;
    bool operator==(const Source&) const = default;
  };
  /// Places among the bodies; the same twice for self contact.
  struct Near {
    std::uint32_t a, b;
  };
  void find_pairs(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v, float h);
  void find_boxes(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v, float h);
  void build_trees(std::span<const SurfaceBody> bodies);
  void build_tree(const SurfaceBody& body, const Source& source);
  void tidy(std::span<const SurfaceBody> bodies);
  void look(const SurfaceBody& a, const SurfaceBody& b, SurfaceContacts& search, std::span<const Vec4> x,
            Workers& workers);
  void recall_impulses();

  SurfaceSearches searches_;
  std::map<BodyId, Source> sources_;  ///< of the trees
  std::vector<FeatureContact> contacts_, before_;
  bool overflowed_ = false;
  // Scratch, kept for its memory:
  SurfaceContacts::Scratch scratch_;
  std::vector<Near> near_;
  std::vector<SurfacePairId> pairs_;
  std::vector<std::uint8_t> is_used_;  ///< by body: in a pair
  std::vector<Aabb> boxes_;
  std::vector<Vec4> rest_;
};

}  // namespace pliant
