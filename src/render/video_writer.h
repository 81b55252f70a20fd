// Pictures in a row as a file: an MP4 or GIF that the command `ffmpeg` makes, or, without it, a folder of PNG files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "pliant/result.h"
#include "render/image.h"

namespace pliant {

struct VideoSettings {
  enum class Format { Mp4, Gif };
  Format format = Format::Mp4;
  int width = 1280, height = 720;  ///< of the pictures that will come
  double frames_per_second = 60;
};

/// Nothing appears under the target's name before `finish` succeeds; dropped earlier, it leaves nothing behind.
class VideoWriter {
 public:
  /// MP4: H.264, 4:2:0, playable in browsers while it loads. GIF: at most 640 wide, with a palette of its own.
  /// Where `ffmpeg` is not on the PATH, PNG files go to a folder instead: see `folder`.
  static Result<VideoWriter> create(const std::filesystem::path& target, const VideoSettings& settings);
  VideoWriter(VideoWriter&&) noexcept;
  ~VideoWriter();

  Status add(const Image& image);
  /// Errors: `ffmpeg` failed (with what it said), a full disk and the like, no pictures.
  Status finish();

  /// Where the result will be: the target, or the folder of PNG files.
  const std::filesystem::path& path() const;
  /// Why there is a folder instead of a video, for the user; empty if there is none.
  const std::string& notice() const;

 private:
  struct Impl;
  explicit VideoWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
