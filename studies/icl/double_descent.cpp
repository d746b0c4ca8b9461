/// @file
/// @brief Study icl-double-descent: errors of linear attention in context against the number of
/// pretraining sequences.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_double_descent {
namespace {

struct DoubleDescent : ContextSweep {
  explicit DoubleDescent(Configuration& c) : ContextSweep(c, ContextAxis::tau) {}
};

Figure figure(const Configuration&) {
  const Axis tau{.label = "sequences {/:Italic τ} = {/:Italic n}/{/:Italic d}^2",
                 .scale = AxisScale::log};
  Panel icl = context_panel("icl", tau, "tau", "{/:Italic λ} = {lambda}");
  Panel idg = context_panel("idg", tau, "tau", "{/:Italic λ} = {lambda}");
  icl.vertical_marks = {1.0};
  idg.vertical_marks = {1.0};
  return {.name = "icl-double-descent",
          .panels = {icl, idg},
          .columns = 1,
          .caption =
              "Linear attention on linear regression in context, trained by ridge regression: "
              "errors on fresh tasks (ICL) and on tasks of the pretraining pool (IDG) against the "
              "number of pretraining sequences. Lines: theory; points: exact population errors of "
              "simulated fits, mean and standard error over data sets; dashed: best predictor of a "
              "fresh task; band: declared margin."};
}

/// With the smallest penalty the mean ICL error is largest at the τ nearest the threshold
/// n = d (d + 1), where the theory says so: the penalty is small and the τ enclose the threshold.
std::vector<ClaimResult> peak(const Configuration& c, const Observed& observed) {
  const double lambda = ascending(c.reals("sweep.lambda")).front();
  const ObservedCurve* curve = observed.curve("icl", {{"lambda", lambda}});
  const double threshold = 1 + 1 / static_cast<double>(c.integer("model.dimension"));
  if (curve == nullptr || curve->mean.x.size() < 3) return {};
  const std::vector<double>& x = curve->mean.x;
  const auto nearest = std::min_element(x.begin(), x.end(), [&](double a, double b) {
    return std::abs(std::log(a / threshold)) < std::abs(std::log(b / threshold));
  });
  double highest = -std::numeric_limits<double>::infinity();
  double highest_at = 0;
  for (const Prediction& p : observed.theory) {
    if (p.series.name != "icl" || p.series.point != curve->mean.point) continue;
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      const bool simulated = std::find(x.begin(), x.end(), p.series.x[k]) != x.end();
      if (!simulated || p.series.y[k] <= highest) continue;
      highest = p.series.y[k];
      highest_at = p.series.x[k];
    }
  }
  if (nearest == x.begin() || nearest == x.end() - 1 || highest_at != *nearest) return {};
  const auto top = static_cast<std::size_t>(nearest - x.begin());
  std::vector<std::vector<double>> others = curve->values;
  const std::vector<std::vector<double>> first = {others[top]};
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(top));
  return {
      claim_tested("peak_at_one",
                   "with the smallest penalty the ICL error is largest at the tau nearest 1 + 1/d",
                   some_above_all(first, others),
                   fmt::format("lambda = {}, tau = {}", lambda, *nearest))};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all = {above_bayes(observed)};
  for (ClaimResult& claim : peak(c, observed)) all.push_back(std::move(claim));
  return all;
}

std::vector<SeriesInfo> series() {
  std::vector<SeriesInfo> all = context_series();
  all.push_back({"limit_icl",
                 "E_ICL(d → ∞)",
                 "E_ICL given random pools at the middle tau, extrapolated in 1/d from d >= 40 and "
                 "2 d; theory: the limit"});
  return all;
}

}  // namespace

Study study() {
  return {.name = "icl-double-descent",
          .question =
              "How many sequences must linear attention see before it learns to regress in "
              "context?",
          .neglects = kContextNeglects,
          .outside = kContextOutside,
          .parameters =
              together({context_parameters({.alpha = 2, .kappa = 1}),
                        {reals_parameter("sweep.tau",
                                         {0.25, 0.5, 0.75, 1, 1.5, 2, 3},
                                         "pretraining sequences per squared dimension, tau = n/d^2",
                                         kPositive),
                         reals_parameter("sweep.lambda",
                                         {0.01, 0.1, 1},
                                         "ridge penalty of sum of squares + (n/d) lambda |Gamma|^2",
                                         kNotNegative)}}),
          .series = series(),
          .presets = {{"quick", "the defaults: d = 16, 7 tau, 3 lambda, 400 replicates", {}},
                      {"paper",
                       "d = 32, alpha 10, kappa 0.5, rho 0.01, lambda 1e-5, 0.1, 1, 400 replicates",
                       {{"model.dimension", 32},
                        {"model.alpha", 10.0},
                        {"model.kappa", 0.5},
                        {"model.rho", 0.01},
                        {"sweep.lambda", List{1e-5, 0.1, 1.0}},
                        {"sweep.tau", List{0.2, 0.5, 0.85, 1.15, 1.5, 2.0}},
                        {"sim.replicates", 400}}}},
          .sources = context_sources("Figure 1"),
          .make = make<DoubleDescent>,
          .figure = figure,
          .agreement = context_agreement,
          .size_coordinate = "dimension",
          .claims = claims,
          .plants = {{.name = "endless-pool",
                      .values = {{"model.kappa", 1000.0}},
                      .meaning = "forgets that the tasks come from a finite pool"},
                     {.name = "length",
                      .series = "context_square",
                      .factor = 1.02,
                      .meaning = "a context miscounted by one sample in a hundred"},
                     {.name = "noise",
                      .series = "label_noise",
                      .factor = 0.94,
                      .meaning = "noise of the labels 3 % too small"},
                     {.name = "half-square",
                      .series = "icl",
                      .factor = 0.5,
                      .meaning = "a loss with the factor 1/2 read as one without"},
                     {.name = "no-noise",
                      .values = {{"model.rho", 0.0}},
                      .meaning = "forgets the noise of the labels"}},
          .diagnostic = {"gap"}};
}

}  // namespace attica::icl_double_descent
