// base/: memory, ids, loops, hashes, traces and lanes.
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/arena.h"
#include "base/hash.h"
#include "base/id_pool.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/trace.h"
#include "pliant/result.h"

namespace pliant {
namespace {

TEST(Arena, PiecesAreAlignedApartAndGivenBack) {
  Arena arena;
  {
    ArenaArray<float> a(arena, 1000);
    ArenaArray<double> b(arena, 7);
    ArenaArray<char> c(arena, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.begin()) % Arena::kAlignment, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.begin()) % Arena::kAlignment, 0u);
    std::fill(a.begin(), a.end(), 1.0f);
    std::fill(b.begin(), b.end(), 2.0);
    EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0.0f), 1000);
    EXPECT_FALSE(arena.is_empty());
  }
  EXPECT_TRUE(arena.is_empty());
}

TEST(Arena, GrowsOnceAndThenNeverAgain) {
  Arena arena;
  const auto use = [&] {
    ArenaArray<int> a(arena, 100), b(arena, 5000), c(arena, 20000);
    c[19999] = 7;
    EXPECT_EQ(c[19999], 7);
  };
  use();
  arena.end_step();
  const std::size_t capacity = arena.capacity();
  EXPECT_GE(capacity, arena.peak());
  for (int i = 0; i < 10; ++i) {
    use();
    arena.end_step();
    EXPECT_EQ(arena.capacity(), capacity);
  }
}

TEST(IdPool, AnIdIsAliveFromAcquireToRelease) {
  IdPool<BodyId> pool;
  const BodyId a = pool.acquire(), b = pool.acquire();
  EXPECT_TRUE(pool.contains(a) && pool.contains(b));
  EXPECT_FALSE(pool.contains(BodyId{}));
  EXPECT_FALSE(pool.contains(BodyId{9, 1}));
  pool.release(a);
  EXPECT_FALSE(pool.contains(a));
  EXPECT_TRUE(pool.was_released(a));
  EXPECT_FALSE(pool.was_released(b));
  const BodyId c = pool.acquire();
  EXPECT_EQ(c.index, a.index);
  EXPECT_NE(c.generation, a.generation);
  EXPECT_FALSE(pool.contains(a));
}

TEST(IdPool, RandomUseAgreesWithASet) {
  IdPool<BodyId> pool;
  std::mt19937 random(1);
  std::set<std::pair<std::uint32_t, std::uint32_t>> alive, dead;
  std::vector<BodyId> ids;
  for (int i = 0; i < 5000; ++i) {
    if (ids.empty() || random() % 3) {
      const BodyId id = pool.acquire();
      EXPECT_TRUE(alive.insert({id.index, id.generation}).second);
      EXPECT_EQ(dead.count({id.index, id.generation}), 0u) << "an old id came back to life";
      ids.push_back(id);
    } else {
      std::swap(ids[random() % ids.size()], ids.back());
      const BodyId id = ids.back();
      ids.pop_back();
      pool.release(id);
      alive.erase({id.index, id.generation});
      dead.insert({id.index, id.generation});
    }
  }
  for (const auto& [index, generation] : dead) EXPECT_FALSE(pool.contains(BodyId{index, generation}));
  for (const auto& [index, generation] : alive) EXPECT_TRUE(pool.contains(BodyId{index, generation}));
}

TEST(Parallel, EveryItemOnce) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    std::vector<std::atomic<int>> seen(10007);
    parallel_for(workers, seen.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (const auto& count : seen) ASSERT_EQ(count, 1);
    parallel_for(workers, 0, 64, [](std::size_t, std::size_t) { FAIL(); });
  }
}

