#include "render/video_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/file.h"
#include "render/child_process.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr int kMaxGifWidth = 640;

/// A file that is removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& beside) : path_(hidden_neighbour(beside)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A path as ffmpeg's argument: never taken for an option or a protocol.
std::string file_argument(const fs::path& path) { return "file:" + path.string(); }

Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Arguments ffmpeg_start(const fs::path& ffmpeg) {
  return {ffmpeg.string(), "-nostdin", "-hide_banner", "-loglevel", "error", "-y"};
}

Arguments raw_input(const VideoSettings& s) {
  return {"-f",
          "rawvideo",
          "-pixel_format",
          "rgb24",
          "-video_size",
          fmt::format("{}x{}", s.width, s.height),
          "-framerate",
          fmt::format("{:.6f}", s.frames_per_second),
          "-i",
          "pipe:0"};
}

Arguments mp4_output(const fs::path& file) {
  // 4:2:0 needs even sides; the colour tags say what the conversion did.
  return {"-vf",
          "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
          "-c:v",
          "libx264",
          "-preset",
          "medium",
          "-crf",
          "19",
          "-colorspace",
          "bt709",
          "-color_primaries",
          "bt709",
          "-color_trc",
          "bt709",
          "-color_range",
          "tv",
          "-movflags",
          "+faststart",
          "-f",
          "mp4",
          file_argument(file)};
}

/// The pictures of a GIF without loss: its palette is only known once all have been seen.
Arguments lossless_output(const VideoSettings& s, const fs::path& file) {
  return {"-vf",
          fmt::format("scale={}:-1:flags=area", std::min(s.width, kMaxGifWidth)),
          "-c:v",
          "libx264rgb",
          "-preset",
          "ultrafast",
          "-crf",
          "0",
          "-f",
          "matroska",
          file_argument(file)};
}

Status run(const Arguments& arguments) {
  Result<ChildProcess> child = ChildProcess::start(arguments);
  return child ? child->finish() : Status(child.error());
}

/// `out.mp4` -> `out_frames`.
fs::path folder_instead_of(const fs::path& target) {
  fs::path folder = target;
  folder.replace_extension();
  folder += "_frames";
  return folder;
}

}  // namespace

struct VideoWriter::Impl {
  VideoSettings settings;
  fs::path ffmpeg, path;
  std::string notice;
  std::size_t pictures = 0;
  // With ffmpeg …
  std::optional<AtomicFile> file;
  std::unique_ptr<TemporaryFile> lossless;
  std::optional<ChildProcess> encoder;
  // … and without.
  std::optional<AtomicFolder> folder;

  Status open(const fs::path& target) {
    ffmpeg = find_program("ffmpeg");
    return ffmpeg.empty() ? open_folder(target) : open_encoder(target);
  }

  Status open_folder(const fs::path& target) {
    path = folder_instead_of(target);
    notice = fmt::format(
        "`ffmpeg` is not installed (Debian: apt install ffmpeg); instead of {} the frames go to {}/ as PNG "
        "files",
        target.string(), path.string());
    Result<AtomicFolder> made = AtomicFolder::create(path);
    if (!made) return made.error();
    folder.emplace(std::move(*made));
    return {};
  }

  Status open_encoder(const fs::path& target) {
    path = target;
    Result<AtomicFile> made = AtomicFile::create(target);
    if (!made) return made.error();
    file.emplace(std::move(*made));
    Arguments output;
    if (settings.format == VideoSettings::Format::Gif) {
      lossless = std::make_unique<TemporaryFile>(target);
      output = lossless_output(settings, lossless->path());
    } else {
      output = mp4_output(file->path());
    }
    Result<ChildProcess> started = ChildProcess::start(ffmpeg_start(ffmpeg) + raw_input(settings) + output);
    if (!started) return started.error();
    encoder.emplace(std::move(*started));
    return {};
  }

  Status add_png(const Image& image) {
    Result<OutputFile> png = folder->create_file(fmt::format("frame_{:05}.png", pictures));
    if (!png) return png.error();
    png->write(encode_png(image));
    return folder->close_file(*png);
  }

  Status add_raw(const Image& image) {
    if (encoder->write(image.pixels.data(), image.pixels.size())) return {};
    const Status why = encoder->finish();
    return about_target(why.ok() ? Error{Error::Code::CannotWrite, "`ffmpeg` ended before the video did"}
                                 : why.error());
  }

  Error about_target(Error error) const {
    error.file = path.string();
    return error;
  }

  Status make_gif() {
    const TemporaryFile palette(path);
    const Arguments start = ffmpeg_start(ffmpeg), input = {"-i", file_argument(lossless->path())};
    const Arguments find_palette = {
        "-vf", "palettegen=stats_mode=full", "-frames:v", "1", "-c:v", "png", "-f", "image2", "-update",
        "1",   file_argument(palette.path())};
    if (const Status s = run(start + input + find_palette); !s.ok()) return s;
    const Arguments use_palette = {"-f",
                                   "image2",
                                   "-i",
                                   file_argument(palette.path()),
                                   "-lavfi",
                                   "[0][1]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle",
                                   "-f",
                                   "gif",
                                   file_argument(file->path())};
    return run(start + input + use_palette);
  }

  Status finish() {
    if (pictures == 0) return about_target({Error::Code::CannotWrite, "there are no pictures to make a video of"});
    if (folder) return folder->commit();
    Status status = encoder->finish();
    if (status.ok() && lossless) status = make_gif();
    lossless.reset();
    if (!status.ok()) return about_target(status.error());
    return file->commit();
  }
};

VideoWriter::VideoWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VideoWriter::VideoWriter(VideoWriter&&) noexcept = default;
VideoWriter::~VideoWriter() = default;

Result<VideoWriter> VideoWriter::create(const fs::path& target, const VideoSettings& settings) {
  auto impl = std::make_unique<Impl>();
  impl->settings = settings;
  if (const Status s = impl->open(target); !s.ok()) return s.error();
  return VideoWriter(std::move(impl));
}

Status VideoWriter::add(const Image& image) {
  if (image.width != impl_->settings.width || image.height != impl_->settings.height) {
    return Error{Error::Code::InvalidArgument,
                 fmt::format("a picture of {}x{} does not fit a video of {}x{}", image.width, image.height,
                             impl_->settings.width, impl_->settings.height)};
  }
  const Status status = impl_->folder ? impl_->add_png(image) : impl_->add_raw(image);
  if (status.ok()) ++impl_->pictures;
  return status;
}

Status VideoWriter::finish() { return impl_->finish(); }
const fs::path& VideoWriter::path() const { return impl_->path; }
const std::string& VideoWriter::notice() const { return impl_->notice; }

}  // namespace pliant
