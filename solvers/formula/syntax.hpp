#pragma once
/// @file
/// @brief Formulas as text: what may be written, and the tree that a text is read into.
///
/// Operators, by falling precedence: ^ (right to left), unary + and -, * and /, + and -, one
/// comparison (< <= > >= == !=), &&, ||, c ? a : b. Functions: sin, cos, tan, asin, acos, atan,
/// atan2, sinh, cosh, tanh, asinh, acosh, atanh, exp, expm1, log (natural), ln, log1p, log2, log10,
/// sqrt, pow, abs, sign, rint, min, max, sum, avg, erf, erfc, lgamma. Constants: pi, inf.
/// `a[k]` is an element of a list or of a state with an index; the first one is a[1].
///
/// A binder is a function whose first argument is a name that is bound inside:
///     normal(z, f)             E f(z), z standard normal
///     normal(z, w, rho, f)     the same for a pair of correlation rho
///     integral(u, a, b, f)     a and b may be -inf and inf
///     mean(v, LIST, f)         weighted mean over a list
///     sum(k, a, b, f)          sum over the integers a, a + 1, ..., b
///     root(y, a, b, f)         the zero of f between a and b
///     argmin(y, a, b, f)       where f is smallest between a and b
///     d(y, f)                  df/dy at the present value of the name y

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attica::formula {

/// A formula and what it is, for messages: {"theory.flow.rate.m", "q - m"}.
struct Text {
  std::string where;
  std::string formula;
};

enum class Kind {
  number,
  name,       ///< word
  element,    ///< word[parts 0]
  negative,   ///< -parts 0
  operation,  ///< word is the operator, "+" ... "||"; two parts
  choice,     ///< parts 0 ? parts 1 : parts 2
  call,       ///< word(parts ...)
  binder,     ///< word; bound; list; parts are the arguments that are formulas
};

/// A node of the tree.
struct Syntax {
  Kind kind = Kind::number;
  std::string word = {};
  double number = 0;
  std::vector<Syntax> parts = {};
  std::vector<std::string> bound = {};  ///< names that a binder binds; of d(y, f), y, which is free
  std::string list = {};                ///< of mean(v, LIST, f)
  std::size_t at = 0;                   ///< place in the text, from 0
  std::size_t depth = 0;                ///< of the tree below it

  /// @brief Names that it needs from outside, in rising order, each once.
  std::vector<std::string> names() const;
  /// @brief Number of nodes.
  std::size_t size() const;
};

/// @brief Reads a formula. At most 65536 characters, 100 levels of brackets, 20000 nodes.
/// @throws Error of kind input: `parameter 'WHERE' = 'FORMULA': expected ...`
Syntax parse(const Text& text);

/// @brief The derivative of a formula with respect to a name, by the rules of calculus; derivatives
/// under averages, sums and integrals of fixed limits are taken inside.
/// @param definition the name that stands for the derivative of another name (one that depends on
/// `name`); empty text: that name does not depend on it
/// @return empty where no rule applies: lgamma, root, argmin, limits that depend on the name, jumps
/// under an average
std::optional<Syntax> derivative(const Syntax& of,
                                 const std::string& name,
                                 const std::function<std::string(const std::string&)>& definition);

/// @brief Numbers that change where a formula may have a kink or a jump: sign(u) for abs(u), sign(a
/// - b) for min(a, b) and a < b, floor(u) itself. Those under averages, sums, roots and minima are
/// none of them.
std::vector<Syntax> edges(const Syntax& of);

/// @brief Why a text is not the formula its author means, in a grammar that would accept it in
/// another sense: "0,5", "0 < y < 1", "a ** 2". Empty if nothing is wrong.
std::string misread(std::string_view formula);

/// @brief Names that formulas give a meaning of their own: pi, _pi, _e, inf.
const std::vector<std::string>& constants();
/// @brief The value of one of them; empty for any other name.
std::optional<double> constant(std::string_view name);

/// @brief A function of one number; null if there is none of that name.
double (*function_of_one(std::string_view name))(double);

/// @brief Names of all functions and binders, for suggestions.
const std::vector<std::string>& function_names();

}  // namespace attica::formula
