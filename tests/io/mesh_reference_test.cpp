// Files written by hand (or laid out byte by byte) as the formats' own manuals say, and what is in them.
#include <cstring>

#include <fmt/format.h>

#include "io/base64.h"
#include "io/mesh_test_support.h"

namespace pliant::test {
namespace {

class Reference : public MeshFolder {};

/// Numbers as they lie in a file.
template <typename T>
void add(std::string& to, T value, bool big_endian = false) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if (big_endian) std::reverse(bytes, bytes + sizeof(T));
  to.append(bytes, sizeof(T));
}
template <typename T>
std::string packed(std::initializer_list<T> values, bool big_endian = false) {
  std::string result;
  for (const T v : values) add(result, v, big_endian);
  return result;
}

using Faces = std::vector<Face>;
using Tets = std::vector<Tet>;
using Points = std::vector<Vec3>;
const Points kTetPoints{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// --- OBJ ---

TEST_F(Reference, ObjWithEveryFormOfFace) {
  const MeshFile m = load(put("m.obj",
                              "# comment\r\nmtllib a.mtl\r\no thing\r\n"
                              "v 0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 0 0.5 0.5 0.5\r\nv 0 1 0\r\n"
                              "vt 0 0\nvt 1 0\nvt 1 1\nvt 0.25\nvn 0 0 1\ns off\ng front back\nusemtl m\n"
                              "f 1/1/1 2/2/1 3/3/1\n"
                              "f -4/-4/-1 -2/-2/-1 \\\n -1/-1/-1 # end\n"
                              "l 1 2\np 1\nunknown 1 2 3\nvp 1 2\n"));
  EXPECT_TRUE(m.surface.vertices == (Points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {0, 2, 3}}));
  EXPECT_TRUE(m.surface.normals == Points(4, {0, 0, 1}));
  // OBJ's v goes up, ours goes down.
  EXPECT_TRUE(m.surface.uvs == (std::vector<Vec2>{{0, 1}, {1, 1}, {1, 0}, {0.25f, 1}}));
}

TEST_F(Reference, ObjPolygonsAndPlainFaces) {
  const MeshFile m =
      load(put("m.obj", "v 0 1 0\nv 0 0 0\nv 3 0 0\nv 3 3 0\nv 2 3 0\nv 2 1 0\nv 9 9 9\nf 1 2 3 4 5 6\n"));
  EXPECT_EQ(m.surface.faces.size(), 4u);
  EXPECT_EQ(m.surface.vertices.size(), 6u) << "the unused vertex stays out";
  double area = 0;
  for (const Face& f : m.surface.faces) {
    const Vec3 a = m.surface.vertices[f[0]];
    area += 0.5 * cross(m.surface.vertices[f[1]] - a, m.surface.vertices[f[2]] - a).z;
  }
  EXPECT_NEAR(area, 5, 1e-6);
}

TEST_F(Reference, ObjSplitsVerticesWithSeveralNormals) {
  const MeshFile m = load(put("m.obj",
                              "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvn 0 1 0\n"
                              "f 1//1 2//1 3//1\nf 1//2 2//2 4//2\n"));
  EXPECT_EQ(m.surface.vertices.size(), 6u);
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {4, 5, 3}}));
  EXPECT_TRUE(m.surface.vertices[4] == m.surface.vertices[0]);
  EXPECT_TRUE(m.surface.normals[4] == (Vec3{0, 1, 0}));
  EXPECT_TRUE(m.surface.normals[0] == (Vec3{0, 0, 1}));
}

TEST_F(Reference, ObjDropsAttributesThatOnlySomeCornersHave) {
  const MeshFile m = load(put("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf 3 2 1\n"));
  EXPECT_TRUE(m.surface.uvs.empty());
  EXPECT_EQ(m.surface.vertices.size(), 3u);
}

