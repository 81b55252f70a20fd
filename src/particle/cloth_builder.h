// Cloth from its def: from a woven sheet, from any triangle mesh, or sewn of woven panels.
#pragma once

#include "particle/particle_model.h"

namespace pliant {

void build_sheet(const ClothSheet& sheet, const ClothMaterial& material, ParticleModel& model);
void build_weave(const ClothWeave& weave, const ClothMaterial& material, ParticleModel& model);
void build_mesh_cloth(const TriMesh& mesh, const ClothMaterial& material, ParticleModel& model);

/// Joins the edges of a mesh into lines that are as straight as can be: at every vertex an edge goes on in the one that
/// is most opposite to it, if that turns by less than 45°. Every edge is in one line. A line that would close is cut in
/// two, so that a line has no node twice. Deterministic.
std::vector<std::vector<std::uint32_t>> straightest_lines(const TriMesh& mesh);

}  // namespace pliant
