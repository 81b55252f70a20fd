// pliant run SCENE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/parallel.h"
#include "io/file.h"
#include "pliant/recording.h"
#include "pliant/scene.h"

#include "commands.h"
#include "gallery.h"
#include "interrupt.h"
#include "number_check.h"
#include "output.h"
#include "picture_output.h"
#include "progress.h"
#include "stats_writer.h"
#include "texture_output.h"
#include "timing_table.h"

namespace pliant::app {
namespace {

namespace fs = std::filesystem;

/// An empty name, as of a variable that was never set, is no wish to go without.
std::string check_not_empty(const std::string& typed) { return typed.empty() ? "the name is empty" : ""; }

struct RunOptions {
  std::string scene;
  std::optional<int> frames, threads;
  std::optional<float> dt;
  std::string record, stats, trace, textures;
  int texture_size = 256;
  std::string texture_format = "exr";
  std::vector<std::string> probes;
  PictureOptions pictures;
  bool quiet = false;
};

/// What a run writes. All of it is opened before the first step, so that a place that cannot be written is told at
/// once, and put into place after the last one; dropped without `finish`, it leaves nothing behind.
class Outputs {
 public:
  Status open(const RunOptions& options, const Scene& scene, ScenePlayer& player) {
    if (const Status s = check_paths(options, scene); !s.ok()) return s;
    if (!options.record.empty()) {
      Result<Recorder> recorder = Recorder::create(options.record);
      if (!recorder) return recorder.error();
      recorder_.emplace(std::move(*recorder));
      paths_.emplace_back("recording", options.record);
    }
    if (const Status s = open_stats(options, scene, player); !s.ok()) return s;
    if (!options.trace.empty()) {
      Result<AtomicFile> trace = AtomicFile::create(options.trace);
      if (!trace) return trace.error();
      trace_.emplace(std::move(*trace));
      player.world().record_trace(true);
      paths_.emplace_back("trace", options.trace);
    }
    if (options.pictures.any()) {
      Result<PictureOutput> pictures = PictureOutput::create(options.pictures, scene);
      if (!pictures) return pictures.error();
      pictures_.emplace(std::move(*pictures));
      for (const std::string& notice : pictures_->notices()) report_warning(notice);
      for (auto& path : pictures_->paths()) paths_.push_back(std::move(path));
      if (const Status s = pictures_->add_frame(player, 0); !s.ok()) return s;
    }
    if (!options.textures.empty()) {
      const TextureFormat format = options.texture_format == "png" ? TextureFormat::Png : TextureFormat::Exr;
      Result<TextureOutput> textures = TextureOutput::create(options.textures, options.texture_size, format, player);
      if (!textures) return textures.error();
      textures_.emplace(std::move(*textures));
      paths_.emplace_back("textures", options.textures);
      if (const Status s = textures_->add_frame(player, 0); !s.ok()) return s;
    }
    return recorder_ ? recorder_->add_frame(player.world()) : Status();
  }

  Status add_frame(const ScenePlayer& player, int frame) {
    if (pictures_) {
      if (const Status s = pictures_->add_frame(player, frame); !s.ok()) return s;
    }
    if (textures_) {
      if (const Status s = textures_->add_frame(player, frame); !s.ok()) return s;
    }
    if (stats_) stats_->add_frame(player);
    if (stats_ && !stats_->status().ok()) return stats_->status();
    return recorder_ ? recorder_->add_frame(player.world()) : Status();
  }

  Status finish(const World& world) {
    if (trace_) trace_->write(world.trace_json());
    if (pictures_) {
      if (const Status s = pictures_->finish(); !s.ok()) return s;
    }
    if (recorder_) {
      if (const Status s = recorder_->finish(); !s.ok()) return s;
    }
    if (textures_) {
      if (const Status s = textures_->finish(); !s.ok()) return s;
    }
    if (stats_) {
      if (const Status s = stats_->finish(); !s.ok()) return s;
    }
    return trace_ ? trace_->commit() : Status();
  }

