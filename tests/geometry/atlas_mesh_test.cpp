// Atlases of meshes: closed surfaces with even triangles, layers without inverted tets, seams that do not show.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "geometry/layer_core.h"
#include "geometry/triangle_tree.h"
#include "math/vec3d.h"
#include "pliant/atlas.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

TriMesh without_uvs(TriMesh mesh) {
  mesh.uvs.clear();
  return mesh;
}

/// Each face seen along the axis it faces most: six charts or more that lie over each other, some turned over.
TriMesh with_box_uvs(const TriMesh& mesh) {
  TriMesh out;
  for (const Face& f : mesh.faces) {
    const Vec3d a(mesh.vertices[f[0]]);
    const Vec3d n = cross(Vec3d(mesh.vertices[f[1]]) - a, Vec3d(mesh.vertices[f[2]]) - a);
    std::size_t axis = 0;
    for (std::size_t k = 1; k < 3; ++k) axis = std::abs(n[k]) > std::abs(n[axis]) ? k : axis;
    Face g{};
    for (std::size_t k = 0; k < 3; ++k) {
      g[k] = std::uint32_t(out.vertices.size());
      const Vec3 p = mesh.vertices[f[k]];
      out.vertices.push_back(p);
      out.uvs.push_back({p[(axis + 1) % 3], p[(axis + 2) % 3]});
    }
    out.faces.push_back(g);
  }
  return out;
}

struct Model {
  const char* name;
  TriMesh mesh;
  float thickness;
  int characteristic;
  Atlas atlas{};
  AtlasReport report{};
};

std::vector<Model> make_models() {
  std::vector<Model> out;
  out.push_back({"duck", without_uvs(tri_duck(0.5f, 0.02f)), 0.03f, 2});
  out.push_back({"gear", without_uvs(tri_gear()), 0.03f, 0});
  out.push_back({"teapot", without_uvs(tri_teapot(0.6f)), 0.02f, 0});
  out.push_back({"pumpkin", without_uvs(tri_pumpkin()), 0.06f, 2});
  out.push_back({"tire", without_uvs(tri_tire()), 0.03f, 0});
  out.push_back({"box", without_uvs(tri_box({0.4f, 0.3f, 0.5f}, 1, 1, 1)), 0.04f, 2});
  out.push_back({"head", tri_head(0.5f, 0.02f), 0.03f, 2});
  const std::size_t plain = out.size();
  for (std::size_t i = 0; i < plain; ++i) {
    Model boxed = out[i];
    boxed.mesh = with_box_uvs(out[i].mesh);
    out.push_back(std::move(boxed));
    Model painted = out[i];
    painted.mesh = cut_open(*make_atlas(out[i].mesh, {.resolution = 64}));
    out.push_back(std::move(painted));
  }
  for (Model& model : out) model.atlas = make_atlas(model.mesh, {.resolution = 80}, &model.report).value();
  return out;
}

/// Seven bodies without texture coordinates, with some that overlap, and with sound ones.
const std::vector<Model>& models() {
  static const std::vector<Model> list = make_models();
  return list;
}

int euler_characteristic(const TriMesh& mesh) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Face& f : mesh.faces) {
    for (int i = 0; i < 3; ++i) edges.insert(std::minmax(f[i], f[(i + 1) % 3]));
  }
  return int(mesh.vertices.size()) - int(edges.size()) + int(mesh.faces.size());
}

/// All tets of a layer are the right way round, and fill what is between surface and core.
void expect_layer(const TriMesh& surface, float thickness) {
  const float t[1] = {thickness};
  const Result<LayerCore> core = make_layer_core(surface, t);
  ASSERT_TRUE(core) << core.error().to_string();
  const auto count = std::uint32_t(surface.vertices.size());
  const auto at = [&](std::uint32_t i) { return Vec3d(i < count ? surface.vertices[i] : core->points[i - count]); };
  double sum = 0, least = 1;
  for (const Face& face : surface.faces) {
    for (const Tet& tet : layer_tets(face, count)) {
      const double volume = six_volumes(at(tet[0]), at(tet[1]), at(tet[2]), at(tet[3])) / 6;
      least = std::min(least, volume), sum += volume;
    }
  }
  EXPECT_GT(least, 0);
  TriMesh inner = surface;
  inner.vertices = core->points;
  EXPECT_NEAR(sum, enclosed_volume(surface) - enclosed_volume(inner), 1e-5 * sum);
}

