#include "attica/core/text/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "attica/core/error.hpp"

namespace attica {
namespace {

// Function words of English, then of early modern English.
constexpr std::string_view kStopWords =
    "a about above across after afterwards again against all almost alone along already also "
    "although always am among amongst an and another any anyhow anyone anything anyway anywhere "
    "are around as at back be became because become becomes becoming been before beforehand behind "
    "being below beside besides between beyond both but by can cannot could did do does doing done "
    "down due during each either else elsewhere enough etc even ever every everyone everything "
    "everywhere except few first for former formerly from further get give go got had has have "
    "having he hence her here hereafter hereby herein hereupon hers herself him himself his how "
    "however if in indeed into is it its itself just keep last latter latterly least less let like "
    "made make many may me meanwhile might mine more moreover most mostly much must my myself "
    "neither never nevertheless next no nobody none nor not nothing now nowhere of off often on "
    "once one only onto or other others otherwise our ours ourselves out over own part per perhaps "
    "please put quite rather really same said saw say see seem seemed seeming seems several shall "
    "she should since so some somehow someone something sometime sometimes somewhere still such "
    "take than that the their theirs them themselves then thence there thereafter thereby "
    "therefore therein thereupon these they this those though through throughout thus to together "
    "too toward towards two under until up upon us used using various very via was we well went "
    "were what whatever when whence whenever where whereafter whereas whereby wherein whereupon "
    "wherever whether which while whither who whoever whole whom whose why will with within "
    "without would yet you your yours yourself yourselves came come three four five six seven "
    "eight nine ten "
    "thou thee thy thine thyself unto hath hast hadst doth dost didst saith sayest saying shalt "
    "wilt canst art wast wert wherefore whosoever whatsoever thereof whereof therewith wherewith "
    "thereon thereto thither hither yea nay lo behold verily cometh goeth maketh giveth ye "
    "hereof forth away before spake also even every according";

const std::unordered_set<std::string_view>& stop_words() {
  static const std::unordered_set<std::string_view> all = [] {
    std::unordered_set<std::string_view> words;
    std::string_view left = kStopWords;
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(' '), left.size());
      words.insert(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    return words;
  }();
  return all;
}

/// The code point at the front of `text`, which is taken off; 0 for an invalid byte.
char32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  constexpr unsigned kAscii = 0x80;
  if (first < kAscii) {
    text.remove_prefix(1);
    return first;
  }
  const std::size_t length = first >= 0xF0 && first < 0xF5   ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 0;
  char32_t code = length == 0 ? 0 : first & (0xFFU >> (length + 1));
  bool valid = length > 0 && text.size() >= length;
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0U) == kAscii;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  // Overlong forms, surrogates and numbers beyond Unicode are invalid.
  valid = valid && !(length == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) &&
          !(length == 4 && (code < 0x10000 || code > 0x10FFFF));
  text.remove_prefix(valid ? length : 1);
  return valid ? code : 0;
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool signs = c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c < 0x2C00) ||
                     (c >= 0x3000 && c < 0x3005) || (c >= 0xE000 && c < 0xF900) || c >= 0xFE00;
  return c >= 0xC0 && !signs;
}

