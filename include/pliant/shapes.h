// The shapes a rigid body can have. Sizes are full sizes in metres; round shapes stand along Y; each shape's origin is
// the centre of its bounding box unless it says otherwise.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "pliant/math.h"
#include "pliant/mesh.h"
#include "pliant/result.h"

namespace pliant {

struct Sphere {
  float radius = 0.5f;
};
struct Box {
  Vec3 size{1, 1, 1};
};
/// A cylinder of `height` with a half sphere on each end: `height + 2 radius` tall in all.
struct Capsule {
  float radius = 0.25f;
  float height = 0.5f;
};
struct Cylinder {
  float radius = 0.5f;
  float height = 1;
};
/// Its tip points to +Y.
struct Cone {
  float radius = 0.5f;
  float height = 1;
};
/// The convex hull of at least four points that do not lie in one plane, in their own frame.
struct ConvexHull {
  std::vector<Vec3> points{};
};
/// A surface of any form, in its own frame. For static and kinematic bodies only.
struct TriangleMesh {
  std::shared_ptr<const TriMesh> mesh{};
};
/// Heights over a regular grid in X (columns) and Z (rows), centred on the origin; `heights[row * columns + column]` in
/// metres above the body's origin. Each cell is cut into two triangles, from (column + 1, row) to (column, row + 1).
/// Static bodies only.
struct Heightfield {
  int columns = 0, rows = 0;
  float cell = 1;
  std::vector<float> heights{};
};
/// The half space below a plane. Static bodies only.
struct Plane {
  Vec3 normal{0, 1, 0};  ///< of any length: only its direction counts
  float offset = 0;      ///< m from the origin along that direction
};

/// Several shapes that move as one, in the body's frame. Parts may not be meshes, heightfields or planes; compounds may
/// be nested, up to 8 deep.
struct CompoundPart;
struct Compound {
  std::vector<CompoundPart> parts;  // without {}: clang 14 would want CompoundPart complete
};

using Shape =
    std::variant<Sphere, Box, Capsule, Cylinder, Cone, ConvexHull, TriangleMesh, Heightfield, Plane, Compound>;

struct CompoundPart {
  Shape shape{};
  Transform body_from_part{};
};

/// Says what is wrong with a shape (a size that is not positive and finite, a flat hull, a mesh that names vertices
/// that do not exist …), if anything. Degenerate and non-manifold faces of a triangle mesh do no harm and are let
/// through. The error's `field` is relative to the shape, such as `radius` or `parts[2].shape.size`.
Status validate(const Shape& shape);

/// The word for the shape in scenes and messages: "sphere", "box", "convex_hull" …
const char* shape_name(const Shape& shape);

/// The shape's surface with normals, for pictures and recordings; vertices are split along sharp edges, so that each
/// side has its own. `detail` is the number of segments of a full circle, 3 to 1024. Planes become a square of 100 m. A
/// shape that `validate` refuses throws `BadResult`.
TriMesh tessellate(const Shape& shape, int detail = 32);

/// Mass, where it is centred and how it is spread.
struct MassProperties {
  float mass = 0;         ///< kg
  Vec3 center_of_mass{};  ///< in the body frame, m
  Mat3 inertia{};         ///< about the centre of mass, along the body's axes, kg m²
};

/// Of the shape filled with `density` kg/m³. Meshes, heightfields and planes have no mass of their own and give an
/// error. Parts of a compound that overlap count twice.
Result<MassProperties> mass_properties(const Shape& shape, float density);

}  // namespace pliant
