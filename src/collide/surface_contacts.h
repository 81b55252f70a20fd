// Contacts between deformable surfaces, and of a surface with itself: nodes against faces and edges against edges.
//
// Both ways of touching give the same kind of contact. Features that are nearer to each other than their radii and the
// margin give one as they are now. Features that are further apart, but whose paths in this substep bring them within
// their radii, give one for the moment when they meet, with the gap as it is now along the normal of that moment.
// Either way a row that keeps `Σ weights[i] dot(normal, v[nodes[i]]) ≥ −gap / h` keeps them apart.
//
// What says the same twice is left out: where a node is nearest to an edge or corner of a face, one face speaks for all
// that share it, and only if no neighbour is nearer still; two edges that cross above nearly flat surroundings are left
// to their ends (they could sink in by a tenth of the thickness at most). Nothing is left out that would pass through.
//
// Pairs of features that may touch are looked for only where boxes of the surfaces hold no longer (surface_tree.h);
// elsewhere, and until then, only these candidates are looked at.
//
// Where a surface is closed (`SurfaceDef::depth`) its faces tell the sides and nothing is remembered: a node that is
// not too deep inside gets out at the nearest face. Within one closed surface sides are remembered as for open ones.
//
// Cost: linear in the surface (refit) and in what is near to what. Results do not depend on the number of threads.
//
// Limits: surfaces that pass through each other already (an edge through the inside of a face) are pushed apart only
// where a side is remembered. Sides are remembered per pair of features; a node that slips through and leaves the range
// of the radii and the margin within one substep stays where it is. Within one connected piece what is nearer at rest
// than the thickness is never kept apart. A narrow cone of normals stands for "does not touch itself" (see
// surface_patches.h), so contacts closer along the surface than about 1.4 times the thickness may be left out in
// regions that bend by less than 90°.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "collide/surface_parting.h"
#include "collide/surface_sides.h"
#include "collide/surface_tree.h"

namespace pliant {

/// A row's worth of geometry.
struct SurfaceContact {
  std::array<std::uint32_t, 4> nodes;  ///< of all particle nodes; node and face, or edge and edge
  std::array<float, 4> weights;        ///< the gap grows with Σ weights[i] dot(normal, v[nodes[i]])
  Vec3 normal;                         ///< from the second feature to the first
  float gap;                           ///< m, less the radii; negative when they overlap
  std::uint64_t key;                   ///< names the pair of features, the same in every substep
  bool is_swapped = false;             ///< the node is of the second surface, the face of the first
  float way_out = 0;  ///< m, of a node inside: how far it is to this face, more where it looks elsewhere

  /// Whether it is one of two edges.
  bool is_edges() const { return key >> 63 != 0; }
};

/// What one search did.
struct SurfaceSearchReport {
  std::size_t tests = 0;      ///< pairs of features that were looked at
  std::size_t renewed = 0;    ///< leaves of the trees for which pairs were looked for anew
  std::size_t cut_parts = 0;  ///< parts of the search that were given up because they had too many pairs, 0 in any sane
                              ///< state: contacts are missing
  bool overflowed() const { return cut_parts > 0; }
};

class SurfaceSearch;
struct SurfacePair;

/// Two features that may touch as long as the boxes of their surfaces hold.
struct SurfaceCandidate {
  enum Kind : std::uint32_t { NodeOfA, NodeOfB, Edges };
  std::uint32_t first, second;  ///< node and face, or edge of a and edge of b
  Kind kind;
  std::uint32_t owner, partner;  ///< the leaves that have them: of a from 0, of b (if it is another) behind these

  SurfacePair pair(const SurfaceTree& a, const SurfaceTree& b) const;
};

/// Finds the contacts of one pair of surfaces, or of one surface with itself, and remembers what must be remembered
/// until the next substep. Use one per pair.
class SurfaceContacts {
 public:
  struct Scratch;

  /// Both trees must have been refitted for this substep with the same h. The contacts stay until the next search. No
  /// allocation once as many have been found before.
  ///
  /// The same tree twice finds contacts of a surface with itself: features that share a node or that are, in one
  /// connected piece, nearer than the thickness at rest do not count; others count as near when they have come at least
  /// half way from there to touching.
  std::span<const SurfaceContact> find(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch);

  /// With scratch for this once.
  std::span<const SurfaceContact> find(const SurfaceTree& a, const SurfaceTree& b, Workers& workers);
  std::span<const SurfaceContact> find_self(const SurfaceTree& surface, Workers& workers) {
    return find(surface, surface, workers);
  }

