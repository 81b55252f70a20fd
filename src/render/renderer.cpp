#include "render/renderer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "pliant/generators.h"
#include "render/gpu_meshes.h"
#include "render/render_targets.h"
#include "render/shaders.h"
#include "render/sun_shadow.h"

namespace pliant {
namespace {

// EXT_texture_sRGB_decode: textures can be read as they are stored, without a power per pixel.
constexpr const char* kStoredExtension = "GL_EXT_texture_sRGB_decode";
constexpr GLenum kDecode = 0x8A48;     // GL_TEXTURE_SRGB_DECODE_EXT
constexpr GLint kSkipDecode = 0x8A4A;  // GL_SKIP_DECODE_EXT

bool has_extension(const char* name) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLuint i = 0; i < static_cast<GLuint>(count); ++i) {
    if (std::strcmp(reinterpret_cast<const char*>(glGetStringi(GL_EXTENSIONS, i)), name) == 0) return true;
  }
  return false;
}

enum TextureUnit : int { kDepthUnit, kNormalUnit, kShadowUnit, kShadowDepthUnit, kColorMapUnit, kVisibilityUnit };

constexpr Appearance kRodLook{.color = {0.25f, 0.26f, 0.28f}, .roughness = 0.35f, .metalness = 1};

void bind(int unit, const GlTexture& texture) {
  glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
  glBindTexture(GL_TEXTURE_2D, texture.get());
}

/// 0 is at texel 256, 1 at 511 and -1 at 1.
GlTexture make_color_map() {
  std::array<std::uint8_t, 4 * 512> texels{};
  for (std::size_t i = 0; i < 512; ++i) {
    const Vec3 c = color_map((static_cast<float>(i) - 256) / 255);
    for (std::size_t k = 0; k < 3; ++k) texels[4 * i + k] = static_cast<std::uint8_t>(255 * c[k] + 0.5f);
    texels[4 * i + 3] = 255;
  }
  GlTexture texture = make_texture(GL_SRGB8_ALPHA8, 512, 1);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 512, 1, GL_RGBA, GL_UNSIGNED_BYTE, texels.data());
  return texture;
}

/// A disc of radius 1 with rings that halve towards its centre, so that positions on it are exact where one is near.
TriMesh ground_disc() {
  constexpr std::uint32_t kRings = 16, kSides = 48;
  TriMesh mesh;
  for (std::uint32_t ring = 0; ring < kRings; ++ring) {
    const float r = std::exp2(-static_cast<float>(ring));
    for (std::uint32_t i = 0; i < kSides; ++i) {
      const float angle = 2 * kPi * static_cast<float>(i) / kSides;
      mesh.vertices.push_back({r * std::cos(angle), 0, -r * std::sin(angle)});
      const std::uint32_t a = ring * kSides + i, b = ring * kSides + (i + 1) % kSides;
      if (ring + 1 == kRings) continue;
      mesh.faces.push_back({a, b, b + kSides});
      mesh.faces.push_back({a, b + kSides, a + kSides});
    }
  }
  const auto center = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.push_back({0, 0, 0});
  for (std::uint32_t i = 0; i < kSides; ++i) {
    mesh.faces.push_back({(kRings - 1) * kSides + i, (kRings - 1) * kSides + (i + 1) % kSides, center});
  }
  mesh.normals.assign(mesh.vertices.size(), {0, 1, 0});
  return mesh;
}

/// An endless plane that is drawn to the horizon.
struct Ground {
  Vec3 normal{0, 1, 0};
  float offset = 0;
  Axes axes;  ///< `up` is the normal
  Appearance appearance;
};

std::optional<Ground> ground_of(const RenderSurface& surface) {
  if (!surface.endless || !surface.mesh || surface.mesh->normals.empty()) return std::nullopt;
  Ground out;
  out.normal = surface.world_from_body.rotation.rotate(surface.mesh->normals.front());
  out.offset = dot(out.normal, surface.vertex(0));
  if (!is_finite(out.normal) || !std::isfinite(out.offset)) return std::nullopt;
  const Vec3 side = std::abs(out.normal.x) < 0.9f ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  out.axes.right = normalized(side - dot(side, out.normal) * out.normal);
  out.axes.up = out.normal;
  out.axes.back = cross(out.axes.right, out.axes.up);
  out.appearance = surface.appearance;
  return out;
}

struct Programs {
  GlProgram depth, depth_transparent, normals, visibility, blur, opaque, ground, transparent, sky, lines, copy;
  GlProgram light_opaque, light_ground, light_sky;

