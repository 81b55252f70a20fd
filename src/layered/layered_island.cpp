#include "layered/layered_island.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// Jᵀ of a point: what an impulse at `arm` does to a motion.
Vector6 wrench(Vec3d impulse, Vec3d arm) {
  const Vec3d moment = cross(arm, impulse);
  return {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
}

/// −J_aᵀ W J_b.
Matrix6 pair_block(Vec3d arm_a, Vec3d arm_b, const LaneSym3<float>& w) {
  Matrix6 block{};
  for (std::size_t column = 0; column < 6; ++column) {
    Vec3d unit;
    unit[column % 3] = 1;
    const Vec3d v = column < 3 ? unit : cross(unit, arm_b);
    const Vec3d force{w.xx * v.x + w.xy * v.y + w.xz * v.z, w.xy * v.x + w.yy * v.y + w.yz * v.z,
                      w.xz * v.x + w.yz * v.y + w.zz * v.z};
    const Vector6 rows = wrench(-force, arm_a);
    for (std::size_t row = 0; row < 6; ++row) block[6 * row + column] = rows[row];
  }
  return block;
}

/// The inertia whose inverse this is; of a symmetric matrix.
std::array<double, 9> inverse_of(const Mat3& m) {
  const Vec3d a(m.rows[0]), b(m.rows[1]), c(m.rows[2]);
  const Vec3d x = cross(b, c), y = cross(c, a), z = cross(a, b);
  const double det = dot(a, x);
  return {x.x / det, y.x / det, z.x / det, x.y / det, y.y / det, z.y / det, x.z / det, y.z / det, z.z / det};
}

}  // namespace

void LayeredIsland::Rigid::add(Vector6& to, Vec3 impulse, Vec3 arm) const {
  const Vector6 both = wrench(Vec3d(impulse), Vec3d(arm));
  for (std::size_t k = 0; k < 6; ++k) to[k] += both[k];
}

void LayeredIsland::clear() { bodies_.clear(), rigids_.clear(); }

std::uint32_t LayeredIsland::add_rigid(const RigidBodyMotion& motion) {
  Rigid rigid;
  rigid.motion = motion;
  rigid.start = Vec3d(motion.velocity), rigid.angular_start = Vec3d(motion.angular_velocity);
  rigid.mass = mass_matrix(1 / static_cast<double>(motion.inverse_mass), inverse_of(motion.inverse_inertia), {});
  rigid.x = {rigid.start.x,         rigid.start.y,         rigid.start.z,
             rigid.angular_start.x, rigid.angular_start.y, rigid.angular_start.z};
  rigids_.push_back(rigid);
  return static_cast<std::uint32_t>(rigids_.size() - 1);
}

Vector6 LayeredIsland::given(std::uint32_t index) const {
  const Rigid& rigid = rigids_[index];
  const Vec3d start = rigid.start, turn = rigid.angular_start;
  const Vector6 before{start.x, start.y, start.z, turn.x, turn.y, turn.z};
  Vector6 change = rigid.x;
  for (std::size_t k = 0; k < 6; ++k) change[k] -= before[k];
  return rigid.mass * change;
}

Vec3 LayeredIsland::relative_velocity(const LayeredSystem& body, const LayeredRow& row) const {
  Vec3 v = body.node_velocity(row.node);
  if (row.rigid == LayeredRow::kOwnCore) v -= body.core_velocity_at(row.arm);
  if (row.rigid < rigids_.size()) v -= rigids_[row.rigid].velocity_at(row.arm);
  return v;
}

Vec3 LayeredIsland::impulse(const LayeredSystem& body, const LayeredRow& row) const {
  return row.impulse(relative_velocity(body, row));
}

/// From how easily the nodes give way, and from the heaviest member: a heavy body on a soft one must not sink in.
void LayeredIsland::set_penalties() {
  float heaviest = 0;
  for (const LayeredSystem* body : bodies_) heaviest = std::max(heaviest, static_cast<float>(body->mass()));
  for (const Rigid& rigid : rigids_) heaviest = std::max(heaviest, 1 / rigid.motion.inverse_mass);
  for (LayeredSystem* body : bodies_) {
    for (LayeredRow& row : body->rows()) {
      row.penalty = kSoftPenalty / (body->response(row.node, row.normal) + 1 / heaviest);
      if (!std::isfinite(row.penalty)) row.penalty = 0;
    }
  }
}

