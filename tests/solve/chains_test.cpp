// Chains against a dense solve of the same rows, and against the laws they must keep.
#include "solve/chains.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace pliant {
namespace {

struct Nodes {
  std::vector<Vec4> x, v;
};

Nodes random_line(std::size_t count, std::mt19937& random, float step = 0.1f) {
  std::uniform_real_distribution<float> number(-1, 1);
  Nodes nodes;
  Vec3 at{};
  for (std::size_t i = 0; i < count; ++i) {
    nodes.x.push_back({at.x, at.y, at.z, 0});
    nodes.v.push_back({number(random), number(random), number(random), 1 / (0.5f + std::abs(number(random)))});
    at += Vec3{step + 0.02f * number(random), 0.05f * number(random), 0.05f * number(random)};
  }
  return nodes;
}

/// Lengths that are wrong by up to 0.4 %: more is not put right in one substep.
void set_lengths(const Nodes& nodes, ChainLine& line) {
  for (std::size_t i = 0; i < line.lengths.size(); ++i) {
    const float now = length(nodes.x[line.nodes[i + 1]].xyz() - nodes.x[line.nodes[i]].xyz());
    line.lengths[i] = now * (i % 2 == 0 ? 1.004f : 0.997f);
  }
}

ChainLine line_of(std::size_t first, std::size_t count, float length) {
  ChainLine line;
  for (std::size_t i = 0; i < count; ++i) line.nodes.push_back(static_cast<std::uint32_t>(first + i));
  line.lengths.assign(count - 1, length);
  return line;
}

using Vec3d = std::array<double, 3>;

/// Gauss with the largest pivots.
std::vector<double> solve_dense(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i) best = std::abs(a[i][k]) > std::abs(a[best][k]) ? i : best;
    std::swap(a[k], a[best]), std::swap(b[k], b[best]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

/// The velocities that solve J v = −C/h with the least change of momentum, in double.
std::vector<Vec3d> dense_solution(const Nodes& nodes, const ChainLine& line, double h) {
  const std::size_t rows = line.lengths.size(), count = rows + 1;
  std::vector<std::vector<double>> jacobian(rows, std::vector<double>(3 * count, 0.0)), system(rows);
  std::vector<double> v, weights, target;
  for (const std::uint32_t node : line.nodes) {
    const Vec4& velocity = nodes.v[node];
    for (const float value : {velocity.x, velocity.y, velocity.z}) {
      v.push_back(static_cast<double>(value));
      weights.push_back(static_cast<double>(velocity.w));
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const Vec3 step = nodes.x[line.nodes[i + 1]].xyz() - nodes.x[line.nodes[i]].xyz();
    const Vec3d d{static_cast<double>(step.x), static_cast<double>(step.y), static_cast<double>(step.z)};
    const double distance = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double speed = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      jacobian[i][3 * i + k] = -d[k] / distance;
      jacobian[i][3 * i + 3 + k] = d[k] / distance;
      speed += d[k] / distance * (v[3 * i + 3 + k] - v[3 * i + k]);
    }
    target.push_back(-(distance - static_cast<double>(line.lengths[i])) / h - speed);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 3 * count; ++k) sum += jacobian[i][k] * weights[k] * jacobian[j][k];
      system[i].push_back(sum);
    }
  }
  const std::vector<double> impulses = solve_dense(system, target);
  std::vector<Vec3d> out(count);
  for (std::size_t k = 0; k < 3 * count; ++k) {
    double sum = v[k];
    for (std::size_t i = 0; i < rows; ++i) sum += weights[k] * jacobian[i][k] * impulses[i];
    out[k / 3][k % 3] = sum;
  }
  return out;
}

