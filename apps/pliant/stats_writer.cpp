#include "stats_writer.h"

#include <cmath>

#include <fmt/format.h>

#include "held_forces.h"

namespace pliant::app {
namespace {

/// JSON has no word for what is not finite.
template <typename Number>
std::string number(Number x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "null";
}
std::string numbers(const double* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? ", " : "[") + number(values[i]);
  return text + "]";
}
std::string vector(Vec3 v) { return fmt::format("[{}, {}, {}]", number(v.x), number(v.y), number(v.z)); }
std::string rotation(Quat q) {
  return fmt::format("[{}, {}, {}, {}]", number(q.x), number(q.y), number(q.z), number(q.w));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

Result<StatsWriter> StatsWriter::create(const std::filesystem::path& target, const Header& header,
                                        std::vector<Probe> probes) {
  Result<AtomicFile> file = AtomicFile::create(target);
  if (!file) return file.error();
  StatsWriter writer(std::move(*file), std::move(probes));
  writer.file_.write(fmt::format("{{\"scene\": {}, \"title\": {}, \"threads\": {}, \"dt\": {}, \"frames\": [",
                                 quoted(header.scene), quoted(header.title), header.threads, number(header.dt)));
  return writer;
}

void StatsWriter::add_frame(const ScenePlayer& player) {
  text_ = first_ ? "\n{" : ",\n{";
  first_ = false;
  add_report(player.world().report());
  add_bodies(player);
  add_anchors(player);
  add_probes(player.world());
  text_ += "}";
  file_.write(text_);
}

void StatsWriter::add_report(const StepReport& r) {
  text_ += fmt::format("\"frame\": {}, \"time\": {}, \"time_ms\": {{\"total\": {}", r.step, number(r.time),
                       number(r.times.total_ms));
  for (std::size_t i = 0; i < static_cast<std::size_t>(Stage::Count); ++i) {
    text_ += fmt::format(", \"{}\": {}", stage_name(static_cast<Stage>(i)), number(r.times.ms[i]));
  }
  text_ += fmt::format(
      "}}, \"bodies\": {}, \"awake_bodies\": {}, \"nodes\": {}, \"tets\": {}, \"rows\": {}, \"contacts\": {}, "
      "\"islands\": {}, \"fractures\": {}, \"cg_iterations\": {}, \"unconverged_solids\": {}, ",
      r.bodies, r.awake_bodies, r.nodes, r.tets, r.rows, r.contacts, r.islands, r.fractures, r.cg_iterations,
      r.unconverged_solids);
  text_ += fmt::format(
      "\"kinetic_energy\": {}, \"potential_energy\": {}, \"elastic_energy\": {}, \"linear_momentum\": {}, "
      "\"angular_momentum\": {}, ",
      number(r.kinetic_energy), number(r.potential_energy), number(r.elastic_energy), numbers(r.linear_momentum, 3),
      numbers(r.angular_momentum, 3));
  text_ += fmt::format("\"max_penetration\": {}, \"max_stretch\": {}, \"quarantined\": {}, \"hash\": \"{:016x}\"",
                       number(r.max_penetration), number(r.max_stretch), r.quarantined, r.hash);
}

namespace {

/// Into how many bodies a body has broken.
std::size_t count_pieces(const World& world, BodyId body) {
  if (world.kind(body) != BodyKind::Solid) return 1;
  std::size_t count = 0;
  for (const BodyId other : world.bodies()) count += world.ancestor(other) == body ? 1 : 0;
  return count;
}

}  // namespace

void StatsWriter::add_bodies(const ScenePlayer& player) {
  text_ += ", \"named_bodies\": {";
  bool first = true;
  for (const ScenePlayer::NamedBody& named : player.named_bodies()) {
    if (!player.world().contains(named.body)) continue;  // removed
    const Result<BodyState> state = player.world().state(named.body);
    text_ += fmt::format(
        "{}{}: {{\"position\": {}, \"rotation\": {}, \"linear_velocity\": {}, \"angular_velocity\": {}, "
        "\"bounds\": {{\"lower\": {}, \"upper\": {}}}, \"pieces\": {}",
        first ? "" : ", ", quoted(named.name), vector(state->world_from_body.position),
        rotation(state->world_from_body.rotation), vector(state->velocity), vector(state->angular_velocity),
        vector(state->bounds.lower), vector(state->bounds.upper), count_pieces(player.world(), named.body));
    add_held(player.world(), named.body);
    text_ += "}";
    first = false;
  }
  text_ += "}";
}

void StatsWriter::add_held(const World& world, BodyId body) {
  bool first = true;
  for (const HeldForce& held : held_forces(world, body)) {
    text_ += fmt::format("{}{}: {}", first ? ", \"held_forces\": {" : ", ", quoted(held.part), vector(held.force));
    first = false;
  }
  if (!first) text_ += "}";
}

void StatsWriter::add_anchors(const ScenePlayer& player) {
  if (player.named_anchors().empty()) return;
  text_ += ", \"named_anchors\": {";
  bool first = true;
  for (const auto& [name, anchor] : player.named_anchors()) {
    if (!player.world().contains(anchor)) continue;  // removed
    const AnchorState state = *player.world().state(anchor);
    text_ += fmt::format("{}{}: {{\"force\": {}, \"nodes\": {}}}", first ? "" : ", ", quoted(name), vector(state.force),
                         state.nodes);
    first = false;
  }
  text_ += "}";
}

void StatsWriter::add_probes(const World& world) {
  if (probes_.empty()) return;
  text_ += ", \"probes\": {";
  bool first = true;
  for (const Probe& probe : probes_) {
    const std::optional<ProbeReading> reading = read_probe(probe, world);
    if (!reading) continue;
    text_ += fmt::format("{}{}: {{\"position\": {}, \"velocity\": {}}}", first ? "" : ", ", quoted(probe.text),
                         vector(reading->position), vector(reading->velocity));
    first = false;
  }
  text_ += "}";
}

Status StatsWriter::finish() {
  file_.write("\n]}\n");
  return file_.commit();
}

}  // namespace pliant::app
