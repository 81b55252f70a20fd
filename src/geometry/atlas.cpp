#include "pliant/atlas.h"

#include <cmath>
#include <map>

#include "geometry/generator_arguments.h"
#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// Puts an atlas together: nodes by a key of their own, so that what two charts share is one node.
class AtlasMaker {
 public:
  /// Adds a chart of (columns + 1) by (rows + 1) nodes; `key(i, j)` says which node stands there, `position(i, j)`
  /// where it is when it is met for the first time. The normal is that of u × v.
  template <typename Key, typename Position>
  void add_chart(int columns, int rows, Key&& key, Position&& position) {
    AtlasChart chart{.columns = columns + 1, .rows = rows + 1, .nodes = {}};
    for (int j = 0; j <= rows; ++j) {
      for (int i = 0; i <= columns; ++i) {
        const auto [known, is_new] = nodes_.try_emplace(key(i, j), std::uint32_t(atlas_.surface.vertices.size()));
        if (is_new) atlas_.surface.vertices.push_back(Vec3d(position(i, j)).to_float());
        chart.nodes.push_back(known->second);
      }
    }
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < columns; ++i) {
        const std::uint32_t a = chart.node(i, j), b = chart.node(i + 1, j), c = chart.node(i, j + 1);
        atlas_.surface.faces.push_back({a, b, c});
        atlas_.surface.faces.push_back({b, chart.node(i + 1, j + 1), c});
      }
    }
    atlas_.charts.push_back(std::move(chart));
  }
  Atlas finish() { return std::move(atlas_); }

 private:
  Atlas atlas_;
  std::map<std::array<int, 3>, std::uint32_t> nodes_;
};

/// From a square to a disk, edges to arcs of even angles (Shirley and Chiu 1997).
Vec3d on_disk(double a, double b, double radius, double y) {
  if (a == 0 && b == 0) return {0, y, 0};
  const bool along_a = std::abs(a) > std::abs(b);
  const double r = radius * (along_a ? a : b);
  const double angle = along_a ? kPiD / 4 * (b / a) : kPiD / 2 - kPiD / 4 * (a / b);
  return {r * std::cos(angle), y, -r * std::sin(angle)};
}

/// Which of the 4 n nodes around a square of n by n cells (i, j) is, counter-clockwise from (n, 0); -1 for inner ones.
int rim_index(int i, int j, int n) {
  if (i == n) return j % (4 * n);
  if (j == n) return n + (n - i);
  if (i == 0) return 2 * n + (n - j);
  if (j == 0) return 3 * n + i;
  return -1;
}

}  // namespace

Atlas atlas_torus(float radius, float tube_radius, int segments, int tube_segments) {
  const double r = require_positive("atlas_torus", "radius", radius);
  const double tube = require_positive("atlas_torus", "tube_radius", tube_radius);
  if (tube >= r)
    refuse_argument("atlas_torus", "tube_radius", "the tube must be thinner than the ring it is bent into");
  const int around = require_count("atlas_torus", "segments", segments, 3);
  const int across = require_count("atlas_torus", "tube_segments", tube_segments, 3);
  require_size("atlas_torus", 2.0 * around * across);
  AtlasMaker maker;
  maker.add_chart(
      around, across,
      [&](int i, int j) {
        return std::array{0, i % around, j % across};
      },
      [&](int i, int j) {
        const double angle = 2 * kPiD * i / around, tilt = 2 * kPiD * j / across, at = r + tube * std::cos(tilt);
        return Vec3d(at * std::cos(angle), tube * std::sin(tilt), -at * std::sin(angle));
      });
  return maker.finish();
}

