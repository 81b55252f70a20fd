#include "collide/rigid_features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.h"
#include "geometry/convex_hull.h"

namespace pliant {
namespace {

using Piece = RigidFeatures::Piece;

/// How far features may stray until they are looked for anew, as a share of the depth: that of the deforming surface
/// counts, for a shape may be as large as the world.
constexpr float kSlack = 0.1f;
/// How much larger than what is near a window is, as a share of its size.
constexpr float kWindowSlack = 0.25f;

Piece piece_of(const Sphere& s) {
  return {.points = {{}, {}}, .faces = {}, .free_edges = {{0, 1}}, .radius = s.radius};
}

Piece piece_of(const Capsule& s) {
  return {.points = {{0, -0.5f * s.height, 0}, {0, 0.5f * s.height, 0}},
          .faces = {},
          .free_edges = {{0, 1}},
          .radius = s.radius};
}

Piece piece_of(const Box& s) {
  Piece piece;
  for (int i = 0; i < 8; ++i) {
    piece.points.push_back(
        {(i & 1 ? 0.5f : -0.5f) * s.size.x, (i & 2 ? 0.5f : -0.5f) * s.size.y, (i & 4 ? 0.5f : -0.5f) * s.size.z});
  }
  for (const std::array<std::uint32_t, 4>& q : {std::array<std::uint32_t, 4>{0, 4, 6, 2},
                                                {1, 3, 7, 5},
                                                {0, 1, 5, 4},
                                                {2, 6, 7, 3},
                                                {0, 2, 3, 1},
                                                {4, 5, 7, 6}}) {
    piece.faces.push_back({q[0], q[1], q[2]});
    piece.faces.push_back({q[0], q[2], q[3]});
  }
  return piece;
}

/// A ring of points at each height, and a fan of faces from its first point where it is a cap.
Piece turned(float radius, float height, bool has_tip) {
  constexpr std::uint32_t n = RigidFeatures::kRimSegments;
  Piece piece;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float angle = 2 * kPi * float(i) / float(n);
    piece.points.push_back({radius * std::cos(angle), -0.5f * height, radius * std::sin(angle)});
  }
  for (std::uint32_t i = 2; i < n; ++i) piece.faces.push_back({0, i - 1, i});
  if (has_tip) {
    piece.points.push_back({0, 0.5f * height, 0});
    for (std::uint32_t i = 0; i < n; ++i) piece.faces.push_back({i, n, (i + 1) % n});
    return piece;
  }
  for (std::uint32_t i = 0; i < n; ++i) piece.points.push_back(piece.points[i] + Vec3{0, height, 0});
  for (std::uint32_t i = 2; i < n; ++i) piece.faces.push_back({n, n + i, n + i - 1});
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t j = (i + 1) % n;
    piece.faces.push_back({i, n + i, n + j});
    piece.faces.push_back({i, n + j, j});
  }
  return piece;
}

Piece piece_of(const Cylinder& s) { return turned(s.radius, s.height, false); }
Piece piece_of(const Cone& s) { return turned(s.radius, s.height, true); }

/// Vertices at one place become one, so that edges know both their faces; faces that name one twice are left out.
Piece welded(std::span<const Vec3> vertices, std::span<const Face> faces) {
  Piece piece;
  std::map<std::array<float, 3>, std::uint32_t> known;
  std::vector<std::uint32_t> point_of;
  for (const Vec3 p : vertices) {
    const auto [at, is_new] = known.try_emplace({p.x, p.y, p.z}, std::uint32_t(piece.points.size()));
    if (is_new) piece.points.push_back(p);
    point_of.push_back(at->second);
  }
  for (const Face& f : faces) {
    const Face g{point_of[f[0]], point_of[f[1]], point_of[f[2]]};
    if (g[0] != g[1] && g[1] != g[2] && g[2] != g[0]) piece.faces.push_back(g);
  }
  return piece;
}

