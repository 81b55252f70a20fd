#include "particle/mass_spring.h"

#include <algorithm>

#include "math/node_lanes.h"
#include "particle/element_check.h"
#include "particle/rigid_part.h"

namespace pliant {

namespace {

constexpr std::size_t kGroupGrain = 128;
constexpr int kMostRounds = 4;        // of Newton's method; one is enough unless a stiff body bends far in a step
constexpr double kNearEnough = 0.02;  // of the body's energy: the error of the quadratic model that is let be

Float4 load(const Vec4& v) { return load4(&v.x); }
void store(Vec4& to, Float4 v) { store4(&to.x, v); }
double sum_of(Float4 a) { return double(a[0] + a[2]) + double(a[1] + a[3]); }

Status check(const MassSpringRest& rest) {
  for (std::size_t i = 0; i < rest.springs.size(); ++i) {
    const SpringTerm& s = rest.springs[i];
    if (!is_element(s.nodes, rest.node_count))
      return wrong_element("springs", i, "needs two different nodes of the body");
    if (!is_amount(s.rest_length) || !is_amount(s.stiffness) || !is_finite(s.rest_direction)) {
      return wrong_element("springs", i, "rest length and stiffness must be finite and not negative");
    }
  }
  for (std::size_t i = 0; i < rest.volumes.size(); ++i) {
    const VolumeTerm& t = rest.volumes[i];
    if (!is_element(t.nodes, rest.node_count))
      return wrong_element("volumes", i, "needs four different nodes of the body");
    if (!(t.rest_volume > 0) || !std::isfinite(t.rest_volume) || !is_amount(t.modulus)) {
      return wrong_element("volumes", i, "the rest volume must be positive, the modulus not negative");
    }
  }
  for (std::size_t i = 0; i < rest.enclosure.faces.size(); ++i) {
    if (!is_element(rest.enclosure.faces[i], rest.node_count)) {
      return wrong_element("enclosure.faces", i, "needs three different nodes of the body");
    }
  }
  if (!rest.enclosure.faces.empty() && (!(rest.enclosure.rest_volume > 0) || !is_amount(rest.enclosure.modulus))) {
    return wrong_value("enclosure", "the rest volume must be positive, the modulus not negative");
  }
  if (!is_amount(rest.damping_ratio) || !is_amount(rest.deviation_damping)) {
    return wrong_value("damping_ratio", "must be finite and not negative");
  }
  return {};
}

/// A spring's direction and length now.
struct Stretch {
  LaneVec3<Float8> toward;
  Float8 length;
};
Stretch stretch_of(const LaneVec3<Float8>& difference, Float8 rest_length, const LaneVec3<Float8>& fallback) {
  const Float8 length = sqrt(dot(difference, difference));
  const Int8 some = length > rest_length * 1e-6f;
  const LaneVec3<Float8> unit = difference * (1.0f / select(some, length, broadcast(1)));
  return {select(some, unit, fallback), length};
}

/// N·s/m of springs between nodes of these inverse masses.
Float8 damper(Float8 stiffness, Float8 inverse_masses, float ratio) {
  const Int8 moves = inverse_masses > 0;
  return select(moves, 2 * ratio * sqrt(stiffness / select(moves, inverse_masses, broadcast(1))), Float8{});
}

}  // namespace

/// The sum of `term(group)` over all groups of eight nodes.
template <typename Term>
double MassSpring::sum_groups(Workers& workers, Term&& term) {
  return parallel_reduce(
      workers, residual_.groups(), kGroupGrain, 0.0, partial_,
      [&](std::size_t begin, std::size_t end) {
        Float8 total{};
        for (std::size_t g = begin; g < end; ++g) total += term(g);
        return static_cast<double>(sum(total));
      },
      [](double a, double b) { return a + b; });
}

Result<MassSpring> MassSpring::create(MassSpringRest rest) {
  if (const Status status = check(rest); !status) return status.error();
  return MassSpring(std::move(rest));
}

MassSpring::MassSpring(MassSpringRest rest) : rest_(std::move(rest)) {
  std::vector<std::array<std::uint32_t, 2>> pairs;
  for (const SpringTerm& s : rest_.springs) pairs.push_back(s.nodes);
  spring_groups_ = LaneGroups<2>::build(pairs, rest_.node_count);
  std::vector<Tet> tets;
  for (const VolumeTerm& t : rest_.volumes) tets.push_back(t.nodes);
  volume_groups_ = LaneGroups<4>::build(tets, rest_.node_count);

  const std::size_t springs = spring_groups_.size(), volumes = volume_groups_.size();
  matrix_ = SpringMatrix(rest_.node_count, pairs, spring_groups_.slots, tets, volume_groups_.slots);
  spring_parts_.resize(kLanes * springs), corner_parts_.resize(SpringMatrix::corner_index(volumes, 0));
  length_ = stiffness_ = spring_energy_ = LaneValues(springs);
  for (LaneValues& toward : toward_) toward = LaneValues(springs);
  for (std::size_t i = 0; i < rest_.springs.size(); ++i) {
    const SpringTerm& s = rest_.springs[i];
    const std::uint32_t slot = spring_groups_.slots[i];
    length_.set(slot, s.rest_length), stiffness_.set(slot, s.stiffness);
    all_stiffness_ += static_cast<double>(s.stiffness);
    for (std::size_t c = 0; c < 3; ++c) toward_[c].set(slot, s.rest_direction[c]);
  }
  six_volume_ = LaneValues(volumes, 1);  // spare lanes have a volume too, and no modulus
  modulus_ = volume_energy_ = LaneValues(volumes);
  for (std::size_t i = 0; i < rest_.volumes.size(); ++i) {
    const std::uint32_t slot = volume_groups_.slots[i];
    six_volume_.set(slot, 6 * rest_.volumes[i].rest_volume), modulus_.set(slot, rest_.volumes[i].modulus);
  }
  const std::size_t nodes = rest_.node_count + 1;
  for (auto* array : {&position_, &velocity_, &target_, &force_, &memory_}) array->resize(nodes);
  for (auto* array : {&residual_, &direction_, &product_, &change_}) array->assign(rest_.node_count);
  if (!rest_.enclosure.faces.empty()) enclosure_area_.assign(rest_.node_count);
  mass_.resize(kLanes * residual_.groups()), inverse_.resize(6 * mass_.size());
  direction_nodes_.resize(mass_.size());
  partial_.reserve(residual_.groups() / kGroupGrain + 1);
}

void MassSpring::free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h) {
  if (!(h > 0) || v.size() != rest_.node_count || x.size() != rest_.node_count) return;
  const RigidPart before = rigid_part(x, v);
  iterations_ = 0;
  std::copy(v.begin(), v.end(), target_.begin());
  const double noise = rounding_energy(x);
  double start = guess(workers, x, before, noise, h);
  for (int round = 0;; ++round) {
    const double wanted = start - 0.5 * solve(workers, round == 0);
    const double reached = descend(workers, x, h, start);
    const bool near = std::abs(reached - wanted) <= kNearEnough * before.energy_about_center + 1e-3 * reached + noise;
    if (near || round + 1 == kMostRounds) break;
    start = assemble(workers, h);
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    store(memory_[i], load(velocity_[i]) - load(v[i]));
    v[i] = {velocity_[i].x, velocity_[i].y, velocity_[i].z, v[i].w};
  }
  keep_rigid_part(x, v, before, kept_share(rest_.deviation_damping, h), h);
}

