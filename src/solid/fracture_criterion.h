// Where a solid is pulled apart: the separation tensor of every node that may break, against what its material bears.
//
// Cost on one core: 33 ns a tet while nothing is under half of its strength, which is looked at first; where every node
// is, 450 ns a tet in all. 130 bytes a tet with the topology.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "solid/fracture_topology.h"
#include "solid/solid_body.h"

namespace pliant {

/// What pulls at a node.
struct NodeSeparation {
  float ratio = 0;  ///< of the pull over what the node bears: it breaks from 1 on
  Vec3 normal{};    ///< unit, of the plane across which the pull is greatest, over what is borne there
  float area = 0;   ///< m², of the node's cells in that plane
};

class FractureCriterion {
 public:
  /// `factors` of strength and toughness by node; empty for 1 everywhere.
  FractureCriterion(const SolidDef& def, std::vector<float> factors);

  struct Candidate {
    std::uint32_t node;
    NodeSeparation separation;
  };
  /// The nodes whose ratio is 1 or more, ascending. `topology` must be that of the body.
  std::span<const Candidate> find(Workers& workers, const SolidBody& body, const FractureTopology& topology);
  /// Those that the last `find` found.
  std::span<const Candidate> candidates() const { return candidates_; }
  /// After a `find` that found something: J, elastic, in a tet.
  float energy(const SolidLayout& layout, std::uint32_t tet) const { return energies_[layout.batch_of_tet[tet]]; }

  /// All tensors at the body's present places, whatever their size; and what they say of one node.
  void measure(Workers& workers, const SolidBody& body, const FractureTopology& topology);
  LaneSym3<float> tensor(const SolidBody& body, const FractureTopology& topology, std::uint32_t node) const;
  NodeSeparation separation(const SolidBody& body, const FractureTopology& topology, std::uint32_t node) const;

  const std::vector<float>& factors() const { return factors_; }
  void set_factors(std::vector<float> factors);
  bool is_breakable(std::uint32_t tet) const { return of_tet(tet).strength < kNever || of_tet(tet).toughness < kNever; }
  std::size_t bytes() const;

 private:
  static constexpr float kNever = 1e30f;
  struct Limits {
    float strength, grain_strength, toughness;
    Vec3 grain;
  };
  struct Bearing {
    float area = 0, strength = kNever, grain_strength = kNever, toughness = kNever;
    /// N across a plane; the grain is zero where there is none.
    float force(Vec3 normal, Vec3 grain) const {
      const float cosine = dot(normal, grain);
      return std::min(area * (strength + (grain_strength - strength) * cosine * cosine), toughness);
    }
  };
  const Limits& of_tet(std::uint32_t tet) const { return limits_[limits_of_tet_.empty() ? 0 : limits_of_tet_[tet]]; }
  bool find_hot(Workers& workers, const SolidBody& body);
  std::uint32_t offset(const SolidLayout& layout, std::uint32_t corner) const;
  LaneVec3<float> vector_at(const std::vector<float>& list, std::uint32_t offset) const {
    return {list[offset], list[offset + 8], list[offset + 16]};
  }
  Vec3 grain_at(const SolidBody& body, const FractureTopology& topology, std::uint32_t node) const;
  Bearing bearing(const SolidBody& body, const FractureTopology& topology, std::uint32_t node, Vec3 pull) const;
  float rise_towards(const SolidBody& body, const FractureTopology& topology, std::uint32_t node, Vec3 along) const;
  LaneSym3<float> stress_of(const SolidLayout& layout, std::uint32_t tet) const;
  void average(Workers& workers, const SolidBody& body, const FractureTopology& topology);
  void list_candidates(Workers& workers, const SolidBody& body, const FractureTopology& topology);

  std::vector<Limits> limits_;
  std::vector<std::uint16_t> limits_of_tet_;  ///< empty where all are the first
  std::vector<float> factors_;
  /// Faces that are weaker or stronger than what they part, by the nodes at their corners.
  struct WeakFace {
    Face corners;
    float factor;
  };
  std::vector<WeakFace> weak_faces_;
  std::vector<std::uint32_t> weak_starts_, weak_of_node_;  ///< empty where there are none
  void list_weak_faces(const SolidDef& def);
  float least_of_materials_ = kNever, least_of_faces_ = 1;
  float least_strength_ = kNever;  ///< anywhere in the body
  bool has_toughness_ = false, lets_go_ = false;

  // Per batch: forces of tension and of compression and a third of the opposite face on each corner, as elements lie.
  std::vector<float> tensile_, compressive_, thirds_;
  std::vector<float> energies_;    ///< per lane
  std::vector<float> bounds_;      ///< Pa, per lane: no principal stress is above
  std::vector<std::uint8_t> hot_;  ///< by node
  std::vector<std::uint8_t> chunk_is_hot_;
  std::vector<float> stresses_;  ///< per batch: tensile part, world axes, 6 x 8, and the volume, 8
  struct Mean {
    LaneSym3<float> stress;  ///< Pa, tensile
    Vec3 middle{};           ///< m
  };
  std::vector<Mean> means_;  ///< by node
  std::vector<Candidate> candidates_;
  std::vector<std::vector<Candidate>> found_;  ///< per chunk
};

}  // namespace pliant
