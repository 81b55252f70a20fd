#include "io/suggest.h"

#include <algorithm>

#include <fmt/format.h>

namespace pliant {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: rows i−2, i−1 and i of the usual table.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> near_words(std::string_view word, std::span<const std::string> choices, std::size_t limit) {
  constexpr std::size_t kLongest = 100;  // nobody mistypes a name of that length; keeps hostile input cheap
  if (word.empty() || word.size() > kLongest) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& choice : choices) {
    if (choice.size() > kLongest) continue;
    const bool begins = choice.starts_with(word) || (choice.size() >= 4 && word.starts_with(choice));
    const std::size_t distance = edit_distance(word, choice);
    if (begins || distance <= std::min(word.size(), choice.size()) / 3) near.emplace_back(distance, choice);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> words;
  for (std::size_t i = 0; i < near.size() && i < limit; ++i) words.push_back(std::move(near[i].second));
  return words;
}

std::string suggestion(std::string_view word, std::span<const std::string> choices) {
  const std::vector<std::string> near = near_words(word, choices);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", word_list(near, "or"));
}

std::string word_list(std::span<const std::string> words, std::string_view joint) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", joint) : ", ";
    text += "`" + words[i] + "`";
  }
  return text;
}

}  // namespace pliant
