#include "solve/loaded_guest.h"

#include <algorithm>
#include <cmath>

#include "solve/block3.h"

namespace pliant {
namespace {

constexpr double kTolerance = 1e-3;
constexpr int kMostIterations = 400;
constexpr float kAllowedViolation = 5e-5f;  // m in a substep

Block3 full(const LaneSym3<float>& s) {
  const auto d = [](float f) { return static_cast<double>(f); };
  return {d(s.xx), d(s.xy), d(s.xz), d(s.xy), d(s.yy), d(s.yz), d(s.xz), d(s.yz), d(s.zz)};
}

}  // namespace

void LoadedGuest::clear(const Nodes& nodes, float h) {
  given_ = nodes;
  h_ = h;
  is_astray_ = false;
  segments_.clear(), touches_.clear();
}

int LoadedGuest::max_iterations() const { return kMostIterations; }
float LoadedGuest::allowed_violation() const { return kAllowedViolation; }

void LoadedGuest::begin(Workers&, std::span<const std::uint32_t> nodes) {
  nodes_.assign(nodes.begin(), nodes.end());
  const std::size_t count = given_.x.size();
  whole_.begin(
      count, [&](std::size_t i) { return given_.x[i].xyz(); },
      [&](std::size_t i) { return given_.v[i].w > 0 ? 1 / given_.v[i].w : 0.0f; });
  for (auto* vector : {&start_, &gain_, &x_, &r_, &z_, &p_, &q_}) vector->assign(count, {});
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vec3 v = given_.v[i].xyz(), before = given_.v_before[i].xyz();
    start_[i] = Vec3d(is_moved(i) ? before : v);
    if (is_moved(i)) gain_[i] = Vec3d(v - before);
  }
  // The springs' forces are in the velocities already, as are those of the springs' resistance to them.
  add_springs(gain_, r_);
  double squared = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    r_[i] += gain_[i] * whole_.mass_of(i);
    squared += length_squared(r_[i]);
  }
  forces_ = std::sqrt(squared);
}

void LoadedGuest::add_springs(std::span<const Vec3d> v, std::span<Vec3d> to) const {
  for (const SharedSpring& spring : given_.springs) {
    const Vec3d n(spring.along);
    const Vec3d pull = n * (static_cast<double>(spring.stiffness) * dot(n, v[spring.a] - v[spring.b]));
    if (is_moved(spring.a)) to[spring.a] += pull;
    if (is_moved(spring.b)) to[spring.b] += -pull;
  }
}

void LoadedGuest::get_arms(std::span<Vec3d> arms) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) arms[i] = whole_.arm(nodes_[i]);
}
void LoadedGuest::get_responses(std::span<LaneSym3<float>> responses) const {
  std::fill(responses.begin(), responses.end(), LaneSym3<float>{});
}
void LoadedGuest::get_velocities(std::span<Vec3> velocities) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) velocities[i] = velocity(nodes_[i]);
}
void LoadedGuest::get_directions(std::span<Vec3> directions) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) directions[i] = p_[nodes_[i]].to_float();
}

// --- Its own rows ----------------------------------------------------------------------------------------------------

RowAnswer LoadedGuest::judge(const Segment& segment) const {
  const auto end_of = [&](std::uint32_t node) {
    return Vec3d(given_.x[node].xyz()) + velocity_at(node) * static_cast<double>(h_);
  };
  return segment_answer(end_of(segment.nodes[1]) - end_of(segment.nodes[0]), segment.rest,
                        segment.softness > 0 ? std::min(1 / segment.softness, stiffness_) : stiffness_,
                        static_cast<double>(h_), segment.pushes);
}

Vec3d LoadedGuest::impulse_of(const Segment& segment) const {
  return segment.answer.impulse - segment.answer.matrix * (relative_velocity(segment) - segment.at);
}

float LoadedGuest::pull(const Segment& segment) const {
  if (is_astray_) return 0;
  const Vec3d step = Vec3d(given_.x[segment.nodes[1]].xyz() - given_.x[segment.nodes[0]].xyz());
  return static_cast<float>(dot(impulse_of(segment), normalized(step)));
}

Vec3 LoadedGuest::velocity_of(const Touch& touch) const {
  Vec3d sum{};
  for (std::uint32_t k = 0; k < touch.count; ++k) {
    sum += velocity_at(touch.nodes[k]) * static_cast<double>(touch.weights[k]);
  }
  return sum.to_float();
}

