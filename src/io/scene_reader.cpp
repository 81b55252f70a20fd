#include "io/scene_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/suggest.h"

namespace pliant {
namespace {

/// Shortest form that reads back the same: 0.1, not 0.10000000149.
std::string number_text(double x) { return fmt::format("{}", x); }

bool read_range(const SceneReader& r, double& out, const Range& range) {
  const double* number = r.value().as<double>();
  if (!number) return r.refuse_type("a number"), false;
  if (!range.contains(*number)) {
    r.refuse(fmt::format("{} is not allowed; it must be {}", number_text(*number), range.to_string()));
    return false;
  }
  out = *number;
  return true;
}

template <typename Integer>
bool read_integer(const SceneReader& r, Integer& out, const Range& range) {
  double number = 0;
  if (const double* x = r.value().as<double>(); !x || *x != std::floor(*x)) {
    r.refuse(x ? fmt::format("{} is not allowed; it must be a whole number", number_text(*x))
               : fmt::format("expected a whole number, found {}", r.value().type_name()));
    return false;
  }
  const Range fits{.lower = std::max<double>(range.lower, std::numeric_limits<Integer>::min()),
                   .upper = std::min<double>(range.upper, std::numeric_limits<Integer>::max())};
  if (!read_range(r, number, fits)) return false;
  out = static_cast<Integer>(number);
  return true;
}

/// `count` numbers into `out`.
bool read_tuple(const SceneReader& r, float* out, std::size_t count, const Range& range) {
  const std::string expected = fmt::format("an array of {} numbers", count);
  const auto* items = r.value().as<JsonValue::Array>();
  if (!items) return r.refuse_type(expected), false;
  if (items->size() != count) {
    r.refuse(fmt::format("expected {}, found {} elements", expected, items->size()));
    return false;
  }
  float values[4] = {};
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) good = read(r.element(i, (*items)[i]), values[i], range) && good;
  if (good) std::copy_n(values, count, out);
  return good;
}

struct AxisAngle {
  Vec3 axis{0, 1, 0};
  float degrees = 0;
};

const Fields<AxisAngle>& axis_angle_fields() {
  static const Fields<AxisAngle> fields = {
      field<AxisAngle>("axis", [](const SceneReader& r, AxisAngle& a) { read_direction(r, a.axis); }).required(),
      field("degrees", &AxisAngle::degrees).required()};
  return fields;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

float linear_from_srgb(float s) { return s <= 0.04045f ? s / 12.92f : std::pow((s + 0.055f) / 1.055f, 2.4f); }

bool read_hex_color(const SceneReader& r, const std::string& text, Vec3& out) {
  Vec3 color;
  bool good = text.size() == 7 && text[0] == '#';
  for (std::size_t i = 0; good && i < 3; ++i) {
    const auto high = hex_digit(text[1 + 2 * i]), low = hex_digit(text[2 + 2 * i]);
    good = high && low;
    if (good) color[i] = linear_from_srgb(static_cast<float>(16 * *high + *low) / 255);
  }
  if (!good) return r.refuse(fmt::format("`{}` is not a colour; it must be like \"#ffa040\"", shown(text))), false;
  out = color;
  return true;
}

}  // namespace

std::string Range::to_string() const {
  const bool has_lower = std::isfinite(lower), has_upper = std::isfinite(upper);
  if (has_lower && has_upper && !above_lower) {
    return fmt::format("between {} and {}", number_text(lower), number_text(upper));
  }
  std::string text;
  if (has_lower) text = fmt::format("{} {}", above_lower ? "greater than" : "at least", number_text(lower));
  if (has_upper) text += fmt::format("{}at most {}", has_lower ? " and " : "", number_text(upper));
  return text.empty() ? "a finite number" : text;
}

std::string SceneReader::path() const {
  if (!parent_) return {};
  const std::string above = parent_->path();
  if (name_.empty()) return above + fmt::format("[{}]", index_);
  return above.empty() ? shown(name_) : above + "." + shown(name_);
}

void SceneReader::refuse(std::string message, Error::Code code) const {
  if (full()) {
    errors_.more = true;
    return;
  }
  errors_.list.push_back({code, std::move(message), file_, path(), value_.line});
}

void SceneReader::refuse(const Error& within) const {
  if (full()) return refuse(within.message, within.code);
  refuse(within.message, within.code);
  Error& error = errors_.list.back();
  if (!within.field.empty()) error.field += (error.field.empty() ? "" : ".") + within.field;
  // An error about another file, such as a mesh, is named in full; the place of the mention comes with it.
  if (!within.file.empty()) error.message = within.to_string(), error.field = path();
}

void SceneReader::refuse_type(std::string_view expected) const {
  refuse(fmt::format("expected {}, found {}", expected, value_.type_name()));
}

bool read(const SceneReader& r, double& out, const Range& range) { return read_range(r, out, range); }

bool read(const SceneReader& r, float& out, const Range& range) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Range fits = range;
  if (fits.lower < -kLargest) fits.lower = -kLargest;
  if (fits.upper > kLargest) fits.upper = kLargest;
  double number = 0;
  const double* x = r.value().as<double>();
  // The range as it was asked for makes the better message, unless the number is beyond any float.
  if (!read_range(r, number, x && range.contains(*x) ? fits : range)) return false;
  out = static_cast<float>(number);
  // A positive number too small for a float is not positive any more.
  if (out == 0 && !range.contains(0)) {
    r.refuse(fmt::format("{} is too small; the smallest positive number is {}", number_text(number),
                         std::numeric_limits<float>::min()));
    return false;
  }
  return true;
}