Piece piece_of(const ConvexHull& s) {
  const TriMesh hull = *convex_hull(s.points);
  return welded(hull.vertices, hull.faces);
}

Piece piece_of(const TriangleMesh& s) { return welded(s.mesh->vertices, s.mesh->faces); }

Piece piece_of(const Heightfield& s) {
  const TriMesh mesh = tessellate(s);
  return welded(mesh.vertices, mesh.faces);
}

Piece piece_of(const Plane&) { return {}; }

void add_pieces(const Shape& shape, const Transform& placement, std::vector<Piece>& pieces) {
  std::visit(
      [&](const auto& s) {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Compound>) {
          for (const CompoundPart& part : s.parts) add_pieces(part.shape, placement * part.body_from_part, pieces);
        } else {
          Piece piece = piece_of(s);
          for (Vec3& p : piece.points) p = placement * p;
          if (!piece.points.empty()) pieces.push_back(std::move(piece));
        }
      },
      shape);
}

/// Edges between faces that are less than 60° apart, and corners all of whose edges are within 45° of one direction.
bool is_sharp(const Piece& piece) {
  constexpr float kBlade = -0.5f, kTip = 0.7071f;
  std::map<NodePair, Vec3> normal_beside;
  std::vector<Vec3> axes(piece.points.size());
  for (const Face& f : piece.faces) {
    const Vec3 a = piece.points[f[0]], b = piece.points[f[1]], c = piece.points[f[2]];
    const Vec3 normal = normalized(cross(b - a, c - a), {});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t from = f[k], to = f[(k + 1) % 3];
      axes[from] += normalized(piece.points[to] - piece.points[from], {});
      const auto [at, is_new] = normal_beside.try_emplace(NodePair{std::min(from, to), std::max(from, to)}, normal);
      if (!is_new && dot(at->second, normal) < kBlade) return true;
    }
  }
  for (Vec3& axis : axes) axis = normalized(axis, {});
  std::vector<std::uint8_t> is_tip(piece.points.size(), 1);
  for (const auto& [edge, normal] : normal_beside) {
    const Vec3 along = normalized(piece.points[edge[1]] - piece.points[edge[0]], {});
    if (dot(axes[edge[0]], along) < kTip) is_tip[edge[0]] = 0;
    if (-dot(axes[edge[1]], along) < kTip) is_tip[edge[1]] = 0;
  }
  for (const Face& f : piece.faces) {
    if (is_tip[f[0]] || is_tip[f[1]] || is_tip[f[2]]) return true;
  }
  return false;
}

void prepare(Piece& piece) {
  piece.is_sharp = is_sharp(piece);
  Aabb box;
  for (const Vec3 p : piece.points) box.include(p);
  const Vec3 size = box.expanded(piece.radius).size();
  piece.size = std::min({size.x, size.y, size.z});
  if (!piece.is_large()) return;
  std::vector<Aabb> boxes(piece.faces.size());
  for (std::size_t f = 0; f < boxes.size(); ++f) {
    for (const std::uint32_t p : piece.faces[f]) boxes[f].include(piece.points[p]);
  }
  piece.bvh.build(boxes);
}

bool contains(const Aabb& outer, const Aabb& inner) {
  return outer.contains(inner.lower) && outer.contains(inner.upper);
}

/// Around a box of the world as a body sees it on its way through the substep.
Aabb seen_from(const RigidPath& motion, const Aabb& box, float h) {
  const Transform shape_from_world = motion.world_from_shape.inverse();
  Aabb seen;
  for (int i = 0; i < 8; ++i) {
    const Vec3 corner{(i & 1 ? box.upper : box.lower).x, (i & 2 ? box.upper : box.lower).y,
                      (i & 4 ? box.upper : box.lower).z};
    seen.include(shape_from_world * corner);
    seen.include(shape_from_world * (corner - h * motion.velocity_at(corner)));
  }
  return seen;
}

}  // namespace

