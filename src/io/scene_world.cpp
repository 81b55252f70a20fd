// The world as a whole, the camera and the lights.
#include "io/scene_builder.h"

namespace pliant {
namespace {

void read_solid_contact(const SceneReader& r, WorldDef& out) {
  static const std::vector<std::string> words = {"surface", "damped"};
  constexpr SolidContact kContacts[] = {SolidContact::Surface, SolidContact::Damped};
  if (const auto index = read_word(r, words)) out.solid_contact = kContacts[*index];
}

const Fields<WorldDef>& world_fields() {
  static const Fields<WorldDef> fields = {field("gravity", &WorldDef::gravity),
                                          field("wind", &WorldDef::wind),
                                          field("dt", &WorldDef::dt, between(1e-6, 1)),
                                          field("substeps", &WorldDef::substeps, between(1, 100)),
                                          field("iterations", &WorldDef::iterations, between(1, 1000)),
                                          field("allow_sleep", &WorldDef::allow_sleep),
                                          field("sleep_speed", &WorldDef::sleep_speed, kNotNegative),
                                          field("sleep_angular_speed", &WorldDef::sleep_angular_speed, kNotNegative),
                                          field("sleep_delay", &WorldDef::sleep_delay, kNotNegative),
                                          field("bounce_threshold", &WorldDef::bounce_threshold, kNotNegative),
                                          field<WorldDef>("solid_contact", read_solid_contact),
                                          field("contact_damping", &WorldDef::contact_damping, kNotNegative)};
  return fields;
}

const Fields<SceneCamera>& camera_fields() {
  static const Fields<SceneCamera> fields = {
      field("from", &SceneCamera::from),
      field("look_at", &SceneCamera::look_at),
      field<SceneCamera>("up", [](const SceneReader& r, SceneCamera& c) { read_direction(r, c.up); }),
      field("fov_degrees", &SceneCamera::fov_degrees, between(1, 170)),
      field("orbit_degrees_per_second", &SceneCamera::orbit_degrees_per_second),
      field<SceneCamera>("follow", [](const SceneReader& r, SceneCamera& c) {
        if (read(r, c.follow)) r.builder().bodies_named(r, c.follow);
      })};
  return fields;
}

Fields<SceneLight> light_fields(Fields<SceneLight> own) {
  return std::move(own) + Fields<SceneLight>{field<SceneLight>("color", [](const SceneReader& r,
                                                                           SceneLight& l) { read_color(r, l.color); }),
                                             field("intensity", &SceneLight::intensity, kNotNegative)};
}

Kind<SceneLight> light_kind(std::string name, SceneLight::Kind light, Fields<SceneLight> fields) {
  return kind<SceneLight, SceneLight>(std::move(name), light_fields(std::move(fields)),
                                      [light](const SceneReader&, SceneLight& draft, SceneLight& out) {
                                        out = draft;
                                        out.kind = light;
                                        return true;
                                      });
}

const std::vector<Kind<SceneLight>>& light_kinds() {
  static const std::vector<Kind<SceneLight>> kinds = {
      light_kind(
          "sun", SceneLight::Kind::Sun,
          {field<SceneLight>("direction", [](const SceneReader& r, SceneLight& l) { read_direction(r, l.direction); }),
           field("shadows", &SceneLight::shadows)}),
      light_kind("point", SceneLight::Kind::Point,
                 {field("position", &SceneLight::position), field("shadows", &SceneLight::shadows)}),
      light_kind("ambient", SceneLight::Kind::Ambient, {})};
  return kinds;
}

}  // namespace

void read_world(const SceneReader& r, WorldDef& out) { read_fields(r, out, world_fields()); }

void read_camera(const SceneReader& r, SceneCamera& out) {
  out.automatic = false;
  if (!read_fields(r, out, camera_fields())) return;
  if (out.from == out.look_at) r.refuse("`from` and `look_at` are the same point; the camera has no direction");
}

void read_lights(const SceneReader& r, std::vector<SceneLight>& out) {
  out.clear();  // an including file's lights replace those it includes
  r.for_elements("an array of lights", [&](const SceneReader& e) {
    SceneLight light;
    if (read_kinds(e, "light", light_kinds(), light)) out.push_back(light);
  });
}

void describe_world(std::vector<FieldSet>& sets) { sets.push_back({"world", infos(world_fields())}); }

void describe_view(std::vector<FieldSet>& sets) {
  sets.push_back({"camera", infos(camera_fields())});
  for (const Kind<SceneLight>& k : light_kinds()) sets.push_back({"light_" + k.name, k.fields});
}

}  // namespace pliant
