// The <DataArray> elements of VTK's XML files, in all their encodings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/xml.h"
#include "pliant/result.h"

namespace pliant {

/// What the <VTKFile> element tells about all arrays of the file.
struct VtuEncodingInfo {
  bool swap = false;             ///< the numbers are big-endian
  std::size_t header_bytes = 4;  ///< of each number that tells a length
  bool compressed = false;       ///< by zlib
  bool appended_base64 = false;  ///< else raw
  std::string_view appended;     ///< what follows the underscore of <AppendedData>
};

/// Reads what the root element says. Errors: an unknown byte order, header or compressor.
Result<VtuEncodingInfo> read_vtu_encoding(const std::filesystem::path& file, const XmlElement& root);

/// The numbers of an array, of which there must be `count`.
Result<std::vector<double>> read_vtu_array(const std::filesystem::path& file, const VtuEncodingInfo& encoding,
                                           const XmlElement& array, std::uint64_t count);

}  // namespace pliant
