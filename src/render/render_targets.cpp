#include "render/render_targets.h"

#include <algorithm>

namespace pliant {
namespace {

void attach_texture(GLenum attachment, const GlTexture& texture) {
  glFramebufferTexture2D(GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, texture.get(), 0);
}

void attach_renderbuffer(GLenum attachment, const GlRenderbuffer& buffer) {
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, buffer.get());
}

GlFramebuffer make_framebuffer() {
  GlFramebuffer framebuffer = GlFramebuffer::create();
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer.get());
  return framebuffer;
}

Status make_color_target(ColorTarget& out, GLenum format, int width, int height, const GlTexture* depth,
                         const char* what) {
  out.color = make_texture(format, width, height);
  out.framebuffer = make_framebuffer();
  attach_texture(GL_COLOR_ATTACHMENT0, out.color);
  if (depth != nullptr) attach_texture(GL_DEPTH_ATTACHMENT, *depth);
  return check_framebuffer(what);
}

GlSampler make_sampler(GLint filter, GLint compare) {
  GlSampler sampler = GlSampler::create();
  glSamplerParameteri(sampler.get(), GL_TEXTURE_MIN_FILTER, filter);
  glSamplerParameteri(sampler.get(), GL_TEXTURE_MAG_FILTER, filter);
  glSamplerParameteri(sampler.get(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glSamplerParameteri(sampler.get(), GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glSamplerParameteri(sampler.get(), GL_TEXTURE_COMPARE_MODE, compare);
  glSamplerParameteri(sampler.get(), GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  return sampler;
}

Status make_shaded(RenderTargets& out) {
  GLint most = 0;
  glGetInternalformativ(GL_RENDERBUFFER, GL_SRGB8_ALPHA8, GL_SAMPLES, 1, &most);
  const int samples = std::clamp(out.samples, 0, std::max(most, 0));
  out.shaded_color = make_renderbuffer(GL_SRGB8_ALPHA8, samples, out.width, out.height);
  out.shaded_depth = make_renderbuffer(GL_DEPTH_COMPONENT24, samples, out.width, out.height);
  out.shaded = make_framebuffer();
  attach_renderbuffer(GL_COLOR_ATTACHMENT0, out.shaded_color);
  attach_renderbuffer(GL_DEPTH_ATTACHMENT, out.shaded_depth);
  return check_framebuffer("buffer of samples");
}

}  // namespace

Result<RenderTargets> RenderTargets::create(int width, int height, int samples) {
  RenderTargets out;
  out.width = width, out.height = height, out.samples = samples;
  out.depth = make_texture(GL_DEPTH_COMPONENT32F, width, height);
  Status status = make_color_target(out.normals, GL_RGBA8, width, height, &out.depth, "buffer of normals");
  for (ColorTarget& target : out.visibility) {
    if (status.ok()) status = make_color_target(target, GL_RGBA8, width, height, nullptr, "buffer of visibility");
  }
  if (status.ok()) status = make_shaded(out);
  if (status.ok()) status = make_color_target(out.picture, GL_SRGB8_ALPHA8, width, height, nullptr, "picture");
  if (!status.ok()) return status.error();
  return out;
}

Result<ShadowMap> ShadowMap::create(int resolution) {
  ShadowMap out;
  out.resolution = resolution;
  out.depth = make_texture(GL_DEPTH_COMPONENT32F, resolution, resolution);
  out.framebuffer = make_framebuffer();
  attach_texture(GL_DEPTH_ATTACHMENT, out.depth);
  const GLenum none = GL_NONE;
  glDrawBuffers(1, &none);
  if (const Status s = check_framebuffer("shadow map"); !s.ok()) return s.error();
  out.comparing = make_sampler(GL_LINEAR, GL_COMPARE_REF_TO_TEXTURE);
  out.reading = make_sampler(GL_NEAREST, GL_NONE);
  return out;
}

}  // namespace pliant
