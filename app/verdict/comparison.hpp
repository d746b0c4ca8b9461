#pragma once
/// @file
/// @brief Which recorded points are compared with which theory, and the data of each.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "attica/app/run/results.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// Where a compared point lies.
struct Place {
  std::string series;
  Point point;
  std::string x_name;
  double x = 0;
};

/// @brief `test_error at lambda=0.1, alpha=0.5`
std::string place_name(const Place& place);

/// A simulated point that was brought and meets no theory.
struct Unmatched {
  Place place;
  std::string why;  ///< what of the theory is nearest, and what to type if it is meant
};

/// Points and their data, in the order of the record.
struct Comparison {
  std::vector<Place> places;
  std::vector<ComparedPoint> points;  ///< same length
  std::vector<Place> not_compared;    ///< recorded, with a theory that is not compared there
  /// Of what was brought: among the points, those that have no theory although they were to be
  /// compared, and how many values the theory has where nothing was simulated.
  std::vector<Unmatched> unmatched = {};
  std::size_t theory_only = 0;
  /// Of what was brought: simulated series for which no rule was declared.
  std::vector<std::string> without_rule = {};

  /// @brief How many points have a theory to be compared with.
  std::size_t with_theory() const;
};

using TheoryReplicates = std::map<std::string, std::vector<double>>;

struct ComparisonOptions {
  /// Relative margin instead of the rules' own.
  std::optional<double> relative_margin = {};
  /// Only replicates below this number: what a look at a growing run sees.
  std::uint64_t replicates = std::numeric_limits<std::uint64_t>::max();
  /// Simulation or theory come from outside: numbers match by the digits that are printed
  /// (core/matching.hpp), points without theory are unmatched, and series of 0 and 1 are rates.
  bool brought = false;
  /// Relative distance up to which numbers of what was brought match, in place of their digits.
  std::optional<double> match = {};
  /// Series whose replicates are successes (1) and failures (0).
  std::vector<std::string> rates = {};
  /// Series that are not compared.
  std::set<std::string> left_out = {};
  /// Replicates behind the theory's values, where those are means of a second simulation: by
  /// place_name.
  TheoryReplicates theory_replicates = {};
};

/// @brief Matches simulated curves that have a rule with predictions of equal series, point and
/// x_name, at equal x; a study's own numbers are equal within 1e-9 of their size. A rule for "*" is
/// that of every series without one.
Comparison compare(std::span<const AgreementRule> rules,
                   std::span<const Prediction> theory,
                   const Replicates& simulation,
                   const ComparisonOptions& options = {});

}  // namespace attica::app
