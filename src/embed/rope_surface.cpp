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

/// Rows of vertices round a tube: the first and the last are one vertex each, its poles. Vertices begin at `first`.
void add_tube_faces(std::size_t first, std::size_t rows, std::size_t sides, std::vector<Face>& faces) {
  const auto vertex = [&](std::size_t row, std::size_t side) {
    return static_cast<std::uint32_t>(first + 1 + row * sides + side % sides);
  };
  const auto pole = static_cast<std::uint32_t>(first), last = static_cast<std::uint32_t>(first + 1 + rows * sides);
  for (std::size_t s = 0; s < sides; ++s) {
    faces.push_back({pole, vertex(0, s + 1), vertex(0, s)});
    for (std::size_t r = 0; r + 1 < rows; ++r) {
      faces.push_back({vertex(r, s), vertex(r, s + 1), vertex(r + 1, s + 1)});
      faces.push_back({vertex(r, s), vertex(r + 1, s + 1), vertex(r + 1, s)});
    }
    faces.push_back({last, vertex(rows - 1, s), vertex(rows - 1, s + 1)});
  }
}

}  // namespace

RopeSurface::RopeSurface(const World& world, BodyId body, const RopeDef& def) : radius_(def.radius) {
  build_mesh(*world.rope_segments(body), world.state(body)->world_from_body.inverse(), *world.node_positions(body));
}

/// Follows the segments, which are listed along the rope. A ring that has torn goes on from its last segment to its
/// first.
void RopeSurface::find_strands(Segments segments) {
  strands_.clear();
  segments_.assign(segments.begin(), segments.end());
  for (const auto& [from, to] : segments) {
    if (strands_.empty() || strands_.back().nodes.back() != from) strands_.push_back({{from}, {}, {0, 1, 0}});
    strands_.back().nodes.push_back(to);
  }
  if (strands_.size() < 2 || strands_.back().nodes.back() != strands_.front().nodes.front()) return;
  std::vector<std::uint32_t>& last = strands_.back().nodes;
  last.insert(last.end(), strands_.front().nodes.begin() + 1, strands_.front().nodes.end());
  strands_.erase(strands_.begin());
}

void RopeSurface::build_mesh(Segments segments, const Transform& body_from_world, std::span<const Vec3> positions) {
  find_strands(segments);
  // A rope of thousands of nodes is seen from farther away than a short one.
  const std::size_t nodes = positions.size();
  pieces_ = nodes <= 500 ? 4 : nodes <= 4000 ? 2 : 1;
  sides_ = nodes <= 500 ? 12 : nodes <= 4000 ? 8 : 6;
  TriMesh mesh;
  std::size_t vertices = 0;
  for (Strand& strand : strands_) {
    strand.rings.resize((strand.nodes.size() - 1) * pieces_ + 1);
    const std::size_t rows = strand.rings.size() + 2 * kCapRings;
    add_tube_faces(vertices, rows, sides_, mesh.faces);
    vertices += 2 + rows * sides_;
  }
  vertices_.resize(vertices), velocities_.resize(vertices), normals_.resize(vertices);
  place_vertices(positions, positions);
  mesh.vertices = vertices_;
  for (Vec3& v : mesh.vertices) v = body_from_world * v;
  use(std::make_shared<const TriMesh>(std::move(mesh)));
}

/// A cubic curve through the nodes: at each it runs along the mean direction of the two segments there. Its slopes are
/// as long as the segment, so it leaves the straight pieces by a quarter of a segment at most, whatever the bend.
void RopeSurface::find_rings(Strand& strand, std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  const std::vector<std::uint32_t>& nodes = strand.nodes;
  const std::size_t count = nodes.size();
  const auto direction = [&](std::size_t i) {
    return normalized(positions[nodes[i + 1]] - positions[nodes[i]], {0, -1, 0});
  };
  tangents_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Where a ring begins and ends it goes on.
    const std::size_t first = strand.is_closed() ? count - 2 : 0, last = strand.is_closed() ? 0 : count - 2;
    const Vec3 before = direction(i > 0 ? i - 1 : first), after = direction(i + 1 < count ? i : last);
    // Where it turns right back there is no mean.
    tangents_[i] = normalized(before + after, any_across(before));
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const Vec3 a = positions[nodes[i]], b = positions[nodes[i + 1]];
    const float reach = length(b - a);
    const Vec3 slope_a = reach * tangents_[i], slope_b = reach * tangents_[i + 1];
    for (std::size_t k = 0; k <= pieces_; ++k) {
      const float u = static_cast<float>(k) / static_cast<float>(pieces_), w = 1 - u;
      Ring& ring = strand.rings[i * pieces_ + k];
      ring.center = w * w * (1 + 2 * u) * a + u * u * (3 - 2 * u) * b + u * w * (w * slope_a - u * slope_b);
      ring.velocity = w * velocities[nodes[i]] + u * velocities[nodes[i + 1]];
      const Vec3 slope = 6 * u * w * (b - a) + w * (w - 2 * u) * slope_a + u * (u - 2 * w) * slope_b;
      ring.along = normalized(slope, tangents_[i]);
    }
  }
}

/// Each ring's directions are those of the one before, reflected twice: at the plane midway between the two, and so
/// that the tube's direction becomes the right one.
void RopeSurface::turn_rings(Strand& strand) {
  const Vec3 start = strand.rings[0].along;
  Vec3& first = strand.first_across;
  first = normalized(first - dot(first, start) * start, any_across(start));
  if (std::abs(dot(first, start)) > 0.1f || !is_finite(first)) first = any_across(start);
  strand.rings[0].across = first;
  for (std::size_t i = 0; i < strand.rings.size(); ++i) {
    Ring& ring = strand.rings[i];
    if (i > 0) {
      const Ring& before = strand.rings[i - 1];
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

void RopeSurface::place_vertices(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
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
  for (Strand& strand : strands_) {
    find_rings(strand, positions, velocities);
    turn_rings(strand);
    const Ring &first = strand.rings.front(), &last = strand.rings.back();
    put(first, -first.along);
    for (std::size_t c = kCapRings; c > 0; --c) put_row(first, -kStep * static_cast<float>(c));
    for (const Ring& ring : strand.rings) put_row(ring, 0);
    for (std::size_t c = 1; c <= kCapRings; ++c) put_row(last, kStep * static_cast<float>(c));
    put(last, last.along);
  }
}

bool RopeSurface::update(Workers&, const World& world, BodyId body, std::optional<TetValue>) {
  const std::span<const Vec3> positions = *world.node_positions(body), velocities = *world.node_velocities(body);
  const Segments segments = *world.rope_segments(body);
  const bool is_new = !std::equal(segments.begin(), segments.end(), segments_.begin(), segments_.end());
  if (is_new) build_mesh(segments, world.state(body)->world_from_body.inverse(), positions);
  place_vertices(positions, velocities);
  return is_new;
}

std::unique_ptr<DeformingSurface> make_surface(Workers&, const World& world, BodyId body, const RopeDef& def) {
  return std::make_unique<RopeSurface>(world, body, def);
}

}  // namespace pliant
