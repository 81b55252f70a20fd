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

float margin_of(const SurfaceBody& body, float h) {
  return kMargin * body.model->radius + 0.5f * kAcceleration * h * h;
}

}  // namespace

void SurfaceMeetings::find(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v,
                           float h, Workers& workers) {
  before_.swap(contacts_);
  contacts_.clear();
  overflowed_ = false;
  find_pairs(bodies, x, v, h);
  build_trees(bodies);
  searches_.restore_fits(workers);
  tidy(bodies);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (is_used_[i] != 0) searches_.tree(bodies[i].id)->refit(x, v, h, margin_of(bodies[i], h), workers);
  }
  pairs_.clear();
  for (const Near& near : near_) pairs_.emplace_back(bodies[near.a].id, bodies[near.b].id);
  searches_.keep_searches(pairs_);
  for (std::size_t i = 0; i < near_.size(); ++i) {
    look(bodies[near_[i].a], bodies[near_[i].b], searches_.search(i), x, workers);
  }
  recall_impulses();
}

/// What can touch at all. Most often a cloth is alone, and needs no tree.
void SurfaceMeetings::find_pairs(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v,
                                 float h) {
  near_.clear();
  is_used_.assign(bodies.size(), 0);
  if (bodies.size() > 1) find_boxes(bodies, x, v, h);
  for (std::uint32_t a = 0; a < bodies.size(); ++a) {
    if (bodies[a].is_active && bodies[a].self_collision) near_.push_back({a, a});
    for (std::uint32_t b = a + 1; b < bodies.size(); ++b) {
      if (!bodies[a].is_active && !bodies[b].is_active) continue;
      if (collide(bodies[a].filter, bodies[b].filter) && boxes_[a].overlaps(boxes_[b])) near_.push_back({a, b});
    }
  }
  for (const Near& near : near_) is_used_[near.a] = is_used_[near.b] = 1;
}

void SurfaceMeetings::find_boxes(std::span<const SurfaceBody> bodies, std::span<const Vec4> x, std::span<const Vec4> v,
                                 float h) {
  boxes_.assign(bodies.size(), {});
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::size_t first = bodies[i].first, count = bodies[i].model->rest.size();
    for (std::size_t k = first; k < first + count; ++k) {
      boxes_[i].include(x[k].xyz());
      boxes_[i].include(x[k].xyz() + v[k].xyz() * h);
    }
    boxes_[i] = boxes_[i].expanded(bodies[i].model->radius + margin_of(bodies[i], h));
  }
}

/// Of those that are near to others, where they have changed.
void SurfaceMeetings::build_trees(std::span<const SurfaceBody> bodies) {
  std::uint32_t first_feature = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const SurfaceBody& body = bodies[i];
    const Source source{body.model, body.first, first_feature};
    // More than it can have: the numbers depend on the models alone, not on how the trees were made.
    first_feature += static_cast<std::uint32_t>(3 * body.model->faces.size() + body.model->segments.size());
    if (is_used_[i] == 0) continue;
    const auto known = sources_.find(body.id);
    if (known == sources_.end() || !(known->second == source)) build_tree(body, source);
  }
}

void SurfaceMeetings::build_tree(const SurfaceBody& body, const Source& source) {
  const ParticleModel& model = *body.model;
  rest_.assign(body.first + model.rest.size(), {});
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
                                         .first_feature = source.first_feature});
  searches_.set_tree(body.id, std::make_unique<SurfaceTree>(std::move(topology).value(), body.self_collision));
  sources_[body.id] = source;
}

void SurfaceMeetings::tidy(std::span<const SurfaceBody> bodies) {
  const auto place_of = [&](BodyId id) {
    const auto is_before = [](const SurfaceBody& body, BodyId wanted) { return body.id < wanted; };
    const auto at = std::lower_bound(bodies.begin(), bodies.end(), id, is_before);
    return at != bodies.end() && at->id == id ? static_cast<std::size_t>(at - bodies.begin()) : bodies.size();
  };
  searches_.tidy([&](BodyId id) { return place_of(id) == bodies.size(); },
                 [&](BodyId id) { return is_used_[place_of(id)] != 0; });
  std::erase_if(sources_, [&](const auto& known) { return !searches_.tree(known.first); });
}

void SurfaceMeetings::look(const SurfaceBody& a, const SurfaceBody& b, SurfaceContacts& search, std::span<const Vec4> x,
                           Workers& workers) {
  const SurfaceTree &tree_a = *searches_.tree(a.id), &tree_b = *searches_.tree(b.id);
  const auto found = search.find(tree_a, tree_b, workers, scratch_);
  overflowed_ = overflowed_ || search.report().overflowed();
  const float friction = std::sqrt(a.friction * b.friction);
  for (const SurfaceContact& contact : found) {
    float place = 0;
    for (std::size_t k = 0; k < 4; ++k) place += contact.weights[k] * dot(contact.normal, x[contact.nodes[k]].xyz());
    contacts_.push_back({.nodes = contact.nodes,
                         .slots = {a.id.index, b.id.index},
                         .weights = contact.weights,
                         .normal = contact.normal,
                         .gap = contact.gap,
                         .gap_offset = contact.gap - place,
                         .friction = friction,
                         .key = contact.key});
  }
}

/// Impulses go on from the last substep.
void SurfaceMeetings::recall_impulses() {
  const auto is_before = [](const FeatureContact& a, const FeatureContact& b) { return a.key < b.key; };
  std::sort(before_.begin(), before_.end(), is_before);
  for (FeatureContact& row : contacts_) {
    const auto known = std::lower_bound(before_.begin(), before_.end(), row, is_before);
    if (known == before_.end() || known->key != row.key) continue;
    row.normal_impulse = known->normal_impulse;
    row.friction_impulse = known->friction_impulse - row.normal * dot(known->friction_impulse, row.normal);
  }
}

void SurfaceMeetings::forget() {
  contacts_.clear();
  searches_.forget();
}

void SurfaceMeetings::forget(BodyId body) {
  const auto is_of_body = [&](const FeatureContact& row) {
    return row.slots[0] == body.index || row.slots[1] == body.index;
  };
  std::erase_if(contacts_, is_of_body);
  searches_.forget(body);
  sources_.erase(body);
}

void SurfaceMeetings::restore(const Memory& memory) {
  contacts_ = memory.contacts;
  searches_.restore(memory.surfaces);
}

}  // namespace pliant
