#include "collide/surface_contacts.h"

#include <algorithm>

#include "collide/surface_search.h"

namespace pliant {
namespace {

/// The search is cut into about so many parts, whatever the number of threads.
constexpr std::size_t kParts = 512;
/// So many close looks at pairs of features are allowed per element. A cloth that lies in folds needs about ten, one
/// that is crushed into a ball hundreds; one that has collapsed into a point would need all its features squared.
constexpr std::size_t kTestsPerElement = 200;
constexpr std::size_t kMinTests = 500;

}  // namespace

std::span<const SurfaceContact> SurfaceContacts::find(const SurfaceTree& a, const SurfaceTree& b, Workers& workers) {
  return search(a, b, workers);
}

std::span<const SurfaceContact> SurfaceContacts::find_self(const SurfaceTree& surface, Workers& workers) {
  return search(surface, surface, workers);
}

std::span<const SurfaceContact> SurfaceContacts::search(const SurfaceTree& a, const SurfaceTree& b, Workers& workers) {
  contacts_.clear();
  notes_.clear();
  report_ = {};
  const SurfaceSearch search(a, b, sides_);
  cut_into_parts(search, a.empty() || b.empty() || (&a == &b && a.is_flat(0)));

  // Parts run in any order and are joined in theirs.
  const std::size_t elements = a.topology().elements.size() + b.topology().elements.size();
  const std::size_t max_tests = kMinTests + kTestsPerElement * elements / std::max<std::size_t>(parts_.size(), 1);
  if (found_.size() < parts_.size()) found_.resize(parts_.size());
  parallel_for(workers, parts_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) search.run(parts_[i], max_tests, found_[i]);
  });
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Found& found = found_[i];
    contacts_.insert(contacts_.end(), found.contacts.begin(), found.contacts.end());
    notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
    report_.tests += found.tests;
    report_.cut_parts += found.is_cut;
  }
  sides_.assign(notes_);
  return contacts_;
}

/// Goes down the trees level by level until there are enough parts to share out.
void SurfaceContacts::cut_into_parts(const SurfaceSearch& search, bool is_empty) {
  parts_.clear();
  if (is_empty || !search.overlap(0, 0)) return;
  parts_.push_back({0, 0});
  while (parts_.size() < kParts &&
         !std::all_of(parts_.begin(), parts_.end(), [&](Part part) { return search.is_leaf(part); })) {
    next_parts_.clear();
    for (const Part part : parts_) search.expand(part, next_parts_);
    parts_.swap(next_parts_);
  }
}

}  // namespace pliant
