// Jelly by shape matching (004 eq. 2; Müller, Heidelberger, Teschner and Gross 2005).
//
// Each cluster of nodes is fitted to where its nodes are heading: by a rotation, by a linear map of unchanged volume,
// or by a quadratic map; the velocity goes towards the fit. A body is one cluster (all of one piece, very fast) or many
// that overlap (softer, follows local contact); a node in several clusters goes towards the mean of their fits.
//
// Stiffness. 004's k is the share of the way to the goal that is gone in one step, so a body stiffens as the step
// shrinks. For one step that is backward Euler on a spring of angular frequency ω towards the goal, with
// k = h²ω²/(1 + h²ω²). Here k is given for a step of 1/240 s, and ω is what stays the same at other steps.
//
// Departures from the paper: the quadratic terms have their means taken away, without which the fit moves the centre;
// a fit that is flat or inside out falls back to its rotation; damping acts on the deviation from rigid motion alone
// (rigid_part.h); a held node counts as much as all of its cluster, so that a body hangs on it.
//
// Limits: k is not a material's modulus. With many clusters stiffness falls with the number of clusters between the
// load and the support.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "math/lane_math.h"
#include "math/vec4.h"
#include "pliant/result.h"

namespace pliant {

enum class ShapeMode { Rigid, Linear, Quadratic };

struct ShapeMatchingRest {
  std::vector<Vec3> positions;  ///< m
  std::vector<float> masses;    ///< kg, one per node
  std::vector<std::vector<std::uint32_t>> clusters;
  ShapeMode mode = ShapeMode::Linear;
  float stretch = 0.5f;    ///< β: the share of the linear or quadratic map in the goal, the rest is the rotation's
  float stiffness = 0.5f;  ///< k at a step of 1/240 s, above 0 to 1: all the way at once
  float deviation_damping = 0;  ///< 1/s, of all but the rigid motion
};

class ShapeMatching {
 public:
  /// Names the node or cluster that is wrong.
  static Result<ShapeMatching> create(ShapeMatchingRest rest);

  /// Changes `v` (w: inverse mass, 0: held) to what it is after h seconds without contacts. Both have one entry per
  /// node. Allocates nothing and remembers nothing. Nodes in no cluster move freely.
  void free_velocity(Workers& workers, std::span<const Vec4> x, std::span<Vec4> v, float h);

  const ShapeMatchingRest& rest() const { return rest_; }
  /// k at a step of h seconds.
  float share_of_way(float h) const;

 private:
  static constexpr std::size_t kMostTerms = 9;

  /// goal = center + Σ column[i] (term[i] − mean[i])
  struct Fit {
    Vec4 column[kMostTerms];
    Vec4 offset;
  };
  struct Cluster {
    std::uint32_t first = 0, count = 0;  ///< in `member_node_`
    float radius = 1;                    ///< m
    Vec3 center;                         ///< m, at rest
    double inverse[kMostTerms * kMostTerms] = {};
    float flat_determinant = 0;  ///< of Σ w p qᵀ / Σ w q²
    float size_squared = 0;      ///< kg m², Σ w q²
  };
  /// What is known of a cluster before its rotation: Σ w p q̃ᵀ and where it is.
  struct Moments {
    Vec3 center;
    float mean[kMostTerms];
    LaneVec3<float> product[kMostTerms];
    double inverse[kMostTerms * kMostTerms];
  };

  explicit ShapeMatching(ShapeMatchingRest rest);
  void add_cluster(const std::vector<std::uint32_t>& nodes);
  void gather_moments(std::uint32_t cluster, Moments& moments) const;
  void weigh_held(const Cluster& cluster, Moments& moments) const;
  void fit_clusters(std::size_t first, std::size_t end);
  void make_fit(const Moments& moments, const LaneMat3<float>& rotation, Fit& fit) const;
  Vec3 goal(std::uint32_t node) const;
  const float* terms_of(std::uint32_t member) const { return terms_.data() + std::size_t{member} * term_count_; }

  ShapeMatchingRest rest_;
  std::size_t term_count_;
  std::vector<Cluster> clusters_;
  std::vector<std::uint32_t> member_node_, member_cluster_;
  std::vector<float> terms_, member_mass_;
  std::vector<std::uint32_t> memberships_, membership_starts_;  ///< members of each node
  std::vector<Fit> fits_;
  std::vector<Vec4> position_;  ///< from the body's centre, w: inverse mass
};

}  // namespace pliant
