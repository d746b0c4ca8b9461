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

}  // namespace

Study study() { return described({.name = "potts-sampler", .make = make<Sampler>}); }

}  // namespace attica::potts_sampler
