// Unpacks zlib data (RFC 1950, RFC 1951), as VTK's compressed files hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pliant {

/// The content of a zlib stream, which must have exactly `size` bytes. Nothing if the data is damaged (the checksum is
/// tested) or of another size. Never holds more than `size` bytes, whatever the data says.
std::optional<std::string> zlib_inflate(std::string_view data, std::size_t size);

/// Deflate cannot pack more than this many bytes into one: a header that tells more is wrong.
inline constexpr std::size_t kMaxDeflateRatio = 1032;

}  // namespace pliant
