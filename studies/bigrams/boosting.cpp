/// @file
/// @brief Study bigrams-boosting: the first stage of training as a noisy linear system, and how
/// much runs differ in it.

#include "attica/theory/bigrams/boosting.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/solvers/statistics/distributions.hpp"
#include "attica/studies/bigrams/model.hpp"

namespace attica::bigrams_boosting {
namespace {

const std::vector<std::string> kNames = {
    "alpha_V", "alpha_V_sd", "boosted_fraction", "alpha_A", "snr"};

/// Runs that saturate reach θ when a linear signal is at θ (1 + θ²): measured 0.93 to 1.0 θ² at
/// θ = 0.2 to 0.4.
constexpr double kLag = 1.25;

class Boosting : public PointwiseExperiment {
 public:
  explicit Boosting(const Configuration& c)
      : setup_(bigram_setup(c)), closed_(setup_.boosting()), theta_(c.real("sim.theta")) {
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
    constexpr double kLinear = 0.25;
    if (theta_ > kLinear) {
      warnings_.push_back(
          fmt::format("theta = {} is beyond the linear regime (about {})", theta_, kLinear));
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    Curves curves({}, "step", kNames);
    for (const double n : as_reals(steps_between(setup_.steps, grid))) {
      const double m = closed_.alpha_v_discrete(n);
      const double sd = closed_.alpha_v_deviation(n, setup_.model.kappa_v(), setup_.batch);
      const auto beyond = [&](double level) { return sd > 0 ? normal_tail((level - m) / sd) : 0; };
      const double boosted = beyond(theta_);
      const double lag = boosted - beyond(theta_ * (1 + kLag * theta_ * theta_));
      // Runs near saturation grow more slowly: relative α_V²/2 at one and two deviations above the
      // mean.
      const double top = std::abs(m) + 2 * sd;
      const bool linear = top <= theta_;
      const double slower = linear ? 0.5 * top * top : 0;
      // Where the law of the boosting time has no mass, groups of runs all say 0 or 1.
      constexpr double kCertain = 0.005;
      // The ratio settles once the decaying mode is gone; whole steps make it larger by √(1 + ω/2).
      constexpr double kGrown = 2;      // e⁻⁴ = 2 % of the amplitude is left
      constexpr double kSettled = 3.5;  // of the variance 2 ωn e^{-2ωn} < 1 %
      const double snr = closed_.snr(setup_.model.kappa_v(), setup_.batch);
      const double a = closed_.alpha_a_discrete(n);
      curves.add(n,
                 {{m, slower * m, linear},
                  {sd, slower * sd, linear && sd > 0},
                  {boosted, lag, boosted > kCertain && boosted < 1 - kCertain},
                  {a, slower * a, linear && closed_.omega() * n >= kGrown},
                  {snr * std::sqrt(1 + closed_.omega() / 2),
                   slower * snr,
                   linear && closed_.omega() * n >= kSettled}});
    }
    TheoryResult result{.predictions = {},
                        .diagnostics = {{"omega", closed_.omega()},
                                        {"snr", closed_.snr(setup_.model.kappa_v(), setup_.batch)},
                                        {"boosting_time", closed_.boosting_time(theta_)}}};
    curves.into(result);
    return result;
  }

  void require_simulable() const override { setup_.require_memory(); }

 protected:
  double flops(std::size_t) const override {
    return group_flops(setup_, static_cast<double>(setup_.steps.back()));
  }

  Outcome run(const Replicate& replicate) const override {
    const auto make_run = [&](int member) {
      const StreamAddress address = member_address(replicate, member);
      return make_trainer(setup_, BigramAlgorithm::sgd_hat, setup_.start, address);
    };
    const BigramSpread spread =
        signal_spread(make_run, kGroup, setup_.steps, theta_, replicate.piece.stop);
    if (spread.diverged_at) return diverged_outcome(*spread.diverged_at);  // no mean of the group
    Curves curves({}, "step", kNames);
    for (std::size_t k = 0; k < spread.mean.size(); ++k) {
      curves.add(static_cast<double>(setup_.steps[k]),
                 {spread.mean[k],
                  spread.deviation[k],
                  spread.grown[k],
                  spread.attention[k],
                  spread.ratio[k]});
    }
    Outcome outcome;
    curves.into(outcome);
    return outcome;
  }

 private:
  BigramSetup setup_;
  BoostingTheory closed_;
  double theta_;
};

}  // namespace

Study study() { return described({.name = "bigrams-boosting", .make = make<Boosting>}); }

}  // namespace attica::bigrams_boosting
