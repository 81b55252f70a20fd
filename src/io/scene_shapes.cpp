// The shapes of rigid bodies. The words are those of `shape_name`.
#include <cmath>

#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {
namespace {

struct HullDraft {
  std::vector<Vec3> points;
  std::shared_ptr<const TriMesh> mesh;
};

/// A shape whose struct is its own table.
template <typename S>
Kind<Shape> plain(std::string name, Fields<S> fields) {
  return kind<Shape, S>(std::move(name), std::move(fields), [](const SceneReader&, S& draft, Shape& out) {
    out = std::move(draft);
    return true;
  });
}

/// A mesh by name, as a surface.
void read_surface(const SceneReader& r, std::shared_ptr<const TriMesh>& out) {
  if (const SceneMesh* mesh = read_mesh_name(r)) out = mesh->surface;
}

bool finish_hull(const SceneReader& r, HullDraft& draft, Shape& out) {
  const bool has_points = r.value().find("points"), has_mesh = r.value().find("mesh");
  if (has_points == has_mesh) return r.refuse("a convex hull needs either `points` or `mesh`"), false;
  out = ConvexHull{draft.mesh ? draft.mesh->vertices : std::move(draft.points)};
  return true;
}

bool finish_heightfield(const SceneReader& r, Heightfield& draft, Shape& out) {
  const std::size_t expected = static_cast<std::size_t>(draft.columns) * static_cast<std::size_t>(draft.rows);
  if (draft.heights.size() != expected) {
    r.refuse(Error{Error::Code::InvalidArgument,
                   fmt::format("expected {} numbers ({} columns by {} rows), found {}", expected, draft.columns,
                               draft.rows, draft.heights.size()),
                   {},
                   "heights"});
    return false;
  }
  out = std::move(draft);
  return true;
}

bool finish_terrain(const SceneReader& r, TerrainShape& draft, Shape& out) {
  try {
    out = heightfield_terrain(draft);
    return true;
  } catch (const BadResult& bad) {
    return r.refuse(bad.error()), false;
  }
}

const Fields<CompoundPart>& part_fields() {
  static const Fields<CompoundPart> fields = {
      field<CompoundPart>("shape", [](const SceneReader& r, CompoundPart& p) { read_shape(r, p.shape); }).required(),
      field<CompoundPart>("position",
                          [](const SceneReader& r, CompoundPart& p) { read(r, p.body_from_part.position); }),
      field<CompoundPart>("rotation",
                          [](const SceneReader& r, CompoundPart& p) { read(r, p.body_from_part.rotation); })};
  return fields;
}

void read_parts(const SceneReader& r, Compound& out) {
  r.for_elements("an array of parts", [&](const SceneReader& e) {
    CompoundPart part;
    if (read_fields(e, part, part_fields())) out.parts.push_back(std::move(part));
  });
}

std::vector<Kind<Shape>> round_shapes() {
  return {plain<Sphere>("sphere", {field("radius", &Sphere::radius, kPositive)}),
          plain<Box>("box", {field("size", &Box::size, kPositive)}),
          plain<Capsule>("capsule",
                         {field("radius", &Capsule::radius, kPositive), field("height", &Capsule::height, kPositive)}),
          plain<Cylinder>("cylinder", {field("radius", &Cylinder::radius, kPositive),
                                       field("height", &Cylinder::height, kPositive)}),
          plain<Cone>("cone", {field("radius", &Cone::radius, kPositive), field("height", &Cone::height, kPositive)})};
}

std::vector<Kind<Shape>> other_shapes() {
  return {
      kind<Shape, HullDraft>(
          "convex_hull",
          {field<HullDraft>("points", [](const SceneReader& r, HullDraft& d) { read_points(r, d.points); }),
           field<HullDraft>("mesh", [](const SceneReader& r, HullDraft& d) { read_surface(r, d.mesh); })},
          finish_hull),
      plain<TriangleMesh>(
          "triangle_mesh",
          {field<TriangleMesh>("mesh", [](const SceneReader& r, TriangleMesh& t) { read_surface(r, t.mesh); })
               .required()}),
      kind<Shape, Heightfield>(
          "heightfield",
          {field("columns", &Heightfield::columns, between(2, 2049)).required(),
           field("rows", &Heightfield::rows, between(2, 2049)).required(), field("cell", &Heightfield::cell, kPositive),
           field<Heightfield>("heights", [](const SceneReader& r, Heightfield& h) { read_numbers(r, h.heights); })
               .required()},
          finish_heightfield),
      kind<Shape, TerrainShape>("terrain", terrain_fields(), finish_terrain),
      plain<Plane>("plane",
                   {field<Plane>("normal", [](const SceneReader& r, Plane& p) { read_direction(r, p.normal); }),
                    field("offset", &Plane::offset)}),
      plain<Compound>("compound", {field<Compound>("parts", read_parts).required()})};
}

const std::vector<Kind<Shape>>& shape_kinds() {
  static const std::vector<Kind<Shape>> kinds = [] {
    std::vector<Kind<Shape>> all = round_shapes();
    for (Kind<Shape>& k : other_shapes()) all.push_back(std::move(k));
    return all;
  }();
  return kinds;
}

}  // namespace

bool read_shape(const SceneReader& r, Shape& out) { return read_kinds(r, "shape", shape_kinds(), out); }

void describe_shapes(std::vector<FieldSet>& sets) {
  for (const Kind<Shape>& k : shape_kinds()) sets.push_back({"shape_" + k.name, k.fields});
  sets.push_back({"part", infos(part_fields())});
}

}  // namespace pliant
