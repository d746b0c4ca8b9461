/// @file
/// @brief Study potts-learning: excess loss of the pseudo-likelihood estimates against the number
/// of samples, factored attention and general couplings, with their 1/M tails.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "attica/sim/potts/loss_quadratic.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"
#include "attica/sim/potts/sequence_data.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/theory/potts/factored_flow.hpp"

namespace attica::potts_learning {
namespace {

using Eigen::Index;

/// The tail of factored attention, and the standard error of its trace.
struct FactoredTail {
  LearningTail tail;
  double error = 0;

  /// 0 where all states are known; of a pool by the delete-a-group jackknife with five groups
  /// (J. Shao, C. F. J. Wu, Ann. Stat. 17 (1989) 1176).
  FactoredTail(const PottsModel& model, const WeightedSequences& population, bool enumerated)
      : tail(factored_tail(model, population)) {
    if (enumerated) return;
    constexpr Index kParts = 5;
    std::vector<double> traces;
    for (Index part = 0; part < kParts; ++part) {
      traces.push_back(factored_tail(model, without(population.sequences, part, kParts)).trace);
    }
    const double mean = std::accumulate(traces.begin(), traces.end(), 0.0) / kParts;
    double squares = 0;
    for (const double trace : traces) squares += (trace - mean) * (trace - mean);
    error = std::sqrt(squares * (kParts - 1) / kParts);
  }

 private:
  static WeightedSequences without(const Sequences& all, Index part, Index parts) {
    const Index first = part * all.rows() / parts;
    const Index end = (part + 1) * all.rows() / parts;
    Sequences rest(all.rows() - (end - first), all.cols());
    rest.topRows(first) = all.topRows(first);
    rest.bottomRows(all.rows() - end) = all.bottomRows(all.rows() - end);
    return equally_weighted(std::move(rest));
  }
};

/// A model, enumerated or sampled.
struct Truth {
  Truth(const PottsModel& model, const GibbsPoolOptions& options, std::uint64_t seed)
      : data(model, options, {.seed = seed}), excess(model, data.population()) {
    if (data.enumerated()) quadratics.emplace(model, data.population());
  }
  const PottsModel& model() const { return data.model(); }

