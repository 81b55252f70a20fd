#include "particle/particle_model.h"

#include <algorithm>
#include <cmath>

#include "particle/cloth_builder.h"

namespace pliant {

ParticleModel build_model(const ClothDef& def) {
  ParticleModel model;
  if (const auto* sheet = std::get_if<ClothSheet>(&def.shape)) {
    build_sheet(*sheet, def.material, model);
  } else {
    build_mesh_cloth(std::get<TriMesh>(def.shape), def.material, model);
  }
  model.radius = 0.5f * def.thickness;
  model.damping = def.material.damping;
  model.pressure = def.pressure;
  if (def.pressure != 0) {
    model.longest_substep = 1.0f / 480;
    TriMesh surface;
    surface.vertices = model.rest, surface.faces = model.faces;
    model.rest_volume = static_cast<float>(enclosed_volume(surface));
  }
  return model;
}

ParticleModel build_model(const RopeDef& def) {
  ParticleModel model;
  ChainLine line;
  for (std::size_t i = 0; i < def.path.size(); ++i) {
    if (i == 0) {
      model.rest.push_back(def.path[0]);
      continue;
    }
    const Vec3 from = def.path[i - 1], to = def.path[i];
    const float distance = length(to - from);
    const auto pieces = std::max(1u, static_cast<std::uint32_t>(std::ceil(distance / def.segment - 1e-3f)));
    for (std::uint32_t k = 1; k <= pieces; ++k) {
      model.rest.push_back(from + (to - from) * (static_cast<float>(k) / static_cast<float>(pieces)));
      line.lengths.push_back(distance / static_cast<float>(pieces));
    }
  }
  model.masses.assign(model.rest.size(), 0);
  for (std::uint32_t i = 0; i < model.rest.size(); ++i) {
    line.nodes.push_back(i);
    if (i + 1 == model.rest.size()) break;
    const float rest = line.lengths[i], share = 0.5f * def.material.density * rest;
    model.masses[i] += share, model.masses[i + 1] += share;
    model.segments.push_back({i, i + 1});
    if (std::isfinite(def.material.stretch_stiffness)) line.compliance.push_back(rest / def.material.stretch_stiffness);
    if (i == 0 || def.material.bend_stiffness <= 0) continue;
    // The curvature at node i is (e₁/l₁ − e₀/l₀) over the mean length, for edges e of lengths l.
    const float before = line.lengths[i - 1], mean = 0.5f * (before + rest);
    model.line_bends.push_back({.nodes = {i - 1, i, i + 1, i - 1},
                                .weights = {1 / before, -1 / before - 1 / rest, 1 / rest, 0},
                                .stiffness = def.material.bend_stiffness / mean});
  }
  model.lines.push_back(std::move(line));
  model.radius = def.radius;
  model.damping = def.material.damping;
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
