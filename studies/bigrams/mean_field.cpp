#include "attica/studies/bigrams/mean_field.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica {

using Eigen::Index;

namespace {

const std::vector<std::string> kMeanFieldNames = {
    "excess_loss", "alpha_V", "alpha_A", "d_V", "d_A", "distance_V", "distance_A"};
/// What means something where K_P or K_Q is 0.
const std::vector<std::string> kWithoutSignal = {"excess_loss", "distance_V", "distance_A"};

/// Share of V's noise that may be off. Of sequences it was within 1.5 % (two instances, 6000 runs
/// each, standard error 1.2 % at each of 12 steps; one 4.0(1.2) %), and the quick preset's standard
/// error is 2.6 %. The surrogate has the theory's own noise, whose share along P is not taken off.
double noise_order(const Configuration& c) {
  constexpr double kSequences = 0.12;
  constexpr double kSurrogate = 0.05;
  return c.text("sim.surrogate") == "none" ? kSequences : kSurrogate;
}

/// Share of ‖V - P‖² that may be off: it passes next to 0, where early and late runs differ most.
constexpr double kOfDistance = 0.15;

/// Marks averages over runs; the recursion of the mean amplitude has no coordinate.
const Point kMeanOfRuns{{"average", "runs"}};

class MeanField : public PointwiseExperiment {
 public:
  explicit MeanField(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::batch, NoSignal::warn)),
        signal_(has_signal(setup_.model)),
        order_(noise_order(c)) {
    diagnostics_ = setup_.diagnostics;
    warnings_ = setup_.warnings;
    if (!signal_) return;
    constexpr double kEnoughSignal = 4;
    const double snr = setup_.boosting().snr(setup_.model.kappa_v(), setup_.batch);
    diagnostics_.emplace_back("snr", snr);
    if (snr < kEnoughSignal) {
      warnings_.push_back(
          fmt::format("snr = {:.2f} is below {}: the end of boosting varies from run to run, the "
                      "mean field describes no mean of runs and is not compared",
                      snr,
                      kEnoughSignal));
    }
    claimed_ = snr >= kEnoughSignal && setup_.rates.eta_a <= setup_.rate_limit / 2;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    if (!signal_ && grid == TheoryGrid::requested) require_signal(setup_.model);
    // The theory is that of hat gradients; the other rules are recorded alone.
    if (!signal_ || setup_.algorithm != BigramAlgorithm::sgd_hat) return result;
    // The recursion itself is the run of the mean boosted amplitude. Where curves are not linear in
    // the amplitude the mean of runs differs from it: that is compared with the simulation.
    BigramRecursion recursion(setup_.model, setup_.rates, setup_.batch, 0, setup_.mismatch());
    recursion.set_value_noise(value_noise());
    Curves typical({}, "step", kMeanFieldNames);
    at_steps(
        setup_.steps,
        [&] { recursion.step(); },
        [&](double n) {
          if (!std::isfinite(recursion.excess_loss())) return;  // above the stability limit
          typical.add(n, observables(kMeanFieldNames, recursion.state()));
        });
    typical.into(result);
    if (!add_mean_of_runs(grid, result)) return result;
    result.diagnostics = {{"omega", setup_.boosting().omega()}};
    return result;
  }

  void require_simulable() const override { setup_.require_memory(); }

 protected:
  double flops(std::size_t) const override {
    const auto length = static_cast<double>(setup_.steps.back() + 1);
    const auto tokens = static_cast<double>(setup_.model.tokens());
    // A position of the surrogate costs three of a sequence.
    return setup_.flops(length) * (setup_.sampled() ? 1 : 3 * tokens / setup_.batch);
  }

  Outcome run(const Replicate& replicate) const override {
    const auto trainer = make_trainer(setup_, setup_.algorithm, setup_.start, replicate.address());
    const std::vector<std::string>& names = signal_ ? kMeanFieldNames : kWithoutSignal;
    Curves curves(kMeanOfRuns, "step", names);
    for (const std::int64_t next : setup_.steps) {
      while (trainer->steps() < next && !replicate.stopped()) trainer->step();
      if (trainer->diverged() || replicate.stopped()) break;
      curves.add(static_cast<double>(next), observables(names, trainer->state()));
    }
    Outcome outcome;
    curves.into(outcome);
    record_end(outcome, status_of(*trainer), *trainer);
    return outcome;
  }

 private:
  /// The surrogate draws the leading order.
  ValueNoise value_noise() const {
    return setup_.sampled() ? ValueNoise::exact : ValueNoise::leading_order;
  }

  /// False if it is not finite at any step.
  bool add_mean_of_runs(TheoryGrid grid, TheoryResult& result) const {
    const std::vector<std::int64_t> steps = steps_between(setup_.steps, grid);
    const std::vector<std::string>& names = kMeanFieldNames;
    const Eigen::MatrixXd averaged = averaged_over_amplitudes(
        setup_.model,
        setup_.rates,
        setup_.batch,
        setup_.mismatch(),
        value_noise(),
        steps,
        [&](const BigramRecursion& r) -> Eigen::RowVectorXd {
          const std::vector<double> row = observables(names, r.state());
          return Eigen::Map<const Eigen::RowVectorXd>(row.data(), static_cast<Index>(row.size()));
        });
    Index finite = 0;
    while (finite < averaged.rows() && averaged.row(finite).allFinite()) ++finite;
    if (finite == 0) return false;
    Eigen::RowVectorXd scale = Eigen::RowVectorXd::Zero(averaged.cols());
    for (Index row = 0; row < finite; ++row) {
      if (std::ranges::binary_search(setup_.steps, steps[static_cast<std::size_t>(row)]))
        scale = scale.cwiseMax(averaged.row(row).cwiseAbs());
    }
    const auto d_v = std::ranges::find(names, "d_V") - names.begin();
    Curves curves(kMeanOfRuns, "step", names);
    for (Index row = 0; row < finite; ++row) {
      std::vector<PredictedValue> values;
      for (Index i = 0; i < averaged.cols(); ++i) {
        const double y = averaged(row, i);
        const bool distance_v = names[static_cast<std::size_t>(i)] == "distance_V";
        const double allowance =
            distance_v ? curve_allowance(y, scale[i], kOfDistance) + order_ * averaged(row, d_v)
                       : curve_allowance(y, scale[i]);
        values.emplace_back(y, allowance, claimed_);
      }
      curves.add(static_cast<double>(steps[static_cast<std::size_t>(row)]), values);
    }
    curves.into(result);
    return true;
  }

  BigramSetup setup_;
  bool signal_;
  double order_;          ///< share of V's noise that may be off
  bool claimed_ = false;  ///< SNR >= 4 and η_A at most half of the stability limit
};

}  // namespace

std::unique_ptr<Experiment> make_mean_field(Configuration& c) { return make<MeanField>(c); }

}  // namespace attica
