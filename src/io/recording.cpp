#include "pliant/recording.h"

#include <fmt/format.h>

#include "embed/render_surface.h"
#include "io/file.h"
#include "io/recording_sink.h"
#include "pliant/world.h"

namespace pliant {

struct Recorder::Impl {
  std::filesystem::path target;
  std::unique_ptr<RecordingSink> sink;
  SurfacePublisher publisher;
  std::size_t frames = 0;
  double last_time = 0;
  Status status;  ///< the first error

  Error misuse(std::string message) const {
    return file_error(Error::Code::InvalidArgument, target, std::move(message));
  }
};

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

Result<Recorder> Recorder::create(const std::filesystem::path& target) {
  const std::string ending = target.extension().string();
  const bool one_file = ending == ".glb" || ending == ".gltf";
  Result<std::unique_ptr<RecordingSink>> sink = one_file ? create_glb_sink(target) : create_vtu_sink(target);
  if (!sink) return sink.error();
  auto impl = std::make_unique<Impl>();
  impl->target = target;
  impl->sink = std::move(*sink);
  return Recorder(std::move(impl));
}

Status Recorder::add_frame(const World& world) {
  Impl& r = *impl_;
  if (!r.status.ok()) return r.status;
  const double time = world.time();
  if (r.frames > 0 && !(time > r.last_time)) {
    return r.misuse(fmt::format("a frame at {} s cannot follow one at {} s", time, r.last_time));
  }
  r.status = r.sink->add_frame(world, r.publisher.update(world));
  r.last_time = time;
  ++r.frames;
  return r.status;
}

Status Recorder::finish() {
  Impl& r = *impl_;
  if (!r.status.ok()) return r.status;
  if (r.frames == 0) return r.misuse("there is nothing to record: no frame was added");
  const Status status = r.sink->finish();
  r.status = status.ok() ? Status(r.misuse("the recording is finished")) : status;  // for every call that still comes
  return status;
}

}  // namespace pliant
