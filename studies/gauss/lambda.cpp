/// @file
/// @brief Study gauss-lambda: generalization error of ridge regression in Gaussian masked modelling
/// against the penalty, with the penalty that theory calls optimal.

#include <algorithm>
#include <limits>

#include "attica/studies/gauss/ridge_sweep.hpp"
#include "attica/theory/gauss/ridge_limits.hpp"

namespace attica {
namespace {

/// Sample ratios along the line of optima, and by what factor it goes on beyond the simulated ones.
constexpr int kOptima = 30;
constexpr double kBeyond = 3;

struct PenaltySweep : RidgeSweep {
  explicit PenaltySweep(Configuration& c)
      : RidgeSweep(c,
                   RidgeAxis::lambda,
                   {{"test_error",
                     [](const RidgePoint& p) { return Told(p.test_error, p.finite_size_test); },
                     &RidgeFit::test}}) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = RidgeSweep::theory(grid);
    // The curve (lambda*(alpha), E(lambda*(alpha))) passes through the minimum of every error
    // curve.
    Curves best({}, "alpha", {"optimal_lambda"});
    Curves locus({}, "lambda", {"optimal_test_error"});
    std::vector<double> ratios = sizes().alphas(grid);
    if (grid == TheoryGrid::run) {
      const double fewest = std::max(ratios.front() / kBeyond, 1 / model().inputs());
      const std::vector<double> line = log_grid(fewest, ratios.back() * kBeyond, kOptima);
      ratios.insert(ratios.end(), line.begin(), line.end());
      ratios = ascending(std::move(ratios));
    }
    for (const double alpha : ratios) {
      const OptimalPenalty optimum = optimal_penalty(ridge(), sizes().samples(alpha));
      const double lambda = optimum.at_edge ? std::numeric_limits<double>::infinity()
                                            : optimum.lambda / model().absolute_lambda(1);
      best.add(alpha, std::vector<double>{lambda});
      if (optimum.at_edge || optimum.lambda == 0) continue;  // no place on a logarithmic axis
      locus.add(lambda, std::vector<double>{optimum.test_error});
    }
    best.into(result);
    locus.into(result);
    return result;
  }
};

Figure figure(const Configuration& c) {
  return {.name = "gauss-lambda",
          .panels = {error_panel("test",
                                 lambda_axis(c),
                                 "lambda",
                                 {{.series = "test_error", .label = "{/:Italic α} = {alpha}"},
                                  {.series = "optimal_test_error",
                                   .label = "optimum {/:Italic λ}*({/:Italic α})",
                                   .reference = true}})},
          .columns = 1,
          .caption =
              "Ridge regression of every site on the others in Gaussian masked modelling: test "
              "error against the penalty. Lines: theory at leading order; points: simulation, mean "
              "and standard error over replicates; dashed: the minima that theory predicts as the "
              "number of samples varies; band: declared margin." +
              lambda_note(c)};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return {{.series = "test_error", .relative = ridge_margin(c)}};
}

}  // namespace

Study gauss_lambda() {
  return {
      .name = "gauss-lambda",
      .question = "Which ridge penalty fills in a masked site of Gaussian sequences best?",
      .neglects = kRidgeNeglects,
      .parameters = together({gaussian_model_parameters(),
                              {alpha_parameter({0.5, 1.0, 2.0}),
                               lambda_parameter(log_grid(1e-3, 10, 15), false),
                               data_sets_parameter(400)}}),
      .series = {test_error_info(),
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
      .make = make<PenaltySweep>,
      .figure = figure,
      .agreement = agreement,
      .size_coordinate = "sites",
      .diagnostic = {"optimal_lambda"}};
}

}  // namespace attica