  Status create(bool reads_stored) {
    using namespace shader;
    const std::string light = kLight, shade = light + kReflection,
                      lit_surface = shade + kShadow + kVisibilityPixel + kSurfaceFragment;
    const std::string places = std::string(kVisibilityPixel) + kPlaces;
    Status status;
    const auto make = [&](GlProgram& out, const char* name, const char* defines, const char* vertex,
                          const std::string& fragment) {
      if (!status.ok()) return;
      Result<GlProgram> made = GlProgram::create(name, defines, vertex, fragment);
      if (made)
        out = std::move(*made);
      else
        status = made.error();
    };
    make(depth, "depth", "", kSurfaceVertex, kDepthFragment);
    make(depth_transparent, "depth of glass", "#define TRANSPARENT", kSurfaceVertex, kDepthFragment);
    make(normals, "normals", "", kSurfaceVertex, kNormalFragment);
    make(visibility, "visibility", "", kScreenVertex, light + kShadow + places + kVisibilityFragment);
    make(blur, "blur", "", kScreenVertex, places + kBlurFragment);
    make(opaque, "surface", "", kSurfaceVertex, lit_surface);
    make(ground, "ground", "#define GROUND", kSurfaceVertex, lit_surface);
    make(light_opaque, "light surface", "#define LIGHT", kSurfaceVertex, lit_surface);
    make(light_ground, "light ground", "#define LIGHT\n#define GROUND", kSurfaceVertex, lit_surface);
    make(transparent, "glass", "#define TRANSPARENT", kSurfaceVertex, lit_surface);
    make(sky, "sky", "", kScreenVertex, shade + kSkyFragment);
    make(light_sky, "light sky", "#define LIGHT", kScreenVertex, shade + kSkyFragment);
    make(lines, "lines", "", kSurfaceVertex, kLineFragment);
    make(copy, "copy", reads_stored ? "#define STORED" : "", kScreenVertex, kCopyFragment);
    return status;
  }
};

}  // namespace

struct Renderer::Impl {
  Programs programs;
  ShadowMap shadow_map;
  RenderTargets targets;
  GlTexture colors;
  GlSampler stored;  ///< reads the picture for `show`
  GlVertexArray no_vertices;
  GpuMeshes meshes;
  std::shared_ptr<const TriMesh> disc = std::make_shared<const TriMesh>(ground_disc());
  std::shared_ptr<const TriMesh> bar = std::make_shared<const TriMesh>(tessellate(Cylinder{1, 1}, 24));

  // Of the picture being drawn.
  const Picture* picture = nullptr;
  std::vector<Ground> grounds;
  std::size_t body_batches = 0;  ///< opaque batches that are bodies; those after them are grounds
  SunShadow sun;

  Status create();
  Status prepare(int width, int height, Quality quality);
  void collect(const Picture& now);
  void draw_shadow_map();
  void draw_normals();
  void draw_visibility();
  void bind_shadow_map() const;
  void draw_shaded();
  void draw_grounds(const GlProgram& program);
  void draw_transparent();
  void draw_wireframe();
  void draw_batches(const std::vector<Batch>& batches, std::size_t count) const;
  void draw_screen() const;
  void set_camera(const GlProgram& program) const;
  void set_light(const GlProgram& program) const;
  void set_shading(const GlProgram& program) const;

  float aspect() const { return static_cast<float>(targets.width) / static_cast<float>(targets.height); }
};

Status Renderer::Impl::create() {
  const bool reads_stored = has_extension(kStoredExtension);
  if (const Status s = programs.create(reads_stored); !s.ok()) return s;
  stored = GlSampler::create();
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER}) {
    glSamplerParameteri(stored.get(), filter, GL_LINEAR);  // a window may show the picture in another size
  }
  for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
    glSamplerParameteri(stored.get(), side, GL_CLAMP_TO_EDGE);
  }
  if (reads_stored) glSamplerParameteri(stored.get(), kDecode, kSkipDecode);
  colors = make_color_map();
  no_vertices = GlVertexArray::create();
  return {};
}

/// Buffers of the size and quality that is asked for.
Status Renderer::Impl::prepare(int width, int height, Quality quality) {
  const bool full = quality == Quality::Full;
  if (const int texels = full ? ShadowMap::kFullResolution : ShadowMap::kLightResolution;
      shadow_map.resolution != texels) {
    Result<ShadowMap> map = ShadowMap::create(texels);
    if (!map) return map.error();
    shadow_map = std::move(*map);
  }
  const int samples = full ? 4 : 0;
  if (targets.width == width && targets.height == height && targets.samples == samples) return {};
  targets = {};  // the old ones go first: both together may be too much
  Result<RenderTargets> made = RenderTargets::create(width, height, samples);
  if (!made) return made.error();
  targets = std::move(*made);
  return {};
}

