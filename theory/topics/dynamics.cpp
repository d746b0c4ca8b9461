#include "attica/theory/topics/dynamics.hpp"

#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/theory/topics/loss.hpp"

namespace attica {
namespace {

constexpr Eigen::Index kParts = 4;
constexpr Eigen::Index kState = kParts * kCommutantClasses;

Eigen::VectorXd pack(const TopicState& s) {
  Eigen::VectorXd x(kState);
  x << s.value, s.m, s.k, s.q;
  return x;
}

TopicState unpack(const Eigen::VectorXd& x) {
  const auto part = [&](Eigen::Index i) -> Commutant {
    return x.segment<kCommutantClasses>(i * kCommutantClasses);
  };
  return {part(0), part(1), part(2), part(3)};
}

/// Loss gradients as invariant matrices: by W_V and by the scores.
ReducedGradient matrix_gradient(const TopicModel& model,
                                const CommutantAlgebra& algebra,
                                const TopicDynamics& dynamics,
                                const TopicState& state) {
  ReducedGradient g;
  reduced_loss(model, dynamics.loss, state.value, dynamics.scale * state.m, &g);
  const auto per_entry = [&](const Commutant& x) -> Commutant {
    return (algebra.counts().array() > 0).select(x.array() / algebra.counts().array().max(1), 0);
  };
  return {per_entry(g.value), per_entry(g.score)};
}

/// Solves the flow on x(0) with the given options.
OdeResult solve(const TopicModel& model,
                const TopicDynamics& dynamics,
                const TopicState& start,
                std::span<const double> times,
                OdeOptions options) {
  const CommutantAlgebra algebra(model.vocabulary());
  const auto rhs = [&](double, const Eigen::VectorXd& x, Eigen::VectorXd& dxdt) {
    const TopicState s = unpack(x);
    const ReducedGradient gradient = matrix_gradient(model, algebra, dynamics, s);
    const Commutant g = dynamics.scale * gradient.score;
    const auto product = [&](const Commutant& a, const Commutant& b) {
      return algebra.product(a, b);
    };
    const double decay = 4 * dynamics.attention_penalty;
    TopicState d;
    if (dynamics.train_value) d.value = -gradient.value - 2 * dynamics.value_penalty * s.value;
    if (dynamics.train_attention) {
      const Commutant gt = transposed(g);
      const Commutant mt = transposed(s.m);
      d.m = -(product(g, s.q) + product(s.k, g)) - decay * s.m;
      d.k = -(product(g, mt) + product(s.m, gt)) - decay * s.k;
      d.q = -(product(gt, s.m) + product(mt, g)) - decay * s.q;
    }
    dxdt = pack(d);
  };
  constexpr double kRelative = 1e-10;
  constexpr double kAbsolute = 1e-13;
  options.relative_tolerance = kRelative;
  options.absolute_tolerance = kAbsolute;
  return solve_ode(rhs, pack(start), times, options);
}

double attention_norm2(const CommutantAlgebra& algebra, const TopicState& s) {
  return algebra.trace(s.k) + algebra.trace(s.q);
}

}  // namespace

TopicState identity_start(double epsilon) {
  const Commutant c = scalar_commutant(epsilon * epsilon);
  return {.m = c, .k = c, .q = c};
}

TopicState split_start(double epsilon) {
  const Commutant c = scalar_commutant(epsilon * epsilon);
  return {.k = c, .q = c};
}

TopicFlow topic_flow(const TopicModel& model,
                     const TopicDynamics& dynamics,
                     const TopicState& start,
                     std::span<const double> times) {
  require_population(model);
  std::vector<double> output(times.begin(), times.end());
  const bool later = output.empty() || output.front() > 0;
  if (later) output.insert(output.begin(), 0.0);
  TopicFlow flow;
  if (output.size() == 1) {  // only the start itself
    flow.times = output;
    flow.states = {start};
    return flow;
  }
  const OdeResult result = solve(model, dynamics, start, output, {});
  flow.status = result.status;
  for (Eigen::Index k = later ? 1 : 0; k < result.states.cols(); ++k) {
    flow.times.push_back(output[static_cast<std::size_t>(k)]);
    flow.states.push_back(unpack(result.states.col(k)));
  }
  return flow;
}

TopicFlow whole_topic_flow(const std::string& what,
                           const TopicModel& model,
                           const TopicDynamics& dynamics,
                           const TopicState& start,
                           std::span<const double> times) {
  TopicFlow flow = topic_flow(model, dynamics, start, times);
  if (flow.status != OdeStatus::finished) {
    throw Error(ErrorKind::numerical, what + ": " + to_string(flow.status));
  }
  return flow;
}

TopicState topic_descent_step(const TopicModel& model,
                              const TopicDynamics& dynamics,
                              const TopicState& s,
                              double eta) {
  const CommutantAlgebra algebra(model.vocabulary());
  const ReducedGradient gradient = matrix_gradient(model, algebra, dynamics, s);
  const auto product = [&](const Commutant& a, const Commutant& b, const Commutant& c) {
    return algebra.product(algebra.product(a, b), c);
  };
  TopicState next = s;
  if (dynamics.train_value) {
    next.value = (1 - 2 * eta * dynamics.value_penalty) * s.value - eta * gradient.value;
  }
  if (dynamics.train_attention) {
    // W_K' = r W_K - e W_Q Gᵀ, W_Q' = r W_Q - e W_K G
    const double e = eta * dynamics.scale;
    const double r = 1 - 2 * eta * dynamics.attention_penalty;
    const Commutant& g = gradient.score;
    const Commutant gt = transposed(g);
    const Commutant mt = transposed(s.m);
    const auto twice = [&](const Commutant& a, const Commutant& b) {
      return algebra.product(a, b);
    };
    next.m = r * r * s.m - r * e * (twice(s.k, g) + twice(g, s.q)) + e * e * product(g, mt, g);
    next.k = r * r * s.k - r * e * (twice(g, mt) + twice(s.m, gt)) + e * e * product(g, s.q, gt);
    next.q = r * r * s.q - r * e * (twice(mt, g) + twice(gt, s.m)) + e * e * product(gt, s.k, g);
  }
  return next;
}

double topic_loss(const TopicModel& model, const TopicDynamics& dynamics, const TopicState& state) {
  return reduced_loss(model, dynamics.loss, state.value, dynamics.scale * state.m);
}

TopicNorms topic_norms(const CommutantAlgebra& algebra, const TopicState& s) {
  // Traces of Gram matrices: rounding may leave a zero slightly negative.
  const auto root = [](double x) { return std::sqrt(std::max(x, 0.0)); };
  return {root(algebra.squared_norm(s.value)), root(algebra.trace(s.k)), root(algebra.trace(s.q))};
}

AttentionOnset attention_onset(const TopicModel& model, double scale) {
  require_population(model);
  const double t = model.topics();
  const double tau = model.tau();
  const double v = model.words();
  const double kappa = model.kappa();
  AttentionOnset onset;
  if (model.vocabulary().topics < 2 || !model.has_topic_signal()) return onset;
  onset.topic_contrast = -2 * model.keep_rate() * (1 - 1 / tau) * (kappa / tau + model.rho() / t) /
                         ((t - 1) * kappa * v * v);
  onset.growth_rate = scale * std::abs(onset.topic_contrast);
  return onset;
}

double onset_time(const TopicModel& model,
                  const AttentionOnset& onset,
                  double threshold,
                  double eta) {
  if (onset.growth_rate <= 0) return std::numeric_limits<double>::infinity();
  const auto size = static_cast<double>(model.vocabulary().size());
  const double growth = (threshold * threshold - 1) * size / (model.topics() - 1);
  const double angle = std::acosh(1 + growth);
  const double lag = 0.5 * eta * onset.growth_rate / std::tanh(angle);
  return angle / (2 * onset.growth_rate) * (1 + lag);
}

double early_contrast(
    const AttentionOnset& onset, bool split, double epsilon, double penalty, double time) {
  const double growth = 2 * onset.growth_rate * time;
  return epsilon * epsilon * std::exp(-4 * penalty * time) *
         (split ? std::cosh(growth) : std::exp(growth));
}

StageBoundary stage_boundary(const TopicModel& model,
                             const TopicDynamics& dynamics,
                             const TopicState& start,
                             double plateau,
                             double threshold,
                             double horizon) {
  require_population(model);
  const CommutantAlgebra algebra(model.vocabulary());
  const double initial = attention_norm2(algebra, start);
  const auto first = [&](auto crossed) {
    OdeOptions options;
    options.event = [&](double, const Eigen::VectorXd& x) { return crossed(unpack(x)); };
    const std::vector<double> times{0, horizon};
    const OdeResult result = solve(model, dynamics, start, times, options);
    if (result.status == OdeStatus::event) return result.time;
    if (result.status != OdeStatus::finished) {
      throw Error(ErrorKind::numerical, "stage boundary: " + to_string(result.status));
    }
    return std::numeric_limits<double>::infinity();
  };
  return {.value_time = first([&](const TopicState& s) {
            return algebra.squared_norm(s.value) -
                   kPlateauShare * kPlateauShare * plateau * plateau;
          }),
          .attention_time = first([&](const TopicState& s) {
            return attention_norm2(algebra, s) - threshold * threshold * initial;
          })};
}

}  // namespace attica
