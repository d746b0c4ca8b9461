/// @file
/// @brief Study joma-erf: attention and a linear MLP grow by an error function and blow up; SGD is
/// a random walk about it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "attica/sim/joma/descent.hpp"
#include "attica/studies/joma/model.hpp"
#include "attica/studies/start_file.hpp"
#include "attica/theory/joma/linear.hpp"

namespace attica::joma_erf {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// v and z of the tokens at the start: of model.init_file, or 0.
std::pair<VectorXd, VectorXd> start_of(const Configuration& c, Index tokens) {
  std::pair<VectorXd, VectorXd> start{VectorXd::Zero(tokens), VectorXd::Zero(tokens)};
  const auto file = StartFile::of(c, {"V", "Z"});
  if (!file) return start;
  const auto read = [&](const char* name) -> VectorXd {
    const NumberArray array = file->array(name, {{tokens, "tokens"}});
    return Eigen::Map<const VectorXd>(array.values.data(), tokens);
  };
  start.first = read("V");
  if (file->has("Z")) start.second = read("Z");
  constexpr double kLargestOffset = 300;
  const VectorXd offset = start.second - start.first.cwiseAbs2() / 2;
  require(offset.cwiseAbs().maxCoeff() <= kLargestOffset,
          kInitFile,
          offset.cwiseAbs().maxCoeff(),
          "Z - V^2/2 between -300 and 300, so that exp of it is a number");
  return start;
}

class Erf : public PointwiseExperiment {
 public:
  explicit Erf(const Configuration& c)
      : delta_(c.reals("model.delta")),
        tokens_(JomaTokens::with_delta(delta_)),
        fractions_(ascending(c.reals("sweep.time_fraction"))),
        blowup_(std::numeric_limits<double>::infinity()),
        descent_{.eta = c.real("sim.eta"),
                 .batch = c.integer<int>("sim.batch"),
                 .context = c.integer<int>("model.context")},
        from_zero_(!c.has(kInitFile)) {
    std::tie(descent_.v, descent_.z) = start_of(c, static_cast<Index>(delta_.size()));
    const VectorXd variance = tokens_.variance(descent_.context);
    for (std::size_t l = 0; l < delta_.size(); ++l) {
      const double v = descent_.v[static_cast<Index>(l)];
      const double offset = descent_.z[static_cast<Index>(l)] - v * v / 2;
      forms_.push_back({.delta = delta_[l], .start = v, .offset = offset});
      blowup_ = std::min(blowup_, erf_blowup_time(forms_[l]));
      walks_.push_back({.delta = delta_[l] * std::exp(offset),
                        .variance = variance[static_cast<Index>(l)] * std::exp(2 * offset),
                        .eta = descent_.eta,
                        .batch = static_cast<double>(descent_.batch),
                        .start = v});
    }
    if (!std::isfinite(blowup_)) {
      warnings_ = {"all delta are 0: the constant solution, which never blows up"};
      return;
    }
    rounded_ = {times_of_steps(c, "sweep.time_fraction", descent_.eta / blowup_, 1)};
    constexpr double kMostSteps = 1e9;
    require(blowup_ <= kMostSteps * descent_.eta,
            "sim.eta",
            descent_.eta,
            fmt::format("at least {:.3g}: at most {:g} steps to the blow-up",
                        blowup_ / kMostSteps,
                        kMostSteps));
    for (const double fraction : fractions_) {
      const std::int64_t step =
          std::max<std::int64_t>(std::llround(fraction * blowup_ / descent_.eta), 1);
      if (steps_.empty() || step > steps_.back()) steps_.push_back(step);
      require(fraction_of(steps_.back()) < 1,
              "sim.eta",
              descent_.eta,
              "steps small enough that all recorded ones lie before the blow-up");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const bool grows = std::isfinite(blowup_);
    std::vector<double> x = fractions_;
    if (grid == TheoryGrid::run && grows) {
      x.clear();
      for (const std::int64_t step : steps_) x.push_back(fraction_of(step));
      constexpr int kLinePoints = 40;
      const double last = x.back();
      for (int k = 1; k < kLinePoints; ++k) x.push_back(last * k / kLinePoints);
      x = ascending(std::move(x));
    }
    TheoryResult result;
    Curves entropy = entropy_curve();
    std::vector<std::vector<double>> values;
    for (const double f : x) {
      values.push_back(values_at(f));
      entropy.add(f, {softmax_entropy(logits(values.back()))});
    }
    for (std::size_t l = 0; l < delta_.size(); ++l) {
      const Point token = {{"token", numbered(l)}};
      Curves weight(token, "time_fraction", {"v"});
      Curves walk(token, "time_fraction", {"erf_coordinate", "bias", "fluctuation"});
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double v = values[k][l];
        const double time = grows ? x[k] * blowup_ : 0;
        const double bias = walks_[l].bias(time);
        const double noise = walks_[l].deviation(time) * walks_[l].deviation(time);
        // To first order in eta E[v] - v(t) = v'(y) bias + v''(y) Var(y)/2, v' = e^{v^2/2},
        // v'' = v e^{v^2}; half as much again is allowed for.
        const double gain = std::exp(0.5 * v * v);
        const double shift = gain * bias + 0.5 * v * gain * gain * noise;
        weight.add(x[k], {PredictedValue(v + shift, 0.5 * std::abs(shift))});
        const double y = erf_coordinate(walks_[l].start) + walks_[l].delta * time;
        walk.add(x[k], {y + bias, {bias, 0, bias != 0}, noise});
      }
      weight.into(result);
      if (grows) walk.into(result);
    }
    entropy.into(result);
    if (grows) add_constant(result, "mean_fluctuation", 1);
    if (grows) result.diagnostics = {{"blowup_time", blowup_}};
    return result;
  }

