#include "embed/rope_surface.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr std::size_t kCapRings = 3;  ///< of a round end, beside its pole

/// Any direction across a unit vector.
Vec3 any_across(Vec3 along) {
  const Vec3 other = std::abs(along.y) < 0.9f ? Vec3{0, 1, 0} : Vec3{1, 0, 0};
  return normalized(cross(cross(along, other), along), {1, 0, 0});
}

/// Rows of vertices round a tube: the first and the last are one vertex each, its poles.
std::vector<Face> tube_faces(std::size_t rows, std::size_t sides) {
  std::vector<Face> faces;
  const auto vertex = [&](std::size_t row, std::size_t side) {
    return static_cast<std::uint32_t>(1 + row * sides + side % sides);
  };
  const auto last = static_cast<std::uint32_t>(1 + rows * sides);
  for (std::size_t s = 0; s < sides; ++s) {
    faces.push_back({0, vertex(0, s + 1), vertex(0, s)});
    for (std::size_t r = 0; r + 1 < rows; ++r) {
      faces.push_back({vertex(r, s), vertex(r, s + 1), vertex(r + 1, s + 1)});
      faces.push_back({vertex(r, s), vertex(r + 1, s + 1), vertex(r + 1, s)});
    }
    faces.push_back({last, vertex(rows - 1, s), vertex(rows - 1, s + 1)});
  }
  return faces;
}

}  // namespace

RopeSurface::RopeSurface(const World& world, BodyId body, const RopeDef& def) : radius_(def.radius) {
  const std::span<const Vec3> positions = *world.node_positions(body);
  build_mesh(positions.size(), world.state(body)->world_from_body.inverse(), positions);
}

void RopeSurface::build_mesh(std::size_t nodes, const Transform& body_from_world, std::span<const Vec3> positions) {
  nodes_ = nodes;
  // A rope of thousands of nodes is seen from farther away than a short one.
  pieces_ = nodes <= 500 ? 4 : nodes <= 4000 ? 2 : 1;
  sides_ = nodes <= 500 ? 12 : nodes <= 4000 ? 8 : 6;
  rings_.resize((nodes - 1) * pieces_ + 1);
  const std::size_t rows = rings_.size() + 2 * kCapRings;
  vertices_.resize(2 + rows * sides_);
  velocities_.resize(vertices_.size()), normals_.resize(vertices_.size());
  find_rings(positions, positions);
  turn_rings();
  place_vertices();
  TriMesh mesh;
  mesh.vertices = vertices_;
  for (Vec3& v : mesh.vertices) v = body_from_world * v;
  mesh.faces = tube_faces(rows, sides_);
  use(std::make_shared<const TriMesh>(std::move(mesh)));
}

/// A cubic curve through the nodes: at each it runs along the mean direction of the two segments there. Its slopes are
/// as long as the segment, so it leaves the straight pieces by a quarter of a segment at most, whatever the bend.
void RopeSurface::find_rings(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  const auto direction = [&](std::size_t i) { return normalized(positions[i + 1] - positions[i], {0, -1, 0}); };
  tangents_.resize(nodes_);
  for (std::size_t i = 0; i < nodes_; ++i) {
    const Vec3 before = direction(i > 0 ? i - 1 : 0), after = direction(i + 1 < nodes_ ? i : nodes_ - 2);
    // Where it turns right back there is no mean.
    tangents_[i] = normalized(before + after, any_across(before));
  }
  for (std::size_t i = 0; i + 1 < nodes_; ++i) {
    const Vec3 a = positions[i], b = positions[i + 1];
    const float reach = length(b - a);
    const Vec3 slope_a = reach * tangents_[i], slope_b = reach * tangents_[i + 1];
    for (std::size_t k = 0; k <= pieces_; ++k) {
      const float u = static_cast<float>(k) / static_cast<float>(pieces_), w = 1 - u;
      Ring& ring = rings_[i * pieces_ + k];
      ring.center = w * w * (1 + 2 * u) * a + u * u * (3 - 2 * u) * b + u * w * (w * slope_a - u * slope_b);
      ring.velocity = w * velocities[i] + u * velocities[i + 1];
      const Vec3 slope = 6 * u * w * (b - a) + w * (w - 2 * u) * slope_a + u * (u - 2 * w) * slope_b;
      ring.along = normalized(slope, tangents_[i]);
    }
  }
}

/// Each ring's directions are those of the one before, reflected twice: at the plane midway between the two, and so
/// that the tube's direction becomes the right one.
void RopeSurface::turn_rings() {
  const Vec3 start = rings_[0].along;
  first_across_ = normalized(first_across_ - dot(first_across_, start) * start, any_across(start));
  if (std::abs(dot(first_across_, start)) > 0.1f || !is_finite(first_across_)) first_across_ = any_across(start);
  rings_[0].across = first_across_;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    if (i > 0) {
      const Ring& before = rings_[i - 1];
      const Vec3 step = normalized(ring.center - before.center, before.along);
      const Vec3 across = before.across - 2 * dot(step, before.across) * step;
      const Vec3 along = before.along - 2 * dot(step, before.along) * step;
      const Vec3 turn = ring.along - along;
      const float size = dot(turn, turn);
      const Vec3 turned = size > 1e-12f ? across - (2 * dot(turn, across) / size) * turn : across;
      ring.across = normalized(turned - dot(turned, ring.along) * ring.along, any_across(ring.along));
    }
    ring.side = cross(ring.along, ring.across);
  }
}

void RopeSurface::place_vertices() {
  std::size_t next = 0;
  const auto put = [&](const Ring& ring, Vec3 normal) {
    vertices_[next] = ring.center + radius_ * normal;
    velocities_[next] = ring.velocity;
    normals_[next++] = normal;
  };
  // `tilt`: from -π/2 at the pole of the first end over 0 for the tube to π/2.
  const auto put_row = [&](const Ring& ring, float tilt) {
    for (std::size_t s = 0; s < sides_; ++s) {
      const float angle = 2 * kPi * static_cast<float>(s) / static_cast<float>(sides_);
      const Vec3 out = std::cos(angle) * ring.across + std::sin(angle) * ring.side;
      put(ring, std::cos(tilt) * out + std::sin(tilt) * ring.along);
    }
  };
  constexpr float kStep = 0.5f * kPi / (kCapRings + 1);
  put(rings_.front(), -rings_.front().along);
  for (std::size_t c = kCapRings; c > 0; --c) put_row(rings_.front(), -kStep * static_cast<float>(c));
  for (const Ring& ring : rings_) put_row(ring, 0);
  for (std::size_t c = 1; c <= kCapRings; ++c) put_row(rings_.back(), kStep * static_cast<float>(c));
  put(rings_.back(), rings_.back().along);
}

bool RopeSurface::update(Workers&, const World& world, BodyId body, std::optional<TetValue>) {
  const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
  const bool is_new = positions.size() != nodes_;
  if (is_new) build_mesh(positions.size(), world.state(body)->world_from_body.inverse(), positions);
  find_rings(positions, velocities);
  turn_rings();
  place_vertices();
  return is_new;
}

std::unique_ptr<DeformingSurface> make_surface(Workers&, const World& world, BodyId body, const RopeDef& def) {
  return std::make_unique<RopeSurface>(world, body, def);
}

}  // namespace pliant
