#pragma once
/// @file
/// @brief A text as a sequence of symbols, letters or words, a tenth of it held out; and windows of
/// it.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

/// @brief Number of a symbol, 0 .. C-1.
using Symbol = std::uint16_t;
/// @brief Sequences of L symbols, one a row. @shape{M x L}
using Windows = Eigen::Matrix<Symbol, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What a symbol is.
enum class SymbolKind {
  /// Lower-case letters and marks, each a code point of normalisation form C; 0 is the space, which
  /// stands for every run of anything else.
  letters,
  words,  ///< lower-case words; 0 is "<unk>", every word that is not kept
};

/// @brief A text in two parts: units (what stands between blank lines; lines, where there are fewer
/// than ten such) are counted from 0, and those with k mod 10 = 9 are held out.
struct LanguageText {
  std::vector<std::string> symbols;  ///< by number: 0 as above, then by falling frequency
  std::vector<Symbol> training;
  std::vector<Symbol> held_out;
  std::int64_t units = 0;
  std::vector<std::string> warnings;

  Eigen::Index size() const { return static_cast<Eigen::Index>(symbols.size()); }
};

/// @param text   bytes of a file, see checked_text
/// @param most   symbols that are kept, number 0 included; of 2 or more the most frequent ones
/// @param sites  L of the windows that will be cut
/// @throws Error (input, `model.file`) as checked_text, and for a text with fewer than two symbols,
/// fewer than ten units, or fewer than 20 L symbols in either part
LanguageText read_language(std::string_view text,
                           SymbolKind kind,
                           std::int64_t most,
                           Eigen::Index sites);

/// @brief Every window of a sequence where they are at most `most`; else so many, evenly spaced.
Windows even_windows(const std::vector<Symbol>& sequence, Eigen::Index sites, Eigen::Index most);

/// @brief Symbols as text: letters side by side, words with spaces between.
std::string spell(const LanguageText& text, SymbolKind kind, const Symbol* first, Eigen::Index n);

}  // namespace attica
