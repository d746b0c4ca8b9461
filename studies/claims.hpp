#pragma once
/// @file
/// @brief Claims and margins, written short.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// What a claim about every run is shown to hold for at least: fourteen runs without an exception
/// show it at level 5 %.
inline constexpr double kUsualRate = 0.8;
/// For simulations of many seconds: five runs without an exception show it.
inline constexpr double kHalf = 0.5;

/// @brief The claim that `statement` is true of a run with probability `rate` or more; one entry a
/// replicate. The rate is added to the statement, the count and its interval to the detail.
ClaimResult claim_rate(const std::string& name,
                       const std::string& statement,
                       const std::vector<bool>& holds,
                       const std::string& detail,
                       double rate = kUsualRate);

/// @brief The claim that the mean of a quantity over runs is above (or below) the bound; one entry
/// a replicate. Mean and 90 % interval are added to the detail.
ClaimResult claim_above(const std::string& name,
                        const std::string& statement,
                        const std::vector<double>& values,
                        double bound,
                        const std::string& detail = {});
ClaimResult claim_below(const std::string& name,
                        const std::string& statement,
                        const std::vector<double>& values,
                        double bound,
                        const std::string& detail = {});

/// @brief A claim with a test of its own.
ClaimResult claim_tested(const std::string& name,
                         const std::string& statement,
                         const ClaimTest& test,
                         const std::string& detail);

/// @brief A claim about numbers that hold no chance: it holds or it does not.
ClaimResult claim_certain(const std::string& name,
                          const std::string& statement,
                          bool holds,
                          const std::string& detail);

/// @brief A claim that cannot be tested on what was observed: INCONCLUSIVE, for the reason given.
ClaimResult claim_open(const std::string& name,
                       const std::string& statement,
                       const std::string& reason);

/// @brief The last values of two curves, a pair for every replicate that came to the last x of
/// both.
std::vector<std::pair<double, double>> last_of_both(const Observed& observed,
                                                    std::string_view first,
                                                    const Point& first_point,
                                                    std::string_view second,
                                                    const Point& second_point);

/// @brief The same margin for several series.
std::vector<AgreementRule> rules(const std::vector<std::string>& series, const AgreementRule& rule);

}  // namespace attica
