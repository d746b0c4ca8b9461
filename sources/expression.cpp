#include "attica/sources/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/solvers/formula/evaluator.hpp"
#include "attica/solvers/formula/sheet.hpp"

namespace attica::sources {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

struct Expression::Parser {
  formula::Sheet sheet;
  std::vector<int> slots;  ///< of the names
  formula::Group group;
  std::unique_ptr<formula::Evaluator> evaluator;
};

Expression::Expression(std::string where, std::string formula)
    : where_(std::move(where)), formula_(std::move(formula)), parser_(std::make_unique<Parser>()) {
  names_ = formula::parse({where_, formula_}).names();
  for (const std::string& name : names_) parser_->slots.push_back(parser_->sheet.scalar(name));
  parser_->group = parser_->sheet.compile({{where_, formula_}});
  constexpr std::uint64_t kEvaluations = 1'000'000'000;
  parser_->evaluator = std::make_unique<formula::Evaluator>(
      parser_->sheet, formula::Effort{.evaluations = kEvaluations});
}

Expression::~Expression() = default;
Expression::Expression(Expression&& other) noexcept = default;
Expression& Expression::operator=(Expression&& other) noexcept = default;

void Expression::require_names(const std::vector<std::string>& known) const {
  for (const std::string& constant : formula::constants()) {
    if (std::find(known.begin(), known.end(), constant) == known.end() || !has_word(constant))
      continue;
    throw invalid_parameter(
        where_,
        formula_,
        fmt::format("another name for '{0}': in formulas {0} is the constant", constant));
  }
  for (const std::string& name : names_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    throw invalid_parameter(
        where_,
        formula_,
        fmt::format("no name '{}'{}: known are {}",
                    name,
                    near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                    fmt::join(known, ", ")));
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
  formula::Evaluator& evaluator = *parser_->evaluator;
  for (std::size_t k = 0; k < names_.size(); ++k) evaluator[parser_->slots[k]] = value(names_[k]);
  evaluator.prepare();
  return evaluator.value(parser_->group);
}

}  // namespace attica::sources
