/// @file
/// @brief Study joma-invariants: what attention logits and MLP weights conserve together, exactly
/// at any step size.

#include <fmt/format.h>

#include <cmath>

#include "attica/sim/joma/descent.hpp"
#include "attica/sim/joma/networks.hpp"
#include "attica/studies/joma/file_start.hpp"
#include "attica/studies/joma/model.hpp"

namespace attica::joma_invariants {
namespace {

using Eigen::VectorXd;

struct Pair {
  std::string attention;
  std::string activation;
  Point point() const { return {{"attention", attention}, {"activation", activation}}; }
};

class Invariants : public PointwiseExperiment {
 public:
  explicit Invariants(const Configuration& c)
      : steps_(recorded_steps(c)),
        eta_(c.real("sim.eta")),
        batch_(c.integer<int>("sim.batch")),
        seed_(c.seed()),
        scale_(c.real("sim.scale")),
        logit_(c.real("sim.logit")),
        orthonormal_(c.real("model.overlap") == 0) {
    const JomaSizes sizes{.tokens = c.integer("model.tokens"),
                          .samples = c.integer("model.samples"),
                          .classes = c.integer<int>("model.classes"),
                          .queries = c.integer<int>("model.queries"),
                          .units = c.integer("model.units")};
    bool from_file = false;
    for (const std::string& attention : c.texts("model.attention")) {
      for (const std::string& activation : c.texts("model.activation")) {
        pairs_.push_back({attention, activation});
        RandomStream stream({.seed = seed_, .id = StreamId::model});  // the same network for all
        const JomaLaw law{.attention = kJomaAttentions(attention),
                          .activation = kJomaActivations(activation),
                          .temperature = c.real("model.temperature"),
                          .gram = equal_overlap(sizes.tokens, c.real("model.overlap"))};
        models_.push_back(random_joma_model(sizes, law, stream));
        RandomStream of_start({.seed = seed_, .id = StreamId::initialisation});
        starts_.push_back(random_joma_start(models_.back(), scale_, of_start));
        from_file = take_file_start(c, starts_.back());
        if (attention == "linear" && !from_file) starts_.back().z.array() += logit_;
      }
      if (!from_file && attention == "linear" && scale_ == 0 && logit_ == 0) {
        warnings_ = {"linear attention rests at v = 0, z = 0: nothing will move"};
      }
    }
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const Pair& pair : pairs_) {
      Curves drift = curve("invariant_drift", pair);
      for (const double step : as_reals(steps_)) drift.add(step, {PredictedValue(0)});
      drift.into(result);
      if (!orthonormal_) continue;
      Curves slope = curve("descent_slope", pair);
      for (const double step : as_reals(steps_)) slope.add(step, {PredictedValue(1)});
      slope.into(result);
    }
    return result;
  }

  std::size_t points() const override { return pairs_.size(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kSample = 200;
    const JomaModel& model = models_[point];
    const auto samples = batch_ > 0 ? batch_ : model.samples().weights.size();
    return kSample * static_cast<double>(steps_.back()) *
           static_cast<double>(samples * model.units() * model.tokens());
  }

  Outcome run(const Replicate& replicate) const override {
    const JomaModel& model = models_[replicate.point()];
    const bool softmax = model.law().attention == JomaAttention::softmax;
    const JomaState& start = starts_[replicate.point()];
    JomaDescent descent(model, start, eta_, batch_, replicate.address(StreamId::minibatch));
    Curves drift = curve("invariant_drift", pairs_[replicate.point()]);
    Curves flow = curve("flow_drift", pairs_[replicate.point()]);
    Curves slope = curve("descent_slope", pairs_[replicate.point()]);
    for (const std::int64_t record : steps_) {
      while (descent.steps() < record && !descent.blown_up()) descent.step();
      if (descent.blown_up()) break;
      const JomaState& s = descent.state();
      // Rounding of the sums of z is what both sides are limited by.
      const double scale = std::max(1.0, s.z.cwiseAbs().maxCoeff());
      const VectorXd change = model.invariant(s) - model.invariant(start);
      const auto x = static_cast<double>(record);
      const VectorXd off = softmax ? VectorXd(model.logit_sums(s) - model.logit_sums(start))
                                   : VectorXd(change - descent.accumulated());
      drift.add(x, {off.cwiseAbs().maxCoeff() / scale});
      flow.add(x, {change.cwiseAbs().maxCoeff()});
      slope.add(x, {descent_slope(model, s)});
    }
    Outcome outcome;
    drift.into(outcome);
    if (!softmax) flow.into(outcome);
    if (orthonormal_) slope.into(outcome);
    if (!descent.finite()) {
      mark_diverged(outcome, descent.steps());
    } else if (descent.blown_up()) {
      outcome.status = "blow-up";
      outcome.message = fmt::format("attention grew beyond exp(30) at step {}", descent.steps());
    }
    return outcome;
  }

 private:
  static Curves curve(const std::string& name, const Pair& pair) {
    return {pair.point(), "step", {name}};
  }

  std::vector<std::int64_t> steps_;
  double eta_;
  int batch_;
  std::uint64_t seed_;
  double scale_;
  double logit_;
  bool orthonormal_;
  std::vector<Pair> pairs_;
  std::vector<JomaModel> models_;
  std::vector<JomaState> starts_;
};

}  // namespace

Study study() { return described({.name = "joma-invariants", .make = make<Invariants>}); }

}  // namespace attica::joma_invariants