RigidFeatures::RigidFeatures(const Shape& shape) {
  validate(shape).require();
  add_pieces(shape, {}, pieces_);
  for (Piece& piece : pieces_) prepare(piece);
}

bool RigidFeatures::may_pass_between(float cell) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.is_sharp || piece.size < 2 * cell; });
}

bool RigidFeatures::is_met_by_nodes(float cell) const {
  // Edges are as long as the diagonal of a cell, or a little more; the sagitta of one is its square over 8 radii.
  constexpr float kCells = 6;
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.faces.empty() && piece.radius > kCells * cell; });
}

const std::shared_ptr<const RigidFeatures>& RigidFeaturesOfShapes::of(const std::shared_ptr<const Shape>& shape) {
  Known& known = known_[shape.get()];
  if (!known.features || known.shape.lock() != shape) {
    known = {shape, std::make_shared<const RigidFeatures>(*shape)};
    // A good moment to forget shapes that are gone.
    std::erase_if(known_, [](const auto& entry) { return entry.second.shape.expired(); });
  }
  return known_[shape.get()].features;
}

RigidContacts::RigidContacts(std::shared_ptr<const RigidFeatures> features)
    : features_(std::move(features)), parts_(features_->pieces().size()) {
  for (Part& part : parts_) part.search.skip_nodes_of_b();
}

std::span<const RigidContact> RigidContacts::find(const SurfaceTree& surface, const RigidPath& motion, float depth,
                                                  Workers& workers, SurfaceContacts::Scratch& scratch) {
  contacts_.clear();
  tests_ = 0;
  overflowed_ = false;
  const Aabb near = surface.bounds();
  if (near.is_empty() || !is_finite(near.size())) return contacts_;
  const float h = surface.substep();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Piece& piece = features_->pieces()[i];
    Part& part = parts_[i];
    const Aabb seen = piece.is_large() ? seen_from(motion, near.expanded(depth + surface.margin()), h) : Aabb{};
    const bool is_open = part.tree || (piece.is_large() && !part.window.is_empty());
    if (!is_open || depth != depth_ || (piece.is_large() && !contains(part.window, seen))) {
      const Vec3 size = seen.size();
      open_window(i, piece.is_large() ? seen.expanded(kWindowSlack * std::max({size.x, size.y, size.z})) : seen, depth);
    }
    if (part.tree) look(i, surface, motion, workers, scratch);
  }
  depth_ = depth;
  return contacts_;
}

/// Takes the faces within it, in their order, and builds a tree over them.
void RigidContacts::open_window(std::size_t index, const Aabb& window, float depth) {
  const Piece& piece = features_->pieces()[index];
  Part& part = parts_[index];
  part.window = window;
  part.tree.reset();
  std::vector<Face> faces = piece.faces;
  if (piece.is_large()) {
    std::vector<std::uint32_t> inside;
    piece.bvh.for_each_overlap(window, [&](std::uint32_t f) { inside.push_back(f); });
    std::sort(inside.begin(), inside.end());
    faces.clear();
    for (const std::uint32_t f : inside) faces.push_back(piece.faces[f]);
    if (faces.empty()) return;
  }
  part.vertices.clear();
  for (const Face& f : faces) part.vertices.insert(part.vertices.end(), f.begin(), f.end());
  for (const NodePair& e : piece.free_edges) part.vertices.insert(part.vertices.end(), e.begin(), e.end());
  std::sort(part.vertices.begin(), part.vertices.end());
  part.vertices.erase(std::unique(part.vertices.begin(), part.vertices.end()), part.vertices.end());
  const auto place_of = [&](std::uint32_t vertex) {
    return std::uint32_t(std::lower_bound(part.vertices.begin(), part.vertices.end(), vertex) - part.vertices.begin());
  };
  for (Face& f : faces) f = {place_of(f[0]), place_of(f[1]), place_of(f[2])};
  std::vector<Vec4> rest;
  for (const std::uint32_t v : part.vertices) {
    const Vec3 p = piece.points[v];
    rest.push_back({p.x, p.y, p.z, 0});
  }
  part.x.resize(rest.size());
  part.v.resize(rest.size());
  // A plate must not be left at its far side.
  const float inner = piece.faces.empty() ? 0.0f : std::min(depth, 0.5f * std::max(piece.size, 1e-3f));
  auto topology = make_surface_topology({.faces = faces,
                                         .free_edges = piece.free_edges,
                                         .rest = rest,
                                         .radius = piece.radius,
                                         .first_feature = 0,
                                         .depth = piece.is_large() ? depth : inner,
                                         .flatness = 0.01f * depth,
                                         .slack = kSlack * depth});
  if (topology) part.tree = std::make_unique<SurfaceTree>(std::move(topology).value(), false);
}

