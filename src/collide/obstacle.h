// A rigid body as bodies of nodes meet it.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "geometry/shape_distance.h"
#include "pliant/defs.h"
#include "pliant/ids.h"

namespace pliant {

struct Obstacle {
  BodyId id{};
  std::shared_ptr<const Shape> shape{};  ///< the same object as long as the body has the same shape
  Transform world_from_shape{};
  Vec3 velocity{}, angular_velocity{}, center_of_mass{};
  Aabb bounds{};  ///< of the way it goes in this substep
  float friction = 0.5f;
  CollisionFilter filter{};
  bool moves = false;
  bool is_dynamic = false;  ///< gives way

  Vec3 velocity_at(Vec3 point) const { return velocity + cross(angular_velocity, point - center_of_mass); }
};

inline bool collide(CollisionFilter a, CollisionFilter b) {
  return (a.category & b.mask) != 0 && (b.category & a.mask) != 0;
}

/// Shapes prepared for questions of distance, one for each as long as it lives.
class ShapeProbes {
 public:
  const ShapeProbe& of(const std::shared_ptr<const Shape>& shape) {
    auto& known = probes_[shape.get()];
    if (!known.second || known.first.lock() != shape) {
      known = {shape, std::make_unique<ShapeProbe>(*shape)};
      // A good moment to forget shapes that are gone.
      std::erase_if(probes_, [](const auto& entry) { return entry.second.first.expired(); });
    }
    return *probes_[shape.get()].second;
  }

 private:
  std::map<const Shape*, std::pair<std::weak_ptr<const Shape>, std::unique_ptr<ShapeProbe>>> probes_;
};

}  // namespace pliant