void Renderer::Impl::collect(const Picture& now) {
  picture = &now;
  const View& view = now.view;
  meshes.update(now.surfaces, view.eye, now.look.color_by);
  std::vector<Instance> bars;
  for (const Rod& rod : now.rods) {
    const Vec3 along = rod.b - rod.a;
    const Axes axes = Axes::looking(along, {0, 1, 0});  // the bar lies along Y, so its `up` is the direction
    bars.push_back(instance_of(Axes{axes.right, axes.back, -axes.up}, {rod.radius, length(along), rod.radius},
                               0.5f * (rod.a + rod.b), kRodLook));
  }
  meshes.add(bar, bars);
  body_batches = meshes.opaque().size();
  grounds.clear();
  for (const RenderSurface& surface : now.surfaces) {
    const std::optional<Ground> ground = ground_of(surface);
    if (!ground) continue;
    const float radius = 0.9f * view.far();
    const Vec3 below = view.eye - (dot(ground->normal, view.eye) - ground->offset) * ground->normal;
    const Instance instance = instance_of(ground->axes, {radius, 1, radius}, below, ground->appearance);
    meshes.add(disc, {&instance, 1});
    grounds.push_back(*ground);
  }
  meshes.upload();
  sun = fit_sun_shadow(meshes.balls(), now.lighting.to_sun, view, shadow_map.resolution);
  sun.any = sun.any && now.lighting.sun_casts_shadows;
}

void Renderer::Impl::draw_batches(const std::vector<Batch>& batches, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    batches[i].gpu->draw_faces(meshes.instances(), batches[i].first, batches[i].count);
  }
}

