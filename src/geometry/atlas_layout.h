// Layouts of a surface: automatic, or taken over from the mesh that it was made of.
#pragma once

#include <vector>

#include "geometry/atlas_source.h"
#include "geometry/surface_remesh.h"

namespace pliant {

/// Texels around each chart that stay free: two between neighbours.
inline constexpr int kChartMargin = 1;

/// Charts of normals that agree, flattened, packed.
Result<AtlasLayout> lay_out(const TriMesh& surface, int resolution);

/// The layout of the source, at the nodes of a surface that was remeshed from it.
AtlasLayout carry_layout(const AtlasSource& source, const GroupedSurface& surface);

/// The same charts, each scaled to its area on the surface, turned upright and packed. Those that lie over themselves
/// are flattened anew.
Result<AtlasLayout> pack_anew(const TriMesh& surface, const AtlasLayout& layout, int resolution);

/// How much of the texture is covered, and covered twice, as shares of the texture and of what is covered.
struct LayoutCover {
  double covered = 0, doubled = 0;
};
LayoutCover cover_of(const std::vector<std::array<Vec2, 3>>& faces, int resolution);
std::vector<std::array<Vec2, 3>> corners_of(const AtlasLayout& layout);

struct LayoutStretch {
  double mean_square = 0, most = 0, texel = 0;  ///< texel: m along a texture of side 1, on average
};
/// Sander, Snyder, Gortler and Hoppe 2001, "Texture mapping progressive meshes".
LayoutStretch stretch_of(const TriMesh& surface, const AtlasLayout& layout);

}  // namespace pliant
