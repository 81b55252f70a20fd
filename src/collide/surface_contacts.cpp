#include "collide/surface_contacts.h"

#include <algorithm>

#include "collide/surface_search.h"
#include "collide/surface_touch.h"

namespace pliant {
namespace {

/// The search is cut into about so many parts, whatever the number of threads.
constexpr std::size_t kParts = 512;
/// So many pairs of features are allowed per element. A cloth that lies in folds needs about ten, one that is crushed
/// into a ball hundreds; one that has collapsed into a point would need all its features squared.
constexpr std::size_t kCandidatesPerElement = 200;
constexpr std::size_t kMinCandidates = 500;
constexpr std::size_t kLeavesPerChunk = 64;
constexpr std::size_t kFewLeaves = 512;
/// So many leaves are looked at by one thread where nothing is kept for later.
constexpr std::size_t kManyLeaves = 4096;
constexpr std::size_t kCandidatesPerChunk = 1024;
/// What rounding may make of distances along an axis, as a share.
constexpr float kRounding = 1e-4f;
/// Share of the depth to which one looks in any case: with a tenth a box that slides over a soft floor is braked too
/// soon.
constexpr float kLeastDepth = 0.35f;
/// Share of a motion past another surface that may turn into one towards it.
constexpr float kTurned = 0.5f;
/// Share of the margin by which the way out of a node must be shorter than that of its edge to stand for it. (Where
/// rims of two boxes cross, the one end of an edge may be just inside, and the other, which nothing else holds,
/// beside.)
constexpr float kLittle = 0.5f;
/// Share of the depth beyond which it is worth while to look anew with less.
constexpr float kLoose = 0.2f;

}  // namespace

std::span<const SurfaceContact> SurfaceContacts::find(const SurfaceTree& a, const SurfaceTree& b, Workers& workers) {
  Scratch scratch;
  return find(a, b, workers, scratch);
}

SurfacePair SurfaceCandidate::pair(const SurfaceTree& a, const SurfaceTree& b) const {
  const FeaturePair features = kind == Edges ? FeaturePair::EdgeEdge : FeaturePair::NodeFace;
  return kind == NodeOfB ? SurfacePair::of(features, b, first, a, second)
                         : SurfacePair::of(features, a, first, b, second);
}

void SurfaceContacts::restore(const Candidates& candidates) {
  candidates_ = candidates;
  is_restored_ = true;
  is_listed_ = false;
}

void SurfaceContacts::reset() {
  sides_.clear();
  candidates_.outlook = {};
  candidates_.axis = {};
  candidates_.of_leaf.clear();
  candidates_.renewed.clear();
  candidates_.searches = 0;
  candidates_.seen = {};
  is_restored_ = is_listed_ = false;
  tree_ids_ = {};
  contacts_.clear();
  report_ = {};
}

std::span<const SurfaceContact> SurfaceContacts::find(const SurfaceTree& a, const SurfaceTree& b, Workers& workers,
                                                      Scratch& scratch) {
  contacts_.clear();
  report_ = {};
  if (are_parted(a, b)) {
    sides_.clear();
    return contacts_;
  }
  update_candidates(a, b, workers, scratch);
  report_.cut_parts = cut_parts_;

  // Chunks run in any order and are joined in theirs. Between small surfaces, of which there may be thousands of pairs,
  // the candidates are put into one list for as long as they last.
  const std::size_t leaves = candidates_.of_leaf.size();
  const bool lasts = !a.is_brisk() && !b.is_brisk();
  const bool is_small = leaves <= kFewLeaves || !lasts;
  if (lasts && is_small && (report_.renewed > 0 || !is_listed_)) list_candidates();
  const std::size_t per_chunk = is_small ? kCandidatesPerChunk : kLeavesPerChunk;
  const std::vector<SurfaceCandidate>& listed = lasts ? listed_ : scratch.for_now;
  const std::size_t count = is_small ? listed.size() : leaves, chunks = (count + per_chunk - 1) / per_chunk;
  if (scratch.found.size() < chunks) scratch.found.resize(chunks);
  const SurfaceTouch touch(a, b, sides_, reach_, candidates_.axis);
  parallel_for(workers, chunks, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Found& found = scratch.found[i];
      found.contacts.clear();
      found.notes.clear();
      const std::size_t first = i * per_chunk, last = std::min(count, first + per_chunk);
      if (is_small) touch.run(std::span(listed).subspan(first, last - first), found);
      for (std::size_t l = first; l < last && !is_small; ++l) {
        if (report_.renewed > 0) drop_outdated(candidates_.of_leaf[l]);
        touch.run(candidates_.of_leaf[l], found);
      }
    }
  });
  scratch.notes.clear();
  for (std::size_t i = 0; i < chunks; ++i) {
    const Found& found = scratch.found[i];
    contacts_.insert(contacts_.end(), found.contacts.begin(), found.contacts.end());
    scratch.notes.insert(scratch.notes.end(), found.notes.begin(), found.notes.end());
  }
  if (a.topology().is_closed() || b.topology().is_closed()) {
    const auto rank = [](const SurfaceContact& c) { return std::pair(c.is_swapped, c.key); };
    std::sort(contacts_.begin(), contacts_.end(),
              [&](const SurfaceContact& x, const SurfaceContact& y) { return rank(x) < rank(y); });
    const bool are_solids = a.topology().is_closed() && b.topology().is_closed();
    const float little = are_solids ? kLittle * 0.5f * (a.margin() + b.margin()) : 0.0f;
    if (&a != &b) keep_nearest(a.topology().radius + b.topology().radius, little, scratch.inside);
  }
  report_.tests = is_small ? count : 0;
  for (std::size_t l = 0; l < leaves && !is_small; ++l) report_.tests += candidates_.of_leaf[l].size();
  sides_.assign(scratch.notes);
  improve_axis(a, b);
  return contacts_;
}

