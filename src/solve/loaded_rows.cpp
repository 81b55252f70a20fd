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

using Block = Block3;

/// a × v = skew(a) v.
Block skew(Vec3d a) { return {0, -a.z, a.y, a.z, 0, -a.x, -a.y, a.x, 0}; }

/// Infinite about axes that do not turn, or nearly so.
Block inertia_of(const Mat3& inverse) {
  Block m;
  double trace = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) m[3 * r + c] = static_cast<double>(inverse(r, c));
    trace += m[4 * r];
  }
  for (std::size_t k = 0; k < 3; ++k) m[4 * k] += 1e-9 * trace + 1e-12;
  const Vec3d rows[3] = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
  const Vec3d c[3] = {cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])};
  const double determinant = dot(rows[0], c[0]);
  Block out;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 3; ++k) out[3 * r + k] = c[k][r] / determinant;
  }
  return out;
}

/// Factors in place (lower half, reciprocals of the pivots) and solves, n unknowns.
void solve_dense(std::vector<double>& a, std::vector<double>& x, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double pivot = a[n * j + j];
    const double before = pivot;
    for (std::size_t k = 0; k < j; ++k) pivot -= a[n * j + k] * a[n * j + k];
    const double inverse = pivot > 1e-14 * before ? 1 / std::sqrt(pivot) : 0;
    a[n * j + j] = inverse;
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = a[n * i + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[n * i + k] * a[n * j + k];
      a[n * i + j] = sum * inverse;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[n * i + k] * x[k];
    x[i] *= a[n * i + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[n * k + i] * x[k];
    x[i] *= a[n * i + i];
  }
}

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
  const RowAnswer answer = segment_answer(step, static_cast<double>(row.rest), stiffness, static_cast<double>(h));
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

void LoadedRows::number_rigid(std::span<const RigidBodyMotion> rigid) {
  rigid_number_.assign(rigid.size(), kFixed);
  rigid_list_.clear();
  for (const LoadedRow& row : rows_) {
    if (row.rigid == kFixed || rigid_number_[row.rigid] != kFixed) continue;
    rigid_number_[row.rigid] = static_cast<std::uint32_t>(rigid_list_.size());
    rigid_list_.push_back(row.rigid);
  }
}

LoadedRows::Coupling& LoadedRows::coupling(std::uint32_t body, std::uint32_t rigid) {
  const auto is_it = [&](const Coupling& c) { return c.body == body && c.rigid == rigid; };
  const auto known = couplings();
  const auto found = std::find_if(known.begin(), known.end(), is_it);
  if (found != known.end()) return *found;
  if (couplings_.size() == coupling_count_) couplings_.emplace_back();
  Coupling& added = couplings_[coupling_count_++];
  added.body = body, added.rigid = rigid;
  added.direct.assign(24 * bodies_[body].given.v.size(), 0);
  return added;
}

void LoadedRows::add_rigid_matrix(const LoadedRow& row) {
  const Block& w = row.matrix;
  const std::uint32_t number = rigid_number_[row.rigid];
  // The row feels −velocity − ω × arm = −velocity + arm × ω.
  const Block arm = skew(Vec3d(row.arm)), turned = w * arm;
  Coupling& coupled = coupling(row.body, number);
  const std::size_t column_size = 4 * bodies_[row.body].given.v.size();
  for (std::uint32_t k = 0; k < row.count; ++k) {
    if (!is_moved(row.body, row.nodes[k])) continue;
    const double weight = static_cast<double>(row.weights[k]);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t r = 0; r < 3; ++r) {
        coupled.direct[column_size * c + 4 * row.nodes[k] + r] -= weight * w[3 * r + c];
        coupled.direct[column_size * (3 + c) + 4 * row.nodes[k] + r] += weight * turned[3 * r + c];
      }
    }
  }
  const Block spun = skew(Vec3d(row.arm)) * turned;  // −armᵀ w arm, as skew is antisymmetric
  const std::size_t n = 6 * rigid_list_.size(), at = 6 * number;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      rigid_matrix_[n * (at + r) + at + c] += w[3 * r + c];
      rigid_matrix_[n * (at + r) + at + 3 + c] -= turned[3 * r + c];
      rigid_matrix_[n * (at + 3 + c) + at + r] -= turned[3 * r + c];
      rigid_matrix_[n * (at + 3 + r) + at + 3 + c] -= spun[3 * r + c];
    }
  }
}

void LoadedRows::add_matrix(const LoadedRow& row) {
  BlockCholesky3& factor = *bodies_[row.body].given.factor;
  for (std::uint32_t a = 0; a < row.count; ++a) {
    if (!is_moved(row.body, row.nodes[a])) continue;
    for (std::uint32_t b = 0; b <= a; ++b) {
      if (!is_moved(row.body, row.nodes[b])) continue;
      const Block block = row.matrix * (static_cast<double>(row.weights[a]) * static_cast<double>(row.weights[b]));
      a == b ? factor.add_diagonal(row.nodes[a], block.data()) : factor.add(row.nodes[a], row.nodes[b], block.data());
    }
  }
  if (row.rigid != kFixed) add_rigid_matrix(row);
}

