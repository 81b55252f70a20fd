#include "io/vtk_cells.h"

#include <fmt/format.h>

#include "io/polygon.h"

namespace pliant {

namespace {

/// For messages; the empty string for a type that VTK does not have.
std::string cell_name(int type) {
  switch (type) {
    case 11:
      return "a voxel";
    case 12:
      return "a hexahedron";
    case 13:
      return "a wedge";
    case 14:
      return "a pyramid";
    case 21:
      return "a quadratic edge";
    case 22:
      return "a quadratic triangle";
    case 23:
      return "a quadratic quad";
    case 24:
      return "a quadratic (10-node) tetrahedron";
    case 25:
      return "a quadratic hexahedron";
    case 42:
      return "a polyhedron";
    case 71:
      return "a Lagrange tetrahedron";
    default:
      return {};
  }
}

std::string wrong_size(const char* what, std::size_t nodes) { return fmt::format("{} has {} points", what, nodes); }

void add_strip(MeshAssembly& mesh, std::span<const std::uint32_t> n) {
  for (std::size_t i = 0; i + 2 < n.size(); ++i)
    mesh.faces.push_back(i % 2 == 0 ? Face{n[i], n[i + 1], n[i + 2]} : Face{n[i + 1], n[i], n[i + 2]});
}

}  // namespace

std::string add_vtk_cell(MeshAssembly& mesh, int type, std::span<const std::uint32_t> nodes) {
  switch (type) {
    case 0:
    case kVtkVertex:
    case kVtkPolyVertex:
    case kVtkLine:
    case kVtkPolyLine:
    case 21:
      return {};
    case kVtkTriangle:
      if (nodes.size() != 3) return wrong_size("a triangle", nodes.size());
      mesh.faces.push_back({nodes[0], nodes[1], nodes[2]});
      return {};
    case kVtkTriangleStrip:
      if (nodes.size() < 3) return wrong_size("a triangle strip", nodes.size());
      add_strip(mesh, nodes);
      return {};
    case kVtkPixel:
      if (nodes.size() != 4) return wrong_size("a pixel", nodes.size());
      mesh.faces.push_back({nodes[0], nodes[1], nodes[3]});
      mesh.faces.push_back({nodes[0], nodes[3], nodes[2]});
      return {};
    case kVtkQuad:
      if (nodes.size() != 4) return wrong_size("a quad", nodes.size());
      triangulate_polygon(mesh.points, nodes, mesh.faces);
      return {};
    case kVtkPolygon:
      if (nodes.size() < 3) return wrong_size("a polygon", nodes.size());
      triangulate_polygon(mesh.points, nodes, mesh.faces);
      return {};
    case kVtkTetra:
      if (nodes.size() != 4) return wrong_size("a tetrahedron", nodes.size());
      mesh.tets.push_back({nodes[0], nodes[1], nodes[2], nodes[3]});
      return {};
    default: {
      const std::string name = cell_name(type);
      return fmt::format("is {}; only tetrahedra, triangles, quads, polygons and strips can be used",
                         name.empty() ? fmt::format("of type {}", type) : name);
    }
  }
}

void add_vtk_point_data(MeshAssembly& mesh, const std::string& name, std::size_t components,
                        const std::vector<double>& values) {
  const std::string_view set_prefix = kVtkNodeSet;
  // What a file says twice, it says last.
  if (name == kVtkNormals && components == 3) {
    mesh.normals.clear();
    for (std::size_t i = 0; i + 2 < values.size(); i += 3)
      mesh.normals.push_back(
          {static_cast<float>(values[i]), static_cast<float>(values[i + 1]), static_cast<float>(values[i + 2])});
  } else if (name == kVtkUvs && components == 2) {
    mesh.uvs.clear();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      mesh.uvs.push_back({static_cast<float>(values[i]), static_cast<float>(flip_v(values[i + 1]))});
  } else if (name.compare(0, set_prefix.size(), set_prefix) == 0 && components == 1) {
    add_membership(mesh, name.substr(set_prefix.size()), values);
  }
}

bool is_vtk_region(const std::string& name) {
  // Ours, Gmsh's own VTK files, and those of meshio.
  return name == kVtkRegion || name == "CellEntityIds" || name == "gmsh:physical";
}

bool set_vtk_regions(MeshAssembly& mesh, const std::vector<int>& types, const std::vector<double>& values) {
  mesh.regions.clear();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != kVtkTetra) continue;
    const auto region = region_from(values[i]);
    if (!region) return false;
    mesh.regions.push_back(*region);
  }
  return true;
}

}  // namespace pliant
