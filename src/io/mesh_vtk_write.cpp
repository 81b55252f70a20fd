// Writes legacy VTK files (.vtk) as unstructured grids in the layout of version 3, which every reader knows.
#include "io/mesh_format.h"
#include "io/text_writer.h"
#include "io/vtk_cells.h"

namespace pliant {

namespace {

/// Blanks and quotes would end a name early.
std::string encoded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= 32 || c == '%' || c == '"')
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

class VtkWriter {
 public:
  VtkWriter(OutputFile& file, bool binary) : out_(file), binary_(binary) {}

  void head(const std::vector<Vec3>& points) {
    out_.print("# vtk DataFile Version 3.0\nwritten by pliant\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} float\n",
               binary_ ? "BINARY" : "ASCII", points.size());
    vectors(points);
  }

  template <typename Cell>
  void cells(const std::vector<Cell>& list, VtkCell type) {
    constexpr auto kCorners = static_cast<std::int32_t>(std::tuple_size_v<Cell>);
    out_.print("CELLS {} {}\n", list.size(), list.size() * (std::tuple_size_v<Cell> + 1));
    for (const Cell& c : list) {
      number(kCorners, ' ');
      for (std::size_t k = 0; k < c.size(); ++k)
        number(static_cast<std::int32_t>(c[k]), k + 1 == c.size() ? '\n' : ' ');
    }
    end();
    out_.print("CELL_TYPES {}\n", list.size());
    for (std::size_t i = 0; i < list.size(); ++i) number(std::int32_t{type}, '\n');
    end();
  }

  void surface_data(const TriMesh& mesh) {
    if (mesh.normals.empty() && mesh.uvs.empty()) return;
    out_.print("POINT_DATA {}\n", mesh.vertices.size());
    if (!mesh.normals.empty()) {
      out_.print("NORMALS {} float\n", kVtkNormals);
      vectors(mesh.normals);
    }
    if (mesh.uvs.empty()) return;
    out_.print("TEXTURE_COORDINATES {} 2 double\n", kVtkUvs);
    for (const Vec2 t : mesh.uvs) number(double{t.x}, ' '), number(flip_v(t.y), '\n');
    end();
  }

  void solid_data(const TetMesh& mesh) {
    if (!mesh.regions.empty()) {
      out_.print("CELL_DATA {}\nSCALARS {} int 1\nLOOKUP_TABLE default\n", mesh.tets.size(), kVtkRegion);
      for (const std::int32_t r : mesh.regions) number(r, '\n');
      end();
    }
    if (mesh.node_sets.empty()) return;
    out_.print("POINT_DATA {}\n", mesh.nodes.size());
    for (const auto& [name, set] : mesh.node_sets) {
      out_.print("SCALARS {} unsigned_char 1\nLOOKUP_TABLE default\n", encoded(kVtkNodeSet + name));
      for (const std::uint8_t member : set_membership(mesh, set)) number(member, '\n');
      end();
    }
  }

 private:
  template <typename T>
  void number(T value, char separator) {
    if (binary_)
      out_.raw_big_endian(value);
    else
      out_.print("{}{}", value, separator);
  }
  void vectors(const std::vector<Vec3>& list) {
    for (const Vec3 v : list) number(v.x, ' '), number(v.y, ' '), number(v.z, '\n');
    end();
  }
  void end() {
    if (binary_) out_.print("\n");
  }

  TextWriter out_;
  bool binary_;
};

}  // namespace

void write_vtk(OutputFile& file, const TriMesh& mesh, bool binary) {
  VtkWriter out(file, binary);
  out.head(mesh.vertices);
  out.cells(mesh.faces, kVtkTriangle);
  out.surface_data(mesh);
}

void write_vtk(OutputFile& file, const TetMesh& mesh, bool binary) {
  VtkWriter out(file, binary);
  out.head(mesh.nodes);
  out.cells(mesh.tets, kVtkTetra);
  out.solid_data(mesh);
}

}  // namespace pliant
