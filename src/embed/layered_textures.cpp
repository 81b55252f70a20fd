#include "pliant/layered_textures.h"

#include <algorithm>

#include <fmt/format.h>

#include "geometry/bvh.h"

namespace pliant {

Result<LayeredTextures> LayeredTextures::create(const World& world, BodyId body, int resolution) {
  const Result<const LayeredDef*> def = world.layered_def(body);
  if (!def) return def.error();
  constexpr int kMost = 8192;
  if (resolution < 1 || resolution > kMost) {
    return Error{.message = fmt::format("{} texels a side were asked for: choose from 1 to {}", resolution, kMost),
                 .field = "resolution"};
  }
  LayeredTextures out;
  out.body_ = body;
  out.surface_ = (*def)->atlas.surface;
  out.layout_ = layout_of((*def)->atlas);
  if (out.layout_.empty()) {
    return Error{.message =
                     "the body's surface is not laid out: make its atlas by make_atlas, or give its surface a "
                     "`resolution`",
                 .field = "body"};
  }
  out.map_ = make_texel_map(out.layout_, resolution);
  for (VectorTexture* t : {&out.positions_, &out.normals_, &out.contacts_}) {
    *t = {resolution, resolution, std::vector<Vec3>(out.map_.texels.size())};
  }
  if (Status status = out.update(world); !status) return status.error();
  return out;
}

Status LayeredTextures::update(const World& world) {
  const Result<std::span<const Vec3>> nodes = world.node_positions(body_);
  if (!nodes) return nodes.error();
  surface_.vertices.assign(nodes->begin(), nodes->end());
  fill_texture(map_, surface_, *nodes, positions_.values);
  fill_texture(map_, surface_, compute_normals(surface_), normals_.values);
  for (Vec3& n : normals_.values) n = normalized(n, {});
  gather_contacts(world, *nodes);
  fill_texture(map_, surface_, impulses_, contacts_.values);
  return {};
}

void LayeredTextures::gather_contacts(const World& world, std::span<const Vec3> nodes) {
  impulses_.assign(nodes.size(), {});
  Bvh tree;
  for (const Contact& contact : world.events().contacts) {
    if (contact.a != body_ && contact.b != body_) continue;
    if (tree.empty()) {
      std::vector<Aabb> points(nodes.size());
      for (std::size_t i = 0; i < nodes.size(); ++i) points[i].include(nodes[i]);
      tree.build(points);
    }
    std::size_t nearest = nodes.size();
    tree.find_closest(contact.position, std::numeric_limits<float>::max(), [&](std::uint32_t i, float limit) {
      const Vec3 apart = nodes[i] - contact.position;
      if (!(dot(apart, apart) < limit)) return limit;
      nearest = i;
      return dot(apart, apart);
    });
    if (nearest == nodes.size()) continue;
    const Vec3 impulse = contact.normal * contact.normal_impulse + contact.friction_impulse;
    impulses_[nearest] += contact.a == body_ ? impulse : -impulse;
  }
}

}  // namespace pliant
