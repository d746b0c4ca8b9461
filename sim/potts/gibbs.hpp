#pragma once
/// @file
/// @brief Gibbs chains judged by their diagnostics: sequences of a model too large to enumerate,
/// and means with the evidence that the chains have converged.

#include <cstdint>
#include <vector>

#include "attica/core/potts/body_model.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// How sequences of a model too large to enumerate are sampled.
struct GibbsPoolOptions {
  Eigen::Index chains = 20000;
  std::int64_t burn_in = 100;  ///< sweeps
  std::int64_t draws = 1;      ///< states of every chain, a quarter of the burn-in apart
  bool allow_unconverged = false;
};

/// @brief States of many chains, those of the same draw side by side, after 16 others have shown
/// that the burn-in is long enough. A quarter of it is five autocorrelation times and more.
/// @throws Error (numerical) if R-hat, effective draws or the burn-in (20 autocorrelation times) of
/// these say that the sampler has not converged, unless that is allowed
WeightedSequences gibbs_pool(const PottsModel& model,
                             const GibbsPoolOptions& options,
                             StreamAddress address);
WeightedSequences gibbs_pool(const BodyModel& model,
                             const GibbsPoolOptions& options,
                             StreamAddress address);

/// How means are measured.
struct GibbsMeansOptions {
  Eigen::Index chains = 16;
  std::int64_t burn_in = 200;          ///< sweeps before the first draw
  std::int64_t draws = 3000;           ///< per chain, one sweep apart, at least 4
  std::vector<double> ladder = {1.0};  ///< as SamplerOptions::ladder
};

/// @brief Means over chains and draws, and the worst diagnostics over the observables: the energy,
/// and for every site whether it has colour 0.
struct GibbsMeans {
  double energy = 0;      ///< beta times the energy per site
  double occupation = 0;  ///< share of colour 0
  double r_hat = 1;
  double autocorrelation_time = 0;  ///< in sweeps
  double effective_draws = 0;
  bool converged = true;
};

/// @throws Error (input) naming `chains`, `draws` or `ladder`
GibbsMeans gibbs_means(const PottsModel& model,
                       const GibbsMeansOptions& options,
                       const StreamAddress& address);

}  // namespace attica
