// Scratch memory for the length of a step: taken from the top, given back in reverse order, empty when the step ends.
//
// The arena grows while it warms up and then never again: a step that needs no more than an earlier one allocates
// nothing. Pieces live in the first block that has room; when a step overflowed into extra blocks, `end_step` joins
// them into one that fits all.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace pliant {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< a cache line, and enough for any SIMD lane

  explicit Arena(std::size_t bytes = 0) { reserve(bytes); }

  /// Uninitialised room for `count` items of a plain type. Take it through `ArenaArray`, which gives it back.
  template <typename T>
  std::span<T> take(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    return {static_cast<T*>(take_bytes(count * sizeof(T))), count};
  }
  /// Gives back the piece taken last.
  void give_back(const void* piece, std::size_t bytes) {
    assert(in_use_ >= padded(bytes));
    in_use_ -= padded(bytes);
    Block& block = *block_of(piece);
    block.used -= padded(bytes);
    assert(static_cast<const void*>(block.memory() + block.used) == piece && "pieces go back in reverse order");
  }

  bool is_empty() const { return in_use_ == 0; }
  std::size_t peak() const { return peak_; }
  std::size_t capacity() const {
    std::size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    return total;
  }

  /// To be called when nothing is in use: one block for all that was ever needed at once.
  void end_step() {
    assert(is_empty() && "scratch outlived its step");
    if (blocks_.size() > 1) reserve(peak_);
  }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0, used = 0;

    std::byte* memory() const {
      const auto address = reinterpret_cast<std::uintptr_t>(bytes.get());
      return bytes.get() + (padded(address) - address);
    }
  };

  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  static Block make_block(std::size_t size) {
    return {std::make_unique_for_overwrite<std::byte[]>(size + kAlignment), size, 0};
  }

  void reserve(std::size_t bytes) {
    blocks_.clear();
    if (bytes > 0) blocks_.push_back(make_block(padded(bytes)));
  }

  void* take_bytes(std::size_t bytes) {
    const std::size_t size = padded(bytes);
    // Only the last block takes new pieces, so that giving back in reverse order empties the blocks in reverse order.
    while (blocks_.size() > 1 && blocks_.back().used == 0 && blocks_.back().size < size) blocks_.pop_back();
    if (blocks_.empty() || blocks_.back().size - blocks_.back().used < size) {
      blocks_.push_back(make_block(std::max(size, 2 * capacity())));
    }
    Block& block = blocks_.back();
    void* piece = block.memory() + block.used;
    block.used += size;
    in_use_ += size;
    peak_ = std::max(peak_, in_use_);
    return piece;
  }

  Block* block_of(const void* piece) {
    for (Block& block : blocks_) {
      if (piece >= block.memory() && piece < block.memory() + std::max<std::size_t>(block.size, 1)) return &block;
    }
    assert(false && "not a piece of this arena");
    return &blocks_.back();
  }

  std::vector<Block> blocks_;
  std::size_t in_use_ = 0, peak_ = 0;
};

/// An array in an arena for as long as it is in scope.
template <typename T>
class ArenaArray {
 public:
  ArenaArray(Arena& arena, std::size_t count) : arena_(arena), items_(arena.take<T>(count)) {}
  ~ArenaArray() { arena_.give_back(items_.data(), items_.size_bytes()); }
  ArenaArray(const ArenaArray&) = delete;
  ArenaArray& operator=(const ArenaArray&) = delete;

  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + items_.size(); }
  std::size_t size() const { return items_.size(); }
  std::span<T> span() { return items_; }

 private:
  Arena& arena_;
  std::span<T> items_;
};

}  // namespace pliant
