// "kind": "layered"
#include <fmt/format.h>

#include "geometry/layer_core.h"
#include "io/scene_layered_surface.h"
#include "io/scene_node_body.h"
#include "pliant/texture_io.h"

namespace pliant {
namespace {

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

void read_surface(const SceneReader& r, LayeredDraft& out) { read_layered_surface(r, out.atlas, out.ridges); }

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
  describe_layered_surface(sets);
  sets.push_back({"layer_part", infos(part_fields())});
  sets.push_back({"layer_map", infos(map_fields())});
  sets.push_back({"core_spring", infos(spring_fields())});
}

}  // namespace pliant
