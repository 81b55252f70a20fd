#include "geometry/lattice_region.h"

#include <algorithm>
#include <cmath>

#include "math/vec3d.h"

namespace pliant {
namespace {

using Point = BccLattice::Point;

constexpr int kBlock = 4;  ///< lattice cubes along the edge of a block whose points are looked at together

/// Midway through a part that is thicker than this there is always a lattice point too far from the surface to be
/// warped: the lattice's covering radius is √5 / 4, and a warp goes 0.29 at most.
constexpr float kResolvedThickness = 2 * (0.5591f + 0.29f);
constexpr float kSampleSpacing = 0.3f;

// Inside and outside --------------------------------------------------------------------------------------------------

class RegionBuilder {
 public:
  RegionBuilder(const EnclosingSurface& surface, const BccLattice& lattice, Workers& workers)
      : surface_(surface), lattice_(lattice), workers_(workers) {
    result_.region.is_inside.assign(lattice.point_count(), 0);
    result_.region.is_pinned.assign(lattice.point_count(), 0);
  }

  void find_inside(const std::function<void(float)>& progress);
  void keep_thin_parts();
  void fill_specks();
  void drop_specks();
  EnclosedRegion finish();

 private:
  struct Sample {
    Vec3 position, normal;
    std::array<std::int32_t, 4> key;  ///< where it lies and which way it looks, roughly
  };

  void fill_block(std::array<int, 3> block);
  template <typename Add>
  void for_each_sample(std::uint32_t face, Add&& add) const;
  void look_through(std::vector<Sample>& samples);
  void keep(Vec3 middle);
  bool thickness_below(const Sample& sample, float limit, std::vector<TriangleTree::Crossing>& scratch,
                       float& thickness) const;

