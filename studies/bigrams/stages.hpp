#pragma once
/// @file
/// @brief Training in stages with and without l1: what bigrams-regularisation and
/// bigrams-vocabulary share.

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/l1.hpp"

namespace attica {

/// θ: stage 1 ends at K_V = θ² K_P, and rounding keeps what is at least θ times the largest entry.
inline constexpr double kStagedTheta = 0.5;

/// @brief Update rules without and with regularisation, by sim.algorithm.
std::array<std::string, 2> staged_algorithms(const Configuration& c);
/// @brief The setup; refused without a penalty.
BigramSetup staged_setup(const Configuration& c);

/// @brief The mean field of that rule at the recorded steps; empty if it has none.
std::vector<StagedMeanField> staged_theory(const BigramSetup& setup,
                                           const std::string& algorithm,
                                           ColumnSums sums = ColumnSums::fixed);
/// @brief The mean over runs at steps from the start, through both stages.
std::vector<BothStages> staged_from_start(const BigramSetup& setup,
                                          bool l1,
                                          const std::vector<std::int64_t>& steps);
/// @brief A run. @param look takes the recorded steps of stage 2 and the run as it then is
/// @param outcome says how it ended
/// @param from_start takes the steps of both stages, counted from the start, and the run; may be
/// empty
RoundedRun staged_run(const BigramSetup& setup,
                      bool l1,
                      const Replicate& replicate,
                      const std::function<void(double, const BigramTrainer&)>& look,
                      Outcome& outcome,
                      const std::function<void(double, const BigramTrainer&)>& from_start = {});
/// @brief Work of a run in floating-point operations.
double staged_flops(const BigramSetup& setup);

/// @brief Whether theory says itself, at that x, that l1 does not bring A `factor` times nearer to
/// Q: then it is not claimed.
bool l1_denied_nearer(const Configuration& c, const Observed& observed, double x, double factor);

/// @brief The claim that l1 brings A `factor` times nearer to Q than SGD does in at least half of
/// the runs: the pairs are |A - Q|^2 without and with it, of one replicate each.
ClaimResult l1_nearer_claim(const std::string& name,
                            const std::vector<std::pair<double, double>>& pairs,
                            double factor);

}  // namespace attica
