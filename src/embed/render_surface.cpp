#include "embed/render_surface.h"

#include <type_traits>

namespace pliant {
namespace {

/// Appends bytes of numbers.
class KeyWriter {
 public:
  template <typename T>
  KeyWriter& operator<<(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_same_v<T, Vec3> ||
                  std::is_same_v<T, Quat>);  // without padding
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  template <typename T>
  KeyWriter& array(const std::vector<T>& values) {
    *this << values.size();
    key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return *this;
  }
  std::string key;
};

void write(KeyWriter& k, const Sphere& s) { k << s.radius; }
void write(KeyWriter& k, const Box& s) { k << s.size; }
void write(KeyWriter& k, const Capsule& s) { k << s.radius << s.height; }
void write(KeyWriter& k, const Cylinder& s) { k << s.radius << s.height; }
void write(KeyWriter& k, const Cone& s) { k << s.radius << s.height; }
void write(KeyWriter& k, const ConvexHull& s) { k.array(s.points); }
void write(KeyWriter& k, const TriangleMesh& s) { k << s.mesh.get(); }
void write(KeyWriter& k, const Heightfield& s) { (k << s.columns << s.rows << s.cell).array(s.heights); }
void write(KeyWriter& k, const Plane& s) { k << s.normal << s.offset; }
void write(KeyWriter& k, const Compound& s);

void write_shape(KeyWriter& k, const Shape& shape) {
  k << shape.index();
  std::visit([&](const auto& s) { write(k, s); }, shape);
}

void write(KeyWriter& k, const Compound& s) {
  k << s.parts.size();
  for (const CompoundPart& part : s.parts) {
    k << part.body_from_part.position << part.body_from_part.rotation;
    write_shape(k, part.shape);
  }
}

}  // namespace

std::string shape_key(const Shape& shape) {
  KeyWriter writer;
  write_shape(writer, shape);
  return std::move(writer.key);
}

std::shared_ptr<const TriMesh> SurfacePublisher::mesh_of(const Shape& shape) {
  std::weak_ptr<const TriMesh>& slot = meshes_[shape_key(shape)];
  std::shared_ptr<const TriMesh> mesh = slot.lock();
  if (!mesh) slot = mesh = std::make_shared<const TriMesh>(tessellate(shape, detail_));
  return mesh;
}

SurfacePublisher::Known SurfacePublisher::first_look(const World& world, BodyId body) {
  if (world.kind(body) != BodyKind::Rigid) return first_look_at_nodes(world, body);
  const RigidDef& def = **world.def(body);
  Known known;
  known.surface.body = body;
  known.surface.name = def.name;
  known.surface.mesh = mesh_of(def.shape);
  known.surface.appearance = def.appearance;
  known.surface.moves = def.motion != Motion::Static;
  known.surface.endless = std::holds_alternative<Plane>(def.shape);
  return known;
}

SurfacePublisher::Known SurfacePublisher::first_look_at_nodes(const World& world, BodyId body) {
  Known known;
  known.surface.body = body;
  const auto look_at = [&](const auto& def) {
    if constexpr (std::is_same_v<std::decay_t<decltype(def)>, SolidDef>) {
      known.nodes = make_surface(*workers_, world, body, def, *carried_);
    } else {
      known.nodes = make_surface(*workers_, world, body, def);
    }
    known.surface.name = def.name;
    known.surface.appearance = def.appearance;
    known.surface.is_sheet = std::is_same_v<std::decay_t<decltype(def)>, ClothDef>;
  };
  if (const Result<const SolidDef*> solid = world.solid_def(body)) {
    look_at(**solid);
  } else if (const Result<const LayeredDef*> layered = world.layered_def(body)) {
    look_at(**layered);
  } else {
    std::visit(look_at, **world.particle_def(body));
  }
  known.surface.mesh = known.nodes->mesh();
  return known;
}

std::span<const RenderSurface> SurfacePublisher::update(const World& world) {
  ++updates_;
  surfaces_.clear();
  for (const BodyId body : world.bodies()) {
    auto known = known_.find(body);
    if (known == known_.end()) known = known_.emplace(body, first_look(world, body)).first;
    known->second.seen = updates_;
    RenderSurface& surface = known->second.surface;
    const BodyState state = *world.state(body);
    surface.world_from_body = state.world_from_body;
    surface.velocity = state.velocity;
    surface.angular_velocity = state.angular_velocity;
    surface.center_of_mass = state.center_of_mass;
    if (DeformingSurface* nodes = known->second.nodes.get()) {
      if (nodes->update(*workers_, world, body, value_)) surface.mesh = nodes->mesh(), ++surface.revision;
      surface.vertices = nodes->vertices();
      surface.velocities = nodes->velocities();
      surface.normals = nodes->normals();
      surface.values = nodes->values();
      surface.colors = nodes->colors();
    }
    surfaces_.push_back(surface);
    surfaces_.back().appearance.opacity *= state.opacity;
  }
  for (auto known = known_.begin(); known != known_.end();) {
    known = known->second.seen == updates_ ? std::next(known) : known_.erase(known);
  }
  return surfaces_;
}

}  // namespace pliant