Atlas atlas_sphere(float radius, int cells) {
  const double r = require_positive("atlas_sphere", "radius", radius);
  const int n = require_count("atlas_sphere", "cells", cells, 1);
  require_size("atlas_sphere", 12.0 * n * n);
  AtlasMaker maker;
  for (int axis = 0; axis < 3; ++axis) {
    for (const int side : {0, n}) {
      // Places on a cube of n cells. u × v points outward.
      const auto place = [&](int i, int j) {
        std::array<int, 3> at{};
        at[axis] = side, at[(axis + 1) % 3] = side == n ? i : j, at[(axis + 2) % 3] = side == n ? j : i;
        return at;
      };
      maker.add_chart(n, n, place, [&](int i, int j) {
        // Tangents of even angles: texels in the corners of a face are hardly smaller than in its middle.
        const std::array<int, 3> at = place(i, j);
        const auto even = [&](int k) { return std::tan(kPiD / 4 * (2.0 * k / n - 1)); };
        return normalized(Vec3d(even(at[0]), even(at[1]), even(at[2]))) * r;
      });
    }
  }
  return maker.finish();
}

Atlas atlas_cylinder(float radius, float height, int cells, int rows) {
  const double r = require_positive("atlas_cylinder", "radius", radius);
  const double half = require_positive("atlas_cylinder", "height", height) / 2;
  const int n = require_count("atlas_cylinder", "cells", cells, 1);
  const int m = require_count("atlas_cylinder", "rows", rows, 1);
  require_size("atlas_cylinder", 4.0 * n * n + 8.0 * n * m);
  AtlasMaker maker;
  maker.add_chart(
      4 * n, m,
      [&](int i, int j) {
        return std::array{0, i % (4 * n), j};
      },
      [&](int i, int j) {
        const double angle = 2 * kPiD * i / (4 * n) - kPiD / 4;
        return Vec3d(r * std::cos(angle), half * (2.0 * j / m - 1), -r * std::sin(angle));
      });
  for (const bool is_top : {true, false}) {
    const auto key = [&](int i, int j) {
      if (!is_top) std::swap(i, j);
      const int rim = rim_index(i, j, n);
      return rim >= 0 ? std::array{0, rim, is_top ? m : 0} : std::array{is_top ? 1 : 2, i, j};
    };
    maker.add_chart(n, n, key, [&](int i, int j) {
      if (!is_top) std::swap(i, j);
      return on_disk(2.0 * i / n - 1, 2.0 * j / n - 1, r, is_top ? half : -half);
    });
  }
  return maker.finish();
}

Atlas atlas_heightfield(const Heightfield& field) {
  const double cell = require_positive("atlas_heightfield", "cell", field.cell);
  const int columns = require_count("atlas_heightfield", "columns", field.columns, 2);
  const int rows = require_count("atlas_heightfield", "rows", field.rows, 2);
  require_size("atlas_heightfield", 2.0 * columns * rows);
  if (field.heights.size() != std::size_t(columns) * std::size_t(rows)) {
    refuse_argument("atlas_heightfield", "heights", "there must be columns times rows of them");
  }
  AtlasMaker maker;
  maker.add_chart(
      columns - 1, rows - 1,
      [](int i, int j) {
        return std::array{0, i, j};
      },
      [&](int i, int j) {
        // v runs against Z, so that the sheet faces up.
        const int row = rows - 1 - j;
        const float y = field.heights[std::size_t(row) * std::size_t(columns) + std::size_t(i)];
        if (!std::isfinite(y)) refuse_argument("atlas_heightfield", "heights", "every height must be finite");
        return Vec3d(cell * (i - 0.5 * (columns - 1)), double(y), cell * (row - 0.5 * (rows - 1)));
      });
  return maker.finish();
}

Atlas displaced(Atlas atlas, const std::function<Vec3(Vec3 position, Vec3 normal)>& by) {
  const std::vector<Vec3> normals = compute_normals(atlas.surface);
  for (std::size_t i = 0; i < normals.size(); ++i) {
    Vec3& at = atlas.surface.vertices[i];
    at += by(at, normals[i]);
    if (!is_finite(at)) refuse_argument("displaced", "by", "a node was moved to a place that is not finite");
  }
  return atlas;
}

}  // namespace pliant
