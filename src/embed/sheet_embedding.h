// A surface of any size carried by the triangles of a cloth.
//
// A vertex belongs to the nearest point q of the cloth at rest and moves with it. Its offset from q, if it has one, is
// carried by the deformation of the triangles around q (their edges and their unit normal), which is interpolated from
// its means around the nodes, as `Embedding` does it for tets: vertices next to each other stay so.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "pliant/mesh.h"

namespace pliant {

class SheetEmbedding {
 public:
  /// Binds `vertices`, given in the frame in which the cloth is at rest. The cloth has at least one face of some area,
  /// and all numbers are finite.
  SheetEmbedding(std::span<const Vec3> rest_nodes, std::span<const Face> faces, std::span<const Vec3> vertices);

  std::size_t vertex_count() const { return bindings_.size(); }
  /// Where the vertices are when the nodes are at `nodes`.
  void update(Workers& workers, std::span<const Vec3> nodes, std::span<Vec3> vertices);
  /// A value per node at the vertices, such as its velocity; that of an offset's turning is left out.
  void interpolate(Workers& workers, std::span<const Vec3> node_values, std::span<Vec3> values) const;

 private:
  struct Binding {
    Face nodes;
    std::array<float, 2> weights;  ///< of the second and third node
    Vec3 offset;                   ///< at rest, m; 0 on the cloth
    Vec3 foot(std::span<const Vec3> x) const {
      const Vec3 a = x[nodes[0]];
      return a + weights[0] * (x[nodes[1]] - a) + weights[1] * (x[nodes[2]] - a);
    }
  };
  /// A face at rest: a vector v is (v·along[0]) e₁ + (v·along[1]) e₂ + (v·normal) n of its edges and normal.
  struct RestFace {
    Face nodes;
    float area;
    std::array<Vec3, 2> along;
    Vec3 normal;
  };
  void find_gradients(std::span<const Vec3> nodes);

  std::vector<Binding> bindings_;
  std::vector<RestFace> faces_;  ///< empty where no vertex has an offset
  std::vector<float> weights_;   ///< 1 over the area around each node
  std::vector<Mat3> gradients_;  ///< per node, now from rest
};

}  // namespace pliant