/// Where two surfaces touch, the normals of their contacts tell best what parts them.
void SurfaceContacts::improve_axis(const SurfaceTree& a, const SurfaceTree& b) {
  if (candidates_.axis == Vec3{}) return;
  Vec3 sum{};
  for (const SurfaceContact& contact : contacts_) sum += contact.is_swapped ? contact.normal : -contact.normal;
  const Vec3 axis = normalized(sum);
  if (length_squared(axis) > 0 && measure_parting(a, b, axis).gap > parting_.gap) candidates_.axis = axis;
}

/// Whether the surfaces as a whole are too far apart to touch in this substep. If not, `reach_` is how deep one must
/// look.
bool SurfaceContacts::are_parted(const SurfaceTree& a, const SurfaceTree& b) {
  const SurfaceTopology &of_a = a.topology(), &of_b = b.topology();
  reach_ = {};
  if (&a == &b || !(of_a.is_closed() || of_b.is_closed()) || a.empty() || b.empty()) return false;
  parting_ = find_parting(a, b, candidates_.axis);
  candidates_.axis = parting_.axis;
  const float thickness = of_a.radius + of_b.radius, margin = 0.5f * (a.margin() + b.margin());
  // Two that fly on together do not approach until the first is stopped, and one that slides along the other may turn.
  const float turned = kTurned * length(a.drift() - b.drift());
  reach_.surprise = std::min(std::max(parting_.surprise, turned), std::max(of_a.surprise, of_b.surprise));
  // More than what must be: edges overlap along normals of their own.
  const float depth = std::max(-1.5f * parting_.gap + thickness, kLeastDepth * 0.5f * (of_a.depth + of_b.depth));
  reach_.depth = std::min(depth, 0.5f * (of_a.deepest + of_b.deepest));
  const float rounding = kRounding * (std::abs(parting_.gap) + thickness + margin);
  return parting_.gap > thickness + margin + reach_.surprise + rounding && parting_.gap_end > thickness + rounding;
}

