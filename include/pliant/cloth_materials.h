// A library of fabrics, membranes and sheets for `ClothDef::material`.
//
//   pliant::ClothDef def{.material = pliant::cloth_material::silk()};
#pragma once

#include <string_view>
#include <vector>

#include "pliant/particle.h"
#include "pliant/result.h"

namespace pliant::cloth_material {

// Typical values of one common weight of each; the sources are listed in docs/cloth.md.
ClothMaterial cotton();        ///< shirting to sheeting, 0.15 kg/m²
ClothMaterial silk();          ///< light and limp, 0.06 kg/m²
ClothMaterial wool();          ///< suiting, 0.26 kg/m²
ClothMaterial denim();         ///< 0.4 kg/m²
ClothMaterial canvas();        ///< cotton duck, 0.5 kg/m²: tents, sails, awnings
ClothMaterial leather();       ///< 1 mm
ClothMaterial rubber_sheet();  ///< latex, 0.3 mm: the only one here that stretches far
ClothMaterial paper();         ///< office paper, 0.08 kg/m²

/// The names above, in that order.
std::vector<std::string_view> names();
Result<ClothMaterial> by_name(std::string_view name);

}  // namespace pliant::cloth_material
