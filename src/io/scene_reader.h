// Typed reading of JSON with exact paths in the messages, by tables of fields.
//
// Every object of the scene format is one table: name, range and what to do with the value. Unknown members are refused
// with a suggestion. The same tables tell the tests which names and ranges the schema must have.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/scene_json.h"
#include "pliant/defs.h"
#include "pliant/scene.h"

namespace pliant {

class SceneBuilder;

/// The numbers that are allowed.
struct Range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool above_lower = false;  ///< `lower` itself is not allowed

  bool contains(double x) const { return (above_lower ? x > lower : x >= lower) && x <= upper; }
  /// "greater than 0 and at most 1"
  std::string to_string() const;
};
inline constexpr Range kAny{};
inline constexpr Range kPositive{.lower = 0, .above_lower = true};
inline constexpr Range kNotNegative{.lower = 0};
inline constexpr Range kShare{.lower = 0, .upper = 1};
constexpr Range between(double lower, double upper) { return {.lower = lower, .upper = upper}; }

/// A value and how it was reached. Lives on the stack while the tree is walked: a child points to its parent.
class SceneReader {
 public:
  SceneReader(const JsonValue& root, SceneBuilder& builder, const std::string& file, SceneErrors& errors)
      : value_(root), builder_(builder), file_(file), errors_(errors) {}
  SceneReader member(std::string_view name, const JsonValue& value) const { return {*this, name, 0, value}; }
  SceneReader element(std::size_t index, const JsonValue& value) const { return {*this, {}, index, value}; }
  SceneReader(SceneReader&&) = delete;

  const JsonValue& value() const { return value_; }
  SceneBuilder& builder() const { return builder_; }
  const SceneErrors& errors() const { return errors_; }
  const std::string& file() const { return file_; }
  /// "bodies[3].shape.radius"
  std::string path() const;
  SceneSource source() const { return {file_, path(), value_.line}; }

  /// Records an error about this value.
  void refuse(std::string message, Error::Code code = Error::Code::InvalidArgument) const;
  /// The same about something within this value that has a path of its own, such as an error of `validate(Shape)`.
  void refuse(const Error& within) const;
  /// "expected a number, found a string"
  void refuse_type(std::string_view expected) const;
  /// No more errors are wanted: reading may stop.
  bool full() const { return errors_.list.size() >= SceneErrors::kLimit; }

  /// Calls `each(child)` for all elements; refuses what is not an array.
  template <typename Each>
  bool for_elements(std::string_view expected, Each each) const {
    const auto* items = value_.as<JsonValue::Array>();
    if (!items) return refuse_type(expected), false;
    for (std::size_t i = 0; i < items->size() && !full(); ++i) each(element(i, (*items)[i]));
    return true;
  }
  /// Calls `each(name, child)` for all members; refuses what is not an object.
  template <typename Each>
  bool for_members(std::string_view expected, Each each) const {
    const auto* members = value_.as<JsonValue::Object>();
    if (!members) return refuse_type(expected), false;
    for (std::size_t i = 0; i < members->size() && !full(); ++i) {
      each((*members)[i].name, member((*members)[i].name, (*members)[i].value));
    }
    return true;
  }

 private:
  SceneReader(const SceneReader& parent, std::string_view name, std::size_t index, const JsonValue& value)
      : value_(value),
        builder_(parent.builder_),
        file_(parent.file_),
        errors_(parent.errors_),
        parent_(&parent),
        name_(name),
        index_(index) {}

  const JsonValue& value_;
  SceneBuilder& builder_;
  const std::string& file_;
  SceneErrors& errors_;
  const SceneReader* parent_ = nullptr;
  std::string_view name_;  ///< empty for an element of an array
  std::size_t index_ = 0;
};

// --- Values. Each returns whether the value was good and leaves `out` alone if not. ----------------------------------
bool read(const SceneReader& r, double& out, const Range& range = kAny);
bool read(const SceneReader& r, float& out, const Range& range = kAny);
bool read(const SceneReader& r, int& out, const Range& range = kAny);
bool read(const SceneReader& r, std::uint16_t& out, const Range& range = kAny);
bool read(const SceneReader& r, std::uint32_t& out, const Range& range = kAny);
bool read(const SceneReader& r, bool& out, const Range& = kAny);
bool read(const SceneReader& r, std::string& out, const Range& = kAny);
/// Three numbers, each within the range.
bool read(const SceneReader& r, Vec3& out, const Range& range = kAny);
/// A quaternion [x, y, z, w] of any length but 0, or {"axis": [x, y, z], "degrees": a}.
bool read(const SceneReader& r, Quat& out, const Range& = kAny);
template <typename T>
bool read(const SceneReader& r, std::optional<T>& out, const Range& range = kAny) {
  T value{};
  if (!read(r, value, range)) return false;
  out = std::move(value);
  return true;
}
/// Three numbers that are not all zero.
bool read_direction(const SceneReader& r, Vec3& out);
/// "#rrggbb" in sRGB, or three linear numbers of 0 to 1.
bool read_color(const SceneReader& r, Vec3& out);
/// Numbers, one after the other.
bool read_numbers(const SceneReader& r, std::vector<float>& out, const Range& range = kAny);
bool read_points(const SceneReader& r, std::vector<Vec3>& out);
/// The index of the word within `words`.
std::optional<std::size_t> read_word(const SceneReader& r, const std::vector<std::string>& words);