TEST_F(Reference, ObjErrorsNameTheLine) {
  const auto error = [&](const std::string& last) {
    return load_error(put("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + last));
  };
  EXPECT_EQ(error("f 1 2 4").line, 4);
  expect_message(error("f 1 2 4"), "names vertex 4");
  expect_message(error("f 1 2 0"), "counted from 1");
  expect_message(error("f 1 2 -4"), "names vertex -4");
  expect_message(error("f 1 2"), "at least 3");
  expect_message(error("f 1 2 x"), "\"x\"");
  expect_message(error("f 1/1 2/1 3/1"), "texture coordinate");
  expect_message(error("f 1/1/1/1 2 3"), "slashes");
  expect_message(error("v 1 2"), "line ends");
  expect_message(error("v 1 2 nan"), "finite");
  expect_message(error("v 1 2 1e39"), "finite");
  expect_message(error("v 1 2 3,5"), "not a number");
  expect_message(error(""), "no triangles");
}

// --- STL ---

const char* const kStlText =
    "solid a name\n"
    " facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1.0e0 0 0\n   vertex 0 1 0\n  endloop\n endfacet\n"
    " facet normal nan nan nan\n  outer loop\n   vertex 1 0 0\n   vertex 1 1 -0.0\n   vertex 0 1 0\n  endloop\n "
    "endfacet\n"
    "endsolid a name\n";

TEST_F(Reference, StlTextIsWelded) {
  const MeshFile m = load(put("m.stl", kStlText));
  EXPECT_TRUE(m.surface.vertices == (Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {1, 3, 2}}));
}

TEST_F(Reference, StlTextOfSeveralSolids) {
  const MeshFile m = load(put("m.stl", std::string(kStlText) + kStlText));
  EXPECT_EQ(m.surface.faces.size(), 4u);
  EXPECT_EQ(m.surface.vertices.size(), 4u);
}

TEST_F(Reference, StlBinaryMayBeginWithSolid) {
  std::string file = "solid, or so it seems";
  file.resize(80, '\0');
  add<std::uint32_t>(file, 1);
  file += packed<float>({0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0});
  file += "ab";
  const MeshFile m = load(put("m.stl", file));
  EXPECT_TRUE(m.surface.vertices == (Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
}

TEST_F(Reference, StlErrors) {
  EXPECT_EQ(load_error(put("m.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n")).line, 4);
  expect_message(load_error(put("m.stl", "solid\nfacet normal 0 0 1\nouter lop\n")), "\"loop\"");
  expect_message(load_error(put("m.stl", "solid\nendsolid\n")), "no triangles");
  expect_message(load_error(put("m.stl", "garbage")), "neither");
  std::string file(80, ' ');
  add<std::uint32_t>(file, 1);
  file += packed<float>({0, 0, 1, 0, 0, 0, 1, 0, 0, 0, std::nanf(""), 0}) + "ab";
  expect_message(load_error(put("m.stl", file)), "vertex 2 of triangle 0 is not finite");
}

// --- Gmsh ---

/// Sparse numbers, a line and a point among the elements, two groups of volumes.
const char* const kGmsh2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nanything $Nodes\n$EndComments\n"
    "$PhysicalNames\n2\n2 5 \"the wall\"\n3 9 \"body\"\n$EndPhysicalNames\n"
    "$Nodes\n6\n100 0 0 0\n7 1 0 0\n30 0 1 0\n4 0 0 1\n55 1 1 1\n1 9 9 9\n$EndNodes\n"
    "$Elements\n6\n1 15 2 3 1 100\n2 1 2 0 1 100 7\n3 2 2 5 1 100 7 30\n10 4 2 9 1 100 7 30 4\n"
    "11 4 3 -8 1 77 7 30 4 55\n12 3 2 0 2 100 7 55 4\n$EndElements\n";

TEST_F(Reference, Gmsh2WithSparseNumbersAndGroups) {
  const MeshFile m = load(put("m.msh", kGmsh2));
  EXPECT_TRUE(m.solid.nodes == (Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}));
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{9, 8}));
  const std::map<std::string, std::vector<std::uint32_t>> sets{
      {"the wall", {0, 1, 2}}, {"body", {0, 1, 2, 3}}, {"point_3", {0}}};
  EXPECT_EQ(m.solid.node_sets, sets);
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {0, 1, 4}, {0, 4, 3}}));
}

