// Boxes and sheets: tri_box, tri_grid, tri_rope_strip.
#include <array>

#include "geometry/generator_arguments.h"
#include "geometry/quad_faces.h"
#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// Numbers the grid points on the surface of a box, layer by layer along z; the layers between the first and the last
/// have points along their rim only.
class BoxSurfacePoints {
 public:
  explicit BoxSurfacePoints(std::array<int, 3> n) : n_(n) {}

  std::uint32_t index(int i, int j, int k) const {
    const std::int64_t row = n_[0] + 1, full = row * (n_[1] + 1), rim = 2LL * (n_[0] + n_[1]);
    if (k == 0) return std::uint32_t(j * row + i);
    if (k == n_[2]) return std::uint32_t(full + (k - 1) * rim + j * row + i);
    return std::uint32_t(full + (k - 1) * rim + rim_index(i, j));
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {  // in the order of `index`
    for (int k = 0; k <= n_[2]; ++k) {
      if (k == 0 || k == n_[2]) {
        for (int j = 0; j <= n_[1]; ++j) {
          for (int i = 0; i <= n_[0]; ++i) visit(i, j, k);
        }
        continue;
      }
      for (int i = 0; i <= n_[0]; ++i) visit(i, 0, k);
      for (int i = 0; i <= n_[0]; ++i) visit(i, n_[1], k);
      for (int j = 1; j < n_[1]; ++j) visit(0, j, k), visit(n_[0], j, k);
    }
  }

 private:
  std::int64_t rim_index(int i, int j) const {
    if (j == 0) return i;
    if (j == n_[1]) return n_[0] + 1 + i;
    return 2LL * (n_[0] + 1) + 2LL * (j - 1) + (i == n_[0] ? 1 : 0);
  }
  std::array<int, 3> n_;
};

/// One side of the box: where axis `a` is at its lower or upper end.
void add_side(TriMesh& mesh, const BoxSurfacePoints& points, std::array<int, 3> n, int a, bool upper) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  for (int v = 0; v < n[c]; ++v) {
    for (int u = 0; u < n[b]; ++u) {
      const auto at = [&](int du, int dv) {
        std::array<int, 3> p;
        p[a] = upper ? n[a] : 0, p[b] = u + du, p[c] = v + dv;
        return points.index(p[0], p[1], p[2]);
      };
      const bool cut_from_first = (u + v) % 2 == 0;
      if (upper) {
        add_quad(mesh.faces, {at(0, 0), at(1, 0), at(1, 1), at(0, 1)}, cut_from_first);
      } else {
        add_quad(mesh.faces, {at(0, 0), at(0, 1), at(1, 1), at(1, 0)}, cut_from_first);
      }
    }
  }
}

double place(double size, int i, int n) { return size * (double(i) / n - 0.5); }

TriMesh make_grid(const char* generator, Vec2 size, int nx, int nz) {
  require_count(generator, "nx", nx, 1);
  require_count(generator, "nz", nz, 1);
  require_size(generator, 2.0 * nx * nz);
  TriMesh mesh;
  for (int k = 0; k <= nz; ++k) {
    for (int i = 0; i <= nx; ++i) {
      mesh.vertices.push_back(Vec3d(place(size.x, i, nx), 0, place(size.y, k, nz)).to_float());
      mesh.uvs.push_back({float(double(i) / nx), float(double(k) / nz)});
    }
  }
  for (int k = 0; k < nz; ++k) {
    for (int i = 0; i < nx; ++i) {
      const std::uint32_t a = std::uint32_t(k * (nx + 1) + i), up = std::uint32_t(nx + 1);
      add_quad(mesh.faces, {a, a + up, a + up + 1, a + 1}, (i + k) % 2 == 0);
    }
  }
  return mesh;
}

}  // namespace

TriMesh tri_box(Vec3 size, int nx, int ny, int nz) {
  require_box("tri_box", size, nx, ny, nz);
  require_size("tri_box", 4.0 * (double(nx) * ny + double(ny) * nz + double(nz) * nx));
  const std::array<int, 3> n{nx, ny, nz};
  const BoxSurfacePoints points(n);
  TriMesh mesh;
  points.for_each([&](int i, int j, int k) {
    mesh.vertices.push_back(Vec3d(place(size.x, i, nx), place(size.y, j, ny), place(size.z, k, nz)).to_float());
  });
  for (int axis = 0; axis < 3; ++axis) {
    add_side(mesh, points, n, axis, false);
    add_side(mesh, points, n, axis, true);
  }
  return mesh;
}

TriMesh tri_box(Vec3 size, float cell) {
  require_positive("tri_box", "size", size);
  return tri_box(size, cells_along("tri_box", size.x, cell), cells_along("tri_box", size.y, cell),
                 cells_along("tri_box", size.z, cell));
}

TriMesh tri_grid(Vec2 size, int nx, int nz) {
  require_positive("tri_grid", "size.x", size.x);
  require_positive("tri_grid", "size.y", size.y);
  return make_grid("tri_grid", size, nx, nz);
}

TriMesh tri_grid(Vec2 size, float cell) {
  require_positive("tri_grid", "size.x", size.x);
  require_positive("tri_grid", "size.y", size.y);
  return make_grid("tri_grid", size, cells_along("tri_grid", size.x, cell), cells_along("tri_grid", size.y, cell));
}

TriMesh tri_rope_strip(float length, float width, int segments) {
  require_positive("tri_rope_strip", "length", length);
  require_positive("tri_rope_strip", "width", width);
  require_count("tri_rope_strip", "segments", segments, 1);
  return make_grid("tri_rope_strip", {length, width}, segments, 1);
}

}  // namespace pliant
