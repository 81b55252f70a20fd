#include "io/vtu_array.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/base64.h"
#include "io/file.h"
#include "io/inflate.h"
#include "io/parse_number.h"
#include "io/text_reader.h"

namespace pliant {

namespace {

constexpr std::pair<std::string_view, NumberType> kTypes[] = {
    {"Int8", NumberType::I8},     {"UInt8", NumberType::U8},   {"Int16", NumberType::I16}, {"UInt16", NumberType::U16},
    {"Int32", NumberType::I32},   {"UInt32", NumberType::U32}, {"Int64", NumberType::I64}, {"UInt64", NumberType::U64},
    {"Float32", NumberType::F32}, {"Float64", NumberType::F64}};

std::string without_blanks(std::string_view text) {
  std::string result(text);
  result.erase(std::remove_if(result.begin(), result.end(),
                              [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }),
               result.end());
  return result;
}

class ArrayReader {
 public:
  ArrayReader(const std::filesystem::path& file, const VtuEncodingInfo& encoding, const XmlElement& array,
              std::uint64_t count)
      : file_(file), encoding_(encoding), array_(array), count_(count) {}

  Result<std::vector<double>> read() {
    std::vector<double> values;
    if (find_type()) read_format(values);
    if (status_ && values.size() != count_)
      fail(fmt::format("has {} numbers, but must have {}", values.size(), count_));
    if (!status_) return status_.error();
    return values;
  }

 private:
  void fail(std::string message, Error::Code code = Error::Code::CannotRead) {
    const std::string* name = array_.attribute("Name");
    if (status_)
      status_ = file_error(code, file_, std::move(message), array_.line,
                           fmt::format("DataArray {}", name ? printable(*name) : ""));
  }

  bool find_type() {
    const std::string* name = array_.attribute("type");
    const auto* found =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) { return name && t.first == *name; });
    if (found == std::end(kTypes))
      return fail(fmt::format("has the unknown type \"{}\"", name ? printable(*name) : "")), false;
    type_ = found->second;
    return true;
  }

  void read_format(std::vector<double>& values) {
    const std::string* format = array_.attribute("format");
    if (!format || *format == "ascii") return read_ascii(values);
    if (*format == "binary") {
      const std::string text = without_blanks(array_.text);
      base64_ = true;
      return read_binary(text, values);
    }
    if (*format != "appended") return fail(fmt::format("has the unknown format \"{}\"", printable(*format)));
    const std::string* offset = array_.attribute("offset");
    const auto at = offset ? parse_integer(*offset) : std::nullopt;
    if (!at || *at < 0 || static_cast<std::uint64_t>(*at) >= encoding_.appended.size())
      return fail(fmt::format("has the offset \"{}\", which is not inside the appended data",
                              offset ? printable(*offset) : ""));
    base64_ = encoding_.appended_base64;
    read_binary(encoding_.appended.substr(static_cast<std::size_t>(*at)), values);
  }

  void read_ascii(std::vector<double>& values) {
    TextReader in(file_, array_.text);
    while (in.ok() && !in.at_end())
      values.push_back(type_ == NumberType::F32 ? double{in.float_number("a value")} : in.number("a value"));
    if (!in.ok()) fail(in.error().message);
  }

  /// The first `bytes` bytes of the stream, and how many characters of it they take.
  std::string segment(std::string_view stream, std::uint64_t bytes, std::size_t* taken = nullptr) {
    const std::uint64_t characters = base64_ ? (bytes / 3 + (bytes % 3 != 0)) * 4 : bytes;
    if (bytes > stream.size() || characters > stream.size())
      return fail(fmt::format("ends too early: {} bytes are told", bytes)), std::string();
    if (taken) *taken = static_cast<std::size_t>(characters);
    const std::string_view part = stream.substr(0, static_cast<std::size_t>(characters));
    if (!base64_) return std::string(part);
    std::optional<std::string> decoded = base64_decode(part);
    if (!decoded || decoded->size() < bytes) return fail("is not valid base64"), std::string();
    decoded->resize(static_cast<std::size_t>(bytes));
    return std::move(*decoded);
  }

  std::uint64_t header_word(const std::string& bytes, std::size_t index) const {
    const char* at = bytes.data() + index * encoding_.header_bytes;
    return encoding_.header_bytes == 8 ? load_number<std::uint64_t>(at, encoding_.swap)
                                       : load_number<std::uint32_t>(at, encoding_.swap);
  }

