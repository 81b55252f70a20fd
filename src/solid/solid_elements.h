// The tets of a solid: what they are made of, how they have flowed, and what they push with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "pliant/materials.h"
#include "solid/corotational_kernel.h"
#include "solid/solid_layout.h"

namespace pliant {

/// Which kernel works on an element; also the order of batches.
enum class ElementKind : std::uint8_t { Corotational, Grained, NeoHookean };
ElementKind element_kind(const SolidMaterial& material);

/// One element, for those who look at it alone.
struct ElementSample {
  ElementRest<float> rest;
  LaneQuat<float> rotation;
  LaneSym3<float> rest_strain;
  LaneVec3<float> grain;
  float grain_modulus = 0;  ///< Pa, beyond that across the grain
};

class SolidElements {
 public:
  /// `material_of(tet)` is what a tet of the mesh is made of.
  SolidElements(const TetMesh& mesh, const SolidLayout& layout,
                const std::function<const SolidMaterial&(std::size_t tet)>& material_of);

  /// Turned and flowed as some tets of another solid: `tet_of[i]` is that solid's number of tet i.
  void take_over(const SolidLayout& layout, const SolidElements& whole, const SolidLayout& whole_layout,
                 std::span<const std::uint32_t> tet_of);

  /// Rotations, strains, forces and matrix vectors of all elements at the given places. Returns whether the body is
  /// tangled: many elements are inside out. Elements by themselves may then find rest in a knot. The remedy, until this
  /// returns false, is a `common` rotation for all: linear elasticity, which rests in the body's own shape alone.
  bool update(Workers& workers, const SolidLayout& layout, const float* positions, float dt,
              const LaneQuat<float>* common = nullptr);
  /// Flow of the plastic elements at the given places.
  void flow(Workers& workers, const SolidLayout& layout, const float* positions, float dt);

  /// J, of the elements of some batches at the given places.
  double energy(const SolidLayout& layout, const float* positions, std::size_t begin, std::size_t end) const;
  /// Of the elements of a batch at the given places: stress in their own frames (Biot's), and what it does to corners.
  struct Stressed {
    LaneSym3<Float8> stress;
    LaneMat3<Float8> rotation, gradients;
    Float8 volume;
    Float8 energy;  ///< J, ½ stress : strain
  };
  Stressed stressed(const SolidLayout& layout, std::size_t batch, const float* positions) const;
  ElementSample sample(const SolidLayout& layout, std::uint32_t lane) const;
  /// By corner of the layout; the last is zero.
  const Vec4* forces() const { return forces_.data(); }
  /// √(V μ) R g with the time step, and λ/μ beside it: what the matrix of an edge is made of.
  const Vec4* h() const { return h_.data(); }
  /// Of the batches from `SolidLayout::first_block_batch` on.
  const float* blocks() const { return blocks_.data(); }
  /// Whether λ/μ is the same everywhere.
  bool is_uniform() const { return is_uniform_; }
  std::size_t bytes() const;

  // What decides the future, for snapshots and hashes.
  std::vector<float>& rotations() { return rotations_; }
  const std::vector<float>& rotations() const { return rotations_; }
  std::vector<float>& rest_strains() { return rest_strains_; }
  const std::vector<float>& rest_strains() const { return rest_strains_; }

 private:
  void set_rest(std::size_t lane, const TetMesh& mesh, const Tet& tet, const SolidMaterial& material, bool is_real);
  ElementRest<Float8> rest(std::size_t batch) const;
  LaneSym3<Float8> rest_strain(std::size_t batch) const;
  /// The elements of a batch as they lie now, turned from where they were when last updated.
  struct Present {
    ElementRest<Float8> rest;
    LaneMat3<Float8> f, rotation;
  };
  Present present(const SolidLayout& layout, std::size_t batch, const float* positions) const;
  LaneMat3<Float8> turn(std::size_t batch, const LaneMat3<Float8>& f, const ElementRest<Float8>& element,
                        const LaneQuat<float>* common);
  void update_from_vectors(std::size_t batch, const LaneMat3<Float8>& f, const LaneMat3<Float8>& rotation,
                           const ElementRest<Float8>& element, float dt);
  void update_by_blocks(const SolidLayout& layout, std::size_t batch, const LaneMat3<Float8>& f,
                        const LaneMat3<Float8>& rotation, const ElementRest<Float8>& element, float dt,
                        bool is_tangled);

  std::vector<float> gradients_;     ///< per batch 9 x 8
  std::vector<float> properties_;    ///< per batch volume, λ, μ, β, flat determinant, x 8
  std::vector<float> rotations_;     ///< per batch a quaternion, 4 x 8
  std::vector<float> rest_strains_;  ///< per batch 6 x 8; empty where nothing flows and no sliver was mended
  std::vector<float> plasticity_;    ///< per batch yield, creep rate, maximum, x 8; empty where nothing flows
  std::vector<float> grains_;        ///< per block batch: extra modulus, direction, x 8
  std::vector<float> blocks_;        ///< per block batch, and a batch of zeros
  std::vector<float> ratios_;        ///< λ/μ by batch * 8 + lane
  std::vector<Vec4> forces_, h_;     ///< by corner, and a zero at the end: gathered where nodes and edges are summed
  std::vector<std::int64_t> crushed_counts_;  ///< scratch, per chunk
  bool is_uniform_ = true;
};

}  // namespace pliant
