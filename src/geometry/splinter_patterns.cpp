// Wood is a Voronoi diagram across the grain, its columns cut by slanted planes; brick a bond of boxes; glass a Voronoi
// diagram across the pane; grains one in space. Diagrams are those of a grid whose points are moved at random by less
// than half a cell, so that a cell is cut by near neighbours only.
#include "geometry/splinter_patterns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace pliant {
namespace {

constexpr double kJitter = 0.35;  ///< of a grid's points, over its cell
constexpr int kReach = 3;         ///< cells away: no farther point can cut a cell

Error wrong(std::string field, std::string message) {
  return {Error::Code::InvalidArgument, std::move(message), "", std::move(field), 0};
}

/// Axes of a pattern, at right angles, and the body's bounds along them.
struct Frame {
  std::array<Vec3d, 3> axes;
  Vec3d lower, upper;

  /// `third` need not be at right angles to `hint`.
  static Frame about(Vec3d third, Vec3d hint, std::span<const Vec3> nodes) {
    Frame frame;
    const Vec3d z = normalized(third, {0, 0, 1});
    Vec3d x = hint - dot(hint, z) * z;
    if (length(x) < 1e-6) x = cross(z, std::abs(z.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0});
    x = normalized(x);
    frame.axes = {x, cross(z, x), z};
    constexpr double kFar = std::numeric_limits<double>::max();
    frame.lower = {kFar, kFar, kFar}, frame.upper = {-kFar, -kFar, -kFar};
    for (const Vec3& node : nodes) {
      for (std::size_t a = 0; a < 3; ++a) {
        const double along = dot(frame.axes[a], Vec3d(node));
        frame.lower[a] = std::min(frame.lower[a], along), frame.upper[a] = std::max(frame.upper[a], along);
      }
    }
    return frame;
  }
  Vec3d size() const { return upper - lower; }
  /// Beyond the body on all sides, so that no side of a cell lies in its surface.
  double margin() const { return 0.1 * length(size()) + 1e-6; }
  ConvexCell all() const {
    const double m = margin();
    return ConvexCell::box(lower - Vec3d{m, m, m}, upper + Vec3d{m, m, m});
  }
  Vec3d to_space(Vec3d p) const { return p.x * axes[0] + p.y * axes[1] + p.z * axes[2]; }
  bool visit_in_space(ConvexCell& cell, const VisitCell& visit) const {
    if (cell.empty()) return true;
    for (ConvexCell::Side& side : cell.sides) {
      side.plane.normal = to_space(side.plane.normal);
      for (Vec3d& p : side.corners) p = to_space(p);
    }
    return visit(cell);
  }
};

Status check_positive(const char* field, float value) {
  if (value > 0 && std::isfinite(value)) return {};
  return wrong(field, fmt::format("{} is not allowed; it must be greater than 0 and finite", value));
}
Status check_direction(const char* field, Vec3 v) {
  if (is_finite(v) && length(v) > 1e-6f) return {};
  return wrong(field, fmt::format("({}, {}, {}) is no direction", v.x, v.y, v.z));
}
Status check_count(double cells) {
  if (cells <= kMaxSplinterCells) return {};
  return Error{Error::Code::CapacityExceeded,
               fmt::format("the pattern makes about {:.0f} cells in a body of this size, more than {:.0f}: make it "
                           "coarser",
                           cells, kMaxSplinterCells),
               "", "pattern", 0};
}

/// The farthest corner of a cell from a point, across z where it is flat.
double reach_of(const ConvexCell& cell, Vec3d p, bool is_flat) {
  double most = 0;
  for (const ConvexCell::Side& side : cell.sides) {
    for (Vec3d c : side.corners) {
      if (is_flat) c.z = p.z;
      most = std::max(most, length_squared(c - p));
    }
  }
  return std::sqrt(most);
}

/// What is nearer to p than to any of the others.
void keep_nearest(ConvexCell& cell, Vec3d p, std::vector<Vec3d>& others, bool is_flat) {
  std::sort(others.begin(), others.end(), [&](Vec3d a, Vec3d b) {
    const double da = length_squared(a - p), db = length_squared(b - p);
    return da != db ? da < db : std::array{a.x, a.y, a.z} < std::array{b.x, b.y, b.z};
  });
  for (const Vec3d& other : others) {
    const double distance = length(other - p);
    if (distance <= 0) continue;
    if (cell.empty() || distance > 2 * reach_of(cell, p, is_flat)) return;
    const Vec3d normal = (other - p) / distance;
    cell.clip({normal, dot(normal, 0.5 * (p + other))});
  }
}

std::int64_t count_along(double size, double step) { return std::max<std::int64_t>(1, std::llround(size / step)); }

/// A grid of points moved at random, about as far from each other as is wished. Where a step is 0 it has one layer.
struct LoosePoints {
  Vec3d first, step;
  std::array<std::int64_t, 3> count{1, 1, 1};
  std::uint64_t seed;

