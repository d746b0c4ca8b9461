/// @file
/// @brief Study potts-square: ridge regression of coded Potts sequences against the theory for
/// Gaussian data of equal covariance.

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/core/potts_coding.hpp"
#include "attica/sim/block_ridge.hpp"
#include "attica/sim/gaussian_ridge.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/theory/block_ridge.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Point at(double lambda) { return {{"lambda", lambda}}; }

/// Sequences to draw from, and what theory needs to know of them. Takes seconds to make for models
/// too large to enumerate.
struct Population {
  Population(const PottsModel& model, const GibbsPoolOptions& options, const StreamAddress& address)
      : data(model, options, address),
        moments(coded_moments(data.population(), model.colours())),
        theory(moments.covariance, model.colours() - 1),
        factor(moments.covariance.llt().matrixL()) {}

  PottsData data;
  CodedMoments moments;
  BlockRidge theory;
  MatrixXd factor;  ///< of the covariance, to draw Gaussian data with it
};

class Square : public Experiment {
 public:
  Square(const PottsFamily& family, const Configuration& c)
      : population_([family,
                     options = GibbsPoolOptions::from(c),
                     seed = static_cast<std::uint64_t>(c.integer("sim.seed"))] {
          return Population(family.model(0), options, {.seed = seed});
        }),
        colours_(family.colours()),
        control_(c.flag("sim.gaussian_control")),
        inputs_(static_cast<double>((family.sites() - 1) * (colours_ - 1))),
        alphas_(c.reals("sweep.alpha")),
        lambdas_(c.reals("sweep.lambda")) {
    for (const double alpha : alphas_) {
      constexpr double kMostSamples = 1e7;
      const double samples = alpha * inputs_;
      require(samples >= 1 && samples <= kMostSamples,
              "sweep.alpha",
              alpha,
              "between 1 and 1e7 samples alpha (L-1)(C-1)");
      sizes_.push_back(std::llround(samples));
    }
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> alphas = alphas_;
    if (grid == TheoryGrid::run) {
      alphas.clear();
      for (const Index size : sizes_) alphas.push_back(static_cast<double>(size) / inputs_);
      const double low = alphas.front();
      const double high = alphas.back();
      constexpr int kLinePoints = 80;
      for (int k = 1; k < kLinePoints && high > low; ++k) {
        alphas.push_back(low * std::pow(high / low, static_cast<double>(k) / kLinePoints));
      }
      std::sort(alphas.begin(), alphas.end());
    }
    TheoryResult result;
    const Population& population = population_.get();
    for (const double lambda : lambdas_) {
      Series test{"test_error", at(lambda), "alpha", alphas, {}};
      Series train{"train_error", at(lambda), "alpha", alphas, {}};
      std::vector<double> relative_bias;  // of the leading order, 1/(M (1-gamma))
      for (const double alpha : alphas) {
        const double samples = alpha * inputs_;
        const BlockRidgePoint point = population.theory.average(samples, lambda);
        relative_bias.push_back(1 / (samples * point.one_minus_gamma));
        test.y.push_back(point.test_error);
        train.y.push_back(point.train_error);
      }
      // Far below the test error a train error is that of an interpolation: nothing to compare.
      constexpr double kLeastShare = 1e-3;
      Prediction tests{.series = std::move(test)};
      Prediction trains{.series = std::move(train)};
      for (std::size_t k = 0; k < alphas.size(); ++k) {
        trains.compared.push_back(trains.series.y[k] >= kLeastShare * tests.series.y[k]);
      }
      for (Prediction* p : {&tests, &trains}) {
        result.predictions.push_back(*p);
        if (!control_) continue;
        // The control is judged as Gaussian data are elsewhere: up to 1 (test) or 3 (train) times
        // that bias.
        constexpr double kTrainShare = 3;
        const double share = p == &trains ? kTrainShare : 1;
        p->series.name = "gaussian_" + p->series.name;
        for (std::size_t k = 0; k < alphas.size(); ++k) {
          p->finite_size.push_back(share * relative_bias[k] * p->series.y[k]);
        }
        result.predictions.push_back(std::move(*p));
      }
    }
    result.diagnostics = {{"inputs", inputs_}};
    return result;
  }

