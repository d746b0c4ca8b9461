/// @file
/// @brief Study topics-onset: when keys and queries start to grow once the value matrix is learnt,
/// in closed form against gradient descent on all entries.

#include "attica/sim/topics/frozen_value.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/dynamics.hpp"
#include "attica/theory/topics/value.hpp"

namespace attica::topics_onset {
namespace {

class Onset : public PointwiseExperiment {
 public:
  explicit Onset(const Configuration& c)
      : settings_(topic_settings(c)),
        rates_(ascending(c.reals("sweep.keep_rate"))),
        epsilon_(c.real("model.epsilon")),
        threshold_(c.real("model.threshold")),
        eta_(c.real("sim.eta")),
        scale_(c.real("model.scale")) {
    require_squared(c);
    for (const double rate : rates_) {
      const TopicModel m = model(rate);
      require(m.vocabulary().topics >= 2, "topics", m.topics(), "topics >= 2");
      require_enumerable(m);
      static_cast<void>(value_closed_form(m));
    }
    if (attention_start(c) != AttentionStart::split) {
      throw invalid_parameter("model.initialisation",
                              c.text("model.initialisation"),
                              "\"split\": the onset has a closed form for this start only");
    }
    warnings_ = topic_warnings(model(rates_.front()), true);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const double low = rates_.front() > 0 || rates_.size() == 1 ? rates_.front() : rates_[1];
    Curves curves({}, "keep_rate", {"onset_time"});
    for (const double rate : line_from(low, rates_, 60, grid)) {
      const TopicModel m = model(rate);
      const AttentionOnset onset = attention_onset(m, scale_);
      const double time = onset_time(m, onset, threshold_, small_step(onset, eta_));
      // Attention that has grown is slower than its linear law, the more so the more of W_V tells
      // replaced tokens apart. Measured: 0.17 + 0.10 p_r/p_c of the score's size at p_r/p_c = 0.1
      // to 50 and T = 4, at most 1.5 times that at T = 3 to 8, v = 2 and 5.
      const double grown = scale_ * std::pow(epsilon_ * threshold_, 2);
      const double late = grown * (0.3 + 0.2 * settings_.random_rate / rate);
      const bool small = late <= kMostLate;
      curves.add(rate, {{time, small ? late * time : 0, small}});
    }
    std::vector<double> contrasts;
    std::vector<double> growth;
    for (const double rate : rates_) {
      const AttentionOnset onset = attention_onset(model(rate), scale_);
      contrasts.push_back(onset.topic_contrast);
      growth.push_back(onset.growth_rate);
    }
    const auto shown = [](const std::vector<double>& x) {
      return x.size() == 1 ? Value(x.front()) : Value(x);
    };
    TheoryResult result;
    curves.into(result);
    result.diagnostics = {{"topic_contrast", shown(contrasts)}, {"growth_rate", shown(growth)}};
    return result;
  }

  std::size_t points() const override { return rates_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const double rate = rates_[replicate.point()];
    const TopicModel m = model(rate);
    const AttentionOnset onset = attention_onset(m, scale_);
    if (onset.growth_rate <= 0) return {.series = {}, .status = "no second stage"};
    constexpr std::uint64_t kMostSteps = 2000000;
    const AttentionGrowth growth = attention_growth(m,
                                                    {.value = value_closed_form(m),
                                                     .start = AttentionStart::split,
                                                     .epsilon = epsilon_,
                                                     .scale = scale_},
                                                    small_step(onset, eta_),
                                                    threshold_,
                                                    kMostSteps,
                                                    [&] { return replicate.stopped(); });
    Curves curves({}, "keep_rate", {"onset_time"});
    if (growth.time) curves.add(rate, {*growth.time});
    return recorded_run({curves}, growth.end);
  }

 private:
  TopicModel model(double keep_rate) const {
    TopicSettings s = settings_;
    s.keep_rate = keep_rate;
    return TopicModel(s);
  }

  static constexpr double kMostLate = 0.05;

  TopicSettings settings_;
  std::vector<double> rates_;
  double epsilon_;
  double threshold_;
  double eta_;
  double scale_;
};

}  // namespace

Study study() { return described({.name = "topics-onset", .make = make<Onset>}); }

}  // namespace attica::topics_onset
