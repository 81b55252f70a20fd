// The cell types of VTK, shared by the legacy and the XML format.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/mesh_format.h"

namespace pliant {

enum VtkCell : int {
  kVtkVertex = 1,
  kVtkPolyVertex = 2,
  kVtkLine = 3,
  kVtkPolyLine = 4,
  kVtkTriangle = 5,
  kVtkTriangleStrip = 6,
  kVtkPolygon = 7,
  kVtkPixel = 8,
  kVtkQuad = 9,
  kVtkTetra = 10
};

/// Adds one cell to the mesh: tetrahedra as they are, polygons and strips cut into triangles, points and lines left
/// out. `nodes` are in range. The empty string, or why the cell cannot be used.
std::string add_vtk_cell(MeshAssembly& mesh, int type, std::span<const std::uint32_t> nodes);

/// Turns data that came with the points (`values` has `components` numbers for each) into normals, uvs or node sets if
/// its name says so.
void add_vtk_point_data(MeshAssembly& mesh, const std::string& name, std::size_t components,
                        const std::vector<double>& values);
/// True if cell data of this name are the regions.
bool is_vtk_region(const std::string& name);
/// The regions of the tets from one number per cell, given the type of each cell. False if a tet's is not a whole
/// number that fits.
bool set_vtk_regions(MeshAssembly& mesh, const std::vector<int>& types, const std::vector<double>& values);

}  // namespace pliant
