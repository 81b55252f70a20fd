#include "pliant/cloth_materials.h"

#include <fmt/format.h>

namespace pliant::cloth_material {
namespace {

struct Entry {
  std::string_view name;
  ClothMaterial (*make)();
};
constexpr Entry kLibrary[] = {{"cotton", cotton},
                              {"silk", silk},
                              {"wool", wool},
                              {"denim", denim},
                              {"canvas", canvas},
                              {"leather", leather},
                              {"rubber_sheet", rubber_sheet},
                              {"paper", paper}};

}  // namespace

ClothMaterial cotton() { return {.density = 0.15f, .bend_stiffness = 8e-6f, .shear_stiffness = 40}; }
ClothMaterial silk() { return {.density = 0.06f, .bend_stiffness = 3e-6f, .shear_stiffness = 15}; }
ClothMaterial wool() { return {.density = 0.26f, .bend_stiffness = 1e-5f, .shear_stiffness = 45}; }
ClothMaterial denim() { return {.density = 0.4f, .bend_stiffness = 4e-5f, .shear_stiffness = 150}; }
ClothMaterial canvas() { return {.density = 0.5f, .bend_stiffness = 2e-4f, .shear_stiffness = 300}; }

// Plates of one stuff with modulus E, thickness t and Poisson's ratio ν: bending takes E t³ / 12 (1 − ν²), shear
// E t / 2 (1 + ν), stretching E t.
ClothMaterial leather() {
  return {.density = 0.9f, .bend_stiffness = 3e-3f, .shear_stiffness = 1e4f, .stretch_stiffness = 3e4f};
}
ClothMaterial rubber_sheet() {
  return {.density = 0.28f, .bend_stiffness = 4.5e-6f, .shear_stiffness = 150, .stretch_stiffness = 450};
}
ClothMaterial paper() { return {.density = 0.08f, .bend_stiffness = 4e-4f, .shear_stiffness = 1.5e5f}; }

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const Entry& entry : kLibrary) list.push_back(entry.name);
  return list;
}

Result<ClothMaterial> by_name(std::string_view name) {
  for (const Entry& entry : kLibrary) {
    if (entry.name == name) return entry.make();
  }
  return Error{Error::Code::NotFound,
               fmt::format("there is no cloth '{}'; known are {}", name, fmt::join(names(), ", ")),
               {},
               {}};
}

}  // namespace pliant::cloth_material