/// Moves by `change_`, or by as much of it as makes the objective fall; returns the objective.
double MassSpring::descend(Workers& workers, std::span<const Vec4> x, float h, double start) {
  constexpr int kHalvings = 5;
  constexpr double kRounding = 1e-3;  // lengths in float leave no more of a small stretch's energy
  float scale = 1, applied = 0;
  for (int attempt = 0;; ++attempt, scale *= 0.5f) {
    const float more = attempt == kHalvings ? -applied : scale - applied;
    for (std::uint32_t i = 0; i < rest_.node_count; ++i) {
      const Vec3 change = change_.get(i) * more;
      store(velocity_[i], load(velocity_[i]) + Float4{change.x, change.y, change.z, 0});
      store(position_[i], load(x[i]) + h * load(velocity_[i]));
    }
    applied += more;
    const double reached = potential(workers, h) + inertia();
    if (reached <= start * (1 + kRounding) || attempt == kHalvings) return reached;
  }
}

/// ½ (velocity − target)ᵀ M (velocity − target), J.
double MassSpring::inertia() const {
  double total = 0;
  for (std::size_t i = 0; i < rest_.node_count; ++i) {
    const Float4 change = load(velocity_[i]) - load(target_[i]);
    total += static_cast<double>(mass_[i]) * sum_of(change * change);
  }
  return total / 2;
}

