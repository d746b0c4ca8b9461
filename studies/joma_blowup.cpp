/// @file
/// @brief Study joma-blowup: the last moments before the blow-up of linear dynamics, to gaps that
/// time itself cannot resolve.

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/joma_linear.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

class Blowup : public Experiment {
 public:
  explicit Blowup(const Configuration& c)
      : delta_(c.reals("model.delta")), gaps_(c.reals("sweep.gap")) {
    for (const double d : delta_) largest_ = std::max(largest_, std::abs(d));
    require(largest_ > 0, "model.delta", largest_, "at least one that is not 0");
    std::sort(gaps_.begin(), gaps_.end(), std::greater<>());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<double> gaps =
        grid == TheoryGrid::run ? with_between(gaps_, AxisScale::log) : gaps_;
    std::vector<Prediction> curves;
    for (std::size_t l = 0; l < delta_.size(); ++l) {
      curves.push_back(prediction("v", {{"token", numbered(l)}}, "gap", gaps, {}));
    }
    Prediction deficit = prediction("attention_deficit", {}, "gap", gaps, {});
    for (const double gap : gaps) {
      const std::vector<double> v = erf_values_at_gap(delta_, gap);
      double worst = 0;
      for (std::size_t l = 0; l < delta_.size(); ++l) {
        // A loser is integrated from 0; what is lost in time grows with v' ~ e^{v^2/2}, so that one
        // close behind cannot be followed to the end.
        const double lost = wins(l) ? 0 : kLostTime * std::exp(0.5 * v[l] * v[l]);
        curves[l].series.y.push_back(v[l]);
        curves[l].finite_size.push_back(lost);
        curves[l].compared.push_back(lost < kTelling);
        worst = std::max(worst, lost * std::abs(v[l]));
      }
      deficit.series.y.push_back(attention_deficit(v));
      deficit.finite_size.push_back(worst * deficit.series.y.back());
      deficit.compared.push_back(worst < kTelling);
    }
    TheoryResult result;
    for (Prediction& curve : curves) result.predictions.push_back(std::move(curve));
    result.predictions.push_back(std::move(deficit));
    result.predictions.push_back(constant_prediction("blowup_time", {}, joint_blowup_time(delta_)));
    result.diagnostics = {{"blowup_time", joint_blowup_time(delta_)}};
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    Outcome outcome;
    try {
      integrate(outcome);
    } catch (const Error& error) {
      outcome.status = "failed";
      outcome.failed = true;
      outcome.message = error.what();
    }
    return std::vector<Outcome>(piece.replicates, outcome);
  }

 private:
  static constexpr double kTolerance = 1e-13;
  static constexpr double kLostTime = 100 * kTolerance;  ///< of some hundred steps, relative
  static constexpr double kTelling = 1e-3;  ///< with less than three digits there is no comparison

  bool wins(std::size_t l) const { return std::abs(delta_[l]) == largest_; }

  /// 1 - attention of all winners, without cancellation.
  double attention_deficit(const std::vector<double>& v) const {
    double most = 0;
    for (const double x : v) most = std::max(most, std::abs(x));
    double losers = 0;
    double winners = 0;
    for (std::size_t l = 0; l < v.size(); ++l) {
      const double weight = std::exp(0.5 * (std::abs(v[l]) - most) * (std::abs(v[l]) + most));
      (wins(l) ? winners : losers) += weight;
    }
    return losers / (winners + losers);
  }

  static OdeResult solved(OdeResult solution) {
    if (!solution.finished()) throw Error(ErrorKind::numerical, describe(solution));
    return solution;
  }

  /// With x = -ln gap the equation is dv/dx = Delta t* exp(v^2/2 - x). Losers are integrated
  /// towards the blow-up. The winner's solution attracts in the other direction only: integrated
  /// back from far beyond the smallest gap, it forgets where it started by a factor of that gap.
  void integrate(Outcome& outcome) const {
    const double blowup = joint_blowup_time(delta_);
    std::vector<double> x;
    for (const double gap : gaps_) x.push_back(-std::log(gap));
    const OdeOptions options{.method = OdeMethod::fehlberg78,
                             .relative_tolerance = kTolerance,
                             .absolute_tolerance = kTolerance};
    const double far = x.back() + 40;
    std::vector<double> back = {0};
    for (auto it = x.rbegin(); it != x.rend(); ++it) back.push_back(far - *it);
    const OdeResult winner = solved(solve_ode(
        [&](double s, const VectorXd& v, VectorXd& dvds) {
          dvds[0] = -largest_ * blowup * std::exp(0.5 * v[0] * v[0] - (far - s));
        },
        VectorXd::Constant(1, std::sqrt(2 * far)),
        back,
        options));
    std::vector<double> forward = x;
    if (forward.front() > 0) forward.insert(forward.begin(), 0.0);
    const auto skipped = static_cast<Index>(forward.size() - x.size());

    std::vector<std::vector<double>> v(x.size(), std::vector<double>(delta_.size()));
    for (std::size_t l = 0; l < delta_.size(); ++l) {
      if (wins(l)) {
        for (std::size_t k = 0; k < x.size(); ++k) {
          v[k][l] = std::copysign(winner.states(0, static_cast<Index>(x.size() - k)), delta_[l]);
        }
        continue;
      }
      const OdeResult loser = solved(solve_ode(
          [&](double s, const VectorXd& y, VectorXd& dyds) {
            dyds[0] = delta_[l] * blowup * std::exp(0.5 * y[0] * y[0] - s);
          },
          VectorXd::Zero(1),
          forward,
          options));
      for (std::size_t k = 0; k < x.size(); ++k) {
        v[k][l] = loser.states(0, static_cast<Index>(k) + skipped);
      }
    }
    Series deficit{"attention_deficit", {}, "gap", gaps_, {}};
    for (const std::vector<double>& at : v) deficit.y.push_back(attention_deficit(at));
    for (std::size_t l = 0; l < delta_.size(); ++l) {
      Series series{"v", {{"token", numbered(l)}}, "gap", gaps_, {}};
      for (std::size_t k = 0; k < x.size(); ++k) series.y.push_back(v[k][l]);
      outcome.series.push_back(std::move(series));
    }
    outcome.series.push_back(std::move(deficit));
    outcome.series.push_back({"blowup_time", {}, "none", {0.0}, {slowed_time()}});
  }

  /// t(s) in the clock dt/ds = exp(-z_max), in which nothing overflows; t(s) -> t*. In units of
  /// 1/|Delta|_max.
  double slowed_time() const {
    const auto size = static_cast<Index>(delta_.size());
    const VectorXd ratio = Eigen::Map<const VectorXd>(delta_.data(), size) / largest_;
    constexpr double kEnd = 9;  // v_max: exp(-40) of the way is left
    const OdeResult solution = solved(solve_ode(
        [&](double, const VectorXd& x, VectorXd& dxds) {
          const Eigen::ArrayXd z = 0.5 * x.head(size).array().square();
          const double z_max = z.maxCoeff();
          dxds.head(size) = ratio.array() * (z - z_max).exp();
          dxds[size] = std::exp(-z_max);
        },
        VectorXd::Zero(size + 1),
        std::vector<double>{0, kEnd},
        {.relative_tolerance = kTolerance, .absolute_tolerance = kTolerance}));
    return solution.state[size] / largest_;
  }

  std::vector<double> delta_;
  std::vector<double> gaps_;
  double largest_ = 0;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Blowup>(c); }

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

Study joma_blowup() {
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
      .sources = {joma_source("Theorem 2")},
      .make = make,
      .figure = figure,
      .agreement = agreement};
}

}  // namespace attica
