// Base64 (RFC 4648), as used inside glTF and VTU files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pliant {

std::string base64_encode(const void* data, std::size_t bytes);
/// Nothing if `text` has a character or a length that base64 does not have. Padding is required.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace pliant
