// Rest data of jelly bodies from meshes.
//
// From a tet mesh every node is a node of the body. From a closed surface its vertices are, and the volume within is
// held as a whole: cheaper and softer to the touch, without resistance to shear inside. Preprocessing is in double.
//
// Moduli. A dense network of springs of no preferred direction, with s = Σ k L² per volume, has the Lamé moduli
// λ = μ = s/15: Poisson's ratio 1/4. Each tet gives its six edges equal parts, k = (5/2) μ V / L² (at a ratio of 1/4
// this is E V / L²: Van Gelder 1998), so that stiffness does not depend on resolution; volume terms of modulus λ − μ
// add the rest of the bulk modulus. Ratios below 1/4 cannot be had and count as 1/4. Networks do prefer directions and
// do not deform evenly: bars stretch as the continuum says within about 15 %.
#pragma once

#include <span>
#include <vector>

#include "particle/mass_spring.h"
#include "particle/position_based.h"
#include "particle/shape_matching.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

struct JellyMaterial {
  float young_modulus = 3e4f;  ///< Pa
  float poisson_ratio = 0.4f;  ///< 0 to 0.499
};

/// Lamé's moduli, Pa.
struct LameModuli {
  double lambda, mu;
};
LameModuli lame_moduli(const JellyMaterial& material);

/// kg per node: a quarter of each of its tets.
std::vector<float> node_masses(const TetMesh& mesh, float density);
/// kg per vertex, by the area around it; together the mass of all that the surface encloses.
std::vector<float> node_masses(const TriMesh& surface, float density);

/// Springs along the edges of tets.
Result<MassSpringRest> mass_spring_rest(const TetMesh& mesh, const JellyMaterial& material);
/// Springs along the edges of a skin `thickness` metres thick, springs across each edge against bending, and the volume
/// within. The skin's material is the one given (its own Poisson's ratio is 1/3); its bulk modulus keeps the volume.
Result<MassSpringRest> mass_spring_rest(const TriMesh& surface, const JellyMaterial& material, float thickness);

/// Strain and volume of every tet.
Result<PositionBasedRest> position_based_rest(const TetMesh& mesh, const JellyMaterial& material);

/// `cluster_count` clusters that overlap by two rings of nodes; 1 for a body of one piece. Masses weigh the fit only:
/// their scale does not matter.
Result<ShapeMatchingRest> shape_matching_rest(const TetMesh& mesh, std::size_t cluster_count);
Result<ShapeMatchingRest> shape_matching_rest(const TriMesh& surface, std::size_t cluster_count);

/// Regions of about equal size around centres far from each other, each grown by `rings` along edges.
std::vector<std::vector<std::uint32_t>> overlapping_clusters(std::span<const Vec3> points,
                                                             std::span<const std::array<std::uint32_t, 2>> edges,
                                                             std::size_t count, int rings);

}  // namespace pliant
