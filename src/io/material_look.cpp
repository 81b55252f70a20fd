#include "io/material_look.h"

#include "pliant/solid.h"

namespace pliant {

Appearance look_of_material(std::string_view material) {
  struct Look {
    const char* name;
    Appearance appearance;
  };
  static const Look looks[] = {
      {"rubber", {{0.65f, 0.07f, 0.05f}, 1, 0.55f, 0}},    {"jelly", {{0.75f, 0.08f, 0.25f}, 0.8f, 0.15f, 0}},
      {"foam", {{0.85f, 0.75f, 0.35f}, 1, 0.95f, 0}},      {"flesh", {{0.72f, 0.42f, 0.34f}, 1, 0.5f, 0}},
      {"clay", {{0.50f, 0.24f, 0.14f}, 1, 0.9f, 0}},       {"oak", {{0.46f, 0.25f, 0.10f}, 1, 0.75f, 0}},
      {"glass", {{0.70f, 0.85f, 0.85f}, 0.35f, 0.05f, 0}}, {"ice", {{0.62f, 0.80f, 0.90f}, 0.8f, 0.15f, 0}},
      {"concrete", {{0.42f, 0.41f, 0.38f}, 1, 0.9f, 0}},   {"steel", {{0.56f, 0.57f, 0.58f}, 1, 0.3f, 1}},
      {"aluminium", {{0.75f, 0.76f, 0.77f}, 1, 0.35f, 1}}, {"lead", {{0.30f, 0.31f, 0.34f}, 1, 0.6f, 1}}};
  for (const Look& look : looks) {
    if (material == look.name) return look.appearance;
  }
  return SolidDef{}.appearance;
}

}  // namespace pliant
