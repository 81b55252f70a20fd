#include "view/view_log.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/file.h"

namespace pliant {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBodies = 200;  // named ones in a line
constexpr double kInterval = 0.05;        // s

Json json(Vec3 v) { return {v.x, v.y, v.z}; }
Json json(Vec2 v) { return {v.x, v.y}; }
Json place(const Screen& screen, Vec3 p) {
  const std::optional<Vec2> at = screen.place_of(p);
  return at ? json(*at) : Json();
}

Json bodies(const Session& session, const Screen& screen) {
  Json out = Json::object();
  for (const ScenePlayer::NamedBody& named : session.player().named_bodies()) {
    if (out.size() >= kMostBodies) break;
    const Result<BodyState> state =
        session.world().contains(named.body) ? session.world().state(named.body) : Result<BodyState>(Error{});
    if (!state) continue;
    out[named.name] = {{"position", json(state->center_of_mass)}, {"screen", place(screen, state->center_of_mass)}};
  }
  return out;
}

Json view(const View& view) { return {{"from", json(view.eye)}, {"look_at", json(view.target)}}; }

}  // namespace

Result<ViewLog> ViewLog::create(const std::filesystem::path& file) {
  ViewLog log;
  log.path_ = file;
  log.file_.reset(std::fopen(file.c_str(), "w"));
  if (!log.file_) return file_error(Error::Code::CannotWrite, file, std::strerror(errno));
  return log;
}

Status ViewLog::write(double now, const Session& session, const Controls& controls, const State& state) {
  next_ = now + kInterval;
  const StepReport& report = session.world().report();
  const Grab* grab = session.grabbed();
  Json line = {{"frame", state.frame},
               {"scene", session.name()},
               {"time", session.world().time()},
               {"step", report.step},
               {"playing", controls.playing},
               {"speed", controls.speed},
               {"rate", state.rate},
               {"frames_per_second", state.frames_per_second},
               {"quality", state.quality},
               {"window", {state.width, state.height}},
               {"minimised", state.minimised},
               {"recording", state.recording},
               {"camera", view(state.screen.view)},
               {"colors", kColoringNames[static_cast<std::size_t>(controls.coloring)]},
               {"gravity", json(session.gravity())},
               {"dt", session.dt()},
               {"body_count", session.world().bodies().size()},
               {"contacts", report.contacts},
               {"picked", body_title(session.world(), session.picked())},
               {"grabbed", grab != nullptr ? body_title(session.world(), grab->body()) : std::string()},
               {"notice", state.notice},
               {"error", state.error},
               {"bodies", bodies(session, state.screen)}};
  Json& controls_at = line["controls"] = Json::object();
  if (state.places != nullptr) {
    for (const auto& [label, at] : *state.places) controls_at[label] = json(at);
  }
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (written && std::fflush(file_.get()) == 0) return {};
  return file_error(Error::Code::CannotWrite, path_, std::strerror(errno));
}

}  // namespace pliant