TEST(Chains, SolveALineAsADenseSolverDoes) {
  std::mt19937 random(1);
  Workers workers(1);
  for (const std::size_t count : {2, 3, 9, 40}) {
    Nodes nodes = random_line(count, random);
    ChainLine line = line_of(0, count, 0.1f);
    set_lengths(nodes, line);
    const float h = 1.0f / 240;
    const auto expected = dense_solution(nodes, line, static_cast<double>(h));
    Chains chains(std::span(&line, 1), count);
    chains.prepare(workers, nodes.x, nodes.v, h);
    for (int i = 0; i < 4; ++i) chains.solve(workers, nodes.v);  // the regularisation leaves a little for the next
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(static_cast<double>(nodes.v[i].xyz()[k]), expected[i][k], 2e-2) << count;
      }
    }
  }
}

TEST(Chains, SolveARingAllRoundAtOnce) {
  // Velocities solve the ring's rows if they have the right speeds along all segments and differ from those before by
  // what impulses along the segments give.
  std::mt19937 random(5);
  std::uniform_real_distribution<float> number(-1, 1);
  Workers workers(1);
  for (const std::uint32_t count : {3u, 4u, 17u, 200u}) {
    Nodes nodes;
    ChainLine ring;
    for (std::uint32_t i = 0; i < count; ++i) {
      const float angle = 6.2831853f * static_cast<float>(i) / static_cast<float>(count);
      nodes.x.push_back({std::cos(angle), std::sin(angle), 0.1f * number(random), 0});
      nodes.v.push_back({number(random), number(random), number(random), 1 / (0.5f + std::abs(number(random)))});
      ring.nodes.push_back(i);
    }
    // One of a thousand times the mass of the others.
    nodes.v[1].w = 1e-3f;
    ring.nodes.push_back(0);
    ring.lengths.resize(count);
    set_lengths(nodes, ring);
    const float h = 1.0f / 240;
    const std::vector<Vec4> before = nodes.v;
    Chains chains(std::span(&ring, 1), count);
    ASSERT_EQ(chains.row_count(), count);
    chains.prepare(workers, nodes.x, nodes.v, h);
    for (int i = 0; i < 4; ++i) chains.solve(workers, nodes.v);
    std::vector<Vec3> pushes(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t next = (i + 1) % count;
      const Vec3 step = nodes.x[next].xyz() - nodes.x[i].xyz(), direction = normalized(step);
      const float speed = dot(direction, nodes.v[next].xyz() - nodes.v[i].xyz());
      EXPECT_NEAR(speed, (ring.lengths[i] - length(step)) / h, 2e-3f) << count;
      pushes[i] -= direction * chains.impulse(0, i);
      pushes[next] += direction * chains.impulse(0, i);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const Vec3 expected = before[i].xyz() + pushes[i] * before[i].w;
      EXPECT_LT(length(nodes.v[i].xyz() - expected), 1e-4f * (1 + length(expected))) << count;
    }
  }
}

TEST(Chains, KeepMomentumAndLeaveHeldNodesAlone) {
  std::mt19937 random(2);
  Workers workers(2);
  // Lines of different lengths in one batch, and more of them than one batch takes.
  Nodes nodes = random_line(400, random);
  std::vector<ChainLine> lines;
  std::size_t first = 0;
  for (const std::size_t count : {30, 29, 25, 20, 17, 12, 9, 5, 3, 2, 40, 8}) {
    lines.push_back(line_of(first, count, 0.09f));
    first += count;
  }
  nodes.v[100].w = 0;
  const Vec3 outside = nodes.v[399].xyz();
  const Vec4 held = nodes.v[100];
  const auto momentum = [&](std::size_t begin, std::size_t end) {
    Vec3 sum{};
    for (std::size_t i = begin; i < end; ++i) sum += nodes.v[i].xyz() / nodes.v[i].w;
    return sum;
  };
  const Vec3 before = momentum(0, 30);
  Chains chains(lines, nodes.x.size());
  for (int step = 0; step < 10; ++step) {
    const std::vector<Vec4> v_before = nodes.v;
    chains.prepare(workers, nodes.x, nodes.v, 0.004f);
    chains.solve(workers, nodes.v);
    chains.stiffen(workers, v_before, nodes.v, 0.004f);
  }
  EXPECT_LT(length(momentum(0, 30) - before), 1e-3f * 30);
  EXPECT_EQ(nodes.v[100].xyz(), held.xyz());
  EXPECT_EQ(nodes.v[399].xyz(), outside);  // in no line
}

