// Anchors: nodes of cloth, rope and jelly tied to other bodies or to the world. One entry may stand for many anchors:
// `"body": "rope[*]"` ties every copy, `"to": "post[*]"` each of them to its own post.
#include <fmt/format.h>

#include "io/scene_builder.h"

namespace pliant {
namespace {

struct AnchorDraft : AnchorDef {
  std::string body_name, to_name;
};

bool has_particles(const BodyDef& def) {
  return std::holds_alternative<ClothDef>(def) || std::holds_alternative<RopeDef>(def) ||
         std::holds_alternative<JellyDef>(def);
}

/// The bodies of a field; refuses those that are not wanted there.
template <typename IsGood>
std::vector<const SceneBody*> bodies_of(const SceneReader& r, const char* field, const std::string& name,
                                        IsGood is_good, const char* complaint) {
  const SceneReader value = r.member(field, *r.value().find(field));
  std::vector<const SceneBody*> bodies = r.builder().bodies_named(value, name);
  for (const SceneBody* body : bodies) {
    if (is_good(body->def)) continue;
    return value.refuse(fmt::format("`{}` {}", shown(name), complaint)), std::vector<const SceneBody*>{};
  }
  return bodies;
}

void add_anchors(const SceneReader& r, const AnchorDraft& draft) {
  const auto bodies = bodies_of(r, "body", draft.body_name, has_particles,
                                "is not a cloth, rope or jelly: only their nodes can be anchored");
  std::vector<const SceneBody*> to = {nullptr};
  if (!draft.to_name.empty()) {
    to = bodies_of(
        r, "to", draft.to_name, [](const BodyDef& def) { return !std::holds_alternative<LayeredDef>(def); },
        "is layered: nodes are anchored to rigid bodies, to solids, to cloth, rope and jelly, or to the world where "
        "`to` is left out");
  }
  if (bodies.empty() || to.empty()) return;
  if (draft.to_nodes && (!to[0] || !has_particles(to[0]->def))) {
    return r.member("to_nodes", *r.value().find("to_nodes"))
        .refuse("only a cloth, rope or jelly has nodes to choose from");
  }
  if (to.size() != 1 && bodies.size() != 1 && bodies.size() != to.size()) {
    return r.refuse(fmt::format("`body` stands for {} bodies and `to` for {}; they must be as many, or one of them one",
                                bodies.size(), to.size()));
  }
  const std::size_t count = std::max(bodies.size(), to.size());
  for (std::size_t i = 0; i < count && !r.full(); ++i) {
    const SceneBody* target = to[to.size() == 1 ? 0 : i];
    SceneAnchor anchor{draft, body_name(bodies[bodies.size() == 1 ? 0 : i]->def), target ? body_name(target->def) : "",
                       r.source()};
    if (count > 1 && !draft.name.empty()) anchor.def.name = fmt::format("{}[{}]", draft.name, i);
    r.builder().add_anchor(r, std::move(anchor));
  }
}

const Fields<AnchorDraft>& anchor_fields() {
  static const Fields<AnchorDraft> fields = {
      field<AnchorDraft>("name", [](const SceneReader& r, AnchorDraft& d) { read_name(r, d.name); }),
      field("body", &AnchorDraft::body_name).required(),
      field<AnchorDraft>("nodes", [](const SceneReader& r, AnchorDraft& d) { read_selection(r, d.nodes); }).required(),
      field("to", &AnchorDraft::to_name),
      field<AnchorDraft>("to_nodes",
                         [](const SceneReader& r, AnchorDraft& d) {
                           NodeSelection selection;
                           if (read_selection(r, selection)) d.to_nodes = std::move(selection);
                         }),
      inherited<AnchorDraft>("break_force", &AnchorDef::break_force, kPositive)};
  return fields;
}

}  // namespace

void read_anchors(const SceneReader& r) {
  r.for_elements("an array of anchors", [](const SceneReader& e) {
    AnchorDraft draft;
    if (read_fields(e, draft, anchor_fields())) add_anchors(e, draft);
  });
}

void describe_anchors(std::vector<FieldSet>& sets) { sets.push_back({"anchor", infos(anchor_fields())}); }

}  // namespace pliant
