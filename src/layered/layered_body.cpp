#include "layered/layered_body.h"

#include <algorithm>
#include <cmath>

#include "layered/layered_solver.h"
#include "layered/layered_system.h"
#include "math/free_rotation.h"

namespace pliant {
namespace {

/// Forces and its own weight press the layer to this share of its thickness at most; contacts, which have rows of their
/// own (layered_body_contact.cpp), a little less. Other ways, nodes go so many thicknesses of the layer at most.
constexpr float kThinnestOfAll = 0.1f, kFarthest = 2;
constexpr std::size_t kGrain = 32;

using Double8 = double __attribute__((vector_size(64)));
Double8 to_double(Float8 v) { return __builtin_convertvector(v, Double8); }

Quat rotation_by(Vec3d turn) {
  const double angle = length(turn);
  if (angle < 1e-12) return {};
  const Vec3d axis = turn * (std::sin(angle / 2) / angle);
  return Quat{float(axis.x), float(axis.y), float(axis.z), float(std::cos(angle / 2))};
}

Vector6 solve6(const Matrix6& m, const Vector6& right) {
  Cholesky6 factor;
  for (std::size_t i = 0; i < 36; ++i) factor.at(i / 6, i % 6) = m[i];
  factor.factor();
  return factor.solve(right);
}

Vector6 joined(Vec3d a, Vec3d b) { return {a.x, a.y, a.z, b.x, b.y, b.z}; }

}  // namespace

LayeredBody::LayeredBody(std::shared_ptr<const LayeredDef> def, std::shared_ptr<const LayeredLayer> layer)
    : def_(std::move(def)),
      layer_(std::move(layer)),
      system_(std::make_unique<LayeredSystem>()),
      solver_(std::make_unique<LayeredSolver>()) {
  for (LaneVectors* v : {&state_.displacement, &state_.plastic, &state_.elastic_velocity}) v->assign(node_count());
  set_transform({def_->position, def_->rotation.normalized()});
  set_velocity(def_->velocity, def_->angular_velocity);
}

LayeredBody::~LayeredBody() = default;

void LayeredBody::set_transform(const Transform& world_from_body) {
  state_.rotation = world_from_body.rotation.normalized();
  state_.position = Vec3d(world_from_body.position) + BodyAxes(state_.rotation).to_world(layer_->center());
}

Transform LayeredBody::world_from_body() const {
  const Vec3d origin = state_.position - BodyAxes(state_.rotation).to_world(layer_->center());
  return {origin.to_float(), state_.rotation};
}

void LayeredBody::set_velocity(Vec3 velocity, Vec3 angular_velocity) {
  for (std::size_t g = 0; g < layer_->groups(); ++g) state_.elastic_velocity.set_group(g, {});
  if (def_->core_is_fixed) return;
  Workers alone(1);
  const Vec3d turn(angular_velocity), arm = moments(alone).center();
  state_.velocity = joined(Vec3d(velocity) - cross(turn, arm), turn);
}

void LayeredBody::add_impulse(Vec3 impulse, Vec3 angular_impulse) {
  if (def_->core_is_fixed) return;
  Workers alone(1);
  const Moments sums = moments(alone);
  const Vec3d moment = Vec3d(angular_impulse) + cross(sums.center(), Vec3d(impulse));
  const Vector6 change = solve6(sums.mass, joined(Vec3d(impulse), moment));
  for (std::size_t k = 0; k < 6; ++k) state_.velocity[k] += change[k];
}

void LayeredBody::set_nodes(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  const BodyAxes axes(state_.rotation);
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    const Vec3d place = axes.to_body(Vec3d(positions[i]) - state_.position) - Vec3d(layer_->rest().get(i));
    state_.displacement.set(i, place.to_float());
  }
  for (std::uint32_t i = 0; i < velocities.size(); ++i) {
    state_.elastic_velocity.set(i, axes.to_body(velocities[i] - core_velocity_at(positions[i])));
  }
  state_.touches.clear();
}

void LayeredBody::push(Vec3 impulse, Vec3 angular_impulse) {
  const Vector6 added = joined(Vec3d(impulse), Vec3d(angular_impulse));
  for (std::size_t k = 0; k < 6; ++k) push_[k] += added[k];
}

float LayeredBody::slop() const { return std::min(5e-4f, 0.01f * layer_->cell()); }

LayeredTolerance LayeredBody::tolerance() const {
  // With contacts that may be wrong by all of the slop, which is more than stiff bodies are pressed in by, the centre
  // of pressure is anywhere.
  constexpr float kViolation = 0.2f, kLever = 0.1f;
  return {.residual = def_->tolerance,
          .max_iterations = def_->max_iterations,
          .violation = kViolation * slop(),
          .lever = kLever * layer_->cell()};
}

