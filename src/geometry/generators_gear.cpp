#include <cmath>
#include <vector>

#include "geometry/generator_arguments.h"
#include "geometry/ring_surface.h"
#include "pliant/generators.h"

namespace pliant {
namespace {

struct OutlinePoint {
  double angle, radius;
};

/// Points along the arc or flank from (angle, radius) a to b, without b itself.
void append_side(std::vector<OutlinePoint>& outline, OutlinePoint a, OutlinePoint b, int steps) {
  for (int i = 0; i < steps; ++i) {
    const double t = double(i) / steps;
    outline.push_back({a.angle + t * (b.angle - a.angle), a.radius + t * (b.radius - a.radius)});
  }
}

/// How many edges each part of a tooth's outline is cut into.
struct ToothSteps {
  int root, flank, tip;

  explicit ToothSteps(const GearShape& g) {
    const double pitch = 2 * kPiD / g.teeth;
    root = cells_along("tri_gear", float(0.4 * pitch * g.root_radius), g.cell);
    tip = cells_along("tri_gear", float(0.3 * pitch * g.tip_radius), g.cell);
    const double flank_length = std::hypot(double(g.tip_radius) - g.root_radius, 0.15 * pitch * g.root_radius);
    flank = cells_along("tri_gear", float(flank_length), g.cell);
  }
  double all() const { return double(root) + tip + 2.0 * flank; }
};

/// The toothed outline. Angles ascend, so that it can be joined ring by ring to the bore.
std::vector<OutlinePoint> gear_outline(const GearShape& g, const ToothSteps& steps) {
  const double pitch = 2 * kPiD / g.teeth, root = g.root_radius, tip = g.tip_radius;
  std::vector<OutlinePoint> outline;
  for (int tooth = 0; tooth < g.teeth; ++tooth) {
    const double start = tooth * pitch;
    append_side(outline, {start, root}, {start + 0.4 * pitch, root}, steps.root);
    append_side(outline, {start + 0.4 * pitch, root}, {start + 0.55 * pitch, tip}, steps.flank);
    append_side(outline, {start + 0.55 * pitch, tip}, {start + 0.85 * pitch, tip}, steps.tip);
    append_side(outline, {start + 0.85 * pitch, tip}, {start + pitch, root}, steps.flank);
  }
  return outline;
}

void check(const GearShape& g) {
  require_count("tri_gear", "teeth", g.teeth, 3);
  require_positive("tri_gear", "root_radius", g.root_radius);
  require_positive("tri_gear", "tip_radius", g.tip_radius);
  require_positive("tri_gear", "thickness", g.thickness);
  require_positive("tri_gear", "cell", g.cell);
  if (g.tip_radius <= g.root_radius) refuse_argument("tri_gear", "tip_radius", "must be larger than root_radius");
  if (!(g.bore_radius >= 0 && g.bore_radius < g.root_radius)) {
    refuse_argument("tri_gear", "bore_radius", "must be at least 0 and less than root_radius");
  }
}

}  // namespace

TriMesh tri_gear(const GearShape& g) {
  check(g);
  const ToothSteps steps(g);
  const int layers = cells_along("tri_gear", g.thickness, g.cell);
  const int rings_across = cells_along("tri_gear", g.root_radius - g.bore_radius, g.cell);
  require_size("tri_gear", 4.0 * g.teeth * steps.all() * (double(layers) + rings_across));
  const std::vector<OutlinePoint> outline = gear_outline(g, steps);

  TriMesh mesh;
  std::vector<Ring> rings;
  // A ring at a share of the way from the bore (or the middle) to the outline.
  const auto ring_at = [&](double share, double y) {
    const bool is_middle = share == 0 && g.bore_radius == 0;
    rings.push_back(add_ring(mesh, is_middle ? 1 : int(outline.size()), [&](int i) {
      const double r = g.bore_radius + share * (outline[i].radius - g.bore_radius);
      return Vec3d(r * std::cos(outline[i].angle), y, -r * std::sin(outline[i].angle));
    }));
  };
  const double half = g.thickness / 2.0;
  for (int i = 0; i < rings_across; ++i) ring_at(double(i) / rings_across, -half);
  for (int l = 0; l < layers; ++l) ring_at(1, half * (2.0 * l / layers - 1));
  for (int i = rings_across; i >= 0; --i) ring_at(double(i) / rings_across, half);
  const bool has_bore = g.bore_radius > 0;
  for (int l = layers - 1; has_bore && l > 0; --l) ring_at(0, half * (2.0 * l / layers - 1));
  join_all(mesh.faces, rings, has_bore);
  return mesh;
}

}  // namespace pliant
