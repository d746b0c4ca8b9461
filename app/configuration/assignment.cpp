#include "attica/app/configuration/assignment.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "attica/app/command/text.hpp"
#include "attica/core/error.hpp"
#include "attica/core/read_number.hpp"

namespace attica::app {
namespace {

/// With '-' in place of the minus signs and dashes that text processors write.
std::string with_minus(std::string_view text) {
  // U+2212 minus, U+2010 hyphen, U+2011, U+2012, U+2013 en dash, U+FE63, U+FF0D
  constexpr auto kSigns = std::to_array<std::string_view>({"\xE2\x88\x92",
                                                           "\xE2\x80\x90",
                                                           "\xE2\x80\x91",
                                                           "\xE2\x80\x92",
                                                           "\xE2\x80\x93",
                                                           "\xEF\xB9\xA3",
                                                           "\xEF\xBC\x8D"});
  std::string plain(text);
  for (const std::string_view sign : kSigns) {
    for (auto at = plain.find(sign); at != std::string::npos; at = plain.find(sign, at))
      plain.replace(at, sign.size(), "-");
  }
  return plain;
}

std::string with_point(std::string text) {
  if (std::count(text.begin(), text.end(), ',') == 1)
    std::replace(text.begin(), text.end(), ',', '.');
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool is_toml(const std::string& text) {
  try {
    static_cast<void>(toml::parse(text));
    return true;
  } catch (const toml::parse_error&) {
    return false;
  }
}

}  // namespace

void require_one_value(std::string_view text, const std::string& shown) {
  constexpr char kDelete = 0x7f;
  constexpr char kSpace = 0x20;
  char quote = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++k;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == kDelete || (c >= 0 && c < kSpace)) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: error: a line break or another control character; expected one "
                              "value, --set again for another key",
                              printable(shown)));
    } else if (c == '#') {
      throw Error(
          ErrorKind::input,
          fmt::format("{}: error: a comment begins at '#'; expected one value, texts in quotes",
                      shown));
    }
  }
}

std::string typed_number_hint(std::string_view text) {
  const std::string meant = with_point(with_minus(trimmed(text)));
  return meant != text && read_number(meant) ? "; type " + meant : std::string();
}

std::string assignment_hint(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string key(trimmed(line.substr(0, equals)));
  const std::string_view value = trimmed(line.substr(equals + 1));
  const std::string number = with_point(with_minus(value));
  const std::string meant = read_number(number) ? number : with_minus(value);
  const std::string whole = key + "=" + meant;
  return meant != value && is_toml(whole) ? "; type " + whole : std::string();
}

}  // namespace attica::app
