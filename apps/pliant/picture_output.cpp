#include "picture_output.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "io/file.h"
#include "render/scene_renderer.h"
#include "render/video_writer.h"

#include "number_check.h"
#include "picture_size.h"

namespace pliant::app {
namespace {

namespace fs = std::filesystem;

constexpr double kVideoRate = 60, kGifRate = 20;  // a GIF counts in hundredths of a second: 20 comes out even

struct ColorName {
  const char* name;
  ColorBy by;
};
constexpr std::array<ColorName, kColorByCount> kColors = {{{"none", ColorBy::Material},
                                                           {"speed", ColorBy::Speed},
                                                           {"stress", ColorBy::Stress},
                                                           {"tension", ColorBy::Tension},
                                                           {"strain", ColorBy::Strain},
                                                           {"plastic", ColorBy::PlasticStrain}}};

std::vector<std::string> color_names() {
  std::vector<std::string> out;
  for (const ColorName& color : kColors) out.emplace_back(color.name);
  return out;
}

/// The names are checked when options are read.
ColorBy color_named(const std::string& name) {
  const auto found = std::find_if(kColors.begin(), kColors.end(), [&](const ColorName& c) { return c.name == name; });
  return found == kColors.end() ? ColorBy::Material : found->by;
}

bool has_solids(const Scene& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(),
                     [](const SceneBody& body) { return std::holds_alternative<SolidDef>(body.def); });
}

/// The name says the format, so another one would lie.
auto check_ending(std::string ending) {
  return [ending = std::move(ending)](const std::string& text) -> std::string {
    if (lower_ending(text) == ending) return {};
    return fmt::format("`{}` is not allowed; the name must end in {}", text, ending);
  };
}

/// Picks the frames of a video that runs at its own rate beside the simulation.
class Shutter {
 public:
  Shutter(double wanted_rate, double dt) : rate_(std::min(wanted_rate, 1 / dt)) {}
  double rate() const { return rate_; }
  /// Whether a picture is due at `time`; half a step early is nearer than half a step late.
  bool opens(double time, double dt) {
    if (time + 0.5 * dt * 0.999 < static_cast<double>(taken_) / rate_) return false;
    ++taken_;
    return true;
  }

 private:
  double rate_;
  long taken_ = 0;
};

struct Film {
  std::string what;
  VideoWriter writer;
  Shutter shutter;
};

}  // namespace

struct PictureOutput::Impl {
  PictureOptions options;
  double dt = 0;
  int image_frame = 0;
  std::optional<SceneRenderer> renderer;
  std::optional<AtomicFile> image;
  std::vector<Film> films;
  std::vector<std::string> notices;

  Status open_film(const char* what, const std::string& file, VideoSettings settings, double rate) {
    if (file.empty()) return {};
    const Shutter shutter(rate, dt);
    settings.frames_per_second = shutter.rate();
    Result<VideoWriter> writer = VideoWriter::create(file, settings);
    if (!writer) return writer.error();
    films.push_back({what, std::move(*writer), shutter});
    return {};
  }

  Status open(const Scene& scene) {
    dt = double{scene.world.dt};
    image_frame = options.image_frame.value_or(scene.frames);
    if (image_frame > scene.frames) {
      return Error{
          Error::Code::InvalidArgument,
          fmt::format("--image-frame {} is not allowed; the run has only {} frames", image_frame, scene.frames)};
    }
    const std::optional<PictureSize> size = parse_size(options.size);
    if (!size) return Error{Error::Code::InvalidArgument, "--size: " + check_size(options.size)};
    if (!options.image.empty()) {
      Result<AtomicFile> file = AtomicFile::create(options.image);
      if (!file) return file.error();
      image.emplace(std::move(*file));
    }
    VideoSettings settings{VideoSettings::Format::Mp4, size->width, size->height, kVideoRate};
    if (const Status s = open_film("video", options.video, settings, options.fps.value_or(kVideoRate)); !s.ok())
      return s;
    settings.format = VideoSettings::Format::Gif;
    if (const Status s = open_film("animation", options.gif, settings, kGifRate); !s.ok()) return s;

    PictureSettings look{size->width, size->height};
    look.color_by = color_named(options.color);
    if (tet_value(look.color_by) && !has_solids(scene)) {
      notices.push_back(
          fmt::format("--color {} shows nothing: only solids have such values, and the scene has none", options.color));
    }
    look.wireframe = options.wireframe;
    look.frame_automatically = options.camera == "auto";
    Result<SceneRenderer> made = SceneRenderer::create(scene, look);
    if (!made) return made.error();
    renderer.emplace(std::move(*made));
    return {};
  }

