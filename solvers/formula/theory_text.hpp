#pragma once
/// @file
/// @brief A theory that is written as text: closed formulas, ordinary differential equations
/// (flow), recursions (map) or self-consistent equations (solve), compiled once and evaluated with
/// an error of their own.

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attica/solvers/formula/evaluator.hpp"
#include "attica/solvers/formula/sheet.hpp"

namespace attica::formula {

/// Names and their formulas, in the order in which they are written.
using Texts = std::vector<std::pair<std::string, std::string>>;

/// What a user writes. Formulas may use scalars, definitions and, where there are any, states or
/// unknowns.
struct TheoryText {
  enum class Kind { expression, flow, map, solve } kind = Kind::expression;
  std::string where = "theory";  ///< how messages call it: "theory.flow.rate.m"
  Texts let = {};                ///< definitions
  std::vector<ListText> lists = {};
  Texts series = {};  ///< what is predicted

  // flow and map
  std::string time = {};   ///< a scalar
  Texts start = {};        ///< states at time 0; "a[k]" with an index
  Texts rate = {};         ///< derivatives, or next values
  std::string index = {};  ///< "k" of states "a[k]"
  std::size_t count = 0;   ///< k = 1 ... count
  bool stiff = false;
  std::string event = {};  ///< the flow ends where it changes sign; empty: nowhere

  // solve
  Texts unknowns = {};  ///< starting values
  Texts fixed = {};     ///< unknown = formula
  Texts zero = {};      ///< formula = 0; one of the two
  std::string follow =
      {};             ///< scalar along which a point starts from the last one; "-x": downwards
  Texts domain = {};  ///< conditions on the solution
  std::vector<std::pair<std::string, Texts>> starts = {};  ///< further starting values, by name
  std::string choose = {};  ///< of several solutions the one where this formula is lowest
  bool branches = false;    ///< all solutions, each a branch
};

/// One number of a theory.
struct TextValue {
  double value = 0;            ///< NaN where there is none
  double numerical_error = 0;  ///< absolute
  std::string reason = {};     ///< why there is no value
};

/// What the theory says at one place.
struct TextPoint {         // NOLINT(bugprone-exception-escape): to move a list throws nothing
  std::size_t branch = 0;  ///< number of the solution, from 1; 0: there is one
  /// By series. Most theories have one, which needs no memory of its own.
  boost::container::small_vector<TextValue, 1> values = {};
  // Of solve:
  double residual = 0;  ///< largest difference of the two sides, relative
  std::size_t iterations = 0;
  double radius = 0;  ///< largest |eigenvalue| of the map at the solution (fixed)
};

/// One, or one a branch.
using TextPoints = boost::container::small_vector<TextPoint, 1>;

/// What a theory says at places.
struct TextResult {
  std::vector<TextPoints> points;    ///< of every place
  std::vector<std::string> remarks;  ///< things to be told, each once
};

/// @brief A theory in text, compiled. Immutable: used by many threads at once.
class TextTheory {
 public:
  /// @param scalars names of the numbers that a place has
  /// @param effort bounds of one call of evaluate
  /// @throws Error of kind input, naming what of the text is wrong
  TextTheory(const TheoryText& text,
             const std::vector<std::string>& scalars,
             const Effort& effort = {});
  ~TextTheory();
  TextTheory(TextTheory&&) noexcept;

  /// @brief The theory at places, a number for each of the scalars. Results do not depend on places
  /// that come after the first `given` ones, which make lines smooth.
  /// @return where the theory fails, a point without values; no value that is not finite comes
  /// without a reason
  TextResult evaluate(const std::vector<std::vector<double>>& places, std::size_t given) const;

  const std::vector<std::string>& series() const;
  /// @brief Whether formulas are closed: values have no error.
  bool arithmetic() const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

/// @brief All formulas of a theory but those of its lists, each with the key at which it stands.
std::vector<Text> formulas_of(const TheoryText& text);

/// @brief Names that formulas of a theory need from outside, which are no definitions, states,
/// unknowns or bound names: what must be scalars.
std::vector<std::string> needed_names(const TheoryText& text);

}  // namespace attica::formula
