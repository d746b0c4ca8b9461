#include "attica/studies/icl/key_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attica {

namespace {

const Choices<TrainingData>& training_data() {
  static const Choices<TrainingData> all = {{"online", TrainingData::online},
                                            {"fixed", TrainingData::fixed},
                                            {"population", TrainingData::population}};
  return all;
}

}  // namespace

KeyQuerySetup::KeyQuerySetup(const Configuration& c)
    : task(KeyQueryTask::power_law(c.integer("model.dimension"),
                                   c.real("model.spectrum_power"),
                                   static_cast<double>(c.integer("model.context")))),
      descent({.data = training_data().of(c, "sim.data"),
               .eta = c.real("sim.eta"),
               .sequences = c.integer("sim.batch")}) {
  constexpr double kMostSteps = 1e8;
  for (const double t : ascending(c.reals("sim.times"))) {
    const double count = t / descent.eta;
    require(count <= kMostSteps, "sim.times", t, "at most 1e8 steps of sim.eta");
    steps.push_back(std::llround(count));
  }
  steps = ascending(std::move(steps));
  descent.steps = steps.back();
}

KeyQuerySetup KeyQuerySetup::on_population() const {
  constexpr double kSmall = 0.01;
  constexpr double kRounding = 1e-9;
  KeyQuerySetup fine = *this;
  const double part = std::ceil(descent.eta * speed(task) / kSmall - kRounding);
  constexpr double kMostParts = 1e6;
  require(part <= kMostParts,
          "sim.eta",
          descent.eta,
          fmt::format("at most {:.3g}: a step of descent is divided until it is flow",
                      kMostParts * kSmall / speed(task)));
  const auto parts = static_cast<std::int64_t>(part);
  fine.descent.data = TrainingData::population;
  fine.descent.eta /= static_cast<double>(parts);
  fine.descent.steps *= parts;
  for (std::int64_t& step : fine.steps) step *= parts;
  return fine;
}

void require_start(const char* key, double scale) {
  require(scale > 0, key, scale, "more than 0 to be simulated: training from 0 stays there");
}

double speed(const KeyQueryTask& task) {
  constexpr double kUsual = 0.4;
  const double largest = task.spectrum().maxCoeff() / kUsual;
  return std::max(1.0, largest * largest);
}

void KeyQuerySetup::warn_if_unstable(double sum, std::vector<std::string>& warnings) const {
  const double sharpness = task.spectrum()(0) * task.second()(0) * sum;
  if (descent.eta * sharpness < 2) return;
  warnings.push_back(
      fmt::format("sim.eta = {}: the end of training is unstable from about {:.3g} on, runs may "
                  "diverge",
                  descent.eta,
                  2 / sharpness));
}

void KeyQuerySetup::require_memory() const {
  constexpr double kMost = 4e9;
  if (descent.data == TrainingData::population) return;
  const auto d = static_cast<double>(task.dimension());
  const double moments = descent.data == TrainingData::fixed ? d * d * d * d : 0;
  const double bytes =
      sizeof(double) * (static_cast<double>(descent.sequences) * (2 * d + 1) + moments);
  if (bytes <= kMost) return;
  throw invalid_parameter("sim.batch",
                          static_cast<double>(descent.sequences),
                          fmt::format("fewer sequences: these take {:.0f} bytes of 4e9", bytes));
}

double KeyQuerySetup::flops() const {
  constexpr double kNormal = 20;
  const auto d = static_cast<double>(task.dimension());
  const double sequence = 3 * kNormal * (d + 1) + 4 * d * d;
  const double sampled =
      descent.data == TrainingData::online ? static_cast<double>(descent.sequences) : 1;
  const double once = descent.data == TrainingData::fixed
                          ? static_cast<double>(descent.sequences) * (sequence + 2 * d * d * d * d)
                          : 0;
  return once + static_cast<double>(descent.steps) * (sampled * sequence + 2 * d * d * d * d);
}

