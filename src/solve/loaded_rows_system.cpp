// The linear system of a round: nodes by a sparse factor, rigid bodies by a dense one of what they see through it.
#include <algorithm>
#include <cmath>

#include "solve/block3.h"
#include "solve/loaded_rows.h"

namespace pliant {
namespace {

/// Numbers of a coupling for each node: six columns of three, padded to four.
constexpr std::size_t kColumns = 24;

/// a × v = skew(a) v.
Block3 skew(Vec3d a) { return {0, -a.z, a.y, a.z, 0, -a.x, -a.y, a.x, 0}; }

/// Infinite about axes that do not turn, or nearly so.
Block3 inertia_of(const Mat3& inverse) {
  Block3 m;
  double trace = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) m[3 * r + c] = static_cast<double>(inverse(r, c));
    trace += m[4 * r];
  }
  for (std::size_t k = 0; k < 3; ++k) m[4 * k] += 1e-9 * trace + 1e-12;
  const Vec3d rows[3] = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
  const Vec3d c[3] = {cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])};
  const double determinant = dot(rows[0], c[0]);
  Block3 out;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 3; ++k) out[3 * r + k] = c[k][r] / determinant;
  }
  return out;
}

/// Factors the lower half in place, with reciprocals of the pivots; n unknowns.
void factor_dense(std::vector<double>& a, std::size_t n) {
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
}

void solve_dense(const std::vector<double>& a, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= a[n * i + k] * x[k];
    x[i] *= a[n * i + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= a[n * k + i] * x[k];
    x[i] *= a[n * i + i];
  }
}

double dot_of_block(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The products of six columns with six others, of one node.
void add_products(const double* a, const double* b, double (&sums)[6][6]) {
  if (std::all_of(a, a + kColumns, [](double part) { return part == 0; })) return;
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t c = 0; c < 6; ++c) sums[r][c] += dot_of_block(a + 4 * r, b + 4 * c);
  }
}

}  // namespace

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
  added.direct.assign(kColumns * bodies_[body].given.v.size(), 0);
  return added;
}

void LoadedRows::add_rigid_matrix(const LoadedRow& row) {
  const Block3& w = row.matrix;
  const std::uint32_t number = rigid_number_[row.rigid];
  // The row feels −velocity − ω × arm = −velocity + arm × ω.
  const Block3 arm = skew(Vec3d(row.arm)), turned = w * arm;
  Coupling& coupled = coupling(row.body, number);
  for (std::uint32_t k = 0; k < row.count; ++k) {
    if (!is_moved(row.body, row.nodes[k])) continue;
    const double weight = static_cast<double>(row.weights[k]);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t r = 0; r < 3; ++r) {
        double* entry = &coupled.direct[kColumns * row.nodes[k] + 4 * c + r];
        entry[0] -= weight * w[3 * r + c];
        entry[12] += weight * turned[3 * r + c];
      }
    }
  }
  const Block3 spun = skew(Vec3d(row.arm)) * turned;  // −armᵀ w arm, as skew is antisymmetric
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
      const Block3 block = row.matrix * (static_cast<double>(row.weights[a]) * static_cast<double>(row.weights[b]));
      a == b ? factor.add_diagonal(row.nodes[a], block.data()) : factor.add(row.nodes[a], row.nodes[b], block.data());
    }
  }
  if (row.rigid != kFixed) add_rigid_matrix(row);
}

