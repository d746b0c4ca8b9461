/// @file
/// @brief Study gauss-sgd: test error of online stochastic gradient descent in Gaussian masked
/// modelling, step by step, against its exact moments.

#include <fmt/format.h>

#include "attica/studies/gauss/sgd_curves.hpp"

namespace attica::gauss_sgd {
namespace {

class OnlineCurves : public SgdCurves {
 public:
  explicit OnlineCurves(Configuration& c) : SgdCurves(c), sgd_(model().problem()) {}

 protected:
  std::vector<double> errors(const SgdRule& rule,
                             const std::vector<std::int64_t>& steps) const override {
    return sgd_.errors(rule.parameters, steps);
  }

  std::optional<double> limit(const SgdRule& rule) const override {
    if (rule.parameters.lambda > 0) return std::nullopt;
    return sgd_.steady(rule.parameters).error;
  }

  std::optional<std::string> instability(const SgdRule& rule) const override {
    const double largest = stable_eta(sgd_, rule, model());
    if (rule.eta < largest) return std::nullopt;
    return fmt::format("eta < {:.6g}", largest);
  }

  SampleSource source(RandomStream& stream) const override {
    return fresh_samples(model(), stream);
  }

 private:
  OnlineSgd sgd_;
};

Figure figure(const Configuration&) {
  return sgd_figure(
      "gauss-sgd",
      "Online stochastic gradient descent of linear attention in Gaussian masked modelling: test "
      "error, averaged over sites, against the number of steps. Lines: exact second moments; "
      "points: simulation, mean and standard error over replicates; dashed: the error at which it "
      "settles; band: declared margin.");
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Single samples at a large rate make errors of long tails: 1 % would take ten times the runs.
  constexpr double kMargin = 0.02;
  // The mean over half of a run scatters less.
  constexpr double kLate = 0.005;
  return {{.series = "test_error", .relative = sgd_margin(c, kMargin)},
          {.series = "late_error", .relative = sgd_margin(c, kLate)}};
}

}  // namespace

Study study() {
  return {
      .name = "gauss-sgd",
      .question = "How fast, and how far, does online SGD learn to fill in a masked site?",
      .neglects =
          "nothing on Gaussian data, at any size, step or learning rate; on data, the moments of "
          "fourth order beyond the covariance",
      .parameters = together(
          {gaussian_model_parameters(20),
           sgd_sweep({0.01, 0.03}, {1, 8}),
           {steps_parameter(log_steps(1000, 16)),
            mask_probability_parameter(),
            real_parameter("sim.lambda",
                           0.0,
                           "weight decay lambda of every step, in lambda_unit",
                           kNotNegative),
            allow_unstable_parameter(),
            replicates_parameter(1000, "independent runs of every learning rate and batch")}}),
      .series = {test_error_info(),
                 late_error_info(),
                 {"steady_error",
                  "sigma^2/(1-chi)",
                  "test error at late times, averaged over sites (theory, without decay)"},
                 divergence_step_info()},
      .presets = {{"quick",
                   "the defaults: L = 20, 2 eta, 2 batch sizes, 1000 steps, 1000 runs",
                   {}},
                  {"paper",
                   "L = 200, 2 eta, 2 batch sizes, 100000 steps, 100 runs",
                   {{"model.sites", 200},
                    {"sweep.eta", List{1e-3, 4e-3}},
                    {"sim.steps", log_steps(100000, 31)},
                    {"sim.replicates", 100}}}},
      .sources = sgd_sources(),
      .make = make<OnlineCurves>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "correlation",
                  .values = {{"model.rho", 0.714}},
                  .meaning = "neighbours' correlation taken 2 % too large"},
                 {.name = "late_error",
                  .series = "late_error",
                  .factor = 1.02,
                  .meaning = "noise of single samples a few per cent too strong at late times"},
                 {.name = "test_error",
                  .series = "test_error",
                  .factor = 1.05,
                  .meaning = "an error 5 % too large"},
                 {.name = "masks",
                  .values = {{"sim.mask_probability", 0.9}},
                  .meaning = "every tenth site not learnt from"}},
      .renamed = {{"sim.decay", "sim.lambda"}},
      .diagnostic = {"divergence_step"}};
}

}  // namespace attica::gauss_sgd
