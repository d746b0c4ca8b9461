#pragma once
/// @file
/// @brief From a run's observations to scaling exponents and their verdicts.

#include <cstdint>
#include <span>

#include "attica/solvers/statistics/exponents.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// How an exponent came out.
struct ExponentResult {
  ExponentClaim claim;
  ExponentFit fit;
  ExponentVerdict verdict = ExponentVerdict::undecided;
};

/// @brief How far replicates are known to have been followed where some are infinite and nothing
/// says where they were given up: the largest finite value.
double largest_finite(std::span<const double> values);

/// @brief What replicates gave at each size; those without a value never reached it.
/// @throws Error (input) if the run has no such curve
std::vector<ScalingPoint> scaling_points(const ExponentClaim& claim,
                                         std::span<const ObservedCurve> curves);

/// @brief The fit and the verdict on it.
ExponentResult judge_exponent(const ExponentClaim& claim,
                              std::span<const ObservedCurve> curves,
                              std::uint64_t seed);

/// @brief The result as a claim of the run, "exponent-NAME": it holds if the exponent agrees, or
/// keeps its bound, vacuous or not.
ClaimResult exponent_claim(const ExponentResult& result);

}  // namespace attica