double MassSpring::elastic_energy(Workers& workers, std::span<const Vec4> x) {
  if (x.size() != rest_.node_count) return 0;
  std::copy(x.begin(), x.end(), position_.begin());
  std::fill(velocity_.begin(), velocity_.end(), Vec4{});
  return potential(workers, 0);
}

/// J, that springs seem to hold because places are rounded. It is all there is of a body that falls undeformed, and
/// neither Newton's method nor a better guess makes it less.
double MassSpring::rounding_energy(std::span<const Vec4> x) const {
  constexpr double kRounded = 1.2e-7;
  Float4 far{};
  for (const Vec4& node : x) {
    const Float4 at = load(node), size = at < 0 ? -at : at;
    far = size > far ? size : far;
  }
  const double rounding = kRounded * static_cast<double>(std::max({far[0], far[1], far[2]}));
  return 0.5 * all_stiffness_ * rounding * rounding;
}

/// The velocity to begin with in `velocity_`, assembled; returns its objective.
double MassSpring::guess(Workers& workers, std::span<const Vec4> x, const RigidPart& rigid, double noise, float h) {
  predict(x, rigid, h, 1);
  if (rigid.held) return assemble(workers, h);
  const double soft = potential(workers, h) + inertia();
  if (soft > rigid.energy_about_center + noise) {
    // More than all the energy the body has: so stiff a body will do little but move rigidly.
    predict(x, rigid, h, 0);
    const double stiff = potential(workers, h) + inertia();
    if (!(stiff < soft)) predict(x, rigid, h, 1);
  }
  return assemble(workers, h);
}

/// The rigid part of the target along arcs, and a share of the rest. Along tangents a body that spins would grow by
/// (ωh)²/2, which for a stiff one is more energy than it has.
void MassSpring::predict(std::span<const Vec4> x, const RigidPart& rigid, float h, float share) {
  const RigidTurn turn(rigid, h);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float w = target_[i].w;
    Vec3 u = target_[i].xyz();
    if (w > 0) {
      const Vec3 along = rigid.at(Vec3d(x[i].xyz())).to_float();
      u = along + share * (u - along) + turn.arc_velocity(x[i].xyz());
    }
    velocity_[i] = {u.x, u.y, u.z, w};
    store(position_[i], load(x[i]) + h * load(velocity_[i]));
    mass_[i] = w > 0 ? 1 / w : 0;
  }
}

/// The objective's downhill direction in `residual_`, and its matrix M + h² K + h C with the inverses of its diagonal
/// blocks. Returns the objective.
double MassSpring::assemble(Workers& workers, float h) {
  for (std::size_t i = 0; i < rest_.node_count; ++i) {
    store(force_[i], mass_[i] * (load(target_[i]) - load(velocity_[i])));
  }
  spring_groups_.sweep(workers, [&](std::size_t group) { assemble_springs(group, h); });
  volume_groups_.sweep(workers, [&](std::size_t group) { assemble_volumes(group, h); });
  if (!rest_.enclosure.faces.empty()) assemble_enclosure(h);
  for (std::uint32_t i = 0; i < rest_.node_count; ++i) residual_.set(i, force_[i].xyz());
  matrix_.assemble(workers, spring_parts_.data(), corner_parts_.data());
  parallel_for(workers, residual_.groups(), kGroupGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) invert_diagonal(g);
  });
  return gathered_energy() + inertia();
}