void LoadedRows::add_right_side(const LoadedRow& row) {
  const Vec3d push = row.asked - row.applied;
  for (std::uint32_t k = 0; k < row.count; ++k) {
    if (!is_moved(row.body, row.nodes[k])) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      bodies_[row.body].x[4 * row.nodes[k] + c] += static_cast<double>(row.weights[k]) * push[c];
    }
  }
  if (row.rigid == kFixed) return;
  const Vec3d moment = cross(Vec3d(row.arm), push);
  double* x = &rigid_x_[6 * rigid_number_[row.rigid]];
  for (std::size_t c = 0; c < 3; ++c) x[c] -= push[c], x[3 + c] -= moment[c];
}

void LoadedRows::assemble(std::span<const RigidBodyMotion> rigid) {
  coupling_count_ = 0;
  const std::size_t n = 6 * rigid_list_.size();
  rigid_matrix_.assign(n * n, 0);
  rigid_x_.assign(n, 0);
  for (std::size_t i = 0; i < rigid_list_.size(); ++i) {
    const RigidBodyMotion& motion = rigid[rigid_list_[i]];
    const Block inertia = inertia_of(motion.inverse_inertia);
    for (std::size_t r = 0; r < 3; ++r) {
      rigid_matrix_[(n + 1) * (6 * i + r)] =
          motion.inverse_mass > 0 ? 1 / static_cast<double>(motion.inverse_mass) : 1e12;
      for (std::size_t c = 0; c < 3; ++c) rigid_matrix_[n * (6 * i + 3 + r) + 6 * i + 3 + c] = inertia[3 * r + c];
    }
  }
  for (std::uint32_t b = 0; b < body_count_; ++b) {
    Body& body = bodies_[b];
    body.x = body.missing;
    body.given.factor->clear();
    for (std::uint32_t i = 0; i < body.given.v.size(); ++i) {
      const double w = static_cast<double>(body.given.v[i].w);
      body.given.factor->add_diagonal(i, diagonal3(w > 0 ? 1 / w : 1).data());
    }
    for (const SharedSpring& spring : body.given.springs) {
      const Block block = outer(Vec3d(spring.along), static_cast<double>(spring.stiffness));
      if (is_moved(b, spring.a)) body.given.factor->add_diagonal(spring.a, block.data());
      if (is_moved(b, spring.b)) body.given.factor->add_diagonal(spring.b, block.data());
      if (is_moved(b, spring.a) && is_moved(b, spring.b)) {
        body.given.factor->add(spring.a, spring.b, (block * -1).data());
      }
    }
  }
  for (const LoadedRow& row : rows_) {
    add_matrix(row);
    add_right_side(row);
  }
}

/// What the rigid bodies see of the nodes: A_rr − C A⁻¹ Cᵀ.
void LoadedRows::factor_and_solve() {
  for (Body& body : bodies()) {
    body.given.factor->factor();
    body.given.factor->solve(body.x.data());
  }
  const std::size_t n = 6 * rigid_list_.size();
  for (Coupling& c : couplings()) {
    c.through = c.direct;
    const std::size_t size = c.direct.size() / 6;
    for (std::size_t k = 0; k < 6; ++k) bodies_[c.body].given.factor->solve(&c.through[k * size]);
  }
  for (const Coupling& a : couplings()) {
    const std::size_t size = a.direct.size() / 6;
    for (std::size_t r = 0; r < 6; ++r) {
      const double* direct = &a.direct[r * size];
      double& x = rigid_x_[6 * a.rigid + r];
      for (std::size_t i = 0; i < size; ++i) x -= direct[i] * bodies_[a.body].x[i];
      for (const Coupling& b : couplings()) {
        if (b.body != a.body) continue;
        for (std::size_t c = 0; c < 6; ++c) {
          double sum = 0;
          for (std::size_t i = 0; i < size; ++i) sum += direct[i] * b.through[c * size + i];
          rigid_matrix_[n * (6 * a.rigid + r) + 6 * b.rigid + c] -= sum;
        }
      }
    }
  }
  solve_dense(rigid_matrix_, rigid_x_, n);
  for (const Coupling& c : couplings()) {
    const std::size_t size = c.direct.size() / 6;
    for (std::size_t k = 0; k < 6; ++k) {
      const double motion = rigid_x_[6 * c.rigid + k];
      for (std::size_t i = 0; i < size; ++i) bodies_[c.body].x[i] -= c.through[k * size + i] * motion;
    }
  }
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

void LoadedRows::find_step(LoadedRow& row) const {
  Vec3d change{};
  for (std::uint32_t k = 0; k < row.count; ++k) {
    if (!is_moved(row.body, row.nodes[k])) continue;
    const double* d = &bodies_[row.body].x[4 * row.nodes[k]];
    change += Vec3d{d[0], d[1], d[2]} * static_cast<double>(row.weights[k]);
  }
  if (row.rigid != kFixed) {
    const double* d = &rigid_x_[6 * rigid_number_[row.rigid]];
    change = change - Vec3d{d[0], d[1], d[2]} - cross(Vec3d{d[3], d[4], d[5]}, Vec3d(row.arm));
  }
  row.change = change;
  row.step = row.asked - row.matrix * change - row.applied;
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
  for (LoadedRow& row : rows_) {
    find_step(row);
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

void LoadedRows::solve(std::span<RigidBodyMotion> rigid, int most_rounds, float h) {
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
    factor_and_solve();
    go(rigid, h);
  }
}

void LoadedRows::finish() {
  for (LoadedRow& row : rows_) row.impulse = row.applied.to_float();
}

}  // namespace pliant
