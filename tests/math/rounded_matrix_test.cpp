// Matrices of two bytes a number against the floats that they come from.
#include "math/rounded_matrix.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace pliant {
namespace {

constexpr std::uint32_t kRows = 64;

/// Of blocks that are from 1 to 10,000 large, from the first row to the last, and of random ones: a soft body with a
/// stiff end.
SlicedMatrix random_matrix(std::mt19937& random) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    for (const std::uint32_t j : {i + 1, i + 3, i + 11}) {
      if (j < kRows) entries.emplace_back(i, j), entries.emplace_back(j, i);
    }
  }
  SlicedMatrix matrix;
  matrix.build(kRows, entries);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const auto& [i, j] : entries) {
    if (i > j) continue;
    const float size = std::pow(10.0f, 4.0f * static_cast<float>(i) / kRows);
    const std::uint32_t at = matrix.find(i, j), back = matrix.find(j, i);
    // Blocks that are symmetric themselves: what the difference form has on its diagonal is their sum.
    for (std::uint32_t r = 0; r < 3; ++r) {
      for (std::uint32_t c = 0; c <= r; ++c) {
        const float value = size * uniform(random);
        for (const std::uint32_t block : {at, back}) {
          matrix.values()[block + kLanes * (3 * r + c)] = matrix.values()[block + kLanes * (3 * c + r)] = value;
        }
      }
    }
  }
  return matrix;
}

std::vector<Vec4> random_nodes(std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Vec4> nodes(kRows);
  for (Vec4& node : nodes) node = {uniform(random), uniform(random), uniform(random), 0};
  return nodes;
}

std::vector<Vec3> product(const std::vector<Vec4>& x, const auto& differences) {
  std::vector<Vec3> out(kRows);
  for (std::size_t s = 0; s < kRows / kLanes; ++s) {
    LaneVec3<Float8> own;
    for (std::size_t l = 0; l < kLanes; ++l) {
      own.x[l] = x[kLanes * s + l].x, own.y[l] = x[kLanes * s + l].y, own.z[l] = x[kLanes * s + l].z;
    }
    const LaneVec3<Float8> y = differences(s, own);
    for (std::size_t l = 0; l < kLanes; ++l) out[kLanes * s + l] = {y.x[l], y.y[l], y.z[l]};
  }
  return out;
}

std::vector<Vec3> rounded_product(const RoundedMatrix& rounded, const SlicedMatrix& matrix,
                                  const std::vector<Vec4>& x) {
  return product(
      x, [&](std::size_t s, const LaneVec3<Float8>& own) { return rounded.differences(matrix, s, own, x.data()); });
}

double dot_of(const std::vector<Vec4>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += static_cast<double>(dot(a[i].xyz(), b[i]));
  return sum;
}

TEST(RoundedMatrix, IsWrongByLittleOfWhatIsLargestInARow) {
  std::mt19937 random(1);
  const SlicedMatrix matrix = random_matrix(random);
  Workers workers(1);
  RoundedMatrix rounded;
  rounded.assign(workers, matrix);
  const std::vector<Vec4> x = random_nodes(random);
  const std::vector<Vec3> exact =
      product(x, [&](std::size_t s, const LaneVec3<Float8>& own) { return matrix.differences(s, own, x.data()); });
  const std::vector<Vec3> found = rounded_product(rounded, matrix, x);
  for (std::uint32_t i = 0; i < kRows; ++i) {
    // A row has six blocks at most, of numbers below those of the rows up to eleven after it; nodes are within ±1, and
    // a number is off by half a step at most, which is up to 2/32767 of the largest.
    const float largest = std::pow(10.0f, 4.0f * static_cast<float>(i) / kRows);
    const float neighbors = std::pow(10.0f, 4.0f * 11 / kRows);
    EXPECT_LE(length(found[i] - exact[i]), 6 * 3 * 2 * 1.8f * largest * neighbors / 32767) << i;
    EXPECT_GT(length(found[i]), 1e-3f * largest) << i;
  }
}

TEST(RoundedMatrix, StaysSymmetricAndDoesNotResistWhatMovesAlike) {
  std::mt19937 random(2);
  const SlicedMatrix matrix = random_matrix(random);
  Workers one(1), two(2);
  RoundedMatrix rounded, by_two;
  rounded.assign(one, matrix);
  by_two.assign(two, matrix);
  const std::vector<Vec4> x = random_nodes(random), y = random_nodes(random);
  const std::vector<Vec3> of_x = rounded_product(rounded, matrix, x), of_y = rounded_product(rounded, matrix, y);
  EXPECT_NEAR(dot_of(y, of_x), dot_of(x, of_y), 1e-6 * std::abs(dot_of(x, of_x)));
  EXPECT_EQ(rounded_product(by_two, matrix, x), of_x);
  const std::vector<Vec4> alike(kRows, Vec4{0.3f, -2, 7, 0});
  for (const Vec3 v : rounded_product(rounded, matrix, alike)) EXPECT_EQ(v, Vec3{});
}

TEST(RoundedMatrix, TellsHowLargeItsStepsAreBesideMasses) {
  std::mt19937 random(3);
  const SlicedMatrix matrix = random_matrix(random);
  Workers workers(1);
  RoundedMatrix rounded;
  rounded.assign(workers, matrix);
  std::vector<float> weights(kRows, 0.0f);
  EXPECT_EQ(rounded.largest_step(weights), 0);
  weights[0] = 0.5f;
  // The largest number of the first row is between 0.5 and 1, or of the blocks at its side a little more.
  EXPECT_GE(rounded.largest_step(weights), 2 * 0.5f / 32767);
  EXPECT_LE(rounded.largest_step(weights), 2 * 2.0f / 32767);
}

}  // namespace
}  // namespace pliant