void LayeredBody::begin(Workers& workers, Vec3 gravity, float dt) {
  LayeredStart start;
  pushed_ = 0, is_driven_ = false;
  start.displacement = &state_.displacement, start.plastic = &state_.plastic;
  start.elastic_velocity = &state_.elastic_velocity;
  start.axes = BodyAxes(state_.rotation);
  start.velocity = state_.velocity;
  start.gravity = gravity;
  start.pushes = pushes_;
  start.core_impulse = {};
  start.mass_damping = def_->material.mass_damping, start.stiffness_damping = def_->material.stiffness_damping;
  start.core_is_fixed = def_->core_is_fixed;
  for (const CoreSpring& spring : def_->springs) {
    const Vec3d arm = start.axes.to_world(Vec3d(spring.point) - layer_->center());
    const Vec3d v = part_of(state_.velocity, 0) + cross(part_of(state_.velocity, 3), arm);
    const double k = static_cast<double>(spring.stiffness), d = static_cast<double>(spring.damping), h = dt;
    const Vec3d impulse = (state_.position + arm - Vec3d(spring.place)) * (-h * k) - v * (h * h * k + h * d);
    const Vector6 both = joined(impulse, cross(arm, impulse));
    for (std::size_t i = 0; i < 6; ++i) start.core_impulse[i] += both[i];
    const auto weight = static_cast<float>(h * h * k + h * d);
    add_point_block(start.core_extra, arm, {weight, weight, weight, 0, 0, 0});
  }
  // A push on all of the body acts on its core and nodes as their share of the motion that it gives the whole.
  if (push_ != Vector6{}) {
    const Moments whole = moments(workers);
    Vector6 about = push_;
    const Vec3d moment = part_of(push_, 3) + cross(whole.center(), part_of(push_, 0));
    for (std::size_t k = 0; k < 3; ++k) about[3 + k] = moment[k];
    const Vector6 motion = solve6(whole.mass, about);
    const Vec3 shift = rounded(motion, 0), turn = rounded(motion, 3);
    Vector6 core = about;
    for (std::uint32_t i = 0; i < node_count(); ++i) {
      const Vec3 arm = start.axes.to_world(layer_->rest().get(i) + state_.displacement.get(i));
      const Vec3 share = (shift + cross(turn, arm)) * layer_->masses()[i];
      pushes_.emplace_back(i, share);
      const Vector6 taken = joined(Vec3d(share), cross(Vec3d(arm), Vec3d(share)));
      for (std::size_t k = 0; k < 6; ++k) core[k] -= taken[k];
    }
    for (std::size_t k = 0; k < 6; ++k) start.core_impulse[k] += core[k];
    start.pushes = pushes_;
    const Vector6 of_core =
        solve6(start.axes.to_world(mass_matrix(layer_->core_mass(), layer_->core_inertia(), {})), core);
    pushed_ = 2 * dot(state_.velocity, core) + dot(of_core, core);
  }
  system_->begin(workers, *layer_, start, dt);
  is_limited_.assign(node_count(), 0);
  given_ = system_->whole_mass() * joined(Vec3d(start.gravity) * static_cast<double>(dt), {});
  for (const auto& [node, impulse] : pushes_) {
    const Vector6 both = joined(Vec3d(impulse), cross(Vec3d(system_->node_arm(node)), Vec3d(impulse)));
    for (std::size_t k = 0; k < 6; ++k) given_[k] += both[k];
    pushed_ += static_cast<double>(2 * dot(node_velocity(node), impulse) +
                                   length_squared(impulse) / std::max(layer_->masses()[node], 1e-30f));
  }
  for (std::size_t k = 0; k < 6; ++k) given_[k] += start.core_impulse[k];
  fall_ = Vec3d(gravity) * static_cast<double>(dt);
  pushes_.clear(), push_ = {};
}

void LayeredBody::take_velocities() {
  state_.velocity = system_->velocity();
  state_.elastic_velocity = system_->elastic_velocity();
}

SolveResult LayeredBody::solve_alone(Workers& workers, float dt) {
  const SolveResult result = solver_->solve(workers, *system_, tolerance(), dt);
  if (!result.converged && !system_->rows().empty()) bound_alone(workers, dt);
  if (!system_->rows().empty() || !def_->springs.empty() || def_->core_is_fixed) return result;
  // The solve keeps momentum to the rounding of floats; a body in flight keeps it better.
  const Vector6 missing = missing_impulse(workers);
  system_->add_whole(solve6(moments(workers).mass, missing));
  return result;
}

