/// @file
/// @brief Study gauss-sgd-data: test error of SGD with replacement on one fixed data set, against
/// the exact mean over the choice of batches.

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/error.hpp"
#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/sgd_curves.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

class DataSgd : public SgdCurves {
 public:
  static std::unique_ptr<Experiment> make(Configuration& c) {
    GaussianModel model = GaussianModel::from(c);
    constexpr Index kMostSites = 101;
    if (model.problem().sites() > kMostSites) {
      throw invalid_parameter(
          "model.sites",
          static_cast<double>(model.problem().sites()),
          fmt::format("at most {}, a step of the theory costs M L^3", kMostSites));
    }
    std::vector<SgdRule> rules = sgd_rules(c, model);
    return std::unique_ptr<Experiment>(new DataSgd(c, std::move(model), std::move(rules)));
  }

 protected:
  std::vector<double> errors(const SgdRule& rule,
                             const std::vector<std::int64_t>& steps) const override {
    const Index sites = model().problem().sites();
    std::vector<double> mean(steps.size(), 0.0);
    for (Index i = 0; i < sites; ++i) {
      const std::vector<double> one =
          data_sgd_errors(model().problem(), i, data_, rule.parameters, steps);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += one[k] / static_cast<double>(sites);
    }
    return mean;
  }

  std::optional<double> limit(const SgdRule&) const override { return std::nullopt; }

  std::optional<std::string> instability(const SgdRule& rule) const override {
    double growth = 0;
    for (Index i = 0; i < data_.cols() && growth < 1; ++i) {
      growth = std::max(growth, data_sgd_growth(data_, i, rule.parameters));
    }
    if (growth < 1) return std::nullopt;
    return "a smaller learning rate";
  }

  SampleSource source(RandomStream& stream) const override {
    return resampling_source(data_, stream);
  }

 private:
  DataSgd(const Configuration& c, GaussianModel model, std::vector<SgdRule> rules)
      : SgdCurves(c, std::move(model), std::move(rules)) {
    RandomStream stream({.seed = static_cast<std::uint64_t>(c.integer("sim.seed"))});
    data_ = this->model().samples(c.integer("model.samples"), stream);
  }

  MatrixXd data_;
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
  constexpr double kMargin = 0.02;  // exact for any data
  return {{.series = "test_error", .relative = kMargin}};
}

}  // namespace

Study gauss_sgd_data() {
  std::vector<Parameter> parameters = gaussian_model_parameters(20);
  constexpr double kMostSamples = 1e6;
  parameters.push_back(integer_parameter("model.samples",
                                         std::int64_t{30},
                                         "samples M of the data set, drawn from sim.seed",
                                         {.low = 1, .high = kMostSamples}));
  parameters.push_back(eta_parameter({0.01, 0.03}));
  parameters.push_back(batch_parameter({1, 8}));
  parameters.push_back(steps_parameter(log_steps(1000, 16)));
  parameters.push_back(allow_unstable_parameter());
  parameters.push_back(runs_parameter(1000, "runs on the same data set with other batches"));
  return {
      .name = "gauss-sgd-data",
      .question = "What does SGD make of a data set that it sees again and again?",
      .neglects =
          "nothing, for any data: the mean over batches drawn with replacement is exact. "
          "Epochs without replacement are another rule",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"divergence_step",
                  "n_div",
                  "step in which an unstable run left the finite numbers (simulation)"}},
      .presets =
          {{"quick",
            "the defaults: L = 20, M = 30, 2 eta, 2 batch sizes, 1000 steps, 1000 runs",
            {}},
           {"paper",
            "L = 60, M = 90, 2 eta, 2 batch sizes, 1000 steps, 1000 runs",
            {{"model.sites", 60}, {"model.samples", 90}, {"sim.steps", log_steps(1000, 24)}}}},
      .sources = sgd_sources(),
      .make = &DataSgd::make,
      .figure = figure,
      .agreement = agreement,
  };
}

}  // namespace attica
