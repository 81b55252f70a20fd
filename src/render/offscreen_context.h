// A GL context without a window: through EGL, on a GPU where there is one, else in software (Mesa's llvmpipe).
#pragma once

#include <memory>
#include <string>

#include "pliant/result.h"

namespace pliant {

/// Current on the thread that made it as long as it lives.
class OffscreenContext {
 public:
  /// Errors: no EGL driver, or none that offers OpenGL ES 3.0. They name what to install.
  static Result<OffscreenContext> create();

  OffscreenContext(OffscreenContext&&) noexcept;
  OffscreenContext& operator=(OffscreenContext&&) noexcept;
  ~OffscreenContext();

  /// Who draws, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  const std::string& renderer_name() const;

 private:
  struct Impl;
  explicit OffscreenContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
