// A solid stepped on its own, without a world.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "math/vec3d.h"
#include "pliant/generators.h"
#include "pliant/solid.h"
#include "solid/solid_body.h"

namespace pliant {

/// A material of density 1000 without damping.
inline SolidMaterial elastic(float young, float poisson, Elasticity elasticity = Elasticity::Corotational) {
  SolidMaterial material;
  material.young_modulus = young;
  material.poisson_ratio = poisson;
  material.elasticity = elasticity;
  return material;
}

struct Rig {
  explicit Rig(SolidDef def, int threads = 1)
      : workers(threads), body(std::make_shared<const SolidDef>(std::move(def))) {}

  SolveResult step(float dt, Vec3 gravity = {}, std::span<const NodeTouch> touches = {}) {
    body.assemble(workers, dt);
    last = body.solve(workers, gravity, dt, touches);
    body.advance(workers, dt);
    body.settle(workers, dt);
    iterations += last.iterations;
    return last;
  }
  const TetMesh& mesh() const { return body.def().mesh; }

  /// Steps so long that inertia plays no part, until no node moves by more than `accuracy`. Returns how many it took,
  /// or −1 if it did not come to rest.
  int find_rest(float dt, Vec3 gravity, double accuracy, int most = 100) {
    for (int count = 1; count <= most; ++count) {
      step(dt, gravity);
      double moved = 0;
      for (std::uint32_t node = 0; node < body.node_count(); ++node) {
        moved = std::max(moved, static_cast<double>(length(body.velocity(node)) * dt));
        body.set_velocity(node, {});
      }
      if (!(moved < 1e30)) return -1;
      if (moved <= accuracy) return count;
    }
    return -1;
  }

  void hold_where(const std::function<bool(Vec3)>& where) {
    for (std::uint32_t node = 0; node < body.node_count(); ++node) {
      if (where(mesh().nodes[node])) body.hold(node, true);
    }
  }
  std::vector<std::uint32_t> nodes_where(const std::function<bool(Vec3)>& where) const {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < body.node_count(); ++node) {
      if (where(mesh().nodes[node])) nodes.push_back(node);
    }
    return nodes;
  }
  /// The mean displacement of nodes from their places in the mesh.
  Vec3d displacement(const std::vector<std::uint32_t>& nodes) const {
    Vec3d total;
    for (const std::uint32_t node : nodes) total += Vec3d(body.position(node)) - Vec3d(mesh().nodes[node]);
    return total / static_cast<double>(nodes.size());
  }
  bool is_finite() const {
    for (std::uint32_t node = 0; node < body.node_count(); ++node) {
      if (!pliant::is_finite(body.position(node)) || !pliant::is_finite(body.velocity(node))) return false;
    }
    return true;
  }

  Workers workers;
  SolidBody body;
  SolveResult last;
  int iterations = 0;
};

constexpr float kStep = 1.0f / 60;

/// A body over the plane y = 0.
struct GroundedRig : Rig {
  using Rig::Rig;
  float friction = 0.5f, margin = 0.1f;

  SolveResult step_on_ground(Vec3 gravity, float dt = kStep) {
    touches.clear();
    for (std::uint32_t node = 0; node < body.node_count(); ++node) {
      const float gap = body.position(node).y;
      if (gap < margin) touches.push_back({.node = node, .normal = {0, 1, 0}, .gap = gap, .friction = friction});
    }
    return step(dt, gravity, touches);
  }
  /// Sets the margin as the engine does: as far as the fastest node gets in the step, and a little more.
  void watch_motion(float more, Vec3 gravity, float dt) {
    float fastest = 0;
    for (std::uint32_t node = 0; node < body.node_count(); ++node) {
      fastest = std::max(fastest, length(body.velocity(node) + gravity * dt));
    }
    margin = more + fastest * dt;
  }
  Vec3d contact_impulse() const {
    Vec3d sum;
    body.for_each_contact([&](const SolidContactRows::Row&, Vec3 impulse) { sum += Vec3d(impulse); });
    return sum;
  }
  double lowest() const { return static_cast<double>(body.bounds().lower.y); }

  std::vector<NodeTouch> touches;
};

/// Volume now over volume at rest, and how many tets are inside out.
struct Shape3 {
  double volume = 0;
  int inverted = 0;
};
inline Shape3 shape_of(const Rig& rig) {
  Shape3 shape;
  for (const Tet& tet : rig.mesh().tets) {
    const auto x = [&](std::size_t c) { return Vec3d(rig.body.position(tet[c])); };
    const double six = six_volumes(x(0), x(1), x(2), x(3));
    shape.volume += six / 6;
    shape.inverted += six <= 0;
  }
  shape.volume /= rig.mesh().volume();
  return shape;
}

/// A box from x = 0 to `size.x`, centred in y and z.
inline TetMesh beam_mesh(Vec3 size, int nx, int ny, int nz) {
  TetMesh mesh = tet_box(size, nx, ny, nz);
  const Aabb bounds = mesh.bounds();
  for (Vec3& node : mesh.nodes) node.x -= bounds.lower.x;
  return mesh;
}
inline bool at(float a, float b, float scale = 1) { return std::abs(a - b) < 1e-4f * scale; }

/// Moves inner nodes (those off the bounding box) at random by at most `amount`.
inline void jitter_inside(TetMesh& mesh, float amount, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-amount, amount);
  const Aabb bounds = mesh.bounds();
  const float margin = 1e-4f * length(bounds.size());
  for (Vec3& x : mesh.nodes) {
    const bool inside = x.x > bounds.lower.x + margin && x.x < bounds.upper.x - margin &&
                        x.y > bounds.lower.y + margin && x.y < bounds.upper.y - margin &&
                        x.z > bounds.lower.z + margin && x.z < bounds.upper.z - margin;
    const Vec3 offset{uniform(random), uniform(random), uniform(random)};
    if (inside) x = x + offset;
  }
}

}  // namespace pliant
