#include "attica/studies/sgd_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/ridge_sweep.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Steps of a smooth theory line, besides the recorded ones.
constexpr int kLineSteps = 160;

std::vector<std::int64_t> sorted(std::vector<std::int64_t> steps) {
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

std::string SgdRule::describe() const {
  return fmt::format("eta = {} with batches of {}", eta, batch);
}

std::vector<SgdRule> sgd_rules(const Configuration& c,
                               const GaussianModel& model,
                               double probability,
                               double decay) {
  const auto sites = static_cast<double>(model.problem().sites());
  constexpr double kRounding = 1e-12;
  SgdSettings settings{.decay = model.absolute_lambda(decay), .mask_probability = probability};
  if (probability < 1) {
    const bool one = std::abs(probability * sites - 1) < kRounding;
    settings.mask = one ? SgdMask::one_site : SgdMask::independent;
  }
  std::vector<SgdRule> rules;
  for (const double eta : c.reals("sweep.eta")) {
    for (const std::int64_t batch : c.integers("sweep.batch")) {
      settings.eta = eta / model.absolute_lambda(1);
      settings.batch = batch;
      rules.push_back({.eta = eta,
                       .batch = batch,
                       .parameters = {.eta = settings.eta,
                                      .batch = static_cast<double>(batch),
                                      .probability = probability,
                                      .decay = settings.decay},
                       .settings = settings});
    }
  }
  return rules;
}

std::vector<SiteRegression> site_regressions(const GaussianMlm& problem) {
  std::vector<SiteRegression> sites;
  for (Index i = 0; i < problem.sites(); ++i) sites.push_back(site_regression(problem, i));
  return sites;
}

double smallest_eta_max(const std::vector<SiteRegression>& sites,
                        const SgdRule& rule,
                        const GaussianModel& model) {
  double smallest = kInfinity;
  for (const SiteRegression& site : sites) {
    smallest = std::min(smallest, online_sgd_eta_max(site, rule.parameters));
  }
  return model.absolute_lambda(smallest);
}

SampleSource fresh_samples(const GaussianModel& model, RandomStream& stream) {
  if (!model.from_data()) return gaussian_source(model.problem(), stream);
  return [&model, &stream](Eigen::Ref<Eigen::MatrixXd> samples) {
    samples = model.samples(samples.cols(), stream).transpose();
  };
}

std::uint64_t sgd_replicates_per_piece(std::int64_t steps, std::int64_t batch, Index sites) {
  constexpr double kFlopsPerPiece = 1e9;
  constexpr double kMostReplicates = 50;
  // Of a sample: normals and covariance, residuals, and the change of A; of a step: overheads.
  constexpr double kNormal = 40;
  constexpr double kPerPair = 6;
  constexpr double kStep = 1000;
  const auto l = static_cast<double>(sites);
  const double flops = static_cast<double>(steps) *
                       (kStep + static_cast<double>(batch) * l * (kNormal + kPerPair * l));
  return static_cast<std::uint64_t>(
      std::clamp(std::floor(kFlopsPerPiece / flops), 1.0, kMostReplicates));
}

SgdCurves::SgdCurves(const Configuration& c, GaussianModel model, std::vector<SgdRule> rules)
    : model_(std::move(model)),
      rules_(std::move(rules)),
      steps_(sorted(c.integers("sim.steps"))),
      allow_unstable_(c.flag("sim.allow_unstable")) {}

TheoryResult SgdCurves::theory(TheoryGrid grid) const {
  std::vector<std::int64_t> steps = steps_;
  if (grid == TheoryGrid::run && steps.back() > 1) {
    const std::int64_t first = std::max<std::int64_t>(1, steps.front());
    for (const double step :
         log_grid(static_cast<double>(first), static_cast<double>(steps.back()), kLineSteps)) {
      steps.push_back(std::llround(step));
    }
    steps = sorted(std::move(steps));
  }
  const std::vector<double> x(steps.begin(), steps.end());
  TheoryResult result;
  for (const SgdRule& rule : rules_) {
    const std::optional<std::string> unstable = instability(rule);
    if (unstable && grid == TheoryGrid::run && !allow_unstable_) {
      throw invalid_parameter(
          "sweep.eta",
          rule.eta,
          fmt::format("{} with batches of {}, or sim.allow_unstable = true to simulate beyond",
                      *unstable,
                      rule.batch));
    }
    Prediction p{
        .series = {.name = "test_error",
                   .point = rule.point(),
                   .x_name = "step",
                   .x = x,
                   .y = unstable ? std::vector<double>(x.size(), kInfinity) : errors(rule, steps)}};
    // At the start nothing has been learnt: all runs are equal.
    for (const std::int64_t step : steps) p.compared.push_back(step > 0);
    result.predictions.push_back(std::move(p));
    if (unstable) continue;
    if (const std::optional<double> settled = limit(rule)) {
      result.predictions.push_back({.series = {.name = "steady_error",
                                               .point = rule.point(),
                                               .x_name = "none",
                                               .x = {0},
                                               .y = {*settled}}});
    }
  }
  return result;
}

std::vector<std::string> SgdCurves::warnings() const {
  std::vector<std::string> all = model_.warnings();
  for (const SgdRule& rule : rules_) {
    if (const std::optional<std::string> stable = instability(rule)) {
      all.push_back(fmt::format(
          "{} is unstable, the mean test error grows without bound ({} is stable): no theory",
          rule.describe(),
          *stable));
    }
  }
  return all;
}

std::uint64_t SgdCurves::replicates_per_piece(std::size_t point) const {
  return sgd_replicates_per_piece(steps_.back(), rules_[point].batch, model_.problem().sites());
}

std::vector<Outcome> SgdCurves::simulate(const Piece& piece) const {
  const SgdRule& rule = rules_[piece.point];
  return each_replicate(piece, [&](std::uint64_t replicate) {
    RandomStream samples(piece.stream(replicate));
    RandomStream masks(piece.stream(replicate, StreamId::minibatch));
    LinearAttentionSgd sgd(model_.problem().sites(), rule.settings, source(samples), masks);
    const SgdRun run = record_sgd(model_.problem(), sgd, steps_);
    Series curve{.name = "test_error", .point = rule.point(), .x_name = "step", .x = {}, .y = {}};
    std::optional<std::int64_t> diverged = run.diverged;
    for (Index k = 0; k < run.test.cols(); ++k) {
      const std::int64_t step = steps_[static_cast<std::size_t>(k)];
      const double error = run.test.col(k).mean();
      if (!std::isfinite(error)) {  // squares overflow before the residuals do
        diverged = step;
        break;
      }
      curve.x.push_back(static_cast<double>(step));
      curve.y.push_back(error);
    }
    Outcome outcome{.series = {std::move(curve)}};
    if (diverged) {
      outcome.status = "diverged";
      outcome.series.push_back({.name = "divergence_step",
                                .point = rule.point(),
                                .x_name = "none",
                                .x = {0},
                                .y = {static_cast<double>(*diverged)}});
    }
    return outcome;
  });
}

Parameter eta_parameter(std::vector<double> fallback) {
  return reals_parameter("sweep.eta",
                         fallback,
                         "learning rate of the loss (1/2B) sum of squares, in 1/lambda_unit",
                         kPositive);
}

Parameter batch_parameter(List fallback) {
  constexpr double kMost = 1e6;
  return integers_parameter(
      "sweep.batch", std::move(fallback), "samples per step B", {.low = 1, .high = kMost});
}

Parameter mask_probability_parameter() {
  return real_parameter(
      "sim.mask_probability",
      1.0,
      "probability that a site of a sample is masked and learnt from; 1: all are, "
      "1/L: one is, at random; else independently",
      {.low = 0, .high = 1, .low_open = true});
}

Parameter allow_unstable_parameter() {
  return {.key = "sim.allow_unstable",
          .type = ParameterType::flag,
          .fallback = Value(false),
          .meaning = "simulate learning rates at which the mean error grows without bound"};
}

Parameter runs_parameter(std::int64_t fallback, const char* meaning) {
  return {.key = "sim.replicates",
          .type = ParameterType::integer,
          .fallback = Value(fallback),
          .meaning = meaning,
          .range = {.low = 1, .high = 1e9}};
}

List log_steps(std::int64_t last, int n) {
  std::vector<std::int64_t> steps;
  for (const double step : log_grid(1, static_cast<double>(last), n)) {
    steps.push_back(std::llround(step));
  }
  steps = sorted(std::move(steps));
  return {steps.begin(), steps.end()};
}

Figure sgd_figure(std::string name, std::string caption) {
  Panel test{
      .x = {.label = "step {/:Italic n}", .scale = AxisScale::log},
      .y = {.label = "test error {/:Italic E}_{test}", .scale = AxisScale::log},
      .layers = {{.series = "test_error", .label = "{/:Italic η} = {eta}, {/:Italic B} = {batch}"},
                 {.series = "steady_error", .label = "steady state", .reference = true}},
      .x_name = "step"};
  test.residuals = true;
  return {.name = std::move(name), .panels = {test}, .columns = 1, .caption = std::move(caption)};
}

std::vector<Source> sgd_sources() {
  return {{"rende2024mapping",
           "Mapping of attention mechanisms to a generalized Potts model",
           "R. Rende, F. Gerace, A. Laio, S. Goldt",
           2024,
           "2304.07235",
           "setting: masked modelling with Gaussian data, linear attention by position"},
          {"paquette2021sgd",
           "SGD in the large: average-case analysis, asymptotics, and stepsize criticality",
           "C. Paquette, K. Lee, F. Pedregosa, E. Paquette",
           2021,
           "2102.04396",
           "Volterra equation of the error, critical learning rate"},
          {"bordelon2022learning",
           "Learning curves for SGD on structured features",
           "B. Bordelon, C. Pehlevan",
           2022,
           "2106.02713",
           "recursion of second moments for batches of Gaussian features"}};
}

double sgd_margin(const Configuration& c) {
  constexpr double kGaussianMargin = 0.03;
  constexpr double kDataMargin = 0.05;
  return c.text("model.covariance") == "data" ? kDataMargin : kGaussianMargin;
}

}  // namespace attica
