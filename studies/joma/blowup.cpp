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
        weights[l].add(gap, {Told(v[l], lost, lost < kTelling)});
        worst = std::max(worst, lost * std::abs(v[l]));
      }
      const double left = attention_deficit(delta_, v);
      deficit.add(gap, {Told(left, worst * left, worst < kTelling)});
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
        deficit.add(gaps_[k], {Told(attention_deficit(delta_, v[k]))});
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

Figure figure(const Configuration&) {
  const Axis gap{.label = "({/:Italic t}* − {/:Italic t}) / {/:Italic t}*",
                 .scale = AxisScale::log};
  return {.name = "joma-blowup",
          .panels = {{.x = gap,
                      .y = {.label = "weights {/:Italic v_l}"},
                      .layers = {{.series = "v", .label = "{/:Italic l} = {token}"}},
                      .x_name = "gap"},
                     {.x = gap,
                      .y = {.label = "1 − {/:Italic p} of the winner", .scale = AxisScale::log},
                      .layers = {{.series = "attention_deficit", .label = "closed form"}},
                      .x_name = "gap"}},
          .columns = 1,
          .caption =
              "Approach to the blow-up of exponential attention with a linear unit. Lines: inverse "
              "complementary error function; points: integration in the logarithm of the remaining "
              "time. No randomness, no error bars."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  constexpr double kIntegration = 1e-10;  // integrated to 1e-13 per step
  const auto rule = [](const char* name, double absolute) {
    return AgreementRule{
        .series = name, .relative = kIntegration, .absolute = absolute, .deterministic = true};
  };
  return {rule("v", kIntegration),
          rule("attention_deficit", kIntegration * kIntegration),
          rule("blowup_time", 0)};
}

}  // namespace

Study study() {
  std::vector<double> gaps;
  for (int k = 0; k <= 15; ++k) gaps.push_back(std::pow(10.0, -k) * (k == 0 ? 0.9 : 1));
  return {
      .name = "joma-blowup",
      .question = "How mild is the blow-up of exponential attention?",
      .neglects = "nothing; both routes are exact up to integration",
      .parameters =
          {reals_parameter("model.delta", {0.8, 0.5, -0.3, 0.79, 0.01, 0}, "Delta_l of each token"),
           reals_parameter(
               "sweep.gap", gaps, "relative gaps (t* - t)/t*", {.low = 1e-200, .high = 1}),
           replicates_parameter(8, "identical by design")},
      .series = {{"v", "v_l", "weight of a token"},
                 {"attention_deficit", "1 - p", "attention that the winners do not have"},
                 {"blowup_time", "t*", "sqrt(pi/2)/max |Delta|"}},
      .presets = {{"quick", "the defaults", {}}, {"paper", "the same", {}}},
      .sources = {cited("tian2023joma", "Theorem 2")},
      .make = make<Blowup>,
      .figure = figure,
      .agreement = agreement,
      .plants = {{.name = "v", .series = "v", .factor = 1.01, .meaning = "a weight times 1.01"},
                 {.name = "time",
                  .series = "blowup_time",
                  .factor = 0.99,
                  .meaning = "the time of the blow-up 1 % too early"}}};
}

}  // namespace attica::joma_blowup