double least_angle_degrees(const TriMesh& mesh) {
  double least = 180;
  for (const Face& f : mesh.faces) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3d a(mesh.vertices[f[i]]);
      const Vec3d b = Vec3d(mesh.vertices[f[(i + 1) % 3]]) - a, c = Vec3d(mesh.vertices[f[(i + 2) % 3]]) - a;
      least = std::min(least, std::atan2(length(cross(b, c)), dot(b, c)) * 180 / kPiD);
    }
  }
  return least;
}

TEST(AtlasMesh, AnyClosedMeshBecomesOneClosedSurfaceWithALayer) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const TriMesh& surface = model.atlas.surface;
    const AtlasReport& report = model.report;
    const auto problems = validate(surface, {.require_closed = true});
    EXPECT_TRUE(problems.empty()) << problems.front().message;
    EXPECT_EQ(euler_characteristic(surface), model.characteristic);
    EXPECT_NEAR(enclosed_volume(surface) / enclosed_volume(model.mesh), 1, 0.02);
    EXPECT_GT(least_angle_degrees(surface), 1);
    EXPECT_GT(report.nodes, 600u);
    EXPECT_LT(report.nodes, 5000u);
    EXPECT_EQ(report.uses_given_uvs, !model.mesh.uvs.empty());
    EXPECT_LT(report.overlap, 0.02f);
    EXPECT_LT(report.stretch, 1.25f);
    expect_layer(surface, model.thickness);
  }
}

/// The distance of the surface from the mesh, by another tree than the one that made it.
TEST(AtlasMesh, TheSurfaceIsThatOfTheMesh) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Atlas& atlas = model.atlas;
    const TriangleTree tree(model.mesh.vertices, model.mesh.faces);
    double squares = 0, most = 0;
    for (const Vec3 p : atlas.surface.vertices) {
      const double d = double(tree.distance(p, 1));
      squares += d * d, most = std::max(most, d);
    }
    EXPECT_LT(std::sqrt(squares / double(atlas.node_count())), 0.02 * double(model.report.spacing));
    EXPECT_LT(most, 0.5 * double(model.report.spacing));
  }
}

/// Bilinear lookup, as a renderer does it.
Vec3 look_up(const TexelMap& map, const std::vector<Vec3>& texture, double u, double v) {
  const double x = u * map.width - 0.5, y = v * map.height - 0.5;
  const int i = int(std::floor(x)), j = int(std::floor(y));
  Vec3 sum{};
  for (const int dj : {0, 1}) {
    for (const int di : {0, 1}) {
      const int ci = std::clamp(i + di, 0, map.width - 1), cj = std::clamp(j + dj, 0, map.height - 1);
      const double w = (di ? x - i : 1 - x + i) * (dj ? y - j : 1 - y + j);
      sum += texture[std::size_t(cj) * std::size_t(map.width) + std::size_t(ci)] * float(w);
    }
  }
  return sum;
}

TEST(AtlasMesh, TexturesHaveNoSeams) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Atlas& atlas = model.atlas;
    const TexelMap map = make_texel_map(atlas.layout, 256);
    std::vector<Vec3> texture(map.texels.size());
    fill_texture(map, atlas.surface, atlas.surface.vertices, texture);
    // The middle of every edge in the texture, from each of its sides. Those on seams are met from two places.
    const double size = double(length(atlas.surface.bounds().size()));
    double worst = 0, squares = 0, count = 0, off = 0;
    for (std::size_t f = 0; f < atlas.surface.faces.size(); ++f) {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = atlas.layout.faces[f][k], b = atlas.layout.faces[f][(k + 1) % 3];
        const Vec2 p = atlas.layout.uvs[a], q = atlas.layout.uvs[b];
        const Vec3 seen = look_up(map, texture, 0.5 * double(p.x + q.x), 0.5 * double(p.y + q.y));
        const Vec3 there =
            (atlas.surface.vertices[atlas.layout.nodes[a]] + atlas.surface.vertices[atlas.layout.nodes[b]]) * 0.5f;
        const double error = double(length(seen - there)) / size;
        worst = std::max(worst, error), squares += error * error, ++count, off += error > 0.01 ? 1 : 0;
      }
    }
    EXPECT_LT(std::sqrt(squares / count), 1e-3);
    // Where a chart has a cleft narrower than a texel, its other side is met.
    EXPECT_LT(off, 0.002 * count);
    EXPECT_LT(worst, 0.1);
  }
}