KeyQueryRun simulate_run(const KeyQuerySetup& setup,
                         const KeyQueryShape& shape,
                         const Eigen::VectorXd& weights,
                         const std::vector<double>& levels,
                         const Replicate& replicate) {
  RandomStream stream = replicate.stream(StreamId::minibatch);
  KeyQueryRun run;
  double before = 0;
  run.diverged = descend(
      setup.task, shape, weights, setup.descent, stream, [&](std::int64_t step, double mse) {
        while (run.crossings.size() < levels.size() && mse <= levels[run.crossings.size()]) {
          const double level = levels[run.crossings.size()];
          const double back = step == 0 ? 0 : (level - mse) / (before - mse);
          run.crossings.push_back(setup.time(step) - back * setup.descent.eta);
        }
        before = mse;
        if (run.mse.size() < setup.steps.size() && step == setup.steps[run.mse.size()]) {
          run.mse.push_back(mse);
        }
        return !replicate.stopped();
      });
  return run;
}

bool record_divergence(Outcome& outcome, const KeyQueryRun& run) {
  if (run.diverged == 0) return false;
  outcome.status = "diverged";
  outcome.failed = true;
  outcome.message =
      fmt::format("the error left the finite numbers at step {}; lower sim.eta", run.diverged);
  return true;
}

/// Fixed sequences that theory is compared with, at least.
constexpr std::int64_t kFewestFixed = 1000;

bool enough_sequences(const Configuration& c) {
  return training_data().of(c, "sim.data") != TrainingData::fixed ||
         c.integer("sim.batch") >= kFewestFixed;
}

AgreementRule mse_rule(const Configuration& c, double base) {
  constexpr double kOnline = 0.2;
  constexpr double kPopulation = 0.25;
  constexpr double kFixed = 250;
  // A step moves by η λ², which is what its noise is in proportion to.
  const KeyQueryTask task =
      KeyQueryTask::power_law(c.integer("model.dimension"),
                              c.real("model.spectrum_power"),
                              static_cast<double>(c.integer("model.context")));
  const double eta = c.real("sim.eta") * speed(task);
  const auto sequences = static_cast<double>(c.integer("sim.batch"));
  AgreementRule rule{.series = "mse"};
  switch (training_data().of(c, "sim.data")) {
    case TrainingData::online:
      rule.relative = base + kOnline * eta * std::max(1.0, kUsualBatch / sequences);
      break;
    case TrainingData::fixed:
      rule.relative =
          base + kOnline * eta + kFixed / std::max(sequences, static_cast<double>(kFewestFixed));
      break;
    case TrainingData::population:
      rule.relative = kPopulation * eta + 1e-6;
      rule.deterministic = true;
      break;
  }
  return rule;
}

namespace {

/// In a context of few pairs moments differ from those of a long one.
KeyQueryTask few_pairs(const KeyQueryTask& task) {
  constexpr double kPairs = 4;
  return {task.spectrum(), kPairs};
}

}  // namespace

void add_context_moments(const KeyQueryTask& task, TheoryResult& result) {
  const KeyQueryTask few = few_pairs(task);
  const Eigen::ArrayXd lambda = few.spectrum().array();
  const double n = few.context();
  const auto others = static_cast<double>(few.dimension() - 1);
  // Λ^{-1/2} β = |u| (c û + √c z)/N, u = Λ^{1/2} w, c a χ² of N, z normal across u.
  const double c2 = n * (n + 2);
  const double c3 = c2 * (n + 4);
  const double c4 = c3 * (n + 6);
  const double u4 = lambda.sum() * lambda.sum() + 2 * lambda.square().sum();
  add_constant(result, "context_square", few.second().sum());
  add_constant(result,
               "context_fourth",
               u4 * (c2 * others * (others + 2) + 2 * c3 * others + c4) / std::pow(n, 4));
}

void draw_contexts(const KeyQueryTask& task, const Replicate& replicate, Outcome& outcome) {
  constexpr Eigen::Index kSequences = 10000;
  const KeyQueryTask few = few_pairs(task);
  RandomStream stream = replicate.stream(StreamId::test_data);
  RegressionBatch batch{Eigen::MatrixXd(few.dimension(), kSequences),
                        Eigen::MatrixXd(few.dimension(), kSequences),
                        Eigen::VectorXd(kSequences)};
  draw_batch(few, stream, batch);
  add_constant(outcome, "context_square", batch.beta.colwise().squaredNorm().mean());
  batch.beta.array().colwise() /= few.spectrum().array().sqrt();
  add_constant(
      outcome, "context_fourth", batch.beta.colwise().squaredNorm().array().square().mean());
}

std::vector<AgreementRule> context_moments_rules() {
  // Exact: more than five standard errors of 500000 sequences.
  return {{.series = "context_square", .relative = 0.02},
          {.series = "context_fourth", .relative = 0.1}};
}

}  // namespace attica