  PottsData data;
  ExcessLoss excess;                          ///< on all states, or on the pool
  std::optional<PottsQuadratics> quadratics;  ///< of all states
};

/// A divergence on sequences that no other replicate has, so that theirs is no common error.
ExcessLoss tested_on(const Truth& truth, Index count, const StreamAddress& address) {
  return {truth.model(), equally_weighted(truth.data.fresh(count, address))};
}

class Learning : public PointwiseExperiment {
 public:
  explicit Learning(Configuration& c)
      : betas_(c.has("sweep.beta") ? c.reals("sweep.beta") : std::vector{c.real("model.beta")}),
        swept_(c.has("sweep.beta")),
        samples_(c.reals("sweep.samples")),
        starts_(c.integer<int>("sim.starts")),
        tested_(c.integer("sim.test_sequences")) {
    constexpr double kUnset = 1.2;
    if (swept_ && c.real("model.beta") != kUnset)
      throw Error(ErrorKind::input,
                  "parameter 'model.beta' is one of those of sweep.beta: give one of the two",
                  "model.beta");
    const PottsFamily family(c);
    for (const double beta : betas_) {
      truths_.push_back(std::make_unique<Lazy<Truth>>(
          [family = family.at(beta), options = gibbs_pool_options(c), seed = c.seed()] {
            return Truth(family.model(0), options, seed);
          }));
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (std::size_t b = 0; b < betas_.size(); ++b) add_theory(b, grid, result);
    return result;
  }

  /// The numbers of samples at every temperature, and the coefficients of the tails.
  std::size_t points() const override { return betas_.size() * samples_.size() + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point + 1 == points(); }

  double flops(std::size_t /*point*/) const override { return 2e8; }

  Outcome run(const Replicate& replicate) const override {
    Outcome outcome;
    if (deterministic(replicate.point())) {
      for (std::size_t b = 0; b < betas_.size(); ++b) {
        if (const auto& quadratics = truth(b).quadratics) {
          add_constant(outcome, "tail_trace", quadratics->factored_trace(), at(b, "factored"));
          add_constant(outcome, "tail_trace", quadratics->general_trace(), at(b, "general"));
        }
      }
      return outcome;
    }
    const std::size_t b = replicate.point() / samples_.size();
    const Truth& truth = this->truth(b);
    const Index colours = truth.model().colours();
    const double m = samples_[replicate.point() % samples_.size()];
    const WeightedSequences data =
        distinct(truth.data.fresh(static_cast<Index>(m), replicate.address(StreamId::data)));
    std::optional<ExcessLoss> own;
    if (!truth.data.enumerated())
      own.emplace(tested_on(truth, tested_, replicate.address(StreamId::test_data)));
    const ExcessLoss& excess = own ? *own : truth.excess;
    const auto record = [&](const char* model, bool converged, double value) {
      // No minimum at finite couplings: there is no estimate to average.
      if (!converged) outcome.status = "not converged";
      Curves(at(b, model), "samples", {"excess_loss"})
          .add(m, {converged ? value : kNoValue})
          .into(outcome);
    };
    const PseudoLikelihoodFit general = fit_pseudo_likelihood(data, colours, 0);
    double general_excess = excess([&](Index row, Eigen::MatrixXd& logits) {
      general.logits(excess.population().sequences.row(row).data(), logits);
    });
    // The convex fit, brought to the form A_ij V, is a consistent start for the one that is not.
    RandomStream start_stream = replicate.stream(StreamId::initialisation);
    const FactoredFit factored = fit_factored(
        data, colours, {.first = closest_factored(general), .starts = starts_}, start_stream);
    double factored_excess = excess(factored.student);
    if (truth.quadratics) {
      // An exact control variate: what scatters to leading order, of mean 0, is taken off.
      general_excess -= truth.quadratics->general_scatter(data, m);
      factored_excess -= truth.quadratics->factored_scatter(data, m);
    }
    record("general", general.converged, general_excess);
    record("factored", factored.converged, factored_excess);
    return outcome;
  }

 private:
  Point at(std::size_t b, const char* model) const {
    return swept_ ? Point{{"model", model}, {"beta", betas_[b]}} : Point{{"model", model}};
  }
  const Truth& truth(std::size_t b) const { return truths_[b]->get(); }

  void add_theory(std::size_t b, TheoryGrid grid, TheoryResult& result) const {
    const Truth& truth = this->truth(b);
    const WeightedSequences& population = truth.data.population();
    const bool enumerated = truth.data.enumerated();
    const FactoredTail factored(truth.model(), population, enumerated);
    const LearningTail general = general_tail(truth.model().sites(), truth.model().colours());
    const double spread = general_spread(truth.model(), population);
    struct Tail {
      const char* name;
      LearningTail tail;
      double error, rare;
    };
    for (const auto& [name, tail, error, rare] :
         {Tail{"factored", factored.tail, factored.error, std::sqrt(spread)},
          Tail{"general", general, 0, spread}}) {
      Curves excess(at(b, name), "samples", {"excess_loss"});
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
        excess.add(m,
                   {PredictedValue(leading, small ? next * leading : 0, small, error / (2 * m))});
      }
      excess.into(result);
    }
    if (enumerated) {
      // Differences of the gradient leave more where rare sequences bend it; far beyond that they
      // do not tell the trace.
      constexpr double kDifferences = 1e-6;
      constexpr double kMostDifference = 0.01;
      const double left = kDifferences * spread;
      const bool told = left <= kMostDifference;
      const double trace = factored.tail.trace;
      add_constant(result, "tail_trace", PredictedValue(trace, 0, told), at(b, "factored"));
      add_constant(result,
                   "tail_trace",
                   PredictedValue(general.trace, told ? left * general.trace : 0, told),
                   at(b, "general"));
    }
    const std::string suffix = swept_ ? fmt::format("_beta_{:g}", betas_[b]) : "";
    const auto tell = [&](const char* name, const Value& value) {
      result.diagnostics.emplace_back(name + suffix, value);
    };
    tell("bayes_loss", truth.excess.bayes_loss());
    tell("trace_factored", factored.tail.trace);
    if (!enumerated) tell("trace_factored_error", factored.error);
    tell("rank_factored", static_cast<std::int64_t>(factored.tail.rank));
    tell("parameters_per_site", static_cast<std::int64_t>(general.rank));
  }

  std::vector<double> betas_;
  bool swept_;
  std::vector<std::unique_ptr<Lazy<Truth>>> truths_;  ///< of the inverse temperatures
  std::vector<double> samples_;
  int starts_;
  Index tested_;  ///< sequences on which a fit is tested where states are not enumerated
};

std::vector<AgreementRule> agreement(const Configuration& c) {
  // In addition to the allowance that the theory states: four standard errors, or what 64 data sets
  // resolve where there is no control variate.
  constexpr double kEnumerated = 0.0075;
  constexpr double kSampled = 0.08;
  const double states =
      std::pow(c.integer<double>("model.colours"), c.integer<double>("model.sites"));
  return {
      {.series = "excess_loss", .relative = PottsData::enumerates(states) ? kEnumerated : kSampled},
      // Exact: differences of the gradient leave 1e-8.
      {.series = "tail_trace", .relative = 1e-5, .deterministic = true}};
}

std::vector<ExponentClaim> exponents(const Configuration& c) {
  std::vector<ExponentClaim> claims;
  const bool swept = c.has("sweep.beta");
  for (const double beta : swept ? c.reals("sweep.beta") : std::vector{0.0}) {
    for (const char* model : {"factored", "general"}) {
      Point only{{"model", model}};
      if (swept) only.emplace_back("beta", beta);
      claims.push_back({.name = swept ? fmt::format("{}-{:g}", model, beta) : model,
                        .series = "excess_loss",
                        .x_name = "samples",
                        .only = only,
                        .exponent = -1,
                        .meaning = "leading order for many samples: the 1/M tail"});
    }
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "potts-learning",
                    .make = make<Learning>,
                    .agreement = agreement,
                    .exponents = exponents});
}

}  // namespace attica::potts_learning
