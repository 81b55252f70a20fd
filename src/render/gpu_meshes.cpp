#include "render/gpu_meshes.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace pliant {
namespace {

template <typename T>
void fill(const GlBuffer& buffer, GLenum target, std::span<const T> data, GLenum usage) {
  glBindBuffer(target, buffer.get());
  glBufferData(target, static_cast<GLsizeiptr>(data.size_bytes()), data.data(), usage);
}

void set_attribute(GLuint index, GLint size, std::size_t stride, std::size_t offset, bool per_instance) {
  glEnableVertexAttribArray(index);
  glVertexAttribPointer(index, size, GL_FLOAT, GL_FALSE, static_cast<GLsizei>(stride),
                        reinterpret_cast<const void*>(offset));
  glVertexAttribDivisor(index, per_instance ? 1 : 0);
}

Aabb finite_bounds(std::span<const Vec3> points) {
  Aabb box;
  for (const Vec3 p : points) {
    if (is_finite(p)) box.include(p);
  }
  return box.is_empty() ? Aabb{{0, 0, 0}, {0, 0, 0}} : box;
}

/// Of bodies that have no value while others show theirs: a colour of their own could be taken for one.
constexpr Vec3 kNoValue{0.26f, 0.26f, 0.27f};

GpuMeshes::Ball ball_about(const Aabb& box, const RenderSurface& surface) {
  const Vec3 center = surface.deforms() ? box.center() : surface.world_from_body * box.center();
  return {center, 0.5f * length(box.size())};
}

/// Where the surface comes without normals: those at rest would be wrong.
std::vector<Vec3> normals_now(const RenderSurface& surface) {
  TriMesh now;
  now.vertices.assign(surface.vertices.begin(), surface.vertices.end());
  now.faces = surface.mesh->faces;
  return compute_normals(now);
}

std::vector<float> speeds_of(const RenderSurface& surface) {
  std::vector<float> speeds(surface.velocities.size());
  std::transform(surface.velocities.begin(), surface.velocities.end(), speeds.begin(),
                 [](Vec3 v) { return length(v); });
  return speeds;
}

bool has_values(const RenderSurface& surface) {
  return surface.deforms() && surface.values.size() == surface.vertices.size();
}

}  // namespace

Instance instance_of(const Axes& axes, Vec3 scale, Vec3 position, const Appearance& appearance) {
  Instance out;
  const Vec3 columns[3] = {scale.x * axes.right, scale.y * axes.up, scale.z * axes.back};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) out.world_from_mesh[row * 4 + column] = columns[column][row];
    out.world_from_mesh[row * 4 + 3] = position[row];
  }
  out.color = {appearance.color.x, appearance.color.y, appearance.color.z, appearance.opacity};
  out.material = {appearance.roughness, appearance.metalness, 0};
  return out;
}

Instance instance_of(const RenderSurface& surface, ColorBy by) {
  const Transform place = surface.deforms() ? Transform{} : surface.world_from_body;
  const Axes axes{place.rotation.rotate({1, 0, 0}), place.rotation.rotate({0, 1, 0}), place.rotation.rotate({0, 0, 1})};
  Instance out = instance_of(axes, {1, 1, 1}, place.position, surface.appearance);
  if (!surface.colors.empty()) out.color[0] = out.color[1] = out.color[2] = 1;
  if (tet_value(by)) {
    if (has_values(surface)) {
      out.color[3] = 1;  // what is behind would mix its colours with those that mean something
      out.material[2] = 1;
    } else {
      out.color = {kNoValue.x, kNoValue.y, kNoValue.z, surface.appearance.opacity};
    }
    return out;
  }
  if (by != ColorBy::Speed || !surface.moves) return out;
  out.material[2] = 1;
  if (surface.deforms()) return out;  // has values of its own, vertex by vertex
  out.velocity = surface.velocity;
  out.spin = surface.angular_velocity;
  out.center = surface.center_of_mass;
  return out;
}

