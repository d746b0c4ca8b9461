#include "attica/sources/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica::sources {
namespace {

constexpr std::array<std::string_view, 3> kConstants = {"pi", "_pi", "_e"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return std::string_view(" \t\n\r").find(c) != std::string_view::npos; }

/// What a character outside ASCII stands for in print, and how formulas write it.
std::string_view typed(std::string_view rest) {
  struct Sign {
    std::string_view printed;
    std::string_view formula;
  };
  static constexpr std::array<Sign, 12> kSigns = {{{"\u2212", "-"},
                                                   {"\u2013", "-"},
                                                   {"\u2010", "-"},
                                                   {"\u00d7", "*"},
                                                   {"\u00b7", "*"},
                                                   {"\u00f7", "/"},
                                                   {"\u2264", "<="},
                                                   {"\u2265", ">="},
                                                   {"\u2260", "!="},
                                                   {"\u00b2", "^2"},
                                                   {"\u221a", "sqrt()"},
                                                   {"\u03c0", "pi"}}};
  for (const Sign& sign : kSigns) {
    if (rest.starts_with(sign.printed)) return sign.formula;
  }
  return {};
}

/// Why a text is not the formula that its author means, although muParser evaluates some such: of
/// "y < 0,05" it takes the 5, and "0 < y < 1" compares 0 or 1 with 1. Empty if nothing is wrong.
std::string misread(std::string_view formula) {
  struct Bracket {
    bool of_function = false;
    int comparisons = 0;  ///< since the last && || ? : or comma
  };
  std::vector<Bracket> open(1);
  char last = 0;  // before this one, spaces left out
  for (std::size_t k = 0; k < formula.size(); ++k) {
    const char c = formula[k];
    const char next = k + 1 < formula.size() ? formula[k + 1] : '\0';
    const char before = k > 0 ? formula[k - 1] : '\0';
    switch (c) {
      case '(':
        open.push_back({is_letter(last) || is_digit(last), 0});
        break;
      case ')':
        if (open.size() > 1) open.pop_back();
        break;
      case ',':
        if (!open.back().of_function) {
          return "one formula; decimals are written with a point (0.05), and commas stand between "
                 "the arguments of functions only";
        }
        if (is_digit(before) && is_digit(next)) {
          return fmt::format(
              "a point for a decimal ({0}.{1}), or a space after the comma between two arguments "
              "({0}, {1})",
              before,
              next);
        }
        open.back().comparisons = 0;
        break;
      case '?':
      case ':':
        open.back().comparisons = 0;
        break;
      case '&':
      case '|':
        if (next != c) return fmt::format("'{0}{0}' for '{0}'", c);
        open.back().comparisons = 0;
        ++k;
        break;
      case '=':
      case '<':
      case '>':
      case '!':
        if (c == '=' && next != '=') return "a formula without '='; equality is '=='";
        if (c == '!' && next != '=') return "no '!'; 'not c' is written 'c == 0'";
        if (next == '=') ++k;
        if (++open.back().comparisons > 1) {
          return "one comparison at a time: 'a < y && y < b' for 'a < y < b', or brackets";
        }
        break;
      case '*':
        if (next == '*') return "'^' for a power, not '**'";
        break;
      case '%':
        return "no '%': 5 % is 0.05";
      case '_':
        if (is_digit(before) && is_digit(next)) {
          std::size_t start = k;
          while (start > 0 && (is_digit(formula[start - 1]) || formula[start - 1] == '_')) --start;
          if (start == 0 || !is_letter(formula[start - 1]))
            return "digits without '_' between them";
        }
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80) {
          const std::string_view sign = typed(formula.substr(k));
          return sign.empty() ? "ASCII characters only" : fmt::format("'{}' there", sign);
        }
        break;
    }
    if (!is_space(formula[k])) last = formula[k];
  }
  return {};
}

}  // namespace

struct Expression::Parser {
  mu::Parser parser;
  std::vector<double> values;  ///< of the names; the parser holds their addresses
};

Expression::Expression(std::string where, std::string formula)
    : where_(std::move(where)), formula_(std::move(formula)), parser_(std::make_unique<Parser>()) {
  mu::Parser& parser = parser_->parser;
  if (const std::string expected = misread(formula_); !expected.empty())
    throw invalid_parameter(where_, formula_, expected);
  try {
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineFun("erf", static_cast<double (*)(double)>(std::erf));
    parser.DefineFun("erfc", static_cast<double (*)(double)>(std::erfc));
    parser.DefineFun("lgamma", log_gamma);
    parser.DefineFun("log", static_cast<double (*)(double)>(std::log));
    parser.DefineFun("pow", static_cast<double (*)(double, double)>(std::pow));
    parser.SetExpr(formula_);
    for (const auto& [name, address] : parser.GetUsedVar()) names_.push_back(name);
    parser_->values.resize(names_.size());
    for (std::size_t k = 0; k < names_.size(); ++k)
      parser.DefineVar(names_[k], &parser_->values[k]);
    int results = 0;
    parser.Eval(results);
    if (results != 1) throw invalid_parameter(where_, formula_, "one formula");
  } catch (const mu::Parser::exception_type& error) {
    const bool arguments = error.GetCode() == mu::ecTOO_MANY_PARAMS;
    throw invalid_parameter(where_,
                            formula_,
                            fmt::format("a formula: {}{}",
                                        error.GetMsg(),
                                        arguments ? "; decimals are written with a point" : ""));
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&& other) noexcept = default;
Expression& Expression::operator=(Expression&& other) noexcept = default;

void Expression::require_names(const std::vector<std::string>& known) const {
  for (const std::string_view constant : kConstants) {
    if (std::find(known.begin(), known.end(), constant) == known.end() || !has_word(constant))
      continue;
    throw invalid_parameter(
        where_,
        formula_,
        fmt::format("another name for '{0}': in formulas {0} is the constant", constant));
  }
  for (const std::string& name : names_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw invalid_parameter(
        where_, formula_, fmt::format("no name '{}': known are {}", name, fmt::join(known, ", ")));
  }
}

bool Expression::has_word(std::string_view word) const {
  const auto part = [](char c) { return is_letter(c) || is_digit(c); };
  for (auto at = formula_.find(word); at != std::string::npos; at = formula_.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !part(formula_[at - 1])) && (end == formula_.size() || !part(formula_[end])))
      return true;
  }
  return false;
}

double Expression::operator()(const std::function<double(const std::string&)>& value) {
  for (std::size_t k = 0; k < names_.size(); ++k) parser_->values[k] = value(names_[k]);
  try {
    return parser_->parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    throw Error(ErrorKind::numerical,
                fmt::format("{} = '{}': {}", where_, formula_, error.GetMsg()));
  }
}

}  // namespace attica::sources
