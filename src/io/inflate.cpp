#include "io/inflate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace pliant {

namespace {

constexpr int kMaxBits = 15, kLengthCodes = 288, kDistanceCodes = 32, kEndOfBlock = 256;

/// Bits from the least significant one of each byte on. Past the end there are zeros, and `overrun` tells.
class BitReader {
 public:
  explicit BitReader(std::string_view data) : data_(data) {}

  unsigned bits(int count) {
    while (held_ < count) {
      hold_ |= std::uint32_t{next_byte()} << held_;
      held_ += 8;
    }
    const unsigned value = hold_ & ((1u << count) - 1);
    hold_ >>= count;
    held_ -= count;
    return value;
  }
  void to_byte() {
    hold_ >>= held_ % 8;
    held_ -= held_ % 8;
  }
  bool overrun() const { return overrun_; }

 private:
  unsigned char next_byte() {
    if (at_ < data_.size()) return static_cast<unsigned char>(data_[at_++]);
    overrun_ = true;
    return 0;
  }
  std::string_view data_;
  std::size_t at_ = 0;
  std::uint32_t hold_ = 0;
  int held_ = 0;
  bool overrun_ = false;
};

/// A canonical Huffman code: how many codes there are of each length, and the symbols in the order of their codes.
class Huffman {
 public:
  /// False if more codes are asked for than fit.
  bool build(const std::uint8_t* lengths, int symbols) {
    counts_.fill(0);
    for (int s = 0; s < symbols; ++s) ++counts_[lengths[s]];
    counts_[0] = 0;
    int left = 1;
    for (int bits = 1; bits <= kMaxBits; ++bits) {
      left = 2 * left - counts_[static_cast<std::size_t>(bits)];
      if (left < 0) return false;
    }
    std::array<std::uint16_t, kMaxBits + 2> next{};
    for (std::size_t bits = 1; bits <= kMaxBits; ++bits)
      next[bits + 1] = static_cast<std::uint16_t>(next[bits] + counts_[bits]);
    for (int s = 0; s < symbols; ++s)
      if (lengths[s] != 0) symbols_[next[lengths[s]]++] = static_cast<std::uint16_t>(s);
    return true;
  }

  /// The next symbol, or -1 for a code that does not exist.
  int decode(BitReader& in) const {
    int code = 0, first = 0, index = 0;
    for (std::size_t bits = 1; bits <= kMaxBits; ++bits) {
      code |= static_cast<int>(in.bits(1));
      const int count = counts_[bits];
      if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return -1;
  }

 private:
  std::array<std::uint16_t, kMaxBits + 1> counts_{};
  std::array<std::uint16_t, kLengthCodes> symbols_{};
};

class Inflater {
 public:
  Inflater(std::string_view data, std::size_t size) : in_(data), size_(size) {}

  bool run(std::string& out) {
    out.reserve(size_);
    bool last = false;
    while (!last) {
      last = in_.bits(1) != 0;
      const unsigned kind = in_.bits(2);
      const bool good = kind == 0 ? stored(out) : kind == 1 ? fixed(out) : kind == 2 ? dynamic(out) : false;
      if (!good || in_.overrun()) return false;
    }
    in_.to_byte();
    std::uint32_t checksum = 0;
    for (int i = 0; i < 4; ++i) checksum = checksum << 8 | in_.bits(8);
    return !in_.overrun() && out.size() == size_ && checksum == adler32(out);
  }

 private:
  static std::uint32_t adler32(const std::string& data) {
    std::uint32_t a = 1, b = 0;
    for (std::size_t i = 0; i < data.size();) {
      // So many that the sums cannot overflow.
      for (const std::size_t end = std::min(data.size(), i + 5552); i < end; ++i) {
        a += static_cast<unsigned char>(data[i]);
        b += a;
      }
      a %= 65521;
      b %= 65521;
    }
    return b << 16 | a;
  }

