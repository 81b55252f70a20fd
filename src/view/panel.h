// The panel beside the picture, and the few lines that stand in the picture itself.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "render/color_map.h"

#include "view/controls.h"
#include "view/screen.h"
#include "view/session.h"

namespace pliant {

/// What the panel tells and cannot know by itself.
struct PanelInfo {
  std::span<const ViewerScene> gallery;
  double rate = 0;               ///< simulated seconds per second
  double frames_per_second = 0;  ///< of the window
  std::string quality;           ///< how the picture is drawn
  bool recording = false;
  double film_seconds = 0;
  std::string driver;
};

/// "real time", "2.5 times slower than real time", "paused" …
std::string pace_text(double rate, float speed, bool playing);

class Panel {
 public:
  explicit Panel(float scale) : scale_(scale) {}

  /// The panel's width in window coordinates; 0 while it is hidden.
  float width(const Controls& controls, float window_width) const;
  /// Draws all and notes what was asked for.
  void draw(Session& session, Controls& controls, const PanelInfo& info, const ScreenRect& picture);
  void draw_legend(const ColorScale& scale, const ScreenRect& picture) const;
  /// Short messages for a while, and one that stays until it is dismissed.
  void notify(std::string text, double now);
  void show_error(std::string title, std::string text);
  bool error_is_shown() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  const std::string& last_notice() const { return last_notice_; }
  /// Whether something on it moves by itself.
  bool is_lively(double now) const { return !notices_.empty() && now < notices_.back().until; }

  /// Where the middle of each control was in the last frame, by its label: for those who drive the window by program.
  const std::map<std::string, Vec2>& controls() const { return places_; }

 private:
  struct Notice {
    std::string text;
    double until;
  };
  void place(const std::string& label);
  bool button(const char* label, float width = 0, bool lit = false);
  bool check(const char* label, bool& value);
  bool slider(const char* label, float& value, float lower, float upper, const char* format, bool logarithmic = false);
  bool section(const char* title, bool open);

  void draw_scenes(const Session& session, Controls& controls, const PanelInfo& info);
  void draw_time(Controls& controls);
  void draw_tools(Controls& controls);
  void draw_trial(Controls& controls);
  void draw_body(Session& session, Controls& controls);
  static void draw_material(const SolidDef& solid);
  static void draw_material(const ClothDef& cloth);
  static void draw_material(const RopeDef& rope);
  static void draw_material(const JellyDef& jelly);
  void draw_world(Session& session);
  void draw_look(Controls& controls);
  void draw_numbers(const Session& session, const PanelInfo& info);
  void draw_pictures(Controls& controls, const PanelInfo& info);
  void draw_keys() const;
  void draw_status(const Session& session, const Controls& controls, const PanelInfo& info, const ScreenRect& picture);
  void draw_notices(const ScreenRect& picture, double now);
  void draw_error(const ScreenRect& picture);

  float scale_;
  std::map<std::string, Vec2> places_;
  std::vector<Notice> notices_;
  std::string last_notice_, error_title_, error_;
};

}  // namespace pliant
