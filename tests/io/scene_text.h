// Scenes written in tests.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "pliant/scene.h"

namespace pliant {

inline Scene parse(const std::string& json) {
  Result<Scene> scene = parse_scene(json, "s.json");
  if (!scene.ok()) ADD_FAILURE() << scene.error().to_string();
  return scene.ok() ? *scene : Scene{};
}

}  // namespace pliant
