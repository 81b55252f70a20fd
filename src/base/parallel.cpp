#include "base/parallel.h"

#include <thread>

#if defined(__SANITIZE_THREAD__)
#define PLIANT_PLAIN_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLIANT_PLAIN_THREADS 1
#endif
#endif

#if PLIANT_PLAIN_THREADS
#include <condition_variable>
#include <mutex>
#elif PLIANT_HAS_TBB
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace pliant {

#if PLIANT_HAS_TBB && PLIANT_PLAIN_THREADS

/// For the thread sanitizer, which cannot see how oneTBB orders its tasks, as that library is not built for it: to pass
/// over what it takes for races there is to pass over all that pliant does in a loop. Every thread has its chunks from
/// the beginning, so that nothing but the beginning and the end of a loop orders them, whatever their timing.
struct Workers::Arena {
  explicit Arena(int threads) : count(static_cast<std::size_t>(threads)) {
    for (std::size_t i = 1; i < count; ++i) helpers.emplace_back([this, i] { help(i); });
  }
  ~Arena() {
    {
      const std::lock_guard lock(mutex);
      is_over = true;
    }
    begin.notify_all();
    for (std::thread& helper : helpers) helper.join();
  }

  struct Loop {
    std::size_t chunks = 0;
    void (*run)(void*, std::size_t) = nullptr;
    void* context = nullptr;
  };

  void run(const Loop& next) {
    {
      const std::lock_guard lock(mutex);
      loop = next;
      ++round;
      busy = helpers.size();
    }
    begin.notify_all();
    run_share(next, 0);
    std::unique_lock lock(mutex);
    end.wait(lock, [&] { return busy == 0; });
  }

  void run_share(const Loop& now, std::size_t first) const {
    for (std::size_t chunk = first; chunk < now.chunks; chunk += count) now.run(now.context, chunk);
  }

  void help(std::size_t index) {
    std::size_t done = 0;
    std::unique_lock lock(mutex);
    while (true) {
      begin.wait(lock, [&] { return is_over || round != done; });
      if (is_over) return;
      done = round;
      const Loop now = loop;
      lock.unlock();
      run_share(now, index);
      lock.lock();
      if (--busy == 0) end.notify_one();
    }
  }

  std::size_t count;
  std::mutex mutex;  ///< guards what follows
  std::condition_variable begin, end;
  Loop loop;
  std::size_t round = 0, busy = 0;
  bool is_over = false;
  std::vector<std::thread> helpers;
};

#elif PLIANT_HAS_TBB

struct Workers::Arena {
  explicit Arena(int threads) : tbb(threads) {}

  struct Loop {
    std::size_t chunks;
    void (*run)(void*, std::size_t);
    void* context;
  };

  void run(const Loop& loop) {
    tbb.execute([&] {
      oneapi::tbb::parallel_for(
          std::size_t{0}, loop.chunks, [&](std::size_t chunk) { loop.run(loop.context, chunk); },
          oneapi::tbb::simple_partitioner());
    });
  }

  oneapi::tbb::task_arena tbb;
};

#endif

#if PLIANT_HAS_TBB

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
  arena_->run({chunks, run, context});
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
