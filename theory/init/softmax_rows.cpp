#include "attica/theory/init/softmax_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/gauss_legendre.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Beyond it e^{-a} is 0.
constexpr double kLargestExponent = 1100;
/// 1 - δ stays positive: powers of order 0 are 1.
constexpr double kLargestDelta = 1 - 0x1p-53;

/// The law of a logit in units of s: nodes in equal steps and their weights.
struct LogitLaw {
  ArrayXd z;
  ArrayXd weight;
};

double farthest(double keys) { return std::sqrt(2 * std::log(keys) + 64); }

/// @param step at most 1/2
LogitLaw logit_law(double keys, double step, double sphere = 0) {
  double end = farthest(keys);
  if (sphere > 0) end = std::min(end, std::sqrt(sphere));
  const auto half = static_cast<Index>(std::floor(end / step));
  LogitLaw law;
  law.z = step *
          ArrayXd::LinSpaced(2 * half + 1, -static_cast<double>(half), static_cast<double>(half));
  law.weight = sphere > 0 ? ArrayXd((1 - law.z.square() / sphere).max(0).pow((sphere - 3) / 2))
                          : ArrayXd((-law.z.square() / 2).exp());
  law.weight /= law.weight.sum();
  return law;
}

/// Of a step of h in w, in units of z.
double step_of(double h, double deviation) { return deviation * 0.5 > h ? h / deviation : 0.5; }

struct Span {
  double low, high;
};

/// Where integrands over w are not negligible.
Span span_of(const AttentionRows& rows, double variance, double tail) {
  const double s = std::sqrt(variance);
  const double reach = s * farthest(rows.keys);
  const double fewest = rows.causal ? 1 : rows.keys;
  return {-std::max(std::log(rows.keys) + std::min(variance / 2, reach), reach) - tail,
          4.5 + s * std::sqrt(70 / fewest)};
}

/// Of a number 1 - δ: powers by the number of keys, averaged over the rows.
class Powers {
 public:
  explicit Powers(const AttentionRows& rows) : keys_(rows.keys), causal_(rows.causal) {}

  /// @brief (1-δ)^n
  double zeroth(double delta) const {
    if (!causal_) return std::exp(keys_ * std::log1p(-delta));
    double sum = 0;
    double power = 1;
    for (double n = 1; n <= keys_; ++n) sum += power *= 1 - delta;
    return sum / keys_;
  }
  /// @brief n (n-1) (1-δ)^{n-2}
  double second(double delta) const {
    if (!causal_) return keys_ * (keys_ - 1) * std::exp((keys_ - 2) * std::log1p(-delta));
    double sum = 0;
    double power = 1;
    for (double n = 2; n <= keys_; ++n, power *= 1 - delta) sum += n * (n - 1) * power;
    return sum / keys_;
  }
  /// @brief n (1-δ)^{n-1}
  ArrayXd first(const ArrayXd& delta) const {
    const double t = keys_;
    if (!causal_) return t * ((t - 1) * (-delta).log1p()).exp();
    return delta.unaryExpr([t](double d) {
      // The sum of a geometric series, differentiated; its first terms where that would cancel.
      if (d * t < 1e-3) return (t + 1) / 2 * (1 - d * (t - 1) * 2 / 3 * (1 - d * (t - 2) * 3 / 8));
      const double power = std::exp(t * std::log1p(-d));
      return (1 - (1 + t * d) * power) / (t * d * d);
    });
  }
  double first(double delta) const { return first(ArrayXd::Constant(1, delta))[0]; }

 private:
  double keys_;
  bool causal_;
};

/// Weights of the integral from -∞ to node j of what is known at nodes in steps of 1: of the
/// function's cardinal series, hence exact up to what the step leaves out. @shape{nodes x nodes}
MatrixXd cumulative_weights(Index nodes) {
  const std::vector<QuadratureNode> rule = gauss_legendre(12, {0, 1});
  VectorXd upto(nodes);  // ∫_0^n sin(πx)/(πx) dx
  upto[0] = 0;
  for (Index n = 1; n < nodes; ++n) {
    double part = 0;
    for (const QuadratureNode& q : rule) {
      const double x = std::numbers::pi * (static_cast<double>(n - 1) + q.x);
      part += q.weight * std::sin(x) / x;
    }
    upto[n] = upto[n - 1] + part;
  }
  return MatrixXd::NullaryExpr(
      nodes, nodes, [&](Index k, Index j) { return 0.5 + (j >= k ? upto[j - k] : -upto[k - j]); });
}

}  // namespace