  std::size_t points() const override { return sizes_.size(); }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    constexpr double kFlopsPerPiece = 1e9;
    constexpr double kMostReplicates = 50;
    const double size = inputs_ + static_cast<double>(colours_ - 1);
    constexpr double kProductsPerFit = 6;
    const double flops = size * size *
                         (2 * static_cast<double>(sizes_[point]) +
                          kProductsPerFit * static_cast<double>(lambdas_.size()) * size);
    return static_cast<std::uint64_t>(
        std::clamp(std::floor(kFlopsPerPiece / flops), 1.0, kMostReplicates));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Index samples = sizes_[piece.point];
    const double alpha = static_cast<double>(samples) / inputs_;
    const Population& population = population_.get();
    return each_replicate(piece, [&](std::uint64_t replicate) {
      RandomStream stream(piece.stream(replicate));
      MatrixXd z = coded(population.data.draw(samples, stream), colours_);
      z.rowwise() -= population.moments.mean.transpose();
      const MatrixXd gaussian =
          control_ ? gaussian_samples(population.factor, true, samples, stream) : MatrixXd();
      Outcome outcome;
      for (const double lambda : lambdas_) {
        const auto record = [&](const char* prefix, const MatrixXd& data) {
          const BlockRidgeErrors e =
              block_ridge_errors(data, population.moments.covariance, colours_ - 1, lambda);
          const std::string name = prefix;
          outcome.series.push_back({name + "test_error", at(lambda), "alpha", {alpha}, {e.test}});
          outcome.series.push_back({name + "train_error", at(lambda), "alpha", {alpha}, {e.train}});
        };
        record("", z);
        if (control_) record("gaussian_", gaussian);
      }
      return outcome;
    });
  }

 private:
  Lazy<Population> population_;
  Index colours_;
  bool control_;
  double inputs_;  ///< N = (L-1)(C-1)
  std::vector<double> alphas_;
  std::vector<double> lambdas_;
  std::vector<Index> sizes_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  return std::make_unique<Square>(PottsFamily::from(c), c);
}

Figure figure(const Configuration& /*c*/) {
  const Axis alpha{.label = "{/:Italic α} = {/:Italic M} / ({/:Italic L}−1)({/:Italic C}−1)",
                   .scale = AxisScale::log};
  const std::string label = "{/:Italic λ} = {lambda}";
  Panel test{.x = alpha,
             .y = {.label = "test error {/:Italic E}_{test}"},
             .layers = {{.series = "test_error", .label = label},
                        {.series = "gaussian_test_error",
                         .label = "Gaussian data, " + label,
                         .theory = false}},
             .x_name = "alpha"};
  test.residuals = true;
  Panel train{.x = alpha,
              .y = {.label = "train error {/:Italic E}_{train}"},
              .layers = {{.series = "train_error", .label = label},
                         {.series = "gaussian_train_error",
                          .label = "Gaussian data, " + label,
                          .theory = false}},
              .x_name = "alpha"};
  train.residuals = true;
  return {.name = "potts-square",
          .panels = {test, train},
          .columns = 1,
          .caption =
              "Masked modelling of Potts sequences with square loss: ridge regression of "
              "every coded site on the others. Lines: theory for Gaussian data of equal "
              "covariance; points: Potts data, mean and standard error over data sets; open "
              "markers: Gaussian data of that covariance; band: "
              "declared margin."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  constexpr double kMargin = 0.03;
  return {{.series = "test_error", .relative = kMargin},
          {.series = "train_error", .relative = kMargin},
          {.series = "gaussian_test_error", .relative = 0},
          {.series = "gaussian_train_error", .relative = 0}};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 30,
                                                       .colours = 3,
                                                       .beta = 0.5,
                                                       .couplings = "gauss",
                                                       .colour_couplings = "gauss",
                                                       .zero_sum = true});
  all.push_back(reals_parameter("sweep.alpha",
                                {0.5, 0.75, 1.0, 1.5, 2.0, 4.0},
                                "samples per input, alpha = M / ((L-1)(C-1))",
                                kPositive));
  all.push_back(
      reals_parameter("sweep.lambda",
                      {0.05, 0.5},
                      "ridge penalty of the objective (1/2M) sum of squares + (lambda/2) |W|^2; "
                      "0: solutions of smallest norm",
                      kNotNegative));
  all.push_back({.key = "sim.gaussian_control",
                 .type = ParameterType::flag,
                 .fallback = Value(true),
                 .meaning = "simulate Gaussian data of equal covariance, too"});
  all.push_back(replicates_parameter(200, "independent data sets at every alpha"));
  for (Parameter& p : gibbs_pool_parameters()) all.push_back(std::move(p));
  return all;
}

}  // namespace

Study potts_square() {
  return {
      .name = "potts-square",
      .question =
          "Does masked modelling of Potts sequences with square loss behave as if they were "
          "Gaussian?",
      .neglects = "everything beyond the covariance, and corrections of order 1/M",
      .parameters = parameters(),
      .series =
          {{"test_error",
            "E_test",
            "population mean squared error of a site's code, summed over its C-1 channels, "
            "mean over sites"},
           {"train_error", "E_train", "the same on the training samples"},
           {"gaussian_test_error", "E_test", "test error on Gaussian data of equal covariance"},
           {"gaussian_train_error", "E_train", "train error on Gaussian data of equal covariance"}},
      .presets = {{"quick", "the defaults: L = 30, C = 3, beta = 0.5", {}},
                  {"paper",
                   "L = 60, C = 10",
                   {{"model.sites", 60}, {"model.colours", 10}, {"sim.chains", 100000}}}},
      .sources = {potts_source("square loss on Potts data")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
  };
}

}  // namespace attica
