// JSON text as a tree that remembers its lines, so that every message about a scene can say where.
//
// nlohmann::json does the parsing through its event interface; its own tree keeps no positions, and silently drops all
// but the last of two members of the same name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pliant/result.h"

namespace pliant {

inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonValues = 4'000'000;  ///< bounds the memory a hostile file can ask for

struct JsonMember;

struct JsonValue {
  struct Null {};
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  ///< in the order of the file, names unique

  std::variant<Null, bool, double, std::string, Array, Object> content;
  int line = 0;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  /// The member of that name if this is an object that has one, else null.
  const JsonValue* find(std::string_view name) const;
  /// "a number", "an object" …, for messages.
  const char* type_name() const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

/// Errors have a line and, within the message, a column; their file is left empty.
Result<JsonValue> parse_json(std::string_view text);

/// A name or word of a scene, for messages: on one line, at most about `limit` bytes long, whole UTF-8 kept and all
/// else replaced.
std::string shown(std::string_view text, std::size_t limit = 80);

}  // namespace pliant
