// Shapes for Bullet, of the size the user gave.
//
// Bullet adds a collision margin of 4 cm around hulls, cones, meshes and heightfields, so that things float above each
// other, and worse the smaller they are. Here hulls and cones are shrunk by their margin first, so that margin and all
// they have their true size, and surfaces have no margin.
#include "rigid/bullet_shape.h"

#include <algorithm>
#include <cmath>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btBvhTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btCompoundShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>
#include <Eigen/Eigenvalues>
#include <LinearMath/btConvexHullComputer.h>

namespace pliant {
namespace {

/// A margin that helps GJK without rounding the edges: they recede by 0.4 of it.
constexpr float kMarginOfSize = 0.005f;

float margin_for(Vec3 size) { return kMarginOfSize * std::min({size.x, size.y, size.z}); }

/// Bullet's boxes and cylinders keep their outer size when their margin changes.
template <typename BulletShape>
std::unique_ptr<btCollisionShape> with_margin(std::unique_ptr<BulletShape> shape, Vec3 size) {
  shape->setMargin(margin_for(size));
  return shape;
}

/// A convex Bullet shape and where it sits in the frame of the pliant shape it stands for.
struct PlacedShape {
  std::unique_ptr<btCollisionShape> shape;
  btTransform shape_from_part = btTransform::getIdentity();
};

PlacedShape make_cone(const Cone& cone) {
  // Offsetting a cone inwards by the margin raises its base by the margin and lowers its tip by margin / sin(half
  // angle).
  const float slant = std::hypot(cone.radius, cone.height);
  const float sin_half_angle = cone.radius / slant;
  const float margin = kMarginOfSize * std::min(2 * cone.radius, cone.height);
  const float height = cone.height - margin - margin / sin_half_angle;
  const float scale = height / cone.height;
  if (scale < 0.2f) {  // a needle: no room for a margin
    auto shape = std::make_unique<btConeShape>(cone.radius, cone.height);
    shape->setMargin(0);
    return {std::move(shape)};
  }
  auto shape = std::make_unique<btConeShape>(cone.radius * scale, height);
  shape->setMargin(margin);
  const float base = -cone.height / 2 + margin;
  return {std::move(shape), btTransform(btQuaternion::getIdentity(), btVector3(0, base + height / 2, 0))};
}

/// The points are given in the frame the hull is to have.
std::unique_ptr<btCollisionShape> make_hull(const std::vector<btVector3>& points) {
  Aabb bounds;
  for (const btVector3& point : points) bounds.include(from_bullet(point));
  btConvexHullComputer computer;
  // Shrinking moves every face inwards; it is limited so that thin hulls keep some body.
  const float margin = computer.compute(points[0].m_floats, sizeof(btVector3), static_cast<int>(points.size()),
                                        margin_for(bounds.size()), 0.2f);
  auto shape = std::make_unique<btConvexHullShape>();
  for (int i = 0; i < computer.vertices.size(); ++i) shape->addPoint(computer.vertices[i], false);
  shape->recalcLocalAabb();
  shape->setMargin(margin);
  shape->initializePolyhedralFeatures(1);  // whole faces in contact at once, instead of one point a step
  return shape;
}

std::vector<btVector3> placed_points(const std::vector<Vec3>& points, const btTransform& placement) {
  std::vector<btVector3> placed;
  placed.reserve(points.size());
  for (Vec3 point : points) placed.push_back(placement * to_bullet(point));
  return placed;
}

PlacedShape make_convex(const Shape& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return {std::make_unique<btSphereShape>(sphere->radius)};
  if (const auto* box = std::get_if<Box>(&shape)) {
    return {with_margin(std::make_unique<btBoxShape>(to_bullet(0.5f * box->size)), box->size)};
  }
  if (const auto* capsule = std::get_if<Capsule>(&shape)) {
    return {std::make_unique<btCapsuleShape>(capsule->radius, capsule->height)};
  }
  if (const auto* cylinder = std::get_if<Cylinder>(&shape)) {
    const Vec3 half{cylinder->radius, cylinder->height / 2, cylinder->radius};
    return {with_margin(std::make_unique<btCylinderShape>(to_bullet(half)), 2 * half)};
  }
  if (const auto* cone = std::get_if<Cone>(&shape)) return make_cone(*cone);
  const auto& hull = std::get<ConvexHull>(shape);
  return {make_hull(placed_points(hull.points, btTransform::getIdentity()))};
}

void add_parts(const Shape& shape, const btTransform& mass_from_shape, btCompoundShape& compound, RigidShape& out) {
  if (const auto* nested = std::get_if<Compound>(&shape)) {
    for (const CompoundPart& part : nested->parts) {
      add_parts(part.shape, mass_from_shape * to_bullet(part.body_from_part), compound, out);
    }
    return;
  }
  PlacedShape placed = make_convex(shape);
  compound.addChildShape(mass_from_shape * placed.shape_from_part, placed.shape.get());
  out.parts.push_back(std::move(placed.shape));
}

void build_mesh(const TriangleMesh& shape, RigidShape& out) {
  out.mesh = shape.mesh;
  const TriMesh& mesh = *out.mesh;
  // Bullet takes non-const pointers but only reads.
  auto view = std::make_unique<btTriangleIndexVertexArray>();
  btIndexedMesh indexed;
  indexed.m_numTriangles = static_cast<int>(mesh.faces.size());
  indexed.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(mesh.faces.data());
  indexed.m_triangleIndexStride = sizeof(Face);
  indexed.m_numVertices = static_cast<int>(mesh.vertices.size());
  indexed.m_vertexBase = reinterpret_cast<const unsigned char*>(mesh.vertices.data());
  indexed.m_vertexStride = sizeof(Vec3);
  view->addIndexedMesh(indexed, PHY_INTEGER);
  auto collision = std::make_unique<btBvhTriangleMeshShape>(view.get(), true);
  collision->setMargin(0);
  out.mesh_view = std::move(view);
  out.collision = collision.get();
  out.parts.push_back(std::move(collision));
}

void build_heightfield(const Heightfield& field, RigidShape& out) {
  out.heights = field.heights;
  const auto [lowest, highest] = std::minmax_element(out.heights.begin(), out.heights.end());
  auto collision = std::make_unique<btHeightfieldTerrainShape>(field.columns, field.rows, out.heights.data(), *lowest,
                                                               *highest, 1, false);
  collision->setLocalScaling(btVector3(field.cell, 1, field.cell));
  collision->setMargin(0);
  // Bullet centres a heightfield between its lowest and highest point.
  out.body_from_mass.setOrigin(btVector3(0, (*lowest + *highest) / 2, 0));
  out.mass_from_body = out.body_from_mass.inverse();
  out.collision = collision.get();
  out.parts.push_back(std::move(collision));
}

bool is_identity(const btTransform& t) { return t.getOrigin().isZero() && t.getBasis() == btMatrix3x3::getIdentity(); }

}  // namespace

void build_collision_shape(const Shape& shape, const btTransform& mass_from_body, RigidShape& out) {
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) return build_mesh(*mesh, out);
  if (const auto* field = std::get_if<Heightfield>(&shape)) return build_heightfield(*field, out);
  std::unique_ptr<btCollisionShape> collision;
  if (const auto* plane = std::get_if<Plane>(&shape)) {
    collision = std::make_unique<btStaticPlaneShape>(to_bullet(normalized(plane->normal)), plane->offset);
  } else if (const auto* hull = std::get_if<ConvexHull>(&shape)) {
    // A hull is re-centred by moving its points: a compound around it would make every contact dearer.
    collision = make_hull(placed_points(hull->points, mass_from_body));
  } else if (std::holds_alternative<Compound>(shape) || std::holds_alternative<Cone>(shape) ||
             !is_identity(mass_from_body)) {
    auto compound = std::make_unique<btCompoundShape>();
    add_parts(shape, mass_from_body, *compound, out);
    collision = std::move(compound);
  } else {
    collision = make_convex(shape).shape;
  }
  out.collision = collision.get();
  out.parts.push_back(std::move(collision));
}

