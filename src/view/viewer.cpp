#include "view/viewer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "base/clock.h"
#include "io/file.h"

#include "view/controls.h"
#include "view/film.h"
#include "view/gui.h"
#include "view/hand.h"
#include "view/orbit_camera.h"
#include "view/pacer.h"
#include "view/painter.h"
#include "view/panel.h"
#include "view/view_log.h"
#include "view/window.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr double kFrame = 1.0 / 60, kIdleFrame = 1.0 / 20;  // s
constexpr double kBlastShown = 0.5;                         // s

double seconds_now() { return 1e-9 * static_cast<double>(now_ns()); }

/// The height of endless level ground; far down where there is none.
float floor_of(std::span<const RenderSurface> surfaces) {
  for (const RenderSurface& s : surfaces) {
    if (!s.endless || s.mesh->normals.empty()) continue;
    if (s.world_from_body.rotation.rotate(s.mesh->normals.front()).y > 0.999f) return s.vertex(0).y;
  }
  return -std::numeric_limits<float>::infinity();
}

/// The trace of an explosion, seen for a moment.
struct Flash {
  Explosion explosion;
  double begin;
};

class Viewer {
 public:
  explicit Viewer(const ViewerOptions& options) : options_(options) {}

  Status open(SceneErrors& errors);
  Status run();

 private:
  // --- One frame, in this order --------------------------------------------------------------------------------------
  void take_input();
  void do_what_was_asked();
  void advance_time();
  void aim_camera();
  Status draw();
  Status write_log();

  void act(Action action);
  void choose_scene(const ViewerScene& scene);
  void try_material();
  Result<std::unique_ptr<Session>> preview(SceneErrors* errors) const;
  void show_instead(Result<std::unique_ptr<Session>> session, const std::string& name, const SceneErrors& errors);
  void adopt(std::unique_ptr<Session> session);
  void reset_view();
  void step_once();
  void tell_complaints();
  void explode_at(const Ray& ray);
  void save_picture();
  void start_or_stop_film();
  void stop_film();
  Status add_to_film(const Overlay& overlay);

  ScreenRect room() const;
  ScreenRect picture_rect() const;
  PixelSize pixel_size(const ScreenRect& rect) const;
  Overlay make_overlay();
  void draw_strokes_in_window(const Overlay& overlay) const;
  void draw_panel(const Overlay& overlay);
  bool picture_is_stale();
  bool is_idle() const;
  double now() const { return seconds_now() - start_; }

  const ViewerOptions& options_;
  // Those below need those above until they are gone.
  std::unique_ptr<Window> window_;
  std::unique_ptr<Gui> gui_;
  std::optional<Painter> painter_;
  std::optional<Panel> panel_;
  std::optional<ViewLog> log_;
  std::optional<Film> film_;
  std::unique_ptr<Session> session_;

  Controls controls_;
  Hand hand_;
  OrbitCamera camera_;
  CameraMan camera_man_;
  bool scene_holds_camera_ = true;
  Screen screen_;
  Pacer pacer_;
  std::vector<Flash> flashes_;
  double start_ = seconds_now();
  double frame_began_ = 0, frame_seconds_ = kFrame;
  long frames_ = 0;
  std::string last_complaint_;

  /// What the last picture showed; another is drawn when it differs.
  struct Shown {
    View view;
    Coloring coloring = Coloring::Material;
    bool wireframe = false, grid = false;
    QualityChooser::Mode quality = QualityChooser::Mode::Automatic;
  } shown_;
};

Status Viewer::open(SceneErrors& errors) {
  if (!options_.material.empty()) {
    const Result<SolidMaterial> material = material::by_name(options_.material);
    if (!material) return material.error();
    controls_.trial.material = *material;
  }
  Result<std::unique_ptr<Session>> session =
      options_.material.empty() ? Session::load(options_.scene, options_.threads, &errors) : preview(&errors);
  if (!session) return session.error();
  std::error_code error;
  if (!fs::is_directory(options_.output, error)) {
    return file_error(Error::Code::CannotWrite, options_.output, "there is no such folder for pictures and videos");
  }
  if (!options_.log.empty()) {
    Result<ViewLog> log = ViewLog::create(options_.log);
    if (!log) return log.error();
    log_.emplace(std::move(*log));
  }
  Result<std::unique_ptr<Window>> window = Window::open("pliant", options_.width, options_.height);
  if (!window) return window.error();
  window_ = std::move(*window);
  Result<std::unique_ptr<Gui>> gui = Gui::create(*window_);
  if (!gui) return gui.error();
  gui_ = std::move(*gui);
  Result<Painter> painter = Painter::create();
  if (!painter) return painter.error();
  painter_.emplace(std::move(*painter));
  panel_.emplace(gui_->scale());
  controls_.playing = !options_.paused;
  if (options_.quality == "full") controls_.quality = QualityChooser::Mode::Full;
  if (options_.quality == "light") controls_.quality = QualityChooser::Mode::Light;
  adopt(std::move(*session));
  return {};
}

