#include "attica/theory/bigrams/flow.hpp"

#include <cmath>

#include "attica/core/error.hpp"
#include "attica/theory/bigrams/population.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// α starts at 0 and is driven by 1/T: the absolute tolerance must be far below that.
constexpr double kRelative = 1e-10;
constexpr double kAbsolute = 1e-14;

/// Output times with the start in front, and how many of the states that adds.
std::pair<std::vector<double>, Index> with_start(std::span<const double> times) {
  require(!times.empty() && times[0] >= 0, "times", times.empty() ? 0 : times[0], "times >= 0");
  std::vector<double> all(times.begin(), times.end());
  const bool added = all.front() > 0;
  if (added) all.insert(all.begin(), 0.0);
  return {std::move(all), added ? 1 : 0};
}

/// A start that is asked for alone needs no solver.
template <class Read>
BigramCurve solve(const OdeRhs& rhs,
                  const VectorXd& start,
                  std::span<const double> times,
                  const OdeOptions& options,
                  const Read& read) {
  const auto [all, skipped] = with_start(times);
  if (all.size() == 1) return {OdeStatus::finished, {read(start)}};
  const OdeResult result = solve_ode(rhs, start, all, options);
  BigramCurve curve{result.status, {}};
  for (Index k = skipped; k < result.states.cols(); ++k) {
    curve.signals.push_back(read(result.states.col(k)));
  }
  return curve;
}

}  // namespace

double reduced_excess_loss(const BigramConstants& c, const BigramSignals& s) {
  const double nbar = 1 / c.context + s.alpha_a * s.alpha_a * c.k_q + s.d_a;
  const double product = 1 - s.alpha_v * s.alpha_a;
  return 0.5 *
         (c.k_p * (c.k_q * product * product + (1 - s.alpha_v) * (1 - s.alpha_v) / c.context) +
          s.alpha_v * s.alpha_v * c.k_p * s.d_a + s.d_v * nbar);
}

BigramCurve reduced_flow(const BigramConstants& c,
                         const BigramRates& rates,
                         const BigramSignals& start,
                         std::span<const double> times) {
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    const double nbar = 1 / c.context + x[1] * x[1] * c.k_q + x[3];
    const double k_v = x[0] * x[0] * c.k_p + x[2];
    dxdt[0] = rates.eta_v * (1 / c.context + c.k_q * x[1] - nbar * x[0]);
    dxdt[1] = rates.eta_a * (c.k_p * x[0] - k_v * x[1]);
    dxdt[2] = -2 * rates.eta_v * nbar * x[2];
    dxdt[3] = -2 * rates.eta_a * k_v * x[3];
  };
  // The valley is a slow manifold: rates of order η against η/T. The stiff solver follows it.
  const OdeJacobian jacobian = [&](double, const VectorXd& x, MatrixXd& j, VectorXd&) {
    const double nbar = 1 / c.context + x[1] * x[1] * c.k_q + x[3];
    const double k_v = x[0] * x[0] * c.k_p + x[2];
    const double nbar_a = 2 * x[1] * c.k_q;
    const double k_v_v = 2 * x[0] * c.k_p;
    j(0, 0) = -rates.eta_v * nbar;
    j(0, 1) = rates.eta_v * (c.k_q - nbar_a * x[0]);
    j(0, 3) = -rates.eta_v * x[0];
    j(1, 0) = rates.eta_a * (c.k_p - k_v_v * x[1]);
    j(1, 1) = -rates.eta_a * k_v;
    j(1, 2) = -rates.eta_a * x[1];
    j(2, 1) = -2 * rates.eta_v * nbar_a * x[2];
    j(2, 2) = -2 * rates.eta_v * nbar;
    j(2, 3) = -2 * rates.eta_v * x[2];
    j(3, 0) = -2 * rates.eta_a * k_v_v * x[3];
    j(3, 2) = -2 * rates.eta_a * x[3];
    j(3, 3) = -2 * rates.eta_a * k_v;
  };
  VectorXd x0(4);
  x0 << start.alpha_v, start.alpha_a, start.d_v, start.d_a;
  constexpr double kLongInTime = 1e4;  // units of 1/η: beyond it explicit steps are wasted
  const bool stiff = times.back() * std::max(rates.eta_v, rates.eta_a) > kLongInTime;
  return solve(rhs,
               x0,
               times,
               {.method = stiff ? OdeMethod::rosenbrock4 : OdeMethod::dopri5,
                .relative_tolerance = kRelative,
                .absolute_tolerance = kAbsolute,
                .max_steps = 1000000,
                .jacobian = jacobian},
               [](const VectorXd& x) {
                 return BigramSignals{x[0], x[1], x[2], x[3]};
               });
}

