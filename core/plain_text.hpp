#pragma once
/// @file
/// @brief From the bytes of a file to its text: decompressed, decoded, or refused by the name of
/// its format.

#include <optional>
#include <string>
#include <string_view>

namespace attica {

/// @brief What gzip, Zstandard, bzip2 or xz have compressed, found out by its first bytes; other
/// bytes as they are.
/// @param source name of the file, for messages
/// @throws Error of kind input for damaged data and for more than 2 GB
std::string decompressed(std::string_view bytes, const std::string& source);

/// @brief The text of a file as UTF-8 without byte-order mark: `decompressed`, UTF-16 with a
/// byte-order mark decoded. Formats that hold no text (Excel, Parquet, HDF5, ...) are refused by
/// their name, with what to write instead.
/// @param source name of the file or program, for messages
/// @throws Error of kind input as `SOURCE: what is wrong` or `SOURCE:LINE:COLUMN: error: ...`
std::string plain_text(std::string_view bytes, const std::string& source);

/// @brief "Parquet, expected ...; to_csv(...)": the format of bytes that are no text. Empty: none
/// that is known.
std::optional<std::string> binary_format(std::string_view bytes);

}  // namespace attica
