#include "attica/studies/gauss/sgd_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/parallel.hpp"

namespace attica {

std::vector<SgdRule> sgd_rules(const Configuration& c, const GaussianModel& model) {
  constexpr double kRounding = 1e-12;
  const auto sites = static_cast<double>(model.problem().sites());
  const double probability =
      c.declares("sim.mask_probability") ? c.real("sim.mask_probability") : 1;
  const double lambda = c.declares("sim.lambda") ? model.absolute_lambda(c.real("sim.lambda")) : 0;
  model.require_penalties({lambda / model.absolute_lambda(1)}, "sim.lambda");
  SgdSettings settings{.lambda = lambda, .mask_probability = probability};
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
                                      .lambda = lambda},
                       .settings = settings});
    }
  }
  return rules;
}

double stable_eta(const OnlineSgd& sgd, const SgdRule& rule, const GaussianModel& model) {
  return model.absolute_lambda(sgd.eta_max(rule.parameters));
}

SampleSource fresh_samples(const GaussianModel& model, RandomStream& stream) {
  if (!model.from_data()) return gaussian_source(model.problem(), stream);
  return [&model, &stream](Eigen::Ref<Eigen::MatrixXd> samples) {
    samples = model.samples(samples.cols(), stream).transpose();
  };
}

double sgd_flops(std::int64_t steps, std::int64_t batch, Eigen::Index sites) {
  // Of a sample: normals and covariance, residuals, and the change of A; of a step: overheads.
  constexpr double kNormal = 80;
  constexpr double kPerPair = 12;
  constexpr double kStep = 2000;
  const auto l = static_cast<double>(sites);
  return static_cast<double>(steps) *
         (kStep + static_cast<double>(batch) * l * (kNormal + kPerPair * l));
}

namespace {

Point at(const SgdRule& rule) {
  return {{"eta", rule.eta}, {"batch", static_cast<double>(rule.batch)}};
}

/// Whole steps above last/2 up to last, at most 50.
std::vector<std::int64_t> second_half(std::int64_t last) {
  constexpr std::int64_t kLooks = 50;
  std::vector<std::int64_t> steps;
  for (std::int64_t k = 1; last > 0 && k <= kLooks; ++k) {
    steps.push_back(last - (last / 2) * (kLooks - k) / kLooks);
  }
  return ascending(std::move(steps));
}

/// Mean of what was seen at `looks`, a value for each of `steps`.
double mean_at(const std::vector<std::int64_t>& looks,
               const std::vector<std::int64_t>& steps,
               const std::vector<double>& values) {
  double sum = 0;
  for (const std::int64_t look : looks) {
    const auto found = std::lower_bound(steps.begin(), steps.end(), look);
    sum += values[static_cast<std::size_t>(found - steps.begin())];
  }
  return sum / static_cast<double>(looks.size());
}

}  // namespace

SgdCurves::SgdCurves(Configuration& c)
    : model_(GaussianModel::from(c)),
      rules_(sgd_rules(c, model_)),
      steps_(recorded_steps(c)),
      late_(second_half(steps_.back())),
      all_([this] {
        std::vector<std::int64_t> all = steps_;
        all.insert(all.end(), late_.begin(), late_.end());
        return ascending(std::move(all));
      }()),
      allow_unstable_(c.flag("sim.allow_unstable")),
      instabilities_([this] {
        return parallel_map(rules_, [this](const SgdRule& rule) { return instability(rule); });
      }) {
  diagnostics_ = model_.diagnostics();
}