  const EnclosingSurface& surface_;
  const BccLattice& lattice_;
  Workers& workers_;
  EnclosedRegion result_;
};

void RegionBuilder::find_inside(const std::function<void(float)>& progress) {
  const auto size = lattice_.size();
  const auto blocks = [&](std::size_t axis) { return (size[axis] + kBlock - 1) / kBlock; };
  for (int z = 0; z < blocks(2); ++z) {
    parallel_for(workers_, std::size_t(blocks(0) * blocks(1)), 1, [&](std::size_t b, std::size_t) {
      fill_block({int(b) % blocks(0), int(b) / blocks(0), z});
    });
    if (progress) progress(float(z + 1) / float(blocks(2)));
  }
}

void RegionBuilder::fill_block(std::array<int, 3> block) {
  const auto size = lattice_.size();
  std::array<int, 3> first, end;
  for (std::size_t a = 0; a < 3; ++a) first[a] = block[a] * kBlock, end[a] = std::min(first[a] + kBlock, size[a]);
  const auto for_each_point = [&](auto&& visit) {
    for (int kind = 0; kind < 2; ++kind) {
      for (int k = first[2]; k < end[2]; ++k) {
        for (int j = first[1]; j < end[1]; ++j) {
          for (int i = first[0]; i < end[0]; ++i) visit(lattice_.point(kind, i, j, k));
        }
      }
    }
  };
  std::vector<std::uint8_t>& is_inside = result_.region.is_inside;
  const Vec3 corner = lattice_.position(lattice_.point(0, first[0], first[1], first[2]));
  const Vec3 middle = corner + Vec3{kBlock / 2, kBlock / 2, kBlock / 2};
  // Where no triangle is near, the winding number changes slowly: one look may do for all points.
  constexpr float kReach = 3.6f;
  if (surface_.tree().distance(middle, kReach) >= kReach) {
    const double w = surface_.winding(middle);
    if (std::abs(w - 0.5) > 0.25) {
      for_each_point([&](Point p) { is_inside[p] = w > 0.5; });
      return;
    }
  }
  for_each_point([&](Point p) { is_inside[p] = surface_.encloses(lattice_.position(p)); });
}

// Thin parts ----------------------------------------------------------------------------------------------------------

/// Calls add(sample) for points spread over a face, no two neighbours further apart than the spacing.
template <typename Add>
void RegionBuilder::for_each_sample(std::uint32_t face, Add&& add) const {
  const auto& s = surface_.surface();
  const Vec3 a = s.vertices[s.faces[face][0]], b = s.vertices[s.faces[face][1]], c = s.vertices[s.faces[face][2]];
  const Vec3 n = normalized(cross(Vec3d(b) - Vec3d(a), Vec3d(c) - Vec3d(a))).to_float();
  const float longest = std::sqrt(std::max({length_squared(b - a), length_squared(c - b), length_squared(a - c)}));
  const int parts = std::max(1, int(std::ceil(longest / kSampleSpacing)));
  const auto look = [](float x) { return std::int32_t(x > 0.4f) - std::int32_t(x < -0.4f); };
  const auto add_at = [&](float i, float j) {
    const Vec3 p = a + (i / float(parts)) * (b - a) + (j / float(parts)) * (c - a);
    const auto at = [](float x) { return std::int32_t(std::floor(x / (0.5f * kSampleSpacing))); };
    add(Sample{p, n, {at(p.x), at(p.y), at(p.z), 9 * look(n.x) + 3 * look(n.y) + look(n.z)}});
  };
  for (int i = 0; i < parts; ++i) {
    for (int j = 0; i + j < parts; ++j) {
      add_at(float(i) + 1 / 3.0f, float(j) + 1 / 3.0f);
      if (i + j + 1 < parts) add_at(float(i) + 2 / 3.0f, float(j) + 2 / 3.0f);
    }
  }
}

/// Whether going straight in from the surface one comes out again before `limit`, and after how long a way. Surfaces
/// that are met from outside on the way, such as folds and overlaps, do not count.
bool RegionBuilder::thickness_below(const Sample& sample, float limit, std::vector<TriangleTree::Crossing>& scratch,
                                    float& thickness) const {
  surface_.tree().crossings(sample.position, sample.position - limit * sample.normal, scratch);
  constexpr float kLeast = 1e-3f;  // not the face itself
  for (const TriangleTree::Crossing& c : scratch) {
    if (!c.is_leaving || c.t * limit < kLeast) continue;
    thickness = c.t * limit;
    return true;
  }
  return false;
}

/// Each point midway through a thin part must have the closest lattice point inside. As one moves along the part, the
/// closest point changes from neighbour to neighbour, so that it stays in one piece and gets no holes.
void RegionBuilder::keep_thin_parts() {
  constexpr std::size_t kBatch = 1 << 18;
  std::vector<Sample> samples;
  const std::size_t faces = surface_.surface().faces.size();
  for (std::uint32_t f = 0; f < faces; ++f) {
    for_each_sample(f, [&](const Sample& sample) {
      samples.push_back(sample);
      if (samples.size() == kBatch) look_through(samples);
    });
  }
  look_through(samples);
}

/// Of each group of samples at (nearly) the same place that look the same way one is enough. Leaves `samples` empty.
void RegionBuilder::look_through(std::vector<Sample>& samples) {
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& p, const Sample& q) { return p.key < q.key; });
  const auto same = [](const Sample& p, const Sample& q) { return p.key == q.key; };
  samples.erase(std::unique(samples.begin(), samples.end(), same), samples.end());

  std::vector<std::pair<Vec3, bool>> middles(samples.size());  // and whether there is one
  parallel_for(workers_, samples.size(), 256, [&](std::size_t begin, std::size_t end) {
    std::vector<TriangleTree::Crossing> scratch;
    for (std::size_t i = begin; i < end; ++i) {
      float thickness;
      if (!thickness_below(samples[i], kResolvedThickness, scratch, thickness)) continue;
      const Vec3 middle = samples[i].position - 0.5f * thickness * samples[i].normal;
      const bool is_inside = result_.region.is_inside[lattice_.nearest(middle)];
      middles[i] = {middle, is_inside || surface_.encloses(middle)};
    }
  });
  for (const auto& [middle, is_thin] : middles) {
    if (is_thin) keep(middle);
  }
  samples.clear();
}

