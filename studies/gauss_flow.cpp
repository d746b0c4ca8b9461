/// @file
/// @brief Study gauss-flow: test and training error of full-batch gradient flow in Gaussian masked
/// modelling against the training time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/gaussian_flow.hpp"
#include "attica/studies/gaussian_model.hpp"
#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"
#include "attica/theory/gaussian_flow.hpp"
#include "attica/theory/population_flow.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Times of a smooth theory line, besides the recorded ones.
constexpr int kLineTimes = 60;

class FlowCurves : public Experiment {
 public:
  explicit FlowCurves(Configuration& c)
      : model_(GaussianModel::from(c)),
        flow_(model_.problem()),
        ridge_(model_.problem()),
        alphas_(c.reals("sweep.alpha")),
        times_(c.reals("sim.times")) {
    for (const double alpha : alphas_) sizes_.push_back(realised_samples(alpha, inputs()));
    std::sort(sizes_.begin(), sizes_.end());
    sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> alphas = alphas_;
    std::vector<double> times = times_;
    if (grid == TheoryGrid::run) {
      alphas.clear();
      for (const Index size : sizes_) alphas.push_back(static_cast<double>(size) / inputs());
      const auto first = std::find_if(times_.begin(), times_.end(), [](double t) { return t > 0; });
      if (first != times_.end() && *first < times_.back()) {
        const std::vector<double> line = log_grid(*first, times_.back(), kLineTimes);
        times.insert(times.end(), line.begin() + 1, line.end() - 1);
        std::sort(times.begin(), times.end());
      }
    }
    std::vector<ResidualFilter> filters;
    for (const double time : times) filters.push_back(flow_filter(absolute(time)));
    TheoryResult result;
    for (const double alpha : alphas) {
      const double samples = alpha * inputs();
      require(samples >= 1, "sweep.alpha", alpha, "alpha (L - 1) >= 1, at least one sample");
      add_curves(alpha, samples, times, filters, result);
    }
    const MatrixXd population = population_errors(
        model_.problem(),
        {.attention = MatrixXd::Zero(model_.problem().sites(), model_.problem().sites())},
        filters);
    const Eigen::RowVectorXd mean = population.colwise().mean();
    result.predictions.push_back({.series = {.name = "population_error",
                                             .point = {},
                                             .x_name = "time",
                                             .x = times,
                                             .y = {mean.begin(), mean.end()}}});
    return result;
  }

  std::size_t points() const override { return sizes_.size(); }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    // An eigendecomposition and two products with all times for every site.
    constexpr double kFlopsPerPiece = 2e8;
    constexpr double kDecomposition = 10;
    constexpr double kMostReplicates = 50;
    const auto l = static_cast<double>(model_.problem().sites());
    const double small = std::min(l, static_cast<double>(sizes_[point]));
    const double flops =
        l * l *
        (kDecomposition * small * small + 4 * static_cast<double>(times_.size()) * small + l);
    return static_cast<std::uint64_t>(
        std::clamp(std::floor(kFlopsPerPiece / flops), 1.0, kMostReplicates));
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    std::vector<double> times;
    for (const double time : times_) times.push_back(absolute(time));
    const Index samples = sizes_[piece.point];
    const Point point{{"alpha", static_cast<double>(samples) / inputs()}};
    return each_replicate(piece, [&](std::uint64_t replicate) -> Outcome {
      RandomStream stream(piece.stream(replicate));
      const TrainingErrors errors =
          gradient_flow(model_.problem(), model_.samples(samples, stream), times);
      const auto curve = [&](const char* name, const MatrixXd& of) {
        const Eigen::RowVectorXd mean = of.colwise().mean();
        return Series{.name = name,
                      .point = point,
                      .x_name = "time",
                      .x = times_,
                      .y = {mean.begin(), mean.end()}};
      };
      return {.series = {curve("test_error", errors.test), curve("train_error", errors.train)}};
    });
  }

  Table diagnostics() const override { return model_.diagnostics(); }
  std::vector<std::string> warnings() const override { return model_.warnings(); }

 private:
  double inputs() const { return static_cast<double>(model_.problem().sites() - 1); }
  double absolute(double time) const { return time / model_.absolute_lambda(1); }

  void add_curves(double alpha,
                  double samples,
                  const std::vector<double>& times,
                  const std::vector<ResidualFilter>& filters,
                  TheoryResult& result) const {
    // Below this share of the test error the training error is not described at leading order.
    constexpr double kSmallestTrainRatio = 1e-2;
    const Point point{{"alpha", alpha}};
    Prediction test{
        .series = {.name = "test_error", .point = point, .x_name = "time", .x = times, .y = {}}};
    Prediction train{
        .series = {.name = "train_error", .point = point, .x_name = "time", .x = times, .y = {}}};
    const std::vector<FlowPoint> curve = flow_.average(samples, filters);
    std::size_t rough = 0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      test.series.y.push_back(curve[k].test_error);
      train.series.y.push_back(curve[k].train_error);
      // At time 0 nothing has been learnt.
      test.compared.push_back(times[k] > 0);
      train.compared.push_back(times[k] > 0 &&
                               curve[k].train_error >= kSmallestTrainRatio * curve[k].test_error);
      for (Prediction* p : {&test, &train}) p->numerical_error.push_back(curve[k].numerical_error);
      if (curve[k].status != FlowStatus::converged) ++rough;
      if (model_.from_data()) continue;  // there the margin is the claim itself
      // Stopping at time t smooths as the penalty 1/t does.
      const RidgePoint alike =
          times[k] > 0 ? ridge_.average(samples, 1 / absolute(times[k])) : RidgePoint{};
      test.finite_size.push_back(alike.finite_size_test);
      train.finite_size.push_back(alike.finite_size_train);
    }
    if (rough > 0) {
      result.warnings.push_back(fmt::format(
          "alpha = {}: the contour integral has not settled to 1e-9 at {} of {} times; the "
          "remaining error is part of the margin",
          alpha,
          rough,
          times.size()));
    }
    result.predictions.push_back(std::move(test));
    result.predictions.push_back(std::move(train));
    const RidgePoint ridgeless = ridge_.average(samples, 0);
    if (ridgeless.status != RidgeStatus::converged) return;
    result.predictions.push_back({.series = {.name = "ridgeless_error",
                                             .point = point,
                                             .x_name = "none",
                                             .x = {0},
                                             .y = {ridgeless.test_error}}});
  }

  GaussianModel model_;
  GaussianFlow flow_;
  GaussianRidge ridge_;
  std::vector<double> alphas_;
  std::vector<double> times_;  ///< rising
  std::vector<Index> sizes_;   ///< realised numbers of samples M
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<FlowCurves>(c); }