void LoadedGuest::start_rows(double heaviest) {
  stiffness_ = kLoadedStiffness * heaviest;
  for (Segment& segment : segments_) segment.next = judge(segment), segment.next_at = relative_velocity(segment);
  for (Touch& touch : touches_) {
    touch.penalty = static_cast<float>(stiffness_);
    touch.judge(velocity_of(touch));
  }
}

void LoadedGuest::begin_rows() {
  for (Segment& segment : segments_) segment.answer = segment.next, segment.at = segment.next_at;
  for (Touch& touch : touches_) touch.begin_round();
}

void LoadedGuest::add_row_impulses(float sign) {
  const auto push = [&](std::uint32_t node, Vec3d impulse) {
    if (is_moved(node)) r_[node] += impulse;
  };
  for (const Segment& segment : segments_) {
    const Vec3d given = impulse_of(segment) * static_cast<double>(sign);
    push(segment.nodes[0], -given), push(segment.nodes[1], given);
  }
  for (const Touch& touch : touches_) {
    const Vec3d given = Vec3d(impulse(touch)) * static_cast<double>(sign);
    for (std::uint32_t k = 0; k < touch.count; ++k) {
      push(touch.nodes[k], given * static_cast<double>(touch.weights[k]));
    }
  }
}

RowProgress LoadedGuest::update_rows() {
  RowProgress progress;
  for (Segment& segment : segments_) {
    segment.next = judge(segment), segment.next_at = relative_velocity(segment);
    progress.change += length_squared(segment.next.impulse - impulse_of(segment));
    progress.size += length_squared(segment.next.impulse);
  }
  for (Touch& touch : touches_) {
    const Vec3 v = velocity_of(touch);
    const float violation = touch.violation(v);
    const double change = touch.update(v);
    progress.add({change, static_cast<double>(length_squared(touch.multiplier)), violation});
  }
  return progress;
}

// --- A round ---------------------------------------------------------------------------------------------------------

void LoadedGuest::add_impulses(std::span<const Vec3> impulses) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (is_moved(nodes_[i])) r_[nodes_[i]] += Vec3d(impulses[i]);
  }
}

void LoadedGuest::add_masses_and_springs() {
  BlockCholesky3& factor = *given_.factor;
  for (std::uint32_t i = 0; i < x_.size(); ++i) {
    factor.add_diagonal(i, diagonal3(is_moved(i) ? whole_.mass_of(i) : 1.0).data());
  }
  for (const SharedSpring& spring : given_.springs) {
    const Block3 block = outer(Vec3d(spring.along), static_cast<double>(spring.stiffness));
    if (is_moved(spring.a)) factor.add_diagonal(spring.a, block.data());
    if (is_moved(spring.b)) factor.add_diagonal(spring.b, block.data());
    if (is_moved(spring.a) && is_moved(spring.b)) factor.add(spring.a, spring.b, (block * -1).data());
  }
}

void LoadedGuest::add_rows_to_factor() {
  BlockCholesky3& factor = *given_.factor;
  for (const Segment& segment : segments_) {
    const auto [a, b] = segment.nodes;
    if (is_moved(a)) factor.add_diagonal(a, segment.answer.matrix.data());
    if (is_moved(b)) factor.add_diagonal(b, segment.answer.matrix.data());
    if (is_moved(a) && is_moved(b)) factor.add(a, b, (segment.answer.matrix * -1).data());
  }
  for (const Touch& touch : touches_) {
    if (!touch.active) continue;
    const Block3 block = full(touch.block());
    for (std::uint32_t a = 0; a < touch.count; ++a) {
      if (!is_moved(touch.nodes[a])) continue;
      for (std::uint32_t b = 0; b <= a; ++b) {
        if (!is_moved(touch.nodes[b])) continue;
        const Block3 part = block * (static_cast<double>(touch.weights[a]) * static_cast<double>(touch.weights[b]));
        a == b ? factor.add_diagonal(touch.nodes[a], part.data())
               : factor.add(touch.nodes[a], touch.nodes[b], part.data());
      }
    }
  }
}

void LoadedGuest::set_blocks(Workers& workers, std::span<const LaneSym3<float>> blocks) {
  given_.factor->clear();
  add_masses_and_springs();
  add_rows_to_factor();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (is_moved(nodes_[i])) given_.factor->add_diagonal(nodes_[i], full(blocks[i]).data());
  }
  given_.factor->factor(&workers);
  double squared = 0;
  for (const Segment& segment : segments_) squared += length_squared(segment.answer.impulse);
  for (const Touch& touch : touches_) squared += static_cast<double>(length_squared(touch.multiplier));
  scale_ = forces_ + std::sqrt(squared);
}

