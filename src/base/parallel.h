// Loops on both cores whose results do not depend on the number of threads.
//
// Work is cut into chunks of a fixed size, given by the caller and never by the thread count; sums are made per chunk
// and added in chunk order. A stage of the step is serial outside and parallel inside: calls do not nest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace pliant {

/// The threads a world works with. Without oneTBB there is one, and the results are the same.
class Workers {
 public:
  /// 0 means as many as the machine has cores, which is also the most there will be.
  explicit Workers(int threads = 0);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return threads_; }

  /// Calls `run(context, chunk)` for every chunk below `chunks`, on any thread, in any order; returns when all are
  /// done.
  void run_chunks(std::size_t chunks, void (*run)(void* context, std::size_t chunk), void* context);

 private:
  int threads_;
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

/// Calls `body(begin, end)` for consecutive ranges of at most `grain` items that cover [0, count).
template <typename Body>
void parallel_for(Workers& workers, std::size_t count, std::size_t grain, Body&& body) {
  grain = std::max<std::size_t>(grain, 1);
  struct Context {
    std::size_t count, grain;
    std::remove_reference_t<Body>* body;
  } context{count, grain, &body};
  workers.run_chunks((count + grain - 1) / grain,
                     [](void* p, std::size_t chunk) {
                       const Context& c = *static_cast<Context*>(p);
                       (*c.body)(chunk * c.grain, std::min(c.count, (chunk + 1) * c.grain));
                     },
                     &context);
}

/// Folds `partial(begin, end)` of every range with `join(accumulated, partial)`, in the order of the ranges. `scratch`
/// holds the partial results and keeps its memory between calls.
template <typename T, typename Partial, typename Join>
T parallel_reduce(Workers& workers, std::size_t count, std::size_t grain, T identity, std::vector<T>& scratch,
                  Partial&& partial, Join&& join) {
  grain = std::max<std::size_t>(grain, 1);
  scratch.assign((count + grain - 1) / grain, identity);
  parallel_for(workers, count, grain,
               [&](std::size_t begin, std::size_t end) { scratch[begin / grain] = partial(begin, end); });
  T total = identity;
  for (const T& part : scratch) total = join(total, part);
  return total;
}

}  // namespace pliant