Figure figure(const Configuration& c) {
  const Axis time{.label = "training time {/:Italic t}", .scale = AxisScale::log};
  const char* label = "{/:Italic α} = {alpha}";
  Panel test{
      .x = time,
      .y = {.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log},
      .layers = {{.series = "test_error", .label = label},
                 {.series = "ridgeless_error", .label = "ridgeless", .reference = true},
                 {.series = "population_error", .label = "infinite data", .reference = true}},
      .x_name = "time"};
  test.residuals = true;
  // Beneath, the theory is not compared.
  constexpr double kSmallestTrain = 1e-3;
  Panel train{.x = time,
              .y = {.label = "train error {/:Italic E}_{train}",
                    .scale = AxisScale::log,
                    .low = kSmallestTrain},
              .layers = {{.series = "train_error", .label = label}},
              .x_name = "time"};
  // Sites of unit variance: no train error above 1.
  const std::string family = c.text("model.covariance");
  if (family == "ar1" || family == "equi") train.y.high = 1;
  return {.name = "gauss-flow",
          .panels = {test, train},
          .columns = 1,
          .caption =
              "Gradient flow of linear attention on fixed samples of Gaussian masked modelling: "
              "error, averaged over sites, against the training time. Lines: random-matrix theory; "
              "points: simulation, mean and standard error over data sets; dashed: the ridgeless "
              "limit of late times, and flow on infinitely many samples; band: declared margin."};
}

}  // namespace

Study gauss_flow() {
  std::vector<Parameter> parameters = gaussian_model_parameters(61);  // 60 inputs
  parameters.push_back(alpha_parameter({0.5, 1.0, 2.5}));
  parameters.push_back(
      reals_parameter("sim.times",
                      log_grid(0.1, 300, 12),
                      "recorded training times of dw/dt = -gradient of (1/2M) sum of "
                      "squares, in 1/lambda_unit",
                      kNotNegative));
  parameters.push_back(
      integer_parameter("sim.replicates",
                        std::int64_t{400},
                        "independent data sets of every size; all times share them"));
  std::vector<Source> sources = ridge_sources();
  sources.push_back({"ali2019continuous",
                     "A Continuous-Time View of Early Stopping for Least Squares Regression",
                     "A. Ali, J. Z. Kolter, R. J. Tibshirani",
                     2019,
                     "1810.10082",
                     "gradient flow against ridge at lambda = 1/t"});
  return {
      .name = "gauss-flow",
      .question = "When should training on few Gaussian sequences stop?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and samples, "
          "gamma that of ridge regression at lambda = 1/t; on data, everything beyond the "
          "covariance",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"train_error",
                  "E_train",
                  "mean squared error on the training samples, averaged over sites"},
                 {"population_error", "E", "error of flow on infinitely many samples (theory)"},
                 {"ridgeless_error",
                  "E_test(lambda -> 0)",
                  "test error at late times; none at M = N, where it diverges (theory)"}},
      .presets = {{"quick", "the defaults: L = 61, 3 alpha, 12 times, 400 replicates", {}},
                  {"paper",
                   "L = 301, 3 alpha, 30 times, 30 replicates",
                   {{"model.sites", 301},
                    {"sim.times", log_grid(0.03, 300, 30)},
                    {"sim.replicates", 30}}}},
      .sources = std::move(sources),
      .make = make,
      .figure = figure,
      .agreement = ridge_agreement,
  };
}

}  // namespace attica
