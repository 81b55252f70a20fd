#include "geometry/surface_mend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "geometry/adjacency.h"
#include "geometry/triangle_tree.h"
#include "geometry/union_find.h"
#include "math/vec3d.h"

namespace pliant {
namespace {

constexpr int kRaysPerSide = 16;
/// Samples over the whole surface that judge whether it faces outward as given, and per patch if it does not.
constexpr double kSamples = 600, kMinPatchSamples = 2, kMaxPatchSamples = 100;
/// More than this share of the samples must agree to believe the surface as given (or all of it turned over).
constexpr double kAgreement = 0.97;

// Welding -------------------------------------------------------------------------------------------------------------

/// For each vertex the first one at the same place.
std::vector<std::uint32_t> weld_map(std::span<const Vec3> vertices, double weld) {
  using Key = std::array<std::int64_t, 3>;
  std::vector<std::pair<Key, std::uint32_t>> keys(vertices.size());
  for (std::uint32_t v = 0; v < vertices.size(); ++v) {
    for (std::size_t a = 0; a < 3; ++a) keys[v].first[a] = std::llround(double(vertices[v][a]) / weld);
    keys[v].second = v;
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> first(vertices.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool same = i > 0 && keys[i].first == keys[i - 1].first;
    first[keys[i].second] = same ? first[keys[i - 1].second] : keys[i].second;
  }
  return first;
}

Vec3d twice_area(std::span<const Vec3> vertices, const Face& f) {
  const Vec3d a(vertices[f[0]]);
  return cross(Vec3d(vertices[f[1]]) - a, Vec3d(vertices[f[2]]) - a);
}

/// Two coplanar faces on either side of an edge that no others have.
struct FlatQuad {
  std::array<std::uint32_t, 4> corners;  ///< ascending
  std::array<std::uint32_t, 2> faces;    ///< ascending
  double twice_area = 0;

  auto order() const { return std::tie(corners, faces); }
};

std::vector<FlatQuad> find_flat_quads(std::span<const Vec3> vertices, std::span<const Face> faces) {
  constexpr double kFlat = 1e-6;
  const EdgeAdjacency edges = edge_faces(faces, vertices.size());
  std::vector<FlatQuad> quads;
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    if (edges.elements[e].size() != 2) continue;
    FlatQuad quad{{}, {edges.elements[e][0], edges.elements[e][1]}};
    const Vec3d n = twice_area(vertices, faces[quad.faces[0]]), m = twice_area(vertices, faces[quad.faces[1]]);
    if (length(cross(n, m)) > kFlat * length(n) * length(m)) continue;
    std::array<std::uint32_t, 6> corners;
    for (std::size_t i = 0; i < 6; ++i) corners[i] = faces[quad.faces[i / 3]][i % 3];
    std::sort(corners.begin(), corners.end());
    std::unique_copy(corners.begin(), corners.end(), quad.corners.begin());
    quad.twice_area = length(n) + length(m);
    quads.push_back(quad);
  }
  std::sort(quads.begin(), quads.end(), [](const FlatQuad& a, const FlatQuad& b) { return a.order() < b.order(); });
  return quads;
}

/// A quad that a file has twice, facing either way, is cut along its other diagonal the second time: no triangle comes
/// twice, but the surface does. Marks the faces of the second.
std::vector<bool> find_recut_faces(std::span<const Vec3> vertices, std::span<const Face> faces) {
  constexpr double kSameArea = 1e-6;
  const std::vector<FlatQuad> quads = find_flat_quads(vertices, faces);
  std::vector<bool> is_recut(faces.size(), false);
  for (std::size_t i = 1; i < quads.size(); ++i) {
    const FlatQuad &a = quads[i - 1], &b = quads[i];
    // Of four points that are no convex quad the two pairs differ.
    if (a.corners != b.corners || std::abs(a.twice_area - b.twice_area) > kSameArea * a.twice_area) continue;
    if (is_recut[a.faces[0]] || is_recut[a.faces[1]]) continue;
    for (const std::uint32_t f : b.faces) is_recut[f] = true;
  }
  return is_recut;
}

/// The faces over welded vertices, without those that have no area and without duplicates, whichever way they face.
void find_distinct_faces(std::span<const Vec3> vertices, std::span<const Face> faces, double weld, MendedSurface& out) {
  const std::vector<std::uint32_t> first = weld_map(vertices, weld);
  std::vector<Face> welded;
  std::vector<std::uint32_t> sources;
  std::vector<std::pair<Face, std::uint32_t>> keys;
  for (std::uint32_t source = 0; source < faces.size(); ++source) {
    const Face& f = faces[source];
    const Face w{first[f[0]], first[f[1]], first[f[2]]};
    if (w[0] == w[1] || w[1] == w[2] || w[2] == w[0] || !(length_squared(twice_area(vertices, w)) > 0)) continue;
    Face sorted = w;
    std::sort(sorted.begin(), sorted.end());
    keys.emplace_back(sorted, std::uint32_t(welded.size()));
    welded.push_back(w);
    sources.push_back(source);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> is_repeated(welded.size(), false);
  for (std::size_t i = 1; i < keys.size(); ++i) is_repeated[keys[i].second] = keys[i].first == keys[i - 1].first;
  std::vector<std::uint32_t> distinct;
  std::vector<Face> once;
  for (std::uint32_t f = 0; f < welded.size(); ++f) {
    if (!is_repeated[f]) distinct.push_back(f), once.push_back(welded[f]);
  }
  const std::vector<bool> is_recut = find_recut_faces(vertices, once);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (is_recut[i]) continue;
    const std::uint32_t source = sources[distinct[i]];
    out.faces.push_back(once[i]);
    out.corners.push_back(faces[source]);
    out.sources.push_back(source);
  }
}

// Patches -------------------------------------------------------------------------------------------------------------

/// Faces joined over edges that exactly two of them share, turned to face the same way.
struct Patches {
  std::vector<std::uint32_t> of_face;
  std::vector<bool> is_turned;  ///< per face
  std::vector<double> area;     ///< per patch
};

/// Joins all faces that can be reached from `seed`. The area of those that were turned comes back.
double flood(std::span<const Face> faces, const std::vector<std::array<std::uint32_t, 3>>& neighbors,
             const std::vector<double>& areas, std::uint32_t seed, Patches& patches,
             std::vector<std::uint32_t>& reached) {
  const std::uint32_t patch = std::uint32_t(patches.area.size());
  double turned_area = 0, area = 0;
  reached.assign(1, seed);
  patches.of_face[seed] = patch;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::uint32_t f = reached[next];
    area += areas[f];
    if (patches.is_turned[f]) turned_area += areas[f];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t g = neighbors[f][i];
      if (g == kNoNeighbor || patches.of_face[g] != kNoNeighbor) continue;
      patches.of_face[g] = patch;
      // Neighbours that agree run along their common edge in opposite directions.
      patches.is_turned[g] = patches.is_turned[f] != runs_along(faces[g], faces[f][i], faces[f][(i + 1) % 3]);
      reached.push_back(g);
    }
  }
  patches.area.push_back(area);
  return turned_area;
}

