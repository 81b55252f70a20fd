#include "particle/surface_meetings.h"

#include <algorithm>
#include <cmath>

#include "collide/obstacle.h"

namespace pliant {
namespace {

/// Share of the radius within which features are watched, moving or not.
constexpr float kMargin = 0.5f;
/// What may speed features up within a substep, m/s².
constexpr float kAcceleration = 10;

}  // namespace

void SurfaceMeetings::build_trees(std::span<const SurfaceBody> bodies) {
  std::uint32_t first_feature = 0, node_count = 0;
  for (const SurfaceBody& body : bodies) {
    node_count = std::max(node_count, body.first + static_cast<std::uint32_t>(body.model->rest.size()));
  }
  std::erase_if(trees_, [&](const auto& known) {
    return std::none_of(bodies.begin(), bodies.end(), [&](const SurfaceBody& b) { return b.slot == known.first; });
  });
  for (const SurfaceBody& body : bodies) {
    const ParticleModel& model = *body.model;
    Tree& known = trees_[body.slot];
    known.is_fitted = false;
    if (!known.tree || known.model != body.model || known.first != body.first || known.first_feature != first_feature) {
      rest_.assign(node_count, {});
      for (std::size_t i = 0; i < model.rest.size(); ++i) {
        rest_[body.first + i] = {model.rest[i].x, model.rest[i].y, model.rest[i].z, 0};
      }
      std::vector<Face> faces = model.faces;
      for (Face& face : faces) {
        for (std::uint32_t& node : face) node += body.first;
      }
      std::vector<NodePair> segments(model.segments.begin(), model.segments.end());
      for (NodePair& segment : segments) segment[0] += body.first, segment[1] += body.first;
      auto topology = make_surface_topology({.faces = faces,
                                             .free_edges = segments,
                                             .rest = rest_,
                                             .radius = model.radius,
                                             .first_feature = first_feature});
      known = {body.model, body.first, first_feature, std::make_unique<SurfaceTree>(std::move(topology).value()),
               false};
    }
    // More than it can have: the numbers depend on the models alone, not on how the trees were made.
    first_feature += static_cast<std::uint32_t>(3 * model.faces.size() + model.segments.size());
  }
}

/// Whether any two surfaces, or one and itself, can touch at all. Most often a cloth is alone, and needs no tree.
bool SurfaceMeetings::may_meet(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v,
                               float h) {
  for (const SurfaceBody& body : bodies) {
    if (body.is_active && body.self_collision) return true;
  }
  if (bodies.size() < 2) return false;
  boxes_.assign(bodies.size(), {});
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::size_t first = bodies[i].first, count = bodies[i].model->rest.size();
    for (std::size_t k = first; k < first + count; ++k) {
      boxes_[i].include(x[k].xyz());
      boxes_[i].include(x[k].xyz() + v[k].xyz() * h);
    }
    boxes_[i] = boxes_[i].expanded((1 + kMargin) * bodies[i].model->radius + 0.5f * kAcceleration * h * h);
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (std::size_t j = i + 1; j < bodies.size(); ++j) {
      const bool is_any_active = bodies[i].is_active || bodies[j].is_active;
      if (is_any_active && collide(bodies[i].filter, bodies[j].filter) && boxes_[i].overlaps(boxes_[j])) return true;
    }
  }
  return false;
}

