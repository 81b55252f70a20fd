// Layered bodies for tests, and the ground under them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "layered/layered_body.h"

namespace pliant {

inline LayeredDef torus_def(float young_modulus, int segments = 48, int tube_segments = 24) {
  LayeredDef def;
  def.atlas = atlas_torus(0.5f, 0.2f, segments, tube_segments);
  def.thickness = 0.08f;
  def.material.young_modulus = young_modulus;
  return def;
}

inline std::unique_ptr<LayeredBody> make_body(LayeredDef def) {
  const auto layer = LayeredLayer::make(def);
  EXPECT_TRUE(layer) << layer.error().to_string();
  return std::make_unique<LayeredBody>(std::make_shared<const LayeredDef>(std::move(def)), *layer);
}

/// Touches with the half space y < 0, of nodes that are near it or will be in a step.
inline std::vector<NodeTouch> ground_touches(const LayeredBody& body, float friction, float dt) {
  std::vector<NodeTouch> touches;
  for (std::uint32_t i = 0; i < body.node_count(); ++i) {
    const float y = body.node_position(i).y, reach = dt * std::max(-body.node_velocity(i).y + 10 * dt, 0.0f);
    if (y > 0.1f * body.layer().cell() + reach) continue;
    touches.push_back({.node = i, .other = {7, 1}, .normal = {0, 1, 0}, .gap = y, .friction = friction});
  }
  return touches;
}

}  // namespace pliant
