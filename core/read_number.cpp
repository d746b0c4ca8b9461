#include "attica/core/read_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace attica {
namespace {

/// Whether a number that no double holds is too large rather than too small: by the place of its
/// first digit that is not 0.
bool is_too_large(std::string_view text) {
  const auto mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  double exponent =
      first < point ? static_cast<double>(point - first) : -static_cast<double>(first - point - 1);
  double sign = 1;
  std::string_view digits = text.substr(std::min(mark + 1, text.size()));
  if (digits.starts_with('-')) sign = -1;
  double written = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '9') written = std::min(10 * written + (c - '0'), 1e15);
  }
  exponent += sign * written;
  return exponent > 0;
}

/// The text without the sign that from_chars does not take.
std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

bool is_out_of_range(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  return !text.empty() && end == last && code == std::errc::result_out_of_range;
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (text.empty() || end != last) return std::nullopt;
  if (code == std::errc::result_out_of_range) {
    if (is_too_large(text)) return std::nullopt;
    return text.starts_with('-') ? -0.0 : 0.0;
  }
  if (code != std::errc()) return std::nullopt;
  return value;
}

bool is_below_doubles(std::string_view text) {
  text = without_plus(text);
  // Without an exponent of three digits, or so many zeros, no number is.
  constexpr std::size_t kFewest = 5;
  constexpr std::size_t kZeros = 300;
  const std::size_t minus = text.find_last_of('-');
  const bool exponent = minus != std::string_view::npos && minus > 0 && text.size() - minus > 3;
  if (text.size() < kFewest || (!exponent && text.size() < kZeros)) return false;
  return is_out_of_range(text) && !is_too_large(text) &&
         text.substr(0, text.find_first_of("eE")).find_first_of("123456789") !=
             std::string_view::npos;
}

bool is_above_doubles(std::string_view text) {
  text = without_plus(text);
  return is_out_of_range(text) && is_too_large(text);
}

bool is_missing(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>({"",
                                                           "nan",
                                                           "NaN",
                                                           "NAN",
                                                           "-nan",
                                                           "NA",
                                                           "<NA>",
                                                           "N/A",
                                                           "#N/A",
                                                           "--",
                                                           "null",
                                                           "NULL",
                                                           "None",
                                                           "missing"});
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

std::string number_hint(std::string_view text) {
  if (is_above_doubles(text))
    return "; no double holds it, of which the largest is 1.8e308: choose another unit, or write "
           "inf";
  for (const std::string_view dash : {"\xE2\x80\x90",
                                      "\xE2\x80\x91",
                                      "\xE2\x80\x92",
                                      "\xE2\x80\x93",
                                      "\xE2\x80\x94",
                                      "\xE2\x88\x92",
                                      "\xEF\xBC\x8D"}) {
    if (text.starts_with(dash)) return "; a minus sign is written '-'";
  }
  for (const std::string_view truth :
       {"true", "True", "TRUE", "T", "false", "False", "FALSE", "F"}) {
    if (text == truth) return "; a truth value is written 1 or 0";
  }
  if (text.starts_with('#')) return "; a spreadsheet's error value: leave the field empty";
  if (text.find_first_of("0123456789") == std::string_view::npos) return {};
  if (text.starts_with('\'') && text.ends_with('\''))
    return "; fields are quoted with double quotes";
  if (text.starts_with('\'') && read_number(text.substr(1)))
    return "; take the apostrophe out, by which spreadsheets mark text";
  if (text.find_first_not_of("+-0123456789,eE") == std::string_view::npos &&
      std::count(text.begin(), text.end(), ',') == 1) {
    const std::string_view after = text.substr(text.find(',') + 1);
    constexpr std::size_t kGroup = 3;
    if (after.size() == kGroup && after.find_first_not_of("0123456789") == std::string_view::npos)
      return "; decimals are written with a point, thousands without a separator (Excel: save as "
             "CSV "
             "with English number formats)";
    return "; decimals are written with a point (Excel: save as CSV with English number formats)";
  }
  if (text.find_first_not_of("+-0123456789.,'eE") == std::string_view::npos &&
      text.find_first_of(",'") != std::string_view::npos)
    return "; numbers are written without separators of thousands, decimals with a point";
  if (text.find_first_not_of("+-0123456789.dD") == std::string_view::npos &&
      std::count(text.begin(), text.end(), 'd') + std::count(text.begin(), text.end(), 'D') == 1)
    return "; an exponent is written with 'e'";
  if (text.find_first_not_of("+-0123456789.eE% ") == std::string_view::npos && text.ends_with('%'))
    return "; a percentage is written as a fraction, without '%'";
  if (text.find("*^") != std::string_view::npos) return "; an exponent is written with 'e'";
  if (text.find("\xC2\xB1") != std::string_view::npos ||
      (text.ends_with(')') &&
       text.find_first_not_of("+-0123456789.eE()") == std::string_view::npos))
    return "; an error has a column of its own";
  if (text.find("\xC2\xA0") != std::string_view::npos) return "; it contains a no-break space";
  if (text.find(" #") != std::string_view::npos) return "; a comment has a line of its own";
  return {};
}

}  // namespace attica