  /// One line per output: what it is, where it lies, how large it is.
  std::string summary() const {
    std::string text;
    for (const auto& [what, path] : paths_) {
      std::error_code error;
      std::uintmax_t bytes = 0;
      std::size_t files = 0;
      if (fs::is_directory(path, error)) {
        for (const auto& entry : fs::directory_iterator(path, error)) bytes += entry.file_size(error), ++files;
      } else {
        bytes = fs::file_size(path, error);
      }
      text += fmt::format("{}: {} ({}{})\n", what, path.string(), files > 0 ? count_of(files, "file") + ", " : "",
                          size_text(bytes));
    }
    return text;
  }
  bool empty() const { return paths_.empty(); }

 private:
  /// Outputs must not overwrite each other, nor the scene they come from.
  static Status check_paths(const RunOptions& options, const Scene& scene) {
    std::set<fs::path> taken;
    std::error_code error;
    const auto one_name = [&](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
    for (const std::string& file : scene.files) taken.insert(one_name(file));
    for (const std::string* path : {&options.record, &options.stats, &options.trace, &options.textures,
                                    &options.pictures.video, &options.pictures.image, &options.pictures.gif}) {
      if (path->empty() || taken.insert(one_name(*path)).second) continue;
      return file_error(Error::Code::CannotWrite, *path, "this is the scene itself or another output of this run");
    }
    return {};
  }

  Status open_stats(const RunOptions& options, const Scene& scene, const ScenePlayer& player) {
    std::vector<Probe> probes;
    for (const std::string& text : options.probes) {
      const Result<Probe> probe = parse_probe(text, player);
      if (!probe) return probe.error();
      probes.push_back(*probe);
    }
    if (options.stats.empty()) return {};
    const StatsWriter::Header header{scene.files.front(), scene.title, Workers(scene.world.threads).threads(),
                                     double{scene.world.dt}};
    Result<StatsWriter> stats = StatsWriter::create(options.stats, header, std::move(probes));
    if (!stats) return stats.error();
    stats_.emplace(std::move(*stats));
    paths_.emplace_back("statistics", options.stats);
    return {};
  }

  std::optional<Recorder> recorder_;
  std::optional<StatsWriter> stats_;
  std::optional<AtomicFile> trace_;
  std::optional<PictureOutput> pictures_;
  std::optional<TextureOutput> textures_;
  std::vector<std::pair<std::string, fs::path>> paths_;
};

/// Things that went wrong within a step without ending it. Each is told, up to a number.
class Complaints {
 public:
  void note(const World& world, Progress& progress) {
    for (const Error& error : world.report().errors) tell(world, progress, error.to_string());
    for (const Quarantine& q : world.events().quarantines) {
      const std::string_view given = world.name(q.body);
      const std::string name = given.empty() ? fmt::format("{} (generation {})", q.body.index, q.body.generation)
                                             : fmt::format("'{}'", given);
      tell(world, progress, fmt::format("body {} was put in quarantine: {}", name, q.reason));
    }
  }
  int count() const { return count_; }

