#include "base/parallel.h"

#include <atomic>
#include <thread>

#if PLIANT_HAS_TBB
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace pliant {

#if PLIANT_HAS_TBB

struct Workers::Arena {
  explicit Arena(int threads) : tbb(threads) {}
  oneapi::tbb::task_arena tbb;
};

namespace {

int usable_threads(int wanted) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return wanted > 0 ? std::min(wanted, cores) : cores;
}

}  // namespace

Workers::Workers(int threads)
    : threads_(usable_threads(threads)), arena_(threads_ > 1 ? std::make_unique<Arena>(threads_) : nullptr) {}

void Workers::run_chunks(std::size_t chunks, void (*run)(void*, std::size_t), void* context) {
  if (!arena_ || chunks < 2) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
    return;
  }
  // oneTBB orders what happens before, in and after the loop, but inside its library, where the thread sanitizer cannot
  // see it. These two say it again where it can: all before the loop is seen by every chunk, all chunks by what
  // follows.
  std::atomic<std::size_t> begun{0}, done{0};
  begun.store(1, std::memory_order_release);
  arena_->tbb.execute([&] {
    oneapi::tbb::parallel_for(
        std::size_t{0}, chunks,
        [&](std::size_t chunk) {
          begun.load(std::memory_order_acquire);
          run(context, chunk);
          done.fetch_add(1, std::memory_order_release);
        },
        oneapi::tbb::simple_partitioner());
  });
  done.load(std::memory_order_acquire);
}

#else

struct Workers::Arena {};

Workers::Workers(int) : threads_(1) {}

void Workers::run_chunks(std::size_t chunks, void (*run)(void*, std::size_t), void* context) {
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) run(context, chunk);
}

#endif

Workers::~Workers() = default;

}  // namespace pliant
