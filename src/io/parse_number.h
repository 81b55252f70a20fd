// Numbers in text, read exactly and without regard to the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pliant {

/// The nearest float (double) to a decimal number such as "-1.5e-3"; correctly rounded, so what was printed with enough
/// digits comes back bit for bit. "nan" and "inf" in any case, with a sign, are numbers too: whoever wants finite ones
/// must ask. Nothing if the whole of `word` is not a number. Hexadecimal floats are refused.
std::optional<float> parse_float(std::string_view word);
std::optional<double> parse_double(std::string_view word);

/// A decimal integer with an optional sign; nothing if it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view word);

}  // namespace pliant