Patches find_patches(std::span<const Face> faces, const EdgeAdjacency& edges, const std::vector<double>& areas) {
  Patches patches;
  patches.of_face.assign(faces.size(), kNoNeighbor);
  patches.is_turned.assign(faces.size(), false);
  const auto neighbors = face_neighbors(faces, edges);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t seed = 0; seed < faces.size(); ++seed) {
    if (patches.of_face[seed] != kNoNeighbor) continue;
    const double turned_area = flood(faces, neighbors, areas, seed, patches, reached);
    if (2 * turned_area <= patches.area.back()) continue;
    for (const std::uint32_t f : reached) patches.is_turned[f] = !patches.is_turned[f];  // as most of it was given
  }
  return patches;
}

// Which side is out ---------------------------------------------------------------------------------------------------

/// Rays that get away from the two sides of faces.
struct Votes {
  int front = 0, back = 0;

  Votes& operator+=(Votes v) { return front += v.front, back += v.back, *this; }
  bool is_decisive() const { return std::max(front, back) >= 4 && (front > 1.5 * back || back > 1.5 * front); }
};

/// A fixed sequence that looks random, in [0, 1): the same everywhere, unlike those of the standard library.
double scattered(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15ull;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  return double((i ^ (i >> 31)) >> 11) * 0x1p-53;
}

