// Joints between bodies by their names. One entry may stand for many joints: `"chain": "link"` joins each copy of a
// body to the next, `"b": "ball[*]"` joins every copy.
#include <cmath>

#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {
namespace {

struct JointDraft : JointDef {
  std::string a_name, b_name, chain;
  std::optional<Vec3> anchor_point, anchor_offset;
};

Vec3 position_of(const SceneBody& body) {
  if (const auto* ground = std::get_if<GroundDef>(&body.def)) return {0, ground->height, 0};
  return std::get<RigidDef>(body.def).position;
}

/// A body that a joint holds on to, or null for the world.
using Pair = std::pair<const SceneBody*, const SceneBody*>;

/// The bodies of a field; refuses those that no joint can hold.
std::vector<const SceneBody*> rigid_named(const SceneReader& field, const std::string& name) {
  std::vector<const SceneBody*> bodies = field.builder().bodies_named(field, name);
  for (const SceneBody* body : bodies) {
    if (std::holds_alternative<RigidDef>(body->def) || std::holds_alternative<GroundDef>(body->def)) continue;
    field.refuse(fmt::format("`{}` is not rigid: joints join rigid bodies; tie nodes by `anchors`", shown(name)));
    return {};
  }
  return bodies;
}

std::vector<Pair> chain_pairs(const SceneReader& r, const JointDraft& draft) {
  std::vector<Pair> pairs;
  const SceneReader chain = r.member("chain", *r.value().find("chain"));
  const auto links = rigid_named(chain, draft.chain + "[*]");
  if (links.size() == 1) chain.refuse(fmt::format("a chain needs at least two copies of `{}`", shown(draft.chain)));
  for (std::size_t i = 0; i + 1 < links.size(); ++i) pairs.emplace_back(links[i], links[i + 1]);
  return pairs;
}

std::vector<const SceneBody*> side(const SceneReader& r, const char* field, const std::string& name) {
  if (name.empty()) return {nullptr};
  return rigid_named(r.member(field, *r.value().find(field)), name);
}

std::vector<Pair> named_pairs(const SceneReader& r, const JointDraft& draft) {
  const auto a = side(r, "a", draft.a_name), b = side(r, "b", draft.b_name);
  if (a.empty() || b.empty()) return {};
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
    r.refuse(fmt::format("`a` stands for {} bodies and `b` for {}; they must be as many, or one of them one", a.size(),
                         b.size()));
    return {};
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    pairs.emplace_back(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
  return pairs;
}

/// Where the bodies are joined: at `anchor`; else midway between the links of a chain, or at b (a where b is the
/// world), moved by `anchor_offset`.
Vec3 anchor_of(const JointDraft& draft, const Pair& pair) {
  if (draft.anchor_point) return *draft.anchor_point;
  const Vec3 offset = draft.anchor_offset.value_or(Vec3{});
  if (!draft.chain.empty()) return 0.5f * (position_of(*pair.first) + position_of(*pair.second)) + offset;
  return position_of(pair.second ? *pair.second : *pair.first) + offset;
}

bool check(const SceneReader& r, const JointDraft& draft) {
  const bool chain = !draft.chain.empty(), ends = !draft.a_name.empty() || !draft.b_name.empty();
  if (chain == ends) return r.refuse("a joint needs `a`, `b` or both, or else `chain`"), false;
  if (draft.anchor_point && draft.anchor_offset) {
    return r.refuse("`anchor` and `anchor_offset` exclude each other"), false;
  }
  return true;
}

bool finish(const SceneReader& r, const JointDraft& draft, SceneBuilder& out) {
  if (!check(r, draft)) return false;
  const std::vector<Pair> pairs = draft.chain.empty() ? named_pairs(r, draft) : chain_pairs(r, draft);
  if (pairs.size() > 1 && draft.anchor_point) {
    return r.refuse("`anchor` is one point, but there are several joints; use `anchor_offset`"), false;
  }
  for (std::size_t i = 0; i < pairs.size() && !r.full(); ++i) {
    const auto& [a, b] = pairs[i];
    if (a == b) return r.refuse("a body cannot be joined to itself"), false;
    SceneJoint joint{draft, a ? body_name(a->def) : "", b ? body_name(b->def) : "", r.source()};
    joint.def.anchor = anchor_of(draft, pairs[i]);
    if (pairs.size() > 1 && !draft.name.empty()) joint.def.name = fmt::format("{}[{}]", draft.name, i);
    out.add_joint(r, std::move(joint));
  }
  return true;
}

/// [lower, upper] times `unit`.
void read_limit(const SceneReader& r, JointDraft& out, float unit) {
  const auto* items = r.value().as<JsonValue::Array>();
  if (!items || items->size() != 2) return r.refuse("expected an array of 2 numbers, [lower, upper]");
  Limit limit;
  if (!read(r.element(0, (*items)[0]), limit.lower) || !read(r.element(1, (*items)[1]), limit.upper)) return;
  if (limit.lower > limit.upper) {
    return r.refuse(fmt::format("the lower limit {} is above the upper limit {}", limit.lower, limit.upper));
  }
  out.limit = Limit{limit.lower * unit, limit.upper * unit};
}

const Fields<Motor>& motor_fields() {
  static const Fields<Motor> fields = {field("speed", &Motor::speed).required(),
                                       field("strength", &Motor::strength, kPositive)};
  return fields;
}

Kind<SceneBuilder> joint_kind(std::string name, JointKind joint, Fields<JointDraft> fields) {
  const Fields<JointDraft> common = {
      field<JointDraft>("name", [](const SceneReader& r, JointDraft& d) { read_name(r, d.name); }),
      field("a", &JointDraft::a_name),
      field("b", &JointDraft::b_name),
      field("chain", &JointDraft::chain),
      inherited<JointDraft>("break_force", &JointDef::break_force, kPositive),
      inherited<JointDraft>("bodies_collide", &JointDef::bodies_collide)};
  return kind<SceneBuilder, JointDraft>(std::move(name), common + std::move(fields),
                                        [joint](const SceneReader& r, JointDraft& draft, SceneBuilder& out) {
                                          draft.kind = joint;
                                          return finish(r, draft, out);
                                        });
}

const std::vector<Kind<SceneBuilder>>& joint_kinds() {
  static const std::vector<Kind<SceneBuilder>> kinds = [] {
    const Fields<JointDraft> anchor = {field("anchor", &JointDraft::anchor_point),
                                       field("anchor_offset", &JointDraft::anchor_offset)};
    const Fields<JointDraft> axis = {
        field<JointDraft>("axis", [](const SceneReader& r, JointDraft& d) { read_direction(r, d.axis); }).required(),
        field<JointDraft>("motor", [](const SceneReader& r, JointDraft& d) {
          Motor motor;
          if (read_fields(r, motor, motor_fields())) d.motor = motor;
        })};
    const Field<JointDraft> degrees =
        field<JointDraft>("limit_degrees", [](const SceneReader& r, JointDraft& d) { read_limit(r, d, kPi / 180); });
    const Field<JointDraft> metres =
        field<JointDraft>("limit", [](const SceneReader& r, JointDraft& d) { read_limit(r, d, 1); });
    return std::vector<Kind<SceneBuilder>>{
        joint_kind("ball", JointKind::Ball, anchor),
        joint_kind("hinge", JointKind::Hinge, anchor + axis + Fields<JointDraft>{degrees}),
        joint_kind("slider", JointKind::Slider, anchor + axis + Fields<JointDraft>{metres}),
        joint_kind("fixed", JointKind::Fixed, {})};
  }();
  return kinds;
}

}  // namespace

void read_joints(const SceneReader& r) {
  r.for_elements("an array of joints",
                 [](const SceneReader& e) { read_kinds(e, "joint", joint_kinds(), e.builder()); });
}

void describe_joints(std::vector<FieldSet>& sets) {
  for (const Kind<SceneBuilder>& k : joint_kinds()) sets.push_back({"joint_" + k.name, k.fields});
  sets.push_back({"motor", infos(motor_fields())});
}

}  // namespace pliant
