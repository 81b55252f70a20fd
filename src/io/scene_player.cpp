#include <type_traits>

#include <fmt/format.h>

#include "pliant/scene.h"

namespace pliant {
namespace {

/// An error of the world, with the place in the scene's files that caused it.
Error at_source(Error error, const SceneSource& source) {
  error.file = source.file;
  error.line = source.line;
  // "add: held[0].nodes" of the world is "held[0].nodes" of the file.
  if (error.field == "add") error.field.clear();
  if (error.field.starts_with("add: ")) error.field.erase(0, 5);
  if (!source.field.empty()) error.field = error.field.empty() ? source.field : source.field + "." + error.field;
  return error;
}

Error unknown(const char* what, const std::string& name) {
  return {Error::Code::NotFound, fmt::format("there is no {} `{}`", what, name), {}, {}};
}

}  // namespace

/// Builds the player step by step; the first failure ends it.
class ScenePlayerBuilder {
 public:
  explicit ScenePlayerBuilder(const Scene& scene) : scene_(scene), player_(scene.world) {}

  Result<ScenePlayer> build() {
    for (const SceneMotion& motion : scene_.motions) starts_[motion.body] = motion.path.at(0);
    for (const SceneBody& body : scene_.bodies) {
      if (const Status s = add_body(body); !s.ok()) return at_source(s.error(), body.source);
    }
    for (const SceneJoint& joint : scene_.joints) {
      if (const Status s = add_joint(joint); !s.ok()) return at_source(s.error(), joint.source);
    }
    for (const SceneAnchor& anchor : scene_.anchors) {
      if (const Status s = add_anchor(anchor); !s.ok()) return at_source(s.error(), anchor.source);
    }
    for (const SceneMotion& motion : scene_.motions) {
      if (const Status s = add_motion(motion); !s.ok()) return at_source(s.error(), motion.source);
    }
    for (const SceneEvent& event : scene_.events) {
      if (const Status s = add_event(event); !s.ok()) return at_source(s.error(), event.source);
    }
    player_.world_.commit_edits();
    return std::move(player_);
  }

 private:
  Status add_body(const SceneBody& body) {
    const std::string& name = body_name(body.def);
    const Result<BodyId> id = std::visit([&](const auto& def) { return player_.world_.add(placed(def)); }, body.def);
    if (!id) return id.error();
    if (name.empty()) return {};
    if (!player_.bodies_.emplace(name, *id).second) {
      return Error{Error::Code::InvalidArgument, fmt::format("there is already a body `{}`", name), {}, {}};
    }
    player_.named_.push_back({name, *id});
    return {};
  }

  /// A body with a motion begins where its path does, or it would be thrown there in the first step.
  template <typename Def>
  const Def& placed(const Def& def) {
    return def;
  }
  RigidDef placed(const RigidDef& def) {
    RigidDef out = def;
    if (const auto start = starts_.find(def.name); start != starts_.end() && !def.name.empty()) {
      out.position = start->second.position;
      out.rotation = start->second.rotation;
    }
    return out;
  }

  Status find(const std::string& name, BodyId& out) const {
    if (name.empty()) return {};
    out = player_.body(name);
    return out.is_null() ? Status(unknown("body", name)) : Status();
  }

  Status add_joint(const SceneJoint& joint) {
    JointDef def = joint.def;
    if (const Status s = find(joint.a, def.a); !s.ok()) return s;
    if (const Status s = find(joint.b, def.b); !s.ok()) return s;
    const Result<JointId> id = player_.world_.add(def);
    if (!id) return id.error();
    if (!def.name.empty()) player_.joints_.emplace(def.name, *id);
    return {};
  }

  Status add_anchor(const SceneAnchor& anchor) {
    AnchorDef def = anchor.def;
    if (const Status s = find(anchor.body, def.body); !s.ok()) return s;
    if (const Status s = find(anchor.to, def.to); !s.ok()) return s;
    const Result<AnchorId> id = player_.world_.add(def);
    if (!id) return id.error();
    if (!def.name.empty()) player_.anchors_.emplace(def.name, *id);
    return {};
  }

  /// Calls `each` with every body that `name` or `name[*]` stands for.
  template <typename Each>
  Status for_bodies(const std::string& name, Each each) const {
    std::size_t found = 0;
    const bool all = name.ends_with("[*]");
    while (true) {
      const BodyId body = player_.body(all ? fmt::format("{}[{}]", name.substr(0, name.size() - 3), found) : name);
      if (body.is_null()) return found > 0 ? Status() : Status(unknown("body", name));
      if (const Status s = each(body); !s.ok()) return s;
      ++found;
      if (!all) return {};
    }
  }

