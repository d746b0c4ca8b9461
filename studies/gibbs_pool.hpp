#pragma once
/// @file
/// @brief Sequences of a model too large to enumerate: the final states of many Gibbs chains, after
/// a few of them have shown that the burn-in is long enough.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/potts_model.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/chain_diagnostics.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

/// How sequences of a model too large to enumerate are sampled.
struct GibbsPoolOptions {
  Eigen::Index chains = 20000;
  std::int64_t burn_in = 100;  ///< sweeps
  bool allow_unconverged = false;

  static GibbsPoolOptions from(const Configuration& c);
};

/// @brief The parameters `sim.chains`, `sim.burn_in`, `sim.allow_unconverged`.
std::vector<Parameter> gibbs_pool_parameters();

/// @brief One state from every chain.
/// @param make_sampler makes a sampler (sweep, states, reduced_energies) of so many chains with
/// streams at the given address
/// @throws Error (numerical) if R-hat, effective draws or the burn-in (20 autocorrelation times) of
/// the probe say that the sampler has not converged, unless that is allowed
template <class MakeSampler>
WeightedSequences gibbs_pool(const MakeSampler& make_sampler,
                             const GibbsPoolOptions& options,
                             StreamAddress address) {
  address.id = StreamId::sampler;
  constexpr Eigen::Index kProbes = 16;
  constexpr std::int64_t kFewestDraws = 1500;
  // Long enough to tell an autocorrelation time that the burn-in allows.
  const std::int64_t draws = std::max(kFewestDraws, 5 * options.burn_in);
  auto probe = make_sampler(kProbes, address);
  probe.sweep(options.burn_in);
  const std::vector<std::vector<double>> empty(static_cast<std::size_t>(kProbes));
  auto energies = empty;
  auto first_colour = empty;  // share of sites with colour 0: tells ordered phases apart
  for (std::int64_t n = 0; n < draws; ++n) {
    probe.sweep(1);
    const Eigen::VectorXd e = probe.reduced_energies();
    const Sequences states = probe.states();
    for (Eigen::Index k = 0; k < e.size(); ++k) {
      const auto chain = static_cast<std::size_t>(k);
      energies[chain].push_back(e[k]);
      first_colour[chain].push_back((states.row(k).array() == 0).template cast<double>().mean());
    }
  }
  for (const auto& chains : {energies, first_colour}) {
    const ChainDiagnostics d = chain_diagnostics(chains);
    constexpr double kTimesPerBurnIn = 20;
    const bool burnt_in =
        static_cast<double>(options.burn_in) >= kTimesPerBurnIn * d.autocorrelation_time;
    if (options.allow_unconverged || (d.converged() && (burnt_in || d.constant))) continue;
    throw Error(ErrorKind::numerical,
                fmt::format("the Gibbs sampler has not converged: R-hat = {:.4g}, "
                            "autocorrelation time {:.3g} sweeps, burn-in {} sweeps (raise "
                            "sim.burn_in to 20 times that, lower model.beta, or set "
                            "sim.allow_unconverged)",
                            d.r_hat,
                            d.autocorrelation_time,
                            options.burn_in));
  }
  address.point = ~address.point;  // other numbers than the probe's
  auto sampler = make_sampler(options.chains, address);
  sampler.sweep(options.burn_in);
  return equally_weighted(sampler.states());
}

}  // namespace attica