// --- Tables of fields ------------------------------------------------------------------------------------------------
struct FieldInfo {
  std::string name;
  bool required = false;
  std::optional<Range> range{};  ///< of a number, or of the numbers in an array
};

template <typename T>
struct Field {
  FieldInfo info;
  std::function<void(const SceneReader&, T&)> read;

  Field required() && {
    info.required = true;
    return std::move(*this);
  }
};
/// Fields are read in the order of the table, whatever the order in the file: later ones may rely on earlier ones.
template <typename T>
using Fields = std::vector<Field<T>>;

/// A field that is read by one of the functions above into a member.
template <typename T, typename M>
Field<T> field(std::string name, M T::*member, Range range = kAny) {
  constexpr bool kHasRange = !std::is_same_v<M, bool> && !std::is_same_v<M, std::string> && !std::is_same_v<M, Quat>;
  return {{std::move(name), false, kHasRange ? std::optional(range) : std::nullopt},
          [=](const SceneReader& r, T& out) { read(r, out.*member, range); }};
}
/// The same for a member of a base of T.
template <typename T, typename Base, typename M>
Field<T> inherited(std::string name, M Base::*member, Range range = kAny) {
  Field<Base> of_base = field(std::move(name), member, range);
  return {of_base.info, [read = std::move(of_base.read)](const SceneReader& r, T& out) { read(r, out); }};
}
/// A field that takes care of itself.
template <typename T>
Field<T> field(std::string name, std::function<void(const SceneReader&, T&)> read) {
  return {{std::move(name), false, {}}, std::move(read)};
}
/// A field that is known, and read elsewhere or not at all.
template <typename T>
Field<T> passed_over(std::string name) {
  return {{std::move(name), false, {}}, [](const SceneReader&, T&) {}};
}

/// Refuses what is not an object, lacks a required field or has one that is not known.
bool check_members(const SceneReader& r, const std::vector<const FieldInfo*>& known);

/// Reads an object by its table. True if nothing was wrong.
template <typename T>
bool read_fields(const SceneReader& r, T& out, const Fields<T>& fields) {
  const std::size_t errors_before = r.errors().list.size();
  std::vector<const FieldInfo*> known;
  for (const Field<T>& f : fields) known.push_back(&f.info);
  if (!check_members(r, known)) return false;
  for (const Field<T>& f : fields) {
    if (const JsonValue* value = r.value().find(f.info.name)) f.read(r.member(f.info.name, *value), out);
  }
  return r.errors().list.size() == errors_before;
}

template <typename T>
std::vector<FieldInfo> infos(const Fields<T>& fields) {
  std::vector<FieldInfo> out;
  for (const Field<T>& f : fields) out.push_back(f.info);
  return out;
}

// --- Objects whose member `kind` says what else they hold ------------------------------------------------------------

/// One kind of something, such as the box among the shapes.
template <typename T>
struct Kind {
  std::string name;
  std::vector<FieldInfo> fields;
  std::function<bool(const SceneReader&, T&)> read;
};

/// A kind whose table fills a `Draft`, which `finish` turns into a T; `finish` may refuse and return false.
template <typename T, typename Draft>
Kind<T> kind(std::string name, Fields<Draft> fields, std::function<bool(const SceneReader&, Draft&, T&)> finish) {
  fields.insert(fields.begin(), passed_over<Draft>("kind").required());
  std::vector<FieldInfo> known = infos(fields);
  return {std::move(name), std::move(known),
          [fields = std::move(fields), finish = std::move(finish)](const SceneReader& r, T& out) {
            Draft draft{};
            return read_fields(r, draft, fields) && finish(r, draft, out);
          }};
}

/// The index of the object's kind within `names`; `what` is the word for the thing in messages, such as "shape".
std::optional<std::size_t> read_kind(const SceneReader& r, std::string_view what,
                                     const std::vector<std::string>& names);

template <typename T>
bool read_kinds(const SceneReader& r, std::string_view what, const std::vector<Kind<T>>& kinds, T& out) {
  std::vector<std::string> names;
  for (const Kind<T>& k : kinds) names.push_back(k.name);
  const std::optional<std::size_t> index = read_kind(r, what, names);
  return index && kinds[*index].read(r, out);
}

}  // namespace pliant