  std::size_t points() const override { return steps_.empty() ? 0 : 2; }

 protected:
  bool deterministic(std::size_t point) const override { return point == 1; }
  double flops(std::size_t) const override {
    constexpr double kDraw = 40;
    return kDraw * static_cast<double>(steps_.back()) *
           (static_cast<double>(descent_.batch) * descent_.context +
            static_cast<double>(tokens_.tokens.cols()));
  }

  Outcome run(const Replicate& replicate) const override {
    return deterministic(replicate.point()) ? richardson() : sgd(replicate.address());
  }

 private:
  static Curves entropy_curve() { return {{}, "time_fraction", {"attention_entropy"}}; }
  double fraction_of(std::int64_t step) const {
    return descent_.eta * static_cast<double>(step) / blowup_;
  }
  /// v of the flow; from 0 with all digits next to the blow-up.
  std::vector<double> values_at(double fraction) const {
    if (from_zero_) return erf_values(delta_, fraction);
    std::vector<double> values;
    for (const ErfToken& form : forms_) {
      values.push_back(erf_value(form, std::isfinite(blowup_) ? fraction * blowup_ : 0));
    }
    return values;
  }
  VectorXd logits(const std::vector<double>& v) const {
    VectorXd z(static_cast<Index>(v.size()));
    for (std::size_t l = 0; l < v.size(); ++l) {
      z[static_cast<Index>(l)] = v[l] * v[l] / 2 + forms_[l].offset;
    }
    return z;
  }

  Outcome sgd(const StreamAddress& address) const {
    NumberedCurves v("v", "token", delta_.size(), "time_fraction");
    NumberedCurves y("erf_coordinate", "token", delta_.size(), "time_fraction");
    NumberedCurves bias("bias", "token", delta_.size(), "time_fraction");
    NumberedCurves spread("fluctuation", "token", delta_.size(), "time_fraction");
    std::vector<double> relative;  // squares over their predicted means
    Curves entropy = entropy_curve();
    const auto observe = [&](std::size_t k, const ErfReached& reached) {
      const double f = fraction_of(steps_[k]);
      const double time = descent_.eta * static_cast<double>(steps_[k]);
      for (std::size_t l = 0; l < delta_.size(); ++l) {
        const double value = reached.v[static_cast<Index>(l)];
        const double at = erf_coordinate(value);
        const double moved = at - erf_coordinate(walks_[l].start);
        const double off = moved - walks_[l].delta * time - walks_[l].bias(time);
        const double gain = std::exp(forms_[l].offset);
        v[l].add(f, {value});
        y[l].add(f, {at});
        bias[l].add(f, {moved - gain * reached.walk[static_cast<Index>(l)]});
        spread[l].add(f, {off * off});
        if (time > 0) relative.push_back(std::pow(off / walks_[l].deviation(time), 2));
      }
      entropy.add(f, {logits_entropy(reached.z)});
    };
    descend_erf(tokens_, descent_, steps_, address, observe);
    Outcome outcome;
    for (const NumberedCurves* curves : {&v, &y, &bias, &spread}) curves->into(outcome);
    if (!relative.empty()) {
      const double sum = std::accumulate(relative.begin(), relative.end(), 0.0);
      add_constant(outcome, "mean_fluctuation", sum / static_cast<double>(relative.size()));
    }
    entropy.into(outcome);
    return outcome;
  }

