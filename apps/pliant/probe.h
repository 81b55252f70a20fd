// `--probe BODY[:NODE]`: a point whose path the statistics follow.
#pragma once

#include <optional>
#include <string>

#include "pliant/scene.h"

namespace pliant::app {

struct Probe {
  std::string text;  ///< as typed; its key in the statistics
  BodyId body;
  int node = -1;  ///< none: the body itself
};

/// Finds the body. A rigid body has one simulated point, node 0: its centre of mass.
Result<Probe> parse_probe(const std::string& text, const ScenePlayer& player);

struct ProbeReading {
  Vec3 position, velocity;
};
/// Nothing once the body is gone.
std::optional<ProbeReading> read_probe(const Probe& probe, const World& world);

}  // namespace pliant::app
