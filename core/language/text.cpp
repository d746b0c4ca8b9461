#include "attica/core/language/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "attica/core/error.hpp"
#include "attica/core/text/words.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::size_t kHeldOut = 10;  ///< every tenth unit
using Unit = std::vector<std::string>;

/// The text cut at blank lines, or at all lines; a unit of letters ends with the space before the
/// next one.
std::vector<Unit> units_of(std::string_view text, SymbolKind kind, bool blank_lines) {
  std::vector<Unit> units(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool blank = line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if ((blank || !blank_lines) && !units.back().empty()) units.emplace_back();
    const bool words = kind == SymbolKind::words;
    for (std::string& word : words_of(line, 1, words ? Spelling::words : Spelling::letters)) {
      if (words) {
        units.back().push_back(std::move(word));
      } else {
        for (std::string& letter : characters_of(word)) units.back().push_back(std::move(letter));
        units.back().emplace_back(" ");
      }
    }
  }
  if (units.back().empty()) units.pop_back();
  return units;
}

/// By falling frequency, the alphabet deciding between equals; the separator is number 0.
std::vector<std::string> kept_symbols(const std::vector<Unit>& units,
                                      SymbolKind kind,
                                      std::int64_t most) {
  std::map<std::string, std::int64_t> counts;
  for (const Unit& unit : units) {
    for (const std::string& symbol : unit) ++counts[symbol];
  }
  counts.erase(" ");
  std::vector<std::pair<std::string, std::int64_t>> ranking(counts.begin(), counts.end());
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  require(ranking.size() >= 2,
          "model.file",
          static_cast<double>(ranking.size()),
          kind == SymbolKind::words ? "a text of at least two different words"
                                    : "a text of at least two different letters");
  ranking.resize(std::min(ranking.size(), static_cast<std::size_t>(most - 1)));
  std::vector<std::string> symbols = {kind == SymbolKind::words ? "<unk>" : " "};
  for (const auto& entry : ranking) symbols.push_back(entry.first);
  return symbols;
}

}  // namespace

LanguageText read_language(std::string_view text, SymbolKind kind, std::int64_t most, Index sites) {
  require(most >= 2, "model.vocabulary", static_cast<double>(most), "at least 2");
  PlainText plain = checked_text(text);
  LanguageText result;
  result.warnings = std::move(plain.warnings);
  if (kind == SymbolKind::words) {
    for (std::string& warning : spaceless_warning(plain.text)) {
      result.warnings.push_back(std::move(warning));
    }
  }
  std::vector<Unit> units = units_of(plain.text, kind, true);
  if (units.size() < kHeldOut) units = units_of(plain.text, kind, false);
  result.symbols = kept_symbols(units, kind, most);
  require(units.size() >= kHeldOut,
          "model.file",
          static_cast<double>(units.size()),
          "a text of at least 10 parts between blank lines, or of 10 lines: every tenth is held "
          "out");
  result.units = static_cast<std::int64_t>(units.size());
  std::unordered_map<std::string, Symbol> number;
  for (std::size_t k = 0; k < result.symbols.size(); ++k) {
    number[result.symbols[k]] = static_cast<Symbol>(k);
  }
  for (std::size_t k = 0; k < units.size(); ++k) {
    auto& part = k % kHeldOut == kHeldOut - 1 ? result.held_out : result.training;
    for (const std::string& symbol : units[k]) {
      const auto known = number.find(symbol);
      part.push_back(known == number.end() ? Symbol{0} : known->second);
    }
  }
  constexpr std::size_t kLeastWindows = 20;
  const std::size_t least = kLeastWindows * static_cast<std::size_t>(sites);
  const std::size_t fewest = std::min(result.training.size(), result.held_out.size());
  if (fewest < least) {
    throw invalid_parameter(
        "model.file",
        fmt::format("a text of {} symbols, {} of them in every tenth part, which is held out",
                    result.training.size() + result.held_out.size(),
                    result.held_out.size()),
        fmt::format("at least {} held out, 20 windows of model.sites = {}", least, sites));
  }
  return result;
}

Windows even_windows(const std::vector<Symbol>& sequence, Index sites, Index most) {
  const Index all = std::ssize(sequence) - sites + 1;
  require(all >= 1 && most >= 1, "sites", static_cast<double>(sites), "no more than the text has");
  const Index count = std::min(all, most);
  Windows windows(count, sites);
  for (Index k = 0; k < count; ++k) {
    const Index first = count == 1 ? 0 : k * (all - 1) / (count - 1);
    for (Index j = 0; j < sites; ++j) {
      windows(k, j) = sequence[static_cast<std::size_t>(first + j)];
    }
  }
  return windows;
}

std::string spell(const LanguageText& text, SymbolKind kind, const Symbol* first, Index n) {
  std::string spelt;
  for (Index k = 0; k < n; ++k) {
    if (kind == SymbolKind::words && k > 0) spelt += ' ';
    spelt += text.symbols[first[k]];
  }
  return spelt;
}

}  // namespace attica