/// A ring as one chart that meets itself in both directions.
TriMesh torus_with_uvs(float radius, float tube, int segments, int tube_segments) {
  TriMesh out;
  for (int i = 0; i <= segments; ++i) {
    for (int j = 0; j <= tube_segments; ++j) {
      const double u = double(i) / segments, v = double(j) / tube_segments;
      const double at = double(radius) + double(tube) * std::cos(2 * kPiD * (j % tube_segments) / tube_segments);
      const double angle = 2 * kPiD * (i % segments) / segments, tilt = 2 * kPiD * (j % tube_segments) / tube_segments;
      out.vertices.push_back(
          {float(at * std::cos(angle)), float(double(tube) * std::sin(tilt)), float(-at * std::sin(angle))});
      out.uvs.push_back({float(u), float(v)});
    }
  }
  for (std::uint32_t i = 0; i < std::uint32_t(segments); ++i) {
    for (std::uint32_t j = 0; j < std::uint32_t(tube_segments); ++j) {
      const std::uint32_t row = std::uint32_t(tube_segments) + 1, a = i * row + j;
      out.faces.push_back({a, a + row, a + 1});
      out.faces.push_back({a + row, a + row + 1, a + 1});
    }
  }
  return out;
}

TEST(AtlasMesh, TextureCoordinatesOfTheMeshAreKept) {
  AtlasReport report;
  const TriMesh mesh = torus_with_uvs(0.5f, 0.2f, 80, 40);
  const Atlas atlas = *make_atlas(mesh, {.resolution = 64}, &report);
  EXPECT_TRUE(report.uses_given_uvs);
  EXPECT_FALSE(report.is_packed_anew);
  EXPECT_EQ(report.charts, 1u);
  EXPECT_NEAR(report.coverage, 1, 0.02);
  EXPECT_NEAR(double(report.nodes), 64 * 64, 600);
  for (std::size_t i = 0; i < atlas.layout.uvs.size(); ++i) {
    const Vec3 p = atlas.surface.vertices[atlas.layout.nodes[i]];
    const auto turns = [](double angle) { return angle < 0 ? angle / (2 * kPiD) + 1 : angle / (2 * kPiD); };
    const double u = turns(std::atan2(double(-p.z), double(p.x)));
    const double v = turns(std::atan2(double(p.y), std::hypot(double(p.x), double(p.z)) - 0.5));
    const auto apart = [](double a, double b) {
      const double d = std::abs(a - b);
      return std::min(d, 1 - d);
    };
    EXPECT_LT(apart(u, double(atlas.layout.uvs[i].x)), 0.01);
    EXPECT_LT(apart(v, double(atlas.layout.uvs[i].y)), 0.02);
  }
  // A face that took one corner from the wrong side of a seam would reach across the texture.
  for (const Face& f : atlas.layout.faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec2 a = atlas.layout.uvs[f[k]], b = atlas.layout.uvs[f[(k + 1) % 3]];
      EXPECT_LT(std::abs(a.x - b.x) + std::abs(a.y - b.y), 0.2f);
    }
  }
}

TEST(AtlasMesh, ACoreIsFoundByItsTextureCoordinates) {
  const Atlas atlas = *make_atlas(torus_with_uvs(0.5f, 0.2f, 80, 40), {.resolution = 48});
  const Result<std::vector<Vec3>> core = core_by_uvs(atlas, torus_with_uvs(0.5f, 0.1f, 80, 40));
  ASSERT_TRUE(core) << core.error().to_string();
  for (std::size_t i = 0; i < core->size(); ++i) {
    const Vec3 p = atlas.surface.vertices[i];
    const Vec3 ring = normalized(Vec3{p.x, 0, p.z}) * 0.5f;
    EXPECT_LT(length((*core)[i] - (ring + (p - ring) * 0.5f)), 0.012f);
  }
  EXPECT_TRUE(check_layer_core(atlas.surface, *core));
  EXPECT_FALSE(core_by_uvs(atlas, without_uvs(torus_with_uvs(0.5f, 0.1f, 20, 10))));
  TriMesh quarter = torus_with_uvs(0.5f, 0.1f, 20, 10);
  for (Vec2& uv : quarter.uvs) uv = {uv.x * 0.5f, uv.y * 0.5f};
  EXPECT_FALSE(core_by_uvs(atlas, quarter));
}

