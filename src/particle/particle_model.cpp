#include "particle/particle_model.h"

#include <algorithm>
#include <cmath>

#include "particle/cloth_builder.h"
#include "particle/tear.h"

namespace pliant {

ParticleModel build_model(const ClothDef& def) {
  ParticleModel model;
  if (const auto* sheet = std::get_if<ClothSheet>(&def.shape)) {
    build_sheet(*sheet, def.material, model);
  } else if (const auto* weave = std::get_if<ClothWeave>(&def.shape)) {
    build_weave(*weave, def.material, model);
  } else {
    build_mesh_cloth(std::get<TriMesh>(def.shape), def.material, model);
  }
  model.radius = 0.5f * def.thickness;
  model.damping = def.material.damping;
  model.pressure = def.pressure;
  model.outside_pressure = def.outside_pressure;
  if (def.pressure != 0) {
    model.longest_substep = 1.0f / 480;
    TriMesh surface;
    surface.vertices = model.rest, surface.faces = model.faces;
    model.rest_volume = static_cast<float>(enclosed_volume(surface));
  }
  if (std::isfinite(def.material.strength)) make_tearable(model);
  return model;
}

namespace {

/// The nodes along a rope's path, and the distance of each from the one before; a closed one ends where it began, with
/// one distance more than it has nodes.
void lay_path(const RopeDef& def, std::vector<Vec3>& nodes, std::vector<float>& lengths) {
  const std::size_t points = def.path.size();
  nodes.push_back(def.path[0]);
  for (std::size_t i = 1; i < points + (def.closed ? 1 : 0); ++i) {
    const Vec3 from = def.path[i - 1], to = def.path[i % points];
    const float distance = length(to - from);
    const auto pieces = std::max(1u, static_cast<std::uint32_t>(std::ceil(distance / def.segment - 1e-3f)));
    for (std::uint32_t k = 1; k <= pieces; ++k) {
      lengths.push_back(distance / static_cast<float>(pieces));
      if (i == points && k == pieces) break;
      nodes.push_back(from + (to - from) * (static_cast<float>(k) / static_cast<float>(pieces)));
    }
  }
}

}  // namespace

ParticleModel build_model(const RopeDef& def) {
  ParticleModel model;
  std::vector<float> lengths;
  lay_path(def, model.rest, lengths);
  const RopeMaterial& material = def.material;
  const auto nodes = static_cast<std::uint32_t>(model.rest.size()), count = static_cast<std::uint32_t>(lengths.size());
  model.masses.assign(nodes, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t next = (i + 1) % nodes;
    const float share = 0.5f * material.density * lengths[i];
    model.masses[i] += share, model.masses[next] += share;
    model.segments.push_back({i, next});
    if ((i == 0 && !def.closed) || material.bend_stiffness <= 0) continue;
    // The curvature at node i is (e₁/l₁ − e₀/l₀) over the mean length, for edges e of lengths l.
    const std::uint32_t last = (i + nodes - 1) % nodes;
    const float before = lengths[(i + count - 1) % count], mean = 0.5f * (before + lengths[i]);
    model.line_bends.push_back({.nodes = {last, i, next, last},
                                .weights = {1 / before, -1 / before - 1 / lengths[i], 1 / lengths[i], 0},
                                .stiffness = material.bend_stiffness / mean});
  }
  ChainLine line{.nodes = {0}, .lengths = lengths};
  for (std::uint32_t i = 0; i < count; ++i) line.nodes.push_back((i + 1) % nodes);
  if (std::isfinite(material.stretch_stiffness)) {
    for (const float rest : lengths) line.compliance.push_back(rest / material.stretch_stiffness);
  }
  if (std::isfinite(material.strength)) line.strengths.assign(count, material.strength);
  model.lines.push_back(std::move(line));
  model.radius = def.radius;
  model.damping = material.damping;
  if (std::isfinite(material.strength)) make_tearable(model);
  return model;
}

ParticleCommon common_of(const ParticleDef& def) {
  return std::visit(
      [](const auto& d) {
        bool self_collision = false;
        if constexpr (!std::is_same_v<std::decay_t<decltype(d)>, JellyDef>) self_collision = d.self_collision;
        return ParticleCommon{d.name,     d.position,      d.rotation, d.velocity, d.angular_velocity, d.held,
                              d.friction, d.gravity_scale, d.drag,     d.filter,   self_collision,     d.allow_sleep};
      },
      def);
}

}  // namespace pliant
