/// @file
/// @brief Studies joma-convergence-time and joma-salience: how long a component takes, and by how
/// much salient ones are ahead.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/studies/joma_setup.hpp"
#include "attica/studies/joma_studies.hpp"
#include "attica/theory/joma_nonlinear.hpp"

namespace attica {
namespace {

using Eigen::VectorXd;

/// The state when component `last` has gained `nats`: nats of all components, then the time.
/// Integrates u' = exp(gamma v^2), v = mu - (mu - v0) e^-u, in the clock ds = (1 + max u') dt,
/// which resolves the sudden convergence of large mu that time itself cannot.
OdeResult integrate(const std::vector<JomaComponent>& components, std::size_t last, double nats) {
  const auto size = static_cast<Eigen::Index>(components.size());
  double fastest = 1;  // of the others, while the last one gains its nats
  for (std::size_t j = 0; j < components.size(); ++j) {
    if (j == last) continue;
    const JomaComponent& c = components[j];
    const double v = std::max(std::abs(c.mu), std::abs(c.start));
    fastest = std::max(fastest, std::exp(c.gamma * v * v));
  }
  return solve_ode(
      [&](double, const VectorXd& x, VectorXd& dxds) {
        for (Eigen::Index j = 0; j < size; ++j) {
          const JomaComponent& c = components[static_cast<std::size_t>(j)];
          const double v = c.mu * (1 - c.delta0() * std::exp(-x[j]));
          dxds[j] = std::exp(c.gamma * v * v);
        }
        dxds[size] = 1;
        dxds /= 1 + dxds.head(size).maxCoeff();
      },
      VectorXd::Zero(size + 1),
      // Rates are at least 1, so that it takes a time of `nats` at most.
      std::vector<double>{0, 3 * nats * fastest},
      {.method = OdeMethod::dopri5,
       .relative_tolerance = 1e-12,
       .absolute_tolerance = 1e-13,
       .event = [&](double, const VectorXd& x) {
         return x[static_cast<Eigen::Index>(last)] - nats;
       }});
}

/// exp(gamma mu^2) has to be a number.
void require_exponent(double gamma, double v, const char* name) {
  constexpr double kLargestExponent = 600;
  require(gamma * v * v <= kLargestExponent,
          name,
          v,
          "gamma mu^2 <= 600, so that exp of it is a number");
}

class ConvergenceTime : public Experiment {
 public:
  explicit ConvergenceTime(const Configuration& c)
      : mus_(c.reals("sweep.mu")),
        epsilons_(c.reals("sweep.epsilon")),
        start_(c.real("model.v0")),
        gamma_(c.real("model.gamma")) {
    for (const double mu : mus_) {
      require(mu != 0, "sweep.mu", mu, "mu different from 0");
      require_exponent(gamma_, mu, "sweep.mu");
    }
    require_exponent(gamma_, start_, "model.v0");
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> mus = mus_;
    if (grid == TheoryGrid::run) {
      std::sort(mus.begin(), mus.end());
      mus = with_between(mus, AxisScale::log);
    }
    TheoryResult result;
    for (const double epsilon : epsilons_) {
      Prediction time = prediction("convergence_time", {{"epsilon", epsilon}}, "mu", mus, {});
      Prediction law = prediction("asymptotic_time", {{"epsilon", epsilon}}, "mu", {}, {});
      for (const double mu : mus) {
        const JomaComponent c = component(mu);
        time.series.y.push_back(convergence_time(c, epsilon));
        if (c.delta0() <= 0) continue;
        law.series.x.push_back(mu);
        law.series.y.push_back(asymptotic_convergence_time(c, epsilon));
      }
      result.predictions.push_back(std::move(time));
      if (!law.series.x.empty()) result.predictions.push_back(std::move(law));
    }
    Prediction q = prediction("correction_q", {}, "mu", {}, {});
    for (const double mu : mus) {
      if (component(mu).delta0() <= 0) continue;
      q.series.x.push_back(mu);
      q.series.y.push_back(correction_q(component(mu)));
    }
    if (!q.series.x.empty()) result.predictions.push_back(std::move(q));
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    Outcome outcome;
    for (const double epsilon : epsilons_) {
      const double nats = -std::log(epsilon);
      Series time{"convergence_time", {{"epsilon", epsilon}}, "mu", {}, {}};
      for (const double mu : mus_) {
        if (component(mu).delta0() == 0) continue;
        const OdeResult flow = integrate({component(mu)}, 0, nats);
        if (flow.status != OdeStatus::event) {
          outcome.failed = true;
          outcome.status = to_string(flow.status);
          outcome.message = describe(flow);
          continue;
        }
        time.x.push_back(mu);
        time.y.push_back(flow.state[1]);
      }
      outcome.series.push_back(std::move(time));
    }
    return std::vector<Outcome>(piece.replicates, outcome);
  }

