#pragma once
/// @file
/// @brief Does a curve fall and return? Of attention entropy along training (Tian et al. 2023,
/// arXiv:2310.00535, call it a bounce).

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

namespace attica {

/// @brief H_0 - H_min of a curve, smoothed as in bounce_statistic; negative if it rises from the
/// start on, 0 if it is empty.
double fall_statistic(const std::vector<double>& curve);
/// @brief (H_end - H_min) / (H_0 - H_min) of a curve, its end and minimum those of the moving
/// average over five records after the start (of a shorter curve, of itself); 0 if it never falls
/// or is empty.
double bounce_statistic(const std::vector<double>& curve);

/// @brief The bounce of a mean over rows, such as queries.
struct BounceOfRows {
  double fall = 0;
  double bounce = 0;
  /// 95 % interval: percentiles over rows drawn anew; empty below 8 rows, which say too little of
  /// their scatter.
  std::optional<double> low = {};
  std::optional<double> high = {};
};
/// @param entropies a row for each row of attention, a column for each checkpoint
BounceOfRows bounce_of_rows(const Eigen::MatrixXd& entropies, std::uint64_t seed);

}  // namespace attica