Status Viewer::run() {
  while (!window_->should_close() && !(options_.stop && options_.stop())) {
    const double began = now();
    const double spare = (is_idle() || window_->minimised() ? kIdleFrame : kFrame) - (began - frame_began_);
    window_->wait(std::max(spare, 0.0));
    const double begins = now();
    frame_seconds_ += 0.1 * (begins - frame_began_ - frame_seconds_);
    frame_began_ = begins;
    take_input();
    do_what_was_asked();
    advance_time();
    if (!window_->minimised()) {
      if (const Status s = draw(); !s.ok()) return s;
    }
    if (const Status s = write_log(); !s.ok()) return s;
    ++frames_;
  }
  stop_film();
  return {};
}

void Viewer::take_input() {
  const ImGuiIO& io = ImGui::GetIO();
  const bool popup = frames_ > 0 && ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
  const bool covered = popup || panel_->error_is_shown();
  for (const InputEvent& event : window_->take_events()) {
    hand_.handle(event, covered, io.WantTextInput, screen_, *session_, controls_, camera_);
  }
  if (hand_.take_camera_moved()) scene_holds_camera_ = false;
}

void Viewer::do_what_was_asked() {
  for (const Action action : std::exchange(controls_.actions, {})) act(action);
  if (const std::optional<std::size_t> chosen = std::exchange(controls_.chosen_scene, std::nullopt)) {
    if (*chosen < options_.gallery.size()) choose_scene(options_.gallery[*chosen]);
  }
  pacer_.set_speed(double{controls_.speed});
  if (controls_.playing) return;
  session_->world().commit_edits();  // so that what was thrown is seen
}

void Viewer::act(Action action) {
  switch (action) {
    case Action::TogglePlay:
      controls_.playing = !controls_.playing;
      return pacer_.restart(now());
    case Action::Step:
      controls_.playing = false;
      return step_once();
    case Action::Restart:
      session_->restart();
      painter_->touch();
      flashes_.clear();
      if (scene_holds_camera_) reset_view();
      return pacer_.restart(now());
    case Action::ThrowBall:
      painter_->touch();
      return session_->throw_ball(hand_.ray(screen_), controls_.ball);
    case Action::Explode:
      return explode_at(hand_.ray(screen_));
    case Action::Screenshot:
      return save_picture();
    case Action::ToggleRecord:
      return start_or_stop_film();
    case Action::ResetView:
      return reset_view();
    case Action::TogglePanel:
      controls_.panel = !controls_.panel;
      return;
    case Action::Release:
      if (const BodyId body = session_->picked(); !body.is_null()) session_->world().release_from_quarantine(body);
      return;
    case Action::TryMaterial:
      return try_material();
  }
}

void Viewer::choose_scene(const ViewerScene& scene) {
  SceneErrors errors;
  show_instead(Session::load(scene.file, options_.threads, &errors), scene.name, errors);
}

Result<std::unique_ptr<Session>> Viewer::preview(SceneErrors* errors) const {
  Result<Scene> scene = material_preview(controls_.trial);
  if (!scene) return scene.error();
  return Session::create(std::move(*scene), "material-" + controls_.trial.material.name, options_.threads, errors);
}

void Viewer::try_material() {
  SceneErrors errors;
  show_instead(preview(&errors), "of this material", errors);
}

/// A scene that cannot be loaded is told in the window, and the one that is there stays.
void Viewer::show_instead(Result<std::unique_ptr<Session>> session, const std::string& name,
                          const SceneErrors& errors) {
  if (!session) {
    const std::string text = errors.empty() ? session.error().to_string() : errors.to_string();
    return panel_->show_error(fmt::format("The scene {} cannot be shown", name), text);
  }
  stop_film();
  adopt(std::move(*session));
}

void Viewer::adopt(std::unique_ptr<Session> session) {
  session_ = std::move(session);
  const std::string& title = session_->scene().title;
  window_->set_title("pliant: " + (title.empty() ? session_->name() : title));
  flashes_.clear();
  painter_->touch();
  screen_.rect = picture_rect();
  reset_view();
  camera_.set_floor(floor_of(session_->look().surfaces()));
  fit_tools(controls_, camera_.view().distance());
  pacer_.restart(now());
}

void Viewer::reset_view() {
  camera_man_ = CameraMan(session_->scene().camera, screen_.rect.aspect());
  scene_holds_camera_ = true;
  aim_camera();
}

void Viewer::aim_camera() {
  if (scene_holds_camera_) {
    camera_.set(camera_man_.at(session_->world().time(), session_->look().surfaces()));
  }
  screen_ = {camera_.view(), picture_rect()};
}