 private:
  JomaComponent component(double mu) const { return {.mu = mu, .start = start_, .gamma = gamma_}; }

  std::vector<double> mus_;
  std::vector<double> epsilons_;
  double start_;
  double gamma_;
};

class Salience : public Experiment {
 public:
  explicit Salience(const Configuration& c)
      : ells_(sorted_reals(c, "sweep.ell")), gamma_(c.real("model.gamma")) {
    for (const double k : c.reals("sweep.mu_k")) {
      for (const double j : c.reals("sweep.mu_j")) {
        for (const auto& [mu, name] : {std::pair(j, "sweep.mu_j"), std::pair(k, "sweep.mu_k")}) {
          require(mu != 0, name, mu, "mu different from 0");
          require_exponent(gamma_, mu, name);
        }
        if (j != k) pairs_.emplace_back(j, k);
      }
    }
    if (pairs_.empty()) {
      throw invalid_parameter("sweep.mu_k", "equal to mu_j", "a pair of different mu");
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const std::vector<double> ells =
        grid == TheoryGrid::run ? with_between(ells_, AxisScale::linear) : ells_;
    TheoryResult result;
    for (const auto& [j, k] : pairs_) {
      Prediction ratio = prediction("log_ratio", point(j, k), "ell", ells, {});
      Prediction lambda = prediction("lambda_correction", point(j, k), "ell", ells, {});
      for (const double ell : ells) {
        const SalienceRatio r = salience_ratio(j, k, gamma_, ell);
        ratio.series.y.push_back(r.log_ratio);
        lambda.series.y.push_back(r.lambda);
        // The neglected terms are bounded, and of that size; half as much again keeps them off the
        // margin. Where that is more than a fifth of what is predicted, nothing would be said.
        constexpr double kAllowance = 1.5;
        constexpr double kTelling = 0.2;
        const double allowance = kAllowance * r.lambda_error;
        lambda.finite_size.push_back(allowance);
        lambda.compared.push_back(allowance <= kTelling * std::abs(r.lambda));
        ratio.finite_size.push_back(allowance * limit(j, k));
        ratio.compared.push_back(allowance <= kTelling * (1 + r.lambda));
      }
      result.predictions.push_back(std::move(ratio));
      result.predictions.push_back(std::move(lambda));
      result.predictions.push_back(constant_prediction("limit_ratio", point(j, k), limit(j, k)));
    }
    return result;
  }

  std::size_t points() const override { return pairs_.size(); }
  std::uint64_t replicates_per_piece(std::size_t) const override { return 1000000; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const auto& [j, k] = pairs_[piece.point];
    Outcome outcome;
    Series ratio{"log_ratio", point(j, k), "ell", {}, {}};
    Series lambda{"lambda_correction", point(j, k), "ell", {}, {}};
    for (const double ell : ells_) {
      const OdeResult flow =
          integrate({{.mu = j, .gamma = gamma_}, {.mu = k, .gamma = gamma_}}, 1, ell);
      if (flow.status != OdeStatus::event) {
        outcome.failed = true;
        outcome.status = to_string(flow.status);
        outcome.message = describe(flow);
        break;
      }
      ratio.x.push_back(ell);
      ratio.y.push_back(flow.state[0] / flow.state[1]);
      lambda.x.push_back(ell);
      lambda.y.push_back(ratio.y.back() / limit(j, k) - 1);
    }
    outcome.series = {std::move(ratio), std::move(lambda)};
    return std::vector<Outcome>(piece.replicates, outcome);
  }

 private:
  static Point point(double j, double k) { return {{"mu_j", j}, {"mu_k", k}}; }
  double limit(double j, double k) const { return std::exp(gamma_ * (j * j - k * k)); }

  std::vector<double> ells_;
  double gamma_;
  std::vector<std::pair<double, double>> pairs_;
};

std::unique_ptr<Experiment> make_time(Configuration& c) {
  return std::make_unique<ConvergenceTime>(c);
}
std::unique_ptr<Experiment> make_salience(Configuration& c) {
  return std::make_unique<Salience>(c);
}

/// "10^{−4}" for a power of ten below a tenth, else the number.
std::string power_label(double epsilon) {
  const double exponent = std::log10(epsilon);
  const double whole = std::round(exponent);
  if (whole > -2 || std::abs(exponent - whole) > 1e-9) return fmt::format("{:g}", epsilon);
  return fmt::format("10^{{−{:g}}}", -whole);
}

Figure time_figure(const Configuration& c) {
  std::vector<Layer> times;
  for (const double epsilon : c.reals("sweep.epsilon")) {
    times.push_back({.series = "convergence_time",
                     .label = "{/:Italic ε} = " + power_label(epsilon),
                     .only = {{"epsilon", epsilon}}});
  }
  times.push_back({.series = "asymptotic_time", .label = "asymptote", .reference = true});
  const Axis mu{.label = "fixed point {/:Italic μ}", .scale = AxisScale::log};
  return {.name = "joma-convergence-time",
          .panels = {{.x = mu,
                      .y = {.label = "convergence time {/:Italic T_ε}", .scale = AxisScale::log},
                      .layers = std::move(times),
                      .x_name = "mu"},
                     {.x = mu,
                      .y = {.label = "correction {/:Italic Q}", .scale = AxisScale::log},
                      .layers = {{.series = "correction_q", .label = "{/:Italic Q}"}},
                      .x_name = "mu"}},
          .columns = 1,
          .caption =
              "Top: time until a component has come within ε of its fixed point μ; bottom: "
              "correction Q. "
              "Lines: quadrature; dashed: exp(−γμ²) ln(1/ε) + Q, on the lines for small ε; points: "
              "integration. No randomness."};
}

Figure salience_figure(const Configuration& c) {
  // Six of the pairs at most.
  std::vector<Point> pairs;
  for (const double k : c.reals("sweep.mu_k")) {
    for (const double j : c.reals("sweep.mu_j")) {
      if (j != k) pairs.push_back({{"mu_j", j}, {"mu_k", k}});
    }
  }
  const std::size_t every = std::max<std::size_t>((pairs.size() + 5) / 6, 1);
  std::vector<Layer> ratios;
  std::vector<Layer> corrections;
  for (std::size_t i = 0; i < pairs.size(); i += every) {
    const std::string label = "{/:Italic μ_j}, {/:Italic μ_k} = {mu_j}, {mu_k}";
    ratios.push_back({.series = "log_ratio", .label = label, .only = pairs[i]});
    corrections.push_back({.series = "lambda_correction", .label = label, .only = pairs[i]});
  }
  if (every == 1) {
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

std::vector<AgreementRule> time_agreement(const Configuration&) {
  constexpr double kIntegration = 1e-9;  // integrated to 1e-12 per step
  return {{.series = "convergence_time", .relative = kIntegration, .deterministic = true}};
}

std::vector<AgreementRule> salience_agreement(const Configuration&) {
  constexpr double kIntegration = 1e-8;
  return {{.series = "log_ratio", .relative = kIntegration, .deterministic = true},
          {.series = "lambda_correction",
           .relative = 0,
           .absolute = kIntegration,
           .deterministic = true}};
}

Value logarithmic(double low, double high, int count) {
  List values;
  for (int k = 0; k < count; ++k) {
    values.emplace_back(k == count - 1 ? high : low * std::pow(high / low, k / (count - 1.0)));
  }
  return Value(std::move(values));
}

Parameter gamma_parameter() {
  return real_parameter("model.gamma", 0.5, "exponent: v' = (mu - v) exp(gamma v^2)", kNotNegative);
}

}  // namespace

Study joma_convergence_time() {
  constexpr double kLow = 0.01;
  constexpr double kHigh = 30;
  Parameter mu = reals_parameter("sweep.mu", {1}, "fixed points, not 0");
  mu.fallback = logarithmic(kLow, kHigh, 30);
  return {
      .name = "joma-convergence-time",
      .question = "How long does a weight take to converge when attention speeds it up?",
      .neglects = "nothing; the asymptote neglects terms of order epsilon",
      .parameters = {std::move(mu),
                     reals_parameter("sweep.epsilon",
                                     {0.1, 0.01, 1e-4, 1e-8},
                                     "relative distance to the fixed point, of that at the start",
                                     {.low = 0, .high = 1, .low_open = true, .high_open = true}),
                     real_parameter("model.v0", 0, "start"),
                     gamma_parameter(),
                     replicates_parameter(8, "identical by design")},
      .series = {{"convergence_time", "T_ε", "time until |mu - v| = epsilon |mu - v0|"},
                 {"asymptotic_time", "", "exp(-gamma mu^2) ln(1/epsilon) + Q (theory)"},
                 {"correction_q", "Q", "time before convergence is exponential (theory)"}},
      .presets = {{"quick", "the defaults: 30 values of mu", {}},
                  {"paper", "200 values of mu", {{"sweep.mu", logarithmic(kLow, kHigh, 200)}}}},
      .sources = {joma_source("nonlinear dynamics")},
      .make = make_time,
      .figure = time_figure,
      .agreement = time_agreement};
}

Study joma_salience() {
  return {
      .name = "joma-salience",
      .question = "By how much do salient components converge first?",
      .neglects =
          "terms of the order of the remaining distances delta; their bound is the allowance",
      .parameters = {reals_parameter("sweep.mu_j", {1.5, 2, 3}, "fixed points of the component"),
                     reals_parameter("sweep.mu_k", {1}, "fixed points of the reference component"),
                     reals_parameter("sweep.ell",
                                     {5, 8, 10, 12, 15, 20, 30},
                                     "nats ln(1/delta_k) that the reference has gained",
                                     kPositive),
                     gamma_parameter(),
                     replicates_parameter(8, "identical by design")},
      .series = {{"log_ratio", "ℓ_j/ℓ_k", "ratio of nats gained"},
                 {"lambda_correction", "Λ", "its relative distance to the limit"},
                 {"limit_ratio", "", "exp(gamma (mu_j^2 - mu_k^2)) (theory)"}},
      .presets = {{"quick", "the defaults: 3 pairs", {}},
                  {"paper",
                   "20 pairs up to mu = 3",
                   {{"sweep.mu_j", List{1.5, 2.0, 2.5, 3.0, 3.2}},
                    {"sweep.mu_k", List{0.5, 1.0, 1.25, 1.75}}}}},
      .sources = {joma_source("Theorem 4")},
      .make = make_salience,
      .figure = salience_figure,
      .agreement = salience_agreement};
}

}  // namespace attica
