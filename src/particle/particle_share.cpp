// Cloth, rope and jelly that touch solids: their own rows first, then the island of the solids (solve/shared_nodes.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "particle/jelly_builder.h"
#include "particle/particle_body.h"

namespace pliant {
namespace {

/// How far from what touches nodes feel it in the same substep, in edges. More was tried: draped cloth was no calmer,
/// and took longer.
constexpr int kRings = 3;
/// The stiffness of springs over the mass of the lighter node. What is stiffer, such as all that keeps its length, is
/// known to the body's own rows, which come next; with 40 instead of 1 draped cloth shivers, and jelly under a load of
/// a thousand times its weight is torn apart instead of flattened.
constexpr float kStiffest = 1;

}  // namespace

/// What holds a body together, as seen by what pushes it.
void ParticleEngine::find_springs(Body& b) {
  if (b.springs_model == b.model) return;
  b.springs_model = b.model;
  b.ties.clear();
  for (const ChainLine& line : b.model->lines) {
    for (std::size_t i = 0; i + 1 < line.nodes.size(); ++i) {
      const float stiffness = line.compliance.empty() ? kInfinity : 1 / line.compliance[i];
      b.ties.push_back({{line.nodes[i], line.nodes[i + 1]}, stiffness});
    }
  }
  b.first_spring = b.ties.size();
  for (const Spring& spring : b.model->springs) b.ties.push_back({spring.nodes, spring.stiffness});
  if (const auto* jelly = std::get_if<JellyDef>(b.def.get())) {
    const auto rest = mass_spring_rest(jelly->mesh, {jelly->young_modulus, jelly->poisson_ratio});
    if (rest) {
      for (const SpringTerm& spring : rest->springs) b.ties.push_back({spring.nodes, spring.stiffness});
    }
  }
  b.ties_of_node.offsets.assign(b.count + 1, 0);
  for (const NodeTie& tie : b.ties) ++b.ties_of_node.offsets[tie.nodes[0]], ++b.ties_of_node.offsets[tie.nodes[1]];
  std::uint32_t total = 0;
  for (std::uint32_t& offset : b.ties_of_node.offsets) offset = std::exchange(total, total + offset);
  b.ties_of_node.items.resize(total);
  std::vector<std::uint32_t> next = b.ties_of_node.offsets;
  for (std::uint32_t t = 0; t < b.ties.size(); ++t) {
    for (const std::uint32_t node : b.ties[t].nodes) b.ties_of_node.items[next[node]++] = t;
  }
}

namespace {

/// The mean length of the edges of faces and segments at rest.
float mean_edge(const ParticleModel& model) {
  double sum = 0;
  for (const Face& face : model.faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      sum += static_cast<double>(length(model.rest[face[k]] - model.rest[face[(k + 1) % 3]]));
    }
  }
  for (const auto& segment : model.segments) {
    sum += static_cast<double>(length(model.rest[segment[0]] - model.rest[segment[1]]));
  }
  const std::size_t count = 3 * model.faces.size() + model.segments.size();
  return count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : 0;
}

}  // namespace

std::span<const BodySurface> ParticleEngine::list_surfaces() {
  open_surfaces_.clear();
  for (const std::uint32_t slot : slots_) {
    Body& b = body(slot);
    if (b.surface_model != b.model) {
      b.surface_model = b.model;
      b.revision = ++surface_revisions_;
      b.cell = mean_edge(*b.model);
    }
    b.way_velocities.resize(b.count);
    parallel_for(workers_, b.count, 8 * kNodesPerPart, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) b.way_velocities[i] = v_before_[b.first + i].xyz();
    });
    open_surfaces_.push_back({.id = b.id,
                              .revision = b.revision,
                              .faces = b.model->faces,
                              .rest = std::span(b.model->rest).first(b.count),
                              .x = node_positions(slot),
                              .v = b.way_velocities,
                              .radius = b.model->radius,
                              .depth = b.cell,
                              .friction = b.settings.friction,
                              .gravity_scale = b.settings.gravity_scale,
                              .filter = b.settings.filter,
                              .is_active = b.is_active(),
                              .is_open = true,
                              .segments = b.model->segments});
  }
  return open_surfaces_;
}

void ParticleEngine::take_solid_rows(std::span<const PointContact> rows) {
  solid_rows_.assign(rows.begin(), rows.end());
  for (PointContact& row : solid_rows_) {
    const Body& b = body(row.slot);
    if (!b.is_active()) row.count = 0;
    for (std::uint32_t k = 0; k < row.count; ++k) row.nodes[k] += b.first;
  }
}

void ParticleEngine::share(SharedBodies& shared, float h) {
  shared.count = 0;
  shared.impulses.clear();
  shared_rows_.clear();
  shared_slots_.clear();
  for (const PointContact& row : solid_rows_) {
    shared.impulses.push_back(row.count > 0 ? row.impulse() : Vec3{});
    if (row.count > 0 && !body(row.slot).is_guest) shared_slots_.push_back(row.slot);
  }
  std::sort(shared_slots_.begin(), shared_slots_.end());
  shared_slots_.erase(std::unique(shared_slots_.begin(), shared_slots_.end()), shared_slots_.end());
  for (const std::uint32_t slot : shared_slots_) {
    if (shared.bodies.size() == shared.count) shared.bodies.emplace_back();
    SharedNodes& nodes = shared.bodies[shared.count++];
    share_nodes(body(slot), nodes, h);
    share_rows(body(slot), nodes);
  }
}