  Status add_frame(const ScenePlayer& player, int frame) {
    std::vector<Film*> due;
    for (Film& film : films) {
      if (film.shutter.opens(player.world().time(), dt)) due.push_back(&film);
    }
    const bool image_due = image && frame == image_frame;
    if (due.empty() && !image_due) return {};
    const Result<Image> picture = renderer->render(player);
    if (!picture) return picture.error();
    if (image_due) image->write(encode_png(*picture));
    for (Film* film : due) {
      if (const Status s = film->writer.add(*picture); !s.ok()) return s;
    }
    return {};
  }

  Status finish() {
    for (Film& film : films) {
      if (const Status s = film.writer.finish(); !s.ok()) return s;
    }
    return image ? image->commit() : Status();
  }
};

PictureOutput::PictureOutput(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PictureOutput::PictureOutput(PictureOutput&&) noexcept = default;
PictureOutput::~PictureOutput() = default;

Result<PictureOutput> PictureOutput::create(const PictureOptions& options, const Scene& scene) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (const Status s = impl->open(scene); !s.ok()) return s.error();
  return PictureOutput(std::move(impl));
}

Status PictureOutput::add_frame(const ScenePlayer& player, int frame) { return impl_->add_frame(player, frame); }
Status PictureOutput::finish() { return impl_->finish(); }

std::vector<std::pair<std::string, fs::path>> PictureOutput::paths() const {
  std::vector<std::pair<std::string, fs::path>> out;
  for (const Film& film : impl_->films) out.emplace_back(film.what, film.writer.path());
  if (impl_->image) out.emplace_back("picture", impl_->image->target());
  return out;
}

std::vector<std::string> PictureOutput::notices() const {
  std::vector<std::string> out = impl_->notices;
  for (const Film& film : impl_->films) {
    if (!film.writer.notice().empty()) out.push_back(film.writer.notice());
  }
  return out;
}

void add_picture_options(CLI::App& command, PictureOptions& options) {
  constexpr const char* kGroup = "Pictures";
  command.add_option("--video", options.video, "Write a video: FILE.mp4 (H.264)")
      ->check(check_ending(".mp4"))
      ->group(kGroup);
  command.add_option("--image", options.image, "Write a picture of the last frame: FILE.png")
      ->check(check_ending(".png"))
      ->group(kGroup);
  command.add_option("--image-frame", options.image_frame, "The frame that --image shows; 0 is the start")
      ->check(CLI::Range(0, 10'000'000))
      ->group(kGroup);
  command.add_option("--gif", options.gif, "Write an animation: FILE.gif, at most 640 pixels wide")
      ->check(check_ending(".gif"))
      ->group(kGroup);
  command.add_option("--size", options.size, "Of pictures, in pixels; 1280x720 if left out")
      ->check(check_size)
      ->group(kGroup);
  command.add_option("--fps", options.fps, "Pictures per second of the video; at most one per step, 60 if left out")
      ->check(number_between(1, 1000))
      ->group(kGroup);
  command
      .add_option("--color", options.color,
                  "What colours show: speed; of solids, stress (von Mises), tension (largest principal stress), strain "
                  "(elastic) or plastic (strain); none: the bodies' own")
      ->check(CLI::IsMember(color_names()))
      ->group(kGroup);
  command.add_option("--camera", options.camera, "scene: as the scene says; auto: frame what moves")
      ->check(CLI::IsMember({"scene", "auto"}))
      ->group(kGroup);
  command.add_flag("--wireframe", options.wireframe, "Draw the edges of all triangles")->group(kGroup);
}

}  // namespace pliant::app