void LayeredIsland::add_impulses(float sign) {
  for (LayeredSystem* body : bodies_) {
    for (const LayeredRow& row : body->rows()) {
      const Vec3 push = row.impulse(relative_velocity(*body, row)) * sign;
      body->add_to_residual(row.node, push);
      if (row.rigid == LayeredRow::kOwnCore) body->add_to_core_residual(-push, row.arm);
      if (row.rigid < rigids_.size()) rigids_[row.rigid].add(rigids_[row.rigid].r, -push, row.arm);
    }
  }
}

/// Which members touch; once a step.
void LayeredIsland::analyze_whole() {
  pairs_.clear();
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    if (bodies_[i]->core_is_fixed()) continue;
    for (const LayeredRow& row : bodies_[i]->rows()) {
      if (row.rigid < rigids_.size()) pairs_.emplace_back(i, rigid_member(row.rigid));
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  whole_.analyze(bodies_.size() + rigids_.size(), pairs_);
  whole_x_.assign(kWholeStride * (bodies_.size() + rigids_.size()), 0);
}

void LayeredIsland::factor_whole() {
  whole_.clear();
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    const LayeredSystem& body = *bodies_[i];
    Matrix6 block = body.whole_mass();
    for (std::size_t k = 0; k < 36; ++k) block[k] += body.core_extra()[k];
    for (const LayeredRow& row : body.rows()) {
      if (!row.active || row.rigid == LayeredRow::kOwnCore) continue;
      const Vec3d arm(body.node_arm(row.node));
      const LaneSym3<float> w = row.block();
      add_point_block(block, arm, w);
      if (row.rigid >= rigids_.size()) continue;
      Matrix6 of_rigid{};
      add_point_block(of_rigid, Vec3d(row.arm), w);
      whole_.add_diagonal(rigid_member(row.rigid), of_rigid.data());
      if (!body.core_is_fixed()) whole_.add(i, rigid_member(row.rigid), pair_block(arm, Vec3d(row.arm), w).data());
    }
    whole_.add_diagonal(i, block.data());
  }
  for (std::uint32_t i = 0; i < rigids_.size(); ++i) whole_.add_diagonal(rigid_member(i), rigids_[i].mass.data());
  whole_.factor();
}

/// Returns r·z of this part.
double LayeredIsland::solve_whole() {
  const auto set = [&](std::size_t member, const Vector6& r) {
    std::copy(r.begin(), r.end(), whole_x_.begin() + static_cast<std::ptrdiff_t>(kWholeStride * member));
  };
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    set(i, bodies_[i]->core_is_fixed() ? Vector6{} : bodies_[i]->whole_residual());
  }
  for (std::uint32_t i = 0; i < rigids_.size(); ++i) set(rigid_member(i), rigids_[i].r);
  whole_.solve(whole_x_.data());
  double product = 0;
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    if (!bodies_[i]->core_is_fixed()) product += dot(bodies_[i]->whole_residual(), whole_part(i));
  }
  for (std::uint32_t i = 0; i < rigids_.size(); ++i) product += dot(rigids_[i].r, whole_part(rigid_member(i)));
  return product;
}

Vector6 LayeredIsland::whole_part(std::size_t member) const {
  Vector6 out;
  std::copy_n(whole_x_.begin() + static_cast<std::ptrdiff_t>(kWholeStride * member), 6, out.begin());
  return out;
}

/// The step along the direction, and r·z of what is left.
double LayeredIsland::take_step(Workers& workers, double step) {
  double product = 0;
  for (LayeredSystem* body : bodies_) product += body->take_step(workers, step);
  for (Rigid& rigid : rigids_) {
    for (std::size_t k = 0; k < 6; ++k) rigid.x[k] += step * rigid.p[k], rigid.r[k] -= step * rigid.q[k];
  }
  return product + solve_whole();
}

SolveResult LayeredIsland::iterate(Workers& workers, double threshold, int max_iterations) {
  SolveResult result;
  double product = take_step(workers, 0), beta = 0;
  for (;;) {
    result.residual = std::sqrt(std::max(product, 0.0));
    result.converged = result.residual <= threshold;
    if (result.converged || result.iterations >= max_iterations || !std::isfinite(product)) break;
    for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i]->turn_direction(workers, whole_part(i), beta);
    for (std::size_t i = 0; i < rigids_.size(); ++i) {
      const Vector6 z = whole_part(bodies_.size() + i);
      for (std::size_t k = 0; k < 6; ++k) rigids_[i].p[k] = z[k] + beta * rigids_[i].p[k];
      rigids_[i].q = rigids_[i].mass * rigids_[i].p;
    }
    double curvature = 0;
    for (LayeredSystem* body : bodies_) {
      curvature += body->multiply(workers, [&](const LayeredRow& row) {
        if (row.rigid == LayeredRow::kOwnCore) {
          return rounded(body->direction(), 0) + cross(rounded(body->direction(), 3), row.arm);
        }
        return row.rigid < rigids_.size() ? rigids_[row.rigid].direction_at(row.arm) : Vec3{};
      });
      for (std::size_t i = 0; i < body->rows().size(); ++i) {
        const LayeredRow& row = body->rows()[i];
        if (row.active && row.rigid < rigids_.size()) {
          rigids_[row.rigid].add(rigids_[row.rigid].q, -body->row_forces()[i], row.arm);
        }
      }
    }
    for (const Rigid& rigid : rigids_) curvature += dot(rigid.p, rigid.q);
    if (!(curvature > 0)) break;
    const double before = product;
    product = take_step(workers, before / curvature);
    beta = product / before;
    ++result.iterations;
  }
  return result;
}

