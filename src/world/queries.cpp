// Questions to the world. Boxes are brought up to date when the first question after a change is asked, so that those
// who never ask never pay.
#include <algorithm>
#include <cmath>

#include "world/world_impl.h"

namespace pliant {
namespace {

bool is_ray(Vec3 from, Vec3 direction, float max_distance) {
  return is_finite(from) && is_finite(direction) && length(direction) > 0 && max_distance > 0;
}

bool is_nearer(const RayHit& a, const RayHit& b) { return a.distance < b.distance; }

// Longer rays lose all precision; nothing is simulated that far out.
constexpr float kLongestRay = 1e7f;

}  // namespace

void World::Impl::prepare_queries() const {
  if (!queries_stale) return;
  queries_stale = false;
  const_cast<RigidEngine&>(rigid).update_for_queries();
}

std::optional<RayHit> World::ray_cast(Vec3 from, Vec3 direction, float max_distance, const QueryFilter& filter) const {
  if (!is_ray(from, direction, max_distance)) return {};
  impl_->prepare_queries();
  std::vector<RayHit> hits;
  impl_->rigid.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, false, hits);
  impl_->solid.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  impl_->layered.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  impl_->particle.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  const auto nearest = std::min_element(hits.begin(), hits.end(), is_nearer);
  return nearest == hits.end() ? std::nullopt : std::optional(*nearest);
}

std::vector<RayHit> World::ray_cast_all(Vec3 from, Vec3 direction, float max_distance,
                                        const QueryFilter& filter) const {
  if (!is_ray(from, direction, max_distance)) return {};
  impl_->prepare_queries();
  std::vector<RayHit> hits;
  impl_->rigid.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, true, hits);
  impl_->solid.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  impl_->layered.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  impl_->particle.ray_cast(from, direction, std::min(max_distance, kLongestRay), filter, hits);
  std::stable_sort(hits.begin(), hits.end(), is_nearer);
  return hits;
}

Result<std::vector<BodyId>> World::overlap(const Shape& shape, const Transform& world_from_shape,
                                           const QueryFilter& filter) const {
  if (!is_finite(world_from_shape))
    return impl_->refuse({.message = "the transform must be finite", .field = "overlap"});
  if (std::holds_alternative<TriangleMesh>(shape) || std::holds_alternative<Heightfield>(shape) ||
      std::holds_alternative<Plane>(shape)) {
    return impl_->refuse({.code = Error::Code::Unsupported,
                          .message = "the shape of an overlap query must be convex or a compound",
                          .field = "overlap"});
  }
  Result<std::shared_ptr<const RigidShape>> built = make_rigid_shape({.shape = shape, .motion = Motion::Kinematic});
  if (!built) return impl_->refuse(built.error());
  impl_->prepare_queries();
  std::vector<BodyId> bodies;
  impl_->rigid.overlap(**built, world_from_shape, filter, bodies);
  return bodies;
}

std::optional<ClosestPoint> World::closest_point(Vec3 point, float max_distance, const QueryFilter& filter) const {
  if (!is_finite(point) || !(max_distance > 0) || !std::isfinite(max_distance)) return {};
  impl_->prepare_queries();
  return impl_->rigid.closest_point(point, max_distance, filter);
}

}  // namespace pliant