/// Where several points are about as close as the closest, one of them is enough: both sides of a sheet that runs
/// midway between two layers of the lattice would make it thicker than it needs to be.
void RegionBuilder::keep(Vec3 middle) {
  auto& region = result_.region;
  constexpr float kAboutAsClose = 0.03f;
  Point best = lattice_.nearest(middle);
  if (!region.is_inside[best]) {
    float least = length(lattice_.position(best) - middle) + kAboutAsClose;
    const Point center = best;
    for (int d = 0; d < BccLattice::kDirections; ++d) {
      const Point p = lattice_.neighbor(center, d);
      const float distance = length(lattice_.position(p) - middle);
      if (region.is_inside[p] && distance < least) least = distance, best = p;
    }
  }
  result_.thin += !region.is_inside[best];
  region.is_inside[best] = region.is_pinned[best] = 1;
}

// Specks --------------------------------------------------------------------------------------------------------------

/// A single point outside among points inside is no hole that the lattice could show.
void RegionBuilder::fill_specks() {
  std::vector<std::uint8_t>& is_inside = result_.region.is_inside;
  for (Point p = 0; p < lattice_.point_count(); ++p) {
    if (is_inside[p] || lattice_.is_on_rim(p)) continue;
    bool alone = true;
    for (int d = 0; d < BccLattice::kDirections && alone; ++d) alone = is_inside[lattice_.neighbor(p, d)];
    is_inside[p] = alone;
  }
}

/// A single point inside among points outside is a speck, unless there is nothing else or it stands for a thin part.
void RegionBuilder::drop_specks() {
  std::vector<std::uint8_t>& is_inside = result_.region.is_inside;
  std::vector<Point> specks;
  std::size_t inside = 0;
  for (Point p = 0; p < lattice_.point_count(); ++p) {
    if (!is_inside[p]) continue;
    ++inside;
    bool alone = !result_.region.is_pinned[p];
    for (int d = 0; d < BccLattice::kDirections && alone; ++d) alone = !is_inside[lattice_.neighbor(p, d)];
    if (alone) specks.push_back(p);
  }
  if (specks.size() < inside) {
    for (const Point p : specks) is_inside[p] = 0;
    inside -= specks.size();
    result_.pieces_dropped = specks.size();
  }
  result_.inside = inside;
}

EnclosedRegion RegionBuilder::finish() {
  result_.region.crossing = [&surface = surface_, &lattice = lattice_](Point p, int d) {
    const Vec3 from = lattice.position(p);
    return surface.crossing(from, from + BccLattice::step_vector(d));
  };
  return std::move(result_);
}

}  // namespace

float EnclosingSurface::crossing(Vec3 inside, Vec3 outside) const {
  thread_local std::vector<TriangleTree::Crossing> met;
  tree_.crossings(inside, outside, met);
  // A point that was added for a thin part is not inside: the part ends at the last triangle.
  if (!met.empty() && met.size() % 2 == 0 && !encloses(inside)) return met.back().t;
  if (met.size() == 1) return met[0].t;
  const auto at = [&](float t) { return inside + t * (outside - inside); };
  for (std::size_t i = 0; i < met.size(); ++i) {
    const float next = i + 1 < met.size() ? met[i + 1].t : 1;
    if (i + 1 == met.size() || !encloses(at(0.5f * (met[i].t + next)))) return met[i].t;
  }
  // No triangle: the winding number passes through one half somewhere on the way, if the start is inside at all.
  float lower = 0, upper = 1;
  for (int i = 0; i < 12; ++i) {
    const float t = 0.5f * (lower + upper);
    (encloses(at(t)) ? lower : upper) = t;
  }
  return 0.5f * (lower + upper);
}

EnclosedRegion enclosed_region(const EnclosingSurface& surface, const BccLattice& lattice, bool keep_thin,
                               Workers& workers, const std::function<void(float)>& progress) {
  RegionBuilder builder(surface, lattice, workers);
  builder.find_inside(progress);
  if (keep_thin) builder.keep_thin_parts();
  builder.fill_specks();
  builder.drop_specks();
  return builder.finish();
}

}  // namespace pliant
