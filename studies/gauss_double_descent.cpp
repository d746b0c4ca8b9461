/// @file
/// @brief Study gauss-double-descent: generalization error of ridge regression in Gaussian masked
/// modelling against the number of samples, theory over simulation, on model covariances and on
/// users' own data.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/sim/gaussian_ridge.hpp"
#include "attica/studies/gaussian_model.hpp"
#include "attica/studies/gaussian_studies.hpp"
#include "attica/theory/gaussian_ridge.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// Points of a smooth theory line between the simulated ones.
constexpr int kLinePoints = 240;

class DoubleDescent : public Experiment {
 public:
  DoubleDescent(GaussianModel model, const Configuration& c)
      : model_(std::move(model)),
        theory_(model_.problem()),
        inputs_(static_cast<double>(model_.problem().sites() - 1)),
        alphas_(c.reals("sweep.alpha")),
        lambdas_(c.reals("sweep.lambda")) {
    for (std::size_t k = 0; k < alphas_.size(); ++k) {
      // Realised sizes: the nearest integer, at least 1; equal ones are one point.
      constexpr double kLargest = 1e15;  // far beyond what `theory` lets a run simulate
      sizes_.push_back(std::max<Index>(1, std::llround(std::min(alphas_[k] * inputs_, kLargest))));
    }
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> alphas;
    if (grid == TheoryGrid::requested) {
      for (std::size_t k = 0; k < alphas_.size(); ++k) {
        if (samples_at(alphas_[k]) < 1) {
          throw invalid_parameter(
              "sweep.alpha", alphas_[k], "alpha (L - 1) >= 1, at least one sample");
        }
      }
      alphas = alphas_;
    } else {
      constexpr double kMostNumbers = 1e9;
      const double numbers = static_cast<double>(sizes_.back()) * (inputs_ + 1);
      require(numbers <= kMostNumbers,
              "sweep.alpha",
              *std::max_element(alphas_.begin(), alphas_.end()),
              fmt::format("data sets of at most {} numbers to simulate", kMostNumbers));
      alphas = line();
    }
    TheoryResult result;
    for (const double lambda : lambdas_) {
      for (Prediction& p : predictions(alphas, lambda)) result.predictions.push_back(std::move(p));
    }
    return result;
  }