TEST(Parallel, SumsAreTheSameToTheLastBitWithAnyNumberOfThreads) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(100000);
  for (float& value : values) value = uniform(random) * std::pow(10.0f, 6 * uniform(random));
  const auto sum = [&](int threads) {
    Workers workers(threads);
    std::vector<float> scratch;
    return parallel_reduce(
        workers, values.size(), 1000, 0.0f, scratch,
        [&](std::size_t begin, std::size_t end) {
          float partial = 0;
          for (std::size_t i = begin; i < end; ++i) partial += values[i];
          return partial;
        },
        [](float a, float b) { return a + b; });
  };
  const float one = sum(1);
  EXPECT_EQ(one, sum(2));
  EXPECT_EQ(one, sum(7));
  double exact = 0;
  for (const float value : values) exact += static_cast<double>(value);
  EXPECT_NEAR(static_cast<double>(one), exact, 1e-3 * std::abs(exact) + 50);
}

TEST(Hash, EveryBitAndThePlaceOfEveryFieldCount) {
  std::set<std::uint64_t> hashes;
  for (int bit = 0; bit < 64; ++bit) {
    Hasher hasher;
    hasher.add(std::uint64_t{1} << bit);
    hashes.insert(hasher.value());
  }
  EXPECT_EQ(hashes.size(), 64u);
  hashes.clear();
  for (const char* text : {"", "a", "b", "ab", "ba", "abcdefgh", "abcdefghi"}) {
    Hasher hasher;
    hasher.add_text(text);
    hashes.insert(hasher.value());
  }
  Hasher split, joined;
  split.add_text("ab"), split.add_text("c");
  joined.add_text("a"), joined.add_text("bc");
  hashes.insert(split.value());
  hashes.insert(joined.value());
  EXPECT_EQ(hashes.size(), 7u + 2);
  Hasher plus, minus;
  plus.add(0.0f), minus.add(-0.0f);
  EXPECT_NE(plus.value(), minus.value()) << "the hash is over bits, not values";
}

TEST(Trace, IsJsonThatChromeReads) {
  Trace trace;
  trace.add_span("outer \"quoted\"", 2000, 9000);
  trace.add_span("inner", 3000, 4500);
  trace.add_counter("bodies", 5000, 12.5);
  const auto json = nlohmann::json::parse(trace.to_json());
  ASSERT_EQ(json["traceEvents"].size(), 3u);
  EXPECT_EQ(json["traceEvents"][0]["name"], "outer \"quoted\"");
  EXPECT_EQ(json["traceEvents"][0]["ph"], "X");
  EXPECT_DOUBLE_EQ(json["traceEvents"][1]["ts"], 1.0);
  EXPECT_DOUBLE_EQ(json["traceEvents"][1]["dur"], 1.5);
  EXPECT_DOUBLE_EQ(json["traceEvents"][2]["args"]["value"], 12.5);
}

TEST(Simd, LanesDoWhatScalarsDo) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-4, 4);
  for (int round = 0; round < 100; ++round) {
    float a[8], b[8], r[8];
    for (int i = 0; i < 8; ++i) a[i] = uniform(random), b[i] = uniform(random);
    const Float8 va = load8(a), vb = load8(b);
    store8(r, select(va < vb, va * vb, va / (abs(vb) + 1)));
    const Float8 root = sqrt(abs(va)), low = min(va, vb), high = max(va, vb);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(r[i], a[i] < b[i] ? a[i] * b[i] : a[i] / (std::abs(b[i]) + 1));
      EXPECT_EQ(root[i], std::sqrt(std::abs(a[i])));
      EXPECT_EQ(low[i], std::min(a[i], b[i]));
      EXPECT_EQ(high[i], std::max(a[i], b[i]));
    }
    EXPECT_EQ(sum(va), ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])));
    EXPECT_EQ(any(va > 100), false);
    EXPECT_EQ(any(va > a[3] - 1), true);
  }
}

TEST(Result, HoldsAValueOrSaysWhyNot) {
  const Result<int> good = 3;
  EXPECT_EQ(*good, 3);
  const Result<int> bad = Error{Error::Code::CannotRead, "it is torn", "book.obj", "face 7", 12};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().to_string(), "book.obj:12: face 7: it is torn");
  EXPECT_EQ(bad.value_or(9), 9);
  EXPECT_THROW((void)*bad, BadResult);
}

}  // namespace
}  // namespace pliant
