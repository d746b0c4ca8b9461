/// @file
/// @brief Studies topics-onset and topics-mode-growth: how keys and queries start to grow once the
/// value matrix is learnt, in closed form against gradient descent on all entries.

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/topic_setup.hpp"
#include "attica/studies/topic_studies.hpp"
#include "attica/theory/topic_value.hpp"

namespace attica {
namespace {

using Eigen::Index;

/// Gradient descent of W_K and W_Q on the population at W_V of Theorem 2.
class FrozenValueDescent {
 public:
  FrozenValueDescent(const TopicModel& model, AttentionStart start, double epsilon, double scale)
      : batch_(population_batch(model)),
        network_({.tokens = model.vocabulary().size(),
                  .inner = inner_dimension(start, model.vocabulary().size()),
                  .scale = scale}) {
    const CommutantAlgebra algebra(model.vocabulary());
    network_.set_value(algebra.dense(value_closed_form(model)));
    network_.start_attention(start, epsilon, {});
  }

  /// Calls look(step, network) before every step and at the end, until it returns false.
  networks::TrainingResult descend(
      double eta,
      std::uint64_t steps,
      const std::function<bool(std::uint64_t, const TopicNetwork&)>& look,
      const std::stop_token& stop) {
    bool going = true;
    return train_topics(
        network_,
        {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = eta},
         .recorded = {steps},
         .train_value = false},
        [&](std::uint64_t step) -> const TopicBatch& {
          going = look(step, network_);
          return batch_;
        },
        [&](std::uint64_t step, const TopicNetwork& now) { look(step, now); },
        [&] { return !going || stop.stop_requested(); });
  }

