/// @file
/// @brief Study bigrams-floor: how far l1 lowers the noise floor of the attention matrix, at a
/// fixed value matrix V = P.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/parallel.hpp"
#include "attica/sim/bigrams/sampler.hpp"
#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/l1.hpp"

namespace attica::bigrams_floor {
namespace {

class Floor : public PointwiseExperiment {
 public:
  explicit Floor(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)), lambdas_(ascending(c.reals("sweep.l1"))) {
    require_sequences(c, "\"none\": this study tests real sequences");
    const double eta = setup_.rates.eta_a;
    require(eta < setup_.rate_limit,
            c.has("sim.eta_A") ? "sim.eta_A" : "sim.eta",
            eta,
            fmt::format("a rate below the stability limit {:.3g}: above it there is no floor",
                        setup_.rate_limit));
    // Ten relaxation times to forget the start, ten more to average over.
    constexpr double kForever = 1e15;
    relaxation_ = std::llround(std::min(10 / (eta * setup_.model.k_p()), kForever));
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr int kParts = 4;
    const double eta = setup_.rates.eta_a;
    Curves curves({}, "l1", {"distance_A", "zero_fraction"});
    Curves closed({}, "l1", {"distance_A_closed"});
    TheoryResult result;
    List ratios;
    const std::vector<double> line = line_between(lambdas_, AxisScale::linear, grid, kParts);
    const bool short_enough = relaxation_ <= kMostSteps;
    if (short_enough) {
      const auto floors = parallel_map(line, [this](double lambda) { return mean_field(lambda); });
      for (std::size_t k = 0; k < line.size(); ++k) {
        const bool any = line[k] > 0;  // without l1 there are no zeros
        const bool supported = floors[k].support >= kSupport;
        curves.add(line[k],
                   {{floors[k].distance, 0, supported}, {floors[k].zeros, 0, any && supported}});
      }
    }
    for (const double lambda : line) {
      const L1Floor formula = l1_floor_closed_form(setup_.model, eta, lambda, setup_.batch);
      closed.add(lambda, {formula.stated(formula.distance_a2)});
      if (!std::ranges::binary_search(lambdas_, lambda)) continue;
      ratios.emplace_back(formula.noise_ratio);
      if (formula.status == L1FloorStatus::settled) continue;
      result.warnings.push_back(
          fmt::format("floor at lambda = {}: {}", lambda, to_string(formula.status)));
    }
    curves.into(result);
    closed.into(result);
    if (!short_enough) {
      result.warnings.push_back(fmt::format(
          "the mean field would take {} steps: only the formula for small steps is drawn",
          2 * relaxation_));
    }
    add_constant(result, "last_share", setup_.model.stationary().tail<1>()[0]);
    result.diagnostics = {{"lambda_over_sigma", std::move(ratios)}};
    return result;
  }

  std::size_t points() const override { return lambdas_.size(); }
  void require_simulable() const override { require_entries(setup_.model, kFrozenBytes); }

 protected:
  double flops(std::size_t) const override {
    return setup_.flops(2 * static_cast<double>(relaxation_));
  }

  Outcome run(const Replicate& replicate) const override {
    const double lambda = lambdas_[replicate.point()];
    const auto run = make_frozen_run(BigramAlgorithm::l1,
                                     setup_.model,
                                     setup_.rates,
                                     setup_.batch,
                                     replicate.address(StreamId::minibatch));
    run->set_l1(lambda);
    const Averages averages = averages_of(*run, [&] { return replicate.stopped(); });
    Outcome outcome;
    if (averages.count > 0) {
      Curves({}, "l1", {"distance_A", "zero_fraction"})
          .add(lambda, {averages.distance, averages.zeros})
          .into(outcome);
    }
    if (replicate.point() == 0) add_constant(outcome, "last_share", last_share(replicate.stream()));
    record_end(outcome, status_of(*run), *run);
    return outcome;
  }

 private:
  /// Down to 0.67 the mean field was within 0.9(4) %.
  static constexpr double kSupport = 0.75;
  static constexpr std::int64_t kEvery = 10;
  static constexpr std::int64_t kMostSteps = 100000;  ///< of relaxation, some seconds

  /// Means over every tenth step, once the start is forgotten.
  struct Averages {
    double distance = 0, zeros = 0, count = 0;
  };
  template <class Process, class Stopped>
  Averages averages_of(Process& process, const Stopped& stopped) const {
    Averages sum;
    for (std::int64_t n = 1; n <= 2 * relaxation_ && !stopped(); ++n) {
      process.step();
      if (n <= relaxation_ || n % kEvery != 0) continue;
      sum.distance += process.state().distance_a2;
      sum.zeros += process.zero_fraction();
      ++sum.count;
    }
    return {sum.distance / sum.count, sum.zeros / sum.count, sum.count};
  }

  struct Floors : Averages {
    double support = 1;  ///< probability at the end that the support is kept
  };
  Floors mean_field(double lambda) const {
    const BigramSignals truth{.alpha_v = 1, .alpha_a = 1};
    L1MeanField field(setup_.model, {0, setup_.rates.eta_a}, setup_.batch, lambda, truth, 0);
    const Averages averages = averages_of(field, [] { return false; });
    return {averages, field.support_probability()};
  }

  /// Share of the last of the N tokens in sequences' ends, as they are drawn.
  double last_share(RandomStream stream) const {
    constexpr std::int64_t kDraws = 100000;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(setup_.model.tokens()));
    BigramSampler(setup_.model).draw_counts(kDraws, counts, stream);
    return static_cast<double>(counts.back()) / static_cast<double>(kDraws);
  }

  BigramSetup setup_;
  std::vector<double> lambdas_;
  std::int64_t relaxation_ = 0;
};

}  // namespace

Study study() { return described({.name = "bigrams-floor", .make = make<Floor>}); }

}  // namespace attica::bigrams_floor
