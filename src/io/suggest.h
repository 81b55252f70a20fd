// "did you mean …?"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// How many letters must be changed, added, dropped or swapped with a neighbour to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `choices` that `word` is likely a slip for, the likeliest first; at most `limit`.
std::vector<std::string> near_words(std::string_view word, std::span<const std::string> choices, std::size_t limit = 3);

/// "; did you mean `position`?", or nothing where no choice is near.
std::string suggestion(std::string_view word, std::span<const std::string> choices);

/// "`a`, `b` and `c`"; `joint` goes between the last two.
std::string word_list(std::span<const std::string> words, std::string_view joint = "and");

}  // namespace pliant
