#include "io/parse_number.h"

#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

namespace pliant {

namespace {

/// A decimal number taken apart: (-1)^negative * digits * 10^exponent.
struct Decimal {
  bool negative = false;
  bool special = false;      ///< nan or inf
  bool exact = true;         ///< `digits` holds all of them
  std::uint64_t digits = 0;  ///< at most 19 significant digits
  int exponent = 0;
};

constexpr int kMaxExponent = 100000;  ///< beyond any float; keeps the sums below from overflowing
constexpr std::uint64_t kExactInDouble = std::uint64_t{1} << 53;
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != b[i]) return false;
  return true;
}

class Scanner {
 public:
  explicit Scanner(std::string_view word) : word_(word) {}

  std::optional<Decimal> scan() {
    if (peek() == '-' || peek() == '+') d_.negative = word_[at_++] == '-';
    const std::string_view rest = word_.substr(at_);
    if (equals_ignoring_case(rest, "nan") || equals_ignoring_case(rest, "inf") ||
        equals_ignoring_case(rest, "infinity")) {
      d_.special = true;
      return d_;
    }
    const std::size_t start = at_;
    take_digits(false);
    std::size_t found = at_ - start;
    if (peek() == '.') {
      const std::size_t point = ++at_;
      take_digits(true);
      found += at_ - point;
    }
    if (found == 0) return std::nullopt;
    if (lower(peek()) == 'e' && !take_exponent()) return std::nullopt;
    return at_ == word_.size() ? std::optional(d_) : std::nullopt;
  }

 private:
  char peek() const { return at_ < word_.size() ? word_[at_] : '\0'; }

  void take_digits(bool fraction) {
    for (; is_digit(peek()); ++at_) {
      if (d_.digits < 1000000000000000000u) {
        d_.digits = 10 * d_.digits + static_cast<unsigned>(word_[at_] - '0');
        if (fraction && d_.exponent > -kMaxExponent) --d_.exponent;
      } else {
        d_.exact = d_.exact && word_[at_] == '0';
        if (!fraction && d_.exponent < kMaxExponent) ++d_.exponent;
      }
    }
  }

  bool take_exponent() {
    ++at_;
    bool negative = false;
    if (peek() == '-' || peek() == '+') negative = word_[at_++] == '-';
    if (!is_digit(peek())) return false;
    int value = 0;
    for (; is_digit(peek()); ++at_)
      if (value < kMaxExponent) value = 10 * value + (word_[at_] - '0');
    d_.exponent += negative ? -value : value;
    return true;
  }

  std::string_view word_;
  std::size_t at_ = 0;
  Decimal d_;
};

template <typename T>
T special_value(const Decimal& d, std::string_view word) {
  const bool nan = lower(word.back()) == 'n';
  const T value = nan ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
  return d.negative ? -value : value;
}

/// The number if both its digits and the power of ten are exact doubles: then one operation rounds correctly
/// (Clinger 1990).
std::optional<double> quick(const Decimal& d) {
  if (!d.exact || d.digits > kExactInDouble || d.exponent < -22 || d.exponent > 22) return std::nullopt;
  const auto m = static_cast<double>(d.digits);
  const double value = d.exponent < 0 ? m / kPowersOfTen[-d.exponent] : m * kPowersOfTen[d.exponent];
  return d.negative ? -value : value;
}

/// The C library's exact conversion with the C locale's decimal point. `word` is known to be a plain number.
template <typename T, typename Convert>
T slow(std::string_view word, Convert convert) {
  static const locale_t c_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  char buffer[128];
  if (word.size() < sizeof buffer) {
    std::memcpy(buffer, word.data(), word.size());
    buffer[word.size()] = '\0';
    return convert(buffer, c_locale);
  }
  return convert(std::string(word).c_str(), c_locale);
}

/// True if `value` lies halfway between two floats, where rounding twice could go wrong, or is too small to tell.
bool ambiguous_as_float(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits & 0x1FFFFFFF) == 0x10000000 || std::abs(value) < 2e-38;
}

}  // namespace

std::optional<double> parse_double(std::string_view word) {
  const std::optional<Decimal> d = Scanner(word).scan();
  if (!d) return std::nullopt;
  if (d->special) return special_value<double>(*d, word);
  if (const std::optional<double> value = quick(*d)) return value;
  return slow<double>(word, [](const char* text, locale_t c) { return ::strtod_l(text, nullptr, c); });
}

std::optional<float> parse_float(std::string_view word) {
  const std::optional<Decimal> d = Scanner(word).scan();
  if (!d) return std::nullopt;
  if (d->special) return special_value<float>(*d, word);
  if (d->digits == 0) return d->negative ? -0.0f : 0.0f;
  if (const std::optional<double> value = quick(*d); value && !ambiguous_as_float(*value)) {
    // Out of the range of floats: the cast would be undefined.
    if (std::abs(*value) > 3.4028235677973366e38)
      return *value < 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    return static_cast<float>(*value);
  }
  return slow<float>(word, [](const char* text, locale_t c) { return ::strtof_l(text, nullptr, c); });
}

std::optional<std::int64_t> parse_integer(std::string_view word) {
  const bool negative = !word.empty() && word[0] == '-';
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  if (word.empty()) return std::nullopt;
  constexpr std::uint64_t kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  for (const char c : word) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kLargest - digit) / 10) return std::nullopt;
    value = 10 * value + digit;
  }
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace pliant
