// Groups of contacts against rows of the same contacts, and bending along lines against rows one by one.
#include "solve/contact_groups.h"

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "solve/bend_lines.h"
#include "solve/contact_rows.h"

namespace pliant {
namespace {

/// The same touches as groups and as rows; some lanes touch nothing, some nodes are held, the last group is not full.
struct Twins {
  explicit Twins(std::uint32_t count) : x(count), v(count) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      x[i] = {number(random), number(random), number(random), 0};
      v[i] = {number(random), number(random), number(random), i % 7 == 3 ? 0.0f : 1.5f + number(random)};
    }
    for (std::uint32_t first = 0; first < count; first += 8) {
      ContactGroup group{.node = first, .count = std::min(8u, count - first), .friction = 0.4f};
      for (std::uint32_t i = 0; i < group.count; ++i) {
        if ((first + i) % 5 == 1) continue;
        const Vec3 normal = normalized({number(random), number(random), number(random)});
        NodeContact row{.node = first + i,
                        .normal = normal,
                        .surface_velocity = {number(random), 0, number(random)},
                        .gap = 0.01f * number(random),
                        .friction = group.friction,
                        .normal_impulse = 0.3f};
        row.friction_impulse = cross(normal, {0.1f, 0.05f, 0});
        group.touches[i] = -1;
        set(group.normal, i, normal), set(group.surface_velocity, i, row.surface_velocity);
        set(group.friction_impulse, i, row.friction_impulse);
        group.gap[i] = row.gap, group.normal_impulse[i] = row.normal_impulse;
        rows.push_back(row);
      }
      groups.push_back(group);
    }
  }
  static void set(LaneVec3<Float8>& lanes, std::size_t i, Vec3 to) {
    lanes.x[i] = to.x, lanes.y[i] = to.y, lanes.z[i] = to.z;
  }
  std::vector<Vec4> x, v;
  std::vector<ContactGroup> groups;
  std::vector<NodeContact> rows;
};

void expect_same(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(length(a[i].xyz() - b[i].xyz()), 0, 1e-5f) << i;
    EXPECT_EQ(a[i].w, b[i].w);
  }
}

TEST(ContactGroups, DoWhatTheirRowsDoOneByOne) {
  Twins by_group(43), by_row(43);
  const float h = 1.0f / 240;
  warm_start(by_group.groups, by_group.v);
  warm_start(by_row.rows, by_row.v, {});
  expect_same(by_group.v, by_row.v);
  for (int i = 0; i < 3; ++i) {
    sweep(by_group.groups, by_group.v, h);
    sweep(by_row.rows, by_row.v, {}, h);
    expect_same(by_group.v, by_row.v);
  }
  push_out(by_group.groups, by_group.v, by_group.x, h);
  push_out(by_row.rows, by_row.v, {}, by_row.x, h);
  expect_same(by_group.x, by_row.x);
  for (const NodeContact& row : by_row.rows) {
    const ContactGroup& group = by_group.groups[row.node / 8];
    EXPECT_NEAR(group.normal_impulse[row.node % 8], row.normal_impulse, 1e-4f);
    EXPECT_NEAR(group.friction_impulse.y[row.node % 8], row.friction_impulse.y, 1e-4f);
  }
}

/// Backward Euler for one row after the other, in double.
void bend_by_rows(std::span<const Bend> bends, const std::vector<Vec4>& x, std::vector<Vec4>& v, double h) {
  std::vector<std::array<double, 3>> impulses(bends.size());
  const auto solve = [&](std::size_t row) {
    const Bend& bend = bends[row];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto part = [&](const Vec4& p) { return static_cast<double>(axis == 0 ? p.x : axis == 1 ? p.y : p.z); };
      const double softness = 1 / (static_cast<double>(bend.stiffness) * h * h);
      double bent = 0, speed = 0, diagonal = softness;
      for (std::size_t k = 0; k < 3; ++k) {
        const double weight = bend.weights[k];
        bent += weight * part(x[bend.nodes[k]]), speed += weight * part(v[bend.nodes[k]]);
        diagonal += weight * weight * static_cast<double>(v[bend.nodes[k]].w);
      }
      const double impulse = -(bent / h + speed + softness * impulses[row][axis]) / diagonal;
      impulses[row][axis] += impulse;
      for (std::size_t k = 0; k < 3; ++k) {
        Vec4& node = v[bend.nodes[k]];
        const double change = impulse * static_cast<double>(bend.weights[k] * node.w);
        (axis == 0 ? node.x : axis == 1 ? node.y : node.z) += static_cast<float>(change);
      }
    }
  };
  for (std::size_t row = 0; row < bends.size(); ++row) solve(row);
  for (std::size_t row = bends.size(); row-- > 0;) solve(row);
}

