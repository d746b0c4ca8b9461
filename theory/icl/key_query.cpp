#include "attica/theory/icl/key_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> flow_mse(const KeyQueryTask& task,
                             const KeyQueryShape& shape,
                             const VectorXd& weights,
                             std::span<const double> times,
                             double eta) {
  const auto direction = [&](const VectorXd& x) {
    return weight_direction(shape, x, task.descent(effective_matrix(shape, x)));
  };
  std::vector<double> grid = {0};
  for (const double t : times) {
    if (t > grid.back()) grid.push_back(t);
  }
  std::vector<double> values = {task.mse(effective_matrix(shape, weights))};
  if (grid.size() > 1) {
    const OdeResult solved = solve_ode(
        [&](double, const VectorXd& x, VectorXd& dxdt) {
          dxdt = direction(x);
          if (eta == 0) return;
          // (η/2) times the change of the direction along itself: polynomials of low order.
          constexpr double kStep = 1e-3;
          const VectorXd along = dxdt;
          dxdt -= eta / (4 * kStep) * (direction(x + kStep * along) - direction(x - kStep * along));
        },
        weights,
        grid,
        {.method = OdeMethod::fehlberg78,
         .relative_tolerance = 1e-10,
         .absolute_tolerance = 1e-14});
    if (!solved.finished()) {
      throw Error(ErrorKind::numerical, "flow of linear attention: " + describe(solved));
    }
    for (Index k = 1; k < solved.states.cols(); ++k) {
      values.push_back(task.mse(effective_matrix(shape, solved.states.col(k))));
    }
  }
  std::vector<double> curve;
  for (const double t : times) {
    const auto at = std::lower_bound(grid.begin(), grid.end(), t);
    curve.push_back(values.at(static_cast<std::size_t>(at - grid.begin())));
  }
  return curve;
}

namespace {

/// |v + u|² and |v - u|² over heads, u_h = <U_h, direction>.
struct Balance {
  double plus = 0;
  double minus = 0;
};

Balance balance(const KeyQueryShape& shape, const VectorXd& weights, const MatrixXd& direction) {
  Balance sums;
  const Index block = shape.dimension * shape.dimension;
  for (Index h = 0; h < shape.heads; ++h) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> matrix(
        weights.data() + shape.heads + h * block, shape.dimension, shape.dimension);
    const double u = matrix.cwiseProduct(direction).sum();
    sums.plus += (weights(h) + u) * (weights(h) + u);
    sums.minus += (weights(h) - u) * (weights(h) - u);
  }
  return sums;
}

}  // namespace

double white_mse(const KeyQueryTask& task,
                 const KeyQueryShape& shape,
                 const VectorXd& weights,
                 double time) {
  const double lambda = task.spectrum()(0);
  constexpr double kRounding = 1e-12;
  require((task.spectrum().array() - lambda).abs().maxCoeff() <= kRounding * lambda,
          "spectrum",
          task.spectrum().minCoeff(),
          "equal eigenvalues");
  const auto d = static_cast<double>(task.dimension());
  const MatrixXd unit = MatrixXd::Identity(task.dimension(), task.dimension()) / std::sqrt(d);
  const Balance start = balance(shape, weights, unit);
  // S = Σ v_h u_h obeys S' = (A - B S) Σ (v_h² + u_h²); with p = |v+u|² e^{2θ}, m = |v-u|² e^{-2θ}
  // it is (p - m)/4, and z = e^{2θ} a Riccati equation with roots z1 and z2.
  const double a = std::sqrt(d) * lambda * lambda;
  const double b = task.second()(0) * lambda;
  const double q = std::hypot(2 * a / b, std::sqrt(start.plus * start.minus));
  const double z2 = -start.minus / (2 * a / b + q);
  double s = 0;
  if (start.plus == 0) {
    // Only the decaying part: z' = -(B/2)(...) with no growth; integrate m = |v-u|² alone.
    const double rate = 2 * a;
    const double decay = std::exp(-rate * time);
    const double m = start.minus * decay / (1 + b * start.minus * (1 - decay) / (4 * a));
    s = -m / 4;
  } else {
    const double z1 = (2 * a / b + q) / start.plus;
    const double r = (z1 - 1) / (1 - z2) * std::exp(-(b * start.plus / 2) * (z1 - z2) * time);
    const double z = (z1 + z2 * r) / (1 + r);
    s = (start.plus * z - start.minus / z) / 4;
  }
  return d * lambda - 2 * a * s + b * s * s;
}

