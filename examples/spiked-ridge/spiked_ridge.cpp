/// @file
/// @brief A study of your own, in one file outside attica: ridge regression on inputs whose
/// covariance has one strong direction, which may carry the signal.
///
/// Model: x ~ N(0, Sigma) in p dimensions, Sigma = 1 + s v v^T with |v| = 1; y = w.x + noise of
/// variance sigma^2; |w| = 1 and (v.w)^2 = a. From n samples, w_hat = argmin |y - X w|^2 / n +
/// lambda |w|^2.
///
/// Theory: as p and n grow with phi = p/n fixed, ridge regression acts as if every eigenvalue e of
/// Sigma were shrunk by e / (e + kappa), where kappa solves kappa (1 - tr[Sigma (Sigma + kappa)^-1]
/// / n) = lambda, and the test error is
///   E = (sigma^2 + kappa^2 w^T Sigma (Sigma + kappa)^-2 w) / (1 - tr[Sigma^2 (Sigma + kappa)^-2] /
///   n)
/// (Dobriban and Wager 2018, arXiv:1507.03003; Hastie, Montanari, Rosset and Tibshirani 2022,
/// arXiv:1903.08560). One eigenvalue among p does not count in the traces, so kappa solves a
/// quadratic.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstdint>

#include "attica/app/program.hpp"
#include "attica/core/random.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/study.hpp"

namespace {

using attica::Configuration;
using attica::integer_parameter;
using attica::kNotNegative;
using attica::kPositive;
using attica::real_parameter;
using attica::reals_parameter;
using attica::replicates_parameter;
using attica::Series;

class SpikedRidge : public attica::Experiment {
 public:
  explicit SpikedRidge(const Configuration& c)
      : inputs_(c.integer("model.inputs")),
        spike_(c.real("model.spike")),
        alignment_(c.real("model.alignment")),
        noise_(c.real("model.noise")),
        lambdas_(c.reals("sweep.lambda")),
        ratios_(c.reals("sweep.alpha")) {}

  attica::TheoryResult theory(attica::TheoryGrid) const override {
    attica::TheoryResult result;
    for (const double lambda : lambdas_) {
      Series curve = empty_curve(lambda);
      for (const double ratio : ratios_) add(curve, ratio, predicted(lambda, samples(ratio)));
      result.predictions.push_back({.series = std::move(curve)});
    }
    return result;
  }

  // A point is a number of samples; a replicate is a data set, fitted with every penalty.
  std::size_t points() const override { return ratios_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 20; }

  std::vector<attica::Outcome> simulate(const attica::Piece& piece) const override {
    return attica::each_replicate(piece, [&](std::uint64_t replicate) {
      attica::RandomStream stream(piece.stream(replicate));
      return fit(ratios_[piece.point], stream);
    });
  }

 private:
  static Series empty_curve(double lambda) {
    return {
        .name = "test_error", .point = {{"lambda", lambda}}, .x_name = "alpha", .x = {}, .y = {}};
  }
  static void add(Series& curve, double x, double y) {
    curve.x.push_back(x);
    curve.y.push_back(y);
  }
  Eigen::Index samples(double ratio) const {
    return std::max<Eigen::Index>(1, std::lround(ratio * static_cast<double>(inputs_)));
  }

  double predicted(double lambda, Eigen::Index n) const {
    const double phi = static_cast<double>(inputs_) / static_cast<double>(n);
    const double b = lambda + phi - 1;
    const double kappa = (b + std::sqrt(b * b + 4 * lambda)) / 2;
    const double gamma = phi / ((1 + kappa) * (1 + kappa));
    const auto bias = [&](double e) { return kappa * kappa * e / ((e + kappa) * (e + kappa)); };
    return (noise_ * noise_ + alignment_ * bias(1 + spike_) + (1 - alignment_) * bias(1)) /
           (1 - gamma);
  }

