// Rows of other kinds that act on rigid bodies, solved in turn with theirs (document 004, section 3).
#pragma once

#include <cstdint>
#include <span>

#include "math/rigid_body_motion.h"

namespace pliant {

/// The motions given are those of `slots()`, in that order; what the calls change in them is what the bodies do.
class RowPartner {
 public:
  virtual ~RowPartner() = default;
  /// The rigid bodies that its rows act on, ascending.
  virtual std::span<const std::uint32_t> slots() const = 0;
  virtual void begin(std::span<RigidBodyMotion> motions) = 0;
  /// One round; called several times, with sweeps over the rigid rows in between.
  virtual void round(std::span<RigidBodyMotion> motions) = 0;
  virtual void end(std::span<RigidBodyMotion> motions) = 0;
};

}  // namespace pliant
