// Small scenes, good and bad. The parser and the schema must agree on them, and the parser's messages say what is here.
#pragma once

#include <string>
#include <vector>

namespace pliant {

struct CorpusScene {
  std::string json;
  std::string message{};    ///< of the first error, as `Error::to_string` gives it; empty for a good scene
  bool schema_sees = true;  ///< false for what a schema cannot say, such as a name that no body has
};

/// Scenes that load.
const std::vector<CorpusScene>& good_scenes();
/// Scenes that do not.
const std::vector<CorpusScene>& bad_scenes();

}  // namespace pliant