  LoosePoints(const Frame& frame, Vec3d wished, std::uint64_t seed_) : first(frame.lower), seed(seed_) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (wished[a] <= 0) continue;
      count[a] = count_along(frame.size()[a], wished[a]);
      step[a] = frame.size()[a] / double(count[a]);
    }
    known.reserve(std::size_t(count[0] * count[1] * count[2]));
    for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) { return known.push_back(at(i, j, k)), true; });
  }
  Vec3d at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    const std::int64_t n[3] = {i, j, k};
    Vec3d p = first;
    for (std::size_t a = 0; a < 3; ++a) {
      if (step[a] <= 0) continue;
      p[a] += (double(n[a]) + 0.5 + kJitter * (2 * splinter_chance(seed, i, j, k, a) - 1)) * step[a];
    }
    return p;
  }
  /// What is nearest to a point, as far as it can lie in the body.
  ConvexCell cell(const Frame& frame, std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto from = [](std::int64_t n) { return std::max<std::int64_t>(0, n - kReach); };
    const auto to = [&](std::int64_t n, std::size_t axis) { return std::min(count[axis] - 1, n + kReach); };
    others.clear();
    for (std::int64_t a = from(i); a <= to(i, 0); ++a) {
      for (std::int64_t b = from(j); b <= to(j, 1); ++b) {
        for (std::int64_t c = from(k); c <= to(k, 2); ++c) {
          if (a != i || b != j || c != k) others.push_back(known[index(a, b, c)]);
        }
      }
    }
    const Vec3d p = known[index(i, j, k)];
    const double far = 2 * std::max({step.x, step.y, step.z});
    Vec3d lower = p - Vec3d{far, far, far}, upper = p + Vec3d{far, far, far};
    if (step.z <= 0) lower.z = frame.lower.z - frame.margin(), upper.z = frame.upper.z + frame.margin();
    ConvexCell out = ConvexCell::box(lower, upper);
    keep_nearest(out, p, others, step.z <= 0);
    return out;
  }
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return std::size_t((i * count[1] + j) * count[2] + k);
  }
  /// visit(i, j, k) while it returns true.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (std::int64_t i = 0; i < count[0]; ++i) {
      for (std::int64_t j = 0; j < count[1]; ++j) {
        for (std::int64_t k = 0; k < count[2]; ++k) {
          if (!visit(i, j, k)) return;
        }
      }
    }
  }

  std::vector<Vec3d> known, others;
};

Status visit_points(LoosePoints points, const Frame& frame, const VisitCell& visit) {
  points.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    ConvexCell cell = points.cell(frame, i, j, k);
    return frame.visit_in_space(cell, visit);
  });
  return {};
}

// --- Wood ------------------------------------------------------------------------------------------------------------

/// One column of fibres, cut into lengths by planes that slant at random.
bool cut_column(const ConvexCell& column, Vec3d p, const Frame& frame, const WoodSplinters& wood, std::uint64_t seed,
                std::int64_t i, std::int64_t j, const VisitCell& visit) {
  const double length = wood.length, slant = std::min<double>(wood.slant, 0.2 * length / wood.width);
  const double first = frame.lower.z - length * splinter_chance(seed, i, j, 0, 3);
  const auto plane = [&](std::int64_t k) {
    const double turn = 2 * kPiD * splinter_chance(seed, i, j, k, 4);
    const double height = first + (double(k) + 0.3 * splinter_chance(seed, i, j, k, 5)) * length;
    const Vec3d normal = normalized(Vec3d{slant * std::cos(turn), slant * std::sin(turn), 1});
    return HalfSpace{normal, dot(normal, {p.x, p.y, height})};
  };
  for (std::int64_t k = 0; first + double(k - 1) * length < frame.upper.z; ++k) {
    ConvexCell cell = column;
    const HalfSpace low = plane(k), high = plane(k + 1);
    // The first and the last reach beyond the body.
    if (k > 0) cell.clip({-low.normal, -low.offset});
    cell.clip(high);
    if (!frame.visit_in_space(cell, visit)) return false;
  }
  return true;
}