RowMoments& RowMoments::operator+=(const RowMoments& other) {
  participation += other.participation;
  cubes += other.cubes;
  square += other.square;
  entropy += other.entropy;
  aligned += other.aligned;
  largest += other.largest;
  query_jacobian += other.query_jacobian;
  return *this;
}

RowMoments RowMoments::operator*(double factor) const {
  return {.participation = factor * participation,
          .cubes = factor * cubes,
          .square = factor * square,
          .entropy = factor * entropy,
          .aligned = factor * aligned,
          .largest = factor * largest,
          .query_jacobian = factor * query_jacobian};
}

RowMoments softmax_row(const AttentionRows& rows,
                       double variance,
                       bool with_largest,
                       const SoftmaxGrid& grid) {
  require(rows.keys >= 2, "keys", rows.keys, "at least 2");
  require(variance >= 0, "variance", variance, "at least 0");
  const double s = std::sqrt(variance);
  const LogitLaw law = logit_law(rows.keys, step_of(grid.step, s), rows.sphere);
  const ArrayXd boltzmann = (s * law.z).exp();
  const Span span = span_of(rows, variance, grid.tail);
  const auto count = static_cast<Index>(std::ceil((span.high - span.low) / grid.step)) + 1;
  const Index nodes = law.z.size();
  const Powers powers(rows);
  RowMoments all;
  double log_partition = 0;
  double mean_logit = 0;  // E Σ A x, for normal logits s² (1 - Y)
  // A row adds to the largest weight at most its share of all weights, which sum to 1.
  constexpr double kNoShare = 1e-14;
  MatrixXd below(with_largest ? count : 0, with_largest ? nodes : 0);
  MatrixXd slope = below;
  Index used = 0;
  for (Index i = 0; i < count; ++i) {
    const double u = std::exp(span.low + static_cast<double>(i) * grid.step);
    const ArrayXd a = (u * boltzmann).min(kLargestExponent);
    const ArrayXd decay = law.weight * (-a).exp();
    const double delta = std::clamp((law.weight - decay).sum(), 0.0, kLargestDelta);
    const double n2 = (a.square() * decay).sum();
    const double first = powers.first(delta);
    all.participation += first * n2;
    all.cubes += first * (a.cube() * decay).sum() / 2;
    all.square +=
        (first * (a.square().square() * decay).sum() + powers.second(delta) * n2 * n2) / 6;
    const double z1 = (law.z * a * decay).sum();
    all.aligned += powers.second(delta) * z1 * z1;
    log_partition += std::exp(-u) - powers.zeroth(delta);
    mean_logit += first * s * z1;
    if (with_largest && first * (a * decay).sum() > kNoShare) {
      below.row(used) = decay;
      slope.row(used++) = a * decay;
    }
  }
  all = all * grid.step;
  all.entropy = grid.step * (log_partition - mean_logit);
  if (with_largest) {
    // E[e^{-u e^y}; y < x]
    const MatrixXd lower = below.topRows(used) * cumulative_weights(nodes);
    for (Index j = 0; j < nodes; ++j) {
      const ArrayXd delta = (1 - lower.col(j).array()).max(0).min(kLargestDelta);
      all.largest += grid.step * (slope.col(j).head(used).array() * powers.first(delta)).sum();
    }
  }
  return all;
}

