// The cells that a body is cut into splinters with: convex, without gaps and overlaps, and all about the body.
#pragma once

#include <functional>
#include <span>

#include "geometry/convex_cell.h"
#include "pliant/splinters.h"

namespace pliant {

inline constexpr double kMaxSplinterCells = 200'000;

/// A number from 0 to 1 that a seed and four numbers decide, whatever was asked before.
double splinter_chance(std::uint64_t seed, std::int64_t i, std::int64_t j, std::int64_t k, std::uint64_t use);

/// Gets each cell in turn; false: no more are wanted.
using VisitCell = std::function<bool(const ConvexCell&)>;

/// The cells of a pattern over `nodes`, of which there is at least one and all are finite, one after the other. Errors:
/// numbers that make no sense, more than `kMaxSplinterCells`.
Status for_each_splinter_cell(std::span<const Vec3> nodes, const SplinterDef& def, const VisitCell& visit);

}  // namespace pliant