Status visit_cells(const WoodSplinters& wood, std::span<const Vec3> nodes, std::uint64_t seed, const VisitCell& visit) {
  if (Status s = check_direction("grain", wood.grain); !s) return s;
  if (Status s = check_positive("length", wood.length); !s) return s;
  if (Status s = check_positive("width", wood.width); !s) return s;
  if (!(wood.slant >= 0 && std::isfinite(wood.slant))) return wrong("slant", "it must be 0 or more and finite");
  const Frame frame = Frame::about(Vec3d(wood.grain), {0, 1, 0}, nodes);
  const Vec3d size = frame.size();
  const double w = wood.width;
  if (Status s = check_count((size.x / w + 1) * (size.y / w + 1) * (size.z / double(wood.length) + 2)); !s) {
    return s;
  }
  LoosePoints points(frame, {w, w, 0}, seed);
  points.for_each([&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return cut_column(points.cell(frame, i, j, k), points.at(i, j, k), frame, wood, seed, i, j, visit);
  });
  return {};
}

// --- Brick -----------------------------------------------------------------------------------------------------------

/// Bricks of one course and layer with the mortar after, above and behind each of them.
struct Bond {
  const Frame& frame;
  Vec3d pitch;  ///< from one brick to the next along each axis
  double joint;
  std::array<std::int64_t, 3> count;
  const VisitCell& visit;
  bool goes_on = true;

  void add(Vec3d lower, Vec3d upper, std::uint8_t part) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(upper[a] > lower[a])) return;
    }
    ConvexCell cell = ConvexCell::box(lower, upper);
    cell.part = part;
    goes_on = goes_on && frame.visit_in_space(cell, visit);
  }
  void add_brick(std::int64_t i, std::int64_t course, std::int64_t layer) {
    const double shift = (course + layer) % 2 == 0 ? 0 : -0.5 * pitch.x, far = frame.margin();
    Vec3d lower = frame.lower + Vec3d{double(i) * pitch.x + shift, double(course) * pitch.y, double(layer) * pitch.z};
    const Vec3d next = lower + pitch;
    Vec3d upper = next - Vec3d{joint, joint, joint}, end = next;
    // The outermost reach beyond the body, so that no side lies in its surface.
    if (i == 0) lower.x -= far;
    if (course == 0) lower.y -= far;
    if (layer == 0) lower.z -= far;
    if (course + 1 == count[1]) upper.y = end.y = frame.upper.y + far;
    if (layer + 1 == count[2]) upper.z = end.z = frame.upper.z + far;
    add(lower, upper, 0);
    add({upper.x, lower.y, lower.z}, {end.x, upper.y, upper.z}, 1);
    add({lower.x, upper.y, lower.z}, {end.x, end.y, upper.z}, 1);
    add({lower.x, lower.y, upper.z}, {end.x, end.y, end.z}, 1);
  }
};

Status visit_cells(const BrickSplinters& brick, std::span<const Vec3> nodes, std::uint64_t, const VisitCell& visit) {
  for (const float side : {brick.size.x, brick.size.y, brick.size.z}) {
    if (Status s = check_positive("size", side); !s) return s;
  }
  if (!(brick.joint >= 0 && std::isfinite(brick.joint))) return wrong("joint", "it must be 0 or more and finite");
  if (Status s = check_direction("along", brick.along); !s) return s;
  const Vec3d along = normalized(Vec3d(brick.along));
  if (std::abs(along.y) > 0.99) return wrong("along", "the courses cannot run along +Y, on which they lie");
  const Frame frame = Frame::about(cross(along, Vec3d{0, 1, 0}), along, nodes);
  const Vec3d size = frame.size();
  const double joint = brick.joint;
  const Vec3d wished = Vec3d(brick.size) + Vec3d{joint, joint, joint};
  if (Status s = check_count(4 * (size.x / wished.x + 2) * (size.y / wished.y + 1) * (size.z / wished.z + 1)); !s) {
    return s;
  }
  // Whole courses and layers: bricks give way a little. The last course has no mortar above it.
  const std::int64_t courses = count_along(size.y + joint, wished.y), layers = count_along(size.z + joint, wished.z);
  const Vec3d pitch{wished.x, (size.y + joint) / double(courses), (size.z + joint) / double(layers)};
  if (!(joint < 0.8 * std::min(pitch.y, pitch.z))) return wrong("joint", "it leaves no room for bricks");
  const std::int64_t bricks = std::int64_t(std::ceil(size.x / pitch.x)) + 1;
  Bond bond{frame, pitch, joint, {bricks, courses, layers}, visit};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (std::int64_t course = 0; course < courses; ++course) {
      for (std::int64_t i = 0; i < bricks && bond.goes_on; ++i) bond.add_brick(i, course, layer);
    }
  }
  return {};
}