void MassSpring::invert_diagonal(std::size_t g) {
  const Float8 mass = load8(&mass_[kLanes * g]);
  LaneSym3<Float8> block = matrix_.blocks().diagonal(g);
  block.xx += mass, block.yy += mass, block.zz += mass;
  if (!rest_.enclosure.faces.empty()) {
    const LaneVec3<Float8> area = enclosure_area_.group(g);
    const Float8 scale = broadcast(enclosure_scale_);
    block = block + LaneSym3<Float8>{area.x * area.x, area.y * area.y, area.z * area.z,
                                     area.x * area.y, area.x * area.z, area.y * area.z} *
                        scale;
  }
  // In units of its size, so that neither large nor small ones leave the range of floats.
  const Int8 moves = (mass > 0) & (block.trace() > 0);
  const Float8 per_size = 1 / select(moves, block.trace(), broadcast(1));
  const LaneSym3<Float8> scaled = block * per_size;
  const Float8 volume = determinant(scaled);
  // Rounding may leave nothing of the least eigenvalue, which is the mass or more: then the trace stands for all.
  const Int8 is_safe = volume > 1e-6f;
  const LaneSym3<Float8> inverse = adjugate(scaled) * (per_size / select(is_safe, volume, broadcast(1)));
  const Float8 plain = 3 * per_size;
  const LaneSym3<Float8> chosen = select(is_safe, inverse, LaneSym3<Float8>{plain, plain, plain, {}, {}, {}});
  store_sym8(&inverse_[48 * g], select(moves, chosen, LaneSym3<Float8>{}));
}

void MassSpring::assemble_springs(std::size_t g, float h) {
  const auto& nodes = spring_groups_.groups[g].node;
  const NodeLanes a = load_nodes(position_.data(), nodes[0]), b = load_nodes(position_.data(), nodes[1]);
  const NodeLanes va = load_nodes(velocity_.data(), nodes[0]), vb = load_nodes(velocity_.data(), nodes[1]);
  const Float8 rest = length_.load(g), k = stiffness_.load(g);
  const auto [toward, length] =
      stretch_of(b.xyz - a.xyz, rest, {toward_[0].load(g), toward_[1].load(g), toward_[2].load(g)});
  const Float8 c = damper(k, va.w + vb.w, rest_.damping_ratio);
  const Float8 speed = dot(toward, vb.xyz - va.xyz);
  const Float8 impulse = h * (k * (length - rest) + c * speed);
  // A compressed spring would like to buckle: its negative stiffness across is left out.
  const Float8 tension = max(1 - rest / max(length, broadcast(1e-30f)), Float8{});
  const Float8 across = h * h * k * tension, along = h * h * k * (1 - tension) + h * c;
  store_nodes(&spring_parts_[kLanes * g], {toward * sqrt(along), across});
  spring_energy_.store(g, 0.5f * (k * (length - rest) * (length - rest) + h * c * speed * speed));
  add_nodes(force_.data(), nodes[0], {toward * impulse, Float8{}});
  add_nodes(force_.data(), nodes[1], {toward * -impulse, Float8{}});
}

void MassSpring::assemble_volumes(std::size_t g, float h) {
  const auto& nodes = volume_groups_.groups[g].node;
  const LaneVec3<Float8> o = load_nodes(position_.data(), nodes[3]).xyz;
  LaneVec3<Float8> e[3];
  for (int i = 0; i < 3; ++i) e[i] = load_nodes(position_.data(), nodes[i]).xyz - o;
  // Six volumes of (a, b, c, d) seen from d: −(a × b)·c.
  const LaneVec3<Float8> area[3] = {cross(e[2], e[1]), cross(e[0], e[2]), cross(e[1], e[0])};
  const Float8 rest = six_volume_.load(g), modulus = modulus_.load(g);
  const Float8 excess = dot(area[2], e[2]) / rest - 1;
  volume_energy_.store(g, modulus * rest * excess * excess * (1.0f / 12));
  const Float8 impulse = -h * modulus * excess * (1.0f / 6);
  const Float8 scale = h * sqrt(modulus / (6 * rest));
  LaneVec3<Float8> last;
  for (int i = 0; i < 3; ++i) {
    store_nodes(&corner_parts_[SpringMatrix::corner_index(g, static_cast<std::size_t>(i))], {area[i] * scale});
    last = last - area[i];
    add_nodes(force_.data(), nodes[i], {area[i] * impulse, Float8{}});
  }
  store_nodes(&corner_parts_[SpringMatrix::corner_index(g, 3)], {last * scale});
  add_nodes(force_.data(), nodes[3], {last * impulse, Float8{}});
}