  /// Leaves out nodes of b against faces of a: others know of these.
  void skip_nodes_of_b() { skips_nodes_of_b_ = true; }

  std::span<const SurfaceContact> contacts() const { return contacts_; }
  const SurfaceSearchReport& report() const { return report_; }

  /// What it remembers: to be saved and restored with the world's state, and cleared where bodies are moved by hand.
  SurfaceSides& sides() { return sides_; }
  const SurfaceSides& sides() const { return sides_; }

  /// How deep inside each other two surfaces can be, and how much nearer than foreseen they may come.
  struct Reach {
    float depth = 0, surprise = 0;  ///< m
  };
  /// How the one surface was expected to move in relation to the other when candidates were looked for.
  struct Outlook {
    Vec3 offset{};    ///< m, of the frame of a in that of b
    Vec3 way{};       ///< m, half of how far it is to get from there
    float slack = 0;  ///< m, how far it may stray from there
    Reach reach{};    ///< the most that was reckoned with
  };
  /// What may touch as long as the boxes hold.
  struct Candidates {
    Outlook outlook;
    Vec3 axis{};                                         ///< that parts the two surfaces best, as far as is known
    std::vector<std::vector<SurfaceCandidate>> of_leaf;  ///< by owner
    std::vector<std::uint32_t> renewed;                  ///< by owner: in which search they were looked for last
    std::uint32_t searches = 0;
    std::array<std::uint32_t, 2> seen{};  ///< which refit of the trees was the last
  };
  /// With these, and with the fits of the trees, a search goes on as the one from which they were taken.
  const Candidates& candidates() const { return candidates_; }
  void restore(const Candidates& candidates);
  /// Forgets everything but keeps the memory, for another pair.
  void reset();

  /// Two nodes of the trees whose boxes overlap; the same node twice stands for all pairs below it.
  struct Part {
    std::uint32_t a, b;
  };
  /// What one part of the search found.
  struct Found {
    std::vector<SurfaceCandidate> candidates;
    std::vector<SurfaceContact> contacts;
    std::vector<SideNote> notes;
    std::vector<Part> stack;
    std::uint32_t owner = 0, partner = 0;  ///< of the candidates that are added
    bool is_cut = false;
  };
  /// A node that is inside the other surface.
  struct InsideNode {
    bool is_of_second;
    std::uint32_t node;
    float depth;  ///< m
    friend bool operator<(const InsideNode& a, const InsideNode& b) {
      return a.is_of_second != b.is_of_second ? b.is_of_second : a.node < b.node;
    }
  };
  /// What a search needs on the way. Between thousands of small surfaces this is most of all memory: those that are
  /// looked at one after the other share it.
  struct Scratch {
    std::vector<Part> parts, next_parts;
    std::vector<Found> found;
    std::vector<SurfaceCandidate> for_now;  ///< candidates that do not last
    std::vector<InsideNode> inside;
    std::vector<SideNote> notes;
  };

 private:
  void update_candidates(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch);
  void set_outlook(const SurfaceTree& a, const SurfaceTree& b);
  void find_candidates(const SurfaceTree& a, const SurfaceTree& b, std::size_t parts, Workers& workers,
                       Scratch& scratch);
  void list_for_now(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch);
  void renew_all(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch);
  void renew_some(const SurfaceTree& a, const SurfaceTree& b, Workers& workers, Scratch& scratch);
  void drop_outdated(std::vector<SurfaceCandidate>& candidates) const;
  bool keeps_to_outlook(const SurfaceTree& a, const SurfaceTree& b) const;
  bool are_parted(const SurfaceTree& a, const SurfaceTree& b);
  void improve_axis(const SurfaceTree& a, const SurfaceTree& b);
  void list_candidates();
  void keep_nearest(float thickness, float little, std::vector<InsideNode>& inside);
  static void cut_into_parts(const SurfaceSearch& search, bool is_empty, std::size_t parts, Scratch& scratch);

  SurfaceSides sides_;
  SurfaceParting parting_;
  Reach reach_;  ///< of this substep
  Candidates candidates_;
  std::vector<SurfaceCandidate> listed_;  ///< all that last, where there are few leaves
  bool is_listed_ = false;
  std::array<std::uint64_t, 2> tree_ids_{};
  bool is_restored_ = false, skips_nodes_of_b_ = false;
  std::vector<std::uint32_t> outdated_;  ///< leaves, by the numbers of owners
  std::size_t cut_parts_ = 0;
  std::vector<SurfaceContact> contacts_;
  SurfaceSearchReport report_;
};

}  // namespace pliant