// --- Glass -----------------------------------------------------------------------------------------------------------

/// Rings of points about a centre, each farther from the last by the same factor.
std::vector<Vec3d> rings_about(Vec3d center, const Frame& frame, double size, std::uint64_t seed) {
  std::vector<Vec3d> points{center};
  const double far = 2 * length(frame.size());
  double radius = 0.6 * size;
  for (std::int64_t ring = 0; radius < far; ++ring, radius *= 1.55) {
    const std::int64_t count = 7 + 2 * ring;
    for (std::int64_t i = 0; i < count; ++i) {
      const double turn = 2 * kPiD * (double(i) + 0.7 * splinter_chance(seed, ring, i, 0, 6)) / double(count);
      const double r = radius * (0.85 + 0.3 * splinter_chance(seed, ring, i, 0, 7));
      points.push_back(center + Vec3d{r * std::cos(turn), r * std::sin(turn), 0});
    }
  }
  return points;
}

Status visit_cells(const GlassSplinters& glass, std::span<const Vec3> nodes, std::uint64_t seed,
                   const VisitCell& visit) {
  if (Status s = check_positive("size", glass.size); !s) return s;
  if (glass.center && !is_finite(*glass.center)) return wrong("center", "it is not finite");
  // Through the body where it is thinnest.
  const Frame straight = Frame::about({0, 0, 1}, {1, 0, 0}, nodes);
  std::array<Vec3d, 3> axes{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  std::size_t thin = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (straight.size()[a] < straight.size()[thin]) thin = a;
  }
  const Frame frame = Frame::about(axes[thin], axes[(thin + 1) % 3], nodes);
  if (!glass.center) {
    const Vec3d size = frame.size();
    const double step = glass.size;
    if (Status s = check_count((size.x / step + 1) * (size.y / step + 1)); !s) return s;
    return visit_points(LoosePoints(frame, {step, step, 0}, seed), frame, visit);
  }
  if (double(glass.size) < 1e-4 * length(frame.size())) {
    return wrong("size", "it is less than a ten thousandth of the body's size: make it coarser");
  }
  const Vec3d c(*glass.center);
  const double middle = 0.5 * (frame.lower.z + frame.upper.z);
  const std::vector<Vec3d> points =
      rings_about({dot(c, frame.axes[0]), dot(c, frame.axes[1]), middle}, frame, glass.size, seed);
  for (const Vec3d& p : points) {
    std::vector<Vec3d> others = points;
    ConvexCell cell = frame.all();
    keep_nearest(cell, p, others, true);
    if (!frame.visit_in_space(cell, visit)) break;
  }
  return {};
}

// --- Grains ----------------------------------------------------------------------------------------------------------

Status visit_cells(const GrainSplinters& grain, std::span<const Vec3> nodes, std::uint64_t seed,
                   const VisitCell& visit) {
  if (Status s = check_positive("size", grain.size); !s) return s;
  const Frame frame = Frame::about({0, 0, 1}, {1, 0, 0}, nodes);
  const Vec3d size = frame.size();
  const double step = grain.size;
  if (Status s = check_count((size.x / step + 2) * (size.y / step + 2) * (size.z / step + 2)); !s) return s;
  return visit_points(LoosePoints(frame, {step, step, step}, seed), frame, visit);
}

}  // namespace

double splinter_chance(std::uint64_t seed, std::int64_t i, std::int64_t j, std::int64_t k, std::uint64_t use) {
  std::uint64_t h = seed;
  for (const std::uint64_t n : {std::uint64_t(i), std::uint64_t(j), std::uint64_t(k), use}) {
    h = (h ^ n) + 0x9e3779b97f4a7c15u;  // splitmix64 (Steele, Lea and Flood 2014)
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
  }
  return double(h >> 11) * 0x1p-53;
}

Status for_each_splinter_cell(std::span<const Vec3> nodes, const SplinterDef& def, const VisitCell& visit) {
  return std::visit([&](const auto& pattern) { return visit_cells(pattern, nodes, def.seed, visit); }, def.pattern);
}

}  // namespace pliant