/// The volume within the surface; its derivatives by the nodes go to `enclosure_area_`.
double MassSpring::enclosed_volume_gradient() {
  std::fill(enclosure_area_.floats().begin(), enclosure_area_.floats().end(), 0.0f);
  const Vec3 origin = position_[rest_.enclosure.faces[0][0]].xyz();
  double six = 0;
  for (const Face& face : rest_.enclosure.faces) {
    Vec3 p[3];
    for (std::size_t i = 0; i < 3; ++i) p[i] = position_[face[i]].xyz() - origin;
    six += static_cast<double>(dot(p[0], cross(p[1], p[2])));
    // A third of the face's area vector for each corner: the same as the derivative once the surface is closed.
    const Vec3 area = cross(p[1] - p[0], p[2] - p[0]) / 6;
    for (const std::uint32_t node : face) enclosure_area_.add(node, area);
  }
  const double rest = rest_.enclosure.rest_volume, excess = six / 6 / rest - 1;
  enclosure_energy_ = 0.5 * static_cast<double>(rest_.enclosure.modulus) * rest * excess * excess;
  return six / 6;
}

void MassSpring::assemble_enclosure(float h) {
  const float modulus = rest_.enclosure.modulus, rest = rest_.enclosure.rest_volume;
  const float excess = static_cast<float>(enclosed_volume_gradient() / static_cast<double>(rest) - 1);
  enclosure_scale_ = h * h * modulus / rest;
  for (std::uint32_t i = 0; i < rest_.node_count; ++i) {
    const Vec3 impulse = enclosure_area_.get(i) * (-h * modulus * excess);
    store(force_[i], load(force_[i]) + Float4{impulse.x, impulse.y, impulse.z, 0});
  }
}

/// The elastic energy at `position_`, and what the dampers take from `velocity_` in h.
double MassSpring::potential(Workers& workers, float h) {
  spring_groups_.sweep(workers, [&](std::size_t g) {
    const auto& nodes = spring_groups_.groups[g].node;
    const NodeLanes a = load_nodes(position_.data(), nodes[0]), b = load_nodes(position_.data(), nodes[1]);
    const NodeLanes va = load_nodes(velocity_.data(), nodes[0]), vb = load_nodes(velocity_.data(), nodes[1]);
    const Float8 rest = length_.load(g), k = stiffness_.load(g);
    const auto [toward, length] = stretch_of(b.xyz - a.xyz, rest, {});
    const Float8 c = h * damper(k, va.w + vb.w, rest_.damping_ratio), speed = dot(toward, vb.xyz - va.xyz);
    spring_energy_.store(g, 0.5f * (k * (length - rest) * (length - rest) + c * speed * speed));
  });
  volume_groups_.sweep(workers, [&](std::size_t g) {
    const auto& nodes = volume_groups_.groups[g].node;
    const LaneVec3<Float8> o = load_nodes(position_.data(), nodes[3]).xyz;
    LaneVec3<Float8> e[3];
    for (int i = 0; i < 3; ++i) e[i] = load_nodes(position_.data(), nodes[i]).xyz - o;
    const Float8 rest = six_volume_.load(g), excess = dot(cross(e[1], e[0]), e[2]) / rest - 1;
    volume_energy_.store(g, modulus_.load(g) * rest * excess * excess * (1.0f / 12));
  });
  if (!rest_.enclosure.faces.empty()) enclosed_volume_gradient();
  return gathered_energy();
}

