#include "render/offscreen_context.h"

#include <cstring>
#include <vector>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

namespace pliant {
namespace {

Error no_context(const std::string& why) {
  return {Error::Code::Unsupported, "pictures cannot be drawn on this machine: " + why +
                                        " (Debian: libegl1 and libgl1-mesa-dri draw without a GPU or a display)"};
}

bool has_extension(const char* list, const char* name) { return list != nullptr && std::strstr(list, name) != nullptr; }

/// Displays that need no screen, the plainest first.
std::vector<EGLDisplay> candidates() {
  std::vector<EGLDisplay> displays;
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (has_extension(extensions, "EGL_MESA_platform_surfaceless")) {
    displays.push_back(eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr));
  }
  const auto query_devices = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  if (query_devices != nullptr && has_extension(extensions, "EGL_EXT_platform_device")) {
    EGLDeviceEXT devices[8];
    EGLint count = 0;
    if (query_devices(8, devices, &count) == EGL_FALSE) count = 0;
    for (EGLint i = 0; i < count; ++i) {
      displays.push_back(eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
    }
  }
  displays.push_back(eglGetDisplay(EGL_DEFAULT_DISPLAY));
  return displays;
}

}  // namespace

struct OffscreenContext::Impl {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  std::string name;

  ~Impl() {
    if (display == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
    // The display stays initialised: it belongs to the whole process, and others may be using it.
  }

  bool start(EGLDisplay candidate) {
    if (candidate == EGL_NO_DISPLAY || eglInitialize(candidate, nullptr, nullptr) == EGL_FALSE) return false;
    if (!has_extension(eglQueryString(candidate, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context")) return false;
    if (eglBindAPI(EGL_OPENGL_ES_API) == EGL_FALSE) return false;
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
    EGLConfig config = EGL_NO_CONFIG_KHR;
    EGLint count = 0;
    if (eglChooseConfig(candidate, wanted, &config, 1, &count) == EGL_FALSE || count == 0) config = EGL_NO_CONFIG_KHR;
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
    display = candidate;
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE;
  }
};

OffscreenContext::OffscreenContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OffscreenContext::OffscreenContext(OffscreenContext&&) noexcept = default;
OffscreenContext& OffscreenContext::operator=(OffscreenContext&&) noexcept = default;
OffscreenContext::~OffscreenContext() = default;

const std::string& OffscreenContext::renderer_name() const { return impl_->name; }

Result<OffscreenContext> OffscreenContext::create() {
  for (const EGLDisplay display : candidates()) {
    auto impl = std::make_unique<Impl>();
    if (!impl->start(display)) continue;
    const GLubyte* name = glGetString(GL_RENDERER);
    impl->name = name != nullptr ? reinterpret_cast<const char*>(name) : "unknown";
    return OffscreenContext(std::move(impl));
  }
  return no_context("no EGL driver offers OpenGL ES 3.0");
}

}  // namespace pliant
