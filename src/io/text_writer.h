// Formatted text into an OutputFile, a buffer at a time. Floats are printed with as many digits as an exact round trip
// needs and no more, in every locale the same.
#pragma once

#include <utility>

#include <fmt/format.h>

#include "io/file.h"

namespace pliant {

class TextWriter {
 public:
  explicit TextWriter(OutputFile& file) : file_(file) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() { flush(); }

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > kFlushBytes) flush();
  }
  /// A number as it lies in memory.
  template <typename T>
  void raw(const T& value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    buffer_.append(bytes, bytes + sizeof value);
    if (buffer_.size() > kFlushBytes) flush();
  }
  /// The same with the bytes in the order of big-endian machines.
  template <typename T>
  void raw_big_endian(const T& value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    for (std::size_t i = sizeof value; i-- > 0;) buffer_.push_back(bytes[i]);
    if (buffer_.size() > kFlushBytes) flush();
  }
  void flush() {
    file_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 16;
  OutputFile& file_;
  fmt::memory_buffer buffer_;
};

}  // namespace pliant