TEST(AtlasMesh, ValuesOfVerticesAndTexturesArriveAtTheNodes) {
  AtlasReport report;
  const TriMesh duck = tri_duck(0.5f, 0.02f);
  const Atlas atlas = *make_atlas(duck, {.resolution = 64}, &report);
  std::vector<float> heights;
  for (const Vec3 p : duck.vertices) heights.push_back(p.y);
  const std::vector<float> found = values_at_nodes(report.sources, duck, heights);
  ASSERT_EQ(found.size(), atlas.node_count());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], atlas.surface.vertices[i].y, 0.005f);
  ScalarTexture ramp{64, 64, std::vector<float>(64 * 64)};
  for (std::size_t i = 0; i < ramp.values.size(); ++i) ramp.values[i] = (float(i % 64) + 0.5f) / 64;
  EXPECT_NEAR(ramp.at({0.3f, 0.9f}), 0.3f, 1e-6f);
  const std::vector<float> painted = values_at_nodes(atlas.layout, atlas.node_count(), ramp);
  std::vector<int> places(atlas.node_count(), 0);
  for (const std::uint32_t node : atlas.layout.nodes) ++places[node];
  for (std::size_t i = 0; i < atlas.layout.uvs.size(); ++i) {
    const std::uint32_t node = atlas.layout.nodes[i];
    if (places[node] == 1) {
      EXPECT_NEAR(painted[node], std::clamp(atlas.layout.uvs[i].x, 1 / 128.0f, 127 / 128.0f), 1e-5f);
    }
  }
}

TEST(AtlasMesh, GridsHaveLayoutsToo) {
  const Atlas atlas = atlas_cylinder(0.3f, 0.5f, 8, 12);
  const AtlasLayout layout = layout_of(atlas);
  ASSERT_EQ(layout.faces.size(), atlas.surface.faces.size());
  EXPECT_EQ(layout.chart_count(), 3u);
  for (std::size_t f = 0; f < layout.faces.size(); ++f) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(layout.nodes[layout.faces[f][k]], atlas.surface.faces[f][k]);
  }
  const TexelMap map = make_texel_map(layout, 200);
  std::size_t inside = 0;
  for (const AtlasTexel& texel : map.texels) inside += texel.is_inside ? 1 : 0;
  EXPECT_GT(inside, map.texels.size() / 4);
}

TEST(AtlasMesh, DoesNotDependOnThreads) {
  const TriMesh mesh = tri_teapot(0.6f);
  const Atlas one = *make_atlas(mesh, {.resolution = 64, .threads = 1});
  const Atlas two = *make_atlas(mesh, {.resolution = 64, .threads = 2});
  EXPECT_TRUE(one.surface.vertices == two.surface.vertices);
  EXPECT_EQ(one.surface.faces, two.surface.faces);
  EXPECT_TRUE(one.layout.uvs == two.layout.uvs);
}

TEST(AtlasMesh, AnySizeAndPlace) {
  const TriMesh duck = without_uvs(tri_duck(1, 0.05f));
  const Atlas usual = *make_atlas(duck, {.resolution = 32});
  for (const float scale : {1e-12f, 1e12f}) {
    TriMesh scaled = duck;
    for (Vec3& v : scaled.vertices) v *= scale;
    const Result<Atlas> atlas = make_atlas(scaled, {.resolution = 32});
    ASSERT_TRUE(atlas) << atlas.error().to_string();
    EXPECT_NEAR(double(atlas->node_count()), double(usual.node_count()), 20);
    EXPECT_NEAR(enclosed_volume(atlas->surface) / enclosed_volume(scaled), 1, 0.03);
  }
  TriMesh away = duck;
  for (Vec3& v : away.vertices) v += Vec3{1000, -2000, 500};
  const Result<Atlas> atlas = make_atlas(away, {.resolution = 32});
  ASSERT_TRUE(atlas) << atlas.error().to_string();
  EXPECT_NEAR(enclosed_volume(atlas->surface) / enclosed_volume(duck), 1, 0.05);
}

