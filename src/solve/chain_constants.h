// Numbers that chains with two ends and rings share.
#pragma once

#include <cstddef>

namespace pliant {

/// Every row gives way a little, in shares of what its nodes' masses do: a line that is held at both ends and pulled
/// straight has no other solution. Two orders more would stretch a rope under a thousand times its weight by 1 %.
inline constexpr float kSoftness = 1e-6f;
/// The same under a heavy load. It costs twice its product with h² T/(L m) in stretch, some per cent of the tautest
/// segments.
inline constexpr float kLadenSoftness = 1e-3f;
/// Of the last impulses, so much is the start of the next solve. At full scale the lines ring.
inline constexpr float kWarmStart = 0.9f;
/// Lines that may go slack are those of irregular meshes. They cross at all angles and hold each other, so that one
/// solve of each is far from a solution of all, and what the start lacks is missing in the end: with 0.9 a cloth of 100
/// x 100 cells on a sphere stretched by 10 %, with this by 1 %. With all of it they ring. Steps that go too far by a
/// part, as in successive over-relaxation, do as much as twice the rounds.
inline constexpr float kSlackWarmStart = 0.98f;
inline constexpr float kSlackRelaxation = 1.4f;
/// How much of a taut line's stiffness across itself counts as inertia; see `stiffen`. From 1/4 on no tension is too
/// much for any substep.
inline constexpr float kTheta = 0.5f;
/// How strongly waves across taut lines are damped under a heavy load, in shares of what backward Euler's method does;
/// see `damp`.
inline constexpr float kWaveDamping = 16;
/// Segments longer than this many times their length are shortened after the step.
inline constexpr float kAllowedStretch = 1.005f;
inline constexpr std::size_t kLimitSweeps = 3;

}  // namespace pliant
