#include "view/material_preview.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/material_look.h"
#include "pliant/generators.h"
#include "pliant/splinters.h"

namespace pliant {
namespace {

// The panel in cells, each as deep as the panel is thick: flatter tets bear a blow by shear and hardly bend.
constexpr int kWide = 16, kHigh = 13;
constexpr float kBetweenBalls = 0.5f;  // s

using Pattern = std::optional<decltype(SplinterDef::pattern)>;

/// What a crack shows, where it differs from the outside; and how the panel breaks, if it were 1 m thick.
struct Inside {
  std::string_view material;
  std::optional<Vec3> color;
  Pattern pattern;
};

Inside inside_of(std::string_view name) {
  const std::array<Inside, 4> all = {{
      {"oak", Vec3{0.58f, 0.33f, 0.12f}, WoodSplinters{.grain = {0, 1, 0}, .length = 3, .width = 0.35f, .slant = 3}},
      {"glass", {}, GlassSplinters{.size = 0.8f}},
      {"ice", Vec3{0.85f, 0.92f, 0.95f}, GrainSplinters{.size = 0.6f}},
      {"concrete", Vec3{0.30f, 0.28f, 0.25f}, GrainSplinters{.size = 0.5f}},
  }};
  for (const Inside& inside : all) {
    if (inside.material == name) return inside;
  }
  return {};
}

/// The pattern for a panel of another thickness.
decltype(SplinterDef::pattern) scaled(decltype(SplinterDef::pattern) pattern, float thickness) {
  if (auto* wood = std::get_if<WoodSplinters>(&pattern)) wood->length *= thickness, wood->width *= thickness;
  if (auto* glass = std::get_if<GlassSplinters>(&pattern)) glass->size *= thickness;
  if (auto* grains = std::get_if<GrainSplinters>(&pattern)) grains->size *= thickness;
  return pattern;
}

Result<SolidDef> panel(const MaterialTrial& trial) {
  const float thickness = trial.thickness;
  if (!(thickness >= 0.005f && thickness <= 0.5f)) {
    Error error;
    error.code = Error::Code::InvalidArgument;
    error.message = fmt::format("a panel of {} m cannot be made; 0.005 to 0.5 m can", thickness);
    return error;
  }
  const Inside inside = inside_of(trial.material.name);
  const Vec3 size = thickness * Vec3{kWide, kHigh, 1};
  SolidDef def{.name = "panel", .mesh = tet_box(size, kWide, kHigh, 1)};
  def.material = material::softened(trial.material, trial.soften_to);
  def.material.grain_direction = {0, 1, 0};
  def.position = {0, 0.6f * size.y, 0};
  const float rim = 0.499f * size.y;
  def.held = {{"top", NodeHalfSpace{{0, -1, 0}, rim}}, {"bottom", NodeHalfSpace{{0, 1, 0}, rim}}};
  def.fracture.lets_go = true;
  def.fracture.min_tets = 6;  // smaller ones are jammed by the next ball
  def.appearance = look_of_material(trial.material.name);
  def.interior_color = inside.color;
  if (inside.pattern && def.material.is_breakable()) {
    SplinterDef splinters{
        .pattern = scaled(*inside.pattern, thickness), .color = def.appearance.color, .variation = 0.15f};
    Result<Splinters> made = make_splinters(def.mesh, splinters);
    if (!made) return made.error();
    def.splinters = std::make_shared<const Splinters>(std::move(*made));
  }
  return def;
}

const Appearance kFrameLook{{0.10f, 0.11f, 0.12f}, 1, 0.5f, 0.6f};

RigidDef beam(Vec3 position, Vec3 size) {
  RigidDef def;
  def.shape = Box{size};
  def.motion = Motion::Static;
  def.position = position;
  def.appearance = kFrameLook;
  return def;
}

/// Thrown from so far away that it arrives `after` seconds later, at `target`.
RigidDef ball(std::string name, const MaterialTrial& trial, Vec3 target, float after, Vec3 gravity) {
  RigidDef def;
  def.name = std::move(name);
  def.shape = Sphere{trial.ball_radius};
  def.density = 7850;
  def.velocity = Vec3{0, 0, -trial.ball_speed} - 0.5f * after * gravity;
  def.position = target + Vec3{0, 0, after * trial.ball_speed + trial.ball_radius};
  def.continuous = true;
  def.appearance = {{0.56f, 0.57f, 0.58f}, 1, 0.3f, 1};
  return def;
}

}  // namespace

Result<Scene> material_preview(const MaterialTrial& trial) {
  Result<SolidDef> made = panel(trial);
  if (!made) return made.error();
  Scene scene;
  const std::string name = trial.material.name.empty() ? "a material" : trial.material.name;
  scene.title = fmt::format("A panel of {}", name);
  scene.description = "Three steel balls are thrown at it, one after the other.";
  scene.frames = 180;
  const float wide = kWide * trial.thickness, high = kHigh * trial.thickness;
  scene.camera = {.from = {1.1f * wide, 1.1f * wide, 1.9f * wide}, .look_at = {0, 0.5f * high, 0}, .automatic = false};
  const auto add = [&](auto def) { scene.bodies.push_back({std::move(def)}); };
  add(GroundDef{});
  add(std::move(*made));
  const float beam_width = 1.5f * trial.thickness, side = 0.505f * (wide + beam_width);
  for (const float x : {-side, side}) add(beam({x, 0.6f * high, 0}, {beam_width, 1.2f * high, beam_width}));
  constexpr std::array<Vec2, 3> kTargets = {{{-0.2f, 0.75f}, {0.25f, 0.65f}, {0, 0.4f}}};  // of width and height
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    const Vec3 target{kTargets[i].x * wide, kTargets[i].y * high, 0.5f * trial.thickness};
    const float after = 0.2f + kBetweenBalls * static_cast<float>(i);
    add(ball(fmt::format("ball {}", i + 1), trial, target, after, scene.world.gravity));
  }
  return scene;
}

}  // namespace pliant