TheoryResult SgdCurves::theory(TheoryGrid grid) const {
  constexpr int kLineSteps = 160;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> steps = steps_;
  if (grid == TheoryGrid::run && steps.back() > 1) {
    const std::int64_t first = std::max<std::int64_t>(1, steps.front());
    const std::vector<std::int64_t> line = whole_log_grid(first, steps.back(), kLineSteps);
    steps.insert(steps.end(), line.begin(), line.end());
    steps = ascending(std::move(steps));
  }
  std::vector<std::int64_t> seen = steps;
  seen.insert(seen.end(), late_.begin(), late_.end());
  seen = ascending(std::move(seen));
  const std::vector<std::optional<std::string>>& instabilities = instabilities_.get();
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const SgdRule& rule = rules_[r];
    const std::optional<std::string>& unstable = instabilities[r];
    if (unstable && grid == TheoryGrid::run && !allow_unstable_) {
      throw invalid_parameter(
          "sweep.eta",
          rule.eta,
          fmt::format("{} with batches of {}, or sim.allow_unstable = true to simulate beyond",
                      *unstable,
                      rule.batch));
    }
  }
  std::vector<std::vector<double>> all(rules_.size());
  in_parallel(all.size(), [&](std::size_t r) {
    all[r] =
        instabilities[r] ? std::vector<double>(seen.size(), kInfinity) : errors(rules_[r], seen);
  });
  TheoryResult result;
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    const SgdRule& rule = rules_[r];
    const std::optional<std::string>& unstable = instabilities[r];
    const std::vector<double>& y = all[r];
    Curves curve(at(rule), "step", {"test_error"});
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!std::binary_search(steps.begin(), steps.end(), seen[k])) continue;
      // At the start nothing has been learnt: all runs are equal.
      curve.add(static_cast<double>(seen[k]), std::vector<PredictedValue>{{y[k], 0, seen[k] > 0}});
    }
    curve.into(result);
    if (!late_.empty()) add_constant(result, "late_error", mean_at(late_, seen, y), at(rule));
    const std::optional<double> settled = unstable ? std::nullopt : limit(rule);
    if (settled) add_constant(result, "steady_error", *settled, at(rule));
  }
  return result;
}

std::vector<std::string> SgdCurves::warnings() const {
  std::vector<std::string> all = model_.warnings();
  for (std::size_t r = 0; r < rules_.size(); ++r) {
    if (const std::optional<std::string>& stable = instabilities_.get()[r]) {
      all.push_back(
          fmt::format("eta = {} with batches of {} is unstable, the mean test error grows without "
                      "bound ({} is stable): no theory",
                      rules_[r].eta,
                      rules_[r].batch,
                      *stable));
    }
  }
  return all;
}

double SgdCurves::flops(std::size_t point) const {
  return sgd_flops(steps_.back(), rules_[point].batch, model_.problem().sites());
}

Outcome SgdCurves::run(const Replicate& replicate) const {
  const SgdRule& rule = rules_[replicate.point()];
  RandomStream samples = replicate.stream();
  RandomStream masks = replicate.stream(StreamId::minibatch);
  LinearAttentionSgd sgd(model_.problem().sites(), rule.settings, source(samples), masks);
  const SgdRun run = record_sgd(model_.problem(), sgd, all_);
  std::optional<std::int64_t> diverged = run.diverged;
  Curves curve(at(rule), "step", {"test_error"});
  std::vector<double> errors;
  for (Eigen::Index k = 0; k < run.test.cols(); ++k) {
    const std::int64_t step = all_[static_cast<std::size_t>(k)];
    const double error = run.test.col(k).mean();
    if (!std::isfinite(error)) {  // squares overflow before the residuals do
      diverged = step;
      break;
    }
    errors.push_back(error);
    if (std::binary_search(steps_.begin(), steps_.end(), step)) {
      curve.add(static_cast<double>(step), {error});
    }
  }
  Outcome outcome;
  if (!curve.empty()) curve.into(outcome);
  if (!late_.empty() && errors.size() == all_.size()) {
    add_constant(outcome, "late_error", mean_at(late_, all_, errors), at(rule));
  }
  if (diverged) {
    outcome.status = "diverged";
    add_constant(outcome, "divergence_step", static_cast<double>(*diverged), at(rule));
  }
  return outcome;
}

}  // namespace attica