  void read_binary(std::string_view stream, std::vector<double>& values) {
    const std::string first = segment(stream, encoding_.header_bytes);
    if (!status_) return;
    const std::uint64_t word = header_word(first, 0);
    if (word > stream.size()) return fail(fmt::format("tells {} bytes or blocks, more than the file has", word));
    const std::string bytes = encoding_.compressed ? unpacked(stream, word) : plain(stream, word);
    if (!status_) return;
    const std::size_t size = size_of(type_);
    if (bytes.size() % size != 0)
      return fail(fmt::format("has {} bytes, which is not a multiple of {}", bytes.size(), size));
    values.reserve(bytes.size() / size);
    for (std::size_t i = 0; i < bytes.size(); i += size)
      values.push_back(load_as_double(type_, bytes.data() + i, encoding_.swap));
  }

  std::string plain(std::string_view stream, std::uint64_t bytes) {
    std::string all = segment(stream, encoding_.header_bytes + bytes);
    return status_ ? all.substr(encoding_.header_bytes) : all;
  }

  /// Blocks packed one by one. The head tells their number, their unpacked size, that of the last (0 if it is full),
  /// and the packed size of each.
  std::string unpacked(std::string_view stream, std::uint64_t blocks) {
    if (blocks == 0) return {};
    std::size_t taken = 0;
    const std::string head = segment(stream, encoding_.header_bytes * (3 + blocks), &taken);
    if (!status_) return {};
    const std::uint64_t block_size = header_word(head, 1), last_size = header_word(head, 2);
    if (block_size > kMaxMeshFileBytes / blocks || last_size > block_size)
      return fail(fmt::format("tells {} blocks of {} bytes, the last of {}", blocks, block_size, last_size)),
             std::string();
    const std::uint64_t total = (blocks - 1) * block_size + (last_size != 0 ? last_size : block_size);
    if (total / size_of(type_) != count_)
      return fail(fmt::format("has {} bytes, but must have {} numbers", total, count_)), std::string();
    std::uint64_t packed = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::uint64_t size = header_word(head, 3 + b);
      if (size > stream.size() - packed) return fail("tells more packed bytes than the file has"), std::string();
      packed += size;
    }
    const std::string data = segment(stream.substr(taken), packed);
    std::string result;
    std::size_t at = 0;
    for (std::size_t b = 0; b < blocks && status_; ++b) {
      const auto size = static_cast<std::size_t>(header_word(head, 3 + b));
      const std::uint64_t full = b + 1 == blocks && last_size != 0 ? last_size : block_size;
      const auto block = zlib_inflate(std::string_view(data).substr(at, size), static_cast<std::size_t>(full));
      if (!block) return fail(fmt::format("block {} of the packed data is damaged", b)), std::string();
      result += *block;
      at += size;
    }
    return result;
  }

  const std::filesystem::path& file_;
  const VtuEncodingInfo& encoding_;
  const XmlElement& array_;
  std::uint64_t count_;
  NumberType type_{};
  bool base64_ = false;
  Status status_;
};

}  // namespace

Result<VtuEncodingInfo> read_vtu_encoding(const std::filesystem::path& file, const XmlElement& root) {
  VtuEncodingInfo info;
  const auto value = [&](const XmlElement& e, std::string_view name, const char* fallback) {
    const std::string* found = e.attribute(name);
    return found ? *found : std::string(fallback);
  };
  const auto bad = [&](Error::Code code, std::string message) {
    return file_error(code, file, std::move(message), root.line);
  };
  const std::string order = value(root, "byte_order", "LittleEndian"), header = value(root, "header_type", "UInt32"),
                    compressor = value(root, "compressor", "");
  if (order != "LittleEndian" && order != "BigEndian")
    return bad(Error::Code::CannotRead,
               fmt::format("byte_order is \"{}\", but must be LittleEndian or BigEndian", printable(order)));
  if (header != "UInt32" && header != "UInt64")
    return bad(Error::Code::CannotRead,
               fmt::format("header_type is \"{}\", but must be UInt32 or UInt64", printable(header)));
  if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
    return bad(Error::Code::Unsupported,
               fmt::format("is packed by {}; save it with zlib (vtkZLibDataCompressor) or without compression",
                           printable(compressor)));
  info.swap = order == "BigEndian";
  info.header_bytes = header == "UInt64" ? 8 : 4;
  info.compressed = !compressor.empty();
  if (const XmlElement* appended = root.child("AppendedData")) {
    info.appended_base64 = value(*appended, "encoding", "base64") != "raw";
    const std::size_t start = appended->text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || appended->text[start] != '_')
      return file_error(Error::Code::CannotRead, file, "the appended data does not begin with \"_\"", appended->line);
    info.appended = appended->text.substr(start + 1);
  }
  return info;
}

Result<std::vector<double>> read_vtu_array(const std::filesystem::path& file, const VtuEncodingInfo& encoding,
                                           const XmlElement& array, std::uint64_t count) {
  return ArrayReader(file, encoding, array, count).read();
}

}  // namespace pliant