namespace {

/// E over the part of its own of a row's logit of a^k e^{-a}, a = e^{w + common + own}: for every w
/// and value of the common part. @shape{w x common}, but `none` = 1 - E e^{-a}
struct ConditionalMoments {
  MatrixXd none, one, two, three;
};

/// Nodes in w of a row, and the places w + common among which the conditional moments are looked
/// up.
struct RowNodes {
  double low = 0;
  double step = 0;
  Index count = 0;
  Index stride = 1;     ///< of the places from one w to the next
  bool lattice = true;  ///< places in equal steps; else one for every pair
  double spacing = 0;   ///< from one value of the common part to the next
};

ConditionalMoments conditional_moments(const RowNodes& nodes,
                                       const ArrayXd& common,
                                       double own_deviation,
                                       const AttentionRows& rows,
                                       bool reversed,
                                       double h,
                                       PairPart part) {
  const LogitLaw law = logit_law(rows.keys, step_of(h, own_deviation));
  const ArrayXd boltzmann = (own_deviation * law.z).exp();
  const Index values = common.size();
  const Index places =
      nodes.lattice ? (nodes.count - 1) * nodes.stride + values : nodes.count * values;
  ArrayXXd table(places, 4);
  for (Index k = 0; k < places; ++k) {
    const double t = nodes.lattice ? nodes.low + common[0] + static_cast<double>(k) * nodes.spacing
                                   : nodes.low + static_cast<double>(k / values) * nodes.step +
                                         common[k % values];
    const ArrayXd a = (std::exp(t) * boltzmann).min(kLargestExponent);
    const ArrayXd decay = law.weight * (-a).exp();
    table(k, 0) = std::max((law.weight - decay).sum(), 0.0);
    table(k, 1) = (a * decay).sum();
    if (part == PairPart::shared) continue;
    table(k, 2) = (a.square() * decay).sum();
    table(k, 3) = (a.cube() * decay).sum();
  }
  const auto of_order = [&](Index order) {
    return MatrixXd(MatrixXd::NullaryExpr(nodes.count, values, [&](Index i, Index j) {
      return table(i * nodes.stride + (reversed ? values - 1 - j : j), order);
    }));
  };
  ConditionalMoments out{.none = of_order(0), .one = of_order(1), .two = {}, .three = {}};
  if (part != PairPart::shared) out.two = of_order(2);
  if (part == PairPart::all) out.three = of_order(3);
  return out;
}

}  // namespace

PairMoments softmax_pair(const AttentionRows& rows,
                         const LogitPair& logits,
                         PairPart part,
                         const SoftmaxGrid& grid) {
  require(rows.keys >= 2, "keys", rows.keys, "at least 2");
  const double t = rows.keys;
  const double rho = std::min(std::abs(logits.correlation), 1.0);
  const bool opposite = logits.correlation < 0;
  const double deviation[2] = {std::sqrt(logits.variance_a), std::sqrt(logits.variance_b)};
  const double shared[2] = {deviation[0] * std::sqrt(rho), deviation[1] * std::sqrt(rho)};
  const double wide = std::max(shared[0], shared[1]);
  // Steps of the common part: a whole number of them is a step in w of the row where it is larger.
  constexpr double kMostPlaces = 16;
  double parts = 1;
  double common_step = 0.5;
  bool lattice = false;
  if (wide > 0) {
    parts = std::max(1.0, std::ceil(2 * grid.step / wide));
    lattice = parts <= kMostPlaces;
    if (lattice) common_step = grid.step / (wide * parts);
  }
  LogitLaw common{.z = ArrayXd::Zero(1), .weight = ArrayXd::Ones(1)};
  if (wide > 0) common = logit_law(t, common_step);
  RowNodes nodes[2];
  ConditionalMoments moments[2];
  for (const int r : {0, 1}) {
    const Span span = span_of(rows, deviation[r] * deviation[r], grid.tail);
    RowNodes& n = nodes[r];
    n.low = span.low;
    n.spacing = shared[r] * common_step;
    n.lattice = lattice && n.spacing * kMostPlaces * kMostPlaces > grid.step;
    n.stride = n.lattice
                   ? std::max<Index>(1, static_cast<Index>(grid.step / n.spacing * (1 + 1e-12)))
                   : common.z.size();
    n.step = n.lattice ? static_cast<double>(n.stride) * n.spacing : grid.step;
    n.count = static_cast<Index>(std::ceil((span.high - span.low) / n.step)) + 1;
    moments[r] = conditional_moments(n,
                                     shared[r] * common.z,
                                     deviation[r] * std::sqrt(1 - rho),
                                     rows,
                                     opposite && r == 1,
                                     grid.step,
                                     part);
  }
  const ConditionalMoments& b = moments[1];
  const auto weighted = [&](const MatrixXd& m) {
    return MatrixXd(m * common.weight.matrix().asDiagonal());
  };
  const VectorXd weight = common.weight.matrix();
  const MatrixXd none = weighted(moments[0].none);
  const MatrixXd one = weighted(moments[0].one);
  const VectorXd none_a = none.rowwise().sum();
  const VectorXd none_b = b.none * weight;
  // 1 - E e^{-a-b}
  ArrayXXd delta = -(none * b.none.transpose()).array();
  delta.colwise() += none_a.array();
  delta.rowwise() += none_b.transpose().array();
  delta = delta.max(0).min(kLargestDelta);
  const ArrayXXd one_one = one * b.one.transpose();
  const double cell = nodes[0].step * nodes[1].step;
  PairMoments all;
  if (rows.causal) {
    if (part != PairPart::shared) throw invalid_parameter("part", "more", "shared, of causal rows");
    // Row A has n keys, row B e more: n φ2^{n-1} φ(v)^e, e = 1 ... T-n, n = 1 ... T-1.
    for (Index j = 0; j < delta.cols(); ++j) {
      const double phi = 1 - std::clamp(none_b[j], 0.0, 1.0);
      std::vector<double> longer(static_cast<std::size_t>(t), 0.0);
      double power = 1;
      double sum = 0;
      for (std::size_t e = 1; e < longer.size(); ++e) longer[e] = sum += power *= phi;
      const ArrayXd base = 1 - delta.col(j);
      ArrayXd both = ArrayXd::Ones(base.size());
      ArrayXd total = ArrayXd::Zero(base.size());
      for (std::size_t n = 1; n < longer.size(); ++n, both *= base) {
        total += static_cast<double>(n) * longer[longer.size() - n] * both;
      }
      all.shared += (one_one.col(j) * total).sum();
    }
    all.shared *= cell / (t * (t - 1) / 2);
    return all;
  }
  const ArrayXXd log_power = (-delta).log1p();
  const ArrayXXd once = t * cell * ((t - 1) * log_power).exp();
  all.shared = (once * one_one).sum();
  if (part == PairPart::shared) return all;
  const ArrayXXd twice = t * (t - 1) * cell * ((t - 2) * log_power).exp();
  const MatrixXd two = weighted(moments[0].two);
  const ArrayXXd two_one = two * b.one.transpose();
  const ArrayXXd one_two = one * b.two.transpose();
  const ArrayXXd two_two = two * b.two.transpose();
  all.shared_jacobian =
      (once * (one_one - two_one - one_two + two_two) + twice * one_one.square()).sum();
  if (part == PairPart::jacobian) return all;
  ArrayXXd two_none = -(two * b.none.transpose()).array();
  two_none.colwise() += two.rowwise().sum().array();
  ArrayXXd none_two = -(none * b.two.transpose()).array();
  none_two.rowwise() += (b.two * weight).transpose().array();
  const ArrayXXd three_one = weighted(moments[0].three) * b.one.transpose();
  all.squares = (once * two_two + twice * two_none * none_two).sum();
  all.square_shared = (once * three_one + twice * two_none * one_one).sum() / 2;
  return all;
}

