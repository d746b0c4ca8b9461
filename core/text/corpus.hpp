#pragma once
/// @file
/// @brief Plain text as numbers of words: documents for topic models, running text for language
/// models.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

enum class TextUnits {
  lines,       ///< a document is a line, or several lines of one paragraph
  paragraphs,  ///< a document is what stands between blank lines
  words,       ///< a document is a run of so many words
};

struct TextOptions {
  TextUnits units = TextUnits::paragraphs;
  std::int64_t unit_size = 1;                ///< lines or words of a document
  std::int64_t most_words = 1000;            ///< the vocabulary keeps the most frequent ...
  std::int64_t least_count = 10;             ///< ... of those that occur so often
  std::int64_t least_tokens = 10;            ///< shorter documents are dropped
  std::int64_t most_tokens = 256;            ///< longer documents are cut
  std::vector<std::string> stop_words = {};  ///< dropped besides the usual ones
};

/// @brief Documents as numbers of words.
struct TextCorpus {
  std::vector<std::string> vocabulary;  ///< by falling frequency
  std::vector<std::vector<std::int32_t>> documents;
  std::int64_t cut_tokens = 0;  ///< beyond the greatest length of their document
  std::vector<std::string> warnings;
};

/// @brief Whether a word is too common to tell topics: usual English function words, those of early
/// modern English (thou, unto, hath ...), `others`, and contractions: every word that ends in n't,
/// and such a word with 's, 've, 'll, 're, 'd or 'm.
/// @param word in lower case, as words_of gives it
bool is_stop_word(std::string_view word, const std::vector<std::string>& others = {});

/// @brief A list of stop words: all words of a text; # and | begin comments.
std::vector<std::string> read_stop_words(std::string_view bytes, std::string_view parameter);

/// @brief Documents of the words of at least three letters that are no stop words.
/// @param text bytes of a file, see checked_text
/// @throws Error (input, `model.file`) if no document or fewer than 10 words are left
TextCorpus read_text(std::string_view text, const TextOptions& options);

/// @brief A running text over its vocabulary.
struct VocabularyText {
  std::vector<std::string> words;    ///< by number; 0 is "<unk>", then by falling frequency
  std::vector<std::int32_t> tokens;  ///< the text
  std::vector<std::string> warnings = {};
};

/// @brief All words of a text; the rare ones become "<unk>".
/// @param text bytes of a file, see checked_text
/// @param size vocabulary with "<unk>", >= 2; smaller if the text has fewer words
/// @throws Error (input, `model.file`) as checked_text, and for a text without two different words
VocabularyText read_words(std::string_view text, std::size_t size);

}  // namespace attica
