#include "solve/contact_rows.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

float push_distance(float gap, float h) { return std::min(-gap * kRecoveredPerStep, kMaxPushSpeed * h); }

void add(Vec4& v, Vec3 change) { v.x += change.x, v.y += change.y, v.z += change.z; }

/// Solves the three directions of one touch: normal first, then both of friction together, bounded by the cone.
/// `response` tells how the relative velocity answers an impulse along a direction; `apply` applies one.
template <typename Contact, typename Response, typename Apply>
void solve_contact(Contact& row, Vec3 velocity, float target, float normal_response, Response&& response,
                   Apply&& apply) {
  const float speed = dot(velocity, row.normal);
  const float normal_impulse = std::max(row.normal_impulse - (speed - target) / normal_response, 0.0f);
  const float change = normal_impulse - row.normal_impulse;
  row.normal_impulse = normal_impulse;

  const Vec3 slide = velocity - row.normal * speed;
  const float slide_speed = length(slide);
  Vec3 wanted = row.friction_impulse;
  if (slide_speed > 1e-9f) wanted -= slide / response(slide / slide_speed);
  wanted -= row.normal * dot(wanted, row.normal);
  const float bound = row.friction * normal_impulse, size = length(wanted);
  if (size > bound) wanted *= bound / size;
  const Vec3 friction_change = wanted - row.friction_impulse;
  row.friction_impulse = wanted;
  apply(row.normal * change + friction_change);
}

Vec3 velocity_of(const PointContact& row, std::span<const Vec4> v) {
  Vec3 sum{};
  for (std::size_t k = 0; k < row.count; ++k) sum += v[row.nodes[k]].xyz() * row.weights[k];
  return sum;
}

float response_of(const PointContact& row, std::span<const Vec4> v) {
  float response = 0;
  for (std::size_t k = 0; k < row.count; ++k) response += row.weights[k] * row.weights[k] * v[row.nodes[k]].w;
  return response;
}

void push_point(const PointContact& row, std::span<Vec4> v, std::span<RigidBodyMotion> rigid, Vec3 impulse) {
  for (std::size_t k = 0; k < row.count; ++k) add(v[row.nodes[k]], impulse * (row.weights[k] * v[row.nodes[k]].w));
  if (row.rigid != kFixed) rigid[row.rigid].push(-impulse, row.arm);
}

template <typename Row>
Vec3 weighted_velocity(const Row& row, std::span<const Vec4> v) {
  Vec3 sum{};
  for (std::size_t k = 0; k < 4; ++k) sum += v[row.nodes[k]].xyz() * row.weights[k];
  return sum;
}

/// How the relative velocity answers an impulse, in every direction.
template <typename Row>
float weighted_response(const Row& row, std::span<const Vec4> v) {
  float response = 0;
  for (std::size_t k = 0; k < 4; ++k) response += row.weights[k] * row.weights[k] * v[row.nodes[k]].w;
  return response;
}

template <typename Row>
void push_nodes(const Row& row, std::span<Vec4> v, Vec3 impulse) {
  for (std::size_t k = 0; k < 4; ++k) add(v[row.nodes[k]], impulse * (row.weights[k] * v[row.nodes[k]].w));
}

}  // namespace

float contact_target(float gap, float h) { return gap > 0 ? -gap / h : 0; }

void push_out(std::span<const NodeContact> rows, std::span<const Vec4> v, std::span<const RigidBodyMotion> rigid,
              std::span<Vec4> x, float h) {
  for (const NodeContact& row : rows) {
    if (v[row.node].w <= 0 || row.is_apart) continue;
    const Vec3 surface = row.rigid == kFixed ? row.surface_velocity : rigid[row.rigid].velocity_at(row.arm);
    const float gap = row.gap + h * dot(v[row.node].xyz() - surface, row.normal);
    if (gap < 0) add(x[row.node], row.normal * push_distance(gap, h));
  }
}

void push_out(std::span<const PointContact> rows, std::span<const Vec4> v, std::span<const RigidBodyMotion> rigid,
              std::span<Vec4> x, float h) {
  for (const PointContact& row : rows) {
    if (row.is_apart) continue;
    const float response = response_of(row, v);
    if (response <= 0) continue;
    const Vec3 surface = row.rigid == kFixed ? row.surface_velocity : rigid[row.rigid].velocity_at(row.arm);
    const float gap = row.gap + h * dot(velocity_of(row, v) - surface, row.normal);
    if (!(gap < 0)) continue;
    const Vec3 push = row.normal * (push_distance(gap, h) / response);
    for (std::size_t k = 0; k < row.count; ++k) add(x[row.nodes[k]], push * (row.weights[k] * v[row.nodes[k]].w));
  }
}

void push_out(std::span<const FeatureContact> rows, std::span<const Vec4> v, std::span<Vec4> x, float h) {
  for (const FeatureContact& row : rows) {
    float gap = row.gap_offset, response = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      gap += row.weights[k] * dot(row.normal, x[row.nodes[k]].xyz());
      response += row.weights[k] * row.weights[k] * v[row.nodes[k]].w;
    }
    if (!(gap < 0) || response <= 0) continue;
    const Vec3 push = row.normal * (push_distance(gap, h) / response);
    for (std::size_t k = 0; k < 4; ++k) add(x[row.nodes[k]], push * (row.weights[k] * v[row.nodes[k]].w));
  }
}

