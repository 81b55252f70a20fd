// The corners and edges of a rigid body against a deforming surface.
//
// Nodes of a deforming body are kept out of a rigid one by the distance to its shape (geometry/shape_distance.h). What
// that misses is here: a corner that presses between the nodes of a coarse surface, an edge across its edges, a small
// sphere that falls through a large triangle. For this the shape becomes a surface of its own, and contacts are found
// as those of two surfaces are (surface_contacts.h): along the motion of the substep, with sides remembered where the
// deforming surface is open and told by its faces where it is closed.
//
// Boxes and hulls have their corners and edges; rims of cylinders and cones are polygons of `kRimSegments` sides; a
// sphere is a point and a capsule an edge with its radius; meshes and heightfields have all their vertices and edges,
// of which only a window around the deforming surface is ever looked at. Planes have none: nodes say it all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collide/surface_contacts.h"
#include "geometry/bvh.h"
#include "pliant/shapes.h"

namespace pliant {

/// The features of one shape, in its frame. Made once; may be shared.
class RigidFeatures {
 public:
  static constexpr int kRimSegments = 32;
  /// A piece with more faces than this is looked at through a window.
  static constexpr std::size_t kMaxWhole = 512;

  /// A shape that `validate` refuses throws `BadResult`.
  explicit RigidFeatures(const Shape& shape);

  /// A part with one radius. Faces look outward; what is behind them is inside, as for `ShapeProbe`.
  struct Piece {
    std::vector<Vec3> points;
    std::vector<Face> faces;
    std::vector<NodePair> free_edges;  ///< of a sphere or a capsule
    float radius = 0;                  ///< m
    float size = 0;                    ///< m, the least side of its box
    bool is_sharp = false;             ///< has tips sharper than the corner of a box, or blades
    Bvh bvh{};                         ///< over the faces, where there are too many
    bool is_large() const { return faces.size() > kMaxWhole; }
  };
  std::span<const Piece> pieces() const { return pieces_; }
  /// Whether something of it may pass between the nodes of a surface that are `cell` (m) apart: it is thinner than two
  /// cells somewhere, or sharp. Else nodes keep the surface out up to a share of a cell.
  bool may_pass_between(float cell) const;
  /// Whether it is a ball so large, or a capsule so thick, that between nodes `cell` apart it gets no further than a
  /// twentieth of that. Where a flat face touches it changes much when the face tilts a little: a soft body that lies
  /// on its faces rocks for ever.
  bool is_met_by_nodes(float cell) const;

 private:
  std::vector<Piece> pieces_;
};

/// One for each shape as long as it lives.
class RigidFeaturesOfShapes {
 public:
  const std::shared_ptr<const RigidFeatures>& of(const std::shared_ptr<const Shape>& shape);

 private:
  struct Known {
    std::weak_ptr<const Shape> shape;
    std::shared_ptr<const RigidFeatures> features;
  };
  std::map<const Shape*, Known> known_;
};

/// How a rigid body moves in a substep.
struct RigidPath {
  Transform world_from_shape{};
  Vec3 velocity{}, angular_velocity{}, center_of_mass{};

  Vec3 velocity_at(Vec3 point) const { return velocity + cross(angular_velocity, point - center_of_mass); }
};

/// A feature of a rigid body at a feature of a surface. A row that keeps dot(normal, Σ weights v[nodes] − velocity of
/// the body at `point`) ≥ −gap / h keeps them apart.
struct RigidContact {
  std::uint32_t count = 0;  ///< of nodes: 2 or 3
  std::array<std::uint32_t, 3> nodes{};
  std::array<float, 3> weights{};  ///< with the sum 1
  Vec3 point{};                    ///< m, world: on the rigid body
  Vec3 normal{};                   ///< unit, from the rigid body towards the surface
  float gap = 0;                   ///< m, less the radii; negative when they overlap
  std::uint64_t key = 0;           ///< names the two features, the same in every substep
};

/// Finds the contacts of one rigid body with one surface, and remembers what must be remembered until the next
/// substep. Use one per pair.
class RigidContacts {
 public:
  explicit RigidContacts(std::shared_ptr<const RigidFeatures> features);

  /// `surface` must have been refitted for this substep; `depth` (m) is how far things may be inside the rigid body.
  std::span<const RigidContact> find(const SurfaceTree& surface, const RigidPath& motion, float depth, Workers& workers,
                                     SurfaceContacts::Scratch& scratch);
  std::span<const RigidContact> contacts() const { return contacts_; }
  bool overflowed() const { return overflowed_; }
  /// Pairs of features that the last search looked at.
  std::size_t tests() const { return tests_; }
  const RigidFeatures& features() const { return *features_; }

  /// What decides the future.
  struct Memory {
    struct Part {
      Aabb window;
      std::vector<SideNote> sides;
      SurfaceContacts::Candidates candidates;
      SurfaceTree::Fit fit;
    };
    std::vector<Part> parts;  ///< by piece
    float depth = 0;
  };
  Memory memory() const;
  void restore(const Memory& memory, Workers& workers);

 private:
  /// A piece, or as much of it as is near.
  struct Part {
    Aabb window{};                        ///< m, in the shape's frame; of a large piece
    std::vector<std::uint32_t> vertices;  ///< the piece's point of each node of the tree
    std::vector<Vec3> x, v;               ///< m and m/s, world, of these
    std::unique_ptr<SurfaceTree> tree;    ///< none if nothing is near
    SurfaceContacts search;
  };
  void open_window(std::size_t piece, const Aabb& window, float depth);
  void look(std::size_t piece, const SurfaceTree& surface, const RigidPath& motion, Workers& workers,
            SurfaceContacts::Scratch& scratch);
  void add(std::size_t piece, const SurfaceContact& contact);

  std::shared_ptr<const RigidFeatures> features_;
  std::vector<Part> parts_;
  float depth_ = 0;
  std::vector<RigidContact> contacts_;
  std::size_t tests_ = 0;
  bool overflowed_ = false;
};

}  // namespace pliant