void Viewer::step_once() {
  session_->step();
  painter_->touch();
  tell_complaints();
  if (film_) film_->advance(double{session_->dt()} / double{controls_.speed});
}

void Viewer::advance_time() {
  // Pictures and steps share the time evenly where there is not enough for both.
  pacer_.begin_frame(now(), std::max(0.75 * kFrame, painter_->seconds()));
  if (!controls_.playing) return pacer_.restart(now());
  hand_.follow(screen_, *session_);
  const double dt = double{session_->dt()};
  while (pacer_.step_is_due(now(), dt)) {
    step_once();
    pacer_.stepped(dt);
    if (film_ && film_->wants_picture()) break;
  }
}

void Viewer::tell_complaints() {
  const World& world = session_->world();
  const auto tell = [&](const std::string& what) {
    if (what == last_complaint_) return;
    last_complaint_ = what;
    panel_->notify(what, ImGui::GetTime());
  };
  for (const Error& error : world.report().errors) tell(error.to_string());
  for (const Quarantine& q : world.events().quarantines) {
    tell(fmt::format("{} was put in quarantine: {}", body_title(world, q.body), q.reason));
  }
}

void Viewer::explode_at(const Ray& ray) {
  Explosion explosion = controls_.blast;
  const std::optional<RayHit> hit = session_->hit(ray);
  // On the surface a hair above it, so that it throws things up; in the sky as far off as what is looked at.
  explosion.center =
      hit ? hit->position + 0.02f * explosion.radius * hit->normal : ray.from + screen_.view.distance() * ray.direction;
  if (const Status s = session_->explode(explosion); !s.ok()) {
    return panel_->notify(s.error().to_string(), ImGui::GetTime());
  }
  flashes_.push_back({explosion, now()});
}

ScreenRect Viewer::room() const {
  const auto width = static_cast<float>(window_->width()), height = static_cast<float>(window_->height());
  return {0, 0, std::max(width - panel_->width(controls_, width), 1.0f), std::max(height, 1.0f)};
}

/// While a film is made its pictures keep their size, whatever becomes of the window.
ScreenRect Viewer::picture_rect() const {
  if (!film_) return room();
  return fitted(room(), static_cast<float>(film_->width()) / static_cast<float>(film_->height()));
}

PixelSize Viewer::pixel_size(const ScreenRect& rect) const {
  const float ratio = static_cast<float>(window_->pixel_width()) / static_cast<float>(std::max(window_->width(), 1));
  return {static_cast<int>(std::lround(rect.width * ratio)), static_cast<int>(std::lround(rect.height * ratio))};
}

Overlay Viewer::make_overlay() {
  Overlay overlay(screen_);
  if (controls_.bounds) overlay.bounds(session_->world());
  if (controls_.contacts) overlay.contacts(session_->world().events().contacts, 0.07f * screen_.view.distance());
  if (controls_.cracks) {
    for (const RecentCrack& recent : session_->cracks()) {
      const double age = session_->world().time() - recent.time;
      overlay.crack(recent.crack, static_cast<float>(1 - age / Session::kCracksShown));
    }
  }
  if (controls_.tool == Tool::Paint) overlay.strength(session_->world());
  if (const Grab* grab = session_->grabbed()) {
    session_->look();
    if (const std::optional<Vec3> held = session_->grabbed_position()) overlay.spring(*held, grab->target());
  }
  std::erase_if(flashes_, [&](const Flash& f) { return now() - f.begin > kBlastShown; });
  for (const Flash& flash : flashes_) {
    const auto share = static_cast<float>((now() - flash.begin) / kBlastShown);
    overlay.ring(flash.explosion.center, share * flash.explosion.radius, {1, 0.75f, 0.3f}, 1 - share, 4);
  }
  return overlay;
}

void Viewer::draw_strokes_in_window(const Overlay& overlay) const {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ScreenRect& r = screen_.rect;
  list.PushClipRect({r.x, r.y}, {r.x + r.width, r.y + r.height});
  for (const Stroke& s : overlay.strokes()) {
    const ImU32 color = ImGui::ColorConvertFloat4ToU32({s.color.x, s.color.y, s.color.z, s.opacity});
    list.AddLine({s.a.x, s.a.y}, {s.b.x, s.b.y}, color, s.width * gui_->scale());
  }
  list.PopClipRect();
}

void Viewer::draw_panel(const Overlay& overlay) {
  gui_->begin_frame();
  draw_strokes_in_window(overlay);
  if (color_by(controls_.coloring) != ColorBy::Material) {
    panel_->draw_legend(session_->content().scale(), screen_.rect);
  }
  PanelInfo info;
  info.gallery = options_.gallery;
  info.rate = pacer_.rate();
  info.frames_per_second = 1 / std::max(frame_seconds_, 1e-3);
  info.quality = painter_->quality();
  info.recording = film_.has_value();
  info.film_seconds = film_ ? film_->seconds() : 0;
  info.driver = painter_->driver();
  panel_->draw(*session_, controls_, info, screen_.rect);
}