SolveResult LayeredBody::solve(Workers& workers, Vec3 gravity, float dt, std::span<const NodeTouch> touches) {
  begin(workers, gravity, dt);
  for (std::uint32_t i = 0; i < touches.size(); ++i) {
    add_row(touches[i], i, dt);
    add_floor(touches[i], i, dt);
    add_limit(touches[i].node, touches[i].surface_velocity, dt);
  }
  const SolveResult result = solve_alone(workers, dt);
  finish(touches, dt);
  return result;
}

LayeredBody::Moments LayeredBody::moments(Workers& workers) const {
  const BodyAxes axes(state_.rotation);
  const Vector6 body = axes.to_body(state_.velocity);
  const LaneVec3<Float8> shift = broadcast_vec8(rounded(body, 0)), turn = broadcast_vec8(rounded(body, 3));
  // In doubles: spin that is lost to rounding a thousand times over is seen.
  const std::size_t chunks = (layer_->groups() + kGrain - 1) / kGrain;
  parts_.assign(chunks, {});
  parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    Double8 to[kSums] = {};
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> u = layer_->rest().group(g) + state_.displacement.group(g);
      const LaneVec3<Float8> v = shift + cross(turn, u) + state_.elastic_velocity.group(g);
      const Double8 m = to_double(load8(layer_->masses() + 8 * g));
      const Double8 x = to_double(u.x), y = to_double(u.y), z = to_double(u.z);
      const Double8 px = m * to_double(v.x), py = m * to_double(v.y), pz = m * to_double(v.z);
      to[0] += px, to[1] += py, to[2] += pz;
      to[3] += y * pz - z * py, to[4] += z * px - x * pz, to[5] += x * py - y * px;
      to[6] += m, to[7] += m * x, to[8] += m * y, to[9] += m * z;
      to[10] += m * x * x, to[11] += m * y * y, to[12] += m * z * z;
      to[13] += m * x * y, to[14] += m * x * z, to[15] += m * y * z;
      to[16] += px * to_double(v.x) + py * to_double(v.y) + pz * to_double(v.z);
    }
    for (std::size_t k = 0; k < kSums; ++k) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) parts_[begin / kGrain][k] += to[k][lane];
    }
  });
  std::array<double, kSums> s{};
  for (const auto& part : parts_) {
    for (std::size_t k = 0; k < kSums; ++k) s[k] += part[k];
  }
  Matrix6 mass = mass_matrix(layer_->core_mass(), layer_->core_inertia(), {});
  Vector6 momentum = mass * body;
  const double kinetic = 0.5 * (dot(body, momentum) + s[16]);
  for (std::size_t k = 0; k < 6; ++k) momentum[k] += s[k];
  add_layer_mass(mass, s.data() + 6);
  return {axes.to_world(momentum), axes.to_world(mass), kinetic};
}

Vec3d LayeredBody::Moments::center() const { return center_of(mass); }

std::array<double, 9> LayeredBody::Moments::inertia() const {
  const Vec3d c = center();
  const Matrix6 of_point = mass_matrix(mass[0], {}, c);
  std::array<double, 9> out{};
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t at = 6 * (i / 3 + 3) + i % 3 + 3;
    out[i] = mass[at] - of_point[at];
  }
  return out;
}

/// Displacements go as far as they may, and what would take them further stops there. It only ever takes energy; what
/// it takes of momentum `advance` gives back to the whole.
void LayeredBody::move_nodes(std::size_t g, float dt) {
  const LaneVec3<Float8> n = layer_->inward().group(g);
  LaneVec3<Float8> e = state_.elastic_velocity.group(g), q = state_.displacement.group(g) + e * broadcast(dt);
  const Float8 zero{}, least = broadcast(1e-30f), squared = max(dot(n, n), least);
  const Float8 excess = dot(q, n) / squared - broadcast(1 - kThinnestOfAll);
  const auto is_deep = excess > zero;
  q = q - n * select(is_deep, excess, zero);
  e = e - n * select(is_deep, max(dot(e, n) / squared, zero), zero);
  const Float8 most = broadcast(kFarthest * layer_->thickness()), size = sqrt(dot(q, q));
  const auto is_far = size > most;
  const LaneVec3<Float8> along = q * (broadcast(1) / max(size, least));
  q = q - along * select(is_far, size - most, zero);
  e = e - along * select(is_far, max(dot(e, along), zero), zero);
  state_.displacement.set_group(g, q), state_.elastic_velocity.set_group(g, e);
}

