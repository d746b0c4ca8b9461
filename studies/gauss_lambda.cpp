/// @file
/// @brief Study gauss-lambda: generalization error of ridge regression in Gaussian masked modelling
/// against the penalty, with the penalty that theory calls optimal.

#include <algorithm>
#include <limits>

#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"
#include "attica/theory/gaussian_ridge_limits.hpp"

namespace attica {
namespace {

/// Sample ratios along the line of optima, and by what factor it goes on beyond the simulated ones.
constexpr int kOptima = 30;
constexpr double kBeyond = 3;

class PenaltySweep : public RidgeSweep {
 public:
  explicit PenaltySweep(Configuration& c)
      : RidgeSweep(c,
                   RidgeAxis::lambda,
                   {{.name = "test_error",
                     .theory = &RidgePoint::test_error,
                     .simulation = &RidgeFit::test,
                     .finite_size = [](const RidgePoint& p) { return p.finite_size_test; }}}) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = RidgeSweep::theory(grid);
    // The curve (lambda*(alpha), E(lambda*(alpha))) passes through the minimum of every error
    // curve.
    Series best{.name = "optimal_lambda", .point = {}, .x_name = "alpha", .x = {}, .y = {}};
    Series locus{.name = "optimal_test_error", .point = {}, .x_name = "lambda", .x = {}, .y = {}};
    std::vector<double> ratios = alphas(grid);
    if (grid == TheoryGrid::run) {
      const double fewest = std::max(ratios.front() / kBeyond, 1 / inputs());
      const std::vector<double> line = log_grid(fewest, ratios.back() * kBeyond, kOptima);
      ratios.insert(ratios.end(), line.begin(), line.end());
      std::sort(ratios.begin(), ratios.end());
    }
    for (const double alpha : ratios) {
      const OptimalPenalty optimum = optimal_penalty(ridge(), samples(alpha));
      const double lambda = optimum.at_edge ? std::numeric_limits<double>::infinity()
                                            : optimum.lambda / model().absolute_lambda(1);
      best.x.push_back(alpha);
      best.y.push_back(lambda);
      if (optimum.at_edge || optimum.lambda == 0) continue;  // no place on a logarithmic axis
      locus.x.push_back(lambda);
      locus.y.push_back(optimum.test_error);
    }
    result.predictions.push_back({.series = std::move(best)});
    result.predictions.push_back({.series = std::move(locus)});
    return result;
  }
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<PenaltySweep>(c); }

Figure figure(const Configuration& c) {
  Panel test{.x = lambda_axis(c),
             .y = {.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log},
             .layers = {{.series = "test_error", .label = "{/:Italic α} = {alpha}"},
                        {.series = "optimal_test_error",
                         .label = "optimum {/:Italic λ}*({/:Italic α})",
                         .reference = true}},
             .x_name = "lambda"};
  test.residuals = true;
  return {.name = "gauss-lambda",
          .panels = {test},
          .columns = 1,
          .caption =
              "Ridge regression of every site on the others in Gaussian masked modelling: "
              "test error against the penalty. Lines: theory at leading order; points: "
              "simulation, mean and standard error over replicates; dashed: the minima that "
              "theory predicts as the number of samples varies; band: declared margin." +
              lambda_note(c)};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return {{.series = "test_error", .relative = ridge_margin(c)}};
}

}  // namespace

Study gauss_lambda() {
  std::vector<Parameter> parameters = gaussian_model_parameters();
  parameters.push_back(alpha_parameter({0.5, 1.0, 2.0}));
  parameters.push_back(lambda_parameter(log_grid(1e-3, 10, 15), false));
  parameters.push_back(
      replicates_parameter(400, "independent data sets of every size; all lambda share them"));
  return {
      .name = "gauss-lambda",
      .question = "Which ridge penalty fills in a masked site of Gaussian sequences best?",
      .neglects =
          "corrections of relative order 1/(M (1 - gamma)) to the limit of many sites and "
          "samples; on data, everything beyond the covariance",
      .parameters = std::move(parameters),
      .series = {{"test_error",
                  "E_test",
                  "population mean squared error, averaged over sites, no factor 1/2"},
                 {"optimal_lambda",
                  "lambda*",
                  "penalty with the smallest test error, against alpha (theory), in lambda_unit"},
                 {"optimal_test_error",
                  "E_test(lambda*)",
                  "test error at the optimum against lambda*, alpha running along the curve "
                  "(theory)"}},
      .presets = {{"quick", "the defaults: L = 60, 3 alpha, 15 lambda, 400 replicates", {}},
                  {"paper",
                   "L = 400, 5 alpha, 31 lambda, 100 replicates",
                   {{"model.sites", 400},
                    {"sweep.alpha", List{0.25, 0.5, 1.0, 2.0, 4.0}},
                    {"sweep.lambda", log_grid(1e-3, 10, 31)},
                    {"sim.replicates", 100}}}},
      .sources = ridge_sources(),
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "sites",
  };
}

}  // namespace attica