bool Viewer::picture_is_stale() {
  const Shown now{screen_.view, controls_.coloring, controls_.wireframe, controls_.grid, controls_.quality};
  const auto key = [](const Shown& s) {
    return std::tuple(s.view.eye.x, s.view.eye.y, s.view.eye.z, s.view.target.x, s.view.target.y, s.view.target.z,
                      s.coloring, s.wireframe, s.grid, s.quality);
  };
  if (key(now) == key(shown_)) return false;
  shown_ = now;
  return true;
}

Status Viewer::draw() {
  aim_camera();
  hand_.follow(screen_, *session_);
  if (picture_is_stale()) painter_->touch();
  const bool filming = film_ && film_->wants_picture();
  if (filming) painter_->touch();
  const PixelSize size = film_ ? PixelSize{film_->width(), film_->height()} : pixel_size(screen_.rect);
  if (const Status s = painter_->draw(*session_, controls_, screen_.view, size, film_.has_value(), now()); !s.ok()) {
    return s;
  }
  const Overlay overlay = make_overlay();
  if (filming) {
    if (const Status s = add_to_film(overlay); !s.ok()) {
      film_.reset();
      panel_->show_error("The recording ended", s.error().to_string());
    }
  }
  draw_panel(overlay);
  const PixelSize shown = pixel_size(screen_.rect);
  const float ratio = static_cast<float>(shown.width) / screen_.rect.width;
  const int left = static_cast<int>(std::lround(screen_.rect.x * ratio));
  const int below = window_->pixel_height() - static_cast<int>(std::lround(screen_.rect.y * ratio)) - shown.height;
  painter_->clear_window();
  painter_->show(left, below, shown.width, shown.height);
  gui_->draw();
  window_->swap();
  return {};
}

void Viewer::save_picture() {
  const PixelSize size = pixel_size(screen_.rect);
  if (!size.is_drawable()) return panel_->notify("the window is too small for a picture", ImGui::GetTime());
  const fs::path file = free_file(options_.output, session_->name(), ".png");
  const Overlay overlay = make_overlay();
  const Result<Image> image = painter_->portrait(*session_, controls_, screen_.view, size, overlay, screen_.rect);
  const Status saved = image ? write_png(*image, file) : Status(image.error());
  if (!saved.ok()) return panel_->show_error("The picture was not saved", saved.error().to_string());
  panel_->notify("saved " + file.string(), ImGui::GetTime());
}

void Viewer::start_or_stop_film() {
  if (film_) return stop_film();
  const PixelSize size = pixel_size(screen_.rect);
  if (!size.is_drawable()) return panel_->notify("the window is too small for a video", ImGui::GetTime());
  Result<Film> film = Film::start(free_file(options_.output, session_->name(), ".mp4"), size.width, size.height);
  if (!film) return panel_->show_error("Nothing can be recorded", film.error().to_string());
  film_.emplace(std::move(*film));
  if (!film_->notice().empty()) panel_->notify(film_->notice(), ImGui::GetTime());
}

void Viewer::stop_film() {
  if (!film_) return;
  const Status done = film_->finish();
  const fs::path file = film_->path();
  film_.reset();
  painter_->touch();
  if (!done.ok()) return panel_->show_error("The recording was not saved", done.error().to_string());
  panel_->notify("saved " + file.string(), ImGui::GetTime());
}

Status Viewer::add_to_film(const Overlay& overlay) {
  return film_->add(painter_->picture(*session_, controls_, overlay, screen_.rect));
}

bool Viewer::is_idle() const {
  return !controls_.playing && !hand_.is_busy() && flashes_.empty() && !panel_->is_lively(ImGui::GetTime());
}

Status Viewer::write_log() {
  if (!log_ || !log_->is_due(now())) return {};
  ViewLog::State state;
  state.frame = frames_;
  state.width = window_->width(), state.height = window_->height();
  state.minimised = window_->minimised();
  state.recording = film_.has_value();
  state.rate = pacer_.rate();
  state.frames_per_second = 1 / std::max(frame_seconds_, 1e-3);
  state.quality = painter_->quality();
  state.notice = panel_->last_notice();
  state.error = panel_->error();
  state.screen = screen_;
  state.places = &panel_->controls();
  return log_->write(now(), *session_, controls_, state);
}

}  // namespace

Status run_viewer(const ViewerOptions& options, SceneErrors& errors) {
  Viewer viewer(options);
  if (const Status s = viewer.open(errors); !s.ok()) return s;
  return viewer.run();
}

}  // namespace pliant
