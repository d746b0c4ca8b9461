#include "attica/studies/topics/value_training.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/solvers/statistics/replicates.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica {

ValueTraining::ValueTraining(const Configuration& c, bool map)
    : model_(topic_model(c)),
      algebra_(model_.vocabulary()),
      steps_(recorded_steps<std::uint64_t>(c)),
      optimiser_(optimiser_options(c)),
      lambda_(topic_penalty(c)),
      loss_(topic_loss(c)),
      source_(source_options(c, model_)),
      map_(map),
      uncovered_(uncovered_training(c)) {
  if (map_) steps_ = {steps_.back()};
  warnings_ = topic_warnings(model_, false);
  if (uncovered_) return;
  const Isotypic s = algebra_.isotypic(value_moments(model_).sigma);
  const double largest = std::max({s.trivial.trace(), s.topic, s.within});
  if (optimiser_.learning_rate * (largest + lambda_) > 1) {
    warnings_.emplace_back(
        "sim.eta is above 1/(largest eigenvalue of the second moment + penalty): expect "
        "divergence");
  }
}

TheoryResult ValueTraining::theory(TheoryGrid grid) const {
  if (uncovered_ && grid == TheoryGrid::requested) uncovered_->refuse();
  if (uncovered_) return {};
  const ValueMoments moments = value_moments(model_);
  std::vector<std::string> names = value_names();
  names.emplace_back("loss");
  Curves curves({}, "step", names);
  Commutant w = Commutant::Zero();
  const std::uint64_t last = steps_.back();
  constexpr std::uint64_t kLine = 200;  // of a smooth line
  for (std::uint64_t n = 0; n <= last; ++n) {
    if (std::binary_search(steps_.begin(), steps_.end(), n) ||
        (grid == TheoryGrid::run && !map_ && n % (last / kLine + 1) == 0)) {
      std::vector<double> values = all_values(w);
      values.push_back(value_loss(algebra_, moments, w));
      curves.add(static_cast<double>(n), values);
    }
    if (n < last) w = mean_value_step(algebra_, moments, w, optimiser_.learning_rate, lambda_);
  }
  TheoryResult result;
  // Early entries scatter more, and g passes through zero: with the relative margins some four
  // standard errors of the quick preset of topics-value-curves.
  for (const auto& [name, share] : {std::pair{"value_d", 0.0004},
                                    {"value_s", 0.0004},
                                    {"value_b", 0.0018},
                                    {"value_g", 0.0045}}) {
    curves.allow_share(share, name);
  }
  curves.into(result);
  if (map_) add_matrix(result, "value_entry", algebra_.dense(w));
  const Commutant optimum = value_optimum(algebra_, moments, lambda_);
  Curves({}, "none", {"optimum_b", "optimum_d", "optimum_s", "optimum_g"})
      .add(0, {optimum[kWordMask], optimum[kSameWord], optimum[kSameTopic], optimum[kOtherTopic]})
      .into(result);
  if (looks_at_fixed()) {
    const Commutant first =
        mean_value_step(algebra_, moments, Commutant::Zero(), optimiser_.learning_rate, lambda_);
    add_constant(result, "fixed_d", first[kSameWord]);
  }
  result.diagnostics = {{"optimum", all_values(optimum)},
                        {"optimum_loss", value_loss(algebra_, moments, optimum)}};
  return result;
}

double ValueTraining::flops(std::size_t) const {
  constexpr double kFlopsPerToken = 1000;
  const double length = model_.infinite() ? static_cast<double>(source_.queries)
                                          : static_cast<double>(model_.settings().length->second);
  return kFlopsPerToken * length * static_cast<double>(source_.batch) *
         static_cast<double>(steps_.back());
}

bool ValueTraining::deterministic(std::size_t) const {
  return source_.data == TopicData::population;
}

Outcome ValueTraining::run(const Replicate& replicate) const {
  TopicSource source(model_, source_, replicate.address());
  TopicNetwork network({.tokens = model_.vocabulary().size(), .loss = network_loss(loss_)});
  Curves curves({}, "step", compared_value_names(model_));
  const auto end = train_topics(
      network,
      {.optimiser = optimiser_, .recorded = steps_, .value_penalty = lambda_},
      std::ref(source),
      [&](std::uint64_t step, const TopicNetwork& now) {
        curves.add(static_cast<double>(step),
                   compared_values(model_, algebra_.project(now.value())));
      },
      [&] { return replicate.stopped(); });
  Outcome outcome = recorded_run({curves}, end);
  if (map_ && !curves.empty()) add_matrix(outcome, "value_entry", network.value());
  if (looks_at_fixed() && !outcome.failed) {
    add_constant(outcome, "fixed_d", first_fixed_step(replicate.address()));
  }
  return outcome;
}

bool ValueTraining::looks_at_fixed() const {
  return !map_ && !uncovered_ && source_.data == TopicData::fresh;
}

double ValueTraining::first_fixed_step(const StreamAddress& address) const {
  constexpr Eigen::Index kDocuments = 256;  // fewer scatter too much: rare words
  TopicSourceOptions options = source_;
  options.data = TopicData::fixed;
  options.documents = kDocuments;
  options.batch = kDocuments;
  TopicSource source(model_, options, address);
  TopicNetwork network({.tokens = model_.vocabulary().size(), .loss = network_loss(loss_)});
  const networks::TrainingResult end =
      train_topics(network,
                   {.optimiser = optimiser_, .recorded = {1}, .value_penalty = lambda_},
                   std::ref(source),
                   [](std::uint64_t, const TopicNetwork&) {});
  if (end.status != networks::TrainingStatus::finished) return std::nan("");
  return algebra_.project(network.value())[kSameWord];
}

std::optional<Uncovered> uncovered_training(const Configuration& c) {
  return first_uncovered(c,
                         {{"model.loss", {"squared"}},
                          {"sim.optimiser", {"sgd"}},
                          {"sim.data", {"fresh", "population"}}});
}

std::string described_training(const Configuration& c) {
  std::string text = c.text("sim.optimiser") == "sgd" ? "SGD" : c.text("sim.optimiser");
  if (c.text("model.loss") != "squared") text += " on the cross-entropy";
  if (c.text("sim.data") == "fixed") text += " on fixed documents";
  return text;
}

std::vector<AgreementRule> value_training_agreement(const Configuration& c) {
  // The mean is exact.
  std::vector<AgreementRule> all = value_rules(topic_model(c),
                                               {.d = 0.006, .g = 0.004, .b = 0.004, .s = 0.004},
                                               c.text("sim.data") == "population");
  constexpr double kFirst = 0.01;
  all.push_back({.series = "fixed_d", .relative = kFirst, .tails = Tails::normal});
  return all;
}

std::vector<ClaimResult> value_training_claims(const Configuration& c, const Observed& observed) {
  if (!uncovered_training(c)) return {};
  const char* own = c.integer("model.words_per_topic") > 1 ? "value_s" : "value_d";
  const std::vector<double> differences =
      by_replicate(observed, {own, "value_g"}).of([](double within, double between) {
        return within - between;
      });
  return {claim_above("blocks",
                      "entries between words of a topic end above those between topics in the mean",
                      differences,
                      0,
                      "difference")};
}

}  // namespace attica
