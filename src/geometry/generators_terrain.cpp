#include <algorithm>
#include <cmath>

#include "geometry/generator_arguments.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// A number from −1 to 1 for each point of an integer lattice. Integers only, so that it is the same everywhere.
double lattice_value(std::int64_t x, std::int64_t z, std::uint64_t seed) {
  std::uint64_t h = seed;
  for (const std::int64_t k : {x, z}) {  // the mixer of SplitMix64 (Steele, Lea and Flood 2014), once per coordinate
    h += 0x9e3779b97f4a7c15u + std::uint64_t(k);
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  }
  return double(h >> 11) / double(std::uint64_t(1) << 52) - 1;
}

/// Smooth between the lattice points, with continuous slope and curvature.
double value_noise(double x, double z, std::uint64_t seed) {
  const auto fade = [](double t) { return t * t * t * (t * (t * 6 - 15) + 10); };
  const double fx = std::floor(x), fz = std::floor(z), u = fade(x - fx), v = fade(z - fz);
  const std::int64_t i = std::int64_t(fx), k = std::int64_t(fz);
  const double near = (1 - u) * lattice_value(i, k, seed) + u * lattice_value(i + 1, k, seed);
  const double far = (1 - u) * lattice_value(i, k + 1, seed) + u * lattice_value(i + 1, k + 1, seed);
  return (1 - v) * near + v * far;
}

void check(const TerrainShape& t, const char* generator) {
  require_count(generator, "columns", t.columns, 2);
  require_count(generator, "rows", t.rows, 2);
  require_size(generator, 2.0 * (t.columns - 1.0) * (t.rows - 1.0));
  require_positive(generator, "cell", t.cell);
  require_positive(generator, "height", t.height);
  require_positive(generator, "feature", t.feature);
  if (t.octaves < 1 || t.octaves > 12) refuse_argument(generator, "octaves", "must be from 1 to 12");
  if (!(double(t.cell) / t.feature * std::max(t.columns, t.rows) < 1e12)) {
    refuse_argument(generator, "feature", "is too small for a terrain of this size");
  }
}

Heightfield make_terrain(const TerrainShape& t) {
  Heightfield field{t.columns, t.rows, t.cell, {}};
  field.heights.reserve(std::size_t(t.columns) * t.rows);
  for (int row = 0; row < t.rows; ++row) {
    for (int column = 0; column < t.columns; ++column) {
      double sum = 0, weight = 1, total = 0, scale = double(t.cell) / t.feature;
      for (int octave = 0; octave < t.octaves; ++octave, weight /= 2, scale *= 2) {
        sum += weight * value_noise(column * scale, row * scale, t.seed * 64ull + std::uint64_t(octave));
        total += weight;
      }
      field.heights.push_back(float(0.5 * t.height * sum / total));
    }
  }
  return field;
}

}  // namespace

Heightfield heightfield_terrain(const TerrainShape& shape) {
  check(shape, "heightfield_terrain");
  return make_terrain(shape);
}

TriMesh tri_terrain(const TerrainShape& shape) {
  check(shape, "tri_terrain");
  const Heightfield field = make_terrain(shape);
  const Vec2 size{float((shape.columns - 1.0) * shape.cell), float((shape.rows - 1.0) * shape.cell)};
  TriMesh mesh = tri_grid(size, shape.columns - 1, shape.rows - 1);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) mesh.vertices[i].y = field.heights[i];
  return mesh;
}

}  // namespace pliant