TEST_F(Reference, Gmsh2BinaryOfEitherByteOrder) {
  for (const bool big : {false, true}) {
    std::string file = "$MeshFormat\n2.2 1 8\n" + packed<std::int32_t>({1}, big) + "\n$EndMeshFormat\n$Nodes\n4\n";
    for (std::int32_t i = 0; i < 4; ++i) {
      add<std::int32_t>(file, 10 - i, big);
      const Vec3 p = kTetPoints[static_cast<std::size_t>(i)];
      file += packed<double>({p.x, p.y, p.z}, big);
    }
    file += "\n$EndNodes\n$Elements\n3\n";
    file += packed<std::int32_t>({2, 2, 2, 1, 5, 1, 10, 9, 8, 2, 5, 1, 10, 8, 7}, big);
    file += packed<std::int32_t>({4, 1, 2, 3, 6, 1, 10, 9, 8, 7}, big);
    file += "\n$EndElements\n";
    const MeshFile m = load(put("m.msh", file));
    EXPECT_TRUE(m.solid.nodes == kTetPoints);
    EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
    EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{6}));
    EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {0, 2, 3}}));
    EXPECT_EQ(m.solid.node_sets.at("surface_5").size(), 4u);
  }
}

const char* const kGmsh41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n1\n2 5 \"wall\"\n$EndPhysicalNames\n"
    "$Entities\n1 0 1 1\n4 0 0 0 1 3\n6 0 0 0 1 1 0 1 5 1 4\n8 0 0 0 1 1 1 1 -12 1 6\n$EndEntities\n"
    "$Nodes\n2 4 3 50\n2 6 1 3\n50\n40\n30\n0 0 0 0.5 0.5\n1 0 0 0 1\n0 1 0 1 1\n3 8 0 1\n3\n0 0 1\n$EndNodes\n"
    "$Elements\n3 3 1 3\n0 4 15 1\n1 50\n2 6 2 1\n2 50 40 30\n3 8 4 1\n3 50 40 30 3\n$EndElements\n"
    "$Periodic\n0\n$EndPeriodic\n";

TEST_F(Reference, Gmsh41WithEntitiesAndParametricNodes) {
  const MeshFile m = load(put("m.msh", kGmsh41));
  EXPECT_TRUE(m.solid.nodes == kTetPoints);
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{12}));
  const std::map<std::string, std::vector<std::uint32_t>> sets{{"wall", {0, 1, 2}}, {"point_3", {0}}};
  EXPECT_EQ(m.solid.node_sets, sets);
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}}));
}

TEST_F(Reference, Gmsh41BinaryOfEitherByteOrder) {
  for (const bool big : {false, true}) {
    std::string file = "$MeshFormat\n4.1 1 8\n" + packed<std::int32_t>({1}, big) + "\n$EndMeshFormat\n$Entities\n";
    file += packed<std::uint64_t>({0, 0, 0, 1}, big) + packed<std::int32_t>({8}, big) +
            packed<double>({0, 0, 0, 1, 1, 1}, big) + packed<std::uint64_t>({1}, big) +
            packed<std::int32_t>({12}, big) + packed<std::uint64_t>({0}, big) + "\n$EndEntities\n$Nodes\n";
    file += packed<std::uint64_t>({1, 4, 1, 900}, big) + packed<std::int32_t>({3, 8, 0}, big) +
            packed<std::uint64_t>({4, 1, 2, 900, 4}, big);
    for (const Vec3 p : kTetPoints) file += packed<double>({p.x, p.y, p.z}, big);
    file += "\n$EndNodes\n$Elements\n" + packed<std::uint64_t>({1, 1, 1, 1}, big) +
            packed<std::int32_t>({3, 8, 4}, big) + packed<std::uint64_t>({1, 1, 1, 2, 900, 4}, big) +
            "\n$EndElements\n";
    const MeshFile m = load(put("m.msh", file));
    EXPECT_TRUE(m.solid.nodes == kTetPoints);
    EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
    EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{12}));
  }
}

TEST_F(Reference, GmshErrors) {
  const auto changed = [&](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return load_error(put("m.msh", text.replace(at, from.size(), to)));
  };
  expect_message(changed(kGmsh2, "2.2 0 8", "4.0 0 8"), "version 4");
  expect_message(changed(kGmsh2, "2.2 0 8", "2.2 0 4"), "8 bytes");
  expect_message(changed(kGmsh2, "100 7 30 4\n11", "100 7 30 5\n11"), "node 5, which does not exist");
  EXPECT_EQ(changed(kGmsh2, "100 7 30 4\n11", "100 7 30 5\n11").line, 26);
  expect_message(changed(kGmsh2, "7 1 0 0", "100 1 0 0"), "two nodes have the number 100");
  expect_message(changed(kGmsh2, "7 1 0 0", "7 1 inf 0"), "finite");
  expect_message(changed(kGmsh2, "$Nodes\n6", "$Nodes\n600000000000"), "cannot hold so many");
  expect_message(changed(kGmsh2, "10 4 2 9 1 100 7 30 4", "10 11 2 9 1 100 7 30 4 4 4 4 4 4 4"), "10-node tetrahedron");
  EXPECT_EQ(changed(kGmsh2, "10 4 2", "10 5 2").code, Error::Code::Unsupported);
  expect_message(changed(kGmsh2, "10 4 2", "10 4000 2"), "type 4000");
  expect_message(changed(kGmsh2, "$EndElements", "$EndElement"), "$EndElements");
  expect_message(changed(kGmsh41, "$Entities", "$PartitionedEntities"), "partitions");
  expect_message(changed(kGmsh2, "$Comments", "Comments"), "section");
}

