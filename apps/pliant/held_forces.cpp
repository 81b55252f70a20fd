#include "held_forces.h"

#include <algorithm>

#include <fmt/format.h>

namespace pliant::app {
namespace {

/// The nodes of a piece that were among these, ascending, of the whole.
std::vector<std::uint32_t> nodes_in_piece(const World& world, BodyId piece, const std::vector<std::uint32_t>& nodes) {
  const std::vector<std::uint32_t> origins = *world.origin_nodes(piece);
  std::vector<std::uint32_t> own;
  for (std::uint32_t node = 0; node < origins.size(); ++node) {
    if (std::binary_search(nodes.begin(), nodes.end(), origins[node])) own.push_back(node);
  }
  return own;
}

Vec3 force_on_solid(const World& world, BodyId body, const std::vector<std::uint32_t>& nodes) {
  Vec3 force{};
  for (const BodyId piece : world.bodies()) {
    if (world.kind(piece) != BodyKind::Solid || !(world.ancestor(piece) == body)) continue;
    const std::vector<std::uint32_t> own = nodes_in_piece(world, piece, nodes);
    if (!own.empty()) force += *world.held_force(piece, NodeList{own});
  }
  return force;
}

/// `force_of(selection)` for each part.
template <typename ForceOf>
std::vector<HeldForce> list(const std::vector<HeldNodes>& parts, ForceOf&& force_of) {
  std::vector<HeldForce> forces;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    forces.push_back({parts[i].name.empty() ? fmt::format("held[{}]", i) : parts[i].name, force_of(parts[i].nodes)});
  }
  return forces;
}

}  // namespace

std::vector<HeldForce> held_forces(const World& world, BodyId body) {
  if (world.kind(body) == BodyKind::Solid) {
    const std::shared_ptr<const SolidDef> def = *world.origin_def(body);
    return list(def->held, [&](const NodeSelection& nodes) {
      return force_on_solid(world, body, *select_nodes(def->mesh, nodes));
    });
  }
  if (world.kind(body) != BodyKind::Particle) return {};
  return std::visit(
      [&](const auto& def) {
        return list(def.held, [&](const NodeSelection& nodes) { return *world.held_force(body, nodes); });
      },
      **world.particle_def(body));
}

}  // namespace pliant::app
