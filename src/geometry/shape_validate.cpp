#include <cmath>

#include <fmt/format.h>

#include "geometry/convex_hull.h"
#include "pliant/shapes.h"

namespace pliant {
namespace {

/// Compounds within compounds: deeper nesting than anyone means, and than a stack must bear.
constexpr int kMaxCompoundDepth = 8;

Error wrong(std::string field, std::string message) {
  return {Error::Code::InvalidArgument, std::move(message), "", std::move(field), 0};
}

bool is_positive(float value) { return value > 0 && std::isfinite(value); }

Status check_length(const char* field, float value) {
  if (is_positive(value)) return {};
  return wrong(field, fmt::format("must be a positive, finite number of metres, not {}", value));
}

Status check_both(const Status& first, const Status& second) { return first ? second : first; }

Status check(const Sphere& s, int) { return check_length("radius", s.radius); }

Status check(const Box& s, int) {
  if (is_positive(s.size.x) && is_positive(s.size.y) && is_positive(s.size.z)) return {};
  return wrong("size", fmt::format("must be three positive, finite numbers of metres, not ({}, {}, {})", s.size.x,
                                   s.size.y, s.size.z));
}

template <typename RadiusAndHeight>
Status check_round(const RadiusAndHeight& s) {
  return check_both(check_length("radius", s.radius), check_length("height", s.height));
}
Status check(const Capsule& s, int) { return check_round(s); }
Status check(const Cylinder& s, int) { return check_round(s); }
Status check(const Cone& s, int) { return check_round(s); }

Status check(const ConvexHull& s, int) {
  const Result<TriMesh> hull = convex_hull(s.points);
  return hull ? Status{} : Status{hull.error()};
}

Status check(const TriangleMesh& s, int) {
  if (!s.mesh) return wrong("mesh", "there is no mesh");
  if (s.mesh->faces.empty()) return wrong("mesh", "the mesh has no faces");
  // Faces that are degenerate or non-manifold do no harm to a surface that things only bump into.
  for (const MeshProblem& problem : validate(*s.mesh, {.require_closed = false, .max_problems = 1})) {
    if (problem.kind == MeshProblem::Kind::NotFinite || problem.kind == MeshProblem::Kind::IndexOutOfRange) {
      return wrong("mesh", problem.message);
    }
  }
  return {};
}

Status check(const Heightfield& s, int) {
  if (s.columns < 2) return wrong("columns", fmt::format("must be at least 2, not {}", s.columns));
  if (s.rows < 2) return wrong("rows", fmt::format("must be at least 2, not {}", s.rows));
  if (const Status status = check_length("cell", s.cell); !status) return status;
  if (s.heights.size() != std::size_t(s.columns) * std::size_t(s.rows)) {
    return wrong("heights", fmt::format("must be {} x {} = {} numbers, not {}", s.columns, s.rows,
                                        std::size_t(s.columns) * std::size_t(s.rows), s.heights.size()));
  }
  for (std::size_t i = 0; i < s.heights.size(); ++i) {
    if (std::isfinite(s.heights[i])) continue;
    return wrong(fmt::format("heights[{}]", i), fmt::format("must be finite, not {}", s.heights[i]));
  }
  return {};
}

Status check(const Plane& s, int) {
  if (!is_finite(s.normal) || !(length(s.normal) > 1e-6f) || !std::isfinite(length(s.normal))) {
    return wrong("normal", fmt::format("must be a finite direction of some length, not ({}, {}, {})", s.normal.x,
                                       s.normal.y, s.normal.z));
  }
  if (!std::isfinite(s.offset)) return wrong("offset", fmt::format("must be finite, not {}", s.offset));
  return {};
}

bool is_rotation(Quat q) {
  return is_finite(q) && std::abs(std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) - 1) < 1e-3f;
}

Status check(const Compound& s, int depth);

Status check_part(const CompoundPart& part, int depth) {
  const bool is_surface = std::holds_alternative<TriangleMesh>(part.shape) ||
                          std::holds_alternative<Heightfield>(part.shape) || std::holds_alternative<Plane>(part.shape);
  if (is_surface) {
    return wrong("shape", fmt::format("a {} cannot be part of a compound: use convex hulls", shape_name(part.shape)));
  }
  if (!is_finite(part.body_from_part.position)) return wrong("body_from_part.position", "must be finite");
  if (!is_rotation(part.body_from_part.rotation)) {
    return wrong("body_from_part.rotation", "must be a quaternion of length 1");
  }
  Status status = std::visit([&](const auto& inner) { return check(inner, depth); }, part.shape);
  if (status) return status;
  Error error = status.error();
  error.field = error.field.empty() ? "shape" : "shape." + error.field;
  return error;
}

Status check(const Compound& s, int depth) {
  if (s.parts.empty()) return wrong("parts", "a compound needs at least one part");
  if (depth >= kMaxCompoundDepth) {
    return wrong("parts", fmt::format("compounds may be nested at most {} deep", kMaxCompoundDepth));
  }
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    const Status status = check_part(s.parts[i], depth + 1);
    if (status) continue;
    Error error = status.error();
    error.field = fmt::format("parts[{}].{}", i, error.field);
    return error;
  }
  return {};
}

struct ShapeName {
  const char* operator()(const Sphere&) const { return "sphere"; }
  const char* operator()(const Box&) const { return "box"; }
  const char* operator()(const Capsule&) const { return "capsule"; }
  const char* operator()(const Cylinder&) const { return "cylinder"; }
  const char* operator()(const Cone&) const { return "cone"; }
  const char* operator()(const ConvexHull&) const { return "convex_hull"; }
  const char* operator()(const TriangleMesh&) const { return "triangle_mesh"; }
  const char* operator()(const Heightfield&) const { return "heightfield"; }
  const char* operator()(const Plane&) const { return "plane"; }
  const char* operator()(const Compound&) const { return "compound"; }
};

}  // namespace

Status validate(const Shape& shape) {
  return std::visit([](const auto& s) { return check(s, 0); }, shape);
}

const char* shape_name(const Shape& shape) { return std::visit(ShapeName{}, shape); }

}  // namespace pliant
