/// @file
/// @brief Study gauss-sgd: test error of online stochastic gradient descent in Gaussian masked
/// modelling, step by step, against its exact moments.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "attica/studies/gauss/sgd_curves.hpp"

namespace attica::gauss_sgd {
namespace {

/// A rule beside those of the sweep: what masks and decay add to the recursion counts there.
struct OtherRule {
  const char* name;
  SgdMask mask;
  std::int64_t batch;
  double probability;  ///< 0: one site of a sample
  double lambda;       ///< in mean eigenvalues
};
constexpr std::array kOthers = {OtherRule{"one_site", SgdMask::one_site, 1, 0, 0},
                                OtherRule{"independent", SgdMask::independent, 1, 0.5, 0},
                                OtherRule{"decay", SgdMask::all_sites, 4, 1, 0.1}};

class OnlineCurves : public SgdCurves {
 public:
  explicit OnlineCurves(Configuration& c) : SgdCurves(c), sgd_(model().problem()) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = SgdCurves::theory(grid);
    for (const OtherRule& rule : kOthers) {
      add_constant(
          result, "rule_error", mean_of(sgd_.errors(parameters(rule), looks())), point_of(rule));
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    Outcome outcome = SgdCurves::run(replicate);
    constexpr std::uint64_t kRuns = 500;
    constexpr int kTimes = 2;
    if (replicate.point() > 0 || replicate.number >= kRuns) return outcome;
    StreamAddress address = replicate.address();
    for (const OtherRule& rule : kOthers) {
      const SgdParameters p = parameters(rule);
      double error = 0;
      for (int time = 0; time < kTimes; ++time) {
        ++address.step;
        RandomStream samples(address);
        StreamAddress of_masks = address;
        of_masks.id = StreamId::minibatch;
        RandomStream masks(of_masks);
        LinearAttentionSgd sgd(model().problem().sites(),
                               {.eta = p.eta,
                                .batch = rule.batch,
                                .lambda = p.lambda,
                                .mask = rule.mask,
                                .mask_probability = p.probability},
                               source(samples),
                               masks);
        const SgdRun done = record_sgd(model().problem(), sgd, looks());
        error += (done.diverged ? std::nan("") : done.test.mean()) / kTimes;
      }
      if (std::isfinite(error)) add_constant(outcome, "rule_error", error, point_of(rule));
    }
    return outcome;
  }

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
  static Point point_of(const OtherRule& rule) { return {{"rule", std::string(rule.name)}}; }

  /// At these steps errors are averaged, on the way and where they settle.
  static std::vector<std::int64_t> looks() {
    constexpr std::int64_t kLast = 400;
    constexpr std::int64_t kApart = 10;
    std::vector<std::int64_t> steps;
    for (std::int64_t step = kApart; step <= kLast; step += kApart) steps.push_back(step);
    return steps;
  }

  static double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }

  SgdParameters parameters(const OtherRule& rule) const {
    constexpr double kShare = 0.3;  // of the largest stable rate
    const auto sites = static_cast<double>(model().problem().sites());
    SgdParameters p{.batch = static_cast<double>(rule.batch),
                    .probability = rule.probability > 0 ? rule.probability : 1 / sites,
                    .lambda = rule.lambda * model().problem().covariance().trace() / sites};
    p.eta = kShare * sgd_.eta_max(p);
    return p;
  }

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
          {.series = "late_error", .relative = sgd_margin(c, kLate)},
          {.series = "rule_error", .relative = sgd_margin(c, kLate)}};
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
                 {"rule_error",
                  "<E_test>",
                  "the same over 400 steps of other rules: one site masked, every other, decay"},
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
      .recipes = {{.name = "gauss-sgd-digits",
                   .meaning = "Handwritten digits: small steps average over many of them, fourth "
                              "moments beyond the covariance do not show.",
                   .values = {{"model.covariance", "data"},
                              {"model.file", "digits.csv"},
                              {"sweep.eta", List{0.003, 0.01}},
                              {"sim.replicates", 200}},
                   .expected = Verdict::agree},
                  {.name = "gauss-sgd-standardised",
                   .meaning = "Digits with every pixel scaled to unit variance: a rare white pixel "
                              "is a step many times too long.",
                   .values = {{"model.covariance", "data"},
                              {"model.file", "digits.csv"},
                              {"model.standardise", true},
                              {"sweep.eta", List{0.003, 0.01}},
                              {"sim.replicates", 200}}}},
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