std::vector<BigramSignals> reduced_descent(const BigramConstants& c,
                                           const BigramRates& rates,
                                           BigramSignals s,
                                           std::span<const std::int64_t> steps) {
  std::vector<BigramSignals> recorded;
  std::int64_t made = 0;
  for (const std::int64_t step : steps) {
    for (; made < step; ++made) {
      const double nbar = 1 / c.context + s.alpha_a * s.alpha_a * c.k_q + s.d_a;
      const double k_v = s.alpha_v * s.alpha_v * c.k_p + s.d_v;
      const double keep_v = 1 - rates.eta_v * nbar;
      const double keep_a = 1 - rates.eta_a * k_v;
      s = {.alpha_v = keep_v * s.alpha_v + rates.eta_v * (1 / c.context + c.k_q * s.alpha_a),
           .alpha_a = keep_a * s.alpha_a + rates.eta_a * c.k_p * s.alpha_v,
           .d_v = keep_v * keep_v * s.d_v,
           .d_a = keep_a * keep_a * s.d_a};
    }
    recorded.push_back(s);
  }
  return recorded;
}

BigramCurve full_flow(const BigramModel& model,
                      const BigramRates& rates,
                      const MatrixXd& value,
                      const MatrixXd& attention,
                      std::span<const double> times) {
  const Index n = model.tokens();
  const Index t = model.context();
  const Index split = n * n;
  const auto v_of = [&](const VectorXd& x) { return Eigen::Map<const MatrixXd>(x.data(), n, n); };
  const auto a_of = [&](const VectorXd& x) {
    return Eigen::Map<const MatrixXd>(x.data() + split, t, n);
  };
  const OdeRhs rhs = [&](double, const VectorXd& x, VectorXd& dxdt) {
    const BigramGradient g = population_hat_gradient(model, v_of(x), a_of(x));
    dxdt.head(split) = -rates.eta_v * Eigen::Map<const VectorXd>(g.value.data(), split);
    dxdt.tail(t * n) = -rates.eta_a * Eigen::Map<const VectorXd>(g.attention.data(), t * n);
  };
  VectorXd x0(split + t * n);
  x0 << Eigen::Map<const VectorXd>(value.data(), split),
      Eigen::Map<const VectorXd>(attention.data(), t * n);
  return solve(rhs,
               x0,
               times,
               {.relative_tolerance = kRelative, .absolute_tolerance = kAbsolute},
               [&](const VectorXd& x) {
                 const BigramState s =
                     bigram_state(model, v_of(x), attention_sums(model, MatrixXd(a_of(x))));
                 return BigramSignals{s.alpha_v, s.alpha_a, s.d_v, s.d_a};
               });
}

std::vector<BigramState> full_descent(const BigramModel& model,
                                      const BigramRates& rates,
                                      MatrixXd value,
                                      MatrixXd attention,
                                      std::span<const std::int64_t> steps) {
  std::vector<BigramState> states;
  std::int64_t step = 0;
  for (const std::int64_t next : steps) {
    for (; step < next; ++step) {
      const BigramGradient g = population_hat_gradient(model, value, attention);
      value -= rates.eta_v * g.value;
      attention -= rates.eta_a * g.attention;
    }
    states.push_back(bigram_state(model, value, attention_sums(model, attention)));
  }
  return states;
}

SoftmaxDescent softmax_descent(const BigramModel& model,
                               double eta_v,
                               double eta_w,
                               std::span<const std::int64_t> steps) {
  MatrixXd value = stationary_value(model);
  MatrixXd logits = MatrixXd::Zero(model.context(), model.tokens());
  SoftmaxDescent descent;
  std::int64_t step = 0;
  for (const std::int64_t next : steps) {
    for (; step < next; ++step) softmax_descent_step(model, eta_v, eta_w, value, logits);
    const MatrixXd attention = column_softmax(logits);
    descent.states.push_back(bigram_state(model, value, attention_sums(model, attention)));
  }
  descent.attention = column_softmax(logits);
  return descent;
}

}  // namespace attica
