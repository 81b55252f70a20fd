// What happens over time: motion of kinematic bodies and of held nodes by keyframes and velocities, and events.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/scene_builder.h"
#include "io/suggest.h"

namespace pliant {
namespace {

constexpr Range kTime = between(0, 1e9);
constexpr std::size_t kMaxKeyframes = 1'000'000;  ///< of a whole scene

// --- Motions ---------------------------------------------------------------------------------------------------------

/// A rotation as it was written, which may be more than the shortest way there.
struct Turn {
  Vec3 axis;  ///< of unit length
  float degrees = 0;
};
/// Position and rotation are those of the keyframe before where they are left out.
struct KeyframeDraft {
  double time = 0;
  std::optional<Vec3> position;
  std::optional<Quat> rotation;
  std::optional<Turn> turn;
};
struct MotionDraft {
  std::string body, held;
  std::vector<KeyframeDraft> keyframes;
  std::vector<VelocityKey> velocities;
  Interpolation interpolation = Interpolation::Linear;
  bool loop = false, relative = false;
};

void read_rotation(const SceneReader& r, KeyframeDraft& key) {
  if (!read(r, key.rotation) || !r.value().as<JsonValue::Object>()) return;
  Turn turn;
  read(r.member("axis", *r.value().find("axis")), turn.axis);
  read(r.member("degrees", *r.value().find("degrees")), turn.degrees);
  turn.axis = normalized(turn.axis);
  key.turn = turn;
}

const Fields<KeyframeDraft>& keyframe_fields() {
  static const Fields<KeyframeDraft> fields = {field("time", &KeyframeDraft::time, kTime).required(),
                                               field("position", &KeyframeDraft::position),
                                               field<KeyframeDraft>("rotation", read_rotation)};
  return fields;
}

const Fields<VelocityKey>& velocity_fields() {
  static const Fields<VelocityKey> fields = {field("time", &VelocityKey::time, kTime).required(),
                                             field("velocity", &VelocityKey::velocity),
                                             field("angular_velocity", &VelocityKey::angular_velocity)};
  return fields;
}

void read_velocities(const SceneReader& r, MotionDraft& out) {
  r.for_elements("an array of velocities", [&](const SceneReader& e) {
    VelocityKey key;
    if (read_fields(e, key, velocity_fields())) out.velocities.push_back(key);
  });
}

void read_keyframes(const SceneReader& r, MotionDraft& out) {
  r.for_elements("an array of keyframes", [&](const SceneReader& e) {
    KeyframeDraft key;
    if (read_fields(e, key, keyframe_fields())) out.keyframes.push_back(key);
  });
}

void read_interpolation(const SceneReader& r, MotionDraft& out) {
  static const std::vector<std::string> words = {"linear", "ease", "smooth"};
  constexpr Interpolation kKinds[] = {Interpolation::Linear, Interpolation::Ease, Interpolation::Smooth};
  if (const auto index = read_word(r, words)) out.interpolation = kKinds[*index];
}

const Fields<MotionDraft>& motion_fields() {
  static const Fields<MotionDraft> fields = {field("body", &MotionDraft::body).required(),
                                             field("held", &MotionDraft::held),
                                             field<MotionDraft>("keyframes", read_keyframes),
                                             field<MotionDraft>("velocities", read_velocities),
                                             field<MotionDraft>("interpolation", read_interpolation),
                                             field("loop", &MotionDraft::loop),
                                             field("relative", &MotionDraft::relative)};
  return fields;
}

MotionPath path_of(const MotionDraft& draft, const Transform& start) {
  MotionPath path{{}, draft.interpolation, draft.loop};
  Transform at = draft.relative ? Transform{} : start;
  for (const KeyframeDraft& key : draft.keyframes) {
    at = {key.position.value_or(at.position), key.rotation.value_or(at.rotation)};
    const Transform relative{start.position + at.position, at.rotation * start.rotation};
    path.keyframes.push_back({key.time, draft.relative ? relative : at});
  }
  path.velocities = draft.velocities;
  if (path.keyframes.empty() && !path.velocities.empty()) path.keyframes = {{path.velocities[0].time, start}};
  return path;
}

/// How far a rotation is turned about an axis, if it is about that; -180 to 180.
std::optional<float> degrees_about(Vec3 axis, Quat q) {
  const Vec3 turned{q.x, q.y, q.z};
  if (length(cross(axis, turned)) > 1e-3f) return {};
  const float degrees = std::atan2(dot(axis, turned), q.w) * (360 / kPi);
  return std::remainder(degrees, 360.0f);
}

/// Turns that are written in degrees may mean more than half a turn, which a path between two rotations is not.
bool turns_are_short(const SceneReader& r, const MotionDraft& draft, Quat start) {
  constexpr float kMost = 179.9f;
  Quat at = draft.relative ? Quat{} : start;
  std::optional<Turn> last;
  for (std::size_t i = 0; i < draft.keyframes.size(); ++i) {
    const KeyframeDraft& key = draft.keyframes[i];
    if (!key.rotation) continue;
    if (i > 0 && key.turn) {
      const Turn& now = *key.turn;
      const bool same_axis = last && length(cross(last->axis, now.axis)) < 1e-3f;
      const std::optional<float> from =
          same_axis ? std::copysign(1.0f, dot(last->axis, now.axis)) * last->degrees : degrees_about(now.axis, at);
      if (from && std::abs(now.degrees - *from) > kMost) {
        r.refuse({Error::Code::InvalidArgument,
                  fmt::format("{} degrees are {:.4g} from the keyframe before; less than half a turn is needed, or it "
                              "would go the shorter way round: put keyframes between them",
                              now.degrees, std::abs(now.degrees - *from)),
                  {},
                  fmt::format("keyframes[{}].rotation", i)});
        return false;
      }
    }
    at = *key.rotation, last = key.turn;
  }
  return true;
}

/// Of a body of nodes.
struct HeldPart {
  const char* kind;
  const std::vector<HeldNodes>& held;
  Transform world_from_body;
};

std::optional<HeldPart> held_part(const BodyDef& def) {
  constexpr const char* kKinds[] = {"ground", "rigid body", "solid", "cloth", "rope", "jelly", "layered body"};
  static_assert(std::size(kKinds) == std::variant_size_v<BodyDef>);
  return std::visit(
      [&](const auto& d) -> std::optional<HeldPart> {
        if constexpr (requires { d.held; }) {
          return HeldPart{kKinds[def.index()], d.held, {d.position, d.rotation}};
        } else {
          return {};
        }
      },
      def);
}

/// Where a body that can be moved so begins; refuses one that cannot.
std::optional<Transform> start_of(const SceneReader& r, const SceneBody& body, const MotionDraft& draft) {
  const std::string& name = body_name(body.def);
  if (const std::optional<HeldPart> part = held_part(body.def)) {
    const auto is_wanted = [&](const HeldNodes& held) { return draft.held.empty() || held.name == draft.held; };
    if (std::any_of(part->held.begin(), part->held.end(), is_wanted)) return part->world_from_body;
    r.refuse(
        draft.held.empty()
            ? fmt::format("`{}` is a {} without held nodes, and only these can be moved so", shown(name), part->kind)
            : fmt::format("`{}` has no held nodes of the name `{}`", shown(name), shown(draft.held)));
    return {};
  }
  if (std::holds_alternative<LayeredDef>(body.def)) {
    r.refuse(
        fmt::format("`{}` is layered and moves by forces: hold its core by `springs`, or fix it by "
                    "\"core_is_fixed\"",
                    shown(name)));
    return {};
  }
  const auto* rigid = std::get_if<RigidDef>(&body.def);
  if (!rigid || rigid->motion != Motion::Kinematic) {
    r.refuse(fmt::format("`{}` is not kinematic; set its \"motion\" to \"kinematic\"", shown(name)));
    return {};
  }
  if (!draft.held.empty()) return r.refuse(fmt::format("`{}` is rigid: leave out `held`", shown(name))), std::nullopt;
  return Transform{rigid->position, rigid->rotation};
}

void add_motions(const SceneReader& r, const MotionDraft& draft) {
  SceneBuilder& builder = r.builder();
  const SceneReader body_field = r.member("body", *r.value().find("body"));
  const auto bodies = builder.bodies_named(body_field, draft.body);
  if (draft.keyframes.empty() && draft.velocities.empty() && !r.value().find("keyframes")) {
    return r.refuse("a motion needs `keyframes` or `velocities`");
  }
  if (bodies.size() * (draft.keyframes.size() + draft.velocities.size()) > kMaxKeyframes) {
    return r.refuse(fmt::format("more than {} keyframes", kMaxKeyframes), Error::Code::CapacityExceeded);
  }
  for (const SceneBody* body : bodies) {
    const std::string& name = body_name(body->def);
    const std::optional<Transform> start = start_of(body_field, *body, draft);
    if (!start || !turns_are_short(r, draft, start->rotation)) return;
    if (!builder.claim_motion(draft.held.empty() ? name : name + "\n" + draft.held)) {
      return body_field.refuse(fmt::format("`{}` has a motion already", shown(name)));
    }
    SceneMotion motion{name, path_of(draft, *start), draft.held, r.source()};
    if (const Status status = motion.path.validate(); !status.ok()) return r.refuse(status.error());
    builder.scene.motions.push_back(std::move(motion));
  }
}

// --- Events ----------------------------------------------------------------------------------------------------------

template <typename Timed>
struct EventDraft : Timed {
  std::string body_name, joint_name, anchor_name;
};

template <typename Timed>
Field<EventDraft<Timed>> body_field() {
  return field<EventDraft<Timed>>("body", [](const SceneReader& r, EventDraft<Timed>& d) {
    if (read(r, d.body_name)) r.builder().bodies_named(r, d.body_name);
  });
}

/// Refuses what is none of the known names.
void check_known(const SceneReader& r, const char* what, const std::string& name, bool is_known,
                 const std::vector<std::string>& names) {
  if (is_known) return;
  r.refuse(fmt::format("there is no {} `{}`{}", what, shown(name), suggestion(name, names)), Error::Code::NotFound);
}

Field<EventDraft<TimedRemoval>> anchor_field() {
  return field<EventDraft<TimedRemoval>>("anchor", [](const SceneReader& r, EventDraft<TimedRemoval>& d) {
    const SceneBuilder& b = r.builder();
    if (read(r, d.anchor_name)) check_known(r, "anchor", d.anchor_name, b.has_anchor(d.anchor_name), b.anchor_names());
  });
}

template <typename Timed>
Field<EventDraft<Timed>> joint_field() {
  return field<EventDraft<Timed>>("joint", [](const SceneReader& r, EventDraft<Timed>& d) {
    const SceneBuilder& b = r.builder();
    if (read(r, d.joint_name)) check_known(r, "joint", d.joint_name, b.has_joint(d.joint_name), b.joint_names());
  });
}

template <typename Timed>
Field<EventDraft<Timed>> nodes_field() {
  return field<EventDraft<Timed>>("nodes",
                                  [](const SceneReader& r, EventDraft<Timed>& d) { read_selection(r, d.nodes); });
}

template <typename Timed, typename M>
Field<EventDraft<Timed>> own(std::string name, M Timed::*member, Range range = kAny) {
  return inherited<EventDraft<Timed>>(std::move(name), member, range);
}

/// A part of the struct within the event, such as the explosion's radius.
template <typename Timed, typename Part, typename M>
Field<EventDraft<Timed>> part(std::string name, Part Timed::*inner, M Part::*member, Range range = kAny) {
  Field<EventDraft<Timed>> f = field<EventDraft<Timed>>(
      std::move(name), [=](const SceneReader& r, EventDraft<Timed>& d) { read(r, (d.*inner).*member, range); });
  f.info.range = range;
  return f;
}

template <typename Timed>
using CheckEvent = bool (*)(const SceneReader&, const EventDraft<Timed>&);

template <typename Timed>
Kind<SceneEvent> event_kind(std::string name, Fields<EventDraft<Timed>> fields, CheckEvent<Timed> check) {
  return kind<SceneEvent, EventDraft<Timed>>(
      std::move(name), std::move(fields), [check](const SceneReader& r, EventDraft<Timed>& draft, SceneEvent& out) {
        if (!check(r, draft)) return false;
        out = {static_cast<Timed&>(draft), draft.body_name, draft.joint_name, draft.anchor_name, r.source()};
        return true;
      });
}

template <typename Timed>
bool accept(const SceneReader&, const EventDraft<Timed>&) {
  return true;
}

template <typename Timed>
bool check_force(const SceneReader& r, const EventDraft<Timed>& d) {
  if (d.from < d.to) return true;
  r.refuse(fmt::format("`to` ({}) must be later than `from` ({})", d.to, d.from));
  return false;
}

/// A force or load on nodes.
template <typename Timed>
bool check_on_nodes(const SceneReader& r, const EventDraft<Timed>& d) {
  if (!check_force(r, d)) return false;
  for (const SceneBody* body : r.builder().bodies_named(r, d.body_name)) {
    const bool is_rigid = std::holds_alternative<RigidDef>(body->def) || std::holds_alternative<GroundDef>(body->def);
    if (!is_rigid) continue;
    r.refuse(fmt::format("`{}` is rigid: it has no nodes", shown(d.body_name)));
    return false;
  }
  return true;
}

template <typename Timed>
bool check_on_surface(const SceneReader& r, const EventDraft<Timed>& d) {
  if (!check_on_nodes(r, d)) return false;
  for (const SceneBody* body : r.builder().bodies_named(r, d.body_name)) {
    if (!std::holds_alternative<RopeDef>(body->def)) continue;
    r.refuse(fmt::format("`{}` is a rope: it has no surface to press on", shown(d.body_name)));
    return false;
  }
  return true;
}

bool check_removal(const SceneReader& r, const EventDraft<TimedRemoval>& d) {
  const int said = (d.body_name.empty() ? 0 : 1) + (d.joint_name.empty() ? 0 : 1) + (d.anchor_name.empty() ? 0 : 1);
  if (said == 1) return true;
  r.refuse("say either the `body`, the `joint` or the `anchor` to remove");
  return false;
}

const std::vector<Kind<SceneEvent>>& event_kinds() {
  static const std::vector<Kind<SceneEvent>> kinds = {
      event_kind<TimedForce>(
          "force",
          {own("from", &TimedForce::from, kTime).required(), own("to", &TimedForce::to, kTime).required(),
           body_field<TimedForce>().required(), own("force", &TimedForce::force), own("point", &TimedForce::point),
           own("torque", &TimedForce::torque)},
          check_force),
      event_kind<TimedNodeForce>(
          "node_force",
          {own("from", &TimedNodeForce::from, kTime).required(), own("to", &TimedNodeForce::to, kTime).required(),
           body_field<TimedNodeForce>().required(), nodes_field<TimedNodeForce>(),
           own("force", &TimedNodeForce::force).required()},
          check_on_nodes<TimedNodeForce>),
      event_kind<TimedPressure>(
          "pressure",
          {own("from", &TimedPressure::from, kTime).required(), own("to", &TimedPressure::to, kTime).required(),
           body_field<TimedPressure>().required(), nodes_field<TimedPressure>(),
           own("pressure", &TimedPressure::pressure).required()},
          check_on_surface<TimedPressure>),
      event_kind<TimedTraction>(
          "traction",
          {own("from", &TimedTraction::from, kTime).required(), own("to", &TimedTraction::to, kTime).required(),
           body_field<TimedTraction>().required(), nodes_field<TimedTraction>(),
           own("traction", &TimedTraction::traction).required()},
          check_on_surface<TimedTraction>),
      event_kind<TimedImpulse>("impulse",
                               {own("at", &TimedImpulse::at, kTime).required(), body_field<TimedImpulse>().required(),
                                own("impulse", &TimedImpulse::impulse), own("point", &TimedImpulse::point),
                                own("angular_impulse", &TimedImpulse::angular_impulse)},
                               accept),
      event_kind<TimedExplosion>(
          "explosion",
          {own("at", &TimedExplosion::at, kTime).required(),
           part("center", &TimedExplosion::explosion, &Explosion::center).required(),
           part("radius", &TimedExplosion::explosion, &Explosion::radius, kPositive),
           part("impulse_per_area", &TimedExplosion::explosion, &Explosion::impulse_per_area, kNotNegative)},
          accept),
      event_kind<TimedMotor>("motor",
                             {own("at", &TimedMotor::at, kTime).required(), joint_field<TimedMotor>().required(),
                              part("speed", &TimedMotor::motor, &Motor::speed).required(),
                              part("strength", &TimedMotor::motor, &Motor::strength, kPositive)},
                             accept),
      event_kind<TimedRemoval>("remove",
                               {own("at", &TimedRemoval::at, kTime).required(), body_field<TimedRemoval>(),
                                joint_field<TimedRemoval>(), anchor_field()},
                               check_removal)};
  return kinds;
}

}  // namespace

void read_motions(const SceneReader& r) {
  r.for_elements("an array of motions", [](const SceneReader& e) {
    MotionDraft draft;
    if (read_fields(e, draft, motion_fields())) add_motions(e, draft);
  });
}

void read_events(const SceneReader& r) {
  r.for_elements("an array of events", [](const SceneReader& e) {
    SceneEvent event;
    if (read_kinds(e, "event", event_kinds(), event)) e.builder().scene.events.push_back(std::move(event));
  });
}

void describe_timeline(std::vector<FieldSet>& sets) {
  sets.push_back({"motion", infos(motion_fields())});
  sets.push_back({"keyframe", infos(keyframe_fields())});
  sets.push_back({"velocity_key", infos(velocity_fields())});
  for (const Kind<SceneEvent>& k : event_kinds()) sets.push_back({"event_" + k.name, k.fields});
}

}  // namespace pliant
