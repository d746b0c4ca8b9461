/// @file
/// @brief Study potts-sampler: does the Gibbs sampler converge, and to the enumerated means?

#include <fmt/format.h>

#include "attica/studies/potts/model.hpp"

namespace attica::potts_sampler {
namespace {

using Eigen::Index;

class Sampler : public PointwiseExperiment {
 public:
  explicit Sampler(Configuration& c)
      : model_(PottsFamily(c).model(0)),
        betas_(c.reals("sweep.beta")),
        options_{.chains = c.integer("sim.chains"),
                 .burn_in = c.integer("sim.burn_in"),
                 .draws = c.integer("sim.draws"),
                 .ladder = c.reals("sim.ladder")},
        allow_unconverged_(c.flag("sim.allow_unconverged")) {
    try {
      (void)PottsSampler(model_, {.chains = 1, .ladder = options_.ladder}, {});
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
    Curves means({}, "beta", {"energy", "occupation"});
    constexpr int kParts = 4;
    for (const double beta : line_between(betas_, AxisScale::linear, grid, kParts)) {
      const PottsModel model = at(beta);
      const WeightedSequences states = enumerate(model).states;
      double energy = 0;
      for (Index n = 0; n < states.sequences.rows(); ++n) {
        energy += states.weights[n] * (model.reduced_energy(states.sequences.row(n).data()) /
                                       static_cast<double>(model.sites()));
      }
      means.add(beta, {energy, marginals(states, model.colours()).row(0).mean()});
    }
    means.into(result);
    return result;
  }

  std::size_t points() const override { return betas_.size(); }

 protected:
  double flops(std::size_t) const override {
    constexpr double kOfSite = 500;  // some 12 ns to draw it again
    const auto copies = static_cast<double>(options_.ladder.size()) *
                        static_cast<double>(options_.chains * model_.sites());
    return kOfSite * copies * static_cast<double>(options_.burn_in + options_.draws);
  }

  Outcome run(const Replicate& replicate) const override {
    const double beta = betas_[replicate.point()];
    const GibbsMeans m = gibbs_means(at(beta), options_, replicate.address(StreamId::sampler));
    Outcome outcome;
    Curves({}, "beta", {"energy", "occupation", "r_hat", "autocorrelation_time", "effective_draws"})
        .add(beta, {m.energy, m.occupation, m.r_hat, m.autocorrelation_time, m.effective_draws})
        .into(outcome);
    if (!m.converged) {
      outcome.status = "not converged";
      outcome.failed = !allow_unconverged_;
      outcome.message = fmt::format(
          "not converged at beta = {}: worst R-hat {:.4g}, fewest effective draws {:.0f}",
          beta,
          m.r_hat,
          m.effective_draws);
    }
    return outcome;
  }

 private:
  PottsModel at(double beta) const { return {model_.couplings(), model_.colour_couplings(), beta}; }

  PottsModel model_;
  std::vector<double> betas_;
  GibbsMeansOptions options_;
  bool allow_unconverged_;
};

Figure figure(const Configuration& /*c*/) {
  const auto panel = [](const char* series, const char* y, AxisScale scale) {
    return Panel{.x = {.label = "inverse temperature {/:Italic β}"},
                 .y = {.label = y, .scale = scale},
                 .layers = {{.series = series}},
                 .x_name = "beta"};
  };
  Panel energy = panel("energy", "{/:Italic βE} / {/:Italic L}", AxisScale::linear);
  energy.residuals = true;
  return {
      .name = "potts-sampler",
      .panels = {energy,
                 panel("autocorrelation_time", "{/:Italic τ} (sweeps)", AxisScale::log),
                 panel("r_hat", "{/:Italic R̂}", AxisScale::linear)},
      .columns = 1,
      .caption =
          "Gibbs sampling of a Potts model: energy against its enumerated mean, and the largest "
          "autocorrelation time and split R-hat of energy and colours. Mean and standard error "
          "over replicates."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  // The theory is exact: this says how well a run resolves it.
  return rules({"energy", "occupation"}, {.series = {}, .relative = 0, .absolute = 0.002});
}

}  // namespace

Study study() {
  return {
      .name = "potts-sampler",
      .question = "Does the Gibbs sampler of the Potts model converge, and to the right means?",
      .neglects = "nothing: the means are exact",
      .parameters = together(
          {without(potts_model_parameters({.sites = 6, .colours = 3, .beta = 1.0}), {"model.beta"}),
           {real_parameter(
                "model.beta",
                1.0,
                "inverse temperature at which model.least_learnable is judged; sweep.beta "
                "is simulated"),
            reals_parameter(
                "sweep.beta", {0.25, 0.5, 0.75, 1.0, 1.25, 1.5}, "inverse temperatures"),
            integer_parameter(
                "sim.chains", 16, "independent chains per replicate", {.low = 2, .high = 1e5}),
            integer_parameter(
                "sim.burn_in", 200, "sweeps before the first draw", {.low = 0, .high = 1e9}),
            integer_parameter(
                "sim.draws", 3000, "draws per chain, one sweep apart", {.low = 4, .high = 1e7}),
            reals_parameter(
                "sim.ladder",
                {1.0},
                "replica exchange: factors of beta, the first one 1; 1, 2, 4, 8 or 16 of them"),
            flag_parameter(
                "sim.allow_unconverged",
                false,
                "accept replicates whose diagnostics say that the sampler has not converged"),
            replicates_parameter(40, "independent samplers at every temperature")}}),
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
                  cited("gelman2013bayesian", "split R-hat and effective sample size")},
      .make = make<Sampler>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "energy",
                  .series = "energy",
                  .factor = 0.97,
                  .meaning = "an energy per site times 0.97"},
                 {.name = "occupation",
                  .series = "occupation",
                  .factor = 1.05,
                  .meaning = "an occupation times 1.05"}},
      .diagnostic = {"effective_draws"}};
}

}  // namespace attica::potts_sampler
