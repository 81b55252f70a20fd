// Recordings of a run, for other programs: Blender, ParaView, game engines, browsers.
//
//   Result<Recorder> recorder = Recorder::create("run.glb");
//   recorder->add_frame(world);                                              // the start
//   for (…) { world.step(); recorder->add_frame(world); }
//   Status status = recorder->finish();
//
// The name chooses the format:
//
//   NAME.glb, NAME.gltf   one animated glTF 2.0 file: a node per body, meshes shared between equal shapes
//   any other name        a folder: one VTU file per frame with all that moves, one with all that does not, and
//                         `run.pvd`, which ParaView opens; arrays `body` per cell, `velocity` and `speed` per point.
//                         Solids are their tets; what they show instead, splinters or a model, is in one more file per
//                         frame (`look_*.vtu`, part 2), with `color` per point
//
// Nothing appears under the name before `finish` succeeds; until then, and if it is never called, an earlier recording
// stays as it was.
#pragma once

#include <filesystem>
#include <memory>

#include "pliant/result.h"

namespace pliant {

class World;

class Recorder {
 public:
  /// Errors: the place cannot be written, or is a folder with files in it that no recorder wrote.
  static Result<Recorder> create(const std::filesystem::path& target);

  Recorder(Recorder&&) noexcept;
  ~Recorder();

  /// The world as it is now, at `world.time()`, which must be later than the frame before. Bodies may come and go.
  /// The first error is kept and told again by `finish`.
  Status add_frame(const World& world);
  /// Writes what is left and puts the recording into place. Errors: a full disk and the like; no frames.
  Status finish();

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
