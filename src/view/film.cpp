#include "view/film.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

namespace pliant {

namespace fs = std::filesystem;

Result<Film> Film::start(const fs::path& file, int width, int height) {
  Result<VideoWriter> writer = VideoWriter::create(file, {VideoSettings::Format::Mp4, width, height, kRate});
  if (!writer) return writer.error();
  return Film(std::move(*writer), width, height);
}

Status Film::add(const Image& image) {
  while (wants_picture()) {
    if (const Status s = writer_.add(image); !s.ok()) return s;
    ++pictures_;
  }
  return {};
}

fs::path free_file(const fs::path& folder, const std::string& stem, const std::string& ending) {
  for (int i = 1;; ++i) {
    const fs::path file = folder / fmt::format("{}-{}{}", stem, i, ending);
    std::error_code error;
    // Without ffmpeg a video is a folder of pictures: its name must be free too.
    const fs::path frames = folder / fmt::format("{}-{}_frames", stem, i);
    if (!fs::exists(file, error) && !fs::exists(frames, error)) return file;
  }
}

}  // namespace pliant