 private:
  TopicBatch batch_;
  TopicNetwork network_;
};

/// Step with ησ small: whole steps grow like (1 + ησ)^n, slower than e^{σηn} by half of ησ.
double small_step(double growth_rate, double largest) {
  constexpr double kGrowthPerStep = 0.01;
  return std::min(largest, kGrowthPerStep / growth_rate);
}

constexpr std::uint64_t kMostSteps = 2000000;

// Onset.

class Onset : public TopicExperiment {
 public:
  explicit Onset(const Configuration& c)
      : rates_(c.reals("sweep.keep_rate")),
        epsilon_(c.real("model.epsilon")),
        threshold_(c.real("model.threshold")),
        eta_(c.real("sim.eta")) {
    require_squared(c);
    std::sort(rates_.begin(), rates_.end());
    for (const double rate : rates_) {
      TopicSettings s = topic_settings(c);
      s.keep_rate = rate;
      const TopicModel model(s);
      require(model.vocabulary().topics >= 2, "topics", model.topics(), "topics >= 2");
      require_enumerable(model);
      scale_ = attention_scale(c, model);
      static_cast<void>(value_closed_form(model));
      models_.push_back(model);
    }
    start_ = attention_start(c);
    if (start_ != AttentionStart::split) {
      throw invalid_parameter("model.initialisation",
                              c.text("model.initialisation"),
                              "\"split\": the closed form of the onset knows no other start");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TopicCurves curves({"onset_time"}, {}, "keep_rate");
    TheoryResult result;
    std::vector<double> contrasts;
    std::vector<double> growth;
    std::vector<double> rates = rates_;
    if (grid == TheoryGrid::run && rates.size() > 1) {
      constexpr int kLine = 60;
      const double low = rates_.front() > 0 ? rates_.front() : rates_[1];
      for (int k = 1; k < kLine; ++k) {
        rates.push_back(low + (rates_.back() - low) * k / kLine);
      }
      std::sort(rates.begin(), rates.end());
    }
    for (const double rate : rates) {
      TopicSettings s = models_.front().settings();
      s.keep_rate = rate;
      const TopicModel model(s);
      const AttentionOnset onset = attention_onset(model, scale_);
      curves.record(rate, {onset_time(model, onset, threshold_)});
    }
    for (const TopicModel& model : models_) {
      const AttentionOnset onset = attention_onset(model, scale_);
      contrasts.push_back(onset.topic_contrast);
      growth.push_back(onset.growth_rate);
    }
    curves.append_to(result);
    const auto shown = [](const std::vector<double>& x) {
      return x.size() == 1 ? Value(x.front()) : Value(x);
    };
    result.diagnostics = {{"topic_contrast", shown(contrasts)}, {"growth_rate", shown(growth)}};
    return result;
  }

  std::size_t points() const override { return models_.size(); }
  std::vector<std::string> warnings() const override {
    return topic_warnings(models_.front(), true);
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Piece& piece, std::uint64_t) const override {
    const TopicModel& model = models_[piece.point];
    const AttentionOnset onset = attention_onset(model, scale_);
    Outcome outcome;
    if (onset.growth_rate <= 0) {
      outcome.status = "no second stage";
      return outcome;
    }
    const double eta = small_step(onset.growth_rate, eta_);
    FrozenValueDescent descent(model, start_, epsilon_, scale_);
    double first = 0;
    double before = 0;
    double time = -1;
    const auto end = descent.descend(
        eta,
        kMostSteps,
        [&](std::uint64_t step, const TopicNetwork& now) {
          const double norm = std::hypot(now.parameters().matrix("W_K").map().norm(),
                                         now.parameters().matrix("W_Q").map().norm());
          if (step == 0) first = norm;
          const double goal = threshold_ * first;
          if (norm >= goal) {
            const double part = (goal - before) / (norm - before);
            time = eta * (static_cast<double>(step) - 1 + part);
            return false;
          }
          before = norm;
          return true;
        },
        piece.stop);
    mark_end(outcome, end);
    if (time >= 0) {
      outcome.series.push_back({"onset_time", {}, "keep_rate", {rates_[piece.point]}, {time}});
    }
    return outcome;
  }

 private:
  std::vector<double> rates_;
  double epsilon_;
  double threshold_;
  double eta_;
  AttentionStart start_;
  std::vector<TopicModel> models_;
  double scale_ = 1;
};

Figure onset_figure(const Configuration&) {
  return {.name = "topics-onset",
          .panels = {{.x = {.label = "keep rate {/:Italic p}_c", .scale = AxisScale::log},
                      .y = {.label = "onset time {/:Italic t}_{KQ}", .scale = AxisScale::log},
                      .layers = {{.series = "onset_time"}},
                      .x_name = "keep_rate"}},
          .caption =
              "Time at which keys and queries have grown by the threshold, against the "
              "share of selected tokens that are shown unchanged. Line: closed form for a "
              "small start; points: gradient descent on all entries with W_V of Theorem 2. "
              "No randomness, no error bars."};
}

std::vector<AgreementRule> onset_agreement(const Configuration&) {
  constexpr double kStep = 0.02;  // whole steps lag by half of 1 %; the start is not infinitesimal
  return {{.series = "onset_time", .relative = kStep, .deterministic = true}};
}

// Growth of the mode.

class ModeGrowth : public TopicExperiment {
 public:
  explicit ModeGrowth(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        times_(c.reals("sim.times")),
        epsilon_(c.real("model.epsilon")),
        scale_(attention_scale(c, model_)),
        start_(attention_start(c)),
        eta_(c.real("sim.eta")) {
    require_squared(c);
    require_enumerable(model_);
    flow_ = flow_start(c);
    flow_.value = value_closed_form(model_);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    onset_ = attention_onset(model_, scale_);
    require(onset_.growth_rate > 0,
            "keep_rate",
            model_.keep_rate(),
            "keep_rate > 0 and topics_per_document >= 2: nothing grows otherwise");
    eta_ = small_step(onset_.growth_rate, eta_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> times = times_;
    if (grid == TheoryGrid::run) {
      times = realised();
      constexpr int kLine = 150;
      for (int k = 0; k < kLine; ++k) times.push_back(times_.back() * k / kLine);
      std::sort(times.begin(), times.end());
      times.erase(std::unique(times.begin(), times.end()), times.end());
    }
    const TopicFlow flow =
        topic_flow(model_, {.scale = scale_, .train_value = false}, flow_, times);
    if (flow.status != OdeStatus::finished) {
      throw Error(ErrorKind::numerical, "mode growth: " + to_string(flow.status));
    }
    TopicCurves curve({"contrast_K"}, {}, "time");
    TopicCurves law({"contrast_K_linear"}, {}, "time");
    const bool split = start_ == AttentionStart::split;
    for (std::size_t k = 0; k < flow.times.size(); ++k) {
      const double t = flow.times[k];
      curve.record(t, {algebra_.isotypic(flow.states[k].k).topic});
      const double growth = 2 * onset_.growth_rate * t;
      const double linear =
          epsilon_ * epsilon_ * (split ? 0.5 * (std::cosh(growth) + 1) : std::exp(growth));
      if (linear < 1) law.record(t, {linear});
    }
    TheoryResult result;
    curve.append_to(result);
    law.append_to(result);
    result.diagnostics = {{"topic_contrast", onset_.topic_contrast},
                          {"growth_rate", onset_.growth_rate}};
    return result;
  }

  std::size_t points() const override { return 1; }
  std::vector<std::string> warnings() const override { return topic_warnings(model_, true); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Piece& piece, std::uint64_t) const override {
    FrozenValueDescent descent(model_, start_, epsilon_, scale_);
    const std::vector<double> times = realised();
    TopicCurves curve({"contrast_K"}, {}, "time");
    std::size_t at = 0;
    const auto end = descent.descend(
        eta_,
        step_of(times_.back()),
        [&](std::uint64_t step, const TopicNetwork& now) {
          if (at < times_.size() && step == step_of(times_[at])) {
            const Eigen::MatrixXd key = now.parameters().matrix("W_K").map();
            const Isotypic parts = algebra_.isotypic(algebra_.project(key.transpose() * key));
            curve.record(times[at++], {parts.topic});
          }
          return true;
        },
        piece.stop);
    Outcome outcome;
    curve.append_to(outcome);
    mark_end(outcome, end);
    return outcome;
  }

 private:
  std::uint64_t step_of(double time) const {
    return static_cast<std::uint64_t>(std::llround(time / eta_));
  }
  std::vector<double> realised() const {
    std::vector<double> all;
    for (const double t : times_) {
      const double exact = static_cast<double>(step_of(t)) * eta_;
      all.push_back(std::abs(exact - t) < 1e-6 * eta_ ? t : exact);
    }
    return all;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<double> times_;
  double epsilon_;
  double scale_;
  AttentionStart start_;
  double eta_;
  TopicState flow_;
  AttentionOnset onset_;
};

Figure mode_figure(const Configuration&) {
  return {.name = "topics-mode-growth",
          .panels = {{.x = {.label = "time {/:Italic t}"},
                      .y = {.label = "topic contrast of {/:Italic W}_K^T{/:Italic W}_K",
                            .scale = AxisScale::log},
                      .layers = {{.series = "contrast_K", .label = "flow"},
                                 {.series = "contrast_K_linear",
                                  .label = "slope 2{/:Italic σ}",
                                  .reference = true}},
                      .x_name = "time"}},
          .caption =
              "Growth of the part of the keys that tells topics apart, at W_V of Theorem 2. "
              "Line: gradient flow in 24 numbers; dashed: its linear stage; points: gradient "
              "descent on all entries. No randomness, no error bars."};
}

std::vector<AgreementRule> mode_agreement(const Configuration&) {
  // (1 + ησ)^2n against e^{2σηn}: relative σ t ησ, up to 5 % after five e-foldings.
  constexpr double kStep = 0.05;
  return {{.series = "contrast_K", .relative = kStep, .deterministic = true}};
}

constexpr double kKeep = 0.3;
constexpr double kEpsilon = 0.02;

}  // namespace

Study topics_onset() {
  constexpr double kThreshold = 1.1;
  std::vector<Parameter> all = topic_parameters({.topics = 4,
                                                 .words = 2,
                                                 .initialisation = "split",
                                                 .scale = 1.0,
                                                 .epsilon = kEpsilon,
                                                 .threshold = kThreshold},
                                                {"keep_rate"});
  const std::vector<Parameter> own = {
      reals_parameter("sweep.keep_rate",
                      {0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8},
                      "p_c, probability that a selected token stays what it is",
                      {.low = 0, .high = 1}),
      real_parameter("sim.eta",
                     1,
                     "largest learning rate; lowered so that growth per step is at most 1 %",
                     {.low = 0, .low_open = true}),
      replicates_parameter(8, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  return {
      .name = "topics-onset",
      .question = "When does attention start to learn topics?",
      .neglects = "the step size of descent and the finite size of the start",
      .parameters = std::move(all),
      .series = {{"onset_time", "t_KQ", "time at which |(W_K, W_Q)| has grown by the threshold"}},
      .presets = {{"quick", "the defaults: T = 4, v = 2, split start of scale 0.02", {}},
                  {"paper", "T = 6, v = 3", {{"model.topics", 6}, {"model.words_per_topic", 3}}}},
      .sources = {topic_source("second stage of training; the closed form is ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<Onset>(c);
      },
      .figure = onset_figure,
      .agreement = onset_agreement};
}

Study topics_mode_growth() {
  std::vector<Parameter> all = topic_parameters({.topics = 4,
                                                 .words = 2,
                                                 .keep_rate = kKeep,
                                                 .initialisation = "identity",
                                                 .scale = 1.0,
                                                 .epsilon = kEpsilon});
  const std::vector<Parameter> own = {
      topic_times(
          {0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0, 200.0, 220.0, 240.0}),
      real_parameter("sim.eta",
                     0.25,
                     "largest learning rate; lowered so that growth per step is at most 1 %",
                     {.low = 0, .low_open = true}),
      replicates_parameter(8, "independent runs")};
  all.insert(all.end(), own.begin(), own.end());
  return {
      .name = "topics-mode-growth",
      .question = "At what rate do the keys learn to tell topics apart?",
      .neglects = "the step size of descent",
      .parameters = std::move(all),
      .series = {{"contrast_K", "c_t(C_K)", "eigenvalue of W_K'W_K on topic contrasts"},
                 {"contrast_K_linear", "", "its linear stage in closed form (theory)"}},
      .presets = {{"quick", "the defaults: T = 4, v = 2, identity start", {}},
                  {"paper", "T = 6, v = 3", {{"model.topics", 6}, {"model.words_per_topic", 3}}}},
      .sources = {topic_source("second stage of training; the rate is ours")},
      .make = [](Configuration& c) -> std::unique_ptr<Experiment> {
        return std::make_unique<ModeGrowth>(c);
      },
      .figure = mode_figure,
      .agreement = mode_agreement};
}

}  // namespace attica