// --- VTK ---

const char* const kVtkGrid =
    "# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n"
    "POINTS 5 double\n0 0 0  1 0 0  0 1 0\n0 0 1  1 1 1\n"
    "CELLS 5 22\n4 0 1 2 3\n3 0 1 2\n2 0 1\n4 0 1 4 2\n4 1 2 3 4\nCELL_TYPES 5\n10\n5 3 9 10\n"
    "CELL_DATA 5\nSCALARS region int\nLOOKUP_TABLE default\n4 0 0 0 -5\nMETADATA\nINFORMATION 0\n\n"
    "POINT_DATA 5\nVECTORS v float\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nSCALARS node_set:two%20words unsigned_char 1\n"
    "LOOKUP_TABLE mine\n0 1 0 0 1\nLOOKUP_TABLE mine 2\n0 0 0 1 1 1 1 1\n";

TEST_F(Reference, VtkGridWithDataAndOtherCells) {
  const MeshFile m = load(put("m.vtk", kVtkGrid));
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{4, -5}));
  EXPECT_EQ(m.solid.node_sets.at("two words"), (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(m.surface.faces.size(), 3u);
}

TEST_F(Reference, VtkPolyDataWithStripsAndPolygons) {
  const MeshFile m = load(put("m.vtk",
                              "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n"
                              "0 0 0 1 0 0 0 1 0 1 1 0 2 0 0\nVERTICES 1 2\n1 0\nLINES 1 3\n2 0 1\n"
                              "POLYGONS 1 5\n4 0 1 3 2\nTRIANGLE_STRIPS 1 6\n5 0 1 2 3 4\n"
                              "POINT_DATA 5\nNORMALS n float\n0 0 1 0 0 1 0 0 1 0 0 1 0 0 1\n"
                              "TEXTURE_COORDINATES t 2 float\n0 0 1 0 0 1 1 1 0 0\n"));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 3}, {0, 3, 2}, {0, 1, 2}, {2, 1, 3}, {2, 3, 4}}));
  EXPECT_TRUE(m.surface.normals == Points(5, {0, 0, 1}));
  EXPECT_TRUE(m.surface.uvs[1] == (Vec2{1, 1}));
}

TEST_F(Reference, VtkBinaryIsBigEndian) {
  std::string file = "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n";
  for (const Vec3 p : kTetPoints) file += packed<float>({p.x, p.y, p.z}, true);
  file += "\nCELLS 1 5\n" + packed<std::int32_t>({4, 0, 1, 2, 3}, true) + "\nCELL_TYPES 1\n" +
          packed<std::int32_t>({10}, true);
  file += "\nCELL_DATA 1\nFIELD f 2\nother 2 1 double\n" + packed<double>({1, 2}, true) + "\nregion 1 1 short\n" +
          packed<std::int16_t>({-300}, true) + "\n";
  const MeshFile m = load(put("m.vtk", file));
  EXPECT_TRUE(m.solid.nodes == kTetPoints);
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{-300}));
}

TEST_F(Reference, VtkLayout5) {
  const MeshFile m = load(put("m.vtk",
                              "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
                              "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 3 7\nOFFSETS vtktypeint64\n0 4 7\n"
                              "CONNECTIVITY vtktypeint64\n0 1 2 3 0 1 2\nCELL_TYPES 2\n10 5\n"));
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}}));
}

