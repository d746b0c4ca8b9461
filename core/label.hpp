#pragma once
/// @file
/// @brief Labels between LaTeX and gnuplot's enhanced text.

#include <string>
#include <string_view>

namespace attica {

/// @brief A label as authors write it, as enhanced text: plain UTF-8 in which `$...$` is LaTeX
/// mathematics (letters, digits, scripts, Greek letters, common symbols, `\mathrm`, `\mathbf`,
/// `\mathcal`, `\text`) and "{name}" stays what it is, the place of a coordinate. `\$` is a dollar
/// sign. A label with a font of gnuplot's in it, as in "{/:Italic x}", is enhanced text already.
/// @throws Error of kind input naming `parameter` and what of the mathematics is not known
std::string from_latex(std::string_view label, std::string_view parameter);

/// @brief Enhanced text as LaTeX for text mode: italic letters and scripts become mathematics,
/// sizes are left out, since the document has its own.
std::string to_latex(std::string_view enhanced);

/// @brief Plain text as enhanced text: what would be markup is escaped.
std::string escape(std::string_view plain);

}  // namespace attica