double MassSpring::gathered_energy() const {
  double energy = enclosure_energy_;
  for (std::size_t g = 0; g < spring_groups_.size(); ++g) energy += static_cast<double>(sum(spring_energy_.load(g)));
  for (std::size_t g = 0; g < volume_groups_.size(); ++g) energy += static_cast<double>(sum(volume_energy_.load(g)));
  return energy;
}

/// Conjugate gradients on M + h² K + h C times `change_` is `residual_`, from zero; the first direction is last step's
/// change, which is the answer for a body at rest. Returns `residual_`ᵀ `change_`: twice what the objective should
/// fall.
double MassSpring::solve(Workers& workers, bool remember) {
  std::fill(change_.floats().begin(), change_.floats().end(), 0.0f);
  double size = advance(workers, 0), gain = 0;
  const double enough = size * static_cast<double>(rest_.tolerance) * static_cast<double>(rest_.tolerance);
  if (remember) {
    for (std::uint32_t i = 0; i < rest_.node_count; ++i) {
      const Vec3 change = mass_[i] > 0 ? memory_[i].xyz() : Vec3{};
      direction_.set(i, change);
      direction_nodes_[i] = {change.x, change.y, change.z, 0};
    }
    const double slope = dot_of(workers, direction_, residual_), curvature = multiply(workers);
    if (curvature > 0 && std::isfinite(curvature)) {
      size = advance(workers, static_cast<float>(slope / curvature));
      gain = slope * slope / curvature;
    }
  }
  float keep = 0;
  for (int i = 0; size > enough && size > 1e-30 && i < rest_.most_iterations; ++i) {
    turn(workers, keep);
    const double curvature = multiply(workers);
    if (!(curvature > 0) || !std::isfinite(size)) break;
    gain += size * size / curvature;
    const double next = advance(workers, static_cast<float>(size / curvature));
    keep = static_cast<float>(next / size);
    size = next;
    ++iterations_;
  }
  return gain;
}

/// Goes `step` along `direction_`; returns the square of the residual that is left, as the preconditioner measures it.
double MassSpring::advance(Workers& workers, float step) {
  return sum_groups(workers, [&](std::size_t g) {
    if (step != 0) {
      const Float8 way = broadcast(step);
      change_.set_group(g, change_.group(g) + direction_.group(g) * way);
      residual_.set_group(g, residual_.group(g) - product_.group(g) * way);
    }
    const LaneVec3<Float8> r = residual_.group(g);
    return dot(r, load_sym8(&inverse_[48 * g]) * r);
  });
}

void MassSpring::turn(Workers& workers, float keep) {
  parallel_for(workers, residual_.groups(), kGroupGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      const LaneVec3<Float8> p =
          load_sym8(&inverse_[48 * g]) * residual_.group(g) + direction_.group(g) * broadcast(keep);
      direction_.set_group(g, p);
      store_nodes(&direction_nodes_[kLanes * g], {p});
    }
  });
}

double MassSpring::dot_of(Workers& workers, const LaneVectors& a, const LaneVectors& b) {
  return sum_groups(workers, [&](std::size_t g) { return dot(a.group(g), b.group(g)); });
}

/// The matrix times `direction_` in `product_`; returns their product.
double MassSpring::multiply(Workers& workers) {
  const bool is_enclosed = !rest_.enclosure.faces.empty();
  const Float8 change =
      broadcast(is_enclosed ? enclosure_scale_ * static_cast<float>(dot_of(workers, enclosure_area_, direction_)) : 0);
  return sum_groups(workers, [&](std::size_t g) {
    const LaneVec3<Float8> p = direction_.group(g);
    LaneVec3<Float8> q = p * load8(&mass_[kLanes * g]) + matrix_.blocks().differences(g, p, direction_nodes_.data());
    if (is_enclosed) q = q + enclosure_area_.group(g) * change;
    product_.set_group(g, q);
    return dot(p, q);
  });
}

}  // namespace pliant
