// Writes VTK unstructured grids (.vtu) of triangles and tetrahedra, with named data per point and per cell.
//
//   VtuGrid grid{.points = mesh.nodes, .tets = mesh.tets};
//   grid.point_data.push_back({"velocity", 3, VtuArray::of(velocities)});
//   write_vtu(file, grid);               // into an OutputFile of a recording
//   save_vtu("frame_0001.vtu", grid);    // or a file of its own
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "io/file.h"
#include "pliant/mesh.h"

namespace pliant {

/// A named array: `values` holds `components` numbers per point or cell. The data is not copied and must outlive the
/// writing.
struct VtuArray {
  using Values =
      std::variant<std::span<const float>, std::span<const double>, std::span<const std::int32_t>,
                   std::span<const std::int64_t>, std::span<const std::uint8_t>, std::span<const std::uint32_t>>;

  std::string name;
  int components = 1;  ///< 1 for scalars, 3 for vectors
  Values values;

  /// Vectors as the flat numbers they consist of.
  static std::span<const float> of(std::span<const Vec3> v) {
    static_assert(sizeof(Vec3) == 3 * sizeof(float));
    return {reinterpret_cast<const float*>(v.data()), 3 * v.size()};
  }
};

/// What a .vtu file holds. The cells are the faces and then the tets: arrays of `cell_data` follow that order.
struct VtuGrid {
  std::span<const Vec3> points = {};
  std::span<const Face> faces = {};
  std::span<const Tet> tets = {};
  std::vector<VtuArray> point_data = {}, cell_data = {};
  std::optional<double> time = {};  ///< s, kept as the field `TimeValue`

  std::size_t cells() const { return faces.size() + tets.size(); }
};

enum class VtuEncoding {
  AppendedRaw,  ///< compact and exact, the default
  Ascii         ///< readable; numbers have as many digits as an exact round trip needs
};

/// Writes the grid. Errors: an array whose length does not fit, an index out of range; failed writes.
Status write_vtu(OutputFile& file, const VtuGrid& grid, VtuEncoding encoding = VtuEncoding::AppendedRaw);
/// The same as a file of its own, whole or not at all.
Status save_vtu(const std::filesystem::path& file, const VtuGrid& grid,
                VtuEncoding encoding = VtuEncoding::AppendedRaw);

/// Text that may stand in an XML attribute or element: &, <, >, quotes and control characters are escaped.
std::string xml_escaped(std::string_view text);

}  // namespace pliant