TEST(BendLines, SweepTheRowsOfEachLineThereAndBack) {
  // Eleven lines of 3 to 13 nodes that share none, so that the order of lines does not matter.
  std::mt19937 random(5);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<Bend> bends;
  std::vector<Vec4> x, v;
  for (std::uint32_t line = 0; line < 11; ++line) {
    const auto first = static_cast<std::uint32_t>(x.size());
    for (std::uint32_t i = 0; i < 3 + line; ++i) {
      x.push_back({0.1f * static_cast<float>(i), 0.02f * number(random), 0.02f * number(random), 0});
      v.push_back({number(random), number(random), number(random), i == 4 ? 0.0f : 20 + 10 * number(random)});
      if (i < 2) continue;
      const std::uint32_t at = first + i - 2;
      bends.push_back({.nodes = {at, at + 1, at + 2, at}, .weights = {1, -2 - 0.2f * number(random), 1, 0}});
      bends.back().stiffness = 50 + 20 * number(random);
    }
  }
  std::vector<Vec4> expected = v;
  bend_by_rows(bends, x, expected, 0.01);
  Workers workers(1);
  BendLines lines(bends, x.size());
  EXPECT_EQ(lines.row_count(), bends.size());
  lines.sweep(workers, x, v, 0.01f);
  for (std::size_t i = 0; i < v.size(); ++i) {
    EXPECT_NEAR(length(v[i].xyz() - expected[i].xyz()), 0, 1e-4f) << i;
    EXPECT_EQ(v[i].w, expected[i].w);
  }
}

TEST(BendLines, ThatCrossAnswerPushesAsAnEnergyDoes) {
  // What a velocity u at rest is answered with, as momenta, is a linear map; of an energy's it is symmetric.
  constexpr std::uint32_t kSide = 9;
  std::vector<Bend> bends;
  const auto add_line = [&](std::uint32_t first, std::uint32_t step) {
    for (std::uint32_t i = 0; i + 2 < kSide; ++i) {
      const std::uint32_t at = first + i * step;
      bends.push_back({.nodes = {at, at + step, at + 2 * step, at}, .weights = {1, -2, 1, 0}, .stiffness = 2000});
    }
  };
  for (std::uint32_t line = 0; line < kSide; ++line) add_line(line * kSide, 1);
  for (std::uint32_t line = 0; line < kSide; ++line) add_line(line, kSide);
  std::mt19937 random(8);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<Vec4> x, u, w;
  for (std::uint32_t i = 0; i < kSide * kSide; ++i) {
    const float inverse_mass = 20 + 10 * number(random);
    x.push_back({static_cast<float>(i % kSide), 0, static_cast<float>(i / kSide), 0});
    u.push_back({0, number(random), 0, inverse_mass}), w.push_back({0, number(random), 0, inverse_mass});
  }
  Workers workers(1);
  BendLines lines(bends, x.size());
  std::vector<Vec4> after_u = u, after_w = w;
  lines.sweep(workers, x, after_u, 0.01f);
  lines.sweep(workers, x, after_w, 0.01f);
  double w_of_u = 0, u_of_w = 0, u_of_u = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double mass = 1 / static_cast<double>(u[i].w);
    w_of_u += mass * static_cast<double>(w[i].y * (after_u[i].y - u[i].y));
    u_of_w += mass * static_cast<double>(u[i].y * (after_w[i].y - w[i].y));
    u_of_u += mass * static_cast<double>(u[i].y * (after_u[i].y - u[i].y));
  }
  EXPECT_LT(u_of_u, 0);
  EXPECT_NEAR(w_of_u, u_of_w, -1e-4 * u_of_u);
}

TEST(BendLines, OfARingDoNotMeetThemselves) {
  std::vector<Bend> bends;
  std::vector<Vec4> x, v;
  const std::uint32_t count = 12;
  for (std::uint32_t i = 0; i < count; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i) / static_cast<float>(count);
    x.push_back({std::cos(angle), std::sin(angle), 0, 0}), v.push_back({0, 0, 0, 1});
    bends.push_back({.nodes = {i, (i + 1) % count, (i + 2) % count, i}, .weights = {1, -2, 1, 0}, .stiffness = 10});
  }
  Workers workers(2);
  BendLines(bends, count).sweep(workers, x, v, 0.01f);
  Vec3 momentum{};
  for (const Vec4& node : v) momentum += node.xyz();
  EXPECT_NEAR(length(momentum), 0, 1e-5f);
  for (const Vec4& node : v) EXPECT_GT(length(node.xyz()), 0);
}

}  // namespace
}  // namespace pliant