  std::size_t points() const override { return sizes_.size(); }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    // About 0.2 s of floating-point work, from the size of the products of one replicate.
    constexpr double kFlopsPerPiece = 2e9;
    constexpr double kMostReplicates = 50;
    const double sites = inputs_ + 1;
    const double samples = static_cast<double>(sizes_[point]);
    constexpr double kProductsPerFit = 6;
    const double flops = 2 * samples * sites * sites + kProductsPerFit *
                                                           static_cast<double>(lambdas_.size()) *
                                                           sites * sites * sites;
    return static_cast<std::uint64_t>(
        std::clamp(std::floor(kFlopsPerPiece / flops), 1.0, kMostReplicates));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    std::vector<Outcome> outcomes;
    const Index samples = sizes_[piece.point];
    const double alpha = static_cast<double>(samples) / inputs_;
    for (std::uint64_t r = 0; r < piece.replicates && !piece.stop.stop_requested(); ++r) {
      RandomStream stream({.seed = piece.seed,
                           .id = StreamId::data,
                           .point = piece.stream_point,
                           .replicate = piece.first_replicate + r});
      // One data set serves every penalty.
      const RidgeFits fits(model_.samples(samples, stream), model_.factor());
      Outcome outcome;
      for (const double lambda : lambdas_) {
        const RidgeFit errors = fits.fit(model_.absolute_lambda(lambda));
        const Point point{{"lambda", lambda}};
        outcome.series.push_back({"test_error", point, "alpha", {alpha}, {errors.test.mean()}});
        outcome.series.push_back({"train_error", point, "alpha", {alpha}, {errors.train.mean()}});
      }
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  Table diagnostics() const override { return model_.diagnostics(); }
  std::vector<std::string> warnings() const override { return model_.warnings(); }

 private:
  /// M = alpha N, an integer exactly where it is one but for the rounding of alpha.
  double samples_at(double alpha) const {
    const double samples = alpha * inputs_;
    const double nearest = std::round(samples);
    const bool rounding =
        std::abs(samples - nearest) <= 2 * std::numeric_limits<double>::epsilon() * nearest;
    return rounding ? nearest : samples;
  }

  /// The realised ratios, and a logarithmic grid between the first and the last.
  std::vector<double> line() const {
    std::vector<double> alphas;
    for (const Index samples : sizes_) alphas.push_back(static_cast<double>(samples) / inputs_);
    const double low = alphas.front();
    const double high = alphas.back();
    for (int k = 1; k < kLinePoints && high > low; ++k) {
      alphas.push_back(low * std::pow(high / low, static_cast<double>(k) / kLinePoints));
    }
    std::sort(alphas.begin(), alphas.end());
    return alphas;
  }

  std::vector<Prediction> predictions(const std::vector<double>& alphas, double lambda) const {
    std::vector<double> samples;
    for (const double alpha : alphas) samples.push_back(samples_at(alpha));
    const std::vector<RidgePoint> curve = theory_.curve(samples, model_.absolute_lambda(lambda));

    const auto series = [&](const char* name, double RidgePoint::*value) {
      Prediction p{.series = {.name = name,
                              .point = {{"lambda", lambda}},
                              .x_name = "alpha",
                              .x = alphas,
                              .y = {}}};
      for (const RidgePoint& point : curve) {
        p.series.y.push_back(point.status == RidgeStatus::not_converged ? std::nan("")
                                                                        : point.*value);
      }
      return p;
    };
    Prediction test = series("test_error", &RidgePoint::test_error);
    Prediction train = series("train_error", &RidgePoint::train_error);
    // Far below the test error the training error is not described at leading order.
    constexpr double kSmallestTrainRatio = 1e-2;
    for (const RidgePoint& point : curve) {
      train.compared.push_back(point.train_error >= kSmallestTrainRatio * point.test_error);
      if (model_.from_data())
        continue;  // the margin on data is the claim itself, without allowances
      test.finite_size.push_back(point.finite_size_test);
      train.finite_size.push_back(point.finite_size_train);
    }
    return {std::move(test),
            std::move(train),
            series("bias", &RidgePoint::bias),
            series("sampling_variance", &RidgePoint::sampling_variance),
            series("noise_variance", &RidgePoint::noise_variance)};
  }

  GaussianModel model_;
  GaussianRidge theory_;
  double inputs_;  ///< N = L - 1
  std::vector<double> alphas_;
  std::vector<double> lambdas_;
  std::vector<Index> sizes_;  ///< realised numbers of samples M
};

std::unique_ptr<Experiment> make(Configuration& c) {
  GaussianModel model = GaussianModel::from(c);
  return std::make_unique<DoubleDescent>(std::move(model), c);
}

Figure figure(const Configuration& c) {
  const bool relative =
      c.has("model.lambda_unit") && c.text("model.lambda_unit") == "mean_eigenvalue";
  const std::string label =
      relative ? "{/:Italic λ} = {lambda} {/:Italic ℓ̄}" : "{/:Italic λ} = {lambda}";
  const Axis alpha{.label = "{/:Italic α} = {/:Italic M} / {/:Italic N}", .scale = AxisScale::log};
  Panel test{.x = alpha,
             .y = {.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log},
             .layers = {{.series = "test_error", .label = label}},
             .x_name = "alpha"};
  test.residuals = true;
  test.vertical_marks = {1.0};
  Panel train{.x = alpha,
              .y = {.label = "train error {/:Italic E}_{train}", .scale = AxisScale::log},
              .layers = {{.series = "train_error", .label = label}},
              .x_name = "alpha"};
  train.vertical_marks = {1.0};
  return {.name = "gauss-double-descent",
          .panels = {test, train},
          .columns = 1,
          .caption =
              "Ridge regression of every site on the others in Gaussian masked modelling: error "
              "against the number "
              "of samples per input. Lines: theory at leading order; points: simulation, mean and "
              "standard error over "
              "replicates; band: declared margin."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // On data the claim is that only the covariance matters (Gaussian universality): a coarser
  // statement than the asymptotics on Gaussian samples, where one per cent covers what the
  // allowance for finite size leaves.
  constexpr double kGaussianMargin = 0.01;
  constexpr double kDataMargin = 0.05;
  const double relative = c.text("model.covariance") == "data" ? kDataMargin : kGaussianMargin;
  return {{.series = "test_error", .relative = relative},
          {.series = "train_error", .relative = relative}};
}

/// Logarithmic grid as a configuration list.
List log_grid(double low, double high, int n) {
  List values;
  for (int k = 0; k < n; ++k)
    values.emplace_back(low * std::pow(high / low, static_cast<double>(k) / (n - 1)));
  return values;
}

}  // namespace

Study gauss_double_descent() {
  std::vector<Parameter> parameters = gaussian_model_parameters();
  parameters.push_back({.key = "sweep.alpha",
                        .type = ParameterType::real,
                        .fallback = Value(log_grid(0.2, 4, 12)),
                        .meaning = "samples per input, alpha = M / N with N = L - 1",
                        .list = true,
                        .range = {.low = 0, .low_open = true}});
  parameters.push_back({.key = "sweep.lambda",
                        .type = ParameterType::real,
                        .fallback = Value(List{1e-3, 0.1, 1.0}),
                        .meaning = "ridge penalty of the objective (1/2M) sum of squares + "
                                   "(lambda/2) |w|^2, in lambda_unit",
                        .list = true,
                        .range = {.low = 0}});
  parameters.push_back({.key = "sim.replicates",
                        .type = ParameterType::integer,
                        // The hardest point, lambda = 0.001 near alpha = 1.3, needs 700 to 1000.
                        .fallback = Value(std::int64_t{1200}),
                        .meaning = "independent data sets at every alpha; all lambda share them",
                        .range = {.low = 1, .high = 1e9}});
  return {
      .name = "gauss-double-descent",
      .question =
          "How many samples does ridge regression need to fill in a masked site of Gaussian "
          "sequences?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and samples; "
          "on data, "
          "everything beyond the covariance",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"train_error",
                  "E_train",
                  "mean squared error on the training samples, averaged over sites"},
                 {"bias", "B", "squared bias of the mean predictor (theory)"},
                 {"sampling_variance",
                  "B gamma/(1-gamma)",
                  "variance from the choice of inputs (theory)"},
                 {"noise_variance",
                  "sigma^2 gamma/(1-gamma)",
                  "variance from the sites' intrinsic noise (theory)"}},
      .presets =
          {{"quick", "the defaults: L = 60, 12 alpha, 3 lambda, 1200 replicates", {}},
           {"paper",
            "L = 400, 40 alpha, 3 lambda, 50 replicates",
            {{"model.sites", 400}, {"sweep.alpha", log_grid(0.2, 4, 40)}, {"sim.replicates", 50}}},
           {"demo",
            "handwritten digits (8 x 8 pixels) against the theory for Gaussian data of equal "
            "covariance",
            {{"model.covariance", "data"},
             {"model.file", "digits.csv"},
             {"model.sites", 61},
             {"sweep.alpha", log_grid(0.5, 8, 10)},
             {"sweep.lambda", List{0.1, 1.0, 10.0}},
             {"sim.replicates", 400}}}},
      .sources =
          {{"rende2024mapping",
            "Mapping of attention mechanisms to a generalized Potts model",
            "R. Rende, F. Gerace, A. Laio, S. Goldt",
            2024,
            "2304.07235",
            "setting: masked modelling with Gaussian data, ridge generalization error"},
           {"dobriban2018high",
            "High-dimensional asymptotics of prediction: ridge regression and classification",
            "E. Dobriban, S. Wager",
            2018,
            "1507.03003",
            "deterministic equivalents of ridge risk"},
           {"hastie2022surprises",
            "Surprises in high-dimensional ridgeless least squares interpolation",
            "T. Hastie, A. Montanari, S. Rosset, R. J. Tibshirani",
            2022,
            "1903.08560",
            "ridgeless limit, correlated features"}},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "sites",
  };
}

}  // namespace attica
