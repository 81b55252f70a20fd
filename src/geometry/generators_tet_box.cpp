#include <array>

#include "geometry/generator_arguments.h"
#include "math/vec3d.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

/// Walks from one corner of a cell to the opposite one along its edges: the six orders of the axes give Kuhn's six
/// tets.
constexpr std::array<std::array<int, 3>, 6> kAxisOrders{
    {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};

/// The six tets of cell (i, j, k). Every second cell along an axis is mirrored: neighbours agree on the diagonal of
/// their common side, and the main diagonals of the cells take turns.
void add_cell(TetMesh& mesh, std::array<int, 3> cell, std::array<int, 3> n) {
  const auto node = [&](std::array<int, 3> p) {
    return std::uint32_t((std::int64_t(p[2]) * (n[1] + 1) + p[1]) * (n[0] + 1) + p[0]);
  };
  std::array<int, 3> start, step;
  bool is_mirrored = false;
  for (int a = 0; a < 3; ++a) {
    const bool odd = cell[a] % 2 != 0;
    start[a] = cell[a] + (odd ? 1 : 0);
    step[a] = odd ? -1 : 1;
    is_mirrored ^= odd;
  }
  for (std::size_t order = 0; order < 6; ++order) {
    Tet tet;
    std::array<int, 3> p = start;
    tet[0] = node(p);
    for (std::size_t i = 0; i < 3; ++i) {
      const int axis = kAxisOrders[order][i];
      p[axis] += step[axis];
      tet[i + 1] = node(p);
    }
    // The last three orders are odd permutations, whose walks turn left-handed; a mirrored cell turns both over.
    if ((order >= 3) != is_mirrored) std::swap(tet[1], tet[2]);
    mesh.tets.push_back(tet);
  }
}

}  // namespace

TetMesh tet_box(Vec3 size, int nx, int ny, int nz) {
  require_box("tet_box", size, nx, ny, nz);
  require_size("tet_box", 6.0 * nx * ny * nz);
  const std::array<int, 3> n{nx, ny, nz};
  TetMesh mesh;
  mesh.nodes.reserve(std::size_t(nx + 1) * (ny + 1) * (nz + 1));
  mesh.tets.reserve(6 * std::size_t(nx) * ny * nz);
  for (int k = 0; k <= nz; ++k) {
    for (int j = 0; j <= ny; ++j) {
      for (int i = 0; i <= nx; ++i) {
        const Vec3d share(double(i) / nx - 0.5, double(j) / ny - 0.5, double(k) / nz - 0.5);
        mesh.nodes.push_back(Vec3d(size.x * share.x, size.y * share.y, size.z * share.z).to_float());
      }
    }
  }
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) add_cell(mesh, {i, j, k}, n);
    }
  }
  return mesh;
}

TetMesh tet_box(Vec3 size, float cell) {
  require_positive("tet_box", "size", size);
  return tet_box(size, cells_along("tet_box", size.x, cell), cells_along("tet_box", size.y, cell),
                 cells_along("tet_box", size.z, cell));
}

}  // namespace pliant