 private:
  void tell(const World& world, Progress& progress, const std::string& what) {
    constexpr int kMost = 10;
    if (++count_ > kMost) return;
    progress.clear();
    report_warning(fmt::format("frame {}: {}", world.report().step, what));
    if (count_ == kMost) report_warning("further warnings of this run are not shown");
  }
  int count_ = 0;
};

int end_interrupted(int frame, const Outputs& outputs) {
  fmt::print(stderr, "interrupted after frame {}{}\n", frame, outputs.empty() ? "" : kNothingWritten);
  return kExitInterrupted;
}

int simulate(const RunOptions& options, const Scene& scene, ScenePlayer& player, Outputs& outputs) {
  if (!options.quiet) {
    const std::string title = scene.title.empty() ? options.scene : scene.title;
    fmt::print("{}: {}, {} of {:.4g} ms\n", title, count_of(scene.bodies.size(), "body", "bodies"),
               count_of(static_cast<std::size_t>(scene.frames), "frame"), 1e3 * double{scene.world.dt});
    std::fflush(stdout);
  }
  TimingTable timings;
  Complaints complaints;
  Progress progress(scene.frames, scene.world.dt, options.quiet);
  for (int frame = 1; frame <= scene.frames; ++frame) {
    if (interrupted()) return progress.clear(), end_interrupted(frame - 1, outputs);
    timings.add(player.step().times);
    complaints.note(player.world(), progress);
    if (const Status s = outputs.add_frame(player, frame); !s.ok())
      return progress.clear(), report_error(s.error()), kExitError;
    progress.frame_done(frame);
  }
  const double seconds = progress.elapsed_seconds();
  progress.clear();
  if (interrupted()) return end_interrupted(scene.frames, outputs);
  if (const Status s = outputs.finish(player.world()); !s.ok()) return report_error(s.error()), kExitError;
  if (options.quiet) return kExitOk;

  const double simulated = player.world().time();
  fmt::print("\n{}\n{:.2f} s simulated in {:.2f} s ({:.1f}x real time), state hash {:016x}\n", timings.to_string(),
             simulated, seconds, simulated / std::max(seconds, 1e-9), player.world().report().hash);
  fmt::print("{}", outputs.empty() ? "no output was asked for (--video, --image, --record, --stats, --trace)\n"
                                   : outputs.summary());
  return kExitOk;
}

int run(const RunOptions& options) {
  const Result<fs::path> file = find_scene(options.scene);
  if (!file) return report_error(file.error()), kExitError;
  end_at_interrupts();
  SceneErrors errors;
  Result<Scene> scene = load_scene(*file, &errors);
  if (!scene) return report_errors(errors), kExitError;
  scene->frames = options.frames.value_or(scene->frames);
  scene->world.dt = options.dt.value_or(scene->world.dt);
  scene->world.threads = options.threads.value_or(scene->world.threads);

  Result<ScenePlayer> player = ScenePlayer::create(*scene);
  if (!player) return report_error(player.error()), kExitError;
  watch_for_interrupts();
  Outputs outputs;
  if (const Status s = outputs.open(options, *scene, *player); !s.ok()) return report_error(s.error()), kExitError;
  return simulate(options, *scene, *player, outputs);
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene");
  command->add_option("scene", options->scene, "A scene file, or the name of a scene of the gallery")->required();
  command->add_option("--frames", options->frames, "Steps to make; the scene's own number if left out")
      ->check(CLI::Range(1, 10'000'000));
  command->add_option("--dt", options->dt, "Seconds per step; the scene's own if left out")
      ->check(number_between(1e-6f, 1, "seconds"));
  command->add_option("--threads", options->threads, "Threads; as many as the machine has if left out")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--record", options->record,
                   "Record: FILE.glb (animated glTF), or a folder for a VTU series with run.pvd")
      ->check(check_not_empty);
  command
      ->add_option("--textures", options->textures,
                   "Write the layered bodies' places, normals and contacts as textures to this folder")
      ->check(check_not_empty);
  command->add_option("--texture-size", options->texture_size, "Texels along a side of them; 256 if left out")
      ->check(CLI::Range(8, 4096));
  command
      ->add_option("--texture-format", options->texture_format,
                   "`exr`: numbers as they are; `png`: 16 bits a channel, with ranges.csv; exr if left out")
      ->check(CLI::IsMember({"exr", "png"}));
  command->add_option("--stats", options->stats, "Write numbers of every frame to this JSON file")
      ->check(check_not_empty);
  command->add_option("--trace", options->trace, "Write the time of every stage to this file, in Chrome's trace format")
      ->check(check_not_empty);
  command
      ->add_option("--probe", options->probes,
                   "BODY or BODY:NODE: its position and velocity in the statistics; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_picture_options(*command, options->pictures);
  command->add_flag("--quiet", options->quiet, "Say nothing unless something is wrong");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace pliant::app