void warm_start(std::span<const NodeContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid) {
  for (const NodeContact& row : rows) {
    if (row.is_apart) continue;
    const Vec3 impulse = row.normal * row.normal_impulse + row.friction_impulse;
    add(v[row.node], impulse * v[row.node].w);
    if (row.rigid != kFixed) rigid[row.rigid].push(-impulse, row.arm);
  }
}

void warm_start(std::span<const PointContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid) {
  for (const PointContact& row : rows) {
    if (!row.is_apart) push_point(row, v, rigid, row.impulse());
  }
}

void warm_start(std::span<const FeatureContact> rows, std::span<Vec4> v) {
  for (const FeatureContact& row : rows) push_nodes(row, v, row.normal * row.normal_impulse + row.friction_impulse);
}

void warm_start(std::span<const AnchorRow> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid) {
  for (const AnchorRow& row : rows) {
    if (row.is_apart) continue;
    add(v[row.node], row.impulse * v[row.node].w);
    if (row.rigid != kFixed) rigid[row.rigid].push(-row.impulse, row.arm);
  }
}

void sweep(std::span<NodeContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid, float h) {
  for (NodeContact& row : rows) {
    if (row.is_apart) continue;
    Vec4& node = v[row.node];
    const float target = contact_target(row.gap, h);
    if (row.rigid == kFixed) {
      if (node.w <= 0) continue;
      solve_contact(
          row, node.xyz() - row.surface_velocity, target, node.w, [&](Vec3) { return node.w; },
          [&](Vec3 impulse) { add(node, impulse * node.w); });
    } else {
      RigidBodyMotion& body = rigid[row.rigid];
      const auto response = [&](Vec3 direction) { return node.w + body.response(row.arm, direction); };
      const float normal_response = response(row.normal);
      if (normal_response <= 0) continue;
      solve_contact(row, node.xyz() - body.velocity_at(row.arm), target, normal_response, response, [&](Vec3 impulse) {
        add(node, impulse * node.w);
        body.push(-impulse, row.arm);
      });
    }
  }
}

void sweep(std::span<PointContact> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid, float h) {
  for (PointContact& row : rows) {
    if (row.is_apart) continue;
    const float of_nodes = response_of(row, v);
    const auto response = [&](Vec3 direction) {
      return of_nodes + (row.rigid == kFixed ? 0 : rigid[row.rigid].response(row.arm, direction));
    };
    const float normal_response = response(row.normal);
    if (normal_response <= 0) continue;
    const Vec3 surface = row.rigid == kFixed ? row.surface_velocity : rigid[row.rigid].velocity_at(row.arm);
    solve_contact(row, velocity_of(row, v) - surface, contact_target(row.gap, h), normal_response, response,
                  [&](Vec3 impulse) { push_point(row, v, rigid, impulse); });
  }
}

void sweep(std::span<FeatureContact> rows, std::span<Vec4> v, float h) {
  for (FeatureContact& row : rows) {
    const float response = weighted_response(row, v);
    if (response <= 0) continue;
    solve_contact(
        row, weighted_velocity(row, v), contact_target(row.gap, h), response, [&](Vec3) { return response; },
        [&](Vec3 impulse) { push_nodes(row, v, impulse); });
  }
}

void sweep(std::span<AnchorRow> rows, std::span<Vec4> v, std::span<RigidBodyMotion> rigid) {
  for (AnchorRow& row : rows) {
    if (row.is_apart) continue;
    Vec4& node = v[row.node];
    if (row.rigid == kFixed) {
      if (node.w <= 0) continue;
      const Vec3 change = row.target - node.xyz();
      row.impulse += change / node.w;
      add(node, change);
      continue;
    }
    RigidBodyMotion& body = rigid[row.rigid];
    // How the difference of the two points' velocities answers an impulse: K = (w + 1/M) I − [r]× J⁻¹ [r]×.
    Mat3 response;
    for (std::size_t column = 0; column < 3; ++column) {
      Vec3 axis{};
      axis[column] = 1;
      const Vec3 answer =
          axis * (node.w + body.inverse_mass) + cross(body.inverse_inertia * cross(row.arm, axis), row.arm);
      for (std::size_t k = 0; k < 3; ++k) response(k, column) = answer[k];
    }
    const Vec3 wrong = row.target - (node.xyz() - body.velocity_at(row.arm));
    const Vec3 c0 = cross(response.rows[1], response.rows[2]), c1 = cross(response.rows[2], response.rows[0]),
               c2 = cross(response.rows[0], response.rows[1]);
    const float determinant = dot(response.rows[0], c0);
    if (!(determinant > 0)) continue;
    const Vec3 impulse = (c0 * wrong.x + c1 * wrong.y + c2 * wrong.z) / determinant;
    row.impulse += impulse;
    add(node, impulse * node.w);
    body.push(-impulse, row.arm);
  }
}

void sweep(std::span<TieRow> rows, std::span<Vec4> v) {
  for (TieRow& row : rows) {
    const float response = weighted_response(row, v);
    if (response <= 0 || row.is_apart) continue;
    const Vec3 change = (row.target - weighted_velocity(row, v)) / response;
    row.impulse += change;
    push_nodes(row, v, change);
  }
}

Vec3 relative_velocity(const TieRow& row, std::span<const Vec4> v) { return weighted_velocity(row, v); }
void push(const TieRow& row, std::span<Vec4> v, Vec3 impulse) { push_nodes(row, v, impulse); }

}  // namespace pliant