/// What the residual still holds of the members' motions as a whole: momentum is then right to rounding.
void LayeredIsland::correct_whole() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i]->add_whole(whole_part(i));
  for (std::size_t i = 0; i < rigids_.size(); ++i) {
    const Vector6 z = whole_part(bodies_.size() + i);
    for (std::size_t k = 0; k < 6; ++k) rigids_[i].x[k] += z[k];
  }
}

/// True when what the rows do to the bodies as a whole stands still, or no longer moves anything, and no contact is
/// wrong by more than `allowed`, m/s. How friction is shared between neighbouring nodes may still change: it goes on
/// settling in the next step.
bool LayeredIsland::update_rows(float allowed, bool moves) {
  constexpr double kSteadyForce = 1e-2;
  double size = 0;
  float violation = 0;
  Vector6 sum{};
  for (LayeredSystem* body : bodies_) {
    for (LayeredRow& row : body->rows()) {
      const Vec3 v = relative_velocity(*body, row);
      if (row.active) violation = std::max(violation, -dot(v - row.target, row.normal));
      row.update(v);
      const Vector6 given = wrench(Vec3d(row.multiplier), Vec3d(body->node_arm(row.node)));
      for (std::size_t k = 0; k < 6; ++k) sum[k] += given[k];
      size += static_cast<double>(length(row.multiplier));
    }
  }
  double change = 0;
  for (std::size_t k = 0; k < 6; ++k) change = std::max(change, std::abs(sum[k] - last_sum_[k]));
  last_sum_ = sum;
  return (change <= kSteadyForce * size || !moves) && violation <= allowed;
}

SolveResult LayeredIsland::solve(Workers& workers, const LayeredTolerance& tolerance, float dt) {
  constexpr int kMostRounds = 16, kIterationsOfRound = 12;
  bool has_rows = false;
  last_sum_ = {};
  for (LayeredSystem* body : bodies_) {
    body->index_rows();
    has_rows = has_rows || !body->rows().empty();
    body->invert_diagonals(workers);
  }
  set_penalties();
  analyze_whole();
  factor_whole();
  const double scale = std::sqrt(std::max(take_step(workers, 0), 0.0));
  const double threshold = static_cast<double>(tolerance.residual) * scale;
  SolveResult result;
  if (!has_rows) {
    // Weight and all else that moves the body as a whole, at once.
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (!bodies_[i]->core_is_fixed()) bodies_[i]->remove_whole(workers, whole_part(i));
    }
    correct_whole();
    result = iterate(workers, threshold, tolerance.max_iterations);
    correct_whole();
  }
  for (LayeredSystem* body : bodies_) {
    for (LayeredRow& row : body->rows()) row.judge(relative_velocity(*body, row));
  }
  for (int round = 0; has_rows && round < kMostRounds && result.iterations < tolerance.max_iterations; ++round) {
    for (LayeredSystem* body : bodies_) {
      for (LayeredRow& row : body->rows()) row.begin_round();
    }
    add_impulses(1);
    for (LayeredSystem* body : bodies_) body->invert_diagonals(workers);
    factor_whole();
    const SolveResult part = iterate(workers, threshold, kIterationsOfRound);
    result.iterations += part.iterations;
    result.residual = part.residual;
    const bool settled = update_rows(tolerance.violation / dt, round == 0 || part.iterations > 1);
    result.converged = part.converged && settled;
    if (result.converged && round > 0) break;
    if (round + 1 < kMostRounds) add_impulses(-1);
  }
  if (has_rows) correct_whole();
  for (Rigid& rigid : rigids_) {
    rigid.motion.velocity = rounded(rigid.x, 0), rigid.motion.angular_velocity = rounded(rigid.x, 3);
  }
  result.residual = scale > 0 ? result.residual / scale : 0;
  return result;
}

}  // namespace pliant
