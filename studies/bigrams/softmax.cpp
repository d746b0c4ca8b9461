/// @file
/// @brief Study bigrams-softmax: softmax against linear attention; population descent of both, and
/// SGD with softmax attention to the end.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/flow.hpp"
#include "attica/theory/bigrams/population.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica::bigrams_softmax {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Share of last tokens that attend to each true position more than to any other.
double support_found(const BigramModel& model, const MatrixXd& attention) {
  double found = 0;
  for (Index k = 0; k < model.tokens(); ++k) {
    const std::vector<Index>& positions = model.attention()[static_cast<std::size_t>(k)].positions;
    Eigen::VectorXd others = attention.col(k);
    double least = std::numeric_limits<double>::infinity();
    for (const Index t : positions) {
      least = std::min(least, attention(t, k));
      others[t] = 0;
    }
    if (least > others.maxCoeff()) found += 1 / static_cast<double>(model.tokens());
  }
  return found;
}

class Softmax : public PointwiseExperiment {
 public:
  explicit Softmax(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)),
        eta_flow_(c.real("sim.eta_flow")),
        eta_logits_(c.has("sim.eta_logits") ? c.real("sim.eta_logits") : usual_logit_rate(setup_)),
        length_(c.integer("sim.length")) {
    require_sequences(c, "\"none\"");
    require_rates(c);
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
    const double limit = logit_rate_limit(setup_.model);
    diagnostics_.emplace_back("eta_logits", eta_logits_);
    // Attention at one position saturates: no rate is too large for it.
    if (std::isfinite(limit)) diagnostics_.emplace_back("eta_logits_limit", limit);
    if (eta_logits_ >= limit) {
      warnings_.push_back(fmt::format(
          "the logits' rate {:.3g} is above {:.3g}, from where on descent leaves every solution: "
          "expect attention at one position of several (sim.eta_logits)",
          eta_logits_,
          limit));
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    // Linear attention by discrete steps of the four-variable system, standard start: d = 0.
    BigramRecursion whole(
        setup_.model, {eta_flow_, eta_flow_}, std::numeric_limits<double>::infinity());
    Curves linear = signal("linear");
    Curves softmax = signal("softmax");
    at_steps(
        steps_between(setup_.steps, grid),
        [&] { whole.step(); },
        [&](double n) {
          const double a = whole.signals().alpha_a;
          linear.add(n, {a});
          // Softmax follows it up to a relative error of α_A T/Q; twice that is allowed, while it
          // is small.
          constexpr double kEarly = 0.1;
          const double relative =
              a * setup_.context() / static_cast<double>(setup_.model.sparsity());
          softmax.add(n, {{a, 2 * relative * a, relative <= kEarly}});
        });
    TheoryResult result;
    linear.into(result);
    softmax.into(result);
    // The descent keeps the whole attention, T x N numbers.
    constexpr double kLargestContext = 1e5;
    if (setup_.context() > kLargestContext) return result;
    std::vector<std::int64_t> steps;
    for (std::int64_t n = 0; n <= length_; ++n) steps.push_back(n);
    const SoftmaxDescent descent =
        softmax_descent(setup_.model, setup_.rates.eta_v, eta_logits_, steps);
    const double start = descent.states.front().excess_loss;
    Crossing half(start / 2, 0, start);
    for (std::size_t n = 1; n < descent.states.size(); ++n)
      half.see(static_cast<double>(n), descent.states[n].excess_loss);
    if (half.at()) add_constant(result, "half_step", *half.at());
    return result;
  }

  std::size_t points() const override { return 2; }
  void require_simulable() const override {
    constexpr double kBytes = 60;  // A, W and their gradients in double precision
    require_entries(setup_.model, kBytes);
  }

 protected:
  bool deterministic(std::size_t point) const override { return point == 0; }

  Outcome run(const Replicate& replicate) const override {
    return replicate.point() == 0 ? descent() : training(replicate);
  }

 private:
  static double usual_logit_rate(const BigramSetup& setup) {
    return kSoftmaxRate * setup.context() * setup.context() * setup.rates.eta_v;
  }

  static Curves signal(const char* attention) {
    return {{{"attention", attention}}, "step", {"alpha_A"}};
  }

  /// Refuses rates at which no solution is stable: for linear descent, with both rates equal, from
  /// ω = η √(K_P K_Q) = 1 on; for V at A = Q, where steps multiply V - P by 1 - η_V ‖Q‖²_μ.
  void require_rates(const Configuration& c) const {
    const BigramModel& model = setup_.model;
    require_stable_rate("sim.eta_flow", eta_flow_, 1 / std::sqrt(model.k_p() * model.k_q()));
    require_stable_rate(c.has("sim.eta_V") ? "sim.eta_V" : "sim.eta",
                        setup_.rates.eta_v,
                        2 / model.stationary().dot(model.attention_norm2()));
  }

  /// Descent of the population loss with both kinds of attention: nothing random.
  Outcome descent() const {
    const BigramModel& model = setup_.model;
    const double t = setup_.context();
    const std::vector<BigramState> linear = full_descent(model,
                                                         {eta_flow_, eta_flow_},
                                                         stationary_value(model),
                                                         uniform_attention(model),
                                                         setup_.steps);
    const SoftmaxDescent softmax =
        softmax_descent(model, eta_flow_, t * t * eta_flow_, setup_.steps);
    Outcome outcome;
    const auto add = [&](const char* attention, const std::vector<BigramState>& states) {
      Curves curve = signal(attention);
      for (std::size_t k = 0; k < states.size(); ++k) {
        curve.add(static_cast<double>(setup_.steps[k]), {states[k].alpha_a});
      }
      curve.into(outcome);
    };
    add("linear", linear);
    add("softmax", softmax.states);
    add_map(outcome, "softmax flow", softmax.attention);
    return outcome;
  }

  /// SGD with softmax attention.
  Outcome training(const Replicate& replicate) const {
    BigramSgd<float> run(setup_.model,
                         BigramAlgorithm::softmax,
                         {setup_.rates.eta_v, eta_logits_},
                         setup_.batch,
                         stationary_value(setup_.model),
                         replicate.address(StreamId::minibatch));
    Curves gap({}, "step", {"gap"});
    const double start = run.state().excess_loss;
    constexpr std::int64_t kRecords = 25;
    const std::int64_t every = std::max<std::int64_t>(1, length_ / kRecords);
    Crossing half(start / 2, 0, start);
    for (std::int64_t n = 0; n <= length_ && !run.diverged() && !replicate.stopped(); ++n) {
      const double excess_loss = run.state().excess_loss;
      if (n > 0) half.see(static_cast<double>(n), excess_loss);
      if (n % every == 0) gap.add(static_cast<double>(n), {excess_loss / start});
      if (n < length_) run.step();
    }
    Outcome outcome;
    gap.into(outcome);
    if (half.at()) add_constant(outcome, "half_step", *half.at());
    const MatrixXd attention = run.attention().cast<double>();
    add_map(outcome, "softmax SGD", attention);
    const BigramModel& model = setup_.model;
    const Eigen::VectorXd& mu = model.stationary();
    const AttentionSums sums = run.sums();
    const double cosine =
        mu.dot(sums.overlap) / std::sqrt(mu.dot(sums.norm2) * mu.dot(model.attention_norm2()));
    add_constant(outcome, "similarity", cosine);
    add_constant(outcome, "support_found", support_found(model, attention));
    record_end(outcome, status_of(run), run);
    return outcome;
  }

  /// Attention of every last token at all supported positions, numbered in rising order.
  void add_map(Outcome& outcome, const char* training, const MatrixXd& attention) const {
    std::vector<Index> positions;
    for (const SparseColumn& q : setup_.model.attention()) {
      positions.insert(positions.end(), q.positions.begin(), q.positions.end());
    }
    positions = ascending(std::move(positions));
    for (Index k = 0; k < setup_.model.tokens(); ++k) {
      Curves row(
          {{"training", training}, {"token", static_cast<double>(k)}}, "position", {"attention"});
      for (std::size_t j = 0; j < positions.size(); ++j) {
        row.add(static_cast<double>(j), {attention(positions[j], k)});
      }
      row.into(outcome);
    }
  }

  BigramSetup setup_;
  double eta_flow_;
  double eta_logits_;
  std::int64_t length_;
};

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  constexpr double kGap = 0.1;
  const auto last = by_replicate(observed.last("gap"));
  if (last.empty()) return {};
  const std::vector<double> similar = observed.last("similarity");
  return {claim_rate("learned",
                     "final excess loss of softmax SGD below a tenth of the initial one",
                     last.where([](double gap) { return gap < kGap; }),
                     fmt::format("median {:.3g}", median(last.entries())),
                     kHalf),
          claim_rate("support",
                     "softmax attention is largest at the positions of linear attention's optimum "
                     "Q, for every last token",
                     by_replicate(observed.last("support_found")).where([](double share) {
                       return share == 1;
                     }),
                     similar.empty() ? "no run ended"
                                     : fmt::format("median cosine with Q {:.3g}", median(similar)),
                     kHalf)};
}

}  // namespace

Study study() {
  return described({.name = "bigrams-softmax", .make = make<Softmax>, .claims = claims});
}

}  // namespace attica::bigrams_softmax