void LayeredBody::advance(Workers& workers, float dt) {
  if (def_->core_is_fixed) {
    for (std::size_t g = 0; g < layer_->groups(); ++g) move_nodes(g, dt);
    return;
  }
  const Moments before = moments(workers);
  const double h = static_cast<double>(dt);
  // As a whole it turns as its spin says, and the core as much more as it is ahead of the whole.
  const Vec3d whole_spin = part_of(before.momentum, 3) - cross(before.center(), part_of(before.momentum, 0));
  const std::array<double, 9> inertia = before.inertia();
  const Vec3d ahead = part_of(state_.velocity, 3) - angular_velocity_of(inertia, whole_spin);
  turn_axes(workers, rotation_by(ahead * h) * free_rotation(inertia, whole_spin, h), dt);

  // The centre of mass goes where the momentum takes it, and the spin about it stays.
  const Moments after = moments(workers);
  const Vec3d momentum = part_of(before.momentum, 0), old_center = before.center(), new_center = after.center();
  const Vec3d spin = part_of(before.momentum, 3) - cross(old_center, momentum) + late_spin_;
  state_.position = state_.position + old_center + momentum * (h / before.mass[0]) - new_center;
  Vector6 missing = joined(momentum, spin + cross(new_center, momentum));
  for (std::size_t k = 0; k < 6; ++k) missing[k] -= after.momentum[k];
  const Vector6 change = solve6(after.mass, missing);
  for (std::size_t k = 0; k < 6; ++k) state_.velocity[k] += change[k];
}

/// Moves the nodes, and turns the axes by `step`, in world axes. Coriolis forces −2 ω × e turn the velocities against
/// the core by twice the angle the other way. (With absolute velocities kept as they are, nodes fall behind by 1 − cos
/// of the angle, and rings at 60 rad/s gain energy.)
void LayeredBody::turn_axes(Workers& workers, Quat step, float dt) {
  const BodyAxes before(state_.rotation);
  const Vec3d turn = before.to_body(part_of(state_.velocity, 3));
  const BodyAxes back(rotation_by(turn * (-2 * static_cast<double>(dt))));
  LaneMat3<Float8> turned;
  LaneVec3<Float8>* columns[3] = {&turned.c0, &turned.c1, &turned.c2};
  for (std::size_t k = 0; k < 3; ++k) {
    Vec3 axis;
    axis[k] = 1;
    *columns[k] = broadcast_vec8(back.to_world(axis));
  }
  parallel_for(workers, layer_->groups(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      move_nodes(g, dt);
      state_.elastic_velocity.set_group(g, turned * state_.elastic_velocity.group(g));
    }
  });
  state_.rotation = (step * state_.rotation).normalized();
}

void LayeredBody::settle(Workers&, float dt) {
  const SolidMaterial& material = def_->material;
  if (!material.is_plastic()) return;
  if (flow_.groups() != layer_->groups()) flow_.assign(node_count()), scratch_.assign(node_count());
  const float rate = std::min(1.0f, material.creep_rate * dt);
  bool flows = false;
  for (std::uint32_t i = 0; i < node_count(); ++i) {
    const Vec3 elastic = state_.displacement.get(i) - state_.plastic.get(i);
    const float thickness = length(layer_->inward().get(i)), size = length(elastic);
    const float excess = size - material.yield_strain * thickness;
    Vec3 flow;
    if (excess > 0) {
      flow = elastic * (rate * excess / size);
      const Vec3 wanted = state_.plastic.get(i) + flow;
      const float most = material.max_plastic_strain * thickness, length_now = length(wanted);
      if (length_now > most) flow = wanted * (most / length_now) - state_.plastic.get(i);
      flows = true;
    }
    flow_.set(i, flow);
  }
  if (!flows) return;
  // As much of the flow as takes most of the energy, and never adds any.
  double gain = 0, cost = 0;
  for (std::size_t g = 0; g < layer_->groups(); ++g) {
    scratch_.set_group(g, state_.displacement.group(g) - state_.plastic.group(g));
  }
  for (std::size_t g = 0; g < layer_->groups(); ++g) {
    const LaneVec3<Float8> flow = flow_.group(g);
    gain += static_cast<double>(sum(dot(flow, layer_->stiffness_times(g, scratch_))));
    cost += static_cast<double>(sum(dot(flow, layer_->stiffness_times(g, flow_))));
  }
  const double share = cost > 0 ? std::clamp(gain / cost, 0.0, 1.0) : 0;
  for (std::size_t g = 0; g < layer_->groups(); ++g) {
    const LaneVec3<Float8> flow = flow_.group(g) * broadcast(static_cast<float>(share));
    state_.plastic.set_group(g, state_.plastic.group(g) + flow);
  }
}

