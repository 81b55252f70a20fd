#include "collide/surface_searches.h"

#include <algorithm>

namespace pliant {

SurfaceTree* SurfaceSearches::tree(BodyId body) {
  const auto known = trees_.find(body);
  return known == trees_.end() ? nullptr : known->second.get();
}

const SurfaceTree* SurfaceSearches::tree(BodyId body) const {
  const auto known = trees_.find(body);
  return known == trees_.end() ? nullptr : known->second.get();
}

void SurfaceSearches::keep_searches(const std::vector<SurfacePairId>& pairs) {
  std::erase_if(searches_,
                [&](const auto& known) { return !std::binary_search(pairs.begin(), pairs.end(), known.first); });
  for (const SurfacePairId& pair : pairs) searches_[pair];
}

void SurfaceSearches::forget() {
  searches_.clear();
  saved_fits_.clear();
  for (auto& [body, tree] : trees_) tree->forget_fit();
}

void SurfaceSearches::forget(BodyId body) {
  trees_.erase(body);
  std::erase_if(searches_, [&](const auto& known) { return known.first.first == body || known.first.second == body; });
  std::erase_if(saved_fits_, [&](const auto& known) { return known.first == body; });
}

SurfaceSearches::Memory SurfaceSearches::memory() const {
  Memory memory{{}, saved_fits_};
  for (const auto& [pair, search] : searches_) {
    const auto notes = search.sides().notes();
    memory.searches.push_back({pair, {notes.begin(), notes.end()}, search.candidates()});
  }
  if (!memory.fits.empty()) return memory;
  for (const auto& [body, tree] : trees_) memory.fits.emplace_back(body, tree->fit());
  return memory;
}

void SurfaceSearches::restore(const Memory& memory) {
  forget();
  saved_fits_ = memory.fits;
  for (const Memory::Search& saved : memory.searches) {
    SurfaceContacts& search = searches_[saved.pair];
    search.sides().assign(saved.sides);
    search.restore(saved.candidates);
  }
}

void SurfaceSearches::restore_fits(Workers& workers) {
  for (const auto& [body, fit] : saved_fits_) {
    if (SurfaceTree* known = tree(body)) known->restore(fit, workers);
  }
  saved_fits_.clear();
}

}  // namespace pliant
