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

std::unique_ptr<SurfaceContacts> SurfaceSearches::new_search() {
  if (spare_.empty()) return std::make_unique<SurfaceContacts>();
  std::unique_ptr<SurfaceContacts> search = std::move(spare_.back());
  spare_.pop_back();
  return search;
}

void SurfaceSearches::drop(std::unique_ptr<SurfaceContacts> search) {
  search->reset();
  spare_.push_back(std::move(search));
}

void SurfaceSearches::keep_searches(const std::vector<SurfacePairId>& pairs) {
  before_.swap(searches_);
  searches_.clear();
  auto known = before_.begin();
  for (const SurfacePairId& pair : pairs) {
    for (; known != before_.end() && known->pair < pair; ++known) drop(std::move(known->contacts));
    const bool is_known = known != before_.end() && known->pair == pair;
    searches_.push_back({pair, is_known ? std::move((known++)->contacts) : new_search()});
  }
  for (; known != before_.end(); ++known) drop(std::move(known->contacts));
  before_.clear();
}

void SurfaceSearches::forget() {
  for (Search& search : searches_) drop(std::move(search.contacts));
  searches_.clear();
  saved_fits_.clear();
  for (auto& [body, tree] : trees_) tree->forget_fit();
}

void SurfaceSearches::forget(BodyId body) {
  trees_.erase(body);
  const auto is_of_body = [&](const Search& known) { return known.pair.first == body || known.pair.second == body; };
  for (Search& known : searches_) {
    if (is_of_body(known)) drop(std::move(known.contacts));
  }
  std::erase_if(searches_, is_of_body);
  std::erase_if(saved_fits_, [&](const auto& known) { return known.first == body; });
}

SurfaceSearches::Memory SurfaceSearches::memory() const {
  Memory memory{{}, saved_fits_};
  for (const Search& search : searches_) {
    const auto notes = search.contacts->sides().notes();
    memory.searches.push_back({search.pair, {notes.begin(), notes.end()}, search.contacts->candidates()});
  }
  if (!memory.fits.empty()) return memory;
  for (const auto& [body, tree] : trees_) memory.fits.emplace_back(body, tree->fit());
  return memory;
}

void SurfaceSearches::restore(const Memory& memory) {
  forget();
  saved_fits_ = memory.fits;
  for (const Memory::Search& saved : memory.searches) {
    searches_.push_back({saved.pair, new_search()});
    searches_.back().contacts->sides().assign(saved.sides);
    searches_.back().contacts->restore(saved.candidates);
  }
}

void SurfaceSearches::restore_fits(Workers& workers) {
  for (const auto& [body, fit] : saved_fits_) {
    if (SurfaceTree* known = tree(body)) known->restore(fit, workers);
  }
  saved_fits_.clear();
}

}  // namespace pliant
