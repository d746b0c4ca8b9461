#pragma once
/// @file
/// @brief Spearman's rank correlation of two quantities over runs, with an interval and the test
/// that it is negative, also within groups of runs.
///
/// Where runs differ in a setting that moves both quantities, e.g. the learning rate, they are
/// correlated over all runs even if one says nothing about the other at any setting. The
/// correlation within groups ranks every group by itself,
///
///     rho = sum_g x_g.y_g / sqrt(sum_g |x_g|^2 sum_g |y_g|^2),   x_g, y_g: ranks minus their mean,
///
/// and is Spearman's of a single group. Its p-values come from permuting y within groups (9999
/// random permutations and the one seen: their level is exact, ties or not). Its interval is that
/// of Fisher's z with the standard error of Bonett and Wright (2000, Psychometrika 65, 23), sqrt((1
/// + rho^2/2) / (n - groups - 2)): approximate, for what groups of these sizes show on average.
/// Coverage as measured by the tests: 87 to 93 % for 90 %.

#include <span>
#include <utility>
#include <vector>

#include "attica/solvers/statistics/claim_tests.hpp"

namespace attica {

/// Two quantities of every run of a group.
using PairedValues = std::vector<std::pair<double, double>>;

/// @brief Spearman's rank correlation of two lists, ties at their mean rank. NaN if one is
/// constant.
/// @throws Error (input) unless both have the same length >= 2
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// @brief The claim that the rank correlation within groups is below 0: estimate, 90 % interval and
/// both p-values. Groups of fewer than two runs say nothing; without a group in which both
/// quantities vary nothing is shown: estimate 0, no interval, p-values 1. No interval either for
/// fewer than groups + 3 runs or a correlation of 1 or -1.
/// @throws Error (input) for a value that is NaN
ClaimTest rank_correlation_below_zero(std::span<const PairedValues> groups);

}  // namespace attica
