// "kind": "rigid"
#include <algorithm>

#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {
namespace {

struct RigidDraft : RigidDef {
  std::optional<Repeat> repeat;
};

void read_material(const SceneReader& r, RigidDraft& out) {
  const SceneMaterial* material = read_material_name(r);
  if (!material) return;
  out.density = material->density;
  out.friction = material->friction;
  out.rolling_friction = material->rolling_friction;
  out.restitution = material->restitution;
  out.appearance = material->appearance;
}

void read_motion(const SceneReader& r, RigidDraft& out) {
  static const std::vector<std::string> words = {"dynamic", "kinematic", "static"};
  constexpr Motion kMotions[] = {Motion::Dynamic, Motion::Kinematic, Motion::Static};
  if (const auto index = read_word(r, words)) out.motion = kMotions[*index];
}

/// Three numbers are the diagonal, three rows of three the whole matrix.
void read_inertia(const SceneReader& r, Mat3& out) {
  const auto* items = r.value().as<JsonValue::Array>();
  const bool rows = items && items->size() == 3 && (*items)[0].as<JsonValue::Array>();
  if (rows) {
    for (std::size_t i = 0; i < 3; ++i) read(r.element(i, (*items)[i]), out.rows[i]);
    return;
  }
  Vec3 diagonal;
  if (!read(r, diagonal, kPositive)) return;
  for (std::size_t i = 0; i < 3; ++i) out.rows[i] = {}, out.rows[i][i] = diagonal[i];
}

/// What `World` would also refuse, told here where the field is known.
bool check(const SceneReader& r, const RigidDef& def) {
  const JsonValue* value = r.value().find("shape");
  const SceneReader shape = r.member("shape", *value);
  if (const Status status = validate(def.shape); !status.ok()) return shape.refuse(status.error()), false;
  const char* name = shape_name(def.shape);
  const bool still = std::holds_alternative<Heightfield>(def.shape) || std::holds_alternative<Plane>(def.shape);
  const bool massless = still || std::holds_alternative<TriangleMesh>(def.shape);
  if (still && def.motion != Motion::Static) {
    return shape.refuse(fmt::format("a {} is for static bodies only; set \"motion\": \"static\"", name)), false;
  }
  if (massless && def.motion == Motion::Dynamic) {
    shape.refuse(fmt::format(
        "a {} cannot be dynamic; use a convex_hull, or set \"motion\" to \"static\" or \"kinematic\"", name));
    return false;
  }
  return true;
}

RigidDef copy_of(const RigidDef& def, const Repeat& repeat, std::size_t index) {
  RigidDef copy = def;
  place_copy(copy, def, repeat, index);
  return copy;
}

/// Points and heights that each copy of the shape holds.
std::size_t bulk(const Shape& shape) {
  if (const auto* hull = std::get_if<ConvexHull>(&shape)) return 3 * hull->points.size();
  if (const auto* field = std::get_if<Heightfield>(&shape)) return field->heights.size();
  std::size_t sum = 0;
  if (const auto* compound = std::get_if<Compound>(&shape)) {
    for (const CompoundPart& part : compound->parts) sum += 20 + bulk(part.shape);
  }
  return sum;
}

bool check_bulk(const SceneReader& r, const RigidDraft& draft) {
  constexpr double kMost = 50e6;
  const double total = static_cast<double>(bulk(draft.shape)) * static_cast<double>(draft.repeat->places.size());
  if (total <= kMost) return true;
  r.refuse(fmt::format("{} copies of this shape take {:.0f} numbers; at most {:.0f} are allowed: simplify the shape",
                       draft.repeat->places.size(), total, kMost),
           Error::Code::CapacityExceeded);
  return false;
}

bool finish(const SceneReader& r, RigidDraft& draft, SceneBuilder& out) {
  if (!check(r, draft)) return false;
  const SceneSource source = r.source();
  if (!draft.repeat) {
    if (!out.has_room(r, 1)) return false;
    out.add_body(r, {static_cast<RigidDef&>(draft), source});
    return true;
  }
  if (!check_bulk(r, draft)) return false;
  for (std::size_t i = 0; i < draft.repeat->places.size() && !r.full(); ++i) {
    out.add_body(r, {copy_of(draft, *draft.repeat, i), source});
  }
  return true;
}

template <typename M>
Field<RigidDraft> own(std::string name, M RigidDef::*member, Range range = kAny) {
  return inherited<RigidDraft>(std::move(name), member, range);
}

Fields<RigidDraft> mass_and_surface_fields() {
  return {own("density", &RigidDef::density, kPositive),
          own("mass", &RigidDef::mass, kPositive),
          field<RigidDraft>("mass_properties",
                            [](const SceneReader& r, RigidDraft& d) {
                              MassProperties mass;
                              if (read_fields(r, mass, mass_properties_fields())) d.mass_properties = mass;
                            }),
          own("friction", &RigidDef::friction, kNotNegative),
          own("rolling_friction", &RigidDef::rolling_friction, kNotNegative),
          own("restitution", &RigidDef::restitution, kShare),
          own("linear_damping", &RigidDef::linear_damping, kNotNegative),
          own("angular_damping", &RigidDef::angular_damping, kNotNegative),
          own("gravity_scale", &RigidDef::gravity_scale)};
}

Fields<RigidDraft> place_fields() {
  return {own("position", &RigidDef::position), own("rotation", &RigidDef::rotation),
          own("velocity", &RigidDef::velocity), own("angular_velocity", &RigidDef::angular_velocity)};
}

Fields<RigidDraft> behaviour_fields() {
  return {field<RigidDraft>("filter",
                            [](const SceneReader& r, RigidDraft& d) { read_fields(r, d.filter, filter_fields()); }),
          own("continuous", &RigidDef::continuous), own("allow_sleep", &RigidDef::allow_sleep),
          own("start_asleep", &RigidDef::start_asleep),
          field<RigidDraft>("repeat", [](const SceneReader& r, RigidDraft& d) {
            Repeat repeat;
            if (read_repeat(r, repeat)) d.repeat = std::move(repeat);
          })};
}

}  // namespace

const Fields<MassProperties>& mass_properties_fields() {
  static const Fields<MassProperties> fields = {
      field("mass", &MassProperties::mass, kPositive).required(),
      field("center_of_mass", &MassProperties::center_of_mass),
      field<MassProperties>("inertia", [](const SceneReader& r, MassProperties& m) {
        read_inertia(r, m.inertia);
      }).required()};
  return fields;
}

Kind<SceneBuilder> rigid_body_kind() {
  return kind<SceneBuilder, RigidDraft>(
      "rigid",
      Fields<RigidDraft>{
          field<RigidDraft>("name", [](const SceneReader& r, RigidDraft& d) { read_name(r, d.name); }),
          field<RigidDraft>("material", read_material),
          field<RigidDraft>("shape", [](const SceneReader& r, RigidDraft& d) { read_shape(r, d.shape); }).required(),
          field<RigidDraft>("motion", read_motion)} +
          place_fields() + mass_and_surface_fields() +
          appearance_fields<RigidDraft>([](RigidDraft& d) -> Appearance& { return d.appearance; }) + behaviour_fields(),
      finish);
}

}  // namespace pliant