void Renderer::Impl::draw_screen() const {
  glBindVertexArray(no_vertices.get());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void Renderer::Impl::set_camera(const GlProgram& program) const {
  const View& view = picture->view;
  const Axes axes = view.axes();
  program.use();
  program.set("u_clip_from_world", view.clip_from_world(aspect()));
  program.set("u_eye", view.eye);
  program.set("u_forward", -axes.back);
  program.set("u_near_far", view.near(), view.far());
  program.set("u_ray_forward", -axes.back);
  program.set("u_ray_right", view.tan_half() * aspect() * axes.right);
  program.set("u_ray_up", view.tan_half() * axes.up);
  program.set("u_pixel", 1 / static_cast<float>(targets.width), 1 / static_cast<float>(targets.height));
  program.set("u_depth", kDepthUnit);
  program.set("u_normal", kNormalUnit);
  program.set("u_visibility", kVisibilityUnit);
}

void Renderer::Impl::set_light(const GlProgram& program) const {
  const Lighting& light = picture->lighting;
  program.set("u_to_sun", light.to_sun);
  program.set("u_sun", light.sun);
  program.set("u_sky", light.sky);
  const bool has_ground = !grounds.empty() && grounds.front().normal.y > 0.5f;
  program.set("u_ground_albedo", has_ground ? grounds.front().appearance.color : Vec3{0.3f, 0.3f, 0.3f});
  program.set("u_ground_plane", has_ground ? grounds.front().normal : Vec3{}, has_ground ? grounds.front().offset : 0);
  program.set("u_lamps", static_cast<int>(std::min(light.lamps.size(), Lighting::kMaxLamps)));
  for (std::size_t i = 0; i < std::min(light.lamps.size(), Lighting::kMaxLamps); ++i) {
    const Lighting::Lamp& lamp = light.lamps[i];
    program.set(fmt::format("u_lamp_place[{}]", i).c_str(), lamp.place, lamp.point ? 1.0f : 0.0f);
    program.set(fmt::format("u_lamp_color[{}]", i).c_str(), lamp.color);
  }
  program.set("u_shadow", kShadowUnit);
  program.set("u_shadow_depth_map", kShadowDepthUnit);
  program.set("u_sun_from_world", sun.map_from_world);
  program.set("u_shadow_texel", 1 / static_cast<float>(shadow_map.resolution));
  program.set("u_shadow_size", sun.size);
  program.set("u_shadow_depth", sun.depth);
  program.set("u_shadow_on", sun.any ? 1.0f : 0.0f);
}

void Renderer::Impl::set_shading(const GlProgram& program) const {
  set_camera(program);
  set_light(program);
  const ColorScale& scale = picture->look.scale;
  program.set("u_color_map", kColorMapUnit);
  program.set("u_color_range", scale.lower < 0 ? -1.0f : 0.0f, 1 / std::max(scale.upper, 1e-20f));
  program.set("u_fog", 22 * picture->view.distance());
}

void Renderer::Impl::draw_shadow_map() {
  glBindFramebuffer(GL_FRAMEBUFFER, shadow_map.framebuffer.get());
  glViewport(0, 0, shadow_map.resolution, shadow_map.resolution);
  glClear(GL_DEPTH_BUFFER_BIT);
  if (!sun.any) return;
  programs.depth.use();
  programs.depth.set("u_clip_from_world", sun.clip_from_world);
  draw_batches(meshes.opaque(), body_batches);
  programs.depth_transparent.use();
  programs.depth_transparent.set("u_clip_from_world", sun.clip_from_world);
  draw_batches(meshes.transparent(), meshes.transparent().size());
}

void Renderer::Impl::draw_normals() {
  glBindFramebuffer(GL_FRAMEBUFFER, targets.normals.framebuffer.get());
  glViewport(0, 0, targets.width, targets.height);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  set_camera(programs.normals);
  draw_batches(meshes.opaque(), meshes.opaque().size());
}

void Renderer::Impl::bind_shadow_map() const {
  bind(kShadowUnit, shadow_map.depth);
  bind(kShadowDepthUnit, shadow_map.depth);
  glBindSampler(kShadowUnit, shadow_map.comparing.get());
  glBindSampler(kShadowDepthUnit, shadow_map.reading.get());
}

void Renderer::Impl::draw_visibility() {
  bind(kDepthUnit, targets.depth);
  bind(kNormalUnit, targets.normals.color);
  glDisable(GL_DEPTH_TEST);

  const float distance = picture->view.distance();
  glBindFramebuffer(GL_FRAMEBUFFER, targets.visibility[0].framebuffer.get());
  set_camera(programs.visibility);
  set_light(programs.visibility);
  programs.visibility.set("u_sun_spread", 0.03f);
  programs.visibility.set("u_shadow_search", 0.02f * distance);
  programs.visibility.set("u_open_radius", 0.05f * distance);
  programs.visibility.set("u_pixels_per_metre", 0.5f * static_cast<float>(targets.height) / picture->view.tan_half());
  draw_screen();

  bind(kVisibilityUnit, targets.visibility[0].color);
  glBindFramebuffer(GL_FRAMEBUFFER, targets.visibility[1].framebuffer.get());
  set_camera(programs.blur);
  draw_screen();
  bind(kVisibilityUnit, targets.visibility[1].color);
  glEnable(GL_DEPTH_TEST);
}

void Renderer::Impl::draw_grounds(const GlProgram& program) {
  const std::size_t first = body_batches;
  for (std::size_t i = 0; i < grounds.size(); ++i) {
    program.set("u_grid_x", grounds[i].axes.right);
    program.set("u_grid_z", grounds[i].axes.back);
    const float cell = std::pow(10.0f, std::round(std::log10(picture->view.distance() / 10)));
    program.set("u_cell", picture->look.grid ? cell : 1e9f);
    const Batch& batch = meshes.opaque()[first + i];
    batch.gpu->draw_faces(meshes.instances(), batch.first, batch.count);
  }
}

void Renderer::Impl::draw_transparent() {
  if (meshes.transparent().empty()) return;
  set_shading(programs.transparent);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDepthMask(GL_FALSE);
  glEnable(GL_CULL_FACE);
  for (const Batch& batch : meshes.transparent()) {
    for (const GLenum hidden : {GL_FRONT, GL_BACK}) {  // the far side shows through the near one
      glCullFace(hidden);
      batch.gpu->draw_faces(meshes.instances(), batch.first, batch.count);
    }
  }
  glDisable(GL_CULL_FACE);
  glDepthMask(GL_TRUE);
  glDisable(GL_BLEND);
}

void Renderer::Impl::draw_wireframe() {
  set_camera(programs.lines);
  programs.lines.set("u_line_color", Vec3{}, 0.45f);
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  for (const std::vector<Batch>* batches : {&meshes.opaque(), &meshes.transparent()}) {
    const std::size_t count = batches == &meshes.opaque() ? body_batches : batches->size();
    for (std::size_t i = 0; i < count; ++i) {
      const Batch& batch = (*batches)[i];
      batch.gpu->draw_edges(*batch.mesh, meshes.instances(), batch.first, batch.count);
    }
  }
  glDisable(GL_BLEND);
}

void Renderer::Impl::draw_shaded() {
  const bool full = picture->look.quality == Quality::Full;
  const GlProgram &opaque = full ? programs.opaque : programs.light_opaque,
                  &ground = full ? programs.ground : programs.light_ground,
                  &sky = full ? programs.sky : programs.light_sky;
  glBindFramebuffer(GL_FRAMEBUFFER, targets.shaded.get());
  glViewport(0, 0, targets.width, targets.height);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  bind(kColorMapUnit, colors);
  if (picture->look.wireframe) glEnable(GL_POLYGON_OFFSET_FILL), glPolygonOffset(1, 2);
  set_shading(opaque);
  draw_batches(meshes.opaque(), body_batches);
  set_shading(ground);
  draw_grounds(ground);
  glDisable(GL_POLYGON_OFFSET_FILL);

  set_camera(sky);
  set_light(sky);
  draw_screen();
  if (picture->look.wireframe) draw_wireframe();
  draw_transparent();

  glBindFramebuffer(GL_READ_FRAMEBUFFER, targets.shaded.get());
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, targets.picture.framebuffer.get());
  glBlitFramebuffer(0, 0, targets.width, targets.height, 0, 0, targets.width, targets.height, GL_COLOR_BUFFER_BIT,
                    GL_NEAREST);
}

