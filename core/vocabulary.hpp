#pragma once
/// @file
/// @brief Plain text as word numbers: the most frequent words, the rest unknown.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

/// @brief A text over its vocabulary.
struct VocabularyText {
  std::vector<std::string> words;    ///< by number; 0 is "<unk>", then by falling frequency
  std::vector<std::int32_t> tokens;  ///< the text
};

/// @brief Words are maximal runs of the letters a-z, lower-cased; everything else separates.
/// Words of equal frequency are ordered alphabetically.
/// @param size vocabulary with "<unk>", >= 2; smaller if the text has fewer words
/// @throws Error (input, `model.file`) for a text without two words
VocabularyText read_words(std::string_view text, std::size_t size);

}  // namespace attica
