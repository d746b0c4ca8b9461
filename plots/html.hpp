#pragma once
/// @file
/// @brief What attica's HTML pages share: escaping, and a page that needs no script and no network
/// and is good on a phone and in the dark.

#include <string>
#include <string_view>

namespace attica {

/// @brief Plain text as HTML text or attribute value.
std::string html_text(std::string_view text);

/// @brief ASCII letters in lower case: a verdict as the name of its style.
std::string lower_case(std::string text);

/// @brief The page around its body, which is HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace attica
