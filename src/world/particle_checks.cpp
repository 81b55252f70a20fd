// What the defs of cloth, rope and jelly may hold.
#include <cmath>

#include <fmt/format.h>

#include "particle/weave_panels.h"
#include "world/def_check.h"
#include "world/world_impl.h"

namespace pliant {
namespace {

constexpr int kMostCells = 4000;
/// More nodes than this in one body are taken for a mistake: they would take gigabytes.
constexpr float kMostNodes = 4e6f;

/// Stiffnesses may be infinite.
void positive_or_infinite(Check& check, const char* field, float value) {
  check.that(value > 0, field, fmt::format("{} is not allowed; it must be greater than 0", value));
}

std::vector<Vec3> rest_nodes(const ClothDef& def) { return build_model(def).rest; }
std::vector<Vec3> rest_nodes(const RopeDef& def) { return build_model(def).rest; }
std::vector<Vec3> rest_nodes(const JellyDef& def) { return def.mesh.nodes; }

/// What all kinds have. Their shape must be sound: it is built where nodes of it are to be held.
template <typename Def>
void check_common(Check& check, const Def& def) {
  check.placement(def);
  check.not_negative("drag", def.drag);
  check.held_names(def.held);
  if (def.held.empty() || !check.status()) return;
  const std::vector<Vec3> nodes = rest_nodes(def);
  for (std::size_t i = 0; i < def.held.size() && check.status(); ++i) {
    const auto selected = select_nodes(nodes, def.held[i].nodes);
    if (!selected) check.within(fmt::format("held[{}].nodes", i), selected.error());
  }
}

void check_surface(Check& check, const std::shared_ptr<const TriMesh>& surface) {
  if (!surface) return;
  for (const MeshProblem& problem : validate(*surface)) {
    if (problem.kind == MeshProblem::Kind::NotFinite || problem.kind == MeshProblem::Kind::IndexOutOfRange) {
      check.that(false, "surface", problem.message);
    }
  }
}

void check_shape(Check& check, const ClothSheet& sheet) {
  check.positive("shape.width", sheet.width);
  check.positive("shape.length", sheet.length);
  check.range("shape.cells_x", sheet.cells_x, 1, kMostCells);
  check.range("shape.cells_z", sheet.cells_z, 1, kMostCells);
  const double nodes = (1.0 + sheet.cells_x) * (1.0 + sheet.cells_z);
  check.that(nodes <= double{kMostNodes}, "shape.cells_x",
             fmt::format("{} x {} cells have {:.0f} nodes; a body may have at most {:.0f}", sheet.cells_x,
                         sheet.cells_z, nodes, kMostNodes));
}

void check_shape(Check& check, const TriMesh& mesh) {
  check.that(!mesh.faces.empty(), "shape", "the mesh has no triangles");
  if (!check.status()) return;
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const MeshProblem& problem : validate(mesh)) check.that(false, "shape", problem.message);
  if (!check.status()) return;
  for (const Face& face : mesh.faces) {
    for (const std::uint32_t vertex : face) used[vertex] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    check.that(used[i], "shape", fmt::format("vertex {} is in no triangle: it would have no mass", i));
  }
}

void check_shape(Check& check, const ClothWeave& weave) {
  check.positive("shape.cell", weave.cell);
  check.not_negative("shape.uv_scale", weave.uv_scale);
  check_shape(check, weave.mesh);
  check.that(!weave.uses_uvs || !weave.mesh.uvs.empty(), "shape.uses_uvs", "the mesh has no texture coordinates");
  if (!check.status()) return;
  if (weave.uses_uvs) {
    for (const Vec2 uv : weave.mesh.uvs) {
      check.that(std::isfinite(uv.x) && std::isfinite(uv.y), "shape.mesh", "a texture coordinate is not finite");
    }
  }
  if (!check.status()) return;
  float cells = 0;
  const WeavePattern pattern = find_pattern(weave);
  for (std::size_t i = 0; i < pattern.panels.size() && check.status(); ++i) {
    Aabb box;
    for (const auto& corners : pattern.panels[i].pattern) {
      for (const Vec2 corner : corners) box.include(Vec3{corner.x, corner.y, 0});
    }
    check.that(box.size().x > 0 && box.size().y > 0, "shape.mesh",
               fmt::format("panel {} has no area in its pattern", i));
    cells += (box.size().x / weave.cell + 1) * (box.size().y / weave.cell + 1);
  }
  check.that(cells < kMostNodes, "shape.cell", fmt::format("{} m would make too many nodes", weave.cell));
}

Status check_one(const ClothDef& def) {
  Check check;
  std::visit([&](const auto& shape) { check_shape(check, shape); }, def.shape);
  const ClothMaterial& m = def.material;
  check.positive("material.density", m.density);
  check.not_negative("material.bend_stiffness", m.bend_stiffness);
  check.not_negative("material.shear_stiffness", m.shear_stiffness);
  positive_or_infinite(check, "material.stretch_stiffness", m.stretch_stiffness);
  check.not_negative("material.damping", m.damping);
  positive_or_infinite(check, "material.strength", m.strength);
  check.not_negative("outside_pressure", def.outside_pressure);
  check.positive("thickness", def.thickness);
  check.finite("pressure", def.pressure);
  check.that(def.pressure + def.outside_pressure >= 0, "pressure", "there is no less pressure than none");
  check.that(!std::holds_alternative<ClothWeave>(def.shape) || !std::isfinite(m.strength), "material.strength",
             "cloth that is sewn of panels does not tear");
  if (def.pressure != 0) {
    const auto* mesh = std::get_if<TriMesh>(&def.shape);
    check.that(mesh != nullptr, "pressure", "a sheet holds no gas: pressure needs a closed mesh");
    if (mesh && check.status()) {
      for (const MeshProblem& problem : validate(*mesh, {.require_closed = true})) {
        check.that(false, "pressure", "only a closed mesh holds gas: " + problem.message);
      }
      check.that(enclosed_volume(*mesh) > 0, "pressure", "the faces of the mesh look inward");
    }
  }
  check_surface(check, def.surface);
  if (!check.status()) return check.status();
  check_common(check, def);
  return check.status();
}

Status check_one(const RopeDef& def) {
  Check check;
  check.that(def.path.size() >= 2, "path", "a rope needs at least two points");
  for (std::size_t i = 0; i < def.path.size() && check.status(); ++i) {
    const std::string field = fmt::format("path[{}]", i);
    check.finite(field.c_str(), def.path[i]);
    check.that(i == 0 || length(def.path[i] - def.path[i - 1]) > 1e-6f, field.c_str(),
               "two points of the path are the same");
  }
  check.that(!def.closed || def.path.size() >= 3, "path", "a closed rope needs at least three points");
  check.that(!def.closed || !check.status() || length(def.path.back() - def.path.front()) > 1e-6f, "path",
             "a closed rope goes on to its first point by itself: the last one must be another");
  check.positive("segment", def.segment);
  check.positive("radius", def.radius);
  const RopeMaterial& m = def.material;
  check.positive("material.density", m.density);
  check.not_negative("material.bend_stiffness", m.bend_stiffness);
  positive_or_infinite(check, "material.stretch_stiffness", m.stretch_stiffness);
  check.not_negative("material.damping", m.damping);
  positive_or_infinite(check, "material.strength", m.strength);
  if (!check.status()) return check.status();
  float total = 0;
  for (std::size_t i = 1; i < def.path.size(); ++i) total += length(def.path[i] - def.path[i - 1]);
  check.that(total / def.segment < kMostNodes, "segment",
             fmt::format("{} m in a rope of {} m would make too many nodes", def.segment, total));
  if (!check.status()) return check.status();
  check_common(check, def);
  return check.status();
}

Status check_one(const JellyDef& def) {
  Check check;
  check.that(!def.mesh.tets.empty(), "mesh", "the mesh has no tets");
  if (!check.status()) return check.status();
  for (const MeshProblem& problem : validate(def.mesh)) check.that(false, "mesh", problem.message);
  check.positive("density", def.density);
  check.positive("young_modulus", def.young_modulus);
  check.range("poisson_ratio", def.poisson_ratio, 0.0f, 0.49f);
  check.not_negative("damping", def.damping);
  check.positive("thickness", def.thickness);
  check_surface(check, def.surface);
  if (check.status()) check_common(check, def);
  return check.status();
}

}  // namespace

Status check_def(const ParticleDef& def) {
  return std::visit([](const auto& d) { return check_one(d); }, def);
}

Status check_def(const AnchorDef& def) {
  Check check;
  check.that(def.break_force > 0, "break_force", "the breaking force must be greater than 0");
  return check.status();
}

}  // namespace pliant
