/// @file
/// @brief Study potts-learning: excess loss of the pseudo-likelihood estimates against the number
/// of samples, factored attention and general couplings, with their 1/M tails.

#include <cmath>

#include "attica/sim/potts/loss_quadratic.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica::potts_learning {
namespace {

using Eigen::Index;

Point of_model(const char* model) { return {{"model", model}}; }

/// The enumerated model.
struct Truth {
  explicit Truth(PottsModel of)
      : model(std::move(of)),
        excess(model, enumerate(model).states),
        sampler(excess.population()) {}

  PottsModel model;
  ExcessLoss excess;
  PopulationSampler sampler;
};

class Learning : public PointwiseExperiment {
 public:
  explicit Learning(Configuration& c)
      : truth_([family = PottsFamily(c).enumerable()] { return Truth(family.model(0)); }),
        quadratics_([this] {
          return PottsQuadratics(truth_.get().model, truth_.get().excess.population());
        }),
        samples_(c.reals("sweep.samples")),
        starts_(c.integer<int>("sim.starts")) {}

  TheoryResult theory(TheoryGrid grid) const override {
    const Truth& truth = truth_.get();
    const LearningTail factored = factored_tail(truth.model, truth.excess.population());
    const LearningTail general = general_tail(truth.model.sites(), truth.model.colours());
    const double spread = general_spread(truth.model, truth.excess.population());
    TheoryResult result;
    for (const auto& [name, tail, rare] :
         {std::tuple{"factored", factored, std::sqrt(spread)}, {"general", general, spread}}) {
      Curves excess(of_model(name), "samples", {"excess_loss"});
      for (const double m : samples_) {
        // The tails are defined for any M; a data set has a whole number of sequences.
        require(grid == TheoryGrid::requested || m == std::round(m),
                "sweep.samples",
                m,
                "a whole number of sequences");
        // The next order is a relative correction of order rank / M, times what rare sequences
        // make of it: 0.4 to 0.9 of this was seen of general couplings at beta = 0.6 to 2.4, and
        // less of factored attention, whose parameters all sites share.
        constexpr double kEven = 2;
        constexpr double kMost = 0.05;
        const double next = (kEven + rare) * static_cast<double>(tail.rank) / m;
        const double leading = tail.trace / (2 * m);
        const bool small = next <= kMost;
        excess.add(m, {{leading, small ? next * leading : 0, small}});
      }
      excess.into(result);
    }
    // Differences of the gradient leave more where rare sequences bend it; far beyond that they do
    // not tell the trace.
    constexpr double kDifferences = 1e-6;
    constexpr double kMostDifference = 0.01;
    const double left = kDifferences * spread;
    const bool told = left <= kMostDifference;
    add_constant(
        result, "tail_trace", PredictedValue(factored.trace, 0, told), of_model("factored"));
    add_constant(result,
                 "tail_trace",
                 PredictedValue(general.trace, told ? left * general.trace : 0, told),
                 of_model("general"));
    result.diagnostics = {{"bayes_loss", truth.excess.bayes_loss()},
                          {"trace_factored", factored.trace},
                          {"rank_factored", static_cast<std::int64_t>(factored.rank)},
                          {"parameters_per_site", static_cast<std::int64_t>(general.rank)}};
    return result;
  }

  /// The numbers of samples, and the coefficient of the tail.
  std::size_t points() const override { return samples_.size() + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point == samples_.size(); }

  double flops(std::size_t /*point*/) const override { return 2e8; }

  Outcome run(const Replicate& replicate) const override {
    const Truth& truth = truth_.get();
    const PottsQuadratics& quadratics = quadratics_.get();
    Outcome outcome;
    if (deterministic(replicate.point())) {
      add_constant(outcome, "tail_trace", quadratics.factored_trace(), of_model("factored"));
      add_constant(outcome, "tail_trace", quadratics.general_trace(), of_model("general"));
      return outcome;
    }
    const Index colours = truth.model.colours();
    const double m = samples_[replicate.point()];
    RandomStream data_stream = replicate.stream();
    const WeightedSequences data = distinct(truth.sampler.draw(static_cast<Index>(m), data_stream));
    const auto record = [&](const char* model, bool converged, double value) {
      // No minimum at finite couplings: there is no estimate to average.
      if (!converged) outcome.status = "not converged";
      Curves(of_model(model), "samples", {"excess_loss"})
          .add(m, {converged ? value : kNoValue})
          .into(outcome);
    };
    const PseudoLikelihoodFit general = fit_pseudo_likelihood(data, colours, 0);
    const double general_excess = truth.excess([&](Index row, Eigen::MatrixXd& logits) {
      general.logits(truth.excess.population().sequences.row(row).data(), logits);
    });
    // An exact control variate: what scatters to leading order, of mean 0, is taken off.
    record("general", general.converged, general_excess - quadratics.general_scatter(data, m));
    // The convex fit, brought to the form A_ij V, is a consistent start for the one that is not.
    RandomStream start_stream = replicate.stream(StreamId::initialisation);
    const FactoredFit factored = fit_factored(
        data, colours, {.first = closest_factored(general), .starts = starts_}, start_stream);
    record("factored",
           factored.converged,
           truth.excess(factored.student) - quadratics.factored_scatter(data, m));
    return outcome;
  }

 private:
  Lazy<Truth> truth_;
  Lazy<PottsQuadratics> quadratics_;
  std::vector<double> samples_;
  int starts_;
};

std::vector<ExponentClaim> exponents(const Configuration& /*c*/) {
  std::vector<ExponentClaim> claims;
  for (const char* model : {"factored", "general"}) {
    claims.push_back({.name = model,
                      .series = "excess_loss",
                      .x_name = "samples",
                      .only = of_model(model),
                      .exponent = -1,
                      .meaning = "leading order for many samples: the 1/M tail"});
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "potts-learning", .make = make<Learning>, .exponents = exponents});
}

}  // namespace attica::potts_learning
