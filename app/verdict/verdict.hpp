#pragma once
/// @file
/// @brief The verdict on a run, as a value, and how it is told: in JSON and in words.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/run/json.hpp"
#include "attica/app/verdict/comparison.hpp"
#include "attica/app/verdict/copies.hpp"
#include "attica/core/figure.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/resolution.hpp"
#include "attica/solvers/statistics/serial_correlation.hpp"
#include "attica/studies/expected_points.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// How wrong the theory of a series could be on all its compared points and still agree.
struct SeriesResolution {
  /// The same where it is wrong only there: in a decade of x, or in a third of its points where x
  /// spans no decade or is not positive.
  struct Part {
    double first = 0;  ///< least x
    double last = 0;
    Resolution resolution;
  };

  std::string series;
  Resolution resolution;
  Resolution coarsest_third;  ///< if it is wrong on the bluntest third of its points alone
  std::vector<Part> parts;
};

/// A recorded point at which some replicates, or all, have no value.
struct Incomplete {
  Place place;
  std::size_t failed = 0;
  std::size_t replicates = 0;  ///< with those that failed
};

/// A series of which fewer points are compared than its preset expects.
struct Withdrawn {
  std::string series;
  std::size_t compared = 0;
  std::size_t expected = 0;
};

/// A series that watches the simulation's own code (AgreementRule::control): it is judged together
/// with the points, and told apart from them.
struct Control {
  std::string series;
  std::vector<Place> places;
  RunVerdict points;  ///< in that order
};

/// Everything that was found out about a run.
struct CheckRecord {
  std::string study;
  std::string run;  ///< path of the run folder
  Verdict verdict = Verdict::none;
  bool failed = false;            ///< some replicate or theory point failed numerically
  std::vector<Place> places;      ///< of the compared points
  RunVerdict points;              ///< theirs, in that order, counts, and the verdict of all of them
  std::vector<Control> controls;  ///< among the places and points above are none of theirs
  std::vector<Place> not_compared;          ///< points recorded with a theory that is not compared
  std::string why_not_compared;             ///< where that is, and why, as the study says
  std::vector<Incomplete> incomplete = {};  ///< of all recorded series
  /// Of what was brought: simulated points that meet no theory, whether that was announced, and how
  /// many values of the theory nothing was simulated for.
  std::vector<Unmatched> unmatched = {};
  bool partial = false;
  std::size_t theory_only = 0;
  /// Of what was brought: simulated series that are drawn alone, as no margin names them.
  std::vector<std::string> without_rule = {};
  /// How many points of each series the run's preset expects to compare, and the series of which
  /// fewer than 0.9 of them are: INCONCLUSIVE at best.
  ExpectedPoints expected = {};
  std::vector<Withdrawn> withdrawn = {};
  /// A margin was declared and points were recorded, none of which is compared.
  bool nothing_compared = false;
  /// Correlation of the replicates in their order, where they have one that was tested.
  std::optional<SerialCorrelation> serial = {};
  bool serial_stands = false;  ///< they are, and the verdict stands with the wider error bars
  std::optional<Copies> copies = {};  ///< replicates of what was brought that are others again
  bool from_table = false;            ///< the simulation is a table: nothing runs it anew
  /// Of what was brought: theory and means are equal to the last digit, as where one was made of
  /// the other; and at how many points the error that the theory states is larger than its value.
  bool equal = false;
  std::size_t wide_errors = 0;
  /// Of every compared series; of a run that stops once it is decided, that of its last look.
  std::vector<SeriesResolution> resolution;
  std::vector<ClaimResult> claims;
  std::vector<AgreementRule> rules;
  std::optional<double> post_hoc_margin;  ///< relative margin given after the run
  std::string family;              ///< correction for many points: "holm", "maxt" or "bonferroni"
  std::uint64_t replicates = 0;    ///< of the run
  std::optional<std::size_t> cap;  ///< most replicates of a run that stops once it is decided
  std::vector<std::string> perturbed;  ///< errors that the theory was given on purpose
  std::vector<std::string> edited;     ///< files that were changed after the run
  /// Numbers of replicates at which a verdict was told: after the first, the stated error rates are
  /// those of more than one look.
  std::vector<std::uint64_t> looks;
  /// The run whose verdict on the same data was known when this one's margin was given; empty:
  /// none.
  std::string judged_before;
  std::string likely_cause;  ///< why simulation and theory may disagree; empty if unknown
  /// Facts of the problem and of its theory, and under "statuses" how many replicates ended how.
  Json diagnostics;

  int exit_code() const;
  /// @brief The widest relative margin; each point has its own terms besides.
  double margin() const;
  /// @brief Whether the margin was given when the data, or a verdict on them, were known.
  bool margin_is_post_hoc() const { return post_hoc_margin || !judged_before.empty(); }
  /// @brief What the panels of residuals show: points with a theory and with data.
  std::vector<ResidualPoint> residuals() const;
};

/// @brief With which exit code a verdict ends the program.
int exit_code(Verdict verdict);

/// @brief What check.json holds.
Json to_json(const CheckRecord& record);

/// @brief A line: the verdict and the counts behind it.
std::string summary(const CheckRecord& record);
/// @brief The resolution of an AGREE: the smallest error of the theory that would have been
/// detected (no AGREE), of the sign for which it is larger, in the series where it is largest. A
/// phrase, empty for other verdicts.
std::string resolution_line(const CheckRecord& record);
/// @brief Where simulation and theory disagree, the worst first, and why they may; or which points
/// are undecided, and what would decide them; or z of every point, where no margin was declared.
/// With every verdict: what was brought and not compared, correlated replicates, failed ones.
std::string explanation(const CheckRecord& record);
/// @brief What `attica check` prints: a row a point, claims, summary and explanation.
std::string text(const CheckRecord& record);

}  // namespace attica::app
