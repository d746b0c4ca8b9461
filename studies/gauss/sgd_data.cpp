/// @file
/// @brief Study gauss-sgd-data: test error of SGD with replacement on one fixed data set, against
/// the exact mean over the choice of batches.

#include <fmt/format.h>

#include "attica/studies/gauss/sgd_curves.hpp"

namespace attica::gauss_sgd_data {
namespace {

class DataCurves : public SgdCurves {
 public:
  explicit DataCurves(Configuration& c) : SgdCurves(c) {
    constexpr double kMostSites = 101;
    const auto sites = static_cast<double>(model().problem().sites());
    require(sites <= kMostSites,
            "model.sites",
            sites,
            fmt::format("at most {}, a step of the theory costs M L^3", kMostSites));
    RandomStream stream({.seed = static_cast<std::uint64_t>(c.integer("sim.seed"))});
    data_ = model().samples(c.integer("model.samples"), stream);
  }

 protected:
  std::vector<double> errors(const SgdRule& rule,
                             const std::vector<std::int64_t>& steps) const override {
    return data_sgd_errors(model().problem(), data_, rule.parameters, steps);
  }

  std::optional<double> limit(const SgdRule&) const override { return std::nullopt; }

  std::optional<std::string> instability(const SgdRule& rule) const override {
    if (data_sgd_stable(data_, rule.parameters)) return std::nullopt;
    return "a smaller learning rate";
  }

  SampleSource source(RandomStream& stream) const override {
    return resampling_source(data_, stream);
  }

 private:
  Eigen::MatrixXd data_;
};

Figure figure(const Configuration&) {
  return sgd_figure(
      "gauss-sgd-data",
      "Stochastic gradient descent with replacement on one data set of Gaussian masked modelling: "
      "test error, averaged over sites, against the number of steps. Lines: exact mean over the "
      "choice of batches; points: simulation, mean and standard error over runs; band: declared "
      "margin.");
}

std::vector<AgreementRule> agreement(const Configuration&) {
  // Exact for any data: the margins are what the runs resolve, of late times their mean.
  constexpr double kOneStep = 0.01;
  constexpr double kLate = 0.002;
  return {{.series = "test_error", .relative = kOneStep},
          {.series = "late_error", .relative = kLate}};
}

}  // namespace

Study study() {
  constexpr double kMostSamples = 1e6;
  return {
      .name = "gauss-sgd-data",
      .question = "What does SGD make of a data set that it sees again and again?",
      .neglects =
          "nothing, for any data: the mean over batches drawn with replacement is exact. Epochs "
          "without replacement are another rule",
      .parameters =
          together({gaussian_model_parameters(20),
                    {integer_parameter("model.samples",
                                       30,
                                       "samples M of the data set, drawn from sim.seed",
                                       {.low = 1, .high = kMostSamples})},
                    sgd_sweep({0.01, 0.03}, {1, 8}),
                    {steps_parameter(log_steps(1000, 16)),
                     allow_unstable_parameter(),
                     replicates_parameter(2000, "runs on the same data set with other batches")}}),
      .series = {test_error_info(), late_error_info(), divergence_step_info()},
      .presets = {{"quick",
                   "the defaults: L = 20, M = 30, 2 eta, 2 batch sizes, 1000 steps, 2000 runs",
                   {}},
                  {"paper",
                   "L = 60, M = 90, 2 eta, 2 batch sizes, 1000 steps, 1000 runs",
                   {{"model.sites", 60},
                    {"model.samples", 90},
                    {"sweep.eta", List{0.003, 0.01}},
                    {"sim.steps", log_steps(1000, 24)},
                    {"sim.replicates", 1000}}}},
      .sources = sgd_sources(),
      .make = make<DataCurves>,
      .figure = figure,
      .agreement = agreement,
      .recipes = {{.name = "gauss-sgd-data-standardised",
                   .meaning = "90 digits with pixels of unit variance, on which gauss-sgd fails: "
                              "this theory takes the samples as they are.",
                   .values = {{"model.covariance", "data"},
                              {"model.file", "digits.csv"},
                              {"model.standardise", true},
                              {"model.samples", 90},
                              {"sweep.eta", List{0.01}},
                              {"sweep.batch", List{8}},
                              {"sim.replicates", 200}},
                   .expected = Verdict::agree}},
      .plants = {{.name = "correlation",
                  .values = {{"model.rho", 0.714}},
                  .meaning = "neighbours' correlation taken 2 % too large, data set included"},
                 {.name = "late_error",
                  .series = "late_error",
                  .factor = 1.02,
                  .meaning = "noise of single samples a few per cent too strong at late times"},
                 {.name = "test_error",
                  .series = "test_error",
                  .factor = 1.02,
                  .meaning = "an error 2 % too large"},
                 {.name = "one_sample_more",
                  .values = {{"model.samples", 31}},
                  .meaning = "a data set of one sample more"}},
      .diagnostic = {"divergence_step"}};
}

}  // namespace attica::gauss_sgd_data
