#include "solve/loaded_rows.h"

#include <algorithm>
#include <cmath>

#include "solve/block3.h"

namespace pliant {
namespace {

/// A round that changes impulses by less than this share of all of them is the last.
constexpr double kTolerance = 5e-3;

/// m; a segment without length has no direction.
constexpr double kShortest = 1e-12;

}  // namespace

RowAnswer segment_answer(Vec3d step, double rest, double stiffness, double h, bool pushes) {
  const double size = std::max(length(step), kShortest);
  const Vec3d n = step / size;
  const double found = stiffness * (rest - size) / h;
  if (found >= 0) return pushes ? RowAnswer{n * found, outer(n, stiffness)} : RowAnswer{};
  const double turning = -h * found / size;
  return {n * found, outer(n, stiffness - turning) + diagonal3(turning)};
}

void LoadedRows::clear() {
  body_count_ = 0;
  is_started_ = false;
  rows_.clear();
}

std::uint32_t LoadedRows::add(const LoadedBody& body) {
  if (bodies_.size() == body_count_) bodies_.emplace_back();
  bodies_[body_count_].given = body;
  return static_cast<std::uint32_t>(body_count_++);
}

Vec3d LoadedRows::velocity(const LoadedRow& row, std::span<const RigidBodyMotion> rigid) const {
  Vec3d sum{};
  for (std::uint32_t k = 0; k < row.count; ++k) {
    sum += Vec3d(bodies_[row.body].given.v[row.nodes[k]].xyz()) * static_cast<double>(row.weights[k]);
  }
  if (row.rigid == kFixed) return sum;
  const RigidBodyMotion& motion = rigid[row.rigid];
  return sum - Vec3d(motion.velocity) - cross(Vec3d(motion.angular_velocity), Vec3d(row.arm));
}

/// Asks for what the velocities of now call for. Returns how far that is from what they have felt.
double LoadedRows::judge(LoadedRow& row, std::span<const RigidBodyMotion> rigid, float h) {
  const double stiffness = kLoadedStiffness * bodies_[row.body].given.load;
  if (row.law == LoadedLaw::Segment) {
    judge_segment(row, row.softness > 0 ? 1 / static_cast<double>(row.softness) : stiffness, h);
  } else {
    judge_contact(row, Vec3d(row.impulse) + (Vec3d(row.target) - velocity(row, rigid)) * stiffness, stiffness);
  }
  return length(row.asked - row.applied);
}

void LoadedRows::judge_segment(LoadedRow& row, double stiffness, float h) {
  const LoadedBody& body = bodies_[row.body].given;
  const auto end_of = [&](std::uint32_t i) {
    return Vec3d(body.x[i].xyz()) + Vec3d(body.v[i].xyz()) * static_cast<double>(h);
  };
  const Vec3d step = end_of(row.nodes[1]) - end_of(row.nodes[0]);
  const RowAnswer answer =
      segment_answer(step, static_cast<double>(row.rest), stiffness, static_cast<double>(h), row.pushes);
  row.normal = (step / std::max(length(step), kShortest)).to_float();
  row.asked = answer.impulse, row.matrix = answer.matrix;
}

/// Friction that slides is at its bound; the matrix takes it for a spring that is softer by as much.
void LoadedRows::judge_contact(LoadedRow& row, Vec3d trial, double stiffness) {
  const Vec3d n(row.normal);
  const double along = dot(trial, n);
  if (along <= 0) {
    row.asked = {}, row.matrix = {};
    return;
  }
  const Vec3d across = trial - n * along;
  const double bound = static_cast<double>(row.friction) * along, slide = length(across);
  const double grip = slide > bound ? bound / slide : 1;
  row.asked = n * along + across * grip;
  row.matrix = diagonal3(stiffness * grip) + outer(n, stiffness * (1 - grip));
}

void LoadedRows::apply(std::span<RigidBodyMotion> rigid, double share) {
  for (Body& body : bodies()) {
    for (std::uint32_t i = 0; i < body.given.v.size(); ++i) {
      Vec4& v = body.given.v[i];
      if (v.w <= 0) continue;
      const double* d = &body.x[4 * i];
      const Vec3 change = (Vec3d{d[0], d[1], d[2]} * share).to_float();
      v.x += change.x, v.y += change.y, v.z += change.z;
    }
  }
  for (std::size_t i = 0; i < rigid_list_.size(); ++i) {
    const double* d = &rigid_x_[6 * i];
    RigidBodyMotion& motion = rigid[rigid_list_[i]];
    motion.velocity += (Vec3d{d[0], d[1], d[2]} * share).to_float();
    motion.angular_velocity += (Vec3d{d[3], d[4], d[5]} * share).to_float();
  }
}

/// The search starts where the last substep ended: free velocities are those of light nodes that feel nothing of what
/// holds them, and far from any solution.
void LoadedRows::start() {
  is_started_ = true;
  for (Body& body : bodies()) {
    const LoadedBody& given = body.given;
    body.missing.assign(4 * given.v.size(), 0);
    const auto change = [&](std::uint32_t i) { return Vec3d(given.v[i].xyz() - given.v_before[i].xyz()); };
    const auto add = [&](std::uint32_t i, Vec3d push) {
      if (given.v[i].w <= 0) return;
      for (std::size_t c = 0; c < 3; ++c) body.missing[4 * i + c] += push[c];
    };
    for (std::uint32_t i = 0; i < given.v.size(); ++i) {
      if (given.v[i].w > 0) add(i, change(i) / static_cast<double>(given.v[i].w));
    }
    for (const SharedSpring& spring : given.springs) {
      const Vec3d n(spring.along);
      const Vec3d a = given.v[spring.a].w > 0 ? change(spring.a) : Vec3d{};
      const Vec3d b = given.v[spring.b].w > 0 ? change(spring.b) : Vec3d{};
      const Vec3d pull = n * (static_cast<double>(spring.stiffness) * dot(n, a - b));
      add(spring.a, pull), add(spring.b, -pull);
    }
    for (std::uint32_t i = 0; i < given.v.size(); ++i) {
      const float w = given.v[i].w;
      if (w > 0) given.v[i] = given.v_before[i], given.v[i].w = w;
    }
  }
}

double LoadedRows::missing_along() {
  double sum = 0;
  for (const Body& body : bodies()) {
    for (std::size_t i = 0; i < body.x.size(); ++i) sum += body.x[i] * body.missing[i];
  }
  return sum;
}

/// Goes along the step as far as it leads downhill. Where segments become taut or contacts close on the way it may lead
/// too far: what rows then ask for turns against it.
void LoadedRows::go(std::span<RigidBodyMotion> rigid, float h) {
  const double given = missing_along();
  double start = -given, inertia = given;
  for (const LoadedRow& row : rows_) {
    start += dot(row.change, row.applied - row.asked);
    inertia += dot(row.change, row.step);
  }
  if (!std::isfinite(start + inertia)) return;  // a body that is lost must not take others with it
  constexpr int kMostTrials = 6;
  constexpr double kEnough = 0.3, kLeast = 0.1;
  double share = 1;
  apply(rigid, 1);
  for (int trial = 0; trial < kMostTrials; ++trial) {
    double slope = share * inertia - given;
    for (LoadedRow& row : rows_) {
      judge(row, rigid, h);
      slope += dot(row.change, row.applied - row.asked);
    }
    if (slope <= -kEnough * start) break;
    const double next = share * std::clamp(start / (start - slope), kLeast, 1 - kLeast);
    apply(rigid, next - share);
    share = next;
  }
  for (LoadedRow& row : rows_) row.applied += row.step * share;
  for (Body& body : bodies()) {
    for (double& part : body.missing) part *= 1 - share;
  }
}

void LoadedRows::solve(Workers& workers, std::span<RigidBodyMotion> rigid, int most_rounds, float h) {
  number_rigid(rigid);
  const bool is_first = !is_started_;  // then the free velocities are still missing
  if (is_first) start();
  for (int round = 0; round < most_rounds; ++round) {
    double wrong = 0, size = 0;
    for (LoadedRow& row : rows_) {
      wrong += judge(row, rigid, h);
      size += length(row.asked);
    }
    if (!(is_first && round == 0) && wrong <= kTolerance * size) break;
    assemble(rigid);
    factor(workers);
    find_steps();
    go(rigid, h);
  }
}

void LoadedRows::finish() {
  for (LoadedRow& row : rows_) row.impulse = row.applied.to_float();
}

}  // namespace pliant
