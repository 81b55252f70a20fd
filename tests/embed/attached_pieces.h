// Whether what pieces of broken solids show is attached to them, by connectivity found by flood fill.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "embed/carried_surface.h"
#include "pliant/world.h"

namespace pliant {

/// For each tet the first of those that it hangs together with by faces.
inline std::vector<std::uint32_t> parts(const TetMesh& mesh) {
  std::map<std::array<std::uint32_t, 3>, std::vector<std::uint32_t>> faces;
  for (std::uint32_t t = 0; t < mesh.tets.size(); ++t) {
    for (std::size_t f = 0; f < 4; ++f) {
      std::array<std::uint32_t, 3> face{mesh.tets[t][(f + 1) % 4], mesh.tets[t][(f + 2) % 4],
                                        mesh.tets[t][(f + 3) % 4]};
      std::sort(face.begin(), face.end());
      faces[face].push_back(t);
    }
  }
  std::vector<std::vector<std::uint32_t>> across(mesh.tets.size());
  for (const auto& [face, tets] : faces) {
    if (tets.size() == 2) across[tets[0]].push_back(tets[1]), across[tets[1]].push_back(tets[0]);
  }
  constexpr std::uint32_t kNot = 0xffffffff;
  std::vector<std::uint32_t> part(mesh.tets.size(), kNot);
  for (std::uint32_t first = 0; first < part.size(); ++first) {
    if (part[first] != kNot) continue;
    std::vector<std::uint32_t> stack{first};
    while (!stack.empty()) {
      const std::uint32_t t = stack.back();
      stack.pop_back();
      if (part[t] != kNot) continue;
      part[t] = first;
      stack.insert(stack.end(), across[t].begin(), across[t].end());
    }
  }
  return part;
}

using Wholes = std::map<const SolidDef*, std::shared_ptr<const CarriedSurface>>;

/// Every vertex of a unit hangs on a tet that is connected to the unit's home, which is in this body and in no other.
/// What turned rigid or went, where the def allows that, shows nothing of it any more.
inline void expect_attached(const World& world, Workers& workers, Wholes& wholes) {
  std::map<std::pair<const SolidDef*, std::uint32_t>, int> homes;  // bodies that have the home of each unit
  for (const BodyId id : world.bodies()) {
    if (world.kind(id) != BodyKind::Solid) continue;
    const std::shared_ptr<const SolidDef> def = *world.origin_def(id);
    if (!wholes[def.get()]) wholes[def.get()] = CarriedSurface::create(workers, def);
    const CarriedSurface& whole = *wholes[def.get()];
    const TetMesh& mesh = (*world.solid_def(id))->mesh;
    const std::vector<std::uint32_t> origin = *world.origin_tets(id), part = parts(mesh);
    std::map<std::uint32_t, std::uint32_t> here;
    for (std::uint32_t t = 0; t < origin.size(); ++t) here[origin[t]] = t;
    const PieceSurface piece = surface_of_piece(whole, mesh, origin);
    ASSERT_EQ(piece.bindings.size(), piece.mesh.vertices.size());
    for (std::uint32_t u = 0; u < whole.units.size(); ++u)
      homes[{def.get(), u}] += int(here.count(whole.units[u].home));
    for (std::size_t v = 0; v < piece.bindings.size(); ++v) {
      ASSERT_LT(piece.bindings[v].tet, mesh.tets.size());
      const Tet& tet = mesh.tets[piece.bindings[v].tet];
      for (const std::uint32_t node : piece.bindings[v].nodes) EXPECT_EQ(std::count(tet.begin(), tet.end(), node), 1);
      if (piece.vertex_units[v] == kNoNeighbor) continue;
      const std::uint32_t home = here.at(whole.units[piece.vertex_units[v]].home);
      EXPECT_EQ(part[piece.bindings[v].tet], part[home]);
    }
    for (const Face& f : piece.mesh.faces) {
      for (const std::uint32_t v : f) ASSERT_LT(v, piece.mesh.vertices.size());
    }
  }
  for (const auto& [unit, bodies] : homes) {
    const SmallPieces& rule = unit.first->fracture.small_pieces;
    const bool may_retire = rule.rigid_after < kInfinity || rule.gone_after < kInfinity;
    EXPECT_TRUE(bodies == 1 || (bodies == 0 && may_retire)) << "splinter " << unit.second << " in " << bodies;
  }
}

}  // namespace pliant
