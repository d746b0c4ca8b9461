#pragma once
/// @file
/// @brief The verdict on a run: compares recorded theory and replicates where series, point and x
/// are equal.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "attica/app/run/results.hpp"
#include "attica/app/verdict/verdict.hpp"

namespace attica::app {

struct CheckInput {
  std::string study;
  std::string run;  ///< path of the run folder
  std::span<const AgreementRule> rules;
  std::span<const Prediction> theory;
  const Replicates* simulation = nullptr;
  std::vector<ClaimResult> claims;
  Json diagnostics = Json::object();
  std::string family = "holm";
  std::uint64_t seed = 0;
  /// Relative margin that replaces the studies' own, given after the run: recorded as post hoc.
  std::optional<double> post_hoc_margin;
  std::uint64_t replicates = 0;  ///< of the run
  /// Largest number of replicates of a run that stops as soon as it is decided; empty: a fixed
  /// number.
  std::optional<std::size_t> cap = std::nullopt;
  bool failed = false;  ///< some replicate or theory point failed numerically
  /// Replicates that failed are known by `failed`: others may have no value without being failures,
  /// such as a fit that has no minimum.
  bool failures_known = false;
  std::vector<std::string> perturbed = {};  ///< errors that the theory was given on purpose
  std::vector<std::string> edited = {};     ///< files that were changed after the run
  std::vector<std::uint64_t> looks = {};    ///< numbers of replicates at which a verdict was told
  std::string why_not_compared = {};        ///< `Study::not_compared`
  std::string judged_before = {};  ///< run whose verdict on these data was known; empty: none
  /// Theory or simulation come from outside (ComparisonOptions::brought), with what was said of
  /// them.
  bool brought = false;
  std::optional<double> match = std::nullopt;
  std::vector<std::string> rates = {};
  bool partial = false;  ///< simulated points without theory were announced
  /// The simulation is a table: nothing runs it anew. `ordered`: with replicates, which have an
  /// order there and may be correlated in it.
  bool from_table = false;
  bool summary = false;  ///< with mean, sem and n: no replicate was seen
  bool ordered = false;
  std::set<std::string> left_out = {};      ///< series that are not compared
  TheoryReplicates theory_replicates = {};  ///< ComparisonOptions::theory_replicates
  /// How many points of each series are meant to be compared: not for the theory to decide.
  ExpectedPoints expected = {};
};

/// @brief How many points of each series have a theory that they are compared with.
ExpectedPoints compared_points(const Comparison& comparison);

CheckRecord check(const CheckInput& input);

}  // namespace attica::app
