#pragma once
/// @file
/// @brief What the studies of masked ridge regression share: sizes, noise in two
/// groups, signals, allowances.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "attica/sim/masked/ridge.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/masked/spike.hpp"

namespace attica {

/// @brief n = αd for every α. @throws Error (input) naming sweep.alpha unless αd >= 2
SampleSizes masked_sizes(const Configuration& configuration);

/// @brief Refuses a replicate that takes more than sim.max_memory.
/// @param samples the most of any point
void require_masked_memory(const Configuration& configuration, double samples);

/// Work of a replicate in floating-point operations: samples, S and its inverse.
double masked_flops(double dimension, double samples);
/// What the largest eigenvalue with its vector adds.
double eigenpair_flops(double dimension);

/// Where the signal is.
enum class Signal { uniform, quiet, noisy };

/// @brief Variance 1 on the first half of the sites, `ratio` on the other; |u|² by halves.
/// A single group at ratio 1.
std::vector<SpikedGroup> noise_groups(double ratio, Signal signal);

/// @brief The same as numbers of sites; u has random signs and equal sizes where it is not 0.
/// @throws Error (input) naming model.dimension if it is odd with a ratio other than 1
SpikedNoise noisy_sites(
    Eigen::Index dimension, double ratio, Signal signal, double theta, RandomStream& signs);
void require_halves(const Configuration& configuration);

/// @brief A squared cosine with what finite size may change: 1.7/(d (1-θ_c/θ)²) above the
/// threshold, 2/(d (1-θ/θ_c)²) + 0.6/d below; not compared for 0.7 < θ/θ_c < 1.3.
PredictedValue overlap_value(double overlap, double theta, double threshold, double dimension);
/// Whether θ is outside that window.
bool away_from(double theta, double threshold);

/// @brief "{/:Italic α} = {alpha}, ..." for what has several values.
/// @param penalised whether the estimator has a penalty
std::string masked_label(const Configuration& configuration,
                         const std::string& estimator,
                         bool penalised = true);

}  // namespace attica
