#include <string>

#include "pliant/result.h"

namespace pliant {

std::string Error::to_string() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line > 0) text += ":" + std::to_string(line);
    text += ": ";
  }
  if (!field.empty()) text += field + ": ";
  return text + message;
}

}  // namespace pliant
