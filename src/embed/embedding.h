// A surface of any size carried by a tet mesh, its cage (Parker and O'Brien 2009, section 3).
//
// A vertex inside the cage belongs to the tet that holds it and moves by that tet's barycentric weights. A vertex
// outside belongs to the nearest point q of the cage's surface: its offset from there is carried by the deformation
// gradient around q, which is interpolated from its means around the nodes (`NodeGradients`).
//
// The paper lets a vertex outside extrapolate the weights of the nearest tet: that is, its offset is carried by the
// gradient of one tet. Vertices next to each other that belong to different tets then come apart as far as their tets
// differ, times their distance. Measured on a sphere around a twisted cage, 0.4 cells out: edges stretched up to 13
// times and 0.8 % of the faces turned over; with the means 1.17 times and none. Both reproduce affine maps exactly.
// Offsets that only turn (a rotation per node) were tried as well. They are as smooth, and calmer where tets are turned
// inside out at random, but two to four times farther from the true map where the cage is bent, twisted or stretched.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "embed/cage_binding.h"
#include "embed/node_gradients.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

class Embedding {
 public:
  /// Carries nothing.
  Embedding() = default;
  /// Binds `vertices`, given in the frame in which the cage is at rest. O(log n) each, in parallel: a million vertices
  /// in a second. Tets of the cage that are flat or broken are not used. Gives an error for a vertex that is not
  /// finite, and for a cage without a usable tet if there are vertices.
  static Result<Embedding> create(Workers& workers, const TetMesh& cage, std::span<const Vec3> vertices);

  /// The same with bindings that were found otherwise, to tets that are sound.
  static Embedding from_bindings(const TetMesh& cage, std::span<const VertexBinding> bindings);

  std::size_t vertex_count() const { return tets_.size(); }
  std::size_t node_count() const { return node_count_; }
  /// How many vertices lie outside of the cage, and how far the farthest of them, m.
  std::size_t outside_count() const { return outside_.size(); }
  float largest_offset() const { return largest_offset_; }
  /// What an update reads of the bindings: one record for each vertex.
  std::size_t binding_bytes() const { return inside_.size() * sizeof(Inside) + outside_.size() * sizeof(Outside); }
  /// The tet of each vertex, for values per tet.
  std::span<const std::uint32_t> tets() const { return tets_; }

  /// Where the vertices are when the cage's nodes are at `nodes`. `nodes` are as many as the cage has, `vertices` as
  /// many as were bound. It is a linear map, so velocities of nodes give the velocities of the vertices in the same
  /// way. The same for any number of threads; allocates nothing after the first call.
  void update(Workers& workers, std::span<const Vec3> nodes, std::span<Vec3> vertices);

  /// A value per node, such as stress for its colour, at the vertices. Outside it is that of the nearest point of the
  /// cage: never beyond what the nodes have.
  void interpolate(Workers& workers, std::span<const float> node_values, std::span<float> vertex_values) const;

 private:
  // Vertices are dealt out in chunks of consecutive ones. Each chunk has a list of those inside and a list of those
  // outside, so that neither loop branches, and what the second writes is still in the cache from the first.
  static constexpr std::size_t kChunk = 4096;
  struct Inside {
    std::uint32_t vertex;
    std::array<std::uint32_t, 4> nodes;
    std::array<float, 3> weights;  ///< of all nodes but the first
  };
  struct Outside {
    std::uint32_t vertex;
    std::array<std::uint32_t, 3> anchors;  ///< in `gradients_`
    std::array<float, 2> weights;          ///< of all anchors but the first
    Vec3 offset;                           ///< at rest, m
  };
  struct ChunkEnd {
    std::size_t inside, outside;
  };
  static Embedding with(const TetMesh& cage, std::span<const Tet> sound, std::span<const VertexBinding> bindings);
  void pack(std::span<const VertexBinding> bindings, std::span<const std::uint32_t> anchor_of_node);
  /// visit(inside of a chunk, outside of a chunk), in parallel.
  template <typename Visit>
  void for_each_chunk(Workers& workers, Visit&& visit) const;

  std::size_t node_count_ = 0;
  std::vector<std::uint32_t> tets_;
  std::vector<Inside> inside_;
  std::vector<Outside> outside_;
  std::vector<ChunkEnd> chunk_ends_;
  NodeGradients node_gradients_;
  std::vector<NodeGradient> gradients_;
  float largest_offset_ = 0;
};

}  // namespace pliant