/// A node that is inside a closed surface gets out at one face alone, the nearest of those it looks at, and one that is
/// outside is behind no face of it. Edges that overlap do not count where the end of one gets out on a way that is
/// shorter by more than `little`.
void SurfaceContacts::keep_nearest(float thickness, float little, std::vector<InsideNode>& inside) {
  const auto distance_of = [&](const SurfaceContact& c) { return c.gap + thickness; };
  std::size_t kept = 0;
  inside.clear();
  for (std::size_t i = 0, end; i < contacts_.size(); i = end) {
    const SurfaceContact first = contacts_[i];
    std::size_t nearest = i, shortest = i;
    for (end = i + 1; end < contacts_.size() && !first.is_edges(); ++end) {
      if (contacts_[end].is_swapped != first.is_swapped || contacts_[end].key >> 32 != first.key >> 32) break;
      if (std::abs(distance_of(contacts_[end])) < std::abs(distance_of(contacts_[nearest]))) nearest = end;
      const bool is_inside = distance_of(contacts_[end]) < 0, is_first = distance_of(contacts_[shortest]) >= 0;
      if (is_inside && (is_first || contacts_[end].way_out < contacts_[shortest].way_out)) shortest = end;
    }
    if (!first.is_edges() && distance_of(contacts_[nearest]) < 0) {
      inside.push_back({first.is_swapped, first.nodes[0], -distance_of(contacts_[nearest])});
      contacts_[kept++] = contacts_[shortest];
      continue;
    }
    for (std::size_t k = i; k < end; ++k) {
      if (first.is_edges() || distance_of(contacts_[k]) >= 0) contacts_[kept++] = contacts_[k];
    }
  }
  contacts_.resize(kept);
  std::erase_if(contacts_, [&](const SurfaceContact& c) {
    if (!c.is_edges() || distance_of(c) >= 0) return false;
    for (std::size_t k = 0; k < 4; ++k) {
      const InsideNode node{k >= 2, c.nodes[k], 0};
      const auto known = std::lower_bound(inside.begin(), inside.end(), node);
      if (known != inside.end() && !(node < *known) && known->depth + little <= -distance_of(c)) return true;
    }
    return false;
  });
}

void SurfaceContacts::list_candidates() {
  listed_.clear();
  for (std::vector<SurfaceCandidate>& candidates : candidates_.of_leaf) {
    drop_outdated(candidates);
    listed_.insert(listed_.end(), candidates.begin(), candidates.end());
  }
  is_listed_ = true;
}

/// Those whose other leaf has been fitted since: that leaf has found them again, if they are still near.
void SurfaceContacts::drop_outdated(std::vector<SurfaceCandidate>& candidates) const {
  std::erase_if(candidates, [&](const SurfaceCandidate& c) {
    return candidates_.renewed[c.partner] > candidates_.renewed[c.owner];
  });
}

