#include "attica/core/text/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "attica/core/error.hpp"
#include "attica/core/text/words.hpp"

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
    "hereof forth away before spake also even every according "
    "i ain't y'all tis twas o'er ne'er e'er e'en ev'n";

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
std::vector<Words> split(std::string_view text, const TextOptions& options) {
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
    for (std::string& word : words_of(line, kShortestOfTopics)) {
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

bool is_stop_word(std::string_view word, const std::vector<std::string>& others) {
  if (stop_words().contains(word)) return true;
  if (std::find(others.begin(), others.end(), word) != others.end()) return true;
  if (word.ends_with("n't")) return true;  // verbs that take it are all auxiliary
  for (const std::string_view ending : {"'s", "'ve", "'ll", "'re", "'d", "'m"}) {
    if (!word.ends_with(ending)) continue;
    return is_stop_word(word.substr(0, word.size() - ending.size()), others);
  }
  return false;
}

std::vector<std::string> read_stop_words(std::string_view bytes, std::string_view parameter) {
  const PlainText read = checked_text(bytes, parameter);
  std::vector<std::string> words;
  for (std::string_view text = read.text; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::string& word : words_of(line.substr(0, line.find_first_of("#|")), 1)) {
      words.push_back(std::move(word));
    }
  }
  return words;
}

TextCorpus read_text(std::string_view text, const TextOptions& options) {
  TextCorpus corpus;
  PlainText plain = checked_text(text);
  corpus.warnings = std::move(plain.warnings);
  for (std::string& warning : spaceless_warning(plain.text)) {
    corpus.warnings.push_back(std::move(warning));
  }
  const std::vector<Words> documents = split(plain.text, options);
  std::map<std::string, std::int64_t> counts;
  for (const Words& document : documents) {
    for (const std::string& word : document) ++counts[word];
  }
  std::erase_if(counts,
                [&](const auto& entry) { return is_stop_word(entry.first, options.stop_words); });
  const Ranking kept =
      most_frequent(counts, options.least_count, static_cast<std::size_t>(options.most_words));
  constexpr std::size_t kFewest = 10;
  if (kept.size() < kFewest) {
    throw invalid_parameter(
        "model.file",
        fmt::format("a text with {} words for the vocabulary", kept.size()),
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
  PlainText plain = checked_text(text);
  VocabularyText result{.words = {"<unk>"}, .tokens = {}, .warnings = std::move(plain.warnings)};
  for (std::string& warning : spaceless_warning(plain.text)) {
    result.warnings.push_back(std::move(warning));
  }
  const Words running = words_of(plain.text, 1);
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
