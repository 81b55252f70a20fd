// The element types of Gmsh files that pliant must know.
#pragma once

#include <array>
#include <cstdint>

namespace pliant {

enum GmshType : int { kGmshLine = 1, kGmshTriangle = 2, kGmshQuad = 3, kGmshTet = 4, kGmshPoint = 15 };

struct GmshElement {
  int type;
  int nodes;  ///< 0 for those whose length is not needed because they end the reading
  const char* name;
  bool usable;  ///< or harmless: points and lines are skipped
};

/// Every type of Gmsh's manual up to cubic elements. An element of the surface or the volume that is not usable is an
/// error: leaving it out would leave holes.
inline constexpr std::array<GmshElement, 31> kGmshElements{{
    {1, 2, "2-node line", true},           {2, 3, "3-node triangle", true},       {3, 4, "4-node quadrangle", true},
    {4, 4, "4-node tetrahedron", true},    {5, 0, "8-node hexahedron", false},    {6, 0, "6-node prism", false},
    {7, 0, "5-node pyramid", false},       {8, 3, "3-node line", true},           {9, 0, "6-node triangle", false},
    {10, 0, "9-node quadrangle", false},   {11, 0, "10-node tetrahedron", false}, {12, 0, "27-node hexahedron", false},
    {13, 0, "18-node prism", false},       {14, 0, "14-node pyramid", false},     {15, 1, "point", true},
    {16, 0, "8-node quadrangle", false},   {17, 0, "20-node hexahedron", false},  {18, 0, "15-node prism", false},
    {19, 0, "13-node pyramid", false},     {20, 0, "9-node triangle", false},     {21, 0, "10-node triangle", false},
    {22, 0, "12-node triangle", false},    {23, 0, "15-node triangle", false},    {24, 0, "15-node triangle", false},
    {25, 0, "21-node triangle", false},    {26, 4, "4-node line", true},          {27, 5, "5-node line", true},
    {28, 6, "6-node line", true},          {29, 0, "20-node tetrahedron", false}, {30, 0, "35-node tetrahedron", false},
    {31, 0, "56-node tetrahedron", false},
}};

/// Null for a type that Gmsh's manual does not have.
inline const GmshElement* find_gmsh_element(std::int64_t type) {
  return type >= 1 && type <= static_cast<std::int64_t>(kGmshElements.size())
             ? &kGmshElements[static_cast<std::size_t>(type - 1)]
             : nullptr;
}

}  // namespace pliant