TEST_F(Reference, VtkAttributesSaidTwiceCountOnce) {
  const std::string normals = "NORMALS n float\n0 0 1 0 0 1 0 0 1\n",
                    uvs = "TEXTURE_COORDINATES t 2 float\n0 0 1 0 0 1\n";
  const MeshFile m =
      load(put("m.vtk",
               "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n"
               "POLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\n" +
                   normals + normals + uvs + uvs));
  EXPECT_EQ(m.surface.normals.size(), 3u);
  EXPECT_EQ(m.surface.uvs.size(), 3u);
}

TEST_F(Reference, VtkErrors) {
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = kVtkGrid;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return load_error(put("m.vtk", text.replace(at, from.size(), to)));
  };
  expect_message(changed("# vtk", "# vtx"), "not a legacy VTK file");
  expect_message(changed("ASCII", "EBCDIC"), "ASCII or BINARY");
  EXPECT_EQ(changed("UNSTRUCTURED_GRID", "STRUCTURED_GRID").code, Error::Code::Unsupported);
  expect_message(changed("4 1 2 3 4\n", "4 1 2 3 5\n"), "names point 5");
  expect_message(changed("10\n5 3", "10\n12 3"), "hexahedron");
  expect_message(changed("10\n5 3", "10\n24 3"), "10-node");
  expect_message(changed("CELL_TYPES 5", "CELL_TYPES 4"), "");
  expect_message(changed("POINTS 5", "POINTS 500000000"), "cannot hold so many");
  expect_message(changed("CELLS 5 22", "CELLS 4 22"), "but 4 were told");
  expect_message(changed("4 0 0 0 -5", "4 0 0 0 0.5"), "whole number");
  expect_message(changed("1 1 1\n", "1 1 nan\n"), "finite");
}

// --- VTU ---

std::string vtu(const std::string& points, const std::string& attributes = "", const std::string& tail = "") {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" {}>\n<UnstructuredGrid>\n"
      "<Piece NumberOfPoints=\"4\" NumberOfCells=\"2\">\n<Points>{}</Points>\n<Cells>\n"
      "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 0 1 2</DataArray>\n"
      "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">4 7</DataArray>\n"
      "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10 5</DataArray>\n</Cells>\n"
      "<CellData><DataArray type=\"Int32\" Name=\"region\">6 0</DataArray></CellData>\n"
      "</Piece>\n</UnstructuredGrid>\n{}</VTKFile>\n",
      attributes, points, tail);
}
const char* const kVtuPoints =
    "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1</DataArray>";

std::string tet_doubles(bool big = false) {
  std::string data;
  for (const Vec3 p : kTetPoints) data += packed<double>({p.x, p.y, p.z}, big);
  return data;
}

void expect_tet(const MeshFile& m) {
  EXPECT_TRUE(m.solid.nodes == kTetPoints);
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{6}));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}}));
}

TEST_F(Reference, VtuText) { expect_tet(load(put("m.vtu", vtu(kVtuPoints)))); }

TEST_F(Reference, VtuInlineBase64) {
  for (const bool big : {false, true}) {
    std::string block = packed<std::uint32_t>({96}, big) + tet_doubles(big);
    const std::string points = "<DataArray type='Float64' NumberOfComponents='3' format='binary'>\n   " +
                               base64_encode(block.data(), block.size()) + "\n</DataArray>";
    expect_tet(load(put("m.vtu", vtu(points, big ? "byte_order='BigEndian'" : "byte_order='LittleEndian'"))));
  }
}

TEST_F(Reference, VtuAppendedRaw) {
  const std::string points = "<DataArray type='Float64' NumberOfComponents='3' format='appended' offset='3'/>";
  const std::string data = "abc" + packed<std::uint64_t>({96}) + tet_doubles();
  expect_tet(load(put(
      "m.vtu", vtu(points, "header_type='UInt64'", "<AppendedData encoding='raw'>\n _" + data + "\n</AppendedData>"))));
}

