/// @file
/// @brief Study topics-landscape: the loss against attention at a fixed value matrix, and where it
/// is least.

#include <map>

#include "attica/sim/topics/sampling.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/loss.hpp"

namespace attica::topics_landscape {
namespace {

const std::vector<std::string> kMinimum = {"minimum_loss", "minimum_omega"};

class Landscape : public PointwiseExperiment {
 public:
  explicit Landscape(const Configuration& c)
      : model_(topic_model(c)),
        loss_(attica::topic_loss(c)),
        value_(fixed_value(c)(model_)),
        same_word_(ascending(c.reals("sweep.same_word"))),
        same_topic_(ascending(c.reals("sweep.same_topic"))),
        mask_{.mask = c.real("model.mask_attention"), .mask_query = c.real("model.mask_attention")},
        block_(model_.vocabulary().words == 1 || value_[kSameWord] == value_[kSameTopic]) {
    require_population(model_);
    diagnostics_ = {{"value", all_values(value_)}};
    warnings_ = topic_warnings(model_, true);
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const double a : same_word_) {
      Curves row({{"same_word", a}}, "same_topic", {"loss"});
      for (const double s : same_topic_) {
        RelativeAttention relative = mask_;
        relative.same_word = a;
        relative.same_topic = s;
        row.add(s, {reduced_loss(model_, loss_, value_, scores(relative))});
      }
      row.into(result);
    }
    const AttentionOptimum best = attention_optimum(model_, loss_, value_);
    Curves({}, "none", kMinimum).add(0, {best.loss, best.omega}).into(result);
    if (block_) {
      // The level line of ω through the minimum, and ω = τ and ω = T.
      line(result, "omega_minimum", best.omega);
      line(result, "omega_tau", model_.tau());
      line(result, "omega_T", model_.topics());
    } else {
      Curves({}, "same_topic", {"minimum"})
          .add(best.relative.same_topic, {best.relative.same_word})
          .into(result);
    }
    result.diagnostics = {{"same_word", best.relative.same_word},
                          {"same_topic", best.relative.same_topic},
                          {"omega", best.omega},
                          {"minimum_loss", best.loss},
                          {"uniform_loss", reduced_loss(model_, loss_, value_, Commutant::Zero())},
                          {"at_edge", best.at_edge},
                          {"bayes_floor", bayes_floor(model_)}};
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate&) const override {
    const CommutantAlgebra algebra(model_.vocabulary());
    const AttentionDescent end =
        descend_attention(model_, network_loss(loss_), algebra.dense(value_));
    const double omega =
        topic_attention(model_, {.same_word = end.same_word, .same_topic = end.same_topic});
    Outcome outcome;
    Curves({}, "none", kMinimum).add(0, {end.loss, omega}).into(outcome);
    Curves({}, "same_topic", {"descent_end"}).add(end.same_topic, {end.same_word}).into(outcome);
    return outcome;
  }

 private:
  /// Where (a + (v-1) s)/v = ω on the grid's range.
  void line(TheoryResult& result, const char* name, double omega) const {
    std::map<double, double> points;  // s, a
    const double total = omega * model_.words();
    const double others = model_.words() - 1;
    // On logarithmic axes the line is flat, then steep: points at even steps of s, then of a.
    const auto even_steps = [](const std::vector<double>& range) {
      return line_through({range.front(), range.back()}, 100, AxisScale::log, TheoryGrid::run);
    };
    for (const double s : even_steps(same_topic_)) points[s] = total - others * s;
    if (others > 0) {
      for (const double a : even_steps(same_word_)) points[(total - a) / others] = a;
    }
    Curves curve({}, "same_topic", {name});
    for (const auto& [s, a] : points) {
      const bool inside = s >= same_topic_.front() && s <= same_topic_.back() &&
                          a >= same_word_.front() && a <= same_word_.back();
      if (inside) curve.add(s, {a});
    }
    curve.into(result);
  }

  TopicModel model_;
  TopicLoss loss_;
  Commutant value_;
  std::vector<double> same_word_;
  std::vector<double> same_topic_;
  RelativeAttention mask_;
  bool block_;
};

}  // namespace

Study study() { return described({.name = "topics-landscape", .make = make<Landscape>}); }

}  // namespace attica::topics_landscape
