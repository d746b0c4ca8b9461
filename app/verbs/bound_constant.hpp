#pragma once
/// @file
/// @brief Bounds with an unknown constant: what each replicate needs of it, the smallest one that
/// is enough, and whether the bound grows as what it bounds does.

#include <cstddef>
#include <string>
#include <vector>

#include "attica/app/verbs/fit_subject.hpp"
#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/smallest_constant.hpp"
#include "attica/sources/bounds.hpp"

namespace attica::app {

/// One combination of sizes, with the constant that each replicate needs there.
struct NeededPlace {
  Point point;
  std::string x_name;
  double x = 0;
  double at_one = 0;  ///< the bound where the constant is 1
  std::vector<double> needed = {};
  std::size_t failed = 0;
};

/// How the quantile of y/bound grows with one size towards larger bounds.
struct Growth {
  std::string size;     ///< "1/eps" where the bound grows as the size falls
  double exponent = 0;  ///< of y over the bound; of the bound over y for a lower one
  Interval interval95;
  ExponentVerdict verdict = ExponentVerdict::undecided;
};

struct ConstantResult {
  std::vector<NeededPlace> places;
  SmallestConstant constant;
  std::vector<Growth> growth;
  sources::BoundVerdict verdict = sources::BoundVerdict::undecided;
  std::string reason;
};

/// @brief The statement of a bound that the options make, and the subject that it is on.
/// @throws Error (input) for a configuration in place of a table or a run
sources::StatedBound stated_bound(const Options& options,
                                  const Registry& registry,
                                  FitSubject& subject);

/// @brief The place with its x.
Point place_of(const NeededPlace& p);

/// @brief The constant, and the verdict on the growth of the bound with all sizes.
/// @throws Error (input) for a formula that is not linear in the constant, or no such series
ConstantResult judge_constant(const sources::StatedBound& stated,
                              const std::string& constant,
                              double tolerance,
                              const std::vector<ObservedCurve>& curves);

}  // namespace attica::app
