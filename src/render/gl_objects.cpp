#include "render/gl_objects.h"

#include <vector>

#include <fmt/format.h>

namespace pliant {
namespace {

/// The shader's log where it does not compile, else empty.
std::string compile(GLuint shader, const std::string& source) {
  const char* text = source.c_str();
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint done = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
  if (done == GL_TRUE) return {};
  std::vector<char> log(4096, 0);
  glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()) - 1, nullptr, log.data());
  return fmt::format("does not compile: {}", log.data());
}

std::string link(GLuint program) {
  glLinkProgram(program);
  GLint done = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &done);
  if (done == GL_TRUE) return {};
  std::vector<char> log(4096, 0);
  glGetProgramInfoLog(program, static_cast<GLsizei>(log.size()) - 1, nullptr, log.data());
  return fmt::format("does not link: {}", log.data());
}

}  // namespace

GlTexture make_texture(GLenum format, int width, int height) {
  GlTexture texture = GlTexture::create();
  glBindTexture(GL_TEXTURE_2D, texture.get());
  glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return texture;
}

GlRenderbuffer make_renderbuffer(GLenum format, int samples, int width, int height) {
  GlRenderbuffer buffer = GlRenderbuffer::create();
  glBindRenderbuffer(GL_RENDERBUFFER, buffer.get());
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
  return buffer;
}

Status check_framebuffer(const char* what) {
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (status == GL_FRAMEBUFFER_COMPLETE) return {};
  return Error{Error::Code::Unsupported,
               fmt::format("the driver cannot draw into the {} (GL status {:#x})", what, status)};
}

Result<GlProgram> GlProgram::create(const char* name, const std::string& defines, const std::string& vertex,
                                    const std::string& fragment) {
  const std::string head =
      "#version 300 es\nprecision highp float;\nprecision highp int;\n"
      "precision highp sampler2D;\nprecision highp sampler2DShadow;\n" +
      defines + "\n";
  GlProgram program;
  program.name_ = glCreateProgram();
  const GLuint shaders[2] = {glCreateShader(GL_VERTEX_SHADER), glCreateShader(GL_FRAGMENT_SHADER)};
  std::string wrong = compile(shaders[0], head + vertex);
  if (wrong.empty()) wrong = compile(shaders[1], head + fragment);
  for (const GLuint shader : shaders) glAttachShader(program.name_, shader);
  if (wrong.empty()) wrong = link(program.name_);
  for (const GLuint shader : shaders) glDeleteShader(shader);  // they live on as parts of the program
  if (wrong.empty()) return program;
  return Error{Error::Code::Unsupported, fmt::format("the driver refuses the shader `{}`: it {}", name, wrong)};
}

}  // namespace pliant
