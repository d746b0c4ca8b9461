/// @file
/// @brief Study joma-salience: by how much salient components are ahead of others.

#include <cmath>

#include "attica/studies/joma/model.hpp"
#include "attica/theory/joma/nonlinear.hpp"

namespace attica::joma_salience {
namespace {

/// All (mu_j, mu_k) that differ.
std::vector<std::pair<double, double>> pairs_of(const Configuration& c) {
  std::vector<std::pair<double, double>> pairs;
  for (const double k : c.reals("sweep.mu_k")) {
    for (const double j : c.reals("sweep.mu_j")) {
      if (j != k) pairs.emplace_back(j, k);
    }
  }
  return pairs;
}

Point point_of(const std::pair<double, double>& pair) {
  return {{"mu_j", pair.first}, {"mu_k", pair.second}};
}

class Salience : public PointwiseExperiment {
 public:
  explicit Salience(const Configuration& c)
      : ells_(ascending(c.reals("sweep.ell"))), gamma_(c.real("model.gamma")), pairs_(pairs_of(c)) {
    for (const char* name : {"sweep.mu_j", "sweep.mu_k"}) {
      for (const double mu : c.reals(name)) {
        require(mu != 0, name, mu, "mu different from 0");
        require_exponent(gamma_, mu, name);
      }
    }
    if (pairs_.empty()) {
      throw invalid_parameter("sweep.mu_k", "equal to mu_j", "a pair of different mu");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const auto& pair : pairs_) {
      Curves curves = curves_of(pair);
      for (const double ell : line_between(ells_, AxisScale::linear, grid)) {
        const SalienceRatio r = salience_ratio(pair.first, pair.second, gamma_, ell);
        // The neglected terms are bounded, and of that size; half as much again keeps them off the
        // margin. Where that is more than a fifth of what is predicted, nothing would be said.
        constexpr double kAllowance = 1.5;
        constexpr double kTelling = 0.2;
        const double allowance = kAllowance * r.lambda_error;
        curves.add(
            ell,
            {PredictedValue(
                 r.log_ratio, allowance * limit(pair), allowance <= kTelling * (1 + r.lambda)),
             PredictedValue(r.lambda, allowance, allowance <= kTelling * std::abs(r.lambda))});
      }
      curves.into(result);
      add_constant(result, "limit_ratio", limit(pair), point_of(pair));
    }
    return result;
  }

  std::size_t points() const override { return pairs_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const auto& pair = pairs_[replicate.point()];
    const std::vector<JomaComponent> components = {{.mu = pair.first, .gamma = gamma_},
                                                   {.mu = pair.second, .gamma = gamma_}};
    Outcome outcome;
    Curves curves = curves_of(pair);
    for (const double ell : ells_) {
      const OdeResult flow = integrated_nats(components, 1, ell);
      if (flow.status != OdeStatus::event) {
        mark_failed(outcome, flow);
        break;
      }
      const double ratio = flow.state[0] / flow.state[1];
      curves.add(ell, {ratio, ratio / limit(pair) - 1});
    }
    curves.into(outcome);
    return outcome;
  }

 private:
  static Curves curves_of(const std::pair<double, double>& pair) {
    return {point_of(pair), "ell", {"log_ratio", "lambda_correction"}};
  }
  double limit(const std::pair<double, double>& pair) const {
    return std::exp(gamma_ * (pair.first * pair.first - pair.second * pair.second));
  }

  std::vector<double> ells_;
  double gamma_;
  std::vector<std::pair<double, double>> pairs_;
};

Figure figure(const Configuration& c) {
  constexpr std::size_t kMost = 6;
  std::vector<Layer> ratios;
  std::vector<Layer> corrections;
  for (const auto& pair : thinned(pairs_of(c), kMost)) {
    const Layer layer{.series = "log_ratio",
                      .label = "{/:Italic μ_j}, {/:Italic μ_k} = {mu_j}, {mu_k}",
                      .only = point_of(pair)};
    ratios.push_back(layer);
    corrections.push_back(layer);
    corrections.back().series = "lambda_correction";
  }
  if (pairs_of(c).size() <= kMost) {
    ratios.push_back({.series = "limit_ratio", .label = "limit", .reference = true});
  }
  const Axis ell{.label = "progress ℓ = ln(1/{/:Italic δ_k})"};
  return {.name = "joma-salience",
          .panels = {{.x = ell,
                      .y = {.label = "ln(1/{/:Italic δ_j}) / ln(1/{/:Italic δ_k})",
                            .scale = AxisScale::log},
                      .layers = std::move(ratios),
                      .x_name = "ell"},
                     {.x = ell,
                      .y = {.label = "correction Λ"},
                      .layers = std::move(corrections),
                      .x_name = "ell"}},
          .columns = 1,
          .caption =
              "A salient component j is ahead of k by an exponential factor, with a correction "
              "that dies like 1/ℓ. Lines: closed form; points: integration. No randomness."};
}

}  // namespace

Study study() {
  return described({.name = "joma-salience", .make = make<Salience>, .figure = figure});
}

}  // namespace attica::joma_salience
