// The part of XML that VTK's files use: elements, attributes, text, comments and processing instructions. No document
// types, no entities but the five of XML itself, no CDATA.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pliant/result.h"

namespace pliant {

struct XmlElement {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string>> attributes;
  std::string_view text;  ///< the longest run of text between children, as it stands in the file
  std::vector<XmlElement> children;
  int line = 0;

  /// Null if there is none.
  const std::string* attribute(std::string_view attribute_name) const;
  const XmlElement* child(std::string_view child_name) const;
};

/// The root element. The text of an element called `raw_element` is not looked into: it goes up to the last such end
/// tag of the file, and may hold anything (VTK's appended data). `content` must outlive the result.
Result<XmlElement> parse_xml(const std::filesystem::path& file, std::string_view content,
                             std::string_view raw_element = {});

}  // namespace pliant
