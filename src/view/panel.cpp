#include "view/panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "view/graphs.h"

namespace pliant {
namespace {

constexpr float kWidth = 330;
constexpr double kNoticeSeconds = 5;
constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse;
constexpr ImGuiWindowFlags kFloating =
    kFixed | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav;

struct KeyText {
  const char *key, *does;
};
constexpr std::array<KeyText, 20> kKeys = {{{"drag a body", "pull it by a spring"},
                                            {"wheel, holding", "push it away, pull it near"},
                                            {"drag elsewhere", "turn the view"},
                                            {"Alt or Ctrl drag", "turn, over bodies too"},
                                            {"right drag", "move the view"},
                                            {"wheel", "come nearer, go away"},
                                            {"click", "pick a body"},
                                            {"Space", "play, pause"},
                                            {"N", "one step"},
                                            {"R", "restart"},
                                            {"B", "throw a ball at the mouse"},
                                            {"E", "explosion at the mouse"},
                                            {"F", "the scene's own view"},
                                            {"P", "save a picture"},
                                            {"V", "record, stop"},
                                            {"C / X", "contacts / bounding boxes"},
                                            {"K", "cracks"},
                                            {"W / G", "wireframe / grid"},
                                            {"1 to 8", "colours"},
                                            {"Tab", "hide the panel"}}};

void text_block(const std::string& text) {
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str(), text.c_str() + text.size());
  ImGui::PopTextWrapPos();
}

void number_row(const char* name, const std::string& value) {
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%s", name);
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(value.c_str());
}

}  // namespace

std::string pace_text(double rate, float speed, bool playing) {
  if (!playing) return "paused";
  if (rate <= 0) return "starting";
  const double reached = rate / static_cast<double>(speed);  // of what was asked for
  const std::string asked = speed == 1 ? "real time" : fmt::format("{:.3g}x speed", speed);
  if (reached > 0.93) return asked;
  return fmt::format("{:.2g} times slower than {}", 1 / reached, asked);
}

float Panel::width(const Controls& controls, float window_width) const {
  return controls.panel ? std::min(kWidth * scale_, 0.6f * window_width) : 0;
}

void Panel::notify(std::string text, double now) {
  last_notice_ = text;
  notices_.push_back({std::move(text), now + kNoticeSeconds});
}

void Panel::show_error(std::string title, std::string text) {
  error_title_ = std::move(title);
  error_ = std::move(text);
}

void Panel::place(const std::string& label) {
  if (!ImGui::IsItemVisible()) return;
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  places_[label] = {0.5f * (a.x + b.x), 0.5f * (a.y + b.y)};
}

bool Panel::button(const char* label, float width, bool lit) {
  if (lit) ImGui::PushStyleColor(ImGuiCol_Button, ImVec4{0.80f, 0.40f, 0.13f, 1});
  const bool pressed = ImGui::Button(label, {width, 0});
  if (lit) ImGui::PopStyleColor();
  place(label);
  return pressed;
}

bool Panel::check(const char* label, bool& value) {
  const bool changed = ImGui::Checkbox(label, &value);
  place(label);
  return changed;
}

bool Panel::slider(const char* label, float& value, float lower, float upper, const char* format, bool logarithmic) {
  ImGui::SetNextItemWidth(-112 * scale_);
  float shown = value;
  const bool moved = ImGui::SliderFloat(
      label, &shown, lower, upper, format,
      (logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None) | ImGuiSliderFlags_NoRoundToFormat);
  place(label);
  // Numbers may also be typed, and then be anything.
  if (!moved || !std::isfinite(shown)) return false;
  value = std::clamp(shown, lower, upper);
  return true;
}