TEST_F(Reference, VtuPiecesAreJoined) {
  std::string two = vtu(kVtuPoints);
  const std::size_t begin = two.find("<Piece"), end = two.find("</UnstructuredGrid>");
  two.insert(end, two.substr(begin, end - begin));
  const MeshFile m = load(put("m.vtu", two));
  EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(m.surface.faces, (Faces{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{6, 6}));
}

TEST_F(Reference, VtuErrors) {
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = vtu(kVtuPoints);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return load_error(put("m.vtu", text.replace(at, from.size(), to)));
  };
  EXPECT_EQ(changed("type=\"UnstructuredGrid\"", "type=\"PolyData\"").code, Error::Code::Unsupported);
  EXPECT_EQ(changed("version=\"0.1\"", "compressor=\"vtkLZ4DataCompressor\"").code, Error::Code::Unsupported);
  expect_message(changed("NumberOfPoints=\"4\"", "NumberOfPoints=\"4000000000\""), "must have 12000000000");
  expect_message(changed("0 1 2 3 0 1 2", "0 1 2 4 0 1 2"), "names point 4");
  expect_message(changed("0 1 2 3 0 1 2", "0 1 2 3 0 1"), "connectivity");
  expect_message(changed("4 7", "7 4"), "connectivity");
  expect_message(changed("4 7", "-4 7"), "offset");
  expect_message(changed("10 5", "12 5"), "hexahedron");
  expect_message(changed("0 1 0 0 0 1<", "0 1 0 0 0 nan<"), "finite");
  expect_message(changed("0 1 0 0 0 1<", "0 1 0 0 0 x<"), "\"x\"");
  expect_message(changed("Float32", "Float16"), "Float16");
  expect_message(changed("format=\"ascii\">0 0 0", "format=\"appended\" offset=\"12\">0 0 0"), "offset");
  expect_message(changed("</Cells>", "</Cell>"), "</Cells>");
}

// --- TetGen ---

TEST_F(Reference, TetGenFromOneWithAttributesMarkersAndComments) {
  put("m.node",
      "# made by hand\n4 3 2 1 # head\n1 0 0 0 0.5 7 1\n2 1 0 0 0.5 7 0\n\n3 0 1 0 0.5 7 1\n4 0 0 1 0.5 7 -3\n# end\n");
  put("m.ele", "1  4  1\n 1  1 2 3 4  12.0\n# end");
  for (const char* name : {"m.node", "m.ele"}) {
    const MeshFile m = load(path(name));
    EXPECT_TRUE(m.solid.nodes == kTetPoints);
    EXPECT_EQ(m.solid.tets, (Tets{{0, 1, 2, 3}}));
    EXPECT_EQ(m.solid.regions, (std::vector<std::int32_t>{12}));
    const std::map<std::string, std::vector<std::uint32_t>> sets{{"marker_1", {0, 2}}, {"marker_-3", {3}}};
    EXPECT_EQ(m.solid.node_sets, sets);
  }
}

TEST_F(Reference, TetGenFromZero) {
  put("m.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  put("m.ele", "1 4 0\n0 0 1 2 3\n");
  EXPECT_EQ(load(path("m.ele")).solid.tets, (Tets{{0, 1, 2, 3}}));
}

TEST_F(Reference, TetGenErrors) {
  const std::string nodes = "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n";
  const auto error = [&](const std::string& node, const std::string& ele) {
    put("m.node", node);
    put("m.ele", ele);
    return load_error(path("m.ele"));
  };
  expect_message(error(nodes, "1 4 0\n0 0 1 2 4\n"),
                 "m.ele:2: a tetrahedron names node 4, but the nodes go from 0 to 3");
  expect_message(error(nodes, "1 10 0\n0 0 1 2 3 0 0 0 0 0 0\n"), "10 nodes");
  expect_message(error(nodes, "2 4 0\n0 0 1 2 3\n"), "m.ele:");
  expect_message(error(nodes, "1 4 0\n0 0 1 2 3\n1 0 1 2 3\n"), "more follows");
  expect_message(error(nodes, "1 4 1\n0 0 1 2 3 0.5\n"), "whole number");
  expect_message(error("4 2 0 0\n0 0 0\n", "1 4 0\n0 0 1 2 3\n"), "3");
  expect_message(error("2 3 0 0\n5 0 0 0\n6 0 0 0\n", "1 4 0\n0 0 1 2 3\n"), "0 or 1");
  expect_message(error("2 3 0 0\n0 0 0 0\n2 0 0 0\n", "1 4 0\n0 0 1 2 3\n"), "node 2 stands where node 1 should");
  expect_message(error("400000000000 3 0 0\n0 0 0 0\n", "1 4 0\n0 0 1 2 3\n"), "cannot hold so many");
  std::filesystem::remove(path("m.node"));
  expect_message(load_error(path("m.ele")), "needed beside m.ele");
}

}  // namespace
}  // namespace pliant::test
