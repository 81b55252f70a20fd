// A recording under way: takes the surfaces of one frame after the other and becomes a file or a folder at the end.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "embed/render_surface.h"
#include "pliant/result.h"

namespace pliant {

class RecordingSink {
 public:
  virtual ~RecordingSink() = default;
  /// Surfaces in the order of the bodies, of the world as it is now; a body that is missing is gone. Times increase.
  virtual Status add_frame(const World& world, std::span<const RenderSurface> surfaces) = 0;
  virtual Status finish() = 0;
};

Result<std::unique_ptr<RecordingSink>> create_glb_sink(const std::filesystem::path& target);
Result<std::unique_ptr<RecordingSink>> create_vtu_sink(const std::filesystem::path& target);

}  // namespace pliant