double LoadedGuest::precondition(Workers&, double step) {
  packed_.assign(4 * x_.size(), 0);
  double squared = 0;
  for (std::uint32_t i = 0; i < x_.size(); ++i) {
    x_[i] += p_[i] * step;
    r_[i] += q_[i] * -step;
    squared += length_squared(r_[i]);
    for (std::size_t c = 0; c < 3; ++c) packed_[4 * i + c] = r_[i][c];
  }
  residual_ = std::sqrt(squared);
  given_.factor->solve(packed_.data());
  double product = 0;
  for (std::uint32_t i = 0; i < x_.size(); ++i) {
    z_[i] = {packed_[4 * i], packed_[4 * i + 1], packed_[4 * i + 2]};
    product += dot(r_[i], z_[i]);
  }
  return product;
}

Vector6 LoadedGuest::whole_force() const {
  return whole_.sum([&](std::size_t i) { return r_[i]; });
}

void LoadedGuest::set_whole_motion(const Vector6& motion) {
  for (std::size_t i = 0; i < z_.size(); ++i) z_[i] += whole_.motion_at(motion, i);
}

bool LoadedGuest::is_converged() const { return residual_ <= kTolerance * scale_; }

void LoadedGuest::renew_direction(Workers&, double beta) {
  for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = z_[i] + p_[i] * beta;
}

double LoadedGuest::multiply(Workers&) {
  for (std::size_t i = 0; i < p_.size(); ++i) q_[i] = p_[i] * whole_.mass_of(i);
  add_springs(p_, q_);
  const auto add = [&](std::uint32_t node, Vec3d force) {
    if (is_moved(node)) q_[node] += force;
  };
  for (const Segment& segment : segments_) {
    const Vec3d force = segment.answer.matrix * (p_[segment.nodes[1]] - p_[segment.nodes[0]]);
    add(segment.nodes[0], -force), add(segment.nodes[1], force);
  }
  for (const Touch& touch : touches_) {
    if (!touch.active) continue;
    Vec3d along{};
    for (std::uint32_t k = 0; k < touch.count; ++k) along += p_[touch.nodes[k]] * static_cast<double>(touch.weights[k]);
    const Vec3d force(touch.resist(along.to_float()));
    for (std::uint32_t k = 0; k < touch.count; ++k) add(touch.nodes[k], force * static_cast<double>(touch.weights[k]));
  }
  double product = 0;
  for (std::size_t i = 0; i < p_.size(); ++i) product += dot(p_[i], q_[i]);
  return product;
}

double LoadedGuest::add_to_product(std::span<const Vec3> forces) {
  double product = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_moved(nodes_[i])) continue;
    q_[nodes_[i]] += Vec3d(forces[i]);
    product += dot(p_[nodes_[i]], Vec3d(forces[i]));
  }
  return product;
}

// --- Afterwards ------------------------------------------------------------------------------------------------------

Vector6 LoadedGuest::missing_impulse(Workers&) {
  return whole_.sum([&](std::size_t i) { return (gain_[i] - x_[i]) * whole_.mass_of(i); });
}

void LoadedGuest::move(const Vector6& motion) {
  for (std::size_t i = 0; i < x_.size(); ++i) {
    if (whole_.is_moved(i)) x_[i] += whole_.motion_at(motion, i);
  }
}

std::optional<double> LoadedGuest::free_motion() const {
  return whole_.motion_squared([&](std::size_t i) { return Vec3d(given_.v[i].xyz()); });
}

double LoadedGuest::motion() const {
  return whole_.motion_squared([&](std::size_t i) { return velocity_at(static_cast<std::uint32_t>(i)); });
}

Vec3d LoadedGuest::momentum() const {
  return whole_.momentum([&](std::size_t i) { return velocity_at(static_cast<std::uint32_t>(i)); });
}

bool LoadedGuest::bound_motion(Workers&, double most, float) {
  const double now = motion();
  if (now <= most * most) return false;
  const double slower = most / std::sqrt(now);
  for (std::uint32_t i = 0; i < x_.size(); ++i) {
    if (is_moved(i)) x_[i] = velocity_at(i) * slower - start_[i];
  }
  is_astray_ = true;
  return true;
}

}  // namespace pliant