bool Panel::section(const char* title, bool open) {
  const bool is_open = ImGui::CollapsingHeader(title, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
  place(title);
  return is_open;
}

void Panel::draw(Session& session, Controls& controls, const PanelInfo& info, const ScreenRect& picture) {
  places_.clear();
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  if (const float wide = width(controls, window.x); wide > 0) {
    ImGui::SetNextWindowPos({window.x - wide, 0});
    ImGui::SetNextWindowSize({wide, window.y});
    ImGui::Begin("panel", nullptr, kFixed | ImGuiWindowFlags_NoBringToFrontOnFocus);
    draw_scenes(session, controls, info);
    draw_time(controls);
    draw_pictures(controls, info);
    if (section("Tools", true)) draw_tools(controls);
    if (section("Try a material", false)) draw_trial(controls);
    if (section("Picked body", true)) draw_body(session, controls);
    if (section("World", true)) draw_world(session);
    if (section("Show", true)) draw_look(controls);
    if (section("Numbers", true)) draw_numbers(session, info);
    if (section("Keys and mouse", false)) draw_keys();
    ImGui::End();
  }
  draw_status(session, controls, info, picture);
  draw_notices(picture, ImGui::GetTime());
  if (!error_.empty()) draw_error(picture);
}

void Panel::draw_scenes(const Session& session, Controls& controls, const PanelInfo& info) {
  ImGui::SetNextItemWidth(-1);
  const bool open = ImGui::BeginCombo("##scene", session.name().c_str(), ImGuiComboFlags_HeightLarge);
  place("Scene");
  if (open) {
    for (std::size_t i = 0; i < info.gallery.size(); ++i) {
      const ViewerScene& scene = info.gallery[i];
      if (ImGui::Selectable(scene.name.c_str(), scene.name == session.name())) controls.chosen_scene = i;
      place("Scene " + scene.name);
    }
    ImGui::EndCombo();
  }
  if (!session.scene().title.empty()) text_block(session.scene().title);
  if (ImGui::IsItemHovered() && !session.scene().description.empty()) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(360 * scale_);
    ImGui::TextUnformatted(session.scene().description.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  ImGui::Spacing();
}

void Panel::draw_time(Controls& controls) {
  const float third = (ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().ItemSpacing.x) / 3;
  if (button(controls.playing ? "Pause" : "Play", third, !controls.playing)) controls.ask(Action::TogglePlay);
  ImGui::SameLine();
  if (button("Step", third)) controls.ask(Action::Step);
  ImGui::SameLine();
  if (button("Restart", third)) controls.ask(Action::Restart);
  slider("Speed", controls.speed, 0.01f, 4, "%.2fx", true);
}

void Panel::draw_pictures(Controls& controls, const PanelInfo& info) {
  const float half = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2;
  if (button("Screenshot", half)) controls.ask(Action::Screenshot);
  ImGui::SameLine();
  const std::string label =
      info.recording ? fmt::format("Stop ({:.1f} s)###record", info.film_seconds) : "Record###record";
  if (info.recording) ImGui::PushStyleColor(ImGuiCol_Button, ImVec4{0.75f, 0.15f, 0.12f, 1});
  if (ImGui::Button(label.c_str(), {half, 0})) controls.ask(Action::ToggleRecord);
  if (info.recording) ImGui::PopStyleColor();
  place("Record");
  ImGui::Spacing();
}

void Panel::draw_tools(Controls& controls) {
  const float half = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2;
  const auto choice = [&](const char* label, Tool tool) {
    if (button(label, half, controls.tool == tool)) controls.tool = tool;
  };
  choice("Grab", Tool::Grab);
  ImGui::SameLine();
  choice("Throw ball", Tool::Ball);
  choice("Explode", Tool::Blast);
  ImGui::SameLine();
  choice("Paint strength", Tool::Paint);
  if (controls.tool == Tool::Grab) ImGui::TextDisabled("Drag a body with the left button.");
  if (controls.tool == Tool::Ball) {
    slider("Radius", controls.ball.radius, 0.01f, 5, "%.2f m", true);
    slider("Density", controls.ball.density, 10, 20000, "%.0f kg/m³", true);
    slider("Ball speed", controls.ball.speed, 0.5f, 200, "%.1f m/s", true);
  }
  if (controls.tool == Tool::Blast) {
    slider("Reach", controls.blast.radius, 0.1f, 200, "%.1f m", true);
    slider("Strength", controls.blast.impulse_per_area, 10, 1e6f, "%.0f N s/m²", true);
  }
  if (controls.tool == Tool::Paint) {
    slider("Brush", controls.brush.radius, 0.01f, 5, "%.2f m", true);
    slider("Times as strong", controls.brush.factor, 0.01f, 100, "%.2f", true);
  }
}

void Panel::draw_trial(Controls& controls) {
  MaterialTrial& trial = controls.trial;
  SolidMaterial& m = trial.material;
  ImGui::SetNextItemWidth(-112 * scale_);
  if (ImGui::BeginCombo("Material", m.name.c_str(), ImGuiComboFlags_HeightLarge)) {
    for (const std::string_view name : material::names()) {
      if (ImGui::Selectable(std::string(name).c_str(), name == m.name)) {
        m = *material::by_name(name);
        controls.ask(Action::TryMaterial);
      }
      place("Material " + std::string(name));
    }
    ImGui::EndCombo();
  } else {
    place("Material");
  }
  slider("Modulus", m.young_modulus, 1e3f, 3e11f, "%.2g Pa", true);
  m.grain_modulus = m.grain_modulus > 0 ? std::max(m.grain_modulus, m.young_modulus) : 0;
  slider("Density##trial", m.density, 10, 20000, "%.0f kg/m³", true);
  if (std::isfinite(m.strength)) slider("Breaks at", m.strength, 1e3f, 1e9f, "%.2g Pa", true);
  if (m.grain_strength > 0) slider("along the grain", m.grain_strength, 1e3f, 1e9f, "%.2g Pa", true);
  if (m.is_plastic()) slider("Yields at", m.yield_strain, 1e-4f, 0.5f, "%.2g", true);
  slider("Thickness", trial.thickness, 0.005f, 0.2f, "%.3f m", true);
  slider("Balls", trial.ball_speed, 1, 60, "%.0f m/s", true);
  slider("Softened to", trial.soften_to, 1e6f, 3e11f, "%.2g Pa", true);
  if (button("Throw balls at a panel", -1)) controls.ask(Action::TryMaterial);
}

void Panel::draw_body(Session& session, Controls& controls) {
  const BodyId body = session.picked();
  const Result<BodyState> state = body.is_null() ? Result<BodyState>(Error{}) : session.world().state(body);
  if (!state) return ImGui::TextDisabled("Click a body to pick it.");
  ImGui::TextUnformatted(body_title(session.world(), body).c_str());
  ImGui::SameLine();
  if (state->mass > 0) {
    ImGui::TextDisabled("%.4g kg, %.3g m/s, %s", static_cast<double>(state->mass),
                        static_cast<double>(length(state->velocity)),
                        state->quarantined ? "quarantined"
                        : state->awake     ? "awake"
                                           : "asleep");
  } else {
    ImGui::TextDisabled("not moved by forces");
  }
  if (std::optional<BodyTuning> tuning = session.tuning(body)) {
    bool changed = slider("Friction", tuning->friction, 0, 2, "%.2f");
    if (tuning->restitution) changed = slider("Restitution", *tuning->restitution, 0, 1, "%.2f") || changed;
    if (state->mass > 0) changed = slider("Gravity scale", tuning->gravity_scale, -2, 4, "%.2f") || changed;
    if (changed) session.set_tuning(body, *tuning);
  }
  if (const Result<const SolidDef*> solid = session.world().solid_def(body)) draw_material(**solid);
  if (const Result<const ParticleDef*> particle = session.world().particle_def(body)) {
    std::visit([](const auto& def) { draw_material(def); }, **particle);
  }
  if (state->quarantined && button("Let it move again")) controls.ask(Action::Release);
}

void Panel::draw_material(const SolidDef& solid) {
  const SolidMaterial& m = solid.material;
  if (!ImGui::BeginTable("material", 2, ImGuiTableFlags_SizingFixedFit)) return;
  if (!m.name.empty()) number_row("material", m.name);
  number_row("Young's modulus", in_thousands(m.young_modulus, "Pa"));
  if (m.grain_modulus > 0) number_row("along the grain", in_thousands(m.grain_modulus, "Pa"));
  number_row("Poisson's ratio", fmt::format("{:.3g}", m.poisson_ratio));
  number_row("density", fmt::format("{:.4g} kg/m³", m.density));
  if (m.is_plastic()) number_row("yields at a strain of", fmt::format("{:.3g}", m.yield_strain));
  if (std::isfinite(m.strength)) number_row("breaks at", in_thousands(m.strength, "Pa"));
  number_row("tets", fmt::format("{}", solid.mesh.tets.size()));
  ImGui::EndTable();
}

void Panel::draw_material(const ClothDef& cloth) {
  const ClothMaterial& m = cloth.material;
  if (!ImGui::BeginTable("material", 2, ImGuiTableFlags_SizingFixedFit)) return;
  number_row("density", fmt::format("{:.3g} kg/m²", m.density));
  number_row("bending", fmt::format("{:.3g} N m", m.bend_stiffness));
  number_row("shear", fmt::format("{:.3g} N/m", m.shear_stiffness));
  if (std::isfinite(m.stretch_stiffness)) number_row("stretch", fmt::format("{:.3g} N/m", m.stretch_stiffness));
  if (cloth.pressure != 0) number_row("pressure", in_thousands(cloth.pressure, "Pa"));
  ImGui::EndTable();
}

void Panel::draw_material(const RopeDef& rope) {
  const RopeMaterial& m = rope.material;
  if (!ImGui::BeginTable("material", 2, ImGuiTableFlags_SizingFixedFit)) return;
  number_row("radius", fmt::format("{:.3g} m", rope.radius));
  number_row("density", fmt::format("{:.3g} kg/m", m.density));
  if (m.bend_stiffness > 0) number_row("bending", fmt::format("{:.3g} N m²", m.bend_stiffness));
  if (std::isfinite(m.stretch_stiffness)) number_row("stretch", in_thousands(m.stretch_stiffness, "N"));
  ImGui::EndTable();
}

void Panel::draw_material(const JellyDef& jelly) {
  constexpr std::array<const char*, 3> kMethods = {"mass-spring", "position-based", "shape matching"};
  if (!ImGui::BeginTable("material", 2, ImGuiTableFlags_SizingFixedFit)) return;
  number_row("method", kMethods[static_cast<std::size_t>(jelly.method)]);
  number_row("Young's modulus", in_thousands(jelly.young_modulus, "Pa"));
  number_row("density", fmt::format("{:.4g} kg/m³", jelly.density));
  number_row("tets", fmt::format("{}", jelly.mesh.tets.size()));
  ImGui::EndTable();
}

void Panel::draw_world(Session& session) {
  Vec3 gravity = session.gravity();
  ImGui::SetNextItemWidth(-112 * scale_);
  if (ImGui::SliderFloat3("Gravity m/s²", &gravity.x, -30, 30, "%.1f")) session.set_gravity(gravity);
  place("Gravity");
  float ms = 1000 * session.dt();
  if (slider("Time step", ms, 0.5f, 100, "%.2f ms", true)) session.set_dt(ms / 1000);
  const WorldDef& own = session.scene().world;
  if (session.dt() == own.dt && session.gravity() == own.gravity) return;
  if (button("As the scene has them")) session.set_dt(own.dt), session.set_gravity(own.gravity);
}

void Panel::draw_look(Controls& controls) {
  ImGui::SetNextItemWidth(-112 * scale_);
  int index = static_cast<int>(controls.coloring);
  if (ImGui::Combo("Colours", &index, kColoringNames.data(), kColoringCount)) {
    controls.coloring = static_cast<Coloring>(index);
  }
  place("Colours");
  if (!ImGui::BeginTable("show", 2)) return;
  ImGui::TableNextColumn();
  check("Contacts", controls.contacts);
  ImGui::TableNextColumn();
  check("Bounding boxes", controls.bounds);
  ImGui::TableNextColumn();
  check("Cracks", controls.cracks);
  ImGui::TableNextColumn();
  check("Wireframe", controls.wireframe);
  ImGui::TableNextColumn();
  check("Grid", controls.grid);
  ImGui::EndTable();
  constexpr std::array<const char*, 3> kQualities = {"automatic", "full", "light"};
  ImGui::SetNextItemWidth(-112 * scale_);
  int quality = static_cast<int>(controls.quality);
  if (ImGui::Combo("Quality", &quality, kQualities.data(), static_cast<int>(kQualities.size()))) {
    controls.quality = static_cast<QualityChooser::Mode>(quality);
  }
  place("Quality");
  if (button("Scene's view", -1)) controls.ask(Action::ResetView);
}

void Panel::draw_numbers(const Session& session, const PanelInfo& info) {
  const StepReport& r = session.world().report();
  draw_stage_graph(session.history(), 1000 * session.dt(), 78 * scale_);
  draw_series("contacts", "", session.history().contacts, 40 * scale_);
  draw_series("kinetic energy", "J", session.history().energy, 40 * scale_);
  if (!ImGui::BeginTable("numbers", 4)) return;
  number_row("bodies", fmt::format("{}", r.bodies));
  number_row("awake", fmt::format("{}", r.awake_bodies));
  number_row("contacts", fmt::format("{}", r.contacts));
  number_row("islands", fmt::format("{}", r.islands));
  number_row("rows", fmt::format("{}", r.rows));
  number_row("deepest", fmt::format("{:.2g} mm", 1000 * r.max_penetration));
  if (r.nodes > 0) number_row("nodes", fmt::format("{}", r.nodes)), number_row("tets", fmt::format("{}", r.tets));
  if (r.fractures > 0) number_row("fractures", fmt::format("{}", r.fractures));
  if (r.quarantined > 0) number_row("quarantined", fmt::format("{}", r.quarantined));
  ImGui::EndTable();
  ImGui::TextDisabled("%.0f pictures per second, %s", info.frames_per_second, info.quality.c_str());
  text_block(info.driver);
}

void Panel::draw_keys() const {
  if (!ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) return;
  for (const KeyText& key : kKeys) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(key.key);
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", key.does);
  }
  ImGui::EndTable();
}

void Panel::draw_status(const Session& session, const Controls& controls, const PanelInfo& info,
                        const ScreenRect& picture) {
  ImGui::SetNextWindowPos({picture.x + 12 * scale_, picture.y + 12 * scale_});
  ImGui::SetNextWindowBgAlpha(0.6f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 5 * scale_);
  ImGui::Begin("status", nullptr, kFloating | ImGuiWindowFlags_NoInputs);
  ImGui::Text("%.2f s", session.world().time());
  ImGui::SameLine();
  ImGui::TextUnformatted(pace_text(info.rate, controls.speed, controls.playing).c_str());
  if (info.recording) ImGui::TextColored({1, 0.35f, 0.3f, 1}, "recording, %.1f s", info.film_seconds);
  if (const std::size_t frozen = session.world().report().quarantined; frozen > 0) {
    ImGui::TextColored({1, 0.5f, 0.85f, 1}, "in quarantine: %zu", frozen);
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

void Panel::draw_notices(const ScreenRect& picture, double now) {
  std::erase_if(notices_, [&](const Notice& n) { return now >= n.until; });
  if (notices_.size() > 5) notices_.erase(notices_.begin(), notices_.end() - 5);
  if (notices_.empty()) return;
  ImGui::SetNextWindowPos({picture.x + 0.5f * picture.width, picture.y + picture.height - 14 * scale_}, 0, {0.5f, 1});
  ImGui::SetNextWindowBgAlpha(0.8f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 5 * scale_);
  ImGui::Begin("notices", nullptr, kFloating | ImGuiWindowFlags_NoInputs);
  for (const Notice& notice : notices_) ImGui::TextUnformatted(notice.text.c_str());
  ImGui::End();
  ImGui::PopStyleVar();
}

void Panel::draw_error(const ScreenRect& picture) {
  ImGui::SetNextWindowPos({picture.x + 0.5f * picture.width, picture.y + 0.5f * picture.height}, 0, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({std::min(640 * scale_, 0.92f * picture.width), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 6 * scale_);
  ImGui::Begin("error", nullptr, kFixed | ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::TextColored({1, 0.5f, 0.4f, 1}, "%s", error_title_.c_str());
  ImGui::Separator();
  text_block(error_);
  if (button("Close")) error_.clear();
  ImGui::End();
  ImGui::PopStyleVar();
}

void Panel::draw_legend(const ColorScale& scale, const ScreenRect& picture) const {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const float line = ImGui::GetTextLineHeight(), pad = 0.7f * line, wide = 12 * line, bar = 0.6f * line;
  const float left = picture.x + pad, bottom = picture.y + picture.height - pad;
  const float top = bottom - 2.4f * line - bar - 2 * pad, right = left + wide + 2 * pad;
  list.AddRectFilled({left, top}, {right, bottom}, IM_COL32(18, 20, 25, 165), 5 * scale_);
  const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
  list.AddText({left + pad, top + 0.8f * pad}, ink, scale.caption().c_str());
  const float bar_top = top + 0.8f * pad + 1.3f * line;
  constexpr int kPieces = 48;
  for (int i = 0; i < kPieces; ++i) {
    const Vec3 c = color_map(scale.color_at((static_cast<float>(i) + 0.5f) / kPieces));
    const float x = left + pad + wide * static_cast<float>(i) / kPieces;
    list.AddRectFilled({x, bar_top}, {x + wide / kPieces + 0.5f, bar_top + bar},
                       ImGui::ColorConvertFloat4ToU32({c.x, c.y, c.z, 1}));
  }
  for (int i = 0; i <= 2; ++i) {
    const float share = 0.5f * static_cast<float>(i);
    const std::string label = scale.label(share);
    const float x = left + pad + share * (wide - ImGui::CalcTextSize(label.c_str()).x);
    list.AddText({x, bar_top + bar + 0.15f * line}, ink, label.c_str());
  }
}

}  // namespace pliant
