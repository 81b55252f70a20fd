// How far a world reaches, and how fast things may be. Beyond, a float has too few digits left for a step to mean
// anything: a body this fast or this far is a bug in the scene. Defs that ask for it are refused; what gets there is
// taken out before it can upset others.
#pragma once

namespace pliant {

constexpr float kMaxDistance = 1e7f;      ///< m, from the origin
constexpr float kMaxSpeed = 1e6f;         ///< m/s
constexpr float kMaxAngularSpeed = 1e5f;  ///< rad/s

}  // namespace pliant
