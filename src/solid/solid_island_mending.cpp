// What overlaps is brought out of each other: how fast, and where that ends.
#include <algorithm>

#include "solid/solid_island.h"

namespace pliant {

void IslandRow::lower_mending(float speed) {
  const float dropped = std::min(speed, mending);
  target -= normal * dropped;
  held += normal * (penalty * dropped);
  mending -= dropped;
}

void IslandRow::drop_mending(Vec3 velocity, float allowed) {
  constexpr float kNoNearer = 0.7f, kDrop = 2;
  if (!active || !(mending > 0)) return;
  const float wrong = violation(velocity);
  if (wrong > std::max(allowed, kNoNearer * missed)) lower_mending(kDrop * wrong);
  missed = wrong;
}

/// What is jammed cannot come out of all that it overlaps at once. Rows that ask for that contradict each other: their
/// impulses grow from round to round, no number of rounds is enough, and what they push is stretched until it bursts.
/// Those that come no nearer to what they ask for settle for what they have. (Without mending there is always a
/// solution, if nothing is driven: that nothing moves against anything else.) In a wall that a blow has broken this
/// was a fifth of the time: two dozen splinters at its foot took all rounds in every step.
void SolidIsland::drop_mending(Workers& workers, float allowed) {
  for_rows(workers, [&](std::size_t i) { rows_[i].drop_mending(relative_velocity(rows_[i]), allowed); });
}

/// Mending does work. It ends with the overlap, unless bodies are so entangled that their nodes are pushed to the wrong
/// sides: then it would strain them more and more. (Jelly crushed to nothing under a block of oak that falls at 6 m/s
/// came to hold more than twice the energy of the fall.) So a body has some strength for it, which comes back with
/// time, and mends the more slowly the less of it is left.
void SolidIsland::limit_mending() {
  const auto strength = [&](const IslandRowEnd& end) {
    return is_solid(end) ? solids_[end.member].body->strength() : 1.0f;
  };
  for (IslandRow& row : rows_) {
    if (row.mending > 0) row.lower_mending(row.mending * (1 - std::min(strength(row.a), strength(row.b))));
  }
}

/// Strength is measured by what it takes to set all that presses through a contact going and to lift it out, twice.
void SolidIsland::count_mending() {
  constexpr double kSpeed = 0.5;  // m/s
  double gravity = 0;
  for (const Solid& solid : solids_) gravity = std::max(gravity, static_cast<double>(length(solid.gravity)));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const IslandRow& row = rows_[i];
    const double impulse = static_cast<double>(dot(row_impulses_[i], row.normal));
    if (!(row.mending > 0 && impulse > 0 && row.load > 0)) continue;
    const double enough = kSpeed * kSpeed + gravity * static_cast<double>(row.overlap);
    const double share = impulse * static_cast<double>(row.mending / row.load) / (2 * enough);
    for (const IslandRowEnd* end : {&row.a, &row.b}) {
      if (is_solid(*end)) solids_[end->member].body->spend_strength(share);
    }
  }
}

}  // namespace pliant