TEST(Chains, DampWavesAcrossTautLinesAndNothingElse) {
  // Every other node of a line goes up, the others down. The first half of the line is taut.
  constexpr std::size_t kCount = 101;
  constexpr float kStep = 1.0f / 240, kLength = 0.1f, kMass = 0.01f, kTension = 50;
  Workers workers(1);
  const ChainLine line = line_of(0, kCount, kLength);
  Nodes nodes;
  for (std::size_t i = 0; i < kCount; ++i) {
    nodes.x.push_back({kLength * static_cast<float>(i), 0, 0, 0});
    nodes.v.push_back({0, i % 2 == 0 ? 1.0f : -1.0f, 0, 1 / kMass});
  }
  Chains chains(std::span(&line, 1), kCount);
  for (std::size_t i = 0; i < 50; ++i) chains.set_impulse(0, i, -kTension * kStep);
  const std::vector<Vec4> before = nodes.v;
  chains.damp(workers, nodes.v, kStep);
  float momentum = 0;
  for (std::size_t i = 0; i < kCount; ++i) momentum += (nodes.v[i].y - before[i].y) * kMass;
  EXPECT_NEAR(momentum, 0, 1e-6f);
  // That wave has ω² = 4 T/(L m).
  const float share = 16 * kStep * kStep * 4 * kTension / (kLength * kMass);
  EXPECT_NEAR(nodes.v[24].y, 1 / (1 + share), 1e-3f);
  for (std::size_t i = 51; i < kCount; ++i) EXPECT_EQ(nodes.v[i].xyz(), before[i].xyz());
}

TEST(Chains, ThatBearOnlyTensionLetTheirNodesComeTogether) {
  Workers workers(1);
  ChainLine line = line_of(0, 3, 0.1f);
  line.tension_only = true;
  // One segment is pushed together, the other pulled apart.
  Nodes nodes;
  nodes.x = {{0, 0, 0, 0}, {0.1f, 0, 0, 0}, {0.2f, 0, 0, 0}};
  nodes.v = {{1, 0, 0, 1}, {0, 0, 0, 1}, {2, 0, 0, 1}};
  Chains chains(std::span(&line, 1), 3);
  chains.prepare(workers, nodes.x, nodes.v, 0.01f);
  for (int i = 0; i < 9; ++i) chains.solve(workers, nodes.v);
  EXPECT_NEAR(nodes.v[0].x, 1, 1e-3f);
  EXPECT_NEAR(nodes.v[1].x, 1, 1e-2f);
  EXPECT_NEAR(nodes.v[2].x, 1, 1e-2f);
}

TEST(Chains, AreTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  const Nodes start = random_line(4000, random);
  std::vector<ChainLine> lines;
  for (std::size_t i = 0; i < 40; ++i) lines.push_back(line_of(100 * i, 100, 0.1f));
  std::vector<Vec4> results[2];
  for (const int threads : {1, 2}) {
    Workers workers(threads);
    Nodes nodes = start;
    Chains chains(lines, nodes.x.size());
    for (int i = 0; i < 5; ++i) {
      const std::vector<Vec4> v_before = nodes.v;
      chains.prepare(workers, nodes.x, nodes.v, 0.004f);
      chains.solve(workers, nodes.v);
      chains.stiffen(workers, v_before, nodes.v, 0.004f);
      for (std::size_t k = 0; k < nodes.x.size(); ++k) {
        nodes.x[k].x += 0.004f * nodes.v[k].x, nodes.x[k].y += 0.004f * nodes.v[k].y;
      }
      chains.limit(workers, nodes.x, nodes.v, 0.004f);
    }
    results[threads - 1] = nodes.v;
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) ASSERT_EQ(results[0][i].xyz(), results[1][i].xyz());
}

}  // namespace
}  // namespace pliant