/// Latin, Greek and Cyrillic capitals.
char32_t lower(char32_t c) {
  const bool plain = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
                     (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F);
  if (plain) return c + 0x20;
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  if (c >= 0x100 && c <= 0x137 && c % 2 == 0) return c + 1;
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6U);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12U);
    put(0x80 | (c >> 6U & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18U);
    put(0x80 | (c >> 12U & 0x3F));
    put(0x80 | (c >> 6U & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

using Words = std::vector<std::string>;
constexpr std::size_t kShortestOfTopics = 3;

/// By falling frequency, the alphabet deciding between equals.
using Ranking = std::vector<std::pair<std::string, std::int64_t>>;
Ranking most_frequent(const std::map<std::string, std::int64_t>& counts,
                      std::int64_t least,
                      std::size_t most) {
  Ranking ranking;
  for (const auto& entry : counts) {
    if (entry.second >= least) ranking.push_back(entry);
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  ranking.resize(std::min(ranking.size(), most));
  return ranking;
}

/// Documents as words, stop words included.
std::vector<Words> split(std::string_view text, const TextOptions& options, std::int64_t* bad) {
  std::vector<Words> documents(1);
  const auto close = [&] {
    if (!documents.back().empty()) documents.emplace_back();
  };
  std::int64_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool blank = line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if (blank && options.units != TextUnits::words) {
      close();
      lines = 0;
      continue;
    }
    for (std::string& word : words_of(line, kShortestOfTopics, bad)) {
      documents.back().push_back(std::move(word));
      if (options.units == TextUnits::words &&
          static_cast<std::int64_t>(documents.back().size()) >= options.unit_size) {
        close();
      }
    }
    if (options.units == TextUnits::lines && ++lines == options.unit_size) {
      close();
      lines = 0;
    }
  }
  return documents;
}

}  // namespace

std::vector<std::string> words_of(std::string_view text,
                                  std::size_t shortest,
                                  std::int64_t* bad_bytes) {
  std::vector<std::string> words;
  std::string word;
  std::size_t letters = 0;
  const auto close = [&] {
    if (letters >= std::max<std::size_t>(shortest, 1)) words.push_back(word);
    word.clear();
    letters = 0;
  };
  while (!text.empty()) {
    const bool zero = text.front() == '\0';
    const char32_t c = take(text);
    if (c == 0 && !zero && bad_bytes != nullptr) ++*bad_bytes;
    if (is_letter(c)) {
      append_utf8(word, lower(c));
      ++letters;
    } else {
      close();
    }
  }
  close();
  return words;
}

bool is_stop_word(std::string_view word) { return stop_words().contains(word); }

TextCorpus read_text(std::string_view text, const TextOptions& options) {
  TextCorpus corpus;
  const std::vector<Words> documents = split(text, options, &corpus.bad_bytes);
  std::map<std::string, std::int64_t> counts;
  for (const Words& document : documents) {
    for (const std::string& word : document) {
      if (!is_stop_word(word)) ++counts[word];
    }
  }
  for (const std::string& word : options.stop_words) counts.erase(word);
  const Ranking kept =
      most_frequent(counts, options.least_count, static_cast<std::size_t>(options.most_words));
  constexpr std::size_t kFewest = 10;
  if (kept.size() < kFewest) {
    throw invalid_parameter(
        "model.file",
        fmt::format("a text with {} words for the vocabulary{}",
                    kept.size(),
                    corpus.bad_bytes > 0
                        ? fmt::format(" and {} bytes that are not UTF-8", corpus.bad_bytes)
                        : ""),
        fmt::format("at least {} words, of {} letters or more and no stop words, that occur {} "
                    "times or more",
                    kFewest,
                    kShortestOfTopics,
                    options.least_count));
  }
  std::unordered_map<std::string, std::int32_t> number;
  for (const auto& [word, count] : kept) {
    number[word] = static_cast<std::int32_t>(corpus.vocabulary.size());
    corpus.vocabulary.push_back(word);
  }
  std::size_t longest = 0;
  for (const Words& document : documents) {
    std::vector<std::int32_t> tokens;
    for (const std::string& word : document) {
      const auto at = number.find(word);
      if (at != number.end()) tokens.push_back(at->second);
    }
    longest = std::max(longest, tokens.size());
    const auto length = static_cast<std::int64_t>(tokens.size());
    if (length < options.least_tokens) continue;
    if (length > options.most_tokens) {
      corpus.cut_tokens += length - options.most_tokens;
      tokens.resize(static_cast<std::size_t>(options.most_tokens));
    }
    corpus.documents.push_back(std::move(tokens));
  }
  if (corpus.documents.empty()) {
    throw invalid_parameter(
        "model.file",
        fmt::format("a text whose longest document has {} words of the vocabulary", longest),
        fmt::format("a document with {} or more", options.least_tokens));
  }
  return corpus;
}

VocabularyText read_words(std::string_view text, std::size_t size) {
  require(size >= 2, "model.tokens", static_cast<double>(size), "a vocabulary of at least 2");
  const std::size_t zero = text.find('\0');
  require(zero == std::string_view::npos,
          "model.file",
          static_cast<double>(zero),
          "text in UTF-8: at this position is a zero byte, as in UTF-16 or in data");
  VocabularyText result{.words = {"<unk>"}, .tokens = {}};
  const Words running = words_of(text, 1, &result.bad_bytes);
  std::map<std::string, std::int64_t> counts;
  for (const std::string& word : running) ++counts[word];
  require(counts.size() >= 2,
          "model.file",
          static_cast<double>(counts.size()),
          "a text of at least two different words");

  std::unordered_map<std::string, std::int32_t> number;
  for (const auto& [word, count] : most_frequent(counts, 1, size - 1)) {
    number[word] = static_cast<std::int32_t>(result.words.size());
    result.words.push_back(word);
  }
  for (const std::string& word : running) {
    const auto known = number.find(word);
    result.tokens.push_back(known == number.end() ? 0 : known->second);
  }
  return result;
}

}  // namespace attica
