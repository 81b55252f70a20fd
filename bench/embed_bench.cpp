// A million vertices carried by a cage of 55,000 tets, beside a plain copy of as many bytes by the same threads.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/parallel.h"
#include "embed/embedding.h"
#include "embed/surface_normals.h"
#include "pliant/generators.h"

#include "bench/suite.h"

namespace pliant {
namespace {

constexpr int kSegments = 1414;     // a sphere of one million vertices
constexpr float kCell = 1.0f / 14;  // m, of the cage of radius 1 m
constexpr int kUpdates = 40;

/// Bumps that reach through the surface of the cage: a part of the vertices lies outside.
TriMesh bumpy_sphere() {
  TriMesh surface = tri_sphere(1, kSegments);
  for (Vec3& v : surface.vertices) {
    v *= 0.98f + 0.03f * std::sin(20 * v.x) * std::sin(20 * v.y) * std::sin(20 * v.z);
  }
  return surface;
}

/// A cage that turns and twists, one pose for each update.
std::vector<Vec3> twisted(const TetMesh& cage, int update) {
  std::vector<Vec3> nodes;
  for (const Vec3 p : cage.nodes) {
    nodes.push_back(Quat::axis_angle({0, 1, 0}, 0.05f * static_cast<float>(update) * (1 + p.y)).rotate(p));
  }
  return nodes;
}

template <typename Run>
std::vector<double> measure(Run&& run) {
  std::vector<double> times;
  for (int update = 0; update < kUpdates; ++update) {
    times.push_back(run(update));
    end_if_stopped();
  }
  return times;
}

double best(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

/// What these threads copy, GB/s, reads and writes counted once each.
double copy_speed(Workers& workers, std::size_t bytes) {
  std::vector<char> from(bytes / 2, 1), to(bytes / 2);
  const std::vector<double> times = measure([&](int) {
    const Stopwatch watch;
    parallel_for(workers, from.size(), std::size_t{1} << 18, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
    return watch.ms();
  });
  return static_cast<double>(bytes) / best(times) * 1e-6;
}

BenchResult run_embedding(int threads, int repeats) {
  Workers workers(threads);
  const TetMesh cage = tet_sphere(1, kCell);
  const TriMesh surface = bumpy_sphere();
  std::vector<Vec3> vertices(surface.vertices.size());
  BenchResult result;
  result.threads = workers.threads();
  double bind_ms = 1e30;
  Embedding embedding;
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Stopwatch binding;
    embedding = *Embedding::create(workers, cage, surface.vertices);
    bind_ms = std::min(bind_ms, binding.ms());
    times.push_back(measure([&](int update) {
      const std::vector<Vec3> nodes = twisted(cage, update);
      const Stopwatch watch;
      embedding.update(workers, nodes, vertices);
      return watch.ms();
    }));
  }
  summarize(times, result);
  const std::size_t bytes = embedding.binding_bytes() + vertices.size() * sizeof(Vec3);
  const double speed = static_cast<double>(bytes) / result.min_ms * 1e-6;
  result.counts = {{"vertices", static_cast<double>(vertices.size())},
                   {"outside", static_cast<double>(embedding.outside_count())},
                   {"tets", static_cast<double>(cage.tets.size())}};
  result.figures = {{"bind_ms", bind_ms},
                    {"gb_per_s", speed},
                    {"share_of_copy", speed / copy_speed(workers, bytes)},
                    {"ns_per_vertex", 1e6 * result.min_ms / static_cast<double>(vertices.size())}};
  return result;
}

BenchResult run_normals(const BenchContext& context) {
  Workers workers(context.threads);
  const TriMesh surface = bumpy_sphere();
  const SurfaceNormals surface_normals(surface);
  std::vector<Vec3> normals(surface.vertices.size());
  BenchResult result;
  result.threads = workers.threads();
  std::vector<std::vector<double>> times;
  for (int repeat = 0; repeat < context.repeats; ++repeat) {
    times.push_back(measure([&](int) {
      const Stopwatch watch;
      surface_normals.update(workers, surface.vertices, normals);
      return watch.ms();
    }));
  }
  summarize(times, result);
  result.counts = {{"vertices", static_cast<double>(surface.vertices.size())},
                   {"faces", static_cast<double>(surface.faces.size())}};
  result.figures = {{"ns_per_vertex", 1e6 * result.min_ms / static_cast<double>(surface.vertices.size())}};
  return result;
}

}  // namespace

void add_embed_benchmarks(std::vector<Benchmark>& suite) {
  suite.push_back({"embedding", [](const BenchContext& c) { return run_embedding(c.threads, c.repeats); }});
  suite.push_back({"embedding_one_thread", [](const BenchContext& c) { return run_embedding(1, c.repeats); }});
  suite.push_back({"embedding_normals", run_normals});
}

}  // namespace pliant
