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

}  // namespace

Study study() { return described({.name = "gauss-sgd", .make = make<OnlineCurves>}); }

}  // namespace attica::gauss_sgd
