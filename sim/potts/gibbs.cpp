#include "attica/sim/potts/gibbs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/error.hpp"
#include "attica/sim/potts/body_sampler.hpp"
#include "attica/sim/potts/sampler.hpp"
#include "attica/solvers/statistics/chain_diagnostics.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// @param make_sampler makes a sampler (sweep, states, reduced_energies) of so many chains with
/// streams at the given address
template <class MakeSampler>
WeightedSequences pool(const MakeSampler& make_sampler,
                       const GibbsPoolOptions& options,
                       StreamAddress address) {
  address.id = StreamId::sampler;
  constexpr Index kProbes = 16;
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
    for (Index k = 0; k < e.size(); ++k) {
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
                fmt::format("the Gibbs sampler has not converged: R-hat = {:.4g}, autocorrelation "
                            "time {:.3g} sweeps, burn-in {} sweeps (raise sim.burn_in to 20 times "
                            "that, lower model.beta, or set sim.allow_unconverged)",
                            d.r_hat,
                            d.autocorrelation_time,
                            options.burn_in));
  }
  address.point = ~address.point;  // other numbers than the probe's
  auto sampler = make_sampler(options.chains, address);
  sampler.sweep(options.burn_in);
  Sequences states = sampler.states();
  states.conservativeResize(options.chains * options.draws, Eigen::NoChange);
  for (std::int64_t n = 1; n < options.draws; ++n) {
    sampler.sweep(std::max<std::int64_t>(1, options.burn_in / 4));
    states.middleRows(n * options.chains, options.chains) = sampler.states();
  }
  return equally_weighted(std::move(states));
}

}  // namespace

WeightedSequences gibbs_pool(const PottsModel& model,
                             const GibbsPoolOptions& options,
                             StreamAddress address) {
  return pool(
      [&](Index chains, const StreamAddress& own) {
        return PottsSampler(model, {.chains = chains}, own);
      },
      options,
      address);
}

WeightedSequences gibbs_pool(const BodyModel& model,
                             const GibbsPoolOptions& options,
                             StreamAddress address) {
  return pool(
      [&](Index chains, const StreamAddress& own) { return BodySampler(model, chains, own); },
      options,
      address);
}

GibbsMeans gibbs_means(const PottsModel& model,
                       const GibbsMeansOptions& options,
                       const StreamAddress& address) {
  PottsSampler sampler(model, {.chains = options.chains, .ladder = options.ladder}, address);
  sampler.sweep(options.burn_in);
  const auto sites = static_cast<std::size_t>(model.sites());
  // The overlap with a chain's own start is no observable to watch: its mean differs between chains
  // once colours are not equally likely.
  std::vector<std::vector<std::vector<double>>> observables(
      1 + sites, std::vector<std::vector<double>>(static_cast<std::size_t>(options.chains)));
  GibbsMeans means;
  for (std::int64_t n = 0; n < options.draws; ++n) {
    sampler.sweep(1);
    const Sequences states = sampler.states();
    for (Index k = 0; k < options.chains; ++k) {
      const auto chain = static_cast<std::size_t>(k);
      const double e =
          model.reduced_energy(states.row(k).data()) / static_cast<double>(model.sites());
      means.energy += e;
      observables[0][chain].push_back(e);
      for (std::size_t i = 0; i < sites; ++i) {
        const double is_zero = states(k, static_cast<Index>(i)) == 0 ? 1 : 0;
        means.occupation += is_zero / static_cast<double>(sites);
        observables[1 + i][chain].push_back(is_zero);
      }
    }
  }
  const auto count = static_cast<double>(options.draws * options.chains);
  means.energy /= count;
  means.occupation /= count;
  means.effective_draws = count;
  for (const auto& chains : observables) {
    const ChainDiagnostics d = chain_diagnostics(chains);
    require(!d.too_short,
            "draws",
            static_cast<double>(options.draws),
            "at least 4 draws of at least 2 chains to judge convergence");
    means.converged = means.converged && d.converged();
    means.r_hat = std::max(means.r_hat, d.r_hat);
    means.autocorrelation_time = std::max(means.autocorrelation_time, d.autocorrelation_time);
    means.effective_draws = std::min(means.effective_draws, d.effective_draws);
  }
  return means;
}

}  // namespace attica