/// The nodes that touch solids, those around them, and what is between them.
void ParticleEngine::share_nodes(Body& b, SharedNodes& nodes, float h) {
  find_springs(b);
  ring_of_.assign(b.count, 0);
  nodes.nodes.clear();
  for (const PointContact& row : solid_rows_) {
    for (std::uint32_t k = 0; k < row.count; ++k) {
      if (row.slot != b.id.index || ring_of_[row.nodes[k] - b.first] != 0) continue;
      ring_of_[row.nodes[k] - b.first] = 1;
      nodes.nodes.push_back(row.nodes[k] - b.first);
    }
  }
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    const std::uint32_t node = nodes.nodes[i];
    if (ring_of_[node] > kRings) break;
    for (const std::uint32_t t : b.ties_of_node[node]) {
      const std::uint32_t other = b.ties[t].nodes[0] == node ? b.ties[t].nodes[1] : b.ties[t].nodes[0];
      if (ring_of_[other] != 0) continue;
      ring_of_[other] = static_cast<std::uint8_t>(ring_of_[node] + 1);
      nodes.nodes.push_back(other);
    }
  }
  std::sort(nodes.nodes.begin(), nodes.nodes.end());
  const std::size_t count = nodes.nodes.size();
  nodes.id = b.id;
  nodes.masses.resize(count), nodes.x.resize(count), nodes.v.resize(count), nodes.v_before.resize(count);
  nodes.change.assign(count, {});
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t node = b.first + nodes.nodes[i];
    nodes.masses[i] = v_[node].w > 0 ? masses_[node] : 0;
    nodes.x[i] = x_[node].xyz(), nodes.v[i] = v_[node].xyz(), nodes.v_before[i] = v_before_[node].xyz();
  }
  nodes.springs.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t t : b.ties_of_node[nodes.nodes[i]]) {
      const NodeTie& tie = b.ties[t];
      if (tie.nodes[0] != nodes.nodes[i] || ring_of_[tie.nodes[1]] == 0) continue;
      const std::uint32_t other = nodes.place_of(tie.nodes[1]);
      const Vec3 along = nodes.x[other] - nodes.x[i];
      const float lighter = std::min(masses_[b.first + tie.nodes[0]], masses_[b.first + tie.nodes[1]]);
      nodes.springs.push_back({i, other, normalized(along), std::min(h * h * tie.stiffness, kStiffest * lighter)});
    }
  }
}

/// Contacts of shared nodes with what is rigid.
void ParticleEngine::share_rows(Body& b, SharedNodes& nodes) {
  nodes.rows.clear();
  const auto is_shared = [&](std::uint32_t node) { return ring_of_[node] != 0; };
  for_each_touch(b.touches, [&](ContactGroup& group, std::uint32_t i) {
    if (!is_shared(group.node + i)) return;
    nodes.rows.push_back({.count = 1,
                          .nodes = {nodes.place_of(group.node + i)},
                          .weights = {1},
                          .normal = group.normal_of(i),
                          .surface_velocity = lane_of(group.surface_velocity, i),
                          .gap = group.gap[i],
                          .friction = group.friction,
                          .impulse = group.impulse_of(i)});
    shared_rows_.push_back({.group = &group, .lane = i});
  });
  for (NodeContact& row : rigid_contacts_) {
    if (row.slot != b.id.index || !is_shared(row.node - b.first)) continue;
    nodes.rows.push_back({.count = 1,
                          .nodes = {nodes.place_of(row.node - b.first)},
                          .weights = {1},
                          .rigid = rigid_slots_[row.rigid],
                          .point = rigid_motions_[row.rigid].center + row.arm,
                          .normal = row.normal,
                          .gap = row.gap,
                          .friction = row.friction,
                          .impulse = row.impulse()});
    shared_rows_.push_back({.node = &row});
  }
  for (PointContact& row : point_contacts_) {
    const auto end = row.nodes.begin() + row.count;
    if (row.slot != b.id.index ||
        !std::all_of(row.nodes.begin(), end, [&](std::uint32_t node) { return is_shared(node - b.first); })) {
      continue;
    }
    SharedNodeRow shared{.count = row.count,
                         .weights = row.weights,
                         .normal = row.normal,
                         .surface_velocity = row.surface_velocity,
                         .gap = row.gap,
                         .friction = row.friction,
                         .impulse = row.impulse()};
    for (std::uint32_t k = 0; k < row.count; ++k) shared.nodes[k] = nodes.place_of(row.nodes[k] - b.first);
    if (row.rigid != kFixed) {
      shared.rigid = rigid_slots_[row.rigid];
      shared.point = rigid_motions_[row.rigid].center + row.arm;
    }
    nodes.rows.push_back(shared);
    shared_rows_.push_back({.point = &row});
  }
}

void ParticleEngine::take_back(const SharedBodies& shared) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < shared.count; ++i) {
    const SharedNodes& nodes = shared.bodies[i];
    const Body& b = body(nodes.id.index);
    for (std::size_t k = 0; k < nodes.nodes.size(); ++k) {
      Vec4& v = v_[b.first + nodes.nodes[k]];
      v.x += nodes.change[k].x, v.y += nodes.change[k].y, v.z += nodes.change[k].z;
    }
    for (const SharedNodeRow& row : nodes.rows) {
      const SharedRow& to = shared_rows_[next++];
      if (to.group) {
        to.group->set_impulse(to.lane, row.impulse);
      } else {
        to.node ? to.node->set_impulse(row.impulse) : to.point->set_impulse(row.impulse);
      }
    }
  }
}

}  // namespace pliant
