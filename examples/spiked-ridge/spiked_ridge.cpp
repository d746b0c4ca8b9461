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

#include <cmath>

#include "attica/app/command/program.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/studies/kit.hpp"

using namespace attica;

struct SpikedRidge : PointwiseExperiment {
  explicit SpikedRidge(const Configuration& configuration) : c(configuration) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const double lambda : lambdas) {
      Curves errors = curve(lambda);
      for (const double alpha : sizes.alphas(grid)) {
        const double b = (lambda + 1 / alpha - 1) / 2, kappa = b + std::sqrt(b * b + lambda);
        const double gamma = 1 / (alpha * (1 + kappa) * (1 + kappa));
        const auto bias = [&](double e) { return e * std::pow(kappa / (e + kappa), 2); };
        const double signal = a * bias(1 + spike) + (1 - a) * bias(1);
        // PredictedValue(value, allowance) would add what the theory is known to neglect at this
        // size: as measured at p = 30 to 150, at most 1.1 value / (n (1 - gamma)). The margin could
        // be 1 %.
        errors.add(alpha, {PredictedValue((noise * noise + signal) / (1 - gamma))});
      }
      errors.into(result);
    }
    return result;
  }

  // A point is a number of samples; a replicate is a data set, fitted with every penalty.
  std::size_t points() const override { return sizes.count(); }
  // Operations of a replicate, roughly. As many replicates as take about a second make a piece of
  // work: what threads take in turn, and what --resume finds again after an interruption.
  double flops(std::size_t) const override { return 1e8; }

  // The spike lies along the first axis and the rest of w along the second: no loss of generality.
  // Inputs and y are F z of independent z; to attica, y is one more site.
  Outcome run(const Replicate& replicate) const override {
    Eigen::MatrixXd f = Eigen::MatrixXd::Identity(inputs + 1, inputs + 1);
    f(0, 0) = std::sqrt(1 + spike);
    f.row(inputs).head(2) << std::sqrt(a) * f(0, 0), std::sqrt(1 - a);
    f(inputs, inputs) = noise;
    RandomStream stream = replicate.stream();
    const RidgeFits fits(gaussian_samples(f, true, sizes[replicate.point()], stream), f);
    Outcome outcome;
    for (const double lambda : lambdas) {
      const double error = fits.fit(lambda).test(inputs);
      curve(lambda).add(sizes.alpha(replicate.point()), {PredictedValue(error)}).into(outcome);
    }
    return outcome;
  }

  static Curves curve(double lambda) { return {{{"lambda", lambda}}, "alpha", {"test_error"}}; }

  Configuration c;
  Eigen::Index inputs = c.integer("model.inputs");
  double spike = c.real("model.spike"), noise = c.real("model.noise");
  double a = c.real("model.alignment");
  std::vector<double> lambdas = c.reals("sweep.lambda");
  SampleSizes sizes{c.reals("sweep.alpha"), static_cast<double>(inputs), 1e7, "sweep.alpha"};
};

Figure figure(const Configuration&) {
  return {.name = "spiked-ridge",
          .panels = {{.x = {.label = "samples per input {/:Italic α}", .scale = AxisScale::log},
                      .y = {.label = "test error {/:Italic E}", .scale = AxisScale::log},
                      .layers = {{.series = "test_error", .label = "{/:Italic λ} = {lambda}"}},
                      .x_name = "alpha",
                      .residuals = true}},
          .caption =
              "Ridge regression on inputs with one strong direction. Lines: theory; points: "
              "simulation, mean and standard error; band: declared margin."};
}

const Study kStudy = {
    .name = "spiked-ridge",
    .question = "What does one strong direction of the inputs do to ridge regression?",
    .approximation =
        "corrections of relative order 1/p, among them that of the spike to the traces",
    .parameters =
        {integer_parameter("model.inputs", 150, "number of inputs p", {.low = 2, .high = 20000}),
         real_parameter("model.spike", 10, "s: the spike has variance 1 + s", kNotNegative),
         real_parameter("model.alignment", 0.5, "a = (v.w)^2 of the spike", {.low = 0, .high = 1}),
         real_parameter("model.noise", 0.5, "standard deviation sigma of the noise", kNotNegative),
         reals_parameter("sweep.lambda", {0.05, 0.5}, "ridge penalties", kPositive),
         reals_parameter("sweep.alpha", {0.5, 0.7, 1, 1.5, 2.5, 5}, "samples per input", kPositive),
         replicates_parameter(1000, "independent data sets at every alpha")},
    .series = {{"test_error", "E", "population mean squared error, noise included"}},
    .presets = {{"quick", "the defaults: p = 150, 1000 data sets", {}}},
    .sources = {cited("dobriban2018high", "test error of ridge regression, any covariance")},
    .make = make<SpikedRidge>,
    .figure = figure,
    // 5 %. Corrections are of relative order 1/n: at p = 100 and n = 50 they are 2 %, here less.
    .agreement = [](const Configuration&) { return rules({"test_error"}, {}); },
    .size_coordinate = "inputs",
    // At p = 4 the neglected corrections are larger than the margin, and seen.
    .reference_runs = {{.name = "spiked-ridge-small",
                        .meaning = "With 4 inputs the limit of many inputs is not reached.",
                        .values = {{"model.inputs", 4}, {"sim.replicates", 20000}}}}};

int main(int argc, char** argv) { return app::program(argc, argv, {kStudy}); }