bool read(const SceneReader& r, int& out, const Range& range) { return read_integer(r, out, range); }
bool read(const SceneReader& r, std::uint16_t& out, const Range& range) { return read_integer(r, out, range); }
bool read(const SceneReader& r, std::uint32_t& out, const Range& range) { return read_integer(r, out, range); }

bool read(const SceneReader& r, bool& out, const Range&) {
  const bool* value = r.value().as<bool>();
  if (!value) return r.refuse_type("true or false"), false;
  out = *value;
  return true;
}

bool read(const SceneReader& r, std::string& out, const Range&) {
  const auto* value = r.value().as<std::string>();
  if (!value) return r.refuse_type("a string"), false;
  out = *value;
  return true;
}

bool read(const SceneReader& r, Vec3& out, const Range& range) {
  float values[3];
  if (!read_tuple(r, values, 3, range)) return false;
  out = {values[0], values[1], values[2]};
  return true;
}

bool read(const SceneReader& r, Quat& out, const Range&) {
  if (r.value().as<JsonValue::Object>()) {
    AxisAngle turn;
    if (!read_fields(r, turn, axis_angle_fields())) return false;
    out = Quat::axis_angle(turn.axis, turn.degrees * (kPi / 180));
    return true;
  }
  if (!r.value().as<JsonValue::Array>()) {
    return r.refuse_type("a quaternion [x, y, z, w] or {\"axis\": [x, y, z], \"degrees\": a}"), false;
  }
  float q[4];
  if (!read_tuple(r, q, 4, kAny)) return false;
  const double size = std::hypot(std::hypot(double{q[0]}, double{q[1]}), std::hypot(double{q[2]}, double{q[3]}));
  if (!(size > 1e-6) || !(size < 1e6))
    return r.refuse("the quaternion has no direction; it must be of length 1"), false;
  out = Quat{q[0], q[1], q[2], q[3]}.normalized();
  return true;
}

bool read_direction(const SceneReader& r, Vec3& out) {
  Vec3 direction;
  if (!read(r, direction)) return false;
  const double size = std::hypot(double{direction.x}, double{direction.y}, double{direction.z});
  if (!(size > 1e-6) || !(size < 1e6)) {
    return r.refuse("the direction has no length; it must have at least one number other than 0"), false;
  }
  out = direction;
  return true;
}

bool read_color(const SceneReader& r, Vec3& out) {
  if (const auto* text = r.value().as<std::string>()) return read_hex_color(r, *text, out);
  if (!r.value().as<JsonValue::Array>()) {
    return r.refuse_type("a colour \"#rrggbb\" or an array of 3 numbers of 0 to 1"), false;
  }
  return read(r, out, kShare);
}

bool read_numbers(const SceneReader& r, std::vector<float>& out, const Range& range) {
  const std::size_t errors_before = r.errors().list.size();
  const bool array = r.for_elements("an array of numbers", [&](const SceneReader& e) {
    float number = 0;
    if (read(e, number, range)) out.push_back(number);
  });
  return array && r.errors().list.size() == errors_before;
}

bool read_points(const SceneReader& r, std::vector<Vec3>& out) {
  const std::size_t errors_before = r.errors().list.size();
  const bool array = r.for_elements("an array of points", [&](const SceneReader& e) {
    Vec3 point;
    if (read(e, point)) out.push_back(point);
  });
  return array && r.errors().list.size() == errors_before;
}

std::optional<std::size_t> read_word(const SceneReader& r, const std::vector<std::string>& words) {
  const auto* text = r.value().as<std::string>();
  if (!text) return r.refuse_type("a string"), std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  r.refuse(fmt::format("`{}` is not allowed; it must be {}{}", shown(*text), word_list(words, "or"),
                       suggestion(*text, words)));
  return std::nullopt;
}

bool check_members(const SceneReader& r, const std::vector<const FieldInfo*>& known) {
  const auto* members = r.value().as<JsonValue::Object>();
  if (!members) return r.refuse_type("an object"), false;
  std::vector<std::string> names;
  for (const FieldInfo* info : known) {
    names.push_back(info->name);
    if (info->required && !r.value().find(info->name)) r.refuse(fmt::format("the field `{}` is missing", info->name));
  }
  for (const auto& [name, value] : *members) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    r.member(name, value).refuse(fmt::format("unknown field `{}`{}", shown(name), suggestion(name, names)));
    if (r.full()) break;
  }
  return true;
}

std::optional<std::size_t> read_kind(const SceneReader& r, std::string_view what,
                                     const std::vector<std::string>& names) {
  if (!r.value().as<JsonValue::Object>()) return r.refuse_type("an object"), std::nullopt;
  const JsonValue* word = r.value().find("kind");
  if (!word) {
    r.refuse(fmt::format("the field `kind` is missing; a {} is {}", what, word_list(names, "or")));
    return std::nullopt;
  }
  const SceneReader reader = r.member("kind", *word);
  const auto* text = word->as<std::string>();
  if (!text) return reader.refuse_type("a string"), std::nullopt;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string hint = suggestion(*text, names);
  reader.refuse(fmt::format("there is no {} of kind `{}`; there are {}{}", what, shown(*text), word_list(names), hint),
                Error::Code::Unsupported);
  return std::nullopt;
}

}  // namespace pliant
