// Contacts of two closed surfaces by textures (Galoppo et al. 2006, §5.1; Galoppo et al. 2007, §6.6), on the CPU.
//
// 1. Clusters of faces whose boxes come near and which look at each other make regions, each with a direction of its
//    own: two surfaces may touch in several.
// 2. The two patches of a region are rasterised along its direction, each as the other sees it: a texture of depths and
//    one of the faces that were seen.
// 3. Nodes that were seen (a face of theirs is in the texture where they are; what is hidden behind the body itself is
//    not) look up what lies across, and from there walk to the nearest point of the other surface.
// 4. A node with several hits keeps the nearest. The normal is the mean of the normals around the point it is nearest
//    to: it changes smoothly along the surface, whatever its triangles do.
//
// Cost follows the patches that are near to each other, but for the boxes of the clusters (`TexturedSurface::fit`).
// Near is a few cells at first; only if something is found about as deep as that, the search goes on deeper. (Depth
// grows by no more than the length of an edge from a node to the next, from nothing at the line where two surfaces
// cross.)
//
// Departures from the papers: depths are distances to the nearest point, not those along the contact plane's normal, so
// that of several hits the nearest is right and not the deepest; a node counts as soon as it would come near within the
// substep; there are about as many texels as there are nodes. As in surface_contacts.h a node is not pushed the way it
// looks itself.
//
// Limits: nodes against faces only. What is deeper than `reach` is not found. Edges that cross between nodes are not
// found, and what comes near sideways within a substep is found when it is there (collide/surface_contacts.h finds
// both).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "collide/textured_surface.h"
#include "pliant/math.h"

namespace pliant {

/// A node of one surface near a face of the other.
struct TextureContact {
  std::uint32_t node = 0;
  std::array<std::uint32_t, 3> nodes{};  ///< of the face
  Vec3 weights{};                        ///< with the sum 1
  Vec3 normal{};                         ///< from the other surface towards the node's
  float gap = 0;                         ///< m, negative inside
  bool is_of_b = false;                  ///< the node is of the second surface
};

struct TextureSearch {
  float reach = 0;   ///< m, how deep what is inside is still found
  float margin = 0;  ///< m, within which nodes count, moving or not
};

class TextureContacts {
 public:
  /// Both surfaces must have been fitted for this substep. Sorted: nodes of a first, then those of b, ascending. The
  /// contacts stay until the next search. Results do not depend on the number of threads.
  std::span<const TextureContact> find(const TexturedSurface& a, const TexturedSurface& b, const TextureSearch& search,
                                       Workers& workers);
  std::span<const TextureContact> contacts() const { return contacts_; }
  std::size_t region_count() const { return regions_used_; }
  std::size_t texels() const;  ///< of all regions

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// What one patch looks like from the other.
  struct Texture {
    std::vector<float> depths;
    std::vector<std::uint32_t> faces;
  };
  struct Region {
    Vec3 direction{}, across{}, along{};     ///< direction: from b towards a
    std::vector<std::uint32_t> clusters[2];  ///< of a and b, ascending
    std::vector<std::uint32_t> nodes[2];
    std::vector<std::uint8_t> is_listed;  ///< scratch, by node; all 0 between uses
    float left = 0, low = 0, texel = 0;   ///< m: the window's corner, and the size of a texel
    int columns = 0, rows = 0;
    Texture textures[2];
  };
  /// Clusters that come near and look at each other, by their places in `near_`.
  struct Pair {
    std::uint32_t a, b, bin;
  };
  /// Some nodes of one side of a region, that look across.
  struct Look {
    std::uint32_t region = 0, side = 0, begin = 0, end = 0;
    std::vector<TextureContact> found;
    float deepest = 0;  ///< m, of what is inside
  };
  using Surfaces = const TexturedSurface* const[2];

  float search_to(const Surfaces& surfaces, const TextureSearch& search, Workers& workers);
  void find_pairs(const Surfaces& surfaces, float near);
  void add_pair(const Surfaces& surfaces, std::uint32_t a, std::uint32_t b);
  std::uint32_t place_of(const TexturedSurface& surface, std::size_t side, std::uint32_t cluster);
  void make_regions();
  bool set_window(const Surfaces& surfaces, float near, Region& region) const;
  void rasterise(const TexturedSurface& surface, Region& region, std::size_t side) const;
  void list_looks();
  void look(const Surfaces& surfaces, const TextureSearch& search, Look& work) const;
  bool was_seen(const TexturedSurface& surface, const Region& region, std::size_t side, std::uint32_t node, int column,
                int row) const;
  void gather();

  std::vector<std::uint32_t> near_[2];    ///< clusters that may touch
  std::vector<Vec3> normals_[2];          ///< of these
  std::vector<std::uint32_t> places_[2];  ///< by cluster: where it is in `near_`, or kNone
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> parents_, roots_;
  std::vector<Region> regions_;
  std::size_t regions_used_ = 0;
  std::vector<Look> looks_;
  std::size_t looks_used_ = 0;
  std::vector<TextureContact> contacts_;
  // Scratch, kept for its memory.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack_;
  std::vector<TextureContact> found_;
  std::vector<std::uint64_t> order_;
};

}  // namespace pliant