  /// Whole-population descent with eta and eta/2, and the combination without first-order error:
  /// distance of the winner's v from the closed form.
  Outcome richardson() const {
    const auto winner = static_cast<std::size_t>(
        std::ranges::min_element(forms_, {}, erf_blowup_time) - forms_.begin());
    const auto descend = [&](int factor) {
      std::vector<std::int64_t> steps = steps_;
      for (std::int64_t& s : steps) s *= factor;
      std::vector<double> values;
      const auto observe = [&](std::size_t, const ErfReached& reached) {
        values.push_back(reached.v[static_cast<Index>(winner)]);
      };
      ErfDescent whole = descent_;
      whole.eta /= factor;
      whole.batch = 0;
      descend_erf(tokens_, whole, steps, {}, observe);
      return values;
    };
    const std::vector<double> whole = descend(1);
    const std::vector<double> half = descend(2);
    Curves errors({}, "time_fraction", {"descent_error", "richardson_error"});
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const double f = fraction_of(steps_[k]);
      const double exact = values_at(f)[winner];
      errors.add(f,
                 {PredictedValue(std::abs(half[k] - exact)),
                  PredictedValue(std::abs(2 * half[k] - whole[k] - exact))});
    }
    Outcome outcome;
    errors.into(outcome);
    return outcome;
  }

  std::vector<double> delta_;
  JomaTokens tokens_;
  std::vector<double> fractions_;
  double blowup_;
  ErfDescent descent_;
  bool from_zero_;
  std::vector<ErfToken> forms_;  ///< of the tokens
  std::vector<ErfWalk> walks_;
  std::vector<std::int64_t> steps_;
};

std::vector<AgreementRule> agreement(const Configuration& c) {
  // Second order in eta is neglected. A scan at eta = 0.01 and 0.04 with other seeds found y within
  // 0.4 % at 0.8 t* and variances within 6 %; 20000 runs at 0.02 found y and v within 0.1 %.
  // Tokens without a drift are resolved to 2e-4 by the quick preset (standard error): the absolute
  // margin is 2.5 times that.
  // A square of a sum of hundreds of steps is chi-squared of one degree, of skewness 2.8: means
  // over a thousand of them are normal (0.09), of a few dozen they are not.
  constexpr std::int64_t kMany = 1000;
  const Tails tails = c.integer("sim.replicates") >= kMany ? Tails::normal : Tails::guarded;
  constexpr double kAbsolute = 5e-4;
  constexpr double kLargestSeen = 0.04;
  // The bias, of which the walk is no part any more, is off by 1.3 % at 0.8 t*, of second order,
  // and resolved to 0.2 %; 2e-8 where it is small.
  constexpr double kSecondOrder = 1;
  constexpr double kLittle = 2e-7;
  const double relative = 0.002 + 0.1 * std::min(c.real("sim.eta"), kLargestSeen);
  return {{.series = "v", .relative = relative, .absolute = kAbsolute},
          {.series = "erf_coordinate", .relative = relative, .absolute = kAbsolute},
          {.series = "bias",
           .relative = 0.015 + kSecondOrder * std::min(c.real("sim.eta"), kLargestSeen),
           .absolute = kLittle},
          {.series = "fluctuation", .relative = 0.12, .tails = tails},
          {.series = "mean_fluctuation", .relative = 0.04, .tails = tails}};
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  const ObservedCurve* single = observed.curve("descent_error");
  const ObservedCurve* combined = observed.curve("richardson_error");
  if (single == nullptr || combined == nullptr) return {};
  // By the end of the run; early errors are of the order of one step's rounding.
  const double apart = single->mean.y.back();
  const double left = combined->mean.y.back();
  return {claim_certain(
      "first-order",
      "2 v(eta/2) - v(eta) is 10 times closer to the closed form than v(eta/2)",
      left < 0.1 * apart,
      fmt::format("whole-population descent, last record: {:.3g} against {:.3g}", left, apart))};
}

}  // namespace

Study study() {
  return described(
      {.name = "joma-erf", .make = make<Erf>, .agreement = agreement, .claims = claims});
}

}  // namespace attica::joma_erf