Renderer::Renderer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Renderer::Renderer(Renderer&&) noexcept = default;
Renderer::~Renderer() = default;

Result<Renderer> Renderer::create() {
  auto impl = std::make_unique<Impl>();
  if (const Status s = impl->create(); !s.ok()) return s.error();
  return Renderer(std::move(impl));
}

Status Renderer::draw(const Picture& picture, int width, int height) {
  if (width < kMinSize || height < kMinSize || width > kMaxSize || height > kMaxSize) {
    return Error{Error::Code::InvalidArgument,
                 fmt::format("a picture of {}x{} pixels cannot be drawn; each side must be {} to {}", width, height,
                             kMinSize, kMaxSize)};
  }
  if (const Status s = impl_->prepare(width, height, picture.look.quality); !s.ok()) return s;
  // A window's own drawing may have left anything behind.
  for (const GLenum state : {GL_BLEND, GL_CULL_FACE, GL_SCISSOR_TEST, GL_STENCIL_TEST}) glDisable(state);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LEQUAL);
  glDepthMask(GL_TRUE);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glClearColor(0, 0, 0, 1);

  impl_->collect(picture);
  impl_->draw_shadow_map();
  impl_->bind_shadow_map();
  if (picture.look.quality == Quality::Full) impl_->draw_normals(), impl_->draw_visibility();
  impl_->draw_shaded();
  impl_->picture = nullptr;
  glBindSampler(kShadowUnit, 0);
  glBindSampler(kShadowDepthUnit, 0);
  glActiveTexture(GL_TEXTURE0);
  glBindVertexArray(0);
  if (const GLenum error = glGetError(); error != GL_NO_ERROR) {
    return Error{
        Error::Code::Unsupported,
        fmt::format("the driver failed to draw a picture of {}x{} pixels (GL error {:#x})", width, height, error)};
  }
  return {};
}

Image Renderer::read() const {
  const int width = impl_->targets.width, height = impl_->targets.height;
  Image image(width, height);
  std::vector<std::uint8_t> rgba(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (rgba.empty()) return image;
  glBindFramebuffer(GL_READ_FRAMEBUFFER, impl_->targets.picture.framebuffer.get());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from =
        rgba.data() + 4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height - 1 - y);
    std::uint8_t* to = image.at(0, y);
    for (int x = 0; x < width; ++x, from += 4, to += 3) to[0] = from[0], to[1] = from[1], to[2] = from[2];
  }
  return image;
}

void Renderer::show(unsigned framebuffer, int x, int y, int width, int height) const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glViewport(x, y, width, height);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_BLEND);
  bind(0, impl_->targets.picture.color);
  glBindSampler(0, impl_->stored.get());
  impl_->programs.copy.use();
  impl_->programs.copy.set("u_picture", 0);
  impl_->draw_screen();
  glBindSampler(0, 0);
  glEnable(GL_DEPTH_TEST);
}

}  // namespace pliant
