/// @file
/// @brief Study potts-sampler: does the Gibbs sampler converge, and to the enumerated means?

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/chain_diagnostics.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"

namespace attica {
namespace {

using Eigen::Index;

class SamplerStudy : public Experiment {
 public:
  SamplerStudy(const PottsFamily& family, const Configuration& c)
      : model_(family.model(0)),
        betas_(c.reals("sweep.beta")),
        chains_(c.integer("sim.chains")),
        burn_in_(c.integer("sim.burn_in")),
        draws_(c.integer("sim.draws")),
        ladder_(c.reals("sim.ladder")),
        allow_unconverged_(c.flag("sim.allow_unconverged")) {
    try {
      (void)PottsSampler(model_, {.chains = 1, .ladder = ladder_}, {});
    } catch (const Error& error) {  // a bad ladder, named as the user knows it
      throw Error(error.kind(), fmt::format("sim.ladder: {}", error.what()), "sim.ladder");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (grid == TheoryGrid::run && potts_states(model_) > static_cast<double>(kMostStates)) {
      result.warnings.emplace_back("too many states to enumerate: diagnostics only");
      return result;
    }
    Series energy{"energy", {}, "beta", betas_, {}};
    Series occupation{"occupation", {}, "beta", betas_, {}};
    for (const double beta : betas_) {
      const PottsModel model = at(beta);
      const WeightedSequences states = enumerate(model).states;
      double mean = 0;
      for (Index n = 0; n < states.sequences.rows(); ++n) {
        mean += states.weights[n] * energy_per_site(model, states.sequences.row(n).data());
      }
      energy.y.push_back(mean);
      occupation.y.push_back(marginals(states, model.colours()).row(0).mean());
    }
    result.predictions.push_back({.series = std::move(energy)});
    result.predictions.push_back({.series = std::move(occupation)});
    return result;
  }

  std::size_t points() const override { return betas_.size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    return each_replicate(piece, [&](std::uint64_t replicate) { return one(piece, replicate); });
  }

 private:
  PottsModel at(double beta) const { return {model_.couplings(), model_.colour_couplings(), beta}; }
  static double energy_per_site(const PottsModel& model, const std::uint8_t* sequence) {
    return model.reduced_energy(sequence) / static_cast<double>(model.sites());
  }

  Outcome one(const Piece& piece, std::uint64_t replicate) const {
    const double beta = betas_[piece.point];
    const PottsModel model = at(beta);
    const auto sites = static_cast<std::size_t>(model.sites());
    PottsSampler sampler(model,
                         {.chains = chains_, .ladder = ladder_},
                         {.seed = piece.seed,
                          .id = StreamId::sampler,
                          .point = piece.stream_point,
                          .replicate = replicate});
    sampler.sweep(burn_in_);
    // Observables: energy, and for every site whether it has colour 0. (The overlap with a chain's
    // own start has another mean in every chain once colours are not equally likely: no use here.)
    std::vector<std::vector<std::vector<double>>> observables(
        1 + sites, std::vector<std::vector<double>>(static_cast<std::size_t>(chains_)));
    double energy = 0;
    double occupation = 0;
    for (std::int64_t n = 0; n < draws_; ++n) {
      sampler.sweep(1);
      const Sequences states = sampler.states();
      for (Index k = 0; k < chains_; ++k) {
        const auto chain = static_cast<std::size_t>(k);
        const double e = energy_per_site(model, states.row(k).data());
        energy += e;
        observables[0][chain].push_back(e);
        for (std::size_t i = 0; i < sites; ++i) {
          const double is_zero = states(k, static_cast<Index>(i)) == 0 ? 1 : 0;
          occupation += is_zero / static_cast<double>(sites);
          observables[1 + i][chain].push_back(is_zero);
        }
      }
    }
    const auto count = static_cast<double>(draws_ * chains_);
    Outcome outcome;
    const auto record = [&](const char* name, double value) {
      outcome.series.push_back({name, {}, "beta", {beta}, {value}});
    };
    record("energy", energy / count);
    record("occupation", occupation / count);
    double r_hat = 1;
    double tau = 0;
    double effective = count;
    bool converged = true;
    for (const auto& chains : observables) {
      const ChainDiagnostics d = chain_diagnostics(chains);
      converged = converged && d.converged();
      if (d.too_short) {
        throw invalid_parameter("sim.draws",
                                static_cast<double>(draws_),
                                "at least 4 draws of at least 2 chains to judge convergence");
      }
      r_hat = std::max(r_hat, d.r_hat);
      tau = std::max(tau, d.autocorrelation_time);
      effective = std::min(effective, d.effective_draws);
    }
    record("r_hat", r_hat);
    record("autocorrelation_time", tau);
    record("effective_draws", effective);
    if (!converged) {
      outcome.status = "not converged";
      outcome.failed = !allow_unconverged_;
      outcome.message = fmt::format(
          "not converged at beta = {}: worst R-hat {:.4g}, fewest effective draws {:.0f}",
          beta,
          r_hat,
          effective);
    }
    return outcome;
  }

  PottsModel model_;
  std::vector<double> betas_;
  Index chains_;
  std::int64_t burn_in_;
  std::int64_t draws_;
  std::vector<double> ladder_;
  bool allow_unconverged_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  return std::make_unique<SamplerStudy>(PottsFamily::from(c), c);
}

Figure figure(const Configuration& /*c*/) {
  const Axis beta{.label = "inverse temperature {/:Italic β}"};
  Panel energy{.x = beta,
               .y = {.label = "{/:Italic βE} / {/:Italic L}"},
               .layers = {{.series = "energy", .label = "energy"}},
               .x_name = "beta"};
  energy.residuals = true;
  const auto diagnostic = [&](const char* series, const char* label, AxisScale scale) {
    return Panel{.x = beta,
                 .y = {.label = label, .scale = scale},
                 .layers = {{.series = series, .label = ""}},
                 .x_name = "beta"};
  };
  return {.name = "potts-sampler",
          .panels = {energy,
                     diagnostic("autocorrelation_time", "{/:Italic τ} (sweeps)", AxisScale::log),
                     diagnostic("r_hat", "{/:Italic R̂}", AxisScale::linear)},
          .columns = 1,
          .caption =
              "Gibbs sampling of a Potts model: energy against its enumerated mean, and the "
              "largest autocorrelation time and split R-hat of energy and "
              "colours. Mean and standard error over replicates."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  // The theory is exact: this says how well a run resolves it.
  constexpr double kResolution = 0.01;
  return {{.series = "energy", .relative = 0, .absolute = kResolution},
          {.series = "occupation", .relative = 0, .absolute = kResolution}};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 6, .colours = 3, .beta = 1.0});
  std::erase_if(all, [](const Parameter& p) { return p.key == "model.beta"; });
  const std::vector<Parameter> own = {
      {.key = "model.beta",
       .type = ParameterType::real,
       .fallback = Value(1.0),
       .meaning = "inverse temperature at which model.least_learnable is judged; sweep.beta is "
                  "simulated"},
      {.key = "sweep.beta",
       .type = ParameterType::real,
       .fallback = Value(List{0.25, 0.5, 0.75, 1.0, 1.25, 1.5}),
       .meaning = "inverse temperatures",
       .list = true},
      integer_parameter(
          "sim.chains", 16, "independent chains per replicate", {.low = 2, .high = 1e5}),
      integer_parameter(
          "sim.burn_in", 200, "sweeps before the first draw", {.low = 0, .high = 1e9}),
      integer_parameter(
          "sim.draws", 3000, "draws per chain, one sweep apart", {.low = 4, .high = 1e7}),
      {.key = "sim.ladder",
       .type = ParameterType::real,
       .fallback = Value(List{1.0}),
       .meaning = "replica exchange: factors of beta, the first one 1; 1, 2, 4, 8 or 16 of them",
       .list = true},
      {.key = "sim.allow_unconverged",
       .type = ParameterType::flag,
       .fallback = Value(false),
       .meaning = "accept replicates whose diagnostics say that the sampler has not converged"},
      replicates_parameter(40, "independent samplers at every temperature"),
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

Study potts_sampler() {
  return {
      .name = "potts-sampler",
      .question = "Does the Gibbs sampler of the Potts model converge, and to the right means?",
      .neglects = "nothing: the means are exact",
      .parameters = parameters(),
      .series = {{"energy", "βE/L", "mean of -beta sum_{i<j} J_ij U over L"},
                 {"occupation", "P(s = 0)", "probability of colour 0, mean over sites"},
                 {"autocorrelation_time", "τ", "largest over the observables, in sweeps"},
                 {"r_hat", "R̂", "largest split R-hat over the observables"},
                 {"effective_draws", "ESS", "fewest over the observables"}},
      .presets = {{"quick", "the defaults: L = 6, C = 3", {}},
                  {"paper",
                   "L = 20, C = 20, diagnostics only",
                   {{"model.sites", 20}, {"model.colours", 20}}}},
      .sources = {potts_source("sequences sampled from the Potts model"),
                  {"gelman2013bayesian",
                   "Bayesian Data Analysis, third edition",
                   "A. Gelman, J. B. Carlin, H. S. Stern, D. B. Dunson, A. Vehtari, D. B. Rubin",
                   2013,
                   "",
                   "split R-hat and effective sample size"}},
      .make = make,
      .figure = figure,
      .agreement = agreement,
  };
}

}  // namespace attica
