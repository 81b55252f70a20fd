// Models of others as layered bodies: model_check FILE... takes each mesh, with charts of our own and with texture
// coordinates, and checks the layer on it; tests/tools/check_models.mjs gives it models from npm.
//
// A mesh that is not closed must be refused with the place, and then be filled.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "geometry/layer_core.h"
#include "layered/layered_layer.h"
#include "math/vec3d.h"
#include "pliant/atlas.h"
#include "pliant/mesh_io.h"
#include "pliant/world.h"

namespace pliant {
namespace {

constexpr int kResolution = 96;
constexpr float kSize = 0.5f;  ///< m, the longest side of every model

bool all_good = true;

void check(bool good, const std::string& what) {
  if (good) return;
  fmt::print("  FAILED: {}\n", what);
  all_good = false;
}

TriMesh scaled(TriMesh mesh) {
  const Aabb box = mesh.bounds();
  const float scale = kSize / std::max({box.size().x, box.size().y, box.size().z});
  for (Vec3& v : mesh.vertices) v = (v - box.center()) * scale;
  return mesh;
}

/// No tet of the layer may be inverted; by the tets themselves.
void check_layer(const TriMesh& surface, float thickness) {
  const float all[1] = {thickness};
  const Result<LayerCore> core = make_layer_core(surface, all);
  if (!core) return check(false, core.error().to_string());
  const auto count = std::uint32_t(surface.vertices.size());
  const auto at = [&](std::uint32_t i) { return Vec3d(i < count ? surface.vertices[i] : core->points[i - count]); };
  std::size_t inverted = 0;
  for (const Face& face : surface.faces) {
    for (const Tet& tet : layer_tets(face, count)) {
      inverted += six_volumes(at(tet[0]), at(tet[1]), at(tet[2]), at(tet[3])) > 0 ? 0 : 1;
    }
  }
  check(inverted == 0, fmt::format("{} inverted tets", inverted));
}

/// y · K x = x · K y.
void check_symmetry(const LayeredDef& def) {
  const Result<std::shared_ptr<const LayeredLayer>> made = LayeredLayer::make(def);
  if (!made) return check(false, made.error().to_string());
  const LayeredLayer& layer = **made;
  QuadVectors x, y;
  x.assign(layer.node_count()), y.assign(layer.node_count());
  unsigned seed = 1;
  const auto random = [&] { return float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1 << 24) - 0.5f; };
  for (std::uint32_t i = 0; i < layer.node_count(); ++i) {
    x.set(i, {random(), random(), random()}), y.set(i, {random(), random(), random()});
  }
  double xky = 0, ykx = 0, scale = 0;
  for (std::size_t g = 0; g < layer.groups(); ++g) {
    const LaneVec3<Float8> kx = layer.stiffness_times(g, x), ky = layer.stiffness_times(g, y);
    ykx += double(sum(dot(y.group(g), kx))), xky += double(sum(dot(x.group(g), ky)));
    scale += std::sqrt(double(sum(dot(y.group(g), y.group(g)))) * double(sum(dot(kx, kx))));
  }
  check(std::abs(xky - ykx) < 1e-5 * scale, fmt::format("the matrix is not symmetric: {} and {}", xky, ykx));
}

/// How far a renderer that looks displacements up in a texture sees them jump from one side of a seam to the other,
/// over the displacement there: at most, and in all but a twentieth of the seams (the others are clefts that are
/// narrower than a texel).
std::pair<double, double> seam_jumps(const Atlas& atlas, const std::vector<Vec3>& displacement) {
  const TexelMap map = make_texel_map(atlas.layout, 4 * kResolution);
  std::vector<Vec3> texture(map.texels.size());
  fill_texture(map, atlas.surface, displacement, texture);
  const auto look_up = [&](Vec2 uv) {
    const float x = uv.x * float(map.width) - 0.5f, y = uv.y * float(map.height) - 0.5f;
    const int i = int(std::floor(x)), j = int(std::floor(y));
    Vec3 sum;
    for (const int dj : {0, 1}) {
      for (const int di : {0, 1}) {
        const int ci = std::clamp(i + di, 0, map.width - 1), cj = std::clamp(j + dj, 0, map.height - 1);
        const float w = (di ? x - float(i) : 1 - x + float(i)) * (dj ? y - float(j) : 1 - y + float(j));
        sum += texture[std::size_t(cj) * std::size_t(map.width) + std::size_t(ci)] * w;
      }
    }
    return sum;
  };
  // The middles of edges with two places in the texture; the displacement there is that of the faces beside them.
  struct Side {
    Vec2 uv;
    Vec3 seen;
    float local;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Side> first_side;
  std::vector<double> jumps;
  for (const Face& f : atlas.layout.faces) {
    float local = 0;
    for (const std::uint32_t p : f) local = std::max(local, length(displacement[atlas.layout.nodes[p]]));
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t p = f[k], q = f[(k + 1) % 3];
      const Vec2 uv{0.5f * (atlas.layout.uvs[p].x + atlas.layout.uvs[q].x),
                    0.5f * (atlas.layout.uvs[p].y + atlas.layout.uvs[q].y)};
      const auto edge = std::minmax(atlas.layout.nodes[p], atlas.layout.nodes[q]);
      const auto [at, is_new] = first_side.try_emplace(edge, Side{uv, look_up(uv), local});
      const Side& other = at->second;
      if (is_new || std::hypot(other.uv.x - uv.x, other.uv.y - uv.y) < 1e-5f) continue;
      jumps.push_back(double(length(look_up(uv) - other.seen) / std::max({local, other.local, 1e-12f})));
    }
  }
  if (jumps.empty()) return {0, 0};
  std::sort(jumps.begin(), jumps.end());
  return {jumps.back(), jumps[jumps.size() * 95 / 100]};
}

/// Where the nodes are under a pressure of five pascals all around.
std::vector<Vec3> squeezed(const LayeredDef& def) {
  World space(WorldDef{.gravity = {}, .threads = 2});
  const BodyId body = space.add(def).value();
  for (int i = 0; i < 40; ++i) {
    if (!space.apply_pressure(body, 5).ok()) check(false, "no pressure");
    space.step();
  }
  const std::span<const Vec3> x = *space.node_positions(body);
  return {x.begin(), x.end()};
}

/// Drops the body on the ground, then squeezes it all around.
void check_motion(const Atlas& atlas, float thickness, const char* how) {
  World world(WorldDef{.threads = 2});
  world.add(GroundDef{});
  const float bottom = atlas.surface.bounds().lower.y;
  LayeredDef def;
  def.atlas = atlas;
  def.material = {.density = 1000, .young_modulus = 5e4f, .stiffness_damping = 4e-3f};
  def.thickness = thickness;
  def.position = {0, 0.01f - bottom, 0};
  check_symmetry(def);
  const Result<BodyId> body = world.add(def);
  if (!body) return check(false, body.error().to_string());
  world.commit_edits();
  double most = 0;
  std::size_t unconverged = 0;
  for (int i = 0; i < 60; ++i) {
    const StepReport& report = world.step();
    if (i == 0) most = report.kinetic_energy + report.potential_energy + report.elastic_energy;
    const double energy = report.kinetic_energy + report.potential_energy + report.elastic_energy;
    check(energy <= most + 0.02 * std::abs(most) + 1e-3,
          fmt::format("energy {} J in step {}, from {} J", energy, i, most));
    unconverged += report.unconverged_solids;
  }
  check(world.report().quarantined == 0, "the body was lost");
  check(unconverged <= 3, fmt::format("{} of 60 solves did not converge", unconverged));
  float lowest = 1e9f;
  for (const Vec3 x : *world.node_positions(*body)) lowest = std::min(lowest, x.y);
  check(lowest > -0.01f, fmt::format("it is {} m in the ground", -lowest));

  def.core_is_fixed = true, def.position = {};
  def.material.stiffness_damping = 0.05f;
  const std::vector<Vec3> now = squeezed(def);
  // Seams are of no effect on the mechanics at all.
  def.atlas.layout = {};
  check(now == squeezed(def), "charts change how the body deforms");
  std::vector<Vec3> displacement;
  double mean = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    displacement.push_back(now[i] - atlas.surface.vertices[i]);
    mean += double(length(displacement.back())) / double(now.size());
  }
  check(mean > 1e-7 && mean < 0.02, fmt::format("it moves by {} m under pressure", mean));
  const auto [worst, usual] = seam_jumps(atlas, displacement);
  fmt::print(
      "  {:9} {:5} nodes, {:3} charts; in 95 % of the seams a texture jumps by {:.2f} % at most, by {:.0f} % in all\n",
      how, atlas.node_count(), atlas.layout.chart_count(), 100 * usual, 100 * worst);
  check(usual < 0.02, "seams show");
}

