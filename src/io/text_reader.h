// A cursor over the content of a mesh file: words and numbers of text, and raw bytes where a format mixes both.
//
// The first failure is kept, with its line (or byte, after raw data); everything read after it is empty or zero. A
// format is therefore read straight down and asked at the end; only loops whose length comes from the file must look at
// `ok()` each time round.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/number_type.h"
#include "pliant/math.h"
#include "pliant/result.h"

namespace pliant {

class TextReader {
 public:
  /// `text` must outlive the reader.
  TextReader(std::filesystem::path file, std::string_view text) : file_(std::move(file)), text_(text) {}

  bool ok() const { return ok_; }
  const Error& error() const { return error_; }
  /// Keeps the first failure, at the place where the last word or bytes began.
  void fail(std::string message, Error::Code code = Error::Code::CannotRead);

  /// Everything from a `#` to the end of its line is skipped from now on.
  void skip_comments() { comments_ = true; }
  /// A backslash at the end of a line joins it with the next from now on.
  void join_continued_lines() { continuations_ = true; }

  // Words are separated by blanks and line ends.
  std::string_view word();          ///< the next one, on whatever line; fails at the end of the file
  std::string_view word_on_line();  ///< empty at the end of the line
  std::string_view rest_of_line();  ///< without blanks at its ends; the cursor goes to the next line
  std::string_view peek_word();     ///< the next word without taking it; empty at the end of the file
  bool at_end();                    ///< nothing but blanks is left
  bool at_line_end();               ///< nothing but blanks is left on the line
  void expect(std::string_view word);

  // Numbers, each one word. `what` names it in the message: "the x coordinate".
  double number(const char* what);       ///< any, also nan and inf
  float float_number(const char* what);  ///< the same, rounded once
  float coordinate(const char* what);    ///< finite
  Vec3 point();                          ///< three coordinates
  std::int64_t integer(const char* what);
  /// An integer of at least 0.
  std::uint64_t unsigned_integer(const char* what);
  /// How many things follow. Each needs at least `bytes_each` bytes of file, so a wrong count cannot make anyone
  /// allocate more than the file is worth.
  std::size_t count(const char* what, std::size_t bytes_each);

  // Raw bytes.
  std::string_view bytes(std::uint64_t count, const char* what);
  /// One number of type T as it lies in the file, its bytes reversed if `swap`.
  template <typename T>
  T raw(bool swap, const char* what) {
    const std::string_view b = bytes(sizeof(T), what);
    return b.size() == sizeof(T) ? load_number<T>(b.data(), swap) : T{};
  }
  /// The check of `count`, for a number that was read otherwise.
  std::size_t checked_count(std::uint64_t count, const char* what, std::size_t bytes_each);

  std::size_t remaining() const { return text_.size() - at_; }
  std::size_t position() const { return at_; }
  void seek(std::size_t position) { at_ = position < text_.size() ? position : text_.size(); }
  std::string_view text() const { return text_; }
  const std::filesystem::path& file() const { return file_; }
  /// The line of the cursor, 1 for the first. Counts line ends: for messages.
  int line() const;

 private:
  void skip_blanks(bool across_lines);
  std::string_view take_word();
  std::size_t continuation() const;

  std::filesystem::path file_;
  std::string_view text_;
  std::size_t at_ = 0, token_ = 0;  ///< the cursor, and where the last token began
  bool comments_ = false, continuations_ = false, raw_ = false, ok_ = true;
  Error error_;
};

/// The first `n` characters of `word`, with those that do not print replaced, for messages.
std::string printable(std::string_view word, std::size_t n = 40);

}  // namespace pliant
