// `--log FILE.jsonl`: the window's state in lines of JSON, for those who test or drive it by program. The names are
// stable; docs/viewer.md lists them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "pliant/result.h"

#include "view/controls.h"
#include "view/screen.h"
#include "view/session.h"

namespace pliant {

class ViewLog {
 public:
  /// What a line tells beside the session and the controls.
  struct State {
    long frame = 0;
    int width = 0, height = 0;
    bool minimised = false, recording = false;
    double rate = 0, frames_per_second = 0;
    std::string quality, notice, error;
    Screen screen;
    const std::map<std::string, Vec2>* places = nullptr;
  };

  static Result<ViewLog> create(const std::filesystem::path& file);
  /// Whether a line is due; they come 20 times a second.
  bool is_due(double now) const { return now >= next_; }
  /// Errors: a full disk and the like. Lines can be read as soon as they are written.
  Status write(double now, const Session& session, const Controls& controls, const State& state);

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::filesystem::path path_;
  double next_ = 0;
};

}  // namespace pliant
