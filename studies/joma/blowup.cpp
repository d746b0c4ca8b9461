/// @file
/// @brief Study joma-blowup: the last moments before the blow-up of linear dynamics, to gaps that
/// time itself cannot resolve.

#include "attica/theory/joma/blowup.hpp"

#include <cmath>

#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/linear.hpp"

namespace attica::joma_blowup {
namespace {

class Blowup : public PointwiseExperiment {
 public:
  explicit Blowup(const Configuration& c)
      : delta_(c.reals("model.delta")),
        gaps_(c.reals("sweep.gap")),
        blowup_(joint_blowup_time(delta_)) {
    require(std::isfinite(blowup_), "model.delta", 0, "at least one that is not 0");
    std::sort(gaps_.begin(), gaps_.end(), std::greater<>());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    constexpr double kLostTime = 100 * kBlowupTolerance;  // of some hundred steps, relative
    constexpr double kTelling = 1e-3;  // with less than three digits there is no comparison
    NumberedCurves weights = weight_curves();
    Curves deficit = deficit_curve();
    for (const double gap : line_between(gaps_, AxisScale::log, grid)) {
      const std::vector<double> v = erf_values_at_gap(delta_, gap);
      double worst = 0;
      for (std::size_t l = 0; l < delta_.size(); ++l) {
        // A loser is integrated from 0; what is lost in time grows with v' ~ e^{v^2/2}, so that one
        // close behind cannot be followed to the end.
        const double lost = wins_blowup(delta_, l) ? 0 : kLostTime * std::exp(0.5 * v[l] * v[l]);
        weights[l].add(gap, {PredictedValue(v[l], lost, lost < kTelling)});
        worst = std::max(worst, lost * std::abs(v[l]));
      }
      const double left = attention_deficit(delta_, v);
      deficit.add(gap, {PredictedValue(left, worst * left, worst < kTelling)});
    }
    TheoryResult result;
    weights.into(result);
    deficit.into(result);
    add_constant(result, "blowup_time", blowup_);
    result.diagnostics = {{"blowup_time", blowup_}};
    return result;
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate&) const override {
    Outcome outcome;
    try {
      const std::vector<std::vector<double>> v = erf_values_integrated(delta_, gaps_);
      NumberedCurves weights = weight_curves();
      Curves deficit = deficit_curve();
      for (std::size_t k = 0; k < gaps_.size(); ++k) {
        weights.add(gaps_[k], v[k]);
        deficit.add(gaps_[k], {attention_deficit(delta_, v[k])});
      }
      weights.into(outcome);
      deficit.into(outcome);
      add_constant(outcome, "blowup_time", blowup_time_integrated(delta_));
    } catch (const Error& error) {
      outcome.status = "failed";
      outcome.failed = true;
      outcome.message = error.what();
    }
    return outcome;
  }

 private:
  NumberedCurves weight_curves() const { return {"v", "token", delta_.size(), "gap"}; }
  static Curves deficit_curve() { return {{}, "gap", {"attention_deficit"}}; }

  std::vector<double> delta_;
  std::vector<double> gaps_;
  double blowup_;
};

}  // namespace

Study study() { return described({.name = "joma-blowup", .make = make<Blowup>}); }

}  // namespace attica::joma_blowup
