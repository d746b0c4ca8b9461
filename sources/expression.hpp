#pragma once
/// @file
/// @brief Formulas that users write: "sigma^2 / (1 - alpha)".

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attica::sources {

/// @brief A formula (attica/solvers/formula/syntax.hpp says what may be written), with averages,
/// integrals, sums, roots and derivatives: normal(z, tanh(a*z)). What a reader would take in
/// another sense is refused: a comma outside the brackets of a function or within "0,5", chains of
/// comparisons, "=".
class Expression {
 public:
  /// @param where what the formula is, for messages: "theory.expression"
  /// @throws Error of kind input naming it, if the formula cannot be read
  Expression(std::string where, std::string formula);
  ~Expression();
  Expression(Expression&& other) noexcept;
  Expression& operator=(Expression&& other) noexcept;

  /// @brief The names it uses, in rising order.
  const std::vector<std::string>& names() const { return names_; }
  /// @brief Refuses names other than these. @throws Error of kind input with the nearest one
  void require_names(const std::vector<std::string>& known) const;
  /// @brief Its value; may be infinite or NaN. One thread at a time.
  /// @param value of a name that it uses
  double operator()(const std::function<double(const std::string&)>& value);

  const std::string& where() const { return where_; }
  const std::string& formula() const { return formula_; }

 private:
  bool has_word(std::string_view word) const;

  struct Parser;
  std::string where_;
  std::string formula_;
  std::vector<std::string> names_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace attica::sources