namespace {

/// Of the direction Λ² that a small start grows along: σ = |Λ²|_F, where the error is least on it.
struct Leading {
  double sigma;
  double top;
};

Leading leading(const KeyQueryTask& task) {
  const Eigen::ArrayXd lambda = task.spectrum().array();
  const double sigma = std::sqrt(lambda.pow(4).sum());
  return {sigma, sigma * sigma * sigma / (task.second().array() * lambda.pow(5)).sum()};
}

}  // namespace

double drop_share(const KeyQueryTask& task) {
  const Leading along = leading(task);
  return (task.plateau(0) - task.plateau(task.dimension())) / (2 * along.sigma * along.top);
}

double drop_time(const KeyQueryTask& task,
                 const KeyQueryShape& shape,
                 const VectorXd& weights,
                 double eta) {
  const Leading along = leading(task);
  const MatrixXd direction = (task.spectrum().array().square() / along.sigma).matrix().asDiagonal();
  const double plus = balance(shape, weights, direction).plus;
  const double share = drop_share(task);
  if (plus == 0 || share >= 1) return std::numeric_limits<double>::infinity();
  // S/S* = s takes the error 1 - (1-s)² of the way down that there is along Λ².
  const double s = 1 - std::sqrt(1 - share);
  const double rate = eta > 0 ? std::log1p(eta * along.sigma) / eta : along.sigma;
  return std::log((4 * along.top / plus - 1) * s / (1 - s)) / (2 * rate);
}

namespace {

/// ∫ du/(u²(1-u³)), with y = ln(1-u) given besides.
double clock(double u, double y) {
  const double root = std::numbers::sqrt3;
  return -1 / u - y / 3 + std::log(1 + u + u * u) / 6 - std::atan((2 * u + 1) / root) / root;
}

/// Where a decreasing function of x passes zero between low and high.
template <class Function>
double zero_of(double low, double high, const Function& f) {
  const double at_low = f(low);
  const double at_high = f(high);
  if (at_low <= 0) return low;
  if (at_high >= 0) return high;
  constexpr int kAllBits = std::numeric_limits<double>::digits;
  std::uintmax_t iterations = 200;
  const auto [below, above] =
      boost::math::tools::toms748_solve(f,
                                        low,
                                        high,
                                        at_low,
                                        at_high,
                                        boost::math::tools::eps_tolerance<double>(kAllBits),
                                        iterations);
  return (below + above) / 2;
}

}  // namespace

AlignedFlow::AlignedFlow(KeyQueryTask task, double scale) : task_(std::move(task)), scale_(scale) {
  constexpr double kSmallest = 1e-200;  // modes grow after times of 1/scale
  require(scale >= kSmallest, "init_scale", scale, fmt::format("init_scale >= {:g}", kSmallest));
  for (Index i = 0; i < task_.dimension(); ++i) {
    const double end = std::cbrt(task_.spectrum()(i) / task_.second()(i));
    require(scale < end,
            "init_scale",
            scale,
            fmt::format("below the end value {:.4g} of mode {}", end, i + 1));
  }
}

double AlignedFlow::weight(Index mode, double time) const {
  const double lambda = task_.spectrum()(mode);
  const double end = std::cbrt(lambda / task_.second()(mode));
  const double u0 = scale_ / end;
  const double y0 = std::log1p(-u0);
  const double target = clock(u0, y0) + lambda * lambda * end * time;
  // u(t) from y = ln(1-u): below -3 (target + 2) the clock is past the target.
  constexpr double kBeyond = 10;
  const double lowest = std::min(y0, -3 * target) - kBeyond;
  const double y =
      zero_of(lowest, y0, [&](double at) { return clock(-std::expm1(at), at) - target; });
  return -std::expm1(y) * end;
}

double AlignedFlow::mse(double time) const {
  double sum = 0;
  for (Index i = 0; i < task_.dimension(); ++i) {
    const double lambda = task_.spectrum()(i);
    const double s = std::pow(weight(i, time), 3);
    sum += lambda - 2 * s * lambda * lambda + s * s * task_.second()(i) * lambda;
  }
  return sum;
}

double AlignedFlow::step_time(Index modes) const {
  const double middle = (task_.plateau(modes - 1) + task_.plateau(modes)) / 2;
  if (mse(0) <= middle) return 0;
  double high = 1;
  while (mse(high) > middle) {
    high *= 2;
    if (!std::isfinite(high)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("the error never falls half-way to plateau {}", modes));
    }
  }
  return zero_of(0.0, high, [&](double time) { return mse(time) - middle; });
}

}  // namespace attica