class SideJudge {
 public:
  SideJudge(std::span<const Vec3> vertices, std::span<const Face> faces)
      : vertices_(vertices), faces_(faces), tree_(vertices, faces) {
    Aabb box;
    for (const Face& f : faces) {
      for (const std::uint32_t v : f) box.include(vertices[v]);
    }
    offset_ = 1e-5 * length(Vec3d(box.size()));
  }

  /// Rays from one point of a face, spread over the half spheres on both of its sides.
  Votes look_from(std::uint32_t f, std::uint64_t sample) const {
    const double u = std::sqrt(scattered(2 * sample)), v = scattered(2 * sample + 1);
    const Vec3d a(vertices_[faces_[f][0]]), b(vertices_[faces_[f][1]]), c(vertices_[faces_[f][2]]);
    const Vec3d p = (1 - u) * a + u * (1 - v) * b + u * v * c, n = normalized(twice_area(vertices_, faces_[f]));
    const Vec3d s = normalized(cross(n, std::abs(n.x) < 0.6 ? Vec3d(1, 0, 0) : Vec3d(0, 1, 0))), t = cross(n, s);
    Votes votes;
    for (int i = 0; i < kRaysPerSide; ++i) {
      const double height = (i + 0.5) / kRaysPerSide, out = std::sqrt(1 - height * height), turn = 2.399963 * i + 6 * v;
      const Vec3d along = out * std::cos(turn) * s + out * std::sin(turn) * t;
      votes.front += !tree_.is_blocked((p + offset_ * n).to_float(), (along + height * n).to_float());
      votes.back += !tree_.is_blocked((p - offset_ * n).to_float(), (along - height * n).to_float());
    }
    return votes;
  }

 private:
  std::span<const Vec3> vertices_;
  std::span<const Face> faces_;
  TriangleTree tree_;
  double offset_;
};

/// The votes of samples, each at the face of its number, in their order.
std::vector<Votes> look_from_all(const SideJudge& judge, const std::vector<std::uint32_t>& samples, Workers& workers) {
  std::vector<Votes> votes(samples.size());
  parallel_for(workers, samples.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) votes[s] = judge.look_from(samples[s], s);
  });
  return votes;
}

/// The faces of about `count` points that are spread evenly over the area.
std::vector<std::uint32_t> spread_samples(const std::vector<double>& areas, int count) {
  const double step = std::accumulate(areas.begin(), areas.end(), 0.0) / count;
  std::vector<std::uint32_t> samples;
  double next = step / 2, sum = 0;
  for (std::uint32_t f = 0; f < areas.size(); ++f) {
    for (sum += areas[f]; sum > next; next += step) samples.push_back(f);
  }
  return samples;
}

/// Likewise, with some in each patch.
std::vector<std::uint32_t> spread_over_patches(const std::vector<double>& areas, const Patches& patches) {
  const double total = std::accumulate(areas.begin(), areas.end(), 0.0);
  std::vector<double> passed(patches.area.size(), 0);
  std::vector<std::uint32_t> samples;
  for (std::uint32_t f = 0; f < areas.size(); ++f) {
    const std::uint32_t patch = patches.of_face[f];
    const double wished = std::clamp(kSamples * patches.area[patch] / total, kMinPatchSamples, kMaxPatchSamples);
    const double step = patches.area[patch] / wished, before = std::floor(passed[patch] / step + 0.5);
    passed[patch] += areas[f];
    const double after = std::floor(passed[patch] / step + 0.5);
    for (double i = before; i < after; ++i) samples.push_back(f);
  }
  return samples;
}

/// Turns each patch by its own votes; a patch without a clear result stays.
void turn_patches(const SideJudge& judge, const std::vector<double>& areas, Patches& patches, Workers& workers) {
  const std::vector<std::uint32_t> samples = spread_over_patches(areas, patches);
  const std::vector<Votes> votes = look_from_all(judge, samples, workers);
  std::vector<Votes> sums(patches.area.size());
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const bool turned = patches.is_turned[samples[s]];
    sums[patches.of_face[samples[s]]] += turned ? Votes{votes[s].back, votes[s].front} : votes[s];
  }
  for (std::uint32_t f = 0; f < areas.size(); ++f) {
    const Votes& v = sums[patches.of_face[f]];
    if (v.is_decisive() && v.back > v.front) patches.is_turned[f] = !patches.is_turned[f];
  }
}

