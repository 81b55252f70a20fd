// What others need for the same: figures of papers and of engines that the suite cannot run beside ours.
#pragma once

#include <span>
#include <string_view>

namespace pliant {

struct Peer {
  std::string_view benchmark;
  std::string_view by;
  double ms = 0;            ///< a step takes; 0 where only `remark` tells
  double worst_ms = 0;      ///< of the slowest step; 0 where not known
  std::string_view remark;  ///< threads, and what was reached in that time
};

/// Those of one benchmark, in the order in which they are shown; often none.
std::span<const Peer> peers_of(std::string_view benchmark);

}  // namespace pliant
