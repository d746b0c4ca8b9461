#pragma once
/// @file
/// @brief The one reader of numbers that users write in tables.

#include <optional>
#include <string>
#include <string_view>

namespace attica {

/// @brief A decimal number with a point, with or without sign and exponent (`e` or `E`), `inf`,
/// `infinity` or `nan` in any case; the whole of `text`, without spaces. What is too small for a
/// double is 0 (`is_below_doubles`). Empty: it is no number, or too large (`is_above_doubles`).
std::optional<double> read_number(std::string_view text);

/// @brief Whether a number is not 0 and too small for a double, as 1e-400.
bool is_below_doubles(std::string_view text);
/// @brief Whether a number is finite and too large for a double, as 1e400.
bool is_above_doubles(std::string_view text);

/// @brief Whether a field says that there is no value: empty, `nan`, or the word that R, pandas,
/// NumPy's masked arrays, SQL or Julia write (`NA`, `<NA>`, `N/A`, `--`, `null`, `None`,
/// `missing`).
bool is_missing(std::string_view text);

/// @brief What may be meant by a field that is no number, as the end of a message: "; decimals are
/// written with a point". Empty: nothing that is known.
std::string number_hint(std::string_view text);

}  // namespace attica
