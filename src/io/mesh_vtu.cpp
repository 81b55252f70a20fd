// VTK's XML unstructured grids (.vtu): text, base64 and appended data, plain or packed by zlib.
#include <limits>

#include <fmt/format.h>

#include "io/mesh_format.h"
#include "io/parse_number.h"
#include "io/text_reader.h"
#include "io/vtk_cells.h"
#include "io/vtu_array.h"
#include "io/vtu_writer.h"

namespace pliant {

namespace {

class VtuReader {
 public:
  VtuReader(const std::filesystem::path& file, const XmlElement& root, const VtuEncodingInfo& encoding)
      : file_(file), root_(root), encoding_(encoding) {}

  Result<MeshFile> read() {
    const std::string* type = root_.attribute("type");
    const XmlElement* grid = root_.child("UnstructuredGrid");
    if (root_.name != "VTKFile" || !type)
      fail(root_, "is not a VTK file: the root element is not <VTKFile type=...>");
    else if (*type != "UnstructuredGrid")
      fail(root_, fmt::format("holds {}; only UnstructuredGrid can be used", printable(*type)),
           Error::Code::Unsupported);
    else if (!grid)
      fail(root_, "has no <UnstructuredGrid>");
    if (status_)
      for (const XmlElement& piece : grid->children)
        if (piece.name == "Piece" && status_) read_piece(piece);
    if (!status_) return status_.error();
    // What only some pieces have, the whole does not.
    if (whole_.normals.size() != whole_.points.size()) whole_.normals.clear();
    if (whole_.uvs.size() != whole_.points.size()) whole_.uvs.clear();
    if (!whole_.regions.empty()) whole_.regions.resize(whole_.tets.size());
    return whole_.finish(file_);
  }

 private:
  void fail(const XmlElement& e, std::string message, Error::Code code = Error::Code::CannotRead) {
    if (status_) status_ = file_error(code, file_, std::move(message), e.line, std::string(printable(e.name)));
  }

  std::uint64_t size(const XmlElement& piece, const char* name) {
    const std::string* text = piece.attribute(name);
    const auto value = text ? parse_integer(*text) : std::nullopt;
    if (!value || *value < 0 || *value > std::numeric_limits<std::uint32_t>::max())
      return fail(piece,
                  fmt::format("{} is \"{}\", which is not a number of things", name, text ? printable(*text) : "")),
             0;
    return static_cast<std::uint64_t>(*value);
  }

  std::vector<double> values(const XmlElement& array, std::uint64_t count) {
    if (!status_) return {};
    Result<std::vector<double>> result = read_vtu_array(file_, encoding_, array, count);
    if (result) return std::move(*result);
    status_ = result.error();
    return {};
  }

  /// The array called `name` of a section.
  std::vector<double> values(const XmlElement& section, std::string_view name, std::uint64_t count) {
    for (const XmlElement& a : section.children)
      if (const std::string* n = a.attribute("Name"); n && *n == name) return values(a, count);
    return fail(section, fmt::format("has no DataArray called {}", name)), std::vector<double>();
  }

  static std::uint64_t components(const XmlElement& array) {
    const std::string* text = array.attribute("NumberOfComponents");
    const auto value = text ? parse_integer(*text) : std::nullopt;
    return value && *value > 0 && *value < 1000 ? static_cast<std::uint64_t>(*value) : 1;
  }

  void read_piece(const XmlElement& piece) {
    MeshAssembly mesh;
    const std::uint64_t points = size(piece, "NumberOfPoints"), cells = size(piece, "NumberOfCells");
    const XmlElement *point_section = piece.child("Points"), *cell_section = piece.child("Cells");
    if (points == 0 && cells == 0) return;
    if (!point_section || point_section->children.empty() || !cell_section)
      return fail(piece, "has no <Points> with a DataArray, or no <Cells>");
    const std::vector<double> coordinates = values(point_section->children[0], 3 * points);
    for (std::size_t i = 0; i + 2 < coordinates.size(); i += 3)
      mesh.points.push_back({static_cast<float>(coordinates[i]), static_cast<float>(coordinates[i + 1]),
                             static_cast<float>(coordinates[i + 2])});
    const std::vector<int> types = read_cells(*cell_section, cells, mesh);
    if (const XmlElement* data = piece.child("PointData"); data && status_) read_point_data(*data, points, mesh);
    if (const XmlElement* data = piece.child("CellData"); data && status_) read_cell_data(*data, types, mesh);
    if (status_) append(mesh);
  }

  /// The cells end where the last one does.
  static std::uint64_t connectivity_size(const std::vector<double>& offsets) {
    return offsets.empty() || !(offsets.back() >= 0 && offsets.back() < 1e15)
               ? 0
               : static_cast<std::uint64_t>(offsets.back());
  }

