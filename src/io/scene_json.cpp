#include "io/scene_json.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pliant {
namespace {

/// How far the parser has read.
struct Position {
  std::size_t bytes = 0;
  std::size_t line_start = 0, last_line_start = 0;
  int line = 1;
  char last = 0;
};

/// Walks over the text and keeps the position up to date: the parser's events carry none.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    Position& p = *position_;
    ++p.bytes;
    p.last = *at_++;
    if (p.last == '\n') ++p.line, p.last_line_start = std::exchange(p.line_start, p.bytes);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  Position* position_;
};

/// nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: what" without its head.
std::string without_preamble(std::string_view what) {
  const std::size_t column = what.find("column ");
  std::size_t start = column == std::string_view::npos ? what.find("] ") : what.find(": ", column);
  start = start == std::string_view::npos ? 0 : start + 2;
  return shown(what.substr(start), 200);
}

/// Receives the parser's events and builds the tree. Returning false ends the parsing.
class TreeBuilder {
 public:
  using Json = nlohmann::json;

  explicit TreeBuilder(const Position& position) : position_(position) {}

  bool null() { return put(JsonValue::Null{}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put_number(static_cast<double>(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return put_number(static_cast<double>(value)); }
  bool number_float(Json::number_float_t value, const std::string&) { return put_number(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return refuse("binary data is not allowed"); }
  bool start_object(std::size_t) { return open(JsonValue::Object{}); }
  bool start_array(std::size_t) { return open(JsonValue::Array{}); }
  bool key(std::string& name) {
    std::get<JsonValue::Object>(stack_.back()->content).push_back({std::move(name), JsonValue{}});
    key_line_ = position_.line;
    return true;
  }
  bool end_object() {
    const auto& members = std::get<JsonValue::Object>(stack_.back()->content);
    if (const std::optional<std::string> twice = repeated_name(members)) {
      return refuse(fmt::format("the member `{}` stands twice in the object that ends here", shown(*twice)));
    }
    stack_.pop_back();
    return true;
  }
  bool end_array() { return stack_.pop_back(), true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& problem) {
    return refuse(without_preamble(problem.what()));
  }

  JsonValue root;
  std::optional<Error> error;

 private:
  bool refuse(const std::string& what) {
    // A line break that was read is the end of the line that it is about.
    const bool ended = position_.last == '\n';
    const std::size_t start = ended ? position_.last_line_start : position_.line_start;
    error = Error{Error::Code::CannotRead,
                  fmt::format("column {}: {}", position_.bytes - start, what),
                  {},
                  {},
                  position_.line - (ended ? 1 : 0)};
    return false;
  }

  // A number is known to end only when the character after it has been read, which may be on the next line.
  bool put_number(double value) { return put(value, position_.last == '\n' ? 1 : 0); }

  template <typename T>
  bool put(T&& value, int lines_back = 0) {
    JsonValue& place = next_place();
    place.content = std::forward<T>(value);
    if (place.line == 0) place.line = position_.line - lines_back;
    return ++values_ <= kMaxJsonValues || too_much(fmt::format("more than {} values in one file", kMaxJsonValues));
  }
  template <typename T>
  bool open(T&& empty) {
    if (static_cast<int>(stack_.size()) >= kMaxJsonDepth) {
      return too_much(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
    }
    if (!put(std::forward<T>(empty))) return false;
    stack_.push_back(last_place_);
    return true;
  }
  bool too_much(const std::string& what) {
    refuse(what);
    error->code = Error::Code::CapacityExceeded;
    error->field = path();
    return false;
  }
  /// Of what is open now, such as `bodies[3].shape`.
  std::string path() const {
    std::string text;
    for (const JsonValue* open : stack_) {
      if (const auto* items = open->as<JsonValue::Array>()) {
        if (!items->empty()) text += fmt::format("[{}]", items->size() - 1);
      } else if (const auto& members = std::get<JsonValue::Object>(open->content); !members.empty()) {
        if (!text.empty()) text += '.';
        text += shown(members.back().name);
      }
      if (text.size() > 200) return text + "…";
    }
    return text;
  }
  /// Members are on the line of their name, elements on their own.
  JsonValue& next_place() {
    if (stack_.empty()) {
      last_place_ = &root;
    } else if (auto* items = std::get_if<JsonValue::Array>(&stack_.back()->content)) {
      last_place_ = &items->emplace_back();
    } else {
      last_place_ = &std::get<JsonValue::Object>(stack_.back()->content).back().value;
      last_place_->line = key_line_;
    }
    return *last_place_;
  }
  static std::optional<std::string> repeated_name(const JsonValue::Object& members) {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const auto& member : members) names.push_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ? std::nullopt : std::optional<std::string>(*twice);
  }

  const Position& position_;
  // A pointer stays valid while its value is open: the array or object above it does not grow meanwhile.
  std::vector<JsonValue*> stack_;
  JsonValue* last_place_ = nullptr;
  std::size_t values_ = 0;
  int key_line_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const Object* members = as<Object>();
  if (!members) return nullptr;
  for (const auto& [key, value] : *members) {
    if (key == name) return &value;
  }
  return nullptr;
}

const char* JsonValue::type_name() const {
  constexpr const char* kNames[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
  return kNames[content.index()];
}

Result<JsonValue> parse_json(std::string_view text) {
  Position position;
  TreeBuilder builder(position);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                            CountingIterator(text.data() + text.size(), &position), &builder);
  if (builder.error) return *builder.error;
  return std::move(builder.root);
}

std::string shown(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (out.size() >= limit) return out + "…";
    // What is not plain ASCII is kept only where a whole UTF-8 sequence follows.
    const std::size_t length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
    bool whole = c >= 0x20 && c != 0x7f && length > 0 && i + length <= text.size();
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (whole) {
      out += text.substr(i, length);
      i += length - 1;
    } else {
      out += '?';
    }
  }
  return out;
}

}  // namespace pliant