void SurfaceContacts::update_candidates(const SurfaceTree& a, const SurfaceTree& b, Workers& workers,
                                        Scratch& scratch) {
  const bool is_self = &a == &b;
  const std::size_t leaves = a.leaf_count() + (is_self ? 0 : b.leaf_count());
  const std::array ids{a.id(), b.id()};
  const bool is_known = (is_restored_ || tree_ids_ == ids) && candidates_.of_leaf.size() == leaves;
  is_restored_ = false;
  tree_ids_ = ids;
  if (a.empty() || b.empty()) {
    is_listed_ = false;
    listed_.clear();
    scratch.for_now.clear();
    return candidates_.of_leaf.clear();
  }
  if (a.is_brisk() || b.is_brisk()) return list_for_now(a, b, workers, scratch);
  if (!is_known || !keeps_to_outlook(a, b)) {
    candidates_.of_leaf.resize(leaves);
    candidates_.renewed.assign(leaves, 0);
    candidates_.searches = 0;
    candidates_.seen = {a.fit().now, b.fit().now};
    return renew_all(a, b, workers, scratch);
  }
  outdated_.clear();
  const bool is_outdated = a.last_renewed() > candidates_.seen[0] || b.last_renewed() > candidates_.seen[1];
  for (std::uint32_t l = 0; is_outdated && l < leaves; ++l) {
    const bool is_of_a = l < a.leaf_count();
    const std::uint32_t renewed = is_of_a ? a.renewed(l) : b.renewed(l - a.leaf_count());
    if (renewed > candidates_.seen[is_of_a ? 0 : 1]) outdated_.push_back(l);
  }
  candidates_.seen = {a.fit().now, b.fit().now};
  if (outdated_.empty()) return;
  if (outdated_.size() > leaves / 2) {
    renew_all(a, b, workers, scratch);
  } else {
    renew_some(a, b, workers, scratch);
  }
}

/// Whether the one surface is, and will be after this substep, where it was expected in relation to the other.
bool SurfaceContacts::keeps_to_outlook(const SurfaceTree& a, const SurfaceTree& b) const {
  if (&a == &b) return true;
  const Outlook& outlook = candidates_.outlook;
  if (reach_.depth > outlook.reach.depth || reach_.surprise > outlook.reach.surprise) return false;
  // Surfaces that have come apart or slowed down are looked at for less than they were.
  const float room = outlook.reach.depth + outlook.reach.surprise;
  if (room > kLoose * (a.topology().depth + b.topology().depth) && room > 3 * (reach_.depth + reach_.surprise)) {
    return false;
  }
  const Vec3 from = a.displacement() - b.displacement() - outlook.offset, to = from + a.drift() - b.drift();
  const float squared = length_squared(outlook.way), scale = squared > 0 ? 1 / squared : 0.0f;
  const auto is_kept = [&](Vec3 p) {
    const float t = std::clamp(scale * dot(p, outlook.way), -1.0f, 1.0f);
    return length(p - t * outlook.way) <= outlook.slack;
  };
  return is_kept(from) && is_kept(to);
}

/// How the one surface will move in relation to the other while what is found now is good.
void SurfaceContacts::set_outlook(const SurfaceTree& a, const SurfaceTree& b) {
  candidates_.outlook = {};
  if (&a == &b) return;
  const bool lasts = !a.is_brisk() && !b.is_brisk();
  // The ways of brisk surfaces have their drift in them.
  const auto drift_of = [](const SurfaceTree& tree) { return tree.is_brisk() ? Vec3{} : tree.drift(); };
  const Vec3 way = 0.5f * (lasts ? SurfaceTree::kForesight : 1.0f) * (drift_of(a) - drift_of(b));
  const float slack = lasts ? std::min(a.slack(), b.slack()) : 0.0f;
  // They may get deeper as they go on, and faster.
  const float deeper = std::max(parting_.gap - parting_.gap_end, 0.0f) * SurfaceTree::kForesight + slack;
  const Reach reach{reach_.depth + deeper, 1.25f * reach_.surprise + slack};
  candidates_.outlook = {a.displacement() - b.displacement() + way, way, slack, lasts ? reach : reach_};
}

/// Pairs of all leaves at once, by part.
void SurfaceContacts::find_candidates(const SurfaceTree& a, const SurfaceTree& b, std::size_t parts, Workers& workers,
                                      Scratch& scratch) {
  set_outlook(a, b);
  const SurfaceSearch search(a, b, candidates_, skips_nodes_of_b_);
  cut_into_parts(search, &a == &b && a.is_flat(0), parts, scratch);
  const std::size_t elements = a.topology().elements.size() + b.topology().elements.size();
  const std::size_t most =
      kMinCandidates + kCandidatesPerElement * elements / std::max<std::size_t>(scratch.parts.size(), 1);
  if (scratch.found.size() < scratch.parts.size()) scratch.found.resize(scratch.parts.size());
  parallel_for(workers, scratch.parts.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) search.run(scratch.parts[i], most, scratch.found[i]);
  });
  cut_parts_ = 0;
  for (std::size_t i = 0; i < scratch.parts.size(); ++i) cut_parts_ += scratch.found[i].is_cut;
}

