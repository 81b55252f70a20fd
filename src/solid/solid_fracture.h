// One breakable solid: looks where it is pulled apart, and takes it apart (Parker and O'Brien 2009, section 5).
//
// Candidates are worked on in the order of how far they are beyond what they bear, with a random tenth so that no
// direction of the mesh is preferred where many are equal. A node that came apart relieves its neighbours: those do not
// break in the same step, unless their planes continue its crack. So a crack may run any distance in one step, and a
// bar pulled evenly breaks in one place and not in all. (Parker and O'Brien take nodes in random order and do not ask
// whether a neighbour has broken.)
#pragma once

#include <cstdint>
#include <vector>

#include "pliant/report.h"
#include "solid/fracture_criterion.h"
#include "solid/fracture_topology.h"

namespace pliant {

class SolidFracture {
 public:
  /// Of a body that is added.
  explicit SolidFracture(const SolidDef& def);
  /// Of a part of a body that broke, `def` being that of the part.
  SolidFracture(const SolidFracture& whole, const FractureTopology::Part& part, const SolidDef& def);

  /// Whether some material of the def can break.
  static bool is_breakable(const SolidDef& def);

  /// Nodes of `body` that come apart at its present places. The body itself does not change before it is made anew from
  /// the topology. What happened is appended to `cracks`.
  void run(Workers& workers, SolidBody& body, BodyId id, std::vector<Crack>& cracks);
  /// Whether the topology is no longer the body's.
  bool has_split() const { return topology_.node_count() > topology_.first_copy(); }
  const FractureTopology& topology() const { return topology_; }
  /// Copies of held nodes that are not held, ascending.
  std::span<const std::uint32_t> freed() const { return freed_; }

  /// What decides the future, besides the body.
  struct Memory {
    FractureTopology topology;
    std::vector<std::uint32_t> freed;
    std::uint64_t random;
    std::vector<float> factors;
  };
  Memory save() const { return {topology_, freed_, random_, criterion_.factors()}; }
  void load(const Memory& memory) {
    topology_ = memory.topology, freed_ = memory.freed, random_ = memory.random;
    criterion_.set_factors(memory.factors);
  }
  /// Of strength and toughness by node; empty where all are 1.
  const std::vector<float>& factors() const { return criterion_.factors(); }
  void set_factor(std::span<const std::uint32_t> nodes, float factor);
  std::uint64_t random() const { return random_; }
  std::size_t bytes() const { return topology_.bytes() + criterion_.bytes(); }

 private:
  using Candidate = FractureCriterion::Candidate;
  bool split(SolidBody& body, const Candidate& candidate);
  void free_copies();
  void choose_sides(const SolidBody& body, const Candidate& candidate);
  void keep_unbreakable_together(std::span<const std::uint32_t> star);
  void relieve_neighbours(const SolidBody& body, const Candidate& candidate);
  float opened_area(const SolidBody& body) const;
  Vec3 place(const SolidBody& body, std::uint32_t node) const { return body.position(topology_.origin(node)); }

  FractureTopology topology_;
  FractureCriterion criterion_;
  int max_splits_;
  bool lets_go_;
  std::uint64_t random_;
  std::vector<std::uint32_t> freed_;
  // Scratch, kept for its memory.
  std::vector<std::pair<float, std::uint32_t>> order_;  ///< key, place among the candidates
  std::vector<std::uint32_t> place_of_node_;            ///< among the candidates, or kNone
  std::vector<std::uint8_t> is_relieved_;               ///< by place
  std::vector<std::uint8_t> is_above_;
};

}  // namespace pliant