  bool stored(std::string& out) {
    in_.to_byte();
    const unsigned length = in_.bits(16), complement = in_.bits(16);
    if ((length ^ complement) != 0xFFFF || length > size_ - out.size()) return false;
    for (unsigned i = 0; i < length && !in_.overrun(); ++i) out.push_back(static_cast<char>(in_.bits(8)));
    return true;
  }

  bool fixed(std::string& out) {
    std::array<std::uint8_t, kLengthCodes> lengths;
    for (std::size_t s = 0; s < lengths.size(); ++s) lengths[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
    std::array<std::uint8_t, kDistanceCodes> distances;
    distances.fill(5);
    return lengths_.build(lengths.data(), kLengthCodes) && distances_.build(distances.data(), 30) && codes(out);
  }

  bool dynamic(std::string& out) {
    static constexpr std::uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const int length_codes = static_cast<int>(in_.bits(5)) + 257, distance_codes = static_cast<int>(in_.bits(5)) + 1;
    const unsigned code_lengths = in_.bits(4) + 4;
    if (length_codes > 286 || distance_codes > 30) return false;
    std::array<std::uint8_t, kLengthCodes + kDistanceCodes> lengths{};
    for (unsigned i = 0; i < code_lengths; ++i) lengths[kOrder[i]] = static_cast<std::uint8_t>(in_.bits(3));
    Huffman code;
    if (!code.build(lengths.data(), 19)) return false;
    lengths.fill(0);
    const int total = length_codes + distance_codes;
    for (int i = 0; i < total;) {
      const int symbol = code.decode(in_);
      if (symbol < 0 || in_.overrun()) return false;
      if (symbol < 16) {
        lengths[static_cast<std::size_t>(i++)] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && i == 0) return false;
      const std::uint8_t repeated = symbol == 16 ? lengths[static_cast<std::size_t>(i - 1)] : std::uint8_t{0};
      int times = symbol == 16   ? 3 + static_cast<int>(in_.bits(2))
                  : symbol == 17 ? 3 + static_cast<int>(in_.bits(3))
                                 : 11 + static_cast<int>(in_.bits(7));
      if (i + times > total) return false;
      while (times-- > 0) lengths[static_cast<std::size_t>(i++)] = repeated;
    }
    return lengths[kEndOfBlock] != 0 && lengths_.build(lengths.data(), length_codes) &&
           distances_.build(lengths.data() + length_codes, distance_codes) && codes(out);
  }

  /// The symbols of a block, with the codes just built.
  bool codes(std::string& out) {
    static constexpr std::uint16_t kLengthBase[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::uint16_t kDistanceBase[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (!in_.overrun()) {
      const int symbol = lengths_.decode(in_);
      if (symbol < 0 || symbol > 285) return false;
      if (symbol == kEndOfBlock) return true;
      if (symbol < kEndOfBlock) {
        if (out.size() == size_) return false;
        out.push_back(static_cast<char>(symbol));
        continue;
      }
      const auto l = static_cast<std::size_t>(symbol - 257);
      const std::size_t length = kLengthBase[l] + in_.bits(kLengthBits[l]);
      const int d = distances_.decode(in_);
      if (d < 0) return false;
      const std::size_t distance = kDistanceBase[d] + in_.bits(d < 2 ? 0 : d / 2 - 1);
      if (distance > out.size() || length > size_ - out.size()) return false;
      for (std::size_t i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
    }
    return false;
  }

  BitReader in_;
  std::size_t size_;
  Huffman lengths_, distances_;
};

}  // namespace

std::optional<std::string> zlib_inflate(std::string_view data, std::size_t size) {
  if (data.size() < 6) return std::nullopt;
  const unsigned method = static_cast<unsigned char>(data[0]), flags = static_cast<unsigned char>(data[1]);
  // Deflate with a window of at most 32 KiB, no dictionary, and the header's own check.
  if ((method & 15) != 8 || (method >> 4) > 7 || (flags & 32) != 0 || (256 * method + flags) % 31 != 0)
    return std::nullopt;
  std::string out;
  if (size / kMaxDeflateRatio > data.size() || !Inflater(data.substr(2), size).run(out)) return std::nullopt;
  return out;
}

}  // namespace pliant