void LoadedRows::assemble(std::span<const RigidBodyMotion> rigid) {
  coupling_count_ = 0;
  const std::size_t n = 6 * rigid_list_.size();
  rigid_matrix_.assign(n * n, 0);
  for (std::size_t i = 0; i < rigid_list_.size(); ++i) {
    const RigidBodyMotion& motion = rigid[rigid_list_[i]];
    const Block3 inertia = inertia_of(motion.inverse_inertia);
    for (std::size_t r = 0; r < 3; ++r) {
      rigid_matrix_[(n + 1) * (6 * i + r)] =
          motion.inverse_mass > 0 ? 1 / static_cast<double>(motion.inverse_mass) : 1e12;
      for (std::size_t c = 0; c < 3; ++c) rigid_matrix_[n * (6 * i + 3 + r) + 6 * i + 3 + c] = inertia[3 * r + c];
    }
  }
  for (std::uint32_t b = 0; b < body_count_; ++b) {
    Body& body = bodies_[b];
    body.given.factor->clear();
    for (std::uint32_t i = 0; i < body.given.v.size(); ++i) {
      const double w = static_cast<double>(body.given.v[i].w);
      body.given.factor->add_diagonal(i, diagonal3(w > 0 ? 1 / w : 1).data());
    }
    for (const SharedSpring& spring : body.given.springs) {
      const Block3 block = outer(Vec3d(spring.along), static_cast<double>(spring.stiffness));
      if (is_moved(b, spring.a)) body.given.factor->add_diagonal(spring.a, block.data());
      if (is_moved(b, spring.b)) body.given.factor->add_diagonal(spring.b, block.data());
      if (is_moved(b, spring.a) && is_moved(b, spring.b)) {
        body.given.factor->add(spring.a, spring.b, (block * -1).data());
      }
    }
  }
  for (const LoadedRow& row : rows_) add_matrix(row);
}

/// What the rigid bodies see of the nodes: A_rr − C A⁻¹ Cᵀ, with A = L Lᵀ, as (L⁻¹ Cᵀ)ᵀ L⁻¹ Cᵀ.
void LoadedRows::factor(Workers& workers) {
  for (Body& body : bodies()) body.given.factor->factor(&workers);
  parallel_for(workers, coupling_count_, 1, [&](std::size_t begin, std::size_t end) {
    for (Coupling& c : couplings().subspan(begin, end - begin)) {
      c.through.resize(c.direct.size());
      bodies_[c.body].given.factor->solve_lower(c.direct.data(), 6, c.through.data());
    }
  });
  const std::size_t n = 6 * rigid_list_.size();
  for (const Coupling& a : couplings()) {
    for (const Coupling& b : couplings()) {
      if (b.body != a.body || b.rigid > a.rigid) continue;  // the lower half is enough
      double sums[6][6] = {};
      for (std::size_t at = 0; at < a.through.size(); at += kColumns) {
        add_products(&a.through[at], &b.through[at], sums);
      }
      for (std::size_t r = 0; r < 6; ++r) {
        for (std::size_t c = 0; c < 6; ++c) rigid_matrix_[n * (6 * a.rigid + r) + 6 * b.rigid + c] -= sums[r][c];
      }
    }
  }
  factor_dense(rigid_matrix_, n);
}

/// The changes of velocity that answer what rows ask for and what is missing, and each row's part of them.
void LoadedRows::find_steps() {
  rigid_x_.assign(6 * rigid_list_.size(), 0);
  for (Body& body : bodies()) body.x = body.missing;
  for (const LoadedRow& row : rows_) add_right_side(row);
  for (Body& body : bodies()) {
    body.y.resize(body.x.size());
    body.given.factor->solve_lower(body.x.data(), 1, body.y.data());
  }
  for (const Coupling& c : couplings()) {
    const std::vector<double>& y = bodies_[c.body].y;
    for (std::size_t i = 0; 4 * i < y.size(); ++i) {
      for (std::size_t k = 0; k < 6; ++k)
        rigid_x_[6 * c.rigid + k] -= dot_of_block(&c.through[kColumns * i + 4 * k], &y[4 * i]);
    }
  }
  solve_dense(rigid_matrix_, rigid_x_);
  for (const Coupling& c : couplings()) {
    std::vector<double>& y = bodies_[c.body].y;
    for (std::size_t i = 0; 4 * i < y.size(); ++i) {
      for (std::size_t k = 0; k < 6; ++k) {
        const double motion = rigid_x_[6 * c.rigid + k];
        for (std::size_t part = 0; part < 3; ++part) y[4 * i + part] -= c.through[kColumns * i + 4 * k + part] * motion;
      }
    }
  }
  for (Body& body : bodies()) body.given.factor->solve_upper(body.y.data(), body.x.data());
  for (LoadedRow& row : rows_) find_step(row);
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

}  // namespace pliant