void SurfaceMeetings::find(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v,
                           float h, Workers& workers) {
  before_.swap(contacts_);
  contacts_.clear();
  overflowed_ = false;
  if (!may_meet(bodies, x, v, h)) return;
  build_trees(bodies);
  restore_fits(workers);
  const auto fit = [&](const SurfaceBody& body) {
    Tree& tree = trees_[body.slot];
    if (tree.is_fitted) return;
    const float margin = kMargin * body.model->radius + 0.5f * kAcceleration * h * h;
    tree.tree->refit(x, v, h, margin, workers);
    tree.is_fitted = true;
  };
  for (const SurfaceBody& body : bodies) {
    if (body.is_active && body.self_collision) fit(body), look(body, body, x, workers);
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (std::size_t j = i + 1; j < bodies.size(); ++j) {
      if (!bodies[i].is_active && !bodies[j].is_active) continue;
      if (!collide(bodies[i].filter, bodies[j].filter)) continue;
      fit(bodies[i]), fit(bodies[j]);
      if (trees_[bodies[i].slot].tree->bounds().overlaps(trees_[bodies[j].slot].tree->bounds())) {
        look(bodies[i], bodies[j], x, workers);
      }
    }
  }
  // Impulses go on from the last step.
  std::sort(before_.begin(), before_.end(),
            [](const FeatureContact& a, const FeatureContact& b) { return a.key < b.key; });
  for (FeatureContact& row : contacts_) {
    const auto found = std::lower_bound(before_.begin(), before_.end(), row.key,
                                        [](const FeatureContact& a, std::uint64_t key) { return a.key < key; });
    if (found == before_.end() || found->key != row.key) continue;
    row.normal_impulse = found->normal_impulse;
    row.friction_impulse = found->friction_impulse - row.normal * dot(found->friction_impulse, row.normal);
  }
}

void SurfaceMeetings::look(const SurfaceBody& a, const SurfaceBody& b, std::span<const Vec4> x, Workers& workers) {
  SurfaceContacts& search = searches_[{a.slot, b.slot}];
  const SurfaceTree &tree_a = *trees_[a.slot].tree, &tree_b = *trees_[b.slot].tree;
  const auto found = a.slot == b.slot ? search.find_self(tree_a, workers) : search.find(tree_a, tree_b, workers);
  overflowed_ = overflowed_ || search.report().overflowed();
  const float friction = std::sqrt(a.friction * b.friction);
  for (const SurfaceContact& contact : found) {
    float place = 0;
    for (std::size_t k = 0; k < 4; ++k) place += contact.weights[k] * dot(contact.normal, x[contact.nodes[k]].xyz());
    contacts_.push_back({.nodes = contact.nodes,
                         .slots = {a.slot, b.slot},
                         .weights = contact.weights,
                         .normal = contact.normal,
                         .gap = contact.gap,
                         .gap_offset = contact.gap - place,
                         .friction = friction,
                         .key = contact.key});
  }
}

void SurfaceMeetings::forget() {
  contacts_.clear();
  searches_.clear();
  saved_fits_.clear();
  for (auto& [slot, known] : trees_) {
    if (known.tree) known.tree->forget_fit();
  }
}

void SurfaceMeetings::forget(std::uint32_t slot) {
  const auto has_slot = [&](const auto& slots) { return slots.first == slot || slots.second == slot; };
  std::erase_if(contacts_, [&](const FeatureContact& c) { return c.slots[0] == slot || c.slots[1] == slot; });
  std::erase_if(searches_, [&](const auto& known) { return has_slot(known.first); });
  std::erase_if(saved_fits_, [&](const auto& fit) { return fit.first == slot; });
  trees_.erase(slot);
}

SurfaceMeetings::Memory SurfaceMeetings::memory() const {
  Memory memory{contacts_, {}, saved_fits_};
  for (const auto& [slots, search] : searches_) {
    const auto notes = search.sides().notes();
    memory.searches.push_back({slots, {notes.begin(), notes.end()}, search.candidates()});
  }
  if (!memory.fits.empty()) return memory;
  for (const auto& [slot, known] : trees_) memory.fits.emplace_back(slot, known.tree->fit());
  return memory;
}

void SurfaceMeetings::restore(const Memory& memory) {
  forget();
  contacts_ = memory.contacts;
  saved_fits_ = memory.fits;
  for (const Memory::Search& saved : memory.searches) {
    SurfaceContacts& search = searches_[saved.slots];
    search.sides().assign(saved.sides);
    search.restore(saved.candidates);
  }
}

void SurfaceMeetings::restore_fits(Workers& workers) {
  for (const auto& [slot, fit] : saved_fits_) {
    const auto known = trees_.find(slot);
    if (known != trees_.end()) known->second.tree->restore(fit, workers);
  }
  saved_fits_.clear();
}

}  // namespace pliant
