#include "io/text_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/file.h"
#include "io/parse_number.h"

namespace pliant {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_space(char c) { return is_blank(c) || c == '\n'; }

}  // namespace

std::string printable(std::string_view word, std::size_t n) {
  std::string result(word.substr(0, n));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < 32 || c > 126; }, '?');
  return word.size() > n ? result + "..." : result;
}

int TextReader::line() const {
  return 1 + static_cast<int>(std::count(
                 text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(token_, text_.size())), '\n'));
}

void TextReader::fail(std::string message, Error::Code code) {
  if (!ok_) return;
  ok_ = false;
  error_ = file_error(code, file_, std::move(message), raw_ ? 0 : line(), raw_ ? fmt::format("byte {}", token_) : "");
  at_ = text_.size();
}

/// How many characters at the cursor join this line with the next: a backslash and the line's end, or none.
std::size_t TextReader::continuation() const {
  if (!continuations_ || text_[at_] != '\\') return 0;
  const std::string_view next = text_.substr(at_ + 1, 2);
  return next.substr(0, 1) == "\n" ? 2 : next == "\r\n" ? 3 : 0;
}

void TextReader::skip_blanks(bool across_lines) {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_]) || (across_lines && text_[at_] == '\n')) {
      ++at_;
    } else if (comments_ && text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (const std::size_t joined = continuation()) {
      at_ += joined;
    } else {
      break;
    }
  }
  token_ = at_;
}

std::string_view TextReader::take_word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && !is_space(text_[at_]) && !(comments_ && text_[at_] == '#') && continuation() == 0) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view TextReader::word() {
  raw_ = false;
  skip_blanks(true);
  const std::string_view w = take_word();
  if (w.empty()) fail("the file ends too early");
  return w;
}

std::string_view TextReader::word_on_line() {
  raw_ = false;
  skip_blanks(false);
  return take_word();
}

std::string_view TextReader::rest_of_line() {
  skip_blanks(false);
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view rest = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
  return rest;
}

std::string_view TextReader::peek_word() {
  skip_blanks(true);
  const std::size_t begin = at_;
  const std::string_view w = take_word();
  at_ = begin;
  return w;
}

bool TextReader::at_end() {
  skip_blanks(true);
  return at_ == text_.size();
}

bool TextReader::at_line_end() {
  skip_blanks(false);
  return at_ == text_.size() || text_[at_] == '\n';
}

void TextReader::expect(std::string_view expected) {
  const std::string_view w = word();
  if (ok_ && w != expected) fail(fmt::format("\"{}\" stands where \"{}\" should", printable(w), expected));
}

double TextReader::number(const char* what) {
  const std::string_view w = word();
  const auto value = parse_double(w);
  if (ok_ && !value) fail(fmt::format("{} is \"{}\", which is not a number", what, printable(w)));
  return ok_ ? *value : 0;
}

float TextReader::float_number(const char* what) {
  const std::string_view w = word();
  const auto value = parse_float(w);
  if (ok_ && !value) fail(fmt::format("{} is \"{}\", which is not a number", what, printable(w)));
  return ok_ ? *value : 0;
}

float TextReader::coordinate(const char* what) {
  const float value = float_number(what);
  if (ok_ && !std::isfinite(value))
    fail(fmt::format("{} is {}, but must be finite and at most 3.4e38", what,
                     printable(text_.substr(token_, at_ - token_))));
  return ok_ ? value : 0;
}

Vec3 TextReader::point() {
  const float x = coordinate("the x coordinate");
  const float y = coordinate("the y coordinate");
  const float z = coordinate("the z coordinate");
  return {x, y, z};
}

std::int64_t TextReader::integer(const char* what) {
  const std::string_view w = word();
  const auto value = parse_integer(w);
  if (ok_ && !value) fail(fmt::format("{} is \"{}\", which is not a whole number", what, printable(w)));
  return ok_ ? *value : 0;
}

std::uint64_t TextReader::unsigned_integer(const char* what) {
  const std::int64_t value = integer(what);
  if (ok_ && value < 0) fail(fmt::format("{} is {}, but cannot be negative", what, value));
  return ok_ ? static_cast<std::uint64_t>(value) : 0;
}

std::size_t TextReader::count(const char* what, std::size_t bytes_each) {
  const std::uint64_t n = unsigned_integer(what);
  return checked_count(n, what, bytes_each);
}

std::size_t TextReader::checked_count(std::uint64_t count, const char* what, std::size_t bytes_each) {
  if (ok_ && count > remaining() / bytes_each + 1)
    fail(fmt::format("{} is {}, but the {} bytes left in the file cannot hold so many", what, count, remaining()));
  return ok_ ? static_cast<std::size_t>(count) : 0;
}

std::string_view TextReader::bytes(std::uint64_t count, const char* what) {
  raw_ = true;
  token_ = at_;
  if (count > remaining()) {
    fail(fmt::format("the file ends too early: {} need {} bytes, {} are left", what, count, remaining()));
    return {};
  }
  const std::string_view result = text_.substr(at_, static_cast<std::size_t>(count));
  at_ += result.size();
  return result;
}

}  // namespace pliant
