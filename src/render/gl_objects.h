// GL objects with an owner. A GLES 3.0 context must be current wherever they are used or destroyed.
#pragma once

#include <string>
#include <utility>

#include <GLES3/gl3.h>

#include "pliant/math.h"
#include "pliant/result.h"
#include "render/matrix.h"

namespace pliant {

enum class GlKind { Buffer, Texture, Renderbuffer, Framebuffer, VertexArray, Sampler };

/// A name that GL gave out, given back at the end.
template <GlKind Kind>
class GlName {
 public:
  GlName() = default;
  static GlName create() {
    GlName out;
    if constexpr (Kind == GlKind::Buffer) glGenBuffers(1, &out.name_);
    if constexpr (Kind == GlKind::Texture) glGenTextures(1, &out.name_);
    if constexpr (Kind == GlKind::Renderbuffer) glGenRenderbuffers(1, &out.name_);
    if constexpr (Kind == GlKind::Framebuffer) glGenFramebuffers(1, &out.name_);
    if constexpr (Kind == GlKind::VertexArray) glGenVertexArrays(1, &out.name_);
    if constexpr (Kind == GlKind::Sampler) glGenSamplers(1, &out.name_);
    return out;
  }
  GlName(GlName&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlName& operator=(GlName&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlName() {
    if (name_ == 0) return;
    if constexpr (Kind == GlKind::Buffer) glDeleteBuffers(1, &name_);
    if constexpr (Kind == GlKind::Texture) glDeleteTextures(1, &name_);
    if constexpr (Kind == GlKind::Renderbuffer) glDeleteRenderbuffers(1, &name_);
    if constexpr (Kind == GlKind::Framebuffer) glDeleteFramebuffers(1, &name_);
    if constexpr (Kind == GlKind::VertexArray) glDeleteVertexArrays(1, &name_);
    if constexpr (Kind == GlKind::Sampler) glDeleteSamplers(1, &name_);
  }
  GLuint get() const { return name_; }

 private:
  GLuint name_ = 0;
};

using GlBuffer = GlName<GlKind::Buffer>;
using GlTexture = GlName<GlKind::Texture>;
using GlRenderbuffer = GlName<GlKind::Renderbuffer>;
using GlFramebuffer = GlName<GlKind::Framebuffer>;
using GlVertexArray = GlName<GlKind::VertexArray>;
using GlSampler = GlName<GlKind::Sampler>;

/// A texture of one level without filtering, clamped at its border.
GlTexture make_texture(GLenum format, int width, int height);
GlRenderbuffer make_renderbuffer(GLenum format, int samples, int width, int height);
/// An error if GL cannot draw into what is attached to the bound framebuffer.
Status check_framebuffer(const char* what);

/// A vertex and a fragment shader, linked.
class GlProgram {
 public:
  /// `name` is for messages. `defines` stands before both sources, after the version line.
  static Result<GlProgram> create(const char* name, const std::string& defines, const std::string& vertex,
                                  const std::string& fragment);
  GlProgram() = default;
  GlProgram(GlProgram&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlProgram& operator=(GlProgram&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlProgram() {
    if (name_ != 0) glDeleteProgram(name_);
  }

  void use() const { glUseProgram(name_); }
  // Uniforms of the program in use. A name that the shader does not use is passed over.
  void set(const char* uniform, float value) const { glUniform1f(find(uniform), value); }
  void set(const char* uniform, int value) const { glUniform1i(find(uniform), value); }
  void set(const char* uniform, float x, float y) const { glUniform2f(find(uniform), x, y); }
  void set(const char* uniform, Vec3 v) const { glUniform3f(find(uniform), v.x, v.y, v.z); }
  void set(const char* uniform, Vec3 v, float w) const { glUniform4f(find(uniform), v.x, v.y, v.z, w); }
  void set(const char* uniform, const Mat4& m) const { glUniformMatrix4fv(find(uniform), 1, GL_FALSE, m.data()); }

 private:
  GLint find(const char* uniform) const { return glGetUniformLocation(name_, uniform); }
  GLuint name_ = 0;
};

}  // namespace pliant
