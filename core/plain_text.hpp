#pragma once
/// @file
/// @brief The one way from the bytes of a file to its text, for tables, matrices, texts and
/// alignments: decompressed, decoded, or refused by the name of its format.

#include <string>
#include <string_view>

namespace attica {

/// @brief What gzip, Zstandard, bzip2 or xz have compressed, found out by its first bytes; other
/// bytes as they are.
/// @param source name of the file, for messages
/// @throws Error of kind input for damaged data and for more than 2 GB
std::string decompressed(std::string_view bytes, const std::string& source);

/// @brief A file's name without `.gz`, `.zst`, `.bz2` or `.xz`, in any case.
std::string_view without_compression(std::string_view name);

/// What a file is to hold: messages say what to type in place of other formats.
enum class TextKind {
  table,      ///< UTF-16 with a byte-order mark, which spreadsheets write, is decoded
  text,       ///< UTF-16 is refused
  alignment,  ///< as `text`; zero bytes and what is no UTF-8 (of names, of comments) stay
};

/// @brief The text of a file as UTF-8 without byte-order mark: `decompressed` and decoded. Formats
/// that hold no text (Excel, Parquet, HDF5, PDF, ...) are refused by their name, with what to do
/// instead; so are UTF-32 and UTF-16 without a mark, which their zero bytes give away.
/// @param source name of the file or program, for messages; of a text the parameter
/// @throws Error of kind input as `SOURCE: what is wrong`, of a place in a table as
/// `SOURCE:LINE:COLUMN: error: ...`; of a text as of a parameter
std::string plain_text(std::string_view bytes,
                       const std::string& source,
                       TextKind kind = TextKind::table);

}  // namespace attica
