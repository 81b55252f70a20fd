#include "io/scene_layered_surface.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "geometry/surface_mend.h"
#include "io/scene_node_body.h"

namespace pliant {
namespace {

/// Exactly one of the first five says what it is: its form.
struct SurfaceDraft {
  std::optional<Vec2> torus, cylinder;
  std::optional<float> sphere;
  std::optional<std::string> mesh;
  std::optional<Heightfield> heightfield;
  /// Of a mesh: lays it out; left out, its vertices are the nodes.
  std::optional<int> resolution;
  AtlasOptions::Charts charts = AtlasOptions::Charts::Given;
  float crease_angle = 40;
  bool fill = false;
  int segments = 48, rows = 24;
  std::optional<Ridges> ridges;
};

const Fields<Ridges>& ridge_fields() {
  static const Fields<Ridges> fields = {field("count", &Ridges::count, between(1, 1000)),
                                        field("depth", &Ridges::depth, kPositive)};
  return fields;
}

/// A shape that is a height field, of given heights or of noise.
void read_heightfield(const SceneReader& r, std::optional<Heightfield>& out) {
  Shape shape;
  if (!read_shape(r, shape)) return;
  if (auto* field = std::get_if<Heightfield>(&shape)) {
    out = std::move(*field);
  } else {
    r.refuse("a shape of the kind `heightfield` or `terrain` is needed");
  }
}

const Fields<SurfaceDraft>& surface_fields() {
  static const Fields<SurfaceDraft> fields = {
      pair_field("torus", &SurfaceDraft::torus),
      pair_field("cylinder", &SurfaceDraft::cylinder),
      field("sphere", &SurfaceDraft::sphere, kPositive),
      field<SurfaceDraft>("mesh", [](const SceneReader& r, SurfaceDraft& d) { read(r, d.mesh); }),
      field<SurfaceDraft>("heightfield",
                          [](const SceneReader& r, SurfaceDraft& d) { read_heightfield(r, d.heightfield); }),
      field("resolution", &SurfaceDraft::resolution, between(8, 1024)),
      field<SurfaceDraft>("charts",
                          [](const SceneReader& r, SurfaceDraft& d) {
                            const auto word = read_word(r, {"given", "automatic"});
                            if (word)
                              d.charts = *word == 0 ? AtlasOptions::Charts::Given : AtlasOptions::Charts::Automatic;
                          }),
      field("crease_angle", &SurfaceDraft::crease_angle, between(1, 180)),
      field("fill", &SurfaceDraft::fill),
      field("segments", &SurfaceDraft::segments, between(4, 4096)),
      field("rows", &SurfaceDraft::rows, between(1, 4096)),
      field<SurfaceDraft>("ridges", [](const SceneReader& r, SurfaceDraft& d) {
        Ridges ridges;
        if (read_fields(r, ridges, ridge_fields())) d.ridges = ridges;
      })};
  return fields;
}

bool surface_of_mesh(const SceneReader& r, const SurfaceDraft& draft, Atlas& out) {
  const SceneReader field = r.member("mesh", *r.value().find("mesh"));
  const SceneMesh* mesh = read_mesh_name(field);
  if (!mesh) return false;
  if (!draft.resolution) {
    out.surface = welded(*mesh->surface);
    if (const auto problems = validate(out.surface, {.require_closed = true, .max_problems = 1}); !problems.empty()) {
      field.refuse(problems.front().message + "; mend it, or give a `resolution`, which mends what can be mended");
      return false;
    }
    // All faces inward, as some programs write them.
    if (enclosed_volume(out.surface) < 0) {
      for (Face& face : out.surface.faces) std::swap(face[1], face[2]);
    }
    return true;
  }
  Result<Atlas> made = make_atlas(*mesh->surface, {.resolution = *draft.resolution,
                                                   .charts = draft.charts,
                                                   .crease_angle = draft.crease_angle,
                                                   .fill = draft.fill});
  if (!made) {
    Error error = made.error();
    if (error.field == "mesh") error.field.clear();  // the field that is refused says so
    return field.refuse(error), false;
  }
  out = std::move(*made);
  return true;
}

/// The form that a draft has, or none if it has several or none at all.
std::string_view form_of(const SceneReader& r, const SurfaceDraft& draft) {
  const std::pair<bool, std::string_view> forms[] = {{draft.torus.has_value(), "torus"},
                                                     {draft.cylinder.has_value(), "cylinder"},
                                                     {draft.sphere.has_value(), "sphere"},
                                                     {draft.mesh.has_value(), "mesh"},
                                                     {draft.heightfield.has_value(), "heightfield"}};
  std::string_view form;
  int found = 0;
  for (const auto& [is_given, name] : forms) {
    if (is_given) form = name, ++found;
  }
  if (found == 1) return form;
  r.refuse(
      fmt::format("exactly one of `torus`, `cylinder`, `sphere`, `mesh` and `heightfield` is needed, found {}", found));
  return {};
}

/// Fields that say nothing about the form: a slip, or a wish that would not come true.
bool has_idle_fields(const SceneReader& r, const SurfaceDraft& draft, std::string_view form) {
  struct Use {
    std::string_view field, forms, where;
  };
  constexpr Use kUses[] = {{"segments", "torus cylinder sphere", "`torus`, `cylinder` and `sphere`"},
                           {"rows", "torus cylinder", "`torus` and `cylinder`"},
                           {"ridges", "torus cylinder sphere mesh", "closed surfaces"},
                           {"resolution", "mesh", "`mesh`"},
                           {"charts", "mesh", "`mesh`"},
                           {"crease_angle", "mesh", "`mesh`"},
                           {"fill", "mesh", "`mesh`"}};
  for (const Use& use : kUses) {
    const JsonValue* value = r.value().find(use.field);
    if (!value) continue;
    const bool needs_resolution = use.forms == "mesh" && use.field != "resolution";
    if (use.forms.find(form) == std::string_view::npos) {
      r.member(use.field, *value).refuse(fmt::format("this is for {}, and does nothing for `{}`", use.where, form));
    } else if (needs_resolution && !draft.resolution) {
      r.member(use.field, *value).refuse("this needs a `resolution`: without one the mesh's vertices are the nodes");
    } else {
      continue;
    }
    return true;
  }
  return false;
}

/// An error of a generator, told by the names of the scene.
void refuse_form(const SceneReader& r, std::string_view form, Error error) {
  const bool is_rows = error.field == "tube_segments" || error.field == "rows";
  const std::string_view name = is_rows                                               ? "rows"
                                : error.field == "segments" || error.field == "cells" ? "segments"
                                                                                      : form;
  // "atlas_torus: the tube …", "atlas_torus needs tube_segments of …"
  constexpr std::string_view kPrefix = "atlas_", kTubeSegments = "tube_segments";
  const std::size_t colon = error.message.find(": ");
  if (error.message.starts_with(kPrefix)) {
    error.message = colon != std::string::npos ? error.message.substr(colon + 2)
                                               : fmt::format("a {}", error.message.substr(kPrefix.size()));
  }
  if (const std::size_t at = error.message.find(kTubeSegments); at != std::string::npos) {
    error.message.replace(at, kTubeSegments.size(), "rows");
  }
  const JsonValue* value = r.value().find(name);
  if (!value) return r.refuse(error.message);
  r.member(name, *value).refuse(error.message);
}

bool make_surface(const SceneReader& r, std::string_view form, const SurfaceDraft& draft, Atlas& out) {
  if (draft.mesh) return surface_of_mesh(r, draft, out);
  try {
    const int quarter = std::max(draft.segments / 4, 1);
    if (draft.torus) out = atlas_torus(draft.torus->x, draft.torus->y, draft.segments, draft.rows);
    if (draft.sphere) out = atlas_sphere(*draft.sphere, quarter);
    if (draft.heightfield) out = atlas_heightfield(*draft.heightfield);
    if (draft.cylinder) out = atlas_cylinder(draft.cylinder->x, draft.cylinder->y, quarter, draft.rows);
  } catch (const BadResult& bad) {
    return refuse_form(r, form, bad.error()), false;
  }
  return true;
}

}  // namespace

Vec3 ridge_at(const Ridges& ridges, Vec3 position, Vec3 normal) {
  const Vec3 outward = normalized({position.x, 0, position.z});
  const float wave = std::cos(static_cast<float>(ridges.count) * std::atan2(position.z, position.x));
  const float t = std::min(std::max(0.5f + 1.5f * wave, 0.0f), 1.0f), height = t * t * (3 - 2 * t);
  return normal * (ridges.depth * height * std::max(dot(normal, outward), 0.0f));
}

void read_layered_surface(const SceneReader& r, Atlas& atlas, std::optional<Ridges>& ridges) {
  SurfaceDraft draft;
  if (!read_fields(r, draft, surface_fields())) return;
  const std::string_view form = form_of(r, draft);
  if (form.empty() || has_idle_fields(r, draft, form)) return;
  if (make_surface(r, form, draft, atlas)) ridges = draft.ridges;
}

void describe_layered_surface(std::vector<FieldSet>& sets) {
  sets.push_back({"layered_surface", infos(surface_fields())});
  sets.push_back({"ridges", infos(ridge_fields())});
}

}  // namespace pliant
