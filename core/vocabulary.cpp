#include "attica/core/vocabulary.hpp"

#include <algorithm>
#include <unordered_map>

#include "attica/core/error.hpp"

namespace attica {

VocabularyText read_words(std::string_view text, std::size_t size) {
  require(size >= 2, "model.tokens", static_cast<double>(size), "a vocabulary of at least 2");
  std::vector<std::string> running;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) running.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z')) {
      word.push_back(upper ? static_cast<char>(c - 'A' + 'a') : c);
    } else {
      finish();
    }
  }
  finish();
  require(running.size() >= 2,
          "model.file",
          static_cast<double>(running.size()),
          "a text of at least two words");

  std::unordered_map<std::string, std::int64_t> counts;
  for (const std::string& w : running) ++counts[w];
  std::vector<std::pair<std::string, std::int64_t>> ranked(counts.begin(), counts.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  ranked.resize(std::min(ranked.size(), size - 1));

  VocabularyText result{.words = {"<unk>"}, .tokens = {}};
  std::unordered_map<std::string, std::int32_t> numbers;
  for (const auto& [w, count] : ranked) {
    numbers[w] = static_cast<std::int32_t>(result.words.size());
    result.words.push_back(w);
  }
  for (const std::string& w : running) {
    const auto known = numbers.find(w);
    result.tokens.push_back(known == numbers.end() ? 0 : known->second);
  }
  return result;
}

}  // namespace attica