double limit_index(double beta, double cosine) {
  return std::min(1.0, std::sqrt(2 / (1 - cosine)) / beta);
}

namespace {

/// Digamma at x > 0.
double digamma(double x) {
  double shift = 0;
  for (; x < 12; ++x) shift -= 1 / x;
  const double r = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r / 252));
}

/// The mean of the largest weight of the Poisson-Dirichlet law of index μ < 1 (Pitman and Yor 1997,
/// proposition 17): ∫ e^{-t} / (1 + μ ∫_0^1 (1 - e^{-tx}) x^{-1-μ} dx) dt.
double largest_weight(double mu) {
  const std::vector<QuadratureNode> unit = gauss_legendre(80, {0, 1});
  double mean = 0;
  for (const QuadratureNode& outer : gauss_legendre(120, {0, 7})) {
    const double t = outer.x * outer.x;  // ends where e^{-t} does
    double inner = 0;
    for (const QuadratureNode& q : unit) {
      const double x = std::pow(q.x, 1 / (1 - mu));  // dv = (1-μ) x^{-μ} dx
      inner += q.weight * (t * x > 1e-12 ? -std::expm1(-t * x) / x : t);
    }
    mean += outer.weight * 2 * outer.x * std::exp(-t) / (1 + mu / (1 - mu) * inner);
  }
  return mean;
}

}  // namespace

LimitRow limit_row(double keys, double beta, double cosine) {
  const double mu = limit_index(beta, cosine);
  if (mu == 1) {
    return {.participation = 0,
            .jacobian = 0,
            .entropy = std::log(keys) * (1 - beta * beta * (1 - cosine) / 2),
            .largest = 0};
  }
  return {.participation = 1 - mu,
          .jacobian = mu * (1 - mu) / 3,
          .entropy = digamma(1) - digamma(1 - mu),
          .largest = largest_weight(mu)};
}

}  // namespace attica
