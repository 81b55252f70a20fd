// Layers on atlases of meshes: a symmetric matrix, and deformation that does not show where the seams are.
#include <algorithm>
#include <cmath>
#include <map>

#include "math/vec3d.h"
#include "pliant/generators.h"

#include "layered_support.h"

namespace pliant {
namespace {

struct Case {
  const char* name;
  LayeredDef def;
};

LayeredDef def_of(const TriMesh& mesh, float thickness, int resolution = 80) {
  LayeredDef def;
  def.atlas = make_atlas(mesh, {.resolution = resolution}).value();
  def.thickness = thickness;
  def.core_is_fixed = true;
  def.material.young_modulus = 2e4f;
  def.material.poisson_ratio = 0.3f;
  def.tolerance = 1e-5f;
  return def;
}

/// Five bodies, each with charts of our own, and with texture coordinates that are cut elsewhere.
std::vector<Case> make_cases() {
  std::vector<Case> out;
  const auto add = [&](const char* name, TriMesh mesh, float thickness) {
    mesh.uvs.clear();
    out.push_back({name, def_of(mesh, thickness)});
    const Atlas painted = make_atlas(mesh, {.resolution = 64}).value();
    out.push_back({name, def_of(cut_open(painted), thickness)});
  };
  add("duck", tri_duck(0.5f, 0.025f), 0.03f);
  add("gear", tri_gear(), 0.04f);
  add("teapot", tri_teapot(0.6f), 0.02f);
  add("pumpkin", tri_pumpkin(), 0.06f);
  add("head", tri_head(0.5f, 0.02f), 0.03f);
  return out;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = make_cases();
  return list;
}

/// Nodes with more than one place in the texture.
std::vector<bool> seam_nodes(const Atlas& atlas) {
  std::vector<int> places(atlas.node_count(), 0);
  for (const std::uint32_t node : atlas.layout.nodes) ++places[node];
  std::vector<bool> out;
  for (const int n : places) out.push_back(n > 1);
  return out;
}

TEST(LayeredAtlas, MatrixIsSymmetric) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto body = make_body(c.def);
    const LayeredLayer& layer = body->layer();
    QuadVectors x, y;
    x.assign(layer.node_count()), y.assign(layer.node_count());
    unsigned seed = 1;
    const auto random = [&] { return float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1 << 24) - 0.5f; };
    for (std::uint32_t i = 0; i < layer.node_count(); ++i) {
      x.set(i, {random(), random(), random()}), y.set(i, {random(), random(), random()});
    }
    double xky = 0, ykx = 0, scale = 0;
    for (std::uint32_t i = 0; i < layer.node_count(); ++i) {
      const LaneVec3<Float8> kx = layer.stiffness_times(i / 8, x), ky = layer.stiffness_times(i / 8, y);
      const Vec3d fx(double(kx.x[i % 8]), double(kx.y[i % 8]), double(kx.z[i % 8]));
      const Vec3d fy(double(ky.x[i % 8]), double(ky.y[i % 8]), double(ky.z[i % 8]));
      ykx += dot(Vec3d(y.get(i)), fx), xky += dot(Vec3d(x.get(i)), fy);
      scale += length(fx) * length(Vec3d(y.get(i)));
    }
    EXPECT_LT(std::abs(xky - ykx), 1e-6 * scale);
  }
}

/// Displacements under forces on the nodes: with steps of a second, inertia hardly counts.
std::vector<Vec3d> pressed(const LayeredDef& def, const std::vector<Vec3>& forces) {
  const auto body = make_body(def);
  Workers workers(2);
  for (int step = 0; step < 6; ++step) {
    for (std::uint32_t i = 0; i < forces.size(); ++i) body->push_node(i, forces[i]);
    body->solve(workers, {}, 1), body->advance(workers, 1);
  }
  std::vector<Vec3d> out;
  for (std::uint32_t i = 0; i < body->node_count(); ++i) out.emplace_back(body->state().displacement.get(i));
  return out;
}

/// A pressure of one pascal, inward.
std::vector<Vec3> pressure(const TriMesh& surface) {
  std::vector<Vec3> forces(surface.vertices.size());
  for (const Face& f : surface.faces) {
    const Vec3d a(surface.vertices[f[0]]);
    const Vec3d area = 0.5 * cross(Vec3d(surface.vertices[f[1]]) - a, Vec3d(surface.vertices[f[2]]) - a);
    for (const std::uint32_t v : f) forces[v] += (area / -3).to_float();
  }
  return forces;
}