GpuMesh::GpuMesh(const TriMesh& mesh, std::span<const Vec3> colors)
    : array_(GlVertexArray::create()),
      positions_(GlBuffer::create()),
      normals_(GlBuffer::create()),
      values_(GlBuffer::create()),
      faces_(GlBuffer::create()),
      index_count_(static_cast<GLsizei>(3 * mesh.faces.size())) {
  glBindVertexArray(array_.get());
  const std::vector<Vec3> computed = mesh.normals.empty() ? compute_normals(mesh) : std::vector<Vec3>();
  update(mesh.vertices, mesh.normals.empty() ? computed : mesh.normals, {});
  fill(faces_, GL_ELEMENT_ARRAY_BUFFER, std::span<const Face>(mesh.faces), GL_STATIC_DRAW);
  if (!colors.empty()) {
    colors_ = GlBuffer::create();
    fill(colors_, GL_ARRAY_BUFFER, colors, GL_STATIC_DRAW);
    set_attribute(kTint, 3, sizeof(Vec3), 0, false);
  }
  glBindVertexArray(0);
}

void GpuMesh::update(std::span<const Vec3> vertices, std::span<const Vec3> normals, std::span<const float> values) {
  glBindVertexArray(array_.get());
  fill(positions_, GL_ARRAY_BUFFER, vertices, GL_DYNAMIC_DRAW);
  set_attribute(kPosition, 3, sizeof(Vec3), 0, false);
  fill(normals_, GL_ARRAY_BUFFER, normals, GL_DYNAMIC_DRAW);
  set_attribute(kNormal, 3, sizeof(Vec3), 0, false);
  if (values.empty()) {
    glDisableVertexAttribArray(kValue);
  } else {
    fill(values_, GL_ARRAY_BUFFER, values, GL_DYNAMIC_DRAW);
    set_attribute(kValue, 1, sizeof(float), 0, false);
  }
  bounds_ = finite_bounds(vertices);
}

void GpuMesh::bind_instances(const GlBuffer& instances, std::size_t first) const {
  glBindVertexArray(array_.get());
  glVertexAttrib3f(kTint, 1, 1, 1);  // for meshes without colours
  glBindBuffer(GL_ARRAY_BUFFER, instances.get());
  // GLES 3.0 cannot begin at an instance: the attributes are moved instead.
  const std::size_t base = first * sizeof(Instance);
  for (GLuint row = 0; row < 3; ++row) {
    set_attribute(kRow0 + row, 4, sizeof(Instance), base + offsetof(Instance, world_from_mesh) + 16 * row, true);
  }
  set_attribute(kColor, 4, sizeof(Instance), base + offsetof(Instance, color), true);
  set_attribute(kMaterial, 3, sizeof(Instance), base + offsetof(Instance, material), true);
  set_attribute(kVelocity, 3, sizeof(Instance), base + offsetof(Instance, velocity), true);
  set_attribute(kSpin, 3, sizeof(Instance), base + offsetof(Instance, spin), true);
  set_attribute(kCenter, 3, sizeof(Instance), base + offsetof(Instance, center), true);
}

void GpuMesh::draw_faces(const GlBuffer& instances, std::size_t first, std::size_t count) const {
  bind_instances(instances, first);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, faces_.get());
  glDrawElementsInstanced(GL_TRIANGLES, index_count_, GL_UNSIGNED_INT, nullptr, static_cast<GLsizei>(count));
}

void GpuMesh::draw_edges(const TriMesh& mesh, const GlBuffer& instances, std::size_t first, std::size_t count) {
  bind_instances(instances, first);
  if (edges_.get() == 0) {
    std::set<std::array<std::uint32_t, 2>> unique;
    for (const Face& f : mesh.faces) {
      for (std::size_t i = 0; i < 3; ++i)
        unique.insert({std::min(f[i], f[(i + 1) % 3]), std::max(f[i], f[(i + 1) % 3])});
    }
    const std::vector<std::array<std::uint32_t, 2>> list(unique.begin(), unique.end());
    edges_ = GlBuffer::create();
    fill(edges_, GL_ELEMENT_ARRAY_BUFFER, std::span(list), GL_STATIC_DRAW);
    edge_count_ = static_cast<GLsizei>(2 * list.size());
  }
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, edges_.get());
  glDrawElementsInstanced(GL_LINES, edge_count_, GL_UNSIGNED_INT, nullptr, static_cast<GLsizei>(count));
}

