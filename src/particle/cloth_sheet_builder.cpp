// A woven sheet: yarns both ways are chains, the diagonals of its cells resist shear, neighbours along a yarn resist
// bending.
#include <cmath>

#include "geometry/quad_faces.h"
#include "particle/cloth_builder.h"

namespace pliant {
namespace {

/// Numbers of the nodes and sizes of the cells.
struct Grid {
  explicit Grid(const ClothSheet& sheet)
      : columns(static_cast<std::uint32_t>(sheet.cells_x) + 1),
        rows(static_cast<std::uint32_t>(sheet.cells_z) + 1),
        dx(sheet.width / static_cast<float>(sheet.cells_x)),
        dz(sheet.length / static_cast<float>(sheet.cells_z)) {}

  std::uint32_t node(std::uint32_t i, std::uint32_t k) const { return i + k * columns; }

  std::uint32_t columns, rows;
  float dx, dz;
};

void add_nodes(const Grid& grid, const ClothSheet& sheet, float density, ParticleModel& model) {
  for (std::uint32_t k = 0; k < grid.rows; ++k) {
    for (std::uint32_t i = 0; i < grid.columns; ++i) {
      model.rest.push_back({static_cast<float>(i) * grid.dx - 0.5f * sheet.width, 0,
                            static_cast<float>(k) * grid.dz - 0.5f * sheet.length});
      const float share_x = i == 0 || i + 1 == grid.columns ? 0.5f : 1.0f;
      const float share_z = k == 0 || k + 1 == grid.rows ? 0.5f : 1.0f;
      model.masses.push_back(density * grid.dx * grid.dz * share_x * share_z);
    }
  }
}

/// Diagonals change from cell to cell, so that the triangles prefer no direction.
void add_faces(const Grid& grid, ParticleModel& model) {
  for (std::uint32_t k = 0; k + 1 < grid.rows; ++k) {
    for (std::uint32_t i = 0; i + 1 < grid.columns; ++i) {
      const std::uint32_t a = grid.node(i, k), b = grid.node(i + 1, k), c = grid.node(i + 1, k + 1),
                          d = grid.node(i, k + 1);
      add_quad(model.faces, {a, d, c, b}, (i + k) % 2 == 0);
    }
  }
}

/// Yarns along one direction: `count` of them, `length` nodes each.
template <typename Node>
void add_yarns(std::uint32_t count, std::uint32_t length, float spacing, float cell, const ClothMaterial& material,
               Node&& node, ParticleModel& model) {
  // A yarn at the rim stands for half the width.
  const auto width = [&](std::uint32_t line) { return line == 0 || line + 1 == count ? 0.5f * spacing : spacing; };
  for (std::uint32_t line = 0; line < count; ++line) {
    ChainLine chain;
    for (std::uint32_t i = 0; i < length; ++i) chain.nodes.push_back(node(line, i));
    chain.lengths.assign(length - 1, cell);
    if (std::isfinite(material.stretch_stiffness)) {
      chain.compliance.assign(length - 1, cell / (material.stretch_stiffness * width(line)));
    }
    if (std::isfinite(material.strength)) chain.strengths.assign(length - 1, material.strength * width(line));
    model.lines.push_back(std::move(chain));
    if (material.bend_stiffness <= 0) continue;
    // Curvature (x₀ − 2x₁ + x₂)/cell² over a piece of one cell.
    const float stiffness = material.bend_stiffness * width(line) / (cell * cell * cell);
    for (std::uint32_t i = 0; i + 2 < length; ++i) {
      model.line_bends.push_back({.nodes = {node(line, i), node(line, i + 1), node(line, i + 2), node(line, i)},
                                  .weights = {1, -2, 1, 0},
                                  .stiffness = stiffness});
    }
  }
}

/// A shear of one radian lengthens one diagonal d of a cell a by b by ab/d and shortens the other: with stiffness k
/// each they store k (ab/d)², the cloth ½ G ab.
void add_shear(const Grid& grid, float shear_stiffness, ParticleModel& model) {
  if (shear_stiffness <= 0) return;
  const float diagonal = std::hypot(grid.dx, grid.dz);
  const float stiffness = 0.5f * shear_stiffness * diagonal * diagonal / (grid.dx * grid.dz);
  for (std::uint32_t k = 0; k + 1 < grid.rows; ++k) {
    for (std::uint32_t i = 0; i + 1 < grid.columns; ++i) {
      model.springs.push_back(
          {.nodes = {grid.node(i, k), grid.node(i + 1, k + 1)}, .length = diagonal, .stiffness = stiffness});
      model.springs.push_back(
          {.nodes = {grid.node(i + 1, k), grid.node(i, k + 1)}, .length = diagonal, .stiffness = stiffness});
    }
  }
}

}  // namespace

void build_sheet(const ClothSheet& sheet, const ClothMaterial& material, ParticleModel& model) {
  const Grid grid(sheet);
  add_nodes(grid, sheet, material.density, model);
  add_faces(grid, model);
  add_yarns(
      grid.rows, grid.columns, grid.dz, grid.dx, material,
      [&](std::uint32_t line, std::uint32_t i) { return grid.node(i, line); }, model);
  add_yarns(
      grid.columns, grid.rows, grid.dx, grid.dz, material,
      [&](std::uint32_t line, std::uint32_t i) { return grid.node(line, i); }, model);
  add_shear(grid, material.shear_stiffness, model);
}

}  // namespace pliant
