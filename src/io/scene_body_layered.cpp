// "kind": "layered"
#include <cmath>

#include <fmt/format.h>

#include "geometry/layer_core.h"
#include "geometry/surface_mend.h"
#include "io/scene_node_body.h"
#include "pliant/texture_io.h"

namespace pliant {
namespace {

// --- The surface -----------------------------------------------------------------------------------------------------

/// Blocks around the Y axis that stand out from the surface: the teeth of a gear, the treads of a tire.
struct Ridges {
  int count = 16;
  float depth = 0.05f;  ///< m
};

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

Vec3 ridge_at(const Ridges& ridges, Vec3 position, Vec3 normal) {
  const Vec3 outward = normalized({position.x, 0, position.z});
  const float wave = std::cos(static_cast<float>(ridges.count) * std::atan2(position.z, position.x));
  const float t = std::min(std::max(0.5f + 1.5f * wave, 0.0f), 1.0f), height = t * t * (3 - 2 * t);
  return normal * (ridges.depth * height * std::max(dot(normal, outward), 0.0f));
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

// --- The body --------------------------------------------------------------------------------------------------------

/// Nodes under which the layer is of another thickness, stiffness or density, or that look different.
struct LayerPart {
  NodeSelection nodes = AllNodes{};
  float thickness = 1, stiffness = 1, density = 1;
  std::optional<Vec3> color;
};

/// Factors of the layer, painted in the surface's texture coordinates.
struct LayerMap {
  std::string path;
  Vec2 range{0, 1};  ///< of black and white
};

struct LayeredDraft : NodeBodyDraft<LayeredDef> {
  std::optional<Ridges> ridges;
  std::vector<LayerPart> parts;
};

void read_surface(const SceneReader& r, LayeredDraft& out) {
  SurfaceDraft draft;
  if (!read_fields(r, draft, surface_fields())) return;
  const std::string_view form = form_of(r, draft);
  if (form.empty() || has_idle_fields(r, draft, form)) return;
  if (make_surface(r, form, draft, out.atlas)) out.ridges = draft.ridges;
}

const Fields<LayerPart>& part_fields() {
  static const Fields<LayerPart> fields = {
      field<LayerPart>("nodes", [](const SceneReader& r, LayerPart& p) { read_selection(r, p.nodes); }).required(),
      field("thickness", &LayerPart::thickness, kPositive), field("stiffness", &LayerPart::stiffness, kPositive),
      field("density", &LayerPart::density, kPositive),
      field<LayerPart>("color", [](const SceneReader& r, LayerPart& p) {
        Vec3 color;
        if (read_color(r, color)) p.color = color;
      })};
  return fields;
}

const Fields<LayerMap>& map_fields() {
  static const Fields<LayerMap> fields = [] {
    Field<LayerMap> range = field<LayerMap>("range", [](const SceneReader& r, LayerMap& m) {
      std::optional<Vec2> pair;
      read_pair(r, pair);
      if (pair) m.range = *pair;
    });
    range.info.range = kPositive;
    return Fields<LayerMap>{field("path", &LayerMap::path).required(), std::move(range).required()};
  }();
  return fields;
}

/// What a picture says at the nodes, times what is there already.
void read_map(const SceneReader& r, const LayeredDraft& draft, std::vector<float>& factors) {
  LayerMap map;
  if (!read_fields(r, map, map_fields()) || draft.atlas.surface.faces.empty()) return;
  const AtlasLayout layout = layout_of(draft.atlas);
  if (layout.empty()) {
    return r.refuse("the surface has no texture coordinates: give it a `resolution`, or one of the built-in forms");
  }
  const Result<ScalarTexture> texture = load_texture(r.builder().resolve(map.path));
  if (!texture) return r.refuse(texture.error());
  const std::vector<float> values = values_at_nodes(layout, draft.atlas.node_count(), *texture);
  if (factors.empty()) factors.assign(values.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    factors[i] *= map.range.x + values[i] * (map.range.y - map.range.x);
  }
}

Field<LayeredDraft> map_field(const char* name, std::vector<float> LayeredDef::*factors) {
  return field<LayeredDraft>(name, [=](const SceneReader& r, LayeredDraft& d) { read_map(r, d, d.*factors); });
}

const Fields<CoreSpring>& spring_fields() {
  static const Fields<CoreSpring> fields = {
      field("point", &CoreSpring::point), field("place", &CoreSpring::place).required(),
      field("stiffness", &CoreSpring::stiffness, kNotNegative), field("damping", &CoreSpring::damping, kNotNegative)};
  return fields;
}

template <typename Item, typename List>
void read_list(const SceneReader& r, const char* expected, const Fields<Item>& fields, List& out) {
  r.for_elements(expected, [&](const SceneReader& e) {
    Item item;
    if (read_fields(e, item, fields)) out.push_back(item);
  });
}

template <typename M>
Field<LayeredDraft> own(std::string name, M LayeredDef::*member, Range range = kAny) {
  return inherited<LayeredDraft>(std::move(name), member, range);
}

/// With how well it is to be solved; the body's own fields are read later and win.
void read_material(const SceneReader& r, LayeredDraft& d) {
  if (!read_solid_material(r, d.material)) return;
  // A material of the library may break; a wish for it would not come true.
  for (const std::string_view name : {"strength", "toughness", "grain_strength", "grain_modulus", "elasticity"}) {
    const JsonValue* value = r.value().as<JsonValue::Object>() ? r.value().find(name) : nullptr;
    if (value) return r.member(name, *value).refuse("layers are linear, have no grain and do not break: leave it out");
  }
  if (!d.material.solver) return;
  d.tolerance = d.material.solver->tolerance, d.max_iterations = d.material.solver->max_iterations;
  d.material.solver.reset();
}

Fields<LayeredDraft> what_fields() {
  return {name_field<LayeredDraft>(),
          field<LayeredDraft>("surface", read_surface).required(),
          field<LayeredDraft>("material", read_material).required(),
          own("thickness", &LayeredDef::thickness, kPositive),
          map_field("thickness_map", &LayeredDef::thickness_factors),
          map_field("stiffness_map", &LayeredDef::stiffness_factors),
          map_field("density_map", &LayeredDef::density_factors),
          field<LayeredDraft>("parts", [](const SceneReader& r, LayeredDraft& d) {
            read_list(r, "an array of parts of the layer", part_fields(), d.parts);
          })};
}

/// A mesh with the texture coordinates of the surface.
void read_core(const SceneReader& r, LayeredDraft& draft) {
  const SceneMesh* mesh = read_mesh_name(r);
  if (!mesh || draft.atlas.surface.faces.empty()) return;
  Result<std::vector<Vec3>> points = core_by_uvs(draft.atlas, *mesh->surface);
  if (!points) return r.refuse(points.error());
  draft.core = std::move(*points);
}

Fields<LayeredDraft> core_fields() {
  return {field<LayeredDraft>("core", read_core), own("core_density", &LayeredDef::core_density, kPositive),
          own("core_is_fixed", &LayeredDef::core_is_fixed),
          field<LayeredDraft>("springs", [](const SceneReader& r, LayeredDraft& d) {
            read_list(r, "an array of springs", spring_fields(), d.springs);
          })};
}

Fields<LayeredDraft> how_fields() {
  return {own("position", &LayeredDef::position),
          own("rotation", &LayeredDef::rotation),
          own("velocity", &LayeredDef::velocity),
          own("angular_velocity", &LayeredDef::angular_velocity),
          own("friction", &LayeredDef::friction, kNotNegative),
          own("gravity_scale", &LayeredDef::gravity_scale),
          field<LayeredDraft>("filter",
                              [](const SceneReader& r, LayeredDraft& d) { read_fields(r, d.filter, filter_fields()); }),
          own("allow_sleep", &LayeredDef::allow_sleep),
          own("tolerance", &LayeredDef::tolerance, between(1e-6, 0.5)),
          own("max_iterations", &LayeredDef::max_iterations, between(1, 100000)),
          field<LayeredDraft>("repeat", [](const SceneReader& r, LayeredDraft& d) {
            Repeat repeat;
            if (read_repeat(r, repeat)) d.repeat = std::move(repeat);
          })};
}

bool use_parts(const SceneReader& r, LayeredDraft& draft) {
  for (std::size_t i = 0; i < draft.parts.size(); ++i) {
    const LayerPart& part = draft.parts[i];
    const auto nodes = select_nodes(draft.atlas.surface.vertices, part.nodes);
    if (!nodes) {
      Error error = nodes.error();
      error.field = fmt::format("parts[{}].nodes", i);
      return r.refuse(error), false;
    }
    const auto set = [&](std::vector<float>& factors, float value) {
      if (factors.empty()) factors.assign(draft.atlas.node_count(), 1);
      for (const std::uint32_t node : *nodes) factors[node] = value;
    };
    if (part.thickness != 1) set(draft.thickness_factors, part.thickness);
    if (part.stiffness != 1) set(draft.stiffness_factors, part.stiffness);
    if (part.density != 1) set(draft.density_factors, part.density);
    if (!part.color) continue;
    if (draft.colors.empty()) draft.colors.assign(draft.atlas.node_count(), draft.appearance.color);
    for (const std::uint32_t node : *nodes) draft.colors[node] = *part.color;
  }
  return true;
}

/// Ridges stand on the core of the plain surface, so that they bend as a whole.
bool use_ridges(const SceneReader& r, LayeredDraft& draft) {
  if (!draft.ridges) return true;
  if (!draft.core.empty()) return r.refuse("a surface with ridges makes its own core: leave out `core`"), false;
  std::vector<float> thickness{draft.thickness};
  if (!draft.thickness_factors.empty()) {
    thickness = draft.thickness_factors;
    for (float& t : thickness) t *= draft.thickness;
  }
  Result<LayerCore> core = make_layer_core(draft.atlas.surface, thickness);
  if (!core) return r.refuse(core.error()), false;
  draft.core = std::move(core->points);
  const Ridges ridges = *draft.ridges;
  draft.atlas = displaced(std::move(draft.atlas), [&](Vec3 p, Vec3 n) { return ridge_at(ridges, p, n); });
  if (const Result<double> layer = check_layer_core(draft.atlas.surface, draft.core); !layer) {
    r.refuse(Error{
        .message = fmt::format("{} ridges of {:g} m fold over: take fewer or lower ones", ridges.count, ridges.depth),
        .field = "surface.ridges"});
    return false;
  }
  return true;
}

bool finish_layered(const SceneReader& r, LayeredDraft& draft, SceneBuilder& out) {
  if (draft.atlas.surface.faces.empty()) return false;  // refused already
  if (!use_parts(r, draft) || !use_ridges(r, draft)) return false;
  return add_copies<LayeredDef>(r, draft, 3 * draft.atlas.surface.faces.size(), "tets", out);
}

}  // namespace

Kind<SceneBuilder> layered_body_kind() {
  const Fields<LayeredDraft> look =
      appearance_fields<LayeredDraft>([](LayeredDraft& d) -> Appearance& { return d.appearance; });
  return kind<SceneBuilder, LayeredDraft>("layered", what_fields() + core_fields() + look + how_fields(),
                                          finish_layered);
}

void describe_layered(std::vector<FieldSet>& sets) {
  sets.push_back({"layered_surface", infos(surface_fields())});
  sets.push_back({"ridges", infos(ridge_fields())});
  sets.push_back({"layer_part", infos(part_fields())});
  sets.push_back({"layer_map", infos(map_fields())});
  sets.push_back({"core_spring", infos(spring_fields())});
}

}  // namespace pliant