  Status add_motion(const SceneMotion& motion) {
    return for_bodies(motion.body, [&](BodyId body) -> Status {
      if (player_.world_.kind(body) == BodyKind::Rigid) return player_.timeline_.add(BodyMotion{body, motion.path});
      std::size_t parts = 0;
      for (const HeldNodes& held : held_parts(body)) {
        if (!motion.held.empty() && held.name != motion.held) continue;
        ++parts;
        if (const Status s = player_.timeline_.add(NodeMotion{body, held.nodes, motion.path}); !s.ok()) return s;
      }
      return parts > 0 ? Status() : Status(unknown("held part", motion.held));
    });
  }

  const std::vector<HeldNodes>& held_parts(BodyId body) const {
    if (const Result<const SolidDef*> solid = player_.world_.solid_def(body)) return (*solid)->held;
    static const std::vector<HeldNodes> kNone;
    if (player_.world_.layered_def(body)) return kNone;
    return std::visit([](const auto& def) -> const std::vector<HeldNodes>& { return def.held; },
                      **player_.world_.particle_def(body));
  }

  Status add_event(const SceneEvent& event) {
    return std::visit([&](const auto& action) { return add_action(event, action); }, event.action);
  }
  Status add_action(const SceneEvent&, const TimedExplosion& action) { return player_.timeline_.add(action); }
  Status add_action(const SceneEvent& event, TimedMotor action) {
    action.joint = player_.joint(event.joint);
    if (action.joint.is_null()) return unknown("joint", event.joint);
    return player_.timeline_.add(action);
  }
  Status add_action(const SceneEvent& event, TimedRemoval action) {
    if (!event.joint.empty()) {
      action.joint = player_.joint(event.joint);
      return action.joint.is_null() ? Status(unknown("joint", event.joint)) : player_.timeline_.add(action);
    }
    if (!event.anchor.empty()) {
      action.anchor = player_.anchor(event.anchor);
      return action.anchor.is_null() ? Status(unknown("anchor", event.anchor)) : player_.timeline_.add(action);
    }
    return add_to_bodies(event, action);
  }
  Status add_action(const SceneEvent& event, const TimedForce& action) { return add_to_bodies(event, action); }
  Status add_action(const SceneEvent& event, const TimedImpulse& action) { return add_to_bodies(event, action); }
  Status add_action(const SceneEvent& event, const TimedNodeForce& action) { return add_to_bodies(event, action); }
  Status add_action(const SceneEvent& event, const TimedPressure& action) { return add_to_bodies(event, action); }
  Status add_action(const SceneEvent& event, const TimedTraction& action) { return add_to_bodies(event, action); }
  template <typename Action>
  Status add_to_bodies(const SceneEvent& event, Action action) {
    return for_bodies(event.body, [&](BodyId body) {
      action.body = body;
      if (const Status s = check_nodes(body, action); !s.ok()) return s;
      return player_.timeline_.add(action);
    });
  }

  /// An action on nodes has some to act on, and a load a surface: else the world would refuse it in every step.
  template <typename Action>
  Status check_nodes(BodyId body, const Action& action) const {
    if constexpr (requires { action.nodes; }) {
      const Result<std::vector<std::uint32_t>> nodes = player_.world_.select_nodes(body, action.nodes);
      if (!nodes) return at_nodes(nodes.error());
      if constexpr (std::is_same_v<Action, TimedPressure> || std::is_same_v<Action, TimedTraction>) {
        const auto faces = player_.world_.surface_faces(body);
        if (!faces) return at_nodes(faces.error());
        if (const auto pressed = select_faces(*faces, *nodes); !pressed) return at_nodes(pressed.error());
      }
    }
    return {};
  }
  static Error at_nodes(Error error) {
    error.field = "nodes";
    return error;
  }

  const Scene& scene_;
  ScenePlayer player_;
  std::map<std::string, Transform, std::less<>> starts_;
};

Result<ScenePlayer> ScenePlayer::create(const Scene& scene) { return ScenePlayerBuilder(scene).build(); }

const StepReport& ScenePlayer::step() {
  timeline_.apply(world_, world_.def().dt);
  return world_.step();
}

BodyId ScenePlayer::body(std::string_view name) const {
  const auto found = bodies_.find(name);
  return found == bodies_.end() ? BodyId{} : found->second;
}

JointId ScenePlayer::joint(std::string_view name) const {
  const auto found = joints_.find(name);
  return found == joints_.end() ? JointId{} : found->second;
}

AnchorId ScenePlayer::anchor(std::string_view name) const {
  const auto found = anchors_.find(name);
  return found == anchors_.end() ? AnchorId{} : found->second;
}

}  // namespace pliant