GpuMeshes::Slot& GpuMeshes::slot_of(const std::shared_ptr<const TriMesh>& mesh) {
  Slot& slot = shared_[mesh.get()];
  if (!slot.gpu) slot.mesh = mesh, slot.gpu = std::make_unique<GpuMesh>(*mesh);
  slot.seen = updates_;
  return slot;
}

GpuMeshes::Slot& GpuMeshes::slot_of_deforming(const RenderSurface& surface, ColorBy by) {
  Slot& slot = deforming_[surface.body];
  if (slot.mesh != surface.mesh) {
    slot.mesh = surface.mesh;
    slot.gpu = std::make_unique<GpuMesh>(*surface.mesh, surface.colors);
  }
  const std::vector<Vec3> computed = surface.normals.empty() ? normals_now(surface) : std::vector<Vec3>();
  const std::vector<float> speeds = by == ColorBy::Speed ? speeds_of(surface) : std::vector<float>();
  const bool show_values = tet_value(by) && has_values(surface);
  slot.gpu->update(surface.vertices, surface.normals.empty() ? computed : surface.normals,
                   show_values ? surface.values : std::span<const float>(speeds));
  slot.seen = updates_;
  return slot;
}

void GpuMeshes::add_batch(std::vector<Batch>& batches, Slot& slot, std::span<const Instance> instances) {
  batches.push_back({slot.gpu.get(), slot.mesh.get(), instances_.size(), instances.size()});
  instances_.insert(instances_.end(), instances.begin(), instances.end());
}

void GpuMeshes::update(std::span<const RenderSurface> surfaces, Vec3 eye, ColorBy by) {
  ++updates_;
  instances_.clear(), opaque_.clear(), transparent_.clear(), balls_.clear();
  std::vector<Drawn> solid, glass;
  for (const RenderSurface& surface : surfaces) {
    if (surface.endless || !surface.mesh || surface.mesh->faces.empty()) continue;
    if (!is_finite(surface.world_from_body)) continue;
    Slot& slot = surface.deforms() ? slot_of_deforming(surface, by) : slot_of(surface.mesh);
    balls_.push_back(ball_about(slot.gpu->bounds(), surface));
    const float distance = length(balls_.back().center - eye);
    const Instance instance = instance_of(surface, by);
    (instance.color[3] < 0.999f ? glass : solid).push_back({distance, &slot, instance});
  }
  // Stable sorts, so that pictures do not depend on addresses. The nearest solid first: what it hides is not shaded.
  std::stable_sort(solid.begin(), solid.end(), [](const Drawn& a, const Drawn& b) { return a.distance < b.distance; });
  std::map<Slot*, std::vector<Instance>> groups;
  std::vector<Slot*> order;
  for (const Drawn& drawn : solid) {
    std::vector<Instance>& group = groups[drawn.slot];
    if (group.empty()) order.push_back(drawn.slot);
    group.push_back(drawn.instance);
  }
  for (Slot* slot : order) add_batch(opaque_, *slot, groups[slot]);
  std::stable_sort(glass.begin(), glass.end(), [](const Drawn& a, const Drawn& b) { return a.distance > b.distance; });
  for (const Drawn& drawn : glass) add_batch(transparent_, *drawn.slot, {&drawn.instance, 1});
}

void GpuMeshes::add(const std::shared_ptr<const TriMesh>& mesh, std::span<const Instance> instances) {
  if (!instances.empty()) add_batch(opaque_, slot_of(mesh), instances);
}

void GpuMeshes::upload() {
  if (buffer_.get() == 0) buffer_ = GlBuffer::create();
  fill(buffer_, GL_ARRAY_BUFFER, std::span<const Instance>(instances_), GL_STREAM_DRAW);
  drop_unseen();
}

void GpuMeshes::drop_unseen() {
  std::erase_if(shared_, [&](const auto& entry) { return entry.second.seen != updates_; });
  std::erase_if(deforming_, [&](const auto& entry) { return entry.second.seen != updates_; });
}

}  // namespace pliant