/// Each face seen along the axis it faces most: six charts whose seams run across the triangles' rows.
TriMesh with_box_uvs(const TriMesh& mesh) {
  TriMesh out;
  for (const Face& f : mesh.faces) {
    const Vec3 middle = (mesh.vertices[f[0]] + mesh.vertices[f[1]] + mesh.vertices[f[2]]) / 3.0f;
    std::size_t axis = 0;
    for (std::size_t k = 1; k < 3; ++k) axis = std::abs(middle[k]) > std::abs(middle[axis]) ? k : axis;
    const auto first = std::uint32_t(out.vertices.size());
    for (const std::uint32_t v : f) {
      const Vec3 p = mesh.vertices[v];
      out.vertices.push_back(p);
      out.uvs.push_back({p[(axis + 1) % 3], p[(axis + 2) % 3]});
    }
    out.faces.push_back({first, first + 1, first + 2});
  }
  return out;
}

/// The largest jump of the outward displacement over a seam: between the means of the nodes next to it on either side.
double largest_jump(const Atlas& atlas, const std::vector<Vec3d>& displacement) {
  const std::vector<bool> on_seam = seam_nodes(atlas);
  // Sum and count by seam node and chart.
  std::vector<std::map<std::uint32_t, std::pair<double, int>>> sides(atlas.node_count());
  for (std::size_t f = 0; f < atlas.surface.faces.size(); ++f) {
    for (const std::uint32_t node : atlas.surface.faces[f]) {
      for (const std::uint32_t other : atlas.surface.faces[f]) {
        if (!on_seam[node] || on_seam[other]) continue;
        auto& [sum, count] = sides[node][atlas.layout.charts[f]];
        sum += dot(displacement[other], normalized(Vec3d(atlas.surface.vertices[other]))), ++count;
      }
    }
  }
  double most = 0;
  for (const auto& charts : sides) {
    double low = 1e300, high = -1e300;
    for (const auto& [chart, total] : charts) {
      if (total.second < 4) continue;  // too few for a mean
      low = std::min(low, total.first / total.second), high = std::max(high, total.first / total.second);
    }
    if (high > low) most = std::max(most, high - low);
  }
  return most;
}

/// A hollow ball on a rigid core under pressure: Lamé's u = A r + B / r² everywhere, whatever the charts.
TEST(LayeredAtlas, SeamsDoNotShowInDeformation) {
  const double e = 2e4, nu = 0.3, lambda = e * nu / ((1 + nu) * (1 - 2 * nu)), mu = e / (2 * (1 + nu));
  const double outer = 0.5, inner = 0.45, cube = std::pow(inner, 3);
  // u(inner) = 0 and σ_r(outer) = -1: (3 λ + 2 μ) A - 4 μ B / r³ = -1 with B = -A inner³.
  const double a = -1 / (3 * lambda + 2 * mu + 4 * mu * cube / std::pow(outer, 3));
  const double wanted = -a * (outer - cube / (outer * outer));
  TriMesh sphere = tri_sphere(0.5f, 100);
  sphere.uvs.clear();
  for (const bool boxed : {false, true}) {
    const LayeredDef def = def_of(boxed ? with_box_uvs(sphere) : sphere, 0.05f, 176);
    const std::vector<Vec3d> found = pressed(def, pressure(def.atlas.surface));
    const std::vector<bool> on_seam = seam_nodes(def.atlas);
    double mean = 0, at_seams = 0, seams = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      mean += length(found[i]) / double(found.size());
      if (on_seam[i]) at_seams += length(found[i]), ++seams;
    }
    EXPECT_GT(seams, 200);
    EXPECT_NEAR(mean, wanted, 0.02 * wanted);
    EXPECT_NEAR(at_seams / seams, mean, 0.006 * mean);
    EXPECT_LT(largest_jump(def.atlas, found), 0.02 * mean);
  }
}

/// Charts are of no effect on the mechanics at all.
TEST(LayeredAtlas, ABodyMovesAsTheSameSurfaceWithoutCharts) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    LayeredDef plain = c.def;
    plain.atlas.layout = {};
    const std::vector<Vec3> load = pressure(c.def.atlas.surface);
    const std::vector<Vec3d> a = pressed(c.def, load), b = pressed(plain, load);
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(length(a[i] - b[i]), 0);
      most = std::max(most, length(a[i]));
    }
    EXPECT_GT(most, 1e-7);
    EXPECT_LT(most, 1e-2);
  }
}

}  // namespace
}  // namespace pliant
