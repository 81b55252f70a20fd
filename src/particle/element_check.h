// What the jelly models ask of their rest data.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "pliant/result.h"

namespace pliant {

inline Error wrong_value(std::string field, std::string message) {
  return {Error::Code::InvalidArgument, std::move(message), {}, std::move(field)};
}
inline Error wrong_element(const std::string& what, std::size_t index, std::string message) {
  return wrong_value(what + "[" + std::to_string(index) + "]", std::move(message));
}

/// Whether the nodes exist and differ.
template <std::size_t N>
bool is_element(const std::array<std::uint32_t, N>& nodes, std::size_t node_count) {
  for (std::size_t i = 0; i < N; ++i) {
    if (nodes[i] >= node_count) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (nodes[i] == nodes[j]) return false;
    }
  }
  return true;
}

inline bool is_amount(float value) { return value >= 0 && std::isfinite(value); }

}  // namespace pliant
