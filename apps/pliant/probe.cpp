#include "probe.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "io/suggest.h"

namespace pliant::app {
namespace {

Error refused(Error::Code code, const std::string& text, std::string message) {
  return {code, std::move(message), {}, "--probe " + text};
}

}  // namespace

Result<Probe> parse_probe(const std::string& text, const ScenePlayer& player) {
  Probe probe{text, {}, -1};
  std::string name = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    const std::string number = text.substr(colon + 1);
    const bool digits = !number.empty() && number.size() <= 9 &&
                        std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) {
      return refused(Error::Code::InvalidArgument, text, fmt::format("`{}` is not a node; write BODY:NODE", number));
    }
    probe.node = std::stoi(number);
    name = text.substr(0, colon);
  }
  probe.body = player.body(name);
  if (probe.body.is_null()) {
    std::vector<std::string> names;
    for (const ScenePlayer::NamedBody& named : player.named_bodies()) names.push_back(named.name);
    return refused(Error::Code::NotFound, text,
                   fmt::format("the scene has no body named `{}`{}", name, suggestion(name, names)));
  }
  if (player.world().kind(probe.body) != BodyKind::Rigid) {
    const auto count = static_cast<int>(player.world().node_positions(probe.body)->size());
    if (probe.node < count) return probe;
    return refused(Error::Code::InvalidArgument, text, fmt::format("`{}` has nodes 0 to {}", name, count - 1));
  }
  if (probe.node > 0) {
    return refused(Error::Code::InvalidArgument, text,
                   fmt::format("`{}` is rigid and has only node 0, its centre of mass", name));
  }
  return probe;
}

namespace {

/// A node of a solid that broke is looked for in its pieces.
std::optional<ProbeReading> read_node(std::uint32_t node, BodyId body, const World& world) {
  const auto reading = [&](BodyId piece, std::size_t at) {
    return ProbeReading{(*world.node_positions(piece))[at], (*world.node_velocities(piece))[at]};
  };
  if (world.kind(body) != BodyKind::Solid) return reading(body, node);
  for (const BodyId piece : world.bodies()) {
    if (!(world.ancestor(piece) == body)) continue;
    const std::vector<std::uint32_t> origins = *world.origin_nodes(piece);
    const auto at = std::find(origins.begin(), origins.end(), node);
    if (at != origins.end()) return reading(piece, static_cast<std::size_t>(at - origins.begin()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ProbeReading> read_probe(const Probe& probe, const World& world) {
  if (!world.contains(probe.body)) return std::nullopt;
  const Result<BodyState> state = world.state(probe.body);
  if (!state) return std::nullopt;
  if (probe.node >= 0 && world.kind(probe.body) != BodyKind::Rigid) {
    return read_node(static_cast<std::uint32_t>(probe.node), probe.body, world);
  }
  if (probe.node == 0) return ProbeReading{state->center_of_mass, state->velocity};
  // The body's origin moves with the centre of mass and turns about it.
  const Vec3 origin = state->world_from_body.position;
  return ProbeReading{origin, state->velocity + cross(state->angular_velocity, origin - state->center_of_mass)};
}

}  // namespace pliant::app