  /// Adds the cells and returns the type of each.
  std::vector<int> read_cells(const XmlElement& section, std::uint64_t cells, MeshAssembly& mesh) {
    const std::vector<double> offsets = values(section, "offsets", cells);
    const std::vector<double> type_values = values(section, "types", cells);
    const std::vector<double> connectivity = values(section, "connectivity", connectivity_size(offsets));
    std::vector<int> types;
    std::vector<std::uint32_t> nodes;
    std::size_t at = 0;
    for (std::size_t i = 0; i < offsets.size() && status_; ++i) {
      if (!(offsets[i] >= static_cast<double>(at) && offsets[i] <= static_cast<double>(connectivity.size())))
        return fail(section, fmt::format("offset {} of cell {} is not between {} and {}", offsets[i], i, at,
                                         connectivity.size())),
               types;
      nodes.clear();
      for (const auto end = static_cast<std::size_t>(offsets[i]); at < end; ++at) {
        if (!(connectivity[at] >= 0 && connectivity[at] < static_cast<double>(mesh.points.size())))
          return fail(section,
                      fmt::format("cell {} names point {}, but there are {}", i, connectivity[at], mesh.points.size())),
                 types;
        nodes.push_back(static_cast<std::uint32_t>(connectivity[at]));
      }
      const int type = type_values[i] >= 0 && type_values[i] < 256 ? static_cast<int>(type_values[i]) : -1;
      const std::string problem = add_vtk_cell(mesh, type, nodes);
      if (!problem.empty()) fail(section, fmt::format("cell {} {}", i, problem), Error::Code::Unsupported);
      types.push_back(type);
    }
    return types;
  }

  void read_point_data(const XmlElement& section, std::uint64_t points, MeshAssembly& mesh) {
    // VTK names the roles in attributes of the section.
    const std::string *normals = section.attribute("Normals"), *uvs = section.attribute("TCoords");
    for (const XmlElement& array : section.children) {
      const std::string* name = array.attribute("Name");
      if (!name) continue;
      const std::string role = normals && *name == *normals ? kVtkNormals : uvs && *name == *uvs ? kVtkUvs : *name;
      const bool wanted = role == kVtkNormals || role == kVtkUvs || role.find(kVtkNodeSet) == 0;
      if (!wanted) continue;
      const std::uint64_t n = components(array);
      const std::vector<double> list = values(array, n * points);
      if (status_) add_vtk_point_data(mesh, role, static_cast<std::size_t>(n), list);
    }
  }

  void read_cell_data(const XmlElement& section, const std::vector<int>& types, MeshAssembly& mesh) {
    for (const XmlElement& array : section.children) {
      const std::string* name = array.attribute("Name");
      if (!name || !is_vtk_region(*name) || components(array) != 1) continue;
      const std::vector<double> list = values(array, types.size());
      if (status_ && !set_vtk_regions(mesh, types, list))
        fail(array, "a region is not a whole number that fits 32 bits");
    }
  }

  void append(MeshAssembly& piece) {
    const auto first = static_cast<std::uint32_t>(whole_.points.size());
    const auto shift = [&](auto& cells) {
      for (auto& cell : cells)
        for (std::uint32_t& v : cell) v += first;
    };
    if (whole_.points.size() + piece.points.size() > std::numeric_limits<std::uint32_t>::max())
      return fail(root_, "has too many points");
    shift(piece.faces), shift(piece.tets);
    if (!piece.regions.empty()) {
      whole_.regions.resize(whole_.tets.size());
      whole_.regions.insert(whole_.regions.end(), piece.regions.begin(), piece.regions.end());
    }
    const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    join(whole_.points, piece.points), join(whole_.faces, piece.faces), join(whole_.tets, piece.tets);
    join(whole_.normals, piece.normals), join(whole_.uvs, piece.uvs);
    for (const auto& [name, set] : piece.point_sets)
      for (const std::uint32_t p : set) whole_.point_sets[name].push_back(p + first);
  }

  const std::filesystem::path& file_;
  const XmlElement& root_;
  const VtuEncodingInfo& encoding_;
  MeshAssembly whole_;
  Status status_;
};

VtuEncoding encoding_of(bool binary) { return binary ? VtuEncoding::AppendedRaw : VtuEncoding::Ascii; }

}  // namespace

Result<MeshFile> read_vtu(const std::filesystem::path& file, std::string_view content) {
  const Result<XmlElement> root = parse_xml(file, content, "AppendedData");
  if (!root) return root.error();
  const Result<VtuEncodingInfo> encoding = read_vtu_encoding(file, *root);
  if (!encoding) return encoding.error();
  return VtuReader(file, *root, *encoding).read();
}

Status save_vtu_mesh(const std::filesystem::path& file, const TriMesh& mesh, bool binary) {
  VtuGrid grid;
  grid.points = mesh.vertices;
  grid.faces = mesh.faces;
  if (!mesh.normals.empty()) grid.point_data.push_back({kVtkNormals, 3, VtuArray::of(mesh.normals)});
  std::vector<double> uvs;
  for (const Vec2 t : mesh.uvs) uvs.push_back(t.x), uvs.push_back(flip_v(t.y));
  if (!uvs.empty()) grid.point_data.push_back({kVtkUvs, 2, std::span<const double>(uvs)});
  return save_vtu(file, grid, encoding_of(binary));
}

Status save_vtu_mesh(const std::filesystem::path& file, const TetMesh& mesh, bool binary) {
  VtuGrid grid;
  grid.points = mesh.nodes;
  grid.tets = mesh.tets;
  if (!mesh.regions.empty()) grid.cell_data.push_back({kVtkRegion, 1, std::span<const std::int32_t>(mesh.regions)});
  std::vector<std::vector<std::uint8_t>> members;
  for (const auto& [name, set] : mesh.node_sets) members.push_back(set_membership(mesh, set));
  std::size_t i = 0;
  for (const auto& [name, set] : mesh.node_sets)
    grid.point_data.push_back({kVtkNodeSet + name, 1, std::span<const std::uint8_t>(members[i++])});
  return save_vtu(file, grid, encoding_of(binary));
}

}  // namespace pliant
