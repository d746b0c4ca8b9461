/// @file
/// @brief Study topics-attention: attention averaged over classes of word pairs while it is learnt.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"
#include "attica/theory/topics/loss.hpp"

namespace attica::topics_attention {
namespace {

const std::vector<std::string> kAverages = {
    "attention_same_word", "attention_same_topic", "attention_other_topic"};

/// The word of an optional parameter or, unset, all it allows.
std::vector<std::string> words_of(const Configuration& c,
                                  const char* key,
                                  const std::vector<std::string>& all) {
  return c.has(key) ? std::vector<std::string>{c.text(key)} : all;
}

/// A row of the table of settings.
struct Setting {
  std::string loss;
  std::string optimiser;
  std::string value;

  Point point() const { return {{"loss", loss}, {"optimiser", optimiser}, {"value", value}}; }
};

class Attention : public PointwiseExperiment {
 public:
  explicit Attention(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        times_(recorded_times(c, c.real("sim.eta"))),
        epsilon_(c.real("model.epsilon")),
        lambda_(topic_penalty(c)),
        scale_(attention_scale(c, model_)),
        start_(attention_start(c)),
        flow_(flow_start(c)),
        eta_(c.real("sim.eta")),
        eta_adam_(c.real("sim.eta_adam")),
        source_(source_options(c, model_)) {
    require_enumerable(model_);
    const AverageAttention uniform = average_attention(model_, {});
    const double averages[] = {uniform.same_word, uniform.same_topic, uniform.other_topic};
    for (std::size_t k = 0; k < kAverages.size(); ++k) {
      if (!std::isnan(averages[k])) kept_.push_back(k);
    }
    for (const auto& loss : words_of(c, "model.loss", {"squared", "cross_entropy"})) {
      for (const auto& optimiser : words_of(c, "sim.optimiser", {"sgd", "adam"})) {
        for (const auto& value : words_of(c, "model.value", {"block", "diagonal", "trained"})) {
          settings_.push_back({loss, optimiser, value});
        }
      }
    }
    rounded_ = {times_of_steps(c, "sim.times", c.real("sim.eta"))};
    warnings_ = topic_warnings(model_, true);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const Setting& s : settings_) {
      if (s.optimiser != "sgd") continue;
      TopicState start = flow_;
      start.value = start_value(s);
      const TopicFlow flow = whole_topic_flow(
          "attention flow", model_, dynamics(s), start, line_of(times_, 120, grid));
      Curves curves = curves_of(s);
      for (std::size_t k = 0; k < flow.times.size(); ++k) {
        const RelativeAttention r = relative_attention(scale_ * flow.states[k].m);
        const AverageAttention a = average_attention(model_, r);
        curves.add(flow.times[k],
                   kept({a.same_word, a.same_topic, a.other_topic}, topic_attention(model_, r)));
      }
      curves.into(result);
    }
    return result;
  }

  std::size_t points() const override { return settings_.size(); }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const Setting& s = settings_[replicate.point()];
    TopicSource source(model_, source_, replicate.address());
    const Eigen::Index tokens = model_.vocabulary().size();
    const TopicDynamics d = dynamics(s);
    TopicNetwork network({.tokens = tokens,
                          .inner = inner_dimension(start_, tokens),
                          .scale = scale_,
                          .loss = network_loss(d.loss)});
    network.start_attention(start_, epsilon_, {});
    network.set_value(algebra_.dense(start_value(s)));
    const Eigen::MatrixXd shares = population_batch(model_).shares;
    Curves curves = curves_of(s);
    const bool adam = s.optimiser == "adam";
    std::size_t at = 0;
    const auto end = train_topics(
        network,
        {.optimiser = {.kind = adam ? networks::OptimiserKind::adam : networks::OptimiserKind::sgd,
                       .learning_rate = adam ? eta_adam_ : eta_},
         .recorded = times_.steps(),
         .value_penalty = lambda_,
         .attention_penalty = lambda_,
         .train_value = d.train_value},
        std::ref(source),
        [&](std::uint64_t, const TopicNetwork& now) {
          const Eigen::MatrixXd scores = now.scores();
          const Eigen::Vector3d a = measured_attention(model_.vocabulary(), scores, shares);
          const double omega =
              topic_attention(model_, relative_attention(algebra_.project(scores)));
          curves.add(times_.realised()[at++], kept({a[0], a[1], a[2]}, omega));
        },
        [&] { return replicate.stopped(); });
    return recorded_run({curves}, end);
  }

 private:
  /// The averages over classes that have pairs, and ω.
  Curves curves_of(const Setting& s) const {
    std::vector<std::string> names;
    for (const std::size_t k : kept_) names.push_back(kAverages[k]);
    names.emplace_back("omega");
    return {s.point(), "time", names};
  }
  std::vector<double> kept(const std::vector<double>& averages, double omega) const {
    std::vector<double> some;
    for (const std::size_t k : kept_) some.push_back(averages[k]);
    some.push_back(omega);
    return some;
  }
  TopicDynamics dynamics(const Setting& s) const {
    return {.loss = loss_named(s.loss),
            .scale = scale_,
            .value_penalty = lambda_,
            .attention_penalty = lambda_,
            .train_value = s.value == "trained"};
  }
  Commutant start_value(const Setting& s) const {
    const double c = 1 / model_.kappa();
    if (s.value == "block") return block_value(model_, c);
    return s.value == "diagonal" ? diagonal_value(c) : Commutant(Commutant::Zero());
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  RecordedTimes times_;
  double epsilon_;
  double lambda_;
  double scale_;
  AttentionStart start_;
  TopicState flow_;
  double eta_;
  double eta_adam_;
  TopicSourceOptions source_;
  std::vector<Setting> settings_;
  std::vector<std::size_t> kept_;  ///< of kAverages: classes that are not empty
};

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Steps that are not small act on attention through its logarithm, the scores, which reach 2 and
  // more: up to 4 % of attention at a learning rate of 1, 2 % at 0.5, 1 % at 0.25. Attention
  // to equal words, which is large, feels a quarter of it.
  constexpr double kLargestSeen = 1;
  const double eta = std::min(c.real("sim.eta"), kLargestSeen);
  std::vector<AgreementRule> all = rules(kAverages, {.series = {}, .relative = 0.02 + 0.04 * eta});
  all.front().relative = 0.005 + 0.01 * eta;
  return all;
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  std::vector<ClaimResult> claims;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "omega" || curve.values.empty()) continue;
    claims.push_back(claim_rate(
        "own-topic: " + describe(curve.mean.point),
        "the own topic's mean attention weight ends above that of other topics, omega > 1",
        by_replicate(curve.values.back()).where([](double omega) { return omega > 1; }),
        fmt::format("mean {:.4g}", curve.mean.y.back())));
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "topics-attention",
                    .make = make<Attention>,
                    .agreement = agreement,
                    .claims = claims});
}

}  // namespace attica::topics_attention
