#pragma once
/// @file
/// @brief Runs on sparse contextual bigrams by what their steps are made of.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "attica/sim/bigrams/sgd.hpp"
#include "attica/sim/bigrams/training.hpp"

namespace attica {

/// What a step's gradient is made of: real sequences, or a surrogate by its storage of A.
enum class BigramSampling { sequences, dense, aggregated, sparse };

/// @brief A run on real samples (float), or a surrogate, which takes hat gradients whatever the
/// algorithm.
/// @param address point and replicate of its random numbers; the id follows from what is drawn
std::unique_ptr<BigramTrainer> make_bigram_run(BigramSampling sampling,
                                               BigramAlgorithm algorithm,
                                               const BigramModel& model,
                                               const BigramRates& rates,
                                               double batch,
                                               const Eigen::MatrixXd& start,
                                               StreamAddress address);

/// @brief A run on real samples with V = P throughout and A = Q at the start.
std::unique_ptr<BigramSgd<float>> make_frozen_run(BigramAlgorithm algorithm,
                                                  const BigramModel& model,
                                                  const BigramRates& rates,
                                                  double batch,
                                                  const StreamAddress& address);
/// Bytes per entry of A of such a run: float, and double for the start.
inline constexpr double kFrozenBytes = 12;

/// How the signal α_V of many runs is spread, at every step asked for.
struct BigramSpread {
  std::vector<double> mean = {};
  std::vector<double> deviation = {};  ///< without bias for normal α_V
  std::vector<double> ratio = {};      ///< mean over deviation, without bias for normal α_V
  std::vector<double> attention = {};  ///< mean of α_A
  std::vector<double> grown = {};      ///< fraction of runs whose α_V has reached θ
  /// Step at which a run diverged; the spread is then empty.
  std::optional<std::int64_t> diverged_at = {};
};

/// @param make takes the number of a run, 0 .. runs - 1
/// @param steps rising
BigramSpread signal_spread(const std::function<std::unique_ptr<BigramTrainer>(int)>& make,
                           int runs,
                           std::span<const std::int64_t> steps,
                           double theta,
                           const std::stop_token& stop = {});

}  // namespace attica