  // The spike lies along the first axis and the rest of w along the second: no loss of generality.
  attica::Outcome fit(double ratio, attica::RandomStream& stream) const {
    const Eigen::Index n = samples(ratio);
    Eigen::MatrixXd x(n, inputs_);
    Eigen::VectorXd y(n);
    stream.fill_normal({x.data(), static_cast<std::size_t>(x.size())});
    stream.fill_normal({y.data(), static_cast<std::size_t>(y.size())});
    x.col(0) *= std::sqrt(1 + spike_);
    Eigen::VectorXd w = Eigen::VectorXd::Zero(inputs_);
    w(0) = std::sqrt(alignment_);
    w(1) = std::sqrt(1 - alignment_);
    y = x * w + noise_ * y;
    const double scale = 1 / static_cast<double>(n);
    const Eigen::MatrixXd gram = scale * x.transpose() * x;
    const Eigen::VectorXd moment = scale * x.transpose() * y;
    attica::Outcome outcome;
    for (const double lambda : lambdas_) {
      Eigen::MatrixXd penalised = gram;
      penalised.diagonal().array() += lambda;
      Eigen::VectorXd error = penalised.llt().solve(moment) - w;
      error(0) *= std::sqrt(1 + spike_);
      Series curve = empty_curve(lambda);
      add(curve, ratio, noise_ * noise_ + error.squaredNorm());
      outcome.series.push_back(std::move(curve));
    }
    return outcome;
  }

  Eigen::Index inputs_;
  double spike_;
  double alignment_;
  double noise_;
  std::vector<double> lambdas_;
  std::vector<double> ratios_;
};

attica::Figure figure(const Configuration&) {
  attica::Panel panel{
      .x = {.label = "samples per input {/:Italic α}", .scale = attica::AxisScale::log},
      .y = {.label = "test error {/:Italic E}", .scale = attica::AxisScale::log},
      .layers = {{.series = "test_error", .label = "{/:Italic λ} = {lambda}"}},
      .x_name = "alpha"};
  panel.residuals = true;
  return {.name = "spiked-ridge",
          .panels = {panel},
          .columns = 1,
          .caption =
              "Ridge regression on inputs with one strong direction. Lines: theory; points: "
              "simulation, mean and standard error; band: declared margin."};
}

// Corrections are of relative order 1/n: at p = 100 and n = 50 they are 2 %, at the default p less.
std::vector<attica::AgreementRule> agreement(const Configuration&) {
  return {{.series = "test_error", .relative = 0.05}};
}

attica::Study spiked_ridge() {
  return {
      .name = "spiked-ridge",
      .question = "What does one strong direction of the inputs do to ridge regression?",
      .neglects = "corrections of relative order 1/p, among them that of the spike to the traces",
      .parameters =
          {integer_parameter("model.inputs", 150, "number of inputs p", {.low = 2, .high = 20000}),
           real_parameter("model.spike",
                          10,
                          "s: the strong direction has variance 1 + s, all others 1",
                          kNotNegative),
           real_parameter("model.alignment",
                          0.5,
                          "squared cosine a between the signal and the strong direction",
                          {.low = 0, .high = 1}),
           real_parameter(
               "model.noise", 0.5, "standard deviation sigma of the noise", kNotNegative),
           reals_parameter("sweep.lambda", {0.05, 0.5}, "ridge penalties", kPositive),
           reals_parameter(
               "sweep.alpha", {0.5, 0.7, 1.0, 1.5, 2.5, 5.0}, "samples per input n/p", kPositive),
           replicates_parameter(1000, "independent data sets at every alpha")},
      .series = {{"test_error", "E", "population mean squared error, noise included"}},
      .presets = {{"quick", "the defaults: p = 150, 1000 data sets", {}}},
      .sources =
          {{"dobriban2018",
            "High-dimensional asymptotics of prediction: ridge regression and classification",
            "Dobriban and Wager",
            2018,
            "1507.03003",
            "the test error of ridge regression for a general covariance"}},
      .make = [](Configuration& c) -> std::unique_ptr<attica::Experiment> {
        return std::make_unique<SpikedRidge>(c);
      },
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "inputs",
      // At p = 4 the neglected corrections are larger than the margin, and seen.
      .recipes = {{.name = "spiked-ridge-small",
                   .meaning = "With 4 inputs the limit of many inputs is not reached.",
                   .values = {{"model.inputs", std::int64_t{4}},
                              {"sim.replicates", std::int64_t{20000}}}}},
  };
}

}  // namespace

int main(int argc, char** argv) { return attica::app::program(argc, argv, {spiked_ridge()}); }