void RigidContacts::look(std::size_t index, const SurfaceTree& surface, const RigidPath& motion, Workers& workers,
                         SurfaceContacts::Scratch& scratch) {
  const Piece& piece = features_->pieces()[index];
  Part& part = parts_[index];
  for (std::size_t i = 0; i < part.x.size(); ++i) {
    part.x[i] = motion.world_from_shape * piece.points[part.vertices[i]];
    part.v[i] = motion.velocity_at(part.x[i]);
  }
  part.tree->refit(part.x, part.v, {}, surface.substep(), surface.margin(), workers);
  const Aabb near = surface.bounds().expanded(surface.topology().surprise);
  if (!part.tree->bounds().overlaps(near)) return part.search.sides().clear();
  for (const SurfaceContact& contact : part.search.find(*part.tree, surface, workers, scratch)) add(index, contact);
  tests_ += part.search.report().tests;
  overflowed_ |= part.search.report().overflowed();
}

void RigidContacts::add(std::size_t index, const SurfaceContact& contact) {
  const Part& part = parts_[index];
  const std::uint32_t split = contact.is_edges() ? 2 : 1;
  const bool is_sphere = part.x.size() == 2 && part.x[0] == part.x[1];
  if (is_sphere && (contact.is_edges() || contact.nodes[0] != 0)) return;  // its one point is there twice
  RigidContact row{.normal = -contact.normal, .gap = contact.gap};
  Hasher key;
  key.add(std::uint64_t{index} << 1 | std::uint64_t{contact.is_edges()});
  for (std::uint32_t k = 0; k < split; ++k) {
    row.point += contact.weights[k] * part.x[contact.nodes[k]];
    key.add(part.vertices[contact.nodes[k]]);
  }
  row.point += features_->pieces()[index].radius * row.normal;
  for (std::uint32_t k = split; k < 4; ++k) {
    row.nodes[row.count] = contact.nodes[k];
    row.weights[row.count++] = -contact.weights[k];
    key.add(contact.nodes[k]);
  }
  row.key = key.value();
  contacts_.push_back(row);
}

RigidContacts::Memory RigidContacts::memory() const {
  Memory memory;
  memory.depth = depth_;
  for (const Part& part : parts_) {
    const auto notes = part.search.sides().notes();
    memory.parts.push_back({part.window,
                            {notes.begin(), notes.end()},
                            part.search.candidates(),
                            part.tree ? part.tree->fit() : SurfaceTree::Fit{}});
  }
  return memory;
}

void RigidContacts::restore(const Memory& memory, Workers& workers) {
  if (memory.parts.size() != parts_.size()) return;
  depth_ = memory.depth;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Memory::Part& saved = memory.parts[i];
    open_window(i, saved.window, depth_);
    if (!parts_[i].tree) continue;
    parts_[i].tree->restore(saved.fit, workers);
    parts_[i].search.sides().assign(saved.sides);
    parts_[i].search.restore(saved.candidates);
  }
}

}  // namespace pliant
