// What is recorded from the window: a video whose time is that of the simulation, divided by the speed it is watched
// at. Pauses, and waiting for a slow machine, are not in it.
#pragma once

#include <filesystem>
#include <string>

#include "pliant/result.h"
#include "render/video_writer.h"

namespace pliant {

class Film {
 public:
  static constexpr double kRate = 30;  ///< pictures per second

  static Result<Film> start(const std::filesystem::path& file, int width, int height);

  /// So much of the film's time has passed.
  void advance(double seconds) { time_ += seconds; }
  /// Whether a picture is due. The simulation should wait for it.
  bool wants_picture() const { return time_ >= static_cast<double>(pictures_) / kRate - 1e-9; }
  /// Adds the picture, as often as it is due: in slow motion the film is faster than the simulation.
  Status add(const Image& image);
  Status finish() { return writer_.finish(); }

  int width() const { return width_; }
  int height() const { return height_; }
  double seconds() const { return static_cast<double>(pictures_) / kRate; }
  const std::filesystem::path& path() const { return writer_.path(); }
  /// Why there are pictures instead of a video; else empty.
  const std::string& notice() const { return writer_.notice(); }

 private:
  Film(VideoWriter writer, int width, int height) : writer_(std::move(writer)), width_(width), height_(height) {}
  VideoWriter writer_;
  int width_, height_;
  double time_ = 0;
  long pictures_ = 0;
};

/// `folder/stem-1.png`, or the first number that is not taken.
std::filesystem::path free_file(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& ending);

}  // namespace pliant
