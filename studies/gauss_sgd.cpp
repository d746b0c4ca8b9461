/// @file
/// @brief Study gauss-sgd: test error of online stochastic gradient descent in Gaussian masked
/// modelling, step by step, against its exact moments.

#include <fmt/format.h>

#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/sgd_curves.hpp"

namespace attica {
namespace {

class OnlineSgd : public SgdCurves {
 public:
  static std::unique_ptr<Experiment> make(Configuration& c) {
    GaussianModel model = GaussianModel::from(c);
    std::vector<SgdRule> rules =
        sgd_rules(c, model, c.real("sim.mask_probability"), c.real("sim.decay"));
    return std::unique_ptr<Experiment>(new OnlineSgd(c, std::move(model), std::move(rules)));
  }

 protected:
  std::vector<double> errors(const SgdRule& rule,
                             const std::vector<std::int64_t>& steps) const override {
    std::vector<double> mean(steps.size(), 0.0);
    for (const SiteRegression& site : sites_) {
      const std::vector<double> one = online_sgd_errors(site, rule.parameters, steps);
      for (std::size_t k = 0; k < mean.size(); ++k) {
        mean[k] += one[k] / static_cast<double>(sites_.size());
      }
    }
    return mean;
  }

  std::optional<double> limit(const SgdRule& rule) const override {
    if (rule.parameters.decay > 0) return std::nullopt;
    double mean = 0;
    for (const SiteRegression& site : sites_) {
      mean += online_sgd_steady(site, rule.parameters).error / static_cast<double>(sites_.size());
    }
    return mean;
  }

  std::optional<std::string> instability(const SgdRule& rule) const override {
    const double eta_max = smallest_eta_max(sites_, rule, model());
    if (rule.eta < eta_max) return std::nullopt;
    return fmt::format("eta < {:.6g}", eta_max);
  }

  SampleSource source(RandomStream& stream) const override {
    return fresh_samples(model(), stream);
  }

 private:
  OnlineSgd(const Configuration& c, GaussianModel model, std::vector<SgdRule> rules)
      : SgdCurves(c, std::move(model), std::move(rules)),
        sites_(site_regressions(this->model().problem())) {}

  std::vector<SiteRegression> sites_;
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
  return {{.series = "test_error", .relative = sgd_margin(c)}};
}

}  // namespace

Study gauss_sgd() {
  std::vector<Parameter> parameters = gaussian_model_parameters(20);
  parameters.push_back(eta_parameter({0.01, 0.03}));
  parameters.push_back(batch_parameter({1, 8}));
  parameters.push_back(steps_parameter(log_steps(1000, 16)));
  parameters.push_back(mask_probability_parameter());
  parameters.push_back(real_parameter(
      "sim.decay", 0.0, "weight decay lambda of every step, in lambda_unit", kNotNegative));
  parameters.push_back(allow_unstable_parameter());
  parameters.push_back(runs_parameter(1000, "independent runs of every learning rate and batch"));
  return {
      .name = "gauss-sgd",
      .question = "How fast, and how far, does online SGD learn to fill in a masked site?",
      .neglects =
          "nothing on Gaussian data, at any size, step or learning rate; on data, the moments of "
          "fourth order beyond the covariance",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"steady_error",
                  "sigma^2/(1-chi)",
                  "test error at late times, averaged over sites (theory, without decay)"},
                 {"divergence_step",
                  "n_div",
                  "step in which an unstable run left the finite numbers (simulation)"}},
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
      .make = &OnlineSgd::make,
      .figure = figure,
      .agreement = agreement,
  };
}

}  // namespace attica
