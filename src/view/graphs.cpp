#include "view/graphs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

namespace pliant {
namespace {

constexpr std::array<ImU32, History::kStages> kStageColors = {
    IM_COL32(140, 148, 160, 255), IM_COL32(86, 156, 214, 255),  IM_COL32(78, 201, 160, 255),
    IM_COL32(220, 205, 110, 255), IM_COL32(237, 125, 49, 255),  IM_COL32(197, 134, 192, 255),
    IM_COL32(240, 90, 120, 255),  IM_COL32(110, 120, 215, 255), IM_COL32(150, 190, 90, 255)};

struct Plot {
  ImVec2 corner, size;
  ImDrawList* list;

  static Plot begin(float height) {
    Plot plot{ImGui::GetCursorScreenPos(), {ImGui::GetContentRegionAvail().x, height}, ImGui::GetWindowDrawList()};
    ImGui::Dummy(plot.size);
    plot.list->AddRectFilled(plot.corner, {plot.corner.x + plot.size.x, plot.corner.y + plot.size.y},
                             ImGui::GetColorU32(ImGuiCol_FrameBg), 4);
    return plot;
  }
  /// The newest value stands at the right edge.
  float x(std::size_t i, std::size_t count) const {
    const float step = size.x / static_cast<float>(Series::kLength);
    return corner.x + size.x - step * static_cast<float>(count - i);
  }
  float y(float share) const { return corner.y + size.y * (1 - std::clamp(share, 0.0f, 1.0f)); }
  void text(const std::string& words) const {
    list->AddText({corner.x + 6, corner.y + 3}, ImGui::GetColorU32(ImGuiCol_Text), words.c_str());
  }
};

float highest(const Series& series) {
  float most = 0;
  for (std::size_t i = 0; i < series.size(); ++i) most = std::max(most, series[i]);
  return most;
}

void draw_stage_names(const History& history) {
  if (!ImGui::BeginTable("stages", 2)) return;
  for (std::size_t i = 0; i < History::kStages; ++i) {
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float line = ImGui::GetTextLineHeight(), side = 0.55f * line, top = at.y + 0.25f * line;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side}, kStageColors[i], 2);
    ImGui::SetCursorScreenPos({at.x + 1.7f * side, at.y});
    std::string name = stage_name(static_cast<Stage>(i));
    std::replace(name.begin(), name.end(), '_', ' ');
    ImGui::TextDisabled("%s", name.c_str());
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%.3f ms on average", static_cast<double>(history.stages[i].mean()));
  }
  ImGui::EndTable();
}

}  // namespace

void draw_stage_graph(const History& history, float frame_ms, float height) {
  const Plot plot = Plot::begin(height);
  const float most = std::max(1.15f * highest(history.total), 0.1f);
  const std::size_t count = history.total.size();
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (std::size_t s = 0; s < History::kStages; ++s) {
      const float next = sum + history.stages[s][i];
      plot.list->AddRectFilled({plot.x(i, count), plot.y(next / most)}, {plot.x(i + 1, count), plot.y(sum / most)},
                               kStageColors[s]);
      sum = next;
    }
  }
  if (frame_ms < most) {
    const float y = plot.y(frame_ms / most);
    plot.list->AddLine({plot.corner.x, y}, {plot.corner.x + plot.size.x, y}, IM_COL32(255, 255, 255, 110));
  }
  plot.text(fmt::format("{:.2f} ms per step, {:.2f} on average", history.total.last(), history.total.mean()));
  draw_stage_names(history);
}

void draw_series(const char* title, const char* unit, const Series& series, float height) {
  const Plot plot = Plot::begin(height);
  const float most = std::max(1.3f * highest(series), 1e-6f);
  for (std::size_t i = 1; i < series.size(); ++i) {
    const float a = series[i - 1], b = series[i];
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    plot.list->AddLine({plot.x(i - 1, series.size()), plot.y(a / most)}, {plot.x(i, series.size()), plot.y(b / most)},
                       ImGui::GetColorU32(ImGuiCol_PlotLines), 1.5f);
  }
  plot.text(fmt::format("{} {:.4g}{}{}", title, series.last(), *unit != 0 ? " " : "", unit));
}

}  // namespace pliant
