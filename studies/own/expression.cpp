#include "attica/studies/own/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica::own {

struct Expression::Parser {
  mu::Parser parser;
  std::vector<double> values;  ///< of the names; the parser holds their addresses
};

Expression::Expression(std::string where, std::string formula)
    : where_(std::move(where)), formula_(std::move(formula)), parser_(std::make_unique<Parser>()) {
  mu::Parser& parser = parser_->parser;
  // muParser assigns by "=": whoever writes it means "==".
  for (std::size_t k = 0; k < formula_.size(); ++k) {
    const bool compares =
        (k > 0 && std::string_view("=<>!").find(formula_[k - 1]) != std::string_view::npos) ||
        (k + 1 < formula_.size() && formula_[k + 1] == '=');
    if (formula_[k] == '=' && !compares)
      throw invalid_parameter(where_, formula_, "a formula: no '='; equality is '=='");
  }
  try {
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineFun("erf", static_cast<double (*)(double)>(std::erf));
    parser.DefineFun("erfc", static_cast<double (*)(double)>(std::erfc));
    parser.DefineFun("lgamma", log_gamma);
    parser.DefineFun("log", static_cast<double (*)(double)>(std::log));
    parser.SetExpr(formula_);
    for (const auto& [name, address] : parser.GetUsedVar()) names_.push_back(name);
    parser_->values.resize(names_.size());
    for (std::size_t k = 0; k < names_.size(); ++k)
      parser.DefineVar(names_[k], &parser_->values[k]);
    parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    throw invalid_parameter(where_, formula_, fmt::format("a formula: {}", error.GetMsg()));
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&& other) noexcept = default;
Expression& Expression::operator=(Expression&& other) noexcept = default;

void Expression::require_names(const std::vector<std::string>& known) const {
  for (const std::string& name : names_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw invalid_parameter(
        where_, formula_, fmt::format("no name '{}': known are {}", name, fmt::join(known, ", ")));
  }
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

}  // namespace attica::own
