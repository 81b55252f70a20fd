// Numbers that chains with two ends and rings share.
#pragma once

namespace pliant {

/// Every row gives way a little, in shares of what its nodes' masses do: a line that is held at both ends and pulled
/// straight has no other solution. Two orders more would stretch a rope under a thousand times its weight by 1 %.
inline constexpr float kSoftness = 1e-6f;
/// Of the last impulses, so much is the start of the next solve. At full scale the lines ring.
inline constexpr float kWarmStart = 0.9f;
/// How much of a taut line's stiffness across itself counts as inertia; see `stiffen`. From 1/4 on no tension is too
/// much for any substep.
inline constexpr float kTheta = 0.5f;
/// Segments longer than this many times their length are shortened after the step.
inline constexpr float kAllowedStretch = 1.005f;
inline constexpr int kLimitSweeps = 3;

}  // namespace pliant