/// For this substep alone, as one of the surfaces is brisk.
void SurfaceContacts::list_for_now(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch) {
  candidates_.of_leaf.clear();
  candidates_.renewed.clear();
  const std::size_t leaves = a.leaf_count() + b.leaf_count();
  report_.renewed = leaves;
  find_candidates(a, b, leaves > kManyLeaves ? kParts : 1, workers, scratch);
  is_listed_ = false;
  scratch.for_now.clear();
  if (scratch.parts.size() == 1) return scratch.for_now.swap(scratch.found[0].candidates);
  for (std::size_t i = 0; i < scratch.parts.size(); ++i) {
    const std::vector<SurfaceCandidate>& found = scratch.found[i].candidates;
    scratch.for_now.insert(scratch.for_now.end(), found.begin(), found.end());
  }
}

/// Looks for pairs of all leaves at once.
void SurfaceContacts::renew_all(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch) {
  ++candidates_.searches;
  std::fill(candidates_.renewed.begin(), candidates_.renewed.end(), candidates_.searches);
  for (auto& candidates : candidates_.of_leaf) candidates.clear();
  report_.renewed = candidates_.of_leaf.size();
  find_candidates(a, b, kParts, workers, scratch);
  for (std::size_t i = 0; i < scratch.parts.size(); ++i) {
    for (const SurfaceCandidate& c : scratch.found[i].candidates) candidates_.of_leaf[c.owner].push_back(c);
  }
}

namespace {

/// With room to spare: the list of a leaf of a cloth at rest comes and goes by a few, and would allocate each time it
/// is longer than ever before.
void take_over(const std::vector<SurfaceCandidate>& found, std::vector<SurfaceCandidate>& list) {
  if (found.size() > list.capacity()) list.reserve(std::max<std::size_t>(16, 2 * found.size()));
  list.assign(found.begin(), found.end());
}

}  // namespace

/// Looks for pairs of the outdated leaves, each with all others.
void SurfaceContacts::renew_some(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch) {
  ++candidates_.searches;
  for (const std::uint32_t leaf : outdated_) candidates_.renewed[leaf] = candidates_.searches;
  report_.renewed = outdated_.size();
  const SurfaceSearch search(a, b, candidates_, skips_nodes_of_b_);
  if (scratch.found.size() < outdated_.size()) scratch.found.resize(outdated_.size());
  parallel_for(workers, outdated_.size(), 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      search.run_leaf(outdated_[i], kMinCandidates + 8 * kCandidatesPerElement, scratch.found[i]);
      take_over(scratch.found[i].candidates, candidates_.of_leaf[outdated_[i]]);
    }
  });
  for (std::size_t i = 0; i < outdated_.size(); ++i) cut_parts_ += scratch.found[i].is_cut;
}

/// Goes down the trees level by level until there are enough parts to share out.
void SurfaceContacts::cut_into_parts(const SurfaceSearch& search, bool is_empty, std::size_t parts, Scratch& scratch) {
  std::vector<Part>& now = scratch.parts;
  now.clear();
  if (is_empty || !search.overlap(0, 0)) return;
  now.push_back({0, 0});
  while (now.size() < parts && !std::all_of(now.begin(), now.end(), [&](Part part) { return search.is_leaf(part); })) {
    scratch.next_parts.clear();
    for (const Part part : now) search.expand(part, scratch.next_parts);
    now.swap(scratch.next_parts);
  }
}

}  // namespace pliant
