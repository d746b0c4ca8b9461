/// @file
/// @brief Study bigrams-sign: how often the first stage of training grows the signal with the right
/// sign.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/solvers/statistics/distributions.hpp"
#include "attica/studies/bigrams/model.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica::bigrams_sign {
namespace {

/// The noise of A, left out of the linear system, lowers the probability: points where it is
/// estimated to do so by more than half of the margin are drawn, not compared.
constexpr double kMargin = 0.05;

class Sign : public PointwiseExperiment {
 public:
  explicit Sign(Configuration& c) : theta_(c.real("sim.theta")), requested_(c.reals("sweep.snr")) {
    for (const std::int64_t context : c.integers("sweep.context")) {
      c.set("model.context", context, false);
      BigramSetup setup = bigram_setup(c, RateCheck::descent);
      if (context <= c.integer("sim.longest_sampled")) setup.sampling = BigramSampling::sequences;
      std::vector<double> batches;
      std::vector<RunAt> realised;
      for (const double snr : requested_) {
        batches.push_back(realised_batch(setup, snr));
        const double at = setup.boosting().snr(setup.model.kappa_v(), batches.back());
        realised.push_back({.asked = snr,
                            .realised = at,
                            .words = fmt::format("B = {:g}, snr = {:.4g}", batches.back(), at)});
      }
      if (setup.sampled()) {
        rounded_.emplace_back(
            c,
            "sweep.snr",
            "snr",
            fmt::format("batches are whole sequences of T = {:g}", setup.context()),
            std::move(realised));
      }
      for (const double batch : ascending(std::move(batches))) {
        setup.batch = batch;
        places_.push_back(
            {contexts_.size(), setup, setup.boosting().snr(setup.model.kappa_v(), batch)});
      }
      warnings_.insert(warnings_.end(), setup.warnings.begin(), setup.warnings.end());
      contexts_.push_back(std::move(setup));
    }
    diagnostics_ = contexts_.front().diagnostics;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      const BigramSetup& setup = contexts_[i];
      Curves curve(point_of(setup), "snr", {"success_probability"});
      for (const double snr : ratios(i, grid)) {
        const double deficit = at_point(joined(point_of(setup), {{"snr", snr}}), [&] {
          return sign_deficit(setup.model, setup.rates, batch_for(setup, snr), theta_);
        });
        curve.add(snr, {{normal_tail(-snr), 0, deficit <= kMargin / 2}});
      }
      curve.into(result);
    }
    result.diagnostics = {{"omega", contexts_.front().boosting().omega()}};
    return result;
  }

  std::size_t points() const override { return places_.size(); }
  void require_simulable() const override {
    PointwiseExperiment::require_simulable();
    for (const BigramSetup& setup : contexts_) setup.require_memory();
  }

 protected:
  double flops(std::size_t point) const override {
    const BigramSetup& setup = places_[point].setup;
    return group_flops(setup, setup.boosting().boosting_time(theta_));
  }

  Outcome run(const Replicate& replicate) const override {
    const auto& [context, setup, snr] = places_[replicate.point()];
    const double most = 10 * setup.boosting().boosting_time(theta_);
    double successes = 0;
    int undecided = 0;
    for (int member = 0; member < kGroup; ++member) {
      const auto trainer = make_trainer(
          setup, BigramAlgorithm::sgd_hat, setup.start, member_address(replicate, member));
      const double alpha = grow_signal(*trainer, theta_, most, replicate.piece.stop);
      if (trainer->diverged()) return diverged_outcome(trainer->steps());  // no mean of the group
      successes += alpha >= theta_ ? 1 : 0;
      undecided += std::abs(alpha) < theta_ ? 1 : 0;
    }
    Outcome outcome;
    Curves(point_of(setup), "snr", {"success_probability"})
        .add(snr, {successes / kGroup})
        .into(outcome);
    if (undecided > 0) outcome.status = fmt::format("{} runs undecided", undecided);
    return outcome;
  }

 private:
  /// A point of the experiment.
  struct Place {
    std::size_t context;
    BigramSetup setup;  ///< with the batch of this point
    double snr;         ///< as this batch realises it
  };

  static double batch_for(const BigramSetup& setup, double snr) {
    return setup.boosting().batch_for(snr, setup.model.kappa_v());
  }

  /// Real sequences come in whole numbers.
  static double realised_batch(const BigramSetup& setup, double snr) {
    const double batch = batch_for(setup, snr);
    const double most = setup.sampled() ? 1e9 : 1e15;
    require(batch <= most, "sweep.snr", snr, fmt::format("a batch of at most {:g}", most));
    return setup.sampled() ? std::max(1.0, std::round(batch)) : batch;
  }

  static Point point_of(const BigramSetup& setup) { return {{"context", setup.context()}}; }

  /// As asked for, or as batches realise them and between them.
  std::vector<double> ratios(std::size_t context, TheoryGrid grid) const {
    if (grid == TheoryGrid::requested) return requested_;
    std::vector<double> all;
    for (const Place& place : places_) {
      if (place.context == context) all.push_back(place.snr);
    }
    constexpr int kLine = 60;
    const double low = all.front();
    const double high = all.back();
    for (int k = 1; k < kLine && high > low; ++k) all.push_back(low + (high - low) * k / kLine);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  double theta_;
  std::vector<double> requested_;
  std::vector<BigramSetup> contexts_;
  std::vector<Place> places_;
};

Figure figure(const Configuration& c) {
  // The theory is the same for all contexts: one line.
  const auto longest = static_cast<double>(std::ranges::max(c.integers("sweep.context")));
  return {
      .name = "bigrams-sign",
      .panels = {{.x = {.label =
                            "signal-to-noise ratio √(2{/:Italic B}/{/:Italic ωκ}_V{/:Italic T})"},
                  .y = {.label = "probability of the right sign", .low = 0.5, .high = 1},
                  .layers = {{.series = "success_probability",
                              .label = "normal distribution",
                              .simulation = false,
                              .reference = true,
                              .only = {{"context", longest}}},
                             {.series = "success_probability",
                              .label = "{/:Italic T} = {context}",
                              .theory = false}},
                  .x_name = "snr"}},
      .columns = 1,
      .caption =
          "How often the first stage grows the signal with the right sign: context lengths fall on "
          "one curve. Line: normal distribution function of the signal-to-noise ratio; points: "
          "groups of 50 runs on sequences (short contexts) or the Gaussian surrogate, mean and "
          "standard error over groups. Short contexts fall below at weak signals: noise of the "
          "attention matrix, not compared there."};
}

}  // namespace

Study study() { return described({.name = "bigrams-sign", .make = make<Sign>, .figure = figure}); }

}  // namespace attica::bigrams_sign
