// How large a test that scripts/soak also runs is: small, unless the environment says otherwise.
#pragma once
#include <cstdlib>

namespace pliant {

inline int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace pliant