namespace {

Error field_error(const char* field, std::string message) {
  Error error;
  error.message = std::move(message);
  error.field = field;
  return error;
}

Result<MassProperties> mass_of_def(const RigidDef& def) {
  if (def.mass_properties) return *def.mass_properties;
  Result<MassProperties> filled = mass_properties(def.shape, def.mass ? 1 : def.density);
  if (!filled || !def.mass) return filled;
  MassProperties scaled = *filled;
  const float factor = *def.mass / scaled.mass;
  scaled.mass = *def.mass;
  for (Vec3& row : scaled.inertia.rows) row *= factor;
  return scaled;
}

/// Splits an inertia tensor into principal moments and the rotation of their axes.
Status set_mass(const MassProperties& given, RigidShape& out) {
  Eigen::Matrix3d inertia;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) inertia(r, c) = 0.5 * (given.inertia(r, c) + given.inertia(c, r));
  }
  const double off_diagonal = std::abs(inertia(0, 1)) + std::abs(inertia(0, 2)) + std::abs(inertia(1, 2));
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();
  Eigen::Vector3d moments = inertia.diagonal();
  if (off_diagonal > 1e-6 * inertia.trace()) {  // else the body's axes are the principal ones: leave them alone
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(inertia);
    axes = solver.eigenvectors();
    if (axes.determinant() < 0) axes.col(2) *= -1;
    moments = solver.eigenvalues();
  }
  if (!(given.mass > 0) || !std::isfinite(given.mass)) {
    return field_error("mass", "the mass must be a positive, finite number of kg");
  }
  if (!(moments.minCoeff() > 0) || !moments.allFinite()) {
    return field_error("mass_properties.inertia", "the inertia tensor must be finite and positive definite");
  }
  btMatrix3x3 basis;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) basis[r][c] = static_cast<float>(axes(r, c));
  }
  out.body_from_mass = btTransform(basis, to_bullet(given.center_of_mass));
  out.mass_from_body = out.body_from_mass.inverse();
  out.mass = given.mass;
  out.inertia =
      btVector3(static_cast<float>(moments[0]), static_cast<float>(moments[1]), static_cast<float>(moments[2]));
  return {};
}

}  // namespace

Result<std::shared_ptr<const RigidShape>> make_rigid_shape(const RigidDef& def) {
  if (Status status = validate(def.shape); !status) {
    Error error = status.error();
    error.field = error.field.empty() ? "shape" : "shape." + error.field;
    return error;
  }
  auto shape = std::make_shared<RigidShape>();
  if (def.motion == Motion::Dynamic) {
    const Result<MassProperties> mass = mass_of_def(def);
    if (!mass) return mass.error();
    if (Status status = set_mass(*mass, *shape); !status) return status.error();
  }
  build_collision_shape(def.shape, shape->mass_from_body, *shape);
  btVector3 lower, upper;
  shape->collision->getAabb(btTransform::getIdentity(), lower, upper);
  const btVector3 half = 0.5f * (upper - lower);
  shape->smallest_half_extent = std::min({half.x(), half.y(), half.z()});
  return std::shared_ptr<const RigidShape>(std::move(shape));
}

float mass_of(const RigidShape& shape) { return shape.mass; }

}  // namespace pliant
