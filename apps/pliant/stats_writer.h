// `--stats FILE`: a run in numbers, frame by frame, as JSON. The names are stable: scripts rely on them.
//
//   {"scene", "title", "threads", "dt", "frames": [{"frame", "time", "time_ms": {"total", stage …}, "bodies",
//    "awake_bodies", "nodes", "tets", "rows", "contacts", "islands", "fractures", "cg_iterations", "kinetic_energy",
//    "potential_energy", "elastic_energy", "linear_momentum", "angular_momentum", "max_penetration", "max_stretch",
//    "quarantined", "hash", "named_bodies": {name: {"position", "rotation", "linear_velocity", "angular_velocity",
//    "bounds": {"lower", "upper"}, "pieces", "held_forces": {part: force}}}, "probes": {"BODY:NODE": {"position",
//    "velocity"}}}]}
//
// Written as the run goes on, so a long run takes no memory; the file appears when `finish` succeeds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/file.h"
#include "pliant/scene.h"

#include "probe.h"

namespace pliant::app {

class StatsWriter {
 public:
  struct Header {
    std::string scene, title;
    int threads = 0;
    double dt = 0;
  };
  static Result<StatsWriter> create(const std::filesystem::path& target, const Header& header,
                                    std::vector<Probe> probes);

  void add_frame(const ScenePlayer& player);
  /// A full disk and the like, as soon as it is known.
  const Status& status() const { return file_.status(); }
  Status finish();

 private:
  StatsWriter(AtomicFile file, std::vector<Probe> probes) : file_(std::move(file)), probes_(std::move(probes)) {}
  void add_report(const StepReport& report);
  void add_bodies(const ScenePlayer& player);
  void add_held(const World& world, BodyId body);
  void add_anchors(const ScenePlayer& player);
  void add_probes(const World& world);

  AtomicFile file_;
  std::vector<Probe> probes_;
  std::string text_;  ///< the frame being written
  bool first_ = true;
};

}  // namespace pliant::app
