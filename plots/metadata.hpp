#pragma once
/// @file
/// @brief Names and values inside finished PDF and PNG files, and whether a figure file is whole.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attica::plots {

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// @brief Whether the bytes are a complete file of that format ("svg", "pdf", "png" or
/// "tex"): not empty,
/// not cut off.
bool is_complete(std::string_view bytes, std::string_view format);

/// @brief `png` with one iTXt chunk per entry (PNG specification, third edition, 11.3.3.4).
std::string with_png_text(std::string_view png, const Metadata& metadata);

/// @brief Sets the creation date to that of the environment's SOURCE_DATE_EPOCH, in seconds since
/// 1970; false if there is none. @throws Error of kind input if it is no such number
bool set_pdf_date(std::string& pdf);

/// @brief `pdf` with an information dictionary added as an incremental update (ISO 32000-1, 7.5.6
/// and 14.3.3): the title, and all entries as keywords.
std::string with_pdf_information(std::string_view pdf,
                                 std::string_view title,
                                 const Metadata& metadata);

}  // namespace attica::plots