TEST(AtlasMesh, MendsWhatItCan) {
  TriMesh inside_out = tri_box({1, 1, 1}, 2, 2, 2);
  for (Face& f : inside_out.faces) std::swap(f[1], f[2]);
  inside_out.faces.push_back(inside_out.faces.front());
  AtlasReport report;
  const Result<Atlas> mended = make_atlas(inside_out, {.resolution = 32}, &report);
  ASSERT_TRUE(mended) << mended.error().to_string();
  EXPECT_NEAR(enclosed_volume(mended->surface), 1, 1e-3);
  EXPECT_FALSE(report.notes.empty());
  // Two boxes that touch in one corner.
  TriMesh pair = tri_box({1, 1, 1}, 2, 2, 2);
  const std::size_t count = pair.vertices.size(), faces = pair.faces.size();
  for (std::size_t i = 0; i < count; ++i) pair.vertices.push_back(Vec3(pair.vertices[i]) + Vec3{1, 1, 1});
  for (std::size_t f = 0; f < faces; ++f) {
    const Face g = pair.faces[f];
    pair.faces.push_back({g[0] + std::uint32_t(count), g[1] + std::uint32_t(count), g[2] + std::uint32_t(count)});
  }
  pair.uvs.clear();
  const Result<Atlas> parted = make_atlas(pair, {.resolution = 48});
  ASSERT_TRUE(parted) << parted.error().to_string();
  EXPECT_EQ(euler_characteristic(parted->surface), 4);
  EXPECT_NEAR(enclosed_volume(parted->surface), 2, 2e-3);
}

TEST(AtlasMesh, FillsWhatIsNotClosedIfAskedTo) {
  // A duck with a hole in its side and a fin that stands on an edge of it.
  const TriMesh whole = without_uvs(tri_duck(0.5f, 0.02f));
  TriMesh torn = whole;
  torn.faces.erase(torn.faces.begin() + 40, torn.faces.begin() + 44);
  const Face f = torn.faces[200];
  torn.vertices.push_back(torn.vertices[f[0]] * 1.02f);
  torn.faces.push_back({f[0], f[1], std::uint32_t(torn.vertices.size() - 1)});
  EXPECT_FALSE(make_atlas(torn, {.resolution = 64}));
  AtlasReport report;
  const Result<Atlas> atlas = make_atlas(torn, {.resolution = 64, .fill = true}, &report);
  ASSERT_TRUE(atlas) << atlas.error().to_string();
  EXPECT_TRUE(report.is_filled);
  EXPECT_FALSE(report.notes.empty());
  EXPECT_TRUE(validate(atlas->surface, {.require_closed = true}).empty());
  EXPECT_NEAR(enclosed_volume(atlas->surface) / enclosed_volume(whole), 1, 0.05);
  expect_layer(atlas->surface, 0.03f);
  // Nodes know where they are on the mesh that was given.
  ASSERT_EQ(report.sources.size(), atlas->node_count());
  double squares = 0;
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    const Face& face = torn.faces[report.sources[i].face];
    Vec3 p{};
    for (std::size_t k = 0; k < 3; ++k) p += torn.vertices[face[k]] * report.sources[i].weights[k];
    squares += double(length_squared(p - atlas->surface.vertices[i]));
  }
  EXPECT_LT(std::sqrt(squares / double(report.sources.size())), 0.3 * double(report.spacing));
  // A mesh that is closed stays as it is.
  const Result<Atlas> kept = make_atlas(whole, {.resolution = 64, .fill = true}, &report);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(report.is_filled);
}

TEST(AtlasMesh, SaysWhatItCannotMend) {
  const TriMesh box = tri_box({1, 1, 1}, 2, 2, 2);
  TriMesh open = box;
  open.faces.pop_back();
  const Result<Atlas> refused = make_atlas(open);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("open: 3 edges around 1 holes"), std::string::npos) << refused.error().message;
  TriMesh fin = box;
  fin.vertices.push_back({0, 3, 0});
  const Face edge = fin.faces.front();
  fin.faces.push_back({edge[0], edge[1], std::uint32_t(box.vertices.size())});
  EXPECT_NE(make_atlas(fin).error().message.find("more than two faces"), std::string::npos);
  TriMesh bad = box;
  bad.vertices[3].x = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(make_atlas(bad).error().field, "vertices[3]");
  bad = box;
  bad.faces[2][1] = 999;
  EXPECT_EQ(make_atlas(bad).error().field, "faces[2]");
  bad = without_uvs(box);
  bad.uvs.assign(box.vertices.size(), {std::numeric_limits<float>::infinity(), 0});
  EXPECT_FALSE(make_atlas(bad));
  EXPECT_FALSE(make_atlas(TriMesh{}));
  EXPECT_FALSE(make_atlas(box, {.resolution = 1}));
  EXPECT_FALSE(make_atlas(box, {.resolution = 1000000}));
  EXPECT_FALSE(make_atlas(box, {.crease_angle = std::numeric_limits<float>::quiet_NaN()}));
  TriMesh flat = box;
  for (Vec3& p : flat.vertices) p.y = 0;
  EXPECT_FALSE(make_atlas(flat));
}

}  // namespace
}  // namespace pliant
