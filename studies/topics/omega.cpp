/// @file
/// @brief Study topics-omega: how the attention that minimises the loss at a fixed value matrix
/// grows with the number of topics.

#include <algorithm>
#include <cmath>

#include "attica/sim/topics/sampling.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/loss.hpp"

namespace attica::topics_omega {
namespace {

class Omega : public PointwiseExperiment {
 public:
  explicit Omega(const Configuration& c)
      : loss_(attica::topic_loss(c)),
        taus_(ascending(c.integers("sweep.topics_per_document"))),
        settings_(topic_settings(c)),
        fixed_topics_(c.has("model.topics")),
        scaled_(c.has("model.value_scale")),
        value_(fixed_value(c)) {
    for (const std::int64_t tau : taus_) {
      const TopicModel m = model(tau);
      require_population(m);
      if (m.vocabulary().size() <= c.integer("sim.most_tokens")) enumerated_.push_back(tau);
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    Curves curves({}, "topics_per_document", {"omega", "omega_ratio", "same_word_ratio"});
    std::vector<std::int64_t> taus;
    for (const double tau : line_through(as_reals(taus_), 40, AxisScale::log, grid)) {
      taus.push_back(std::llround(tau));
    }
    for (const std::int64_t tau : ascending(taus)) {
      const TopicModel m = model(tau);
      const AttentionOptimum best = at_point({{"topics_per_document", m.tau()}}, [&] {
        return attention_optimum(m, loss_, value_(m));
      });
      curves.add(
          m.tau(),
          {best.omega, best.omega / m.tau(), best.relative.same_word / (m.tau() * m.words())});
    }
    TheoryResult result;
    curves.into(result);
    const double limit = 1 / (1 - model(taus_.front()).kappa());
    result.diagnostics = {{"limit", limit}};
    // c = 1/κ: both ω*/τ of a block and a*/(τ v) of a diagonal value matrix tend to it.
    if (!scaled_) add_constant(result, "limit", limit);
    return result;
  }

  std::size_t points() const override { return enumerated_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const TopicModel m = model(enumerated_[replicate.point()]);
    const AttentionDescent end = descend_attention(
        m, network_loss(loss_), CommutantAlgebra(m.vocabulary()).dense(value_(m)));
    const double omega =
        topic_attention(m, {.same_word = end.same_word, .same_topic = end.same_topic});
    Outcome outcome;
    Curves({}, "topics_per_document", {"omega", "omega_ratio"})
        .add(m.tau(), {omega, omega / m.tau()})
        .into(outcome);
    return outcome;
  }

 private:
  TopicModel model(std::int64_t tau) const {
    TopicSettings s = settings_;
    s.topics_per_document = tau;
    if (!fixed_topics_) s.vocabulary.topics = std::max<std::int64_t>(tau * tau, 2);
    return TopicModel(s);
  }

  TopicLoss loss_;
  std::vector<std::int64_t> taus_;
  std::vector<std::int64_t> enumerated_;  ///< those of small vocabulary, which are simulated
  TopicSettings settings_;
  bool fixed_topics_;
  bool scaled_;
  std::function<Commutant(const TopicModel&)> value_;
};

}  // namespace

Study study() { return described({.name = "topics-omega", .make = make<Omega>}); }

}  // namespace attica::topics_omega