void check_model(const std::filesystem::path& file) {
  fmt::print("{}\n", file.stem().string());
  Result<MeshFile> loaded = load_mesh(file);
  if (!loaded) return check(false, loaded.error().to_string());
  TriMesh mesh = scaled(loaded->surface);
  AtlasReport report;
  Result<Atlas> atlas = make_atlas(mesh, {.resolution = kResolution}, &report);
  if (!atlas) {
    fmt::print("  as it is  {}\n", atlas.error().to_string());
    atlas = make_atlas(mesh, {.resolution = kResolution, .fill = true}, &report);
    if (!atlas) return check(false, atlas.error().to_string());
    for (const std::string& note : report.notes) fmt::print("  filled    {}\n", note);
  }
  const float thickness = 0.02f;
  for (const bool has_uvs : {false, true}) {
    if (has_uvs) atlas = make_atlas(cut_open(*atlas), {.resolution = kResolution}, &report);
    if (!atlas) return check(false, atlas.error().to_string());
    check(report.uses_given_uvs == has_uvs, "texture coordinates were not used");
    check(validate(atlas->surface, {.require_closed = true}).empty(), "the surface is not closed");
    check(report.stretch < 1.1f, fmt::format("stretched by {} on average", report.stretch));
    check_layer(atlas->surface, thickness);
    check_motion(*atlas, thickness, has_uvs ? "with uvs" : "without");
  }
}

}  // namespace
}  // namespace pliant

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) pliant::check_model(files[i]);
  return pliant::all_good ? 0 : 1;
}
