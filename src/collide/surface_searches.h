// The trees of many surfaces and the searches of their pairs, with what of them decides the future: the part that is
// the same for solids and for particle bodies.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collide/surface_contacts.h"
#include "pliant/ids.h"

namespace pliant {

using SurfacePairId = std::pair<BodyId, BodyId>;  ///< the same body twice for self contact

class SurfaceSearches {
 public:
  /// The body's tree, or nothing.
  SurfaceTree* tree(BodyId body);
  const SurfaceTree* tree(BodyId body) const;
  void set_tree(BodyId body, std::unique_ptr<SurfaceTree> tree) { trees_[body] = std::move(tree); }
  /// Makes a search for each of these pairs, which must be sorted, and forgets all others. No allocation once there
  /// were as many pairs before.
  void keep_searches(const std::vector<SurfacePairId>& pairs);
  /// That of the pair with this place in the list that was kept last.
  SurfaceContacts& search(std::size_t place) { return *searches_[place].contacts; }
  /// Bodies were moved by hand: what was remembered means nothing now.
  void forget();
  /// All that is known of one body.
  void forget(BodyId body);
  /// Drops the trees of bodies that `is_gone(body)` names, and lets go of the fits of those that `is_used(body)` does
  /// not: they are out of date when their bodies come near to something again.
  template <typename IsGone, typename IsUsed>
  void tidy(IsGone&& is_gone, IsUsed&& is_used);

  /// What decides the future.
  struct Memory {
    struct Search {
      SurfacePairId pair;
      std::vector<SideNote> sides;
      SurfaceContacts::Candidates candidates;
    };
    std::vector<Search> searches;
    std::vector<std::pair<BodyId, SurfaceTree::Fit>> fits;
  };
  Memory memory() const;
  void restore(const Memory& memory);
  /// Gives trees their fits back, once they are there again and before they are refitted.
  void restore_fits(Workers& workers);

 private:
  struct Search {
    SurfacePairId pair;
    std::unique_ptr<SurfaceContacts> contacts;
  };
  std::unique_ptr<SurfaceContacts> new_search();
  void drop(std::unique_ptr<SurfaceContacts> search);

  std::map<BodyId, std::unique_ptr<SurfaceTree>> trees_;
  std::vector<Search> searches_;                         ///< by pair, ascending
  std::vector<Search> before_;                           ///< scratch
  std::vector<std::unique_ptr<SurfaceContacts>> spare_;  ///< of pairs that came apart, kept for their memory
  std::vector<std::pair<BodyId, SurfaceTree::Fit>> saved_fits_;
};

// Implementation ------------------------------------------------------------------------------------------------------

template <typename IsGone, typename IsUsed>
void SurfaceSearches::tidy(IsGone&& is_gone, IsUsed&& is_used) {
  std::erase_if(trees_, [&](const auto& known) { return is_gone(known.first); });
  for (auto& [body, tree] : trees_) {
    if (!is_used(body)) tree->forget_fit();
  }
}

}  // namespace pliant