Vec3 LayeredBody::node_position(std::uint32_t node) const {
  const Vec3 u = layer_->rest().get(node) + state_.displacement.get(node);
  return (state_.position + Vec3d(state_.rotation.rotate(u))).to_float();
}

Vec3 LayeredBody::core_velocity_at(Vec3 point) const {
  return rounded(state_.velocity, 0) + cross(rounded(state_.velocity, 3), (Vec3d(point) - state_.position).to_float());
}

Vec3 LayeredBody::node_velocity(std::uint32_t node) const {
  return core_velocity_at(node_position(node)) + state_.rotation.rotate(state_.elastic_velocity.get(node));
}

void LayeredBody::copy_positions(Workers& workers, std::vector<Vec3>& out) const {
  out.resize(node_count());
  const BodyAxes axes(state_.rotation);
  const Vec3 origin = state_.position.to_float();
  parallel_for(workers, out.size(), kGrain * kLanes, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
      out[i] = origin + axes.to_world(layer_->rest().get(i) + state_.displacement.get(i));
    }
  });
}

void LayeredBody::copy_velocities(Workers& workers, std::vector<Vec3>& out) const {
  out.resize(node_count());
  const BodyAxes axes(state_.rotation);
  const Vec3 shift = rounded(state_.velocity, 0), turn = rounded(state_.velocity, 3);
  parallel_for(workers, out.size(), kGrain * kLanes, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
      const Vec3 arm = axes.to_world(layer_->rest().get(i) + state_.displacement.get(i));
      out[i] = shift + cross(turn, arm) + axes.to_world(state_.elastic_velocity.get(i));
    }
  });
}

LayeredTotals LayeredBody::totals(Workers& workers) const {
  const Moments sums = moments(workers);
  LayeredTotals out;
  out.mass = sums.mass[0];
  out.kinetic = sums.kinetic;
  out.center = state_.position + sums.center();
  out.momentum = part_of(sums.momentum, 0);
  out.spin = part_of(sums.momentum, 3) - cross(sums.center(), out.momentum);
  out.angular_velocity = part_of(state_.velocity, 3);
  return out;
}

/// J, `after` so many seconds at the velocities as they are.
double LayeredBody::energy_of_layer(Workers& workers, float after) const {
  if (stretched_.groups() != layer_->groups()) stretched_.assign(node_count());
  const std::size_t groups = layer_->groups();
  parts_.assign((groups + kGrain - 1) / kGrain, {});
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> way = state_.elastic_velocity.group(g) * broadcast(after);
      stretched_.set_group(g, state_.displacement.group(g) + way - state_.plastic.group(g));
    }
  });
  parallel_for(workers, groups, kGrain, [&](std::size_t begin, std::size_t end) {
    Float8 energy{};
    for (std::size_t g = begin; g < end; ++g) {
      energy += dot(stretched_.group(g), layer_->rounded_stiffness_times(g, stretched_));
    }
    parts_[begin / kGrain][0] = 0.5 * static_cast<double>(sum(energy));
  });
  double total = 0;
  for (const auto& part : parts_) total += part[0];
  return total;
}

double LayeredBody::elastic_energy(Workers& workers) const {
  double total = energy_of_layer(workers, 0);
  const BodyAxes axes(state_.rotation);
  for (const CoreSpring& spring : def_->springs) {
    const Vec3d point = state_.position + axes.to_world(Vec3d(spring.point) - layer_->center());
    total += 0.5 * static_cast<double>(spring.stiffness) * length_squared(point - Vec3d(spring.place));
  }
  return total;
}

bool LayeredBody::is_finite() const {
  const auto sound = [](const LaneVectors& v) {
    Float8 total{};
    for (std::size_t i = 0; i + 8 <= v.floats().size(); i += 8) total += load8(v.data() + i) * 0.0f;
    return sum(total) == 0;  // 0 · NaN and 0 · ∞ are NaN
  };
  return pliant::is_finite(state_.position) && pliant::is_finite(state_.rotation) &&
         pliant::is_finite(part_of(state_.velocity, 0)) && pliant::is_finite(part_of(state_.velocity, 3)) &&
         sound(state_.displacement) && sound(state_.elastic_velocity) && sound(state_.plastic);
}

}  // namespace pliant