void turn_outward(std::span<const Vec3> vertices, std::span<const Face> faces, const std::vector<double>& areas,
                  Patches& patches, Workers& workers) {
  const SideJudge judge(vertices, faces);
  const std::vector<std::uint32_t> samples = spread_samples(areas, int(kSamples));
  const std::vector<Votes> votes = look_from_all(judge, samples, workers);
  int outward = 0, inward = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const bool front_is_out = votes[s].front > votes[s].back;
    if (votes[s].is_decisive()) ++(front_is_out != patches.is_turned[samples[s]] ? outward : inward);
  }
  if (outward >= kAgreement * (outward + inward)) return;
  if (inward >= kAgreement * (outward + inward)) {
    patches.is_turned.flip();
  } else {
    turn_patches(judge, areas, patches, workers);
  }
}

std::size_t count_holes(std::size_t vertex_count, const EdgeAdjacency& edges, double& loose_edges) {
  UnionFind loops(vertex_count);
  std::vector<bool> is_on_rim(vertex_count, false);
  std::size_t loose = 0, holes = 0;
  for (std::size_t e = 0; e < edges.edges.size(); ++e) {
    if (edges.elements[e].size() != 1) continue;
    const auto [a, b] = edges.edges[e];
    is_on_rim[a] = is_on_rim[b] = true;
    loops.join(a, b);
    ++loose;
  }
  for (std::uint32_t v = 0; v < vertex_count; ++v) holes += is_on_rim[v] && loops.root(v) == v;
  loose_edges = edges.edges.empty() ? 0 : double(loose) / double(edges.edges.size());
  return holes;
}

}  // namespace

MendedSurface mend_surface(std::span<const Vec3> vertices, std::span<const Face> faces, double weld, Workers& workers) {
  MendedSurface mended;
  mended.vertices.assign(vertices.begin(), vertices.end());
  find_distinct_faces(vertices, faces, weld, mended);
  mended.dropped = faces.size() - mended.faces.size();
  if (mended.faces.empty()) return mended;

  std::vector<double> areas(mended.faces.size());
  for (std::size_t f = 0; f < areas.size(); ++f) areas[f] = length(twice_area(vertices, mended.faces[f])) / 2;
  const EdgeAdjacency edges = edge_faces(mended.faces, vertices.size());
  mended.holes = count_holes(vertices.size(), edges, mended.loose_edges);
  Patches patches = find_patches(mended.faces, edges, areas);
  turn_outward(vertices, mended.faces, areas, patches, workers);

  Vec3d sum;
  double area = 0;
  for (std::size_t f = 0; f < areas.size(); ++f) {
    if (patches.is_turned[f]) {
      std::swap(mended.faces[f][1], mended.faces[f][2]);
      std::swap(mended.corners[f][1], mended.corners[f][2]);
      ++mended.flipped;
    }
    sum += twice_area(vertices, mended.faces[f]) / 2;
    area += areas[f];
  }
  mended.open_share = length(sum) / area;
  return mended;
}

TriMesh welded(const TriMesh& mesh) {
  std::vector<std::uint32_t> order(mesh.vertices.size()), number(mesh.vertices.size(), kNoNeighbor);
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t v) {
    return std::array{mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> first(mesh.vertices.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(order[i]) == key(order[i - 1]);
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  TriMesh out;
  for (std::uint32_t v = 0; v < first.size(); ++v) {
    if (first[v] != v) continue;
    number[v] = std::uint32_t(out.vertices.size());
    out.vertices.push_back(mesh.vertices[v]);
  }
  for (const Face& f : mesh.faces) {
    const Face w{number[first[f[0]]], number[first[f[1]]], number[first[f[2]]]};
    if (w[0] != w[1] && w[1] != w[2] && w[2] != w[0]) out.faces.push_back(w);
  }
  return out;
}

}  // namespace pliant
