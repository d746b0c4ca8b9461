/// @file
/// @brief Study potts-learning: excess loss of the pseudo-likelihood estimates against the number
/// of samples, factored attention and general couplings, with their 1/M tails.

#include <fmt/format.h>

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/sim/pseudo_likelihood.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/theory/factored_flow.hpp"

namespace attica {
namespace {

using Eigen::Index;

Point of_model(const char* model) { return {{"model", model}}; }

/// The enumerated model.
struct Truth {
  explicit Truth(const PottsModel& of)
      : model(of), excess(model, enumerate(model).states), sampler(excess.population()) {}

  PottsModel model;
  ExcessLoss excess;
  PopulationSampler sampler;
};

class Learning : public Experiment {
 public:
  Learning(const PottsFamily& family, const Configuration& c)
      : truth_([family] { return Truth(family.model(0)); }),
        samples_(c.reals("sweep.samples")),
        starts_(static_cast<int>(c.integer("sim.starts"))) {}

  TheoryResult theory(TheoryGrid grid) const override {
    const Truth& truth = truth_.get();
    const LearningTail factored = factored_tail(truth.model, truth.excess.population());
    const LearningTail general = general_tail(truth.model.sites(), truth.model.colours());
    // The tails are defined for any M; a data set has a whole number of sequences.
    for (const double m : samples_) {
      require(grid == TheoryGrid::requested || m == std::round(m),
              "sweep.samples",
              m,
              "a whole number of sequences");
    }
    TheoryResult result;
    for (const auto& [name, tail] : {std::pair{"factored", factored}, {"general", general}}) {
      Prediction p{.series = {"excess_loss", of_model(name), "samples", samples_, {}}};
      for (const double m : samples_) {
        const double y = tail.trace / (2 * m);
        p.series.y.push_back(y);
        // The next order is M^(-3/2): a relative correction of order rank / M at the sizes
        // compared.
        const double order = static_cast<double>(tail.rank) / m;
        p.compared.push_back(order <= kLargestOrder);
      }
      result.predictions.push_back(std::move(p));
    }
    result.diagnostics = {{"bayes_loss", truth.excess.bayes_loss()},
                          {"trace_factored", factored.trace},
                          {"rank_factored", static_cast<std::int64_t>(factored.rank)},
                          {"parameters_per_site", static_cast<std::int64_t>(general.rank)}};
    return result;
  }

  std::size_t points() const override { return samples_.size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 10; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Truth& truth = truth_.get();
    const Index colours = truth.model.colours();
    const double m = samples_[piece.point];
    return each_replicate(piece, [&](std::uint64_t replicate) {
      StreamAddress address = piece.stream(replicate);
      RandomStream data_stream(address);
      const WeightedSequences data =
          distinct(truth.sampler.draw(static_cast<Index>(m), data_stream));
      address.id = StreamId::initialisation;
      RandomStream start_stream(address);

      Outcome outcome;
      const auto record = [&](const char* name, bool converged, double value) {
        if (converged) {
          outcome.series.push_back({"excess_loss", of_model(name), "samples", {m}, {value}});
        } else {
          // No minimum at finite couplings: there is no estimate to average.
          outcome.status = "not converged";
        }
      };
      const PseudoLikelihoodFit general = fit_pseudo_likelihood(data, colours, 0);
      record("general", general.converged, truth.excess([&](Index row, Eigen::MatrixXd& logits) {
        general.logits(truth.excess.population().sequences.row(row).data(), logits);
      }));
      // The convex fit, brought to the form A_ij V, is a consistent start for the one that is not.
      const FactoredFit factored = fit_factored(
          data, colours, {.first = closest_factored(general), .starts = starts_}, start_stream);
      record("factored", factored.converged, truth.excess(factored.student));
      return outcome;
    });
  }

 private:
  /// Identifiable parameters per sample up to which the tail is compared.
  static constexpr double kLargestOrder = 0.01;

  Lazy<Truth> truth_;
  std::vector<double> samples_;
  int starts_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  const PottsFamily family = PottsFamily::from(c);
  family.require_enumerable();
  return std::make_unique<Learning>(family, c);
}

Figure figure(const Configuration& /*c*/) {
  Panel excess{
      .x = {.label = "samples {/:Italic M}", .scale = AxisScale::log},
      .y = {.label = "excess loss (nats)", .scale = AxisScale::log},
      .layers = {{.series = "excess_loss",
                  .label = "factored attention, tr({/:Italic H}^+{/:Italic K})/2{/:Italic M}",
                  .only = of_model("factored")},
                 {.series = "excess_loss",
                  .label = "general couplings, {/:Italic d}/2{/:Italic M}",
                  .only = of_model("general")}},
      .x_name = "samples"};
  excess.residuals = true;
  return {.name = "potts-learning",
          .panels = {excess},
          .columns = 1,
          .caption =
              "Excess loss of maximum pseudo-likelihood on sequences of a Potts model "
              "against their number. Lines: leading order for many samples; points: "
              "estimates, mean and standard error over data sets; band: declared margin "
              "where the two are compared."};
}

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

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  // What the leading order leaves out is of relative order (rank / M)^(1/2) x a small factor.
  return {{.series = "excess_loss", .relative = 0.15}};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 5, .colours = 3, .beta = 1.2});
  all.push_back(reals_parameter("sweep.samples",
                                {300.0, 1000.0, 3000.0, 10000.0},
                                "number of training sequences M",
                                {.low = 1, .high = 1e8}));
  all.push_back(
      integer_parameter("sim.starts",
                        0,
                        "factored attention: random starts besides the one from the general "
                        "couplings, of which the lowest loss is kept",
                        {.low = 0, .high = 1000}));
  all.push_back(replicates_parameter(400, "independent data sets at every number of samples"));
  return all;
}

}  // namespace

Study potts_learning() {
  return {
      .name = "potts-learning",
      .question = "How many sequences does it take to learn the conditionals of a Potts model?",
      .neglects = "higher orders in 1/M",
      .parameters = parameters(),
      .series =
          {{"excess_loss",
            "ε - ε_opt",
            "divergence of the learnt conditionals from the true ones, nats per masked site"}},
      .presets = {{"quick", "the defaults: L = 5, C = 3, M = 300 to 10000", {}},
                  {"paper",
                   "L = 8, C = 4, M up to 100000",
                   {{"model.sites", 8},
                    {"model.colours", 4},
                    {"sweep.samples", List{1000.0, 3000.0, 10000.0, 30000.0, 100000.0}},
                    {"sim.replicates", 100}}}},
      .sources = {potts_source("the masked loss of factored attention is a pseudo-likelihood"),
                  {"ekeberg2013improved",
                   "Improved contact prediction in proteins: using pseudolikelihoods to infer "
                   "Potts models",
                   "M. Ekeberg, C. Lövkvist, Y. Lan, M. Weigt, E. Aurell",
                   2013,
                   "1211.1281",
                   "general couplings by pseudo-likelihood"}},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .exponents = exponents,
  };
}

}  // namespace attica
