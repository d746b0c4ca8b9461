#include "attica/theory/init/propagation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/theory/init/key_dimension.hpp"

namespace attica {
namespace {

/// Rows of the recursion's attention.
FiniteHead head_of(const InitialTransformer& n, double cosine) {
  return {.rows = {.keys = n.context, .causal = false, .sphere = 0},
          .variance = n.beta * n.beta * std::log(n.context),
          .cosine = cosine,
          .key_dimension = n.dimension / n.heads};
}

/// Arc cosine kernel of order 1 of ReLU units: E relu(x) relu(y) of unit variances, correlation ρ.
double relu_kernel(double rho) {
  return (std::sqrt(1 - rho * rho) + rho * (std::numbers::pi - std::acos(rho))) /
         (2 * std::numbers::pi);
}

/// Variance of a unit's input, and the correlation of two tokens' inputs.
struct UnitInput {
  double variance, correlation;
};
UnitInput unit_input(const InitialTransformer& n, double cosine) {
  const double variance = n.mlp_variance + n.bias_variance;
  return {variance,
          variance > 0 ? std::min(1.0, (n.mlp_variance * cosine + n.bias_variance) / variance) : 1};
}

double logit(double c) { return std::log(c) - std::log1p(-c); }

/// What a half block adds to g, of networks of width d.
struct Noise {
  double mean = 0;      ///< b
  double variance = 0;  ///< v
};

Noise noise_of(const HalfBlock& half, double common, double rest, double both, double own) {
  const double n = half.common;
  const double r = half.rest;
  return {.mean = -common / (2 * n * n) + rest / (2 * r * r) + own * (n + r) / r,
          .variance = common / (n * n) + rest / (r * r) - 2 * both / (n * r)};
}

/// Of attention, and how much the tokens' norms scatter in it.
struct AttentionNoise {
  Noise noise;
  double clones = 0;
};

/// @param pairs whether of two rows, too
AttentionScatter scatter_at(const InitialTransformer& n, double c, bool pairs) {
  const double variance = n.beta * n.beta * (1 - c) * std::log(n.context);
  const AttentionRows rows{.keys = n.context, .causal = false, .sphere = 0};
  const RowMoments row = softmax_row(rows, variance, false);
  AttentionScatter scatter{.variance = row.variance()};
  if (!pairs) return scatter;
  const PairMoments two =
      softmax_pair(rows,
                   {.variance_a = variance, .variance_b = variance, .correlation = c},
                   PairPart::all,
                   {.step = 0.4, .tail = 26});
  scatter.squares = two.squares - row.participation * row.participation;
  scatter.square_shared = two.square_shared - row.participation * two.shared;
  return scatter;
}

AttentionNoise attention_noise(const InitialTransformer& n,
                               double c,
                               const AttentionAt& at,
                               const AttentionScatter& scatter) {
  const HalfBlock half = attention_half(n, c, at);
  const double values = n.value_variance * (1 - c);
  const double total = half.common + half.rest;
  AttentionNoise out;
  out.clones = values * values * scatter.variance / (n.heads * total * total);
  const double c1 = c + (1 - c) / n.context;
  const double o1 = c + (1 - c) * ((n.context - 1) * at.shared + at.participation) / n.context;
  const double common = (2 * n.value_variance * n.value_variance * o1 * o1 +
                         4 * n.skip * n.skip * c1 * n.value_variance * o1) /
                        n.dimension;
  const double rest = values * values * scatter.squares / n.heads;
  const double own =
      0.75 * (values * values * scatter.variance / n.heads - rest) / (total * total) -
      values * values * scatter.square_shared / (n.heads * half.common * total);
  out.noise = noise_of(half, common, rest, 0, own);
  return out;
}

/// Of a hidden unit's outputs, given the part M of its input that all tokens share: the mean A of
/// their squares, the mean B of products of two tokens.
struct UnitMoments {
  double a = 0, b = 0;                                 ///< means over M
  double aa = 0, bb = 0, ab = 0;                       ///< of A², B², A B
  double between() const { return aa + bb - 2 * ab; }  ///< E (A - B)²
};

UnitMoments unit_moments(const UnitInput& input) {
  const double rho = input.correlation;
  const double tau = std::sqrt(1 - rho);
  UnitMoments m;
  constexpr double kStep = 0.02;
  for (double z = -9; z <= 9 + kStep / 2; z += kStep) {
    const double weight = kStep * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double mu = std::sqrt(rho) * z;
    const double x = tau > 0 ? mu / tau : (mu > 0 ? 40 : -40);
    const double below = std::erfc(-x / std::numbers::sqrt2) / 2;
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double square = input.variance * ((mu * mu + tau * tau) * below + mu * tau * density);
    const double mean = mu * below + tau * density;
    const double product = input.variance * mean * mean;
    m.a += weight * square;
    m.b += weight * product;
    m.aa += weight * square * square;
    m.bb += weight * product * product;
    m.ab += weight * square * product;
  }
  return m;
}

Noise mlp_noise(const InitialTransformer& n, double c) {
  const HalfBlock half = mlp_half(n, c);
  const UnitMoments m = unit_moments(unit_input(n, c));
  const double var_a = m.aa - m.a * m.a;
  const double var_b = m.bb - m.b * m.b;
  const double cov = m.ab - m.a * m.b;
  const double w2 = n.mlp_variance * n.mlp_variance;
  const double c1 = c + (1 - c) / n.context;
  const double k1 = m.b + (m.a - m.b) / n.context;
  const double common =
      (w2 * var_b + 2 * w2 * k1 * k1 + 4 * n.mlp_skip * n.mlp_skip * c1 * n.mlp_variance * k1) /
      n.dimension;
  const double rest = w2 * (var_a + var_b - 2 * cov) / n.dimension;
  return noise_of(half, common, rest, w2 * (cov - var_b) / n.dimension, 0);
}

/// G, G' and G'' of a half block in g.
struct Slopes {
  double value = 0, first = 0, second = 0;
};
Slopes slopes_of(const std::function<HalfBlock(double cosine)>& half, double g) {
  constexpr double kStep = 0.05;
  const auto at = [&](double x) {
    const HalfBlock h = half(1 / (1 + std::exp(-x)));
    return std::log(h.common / h.rest);
  };
  const double low = at(g - kStep), value = at(g), high = at(g + kStep);
  return {.value = value,
          .first = (high - low) / (2 * kStep),
          .second = (high - 2 * value + low) / (kStep * kStep)};
}

/// g of networks: mean deviation from the mean field, and variance.
struct Law {
  double g = 0, deviation = 0, variance = 0;

  void through(const Slopes& slope, const Noise& noise) {
    deviation = slope.first * deviation + slope.second * variance / 2 + noise.mean;
    variance = slope.first * slope.first * variance + noise.variance;
    g = slope.value;
  }
  /// @brief Mean of f(c) over networks.
  template <class F>
  double mean(const F& f) const {
    double sum = 0;
    for (const WeightedValue& node : normal_nodes(9)) {
      sum +=
          node.weight * f(1 / (1 + std::exp(-(g + deviation + std::sqrt(variance) * node.value))));
    }
    return sum;
  }
};

}  // namespace

AttentionAt attention_at(const InitialTransformer& n, double cosine, bool jacobians) {
  if (n.limit) {
    const double mu = limit_index(n.beta, cosine);
    return {.participation = 1 - mu,
            .shared = jacobians ? 1 / n.context : 0,
            .jacobian = mu * (1 - mu) / 3};
  }
  const FiniteHead head = head_of(n, cosine);
  const RowMoments row = finite_row(head, false);
  const PairMoments two =
      finite_pair_first_order(head, jacobians ? PairPart::all : PairPart::shared);
  AttentionAt at{
      .participation = row.participation, .shared = two.shared, .jacobian = row.jacobian()};
  if (!jacobians) return at;
  at.shared_jacobian = two.shared_jacobian;
  at.key_jacobian = row.query_jacobian;
  at.shared_key_jacobian = two.query_jacobian;
  at.trace = 1 - 2 * row.participation + row.square;
  at.shared_trace = 1 - 2 * row.participation + two.squares;
  return at;
}

namespace {

constexpr Eigen::Index kCurveNodes = 28;

}  // namespace

AttentionCurve::AttentionCurve(const InitialTransformer& network, double least, double most)
    : network_(network),
      low_(logit(least)),
      high_(logit(most)),
      nodes_(kCurveNodes),
      weights_(kCurveNodes),
      values_(5, kCurveNodes) {
  require(least > 0 && least < most && most < 1, "least", least, "0 < least < most < 1");
  for (Eigen::Index k = 0; k < kCurveNodes; ++k) {
    const double angle = std::numbers::pi * (static_cast<double>(k) + 0.5) / kCurveNodes;
    nodes_[k] = std::cos(angle);
    weights_[k] = k % 2 == 0 ? std::sin(angle) : -std::sin(angle);
    const double g = (low_ + high_) / 2 + (high_ - low_) / 2 * nodes_[k];
    const double c = 1 / (1 + std::exp(-g));
    const AttentionAt at = attention_at(network_, c);
    const AttentionScatter scatter = scatter_at(network_, c, true);
    values_.col(k) << std::log(at.participation), std::log(at.shared), scatter.variance,
        scatter.squares, scatter.square_shared;
  }
}

Eigen::VectorXd AttentionCurve::interpolated(double cosine) const {
  const double x = (2 * logit(cosine) - low_ - high_) / (high_ - low_);
  Eigen::VectorXd weights(kCurveNodes);
  for (Eigen::Index k = 0; k < kCurveNodes; ++k) {
    const double off = x - nodes_[k];
    if (off == 0) return values_.col(k);
    weights[k] = weights_[k] / off;
  }
  return values_ * weights / weights.sum();
}

AttentionAt AttentionCurve::at(double cosine) const {
  const double g = logit(cosine);
  if (network_.limit || !(g >= low_ && g <= high_)) return attention_at(network_, cosine);
  const Eigen::VectorXd values = interpolated(cosine);
  return {.participation = std::exp(values[0]), .shared = std::exp(values[1])};
}

AttentionScatter AttentionCurve::scatter(double cosine) const {
  const double g = logit(cosine);
  if (!(g >= low_ && g <= high_)) return scatter_at(network_, cosine, true);
  const Eigen::VectorXd values = interpolated(cosine);
  return {.variance = values[2], .squares = values[3], .square_shared = values[4]};
}

AttentionCurve AttentionCurve::scaled(double participation, double shared) const {
  AttentionCurve other = *this;
  other.values_.row(0).array() += std::log(participation);
  other.values_.row(1).array() += std::log(shared);
  return other;
}

HalfBlock attention_half(const InitialTransformer& n, double c, const AttentionAt& at) {
  const double a2 = n.skip * n.skip;
  return {.common = a2 * c + n.value_variance * (c + (1 - c) * at.shared) + n.bias_variance,
          .rest = (1 - c) * (a2 + n.value_variance * (at.participation - at.shared))};
}

HalfBlock mlp_half(const InitialTransformer& n, double c) {
  const double m2 = n.mlp_skip * n.mlp_skip;
  const UnitInput input = unit_input(n, c);
  const double same = input.variance / 2;
  const double other = input.variance * relu_kernel(input.correlation);
  return {.common = m2 * c + n.mlp_variance * other + n.bias_variance,
          .rest = m2 * (1 - c) + n.mlp_variance * (same - other)};
}

std::vector<BlockCosines> mean_field(const InitialTransformer& n, int blocks) {
  std::vector<BlockCosines> all;
  double c = n.cosine;
  for (int l = 0; l < blocks; ++l) {
    BlockCosines block{.input = c, .middle = 0, .output = 0};
    block.middle = attention_half(n, c, attention_at(n, c)).cosine();
    block.output = c = n.mlp ? mlp_half(n, block.middle).cosine() : block.middle;
    all.push_back(block);
  }
  return all;
}

std::vector<double> pair_scatter(const InitialTransformer& n, int blocks) {
  std::vector<double> all;
  double scatter = 0;
  for (const BlockCosines& c : mean_field(n, blocks)) {
    all.push_back(scatter);
    {
      const AttentionAt at = attention_at(n, c.input);
      const double kept = n.skip * n.skip;
      const double added = n.value_variance * (at.participation - at.shared);
      const double rest = (kept + added) * (kept + added);
      scatter = ((kept * kept + added * added) * scatter +
                 (2 * kept * added + added * added) / n.dimension) /
                rest;
    }
    if (!n.mlp) continue;
    const double apart = 1 - c.middle;
    const UnitInput input = unit_input(n, c.middle);
    const UnitMoments m = unit_moments(input);
    const double w2 = n.mlp_variance * n.mlp_variance;
    const double kept = n.mlp_skip * n.mlp_skip * apart;
    const double added = n.mlp_variance * (m.a - m.b);
    const double slope =
        apart * (n.mlp_skip * n.mlp_skip +
                 w2 * (std::numbers::pi - std::acos(input.correlation)) / (2 * std::numbers::pi));
    const double rest = (kept + added) * (kept + added);
    scatter = (slope * slope * scatter +
               (2 * kept * added + added * added + w2 * m.between()) / n.dimension) /
              rest;
  }
  return all;
}

std::vector<BlockMoments> propagate(const InitialTransformer& n,
                                    int blocks,
                                    int order,
                                    const AttentionCurve* known) {
  const auto attention = [&](double x) { return known ? known->at(x) : attention_at(n, x); };
  if (order > 0) require(n.cosine > 0, "cosine", n.cosine, "above 0 at first order");
  std::vector<BlockMoments> all;
  Law law{.g = n.cosine > 0 ? logit(n.cosine) : 0, .deviation = 0, .variance = 0};
  double c = n.cosine;
  for (int l = 0; l < blocks; ++l) {
    BlockMoments block;
    const AttentionAt at = attention(c);
    block.participation = at.participation;
    block.shared = at.shared;
    const AttentionNoise of_attention =
        attention_noise(n, c, at, known ? known->scatter(c) : scatter_at(n, c, order > 0));
    block.clones = of_attention.clones;
    double distance = attention_half(n, c, at).distance();
    if (order > 0) {
      std::map<double, AttentionAt> seen;
      const auto once = [&](double x) {
        const auto [place, fresh] = seen.try_emplace(x);
        if (fresh) place->second = attention(x);
        return place->second;
      };
      if (law.variance > 0) {
        block.participation = law.mean([&](double x) { return once(x).participation; });
        block.shared = law.mean([&](double x) { return once(x).shared; });
        block.participation_shift = at.participation - block.participation;
        block.shared_shift = at.shared - block.shared;
      }
      law.through(slopes_of([&](double x) { return attention_half(n, x, once(x)); }, law.g),
                  of_attention.noise);
    }
    c = 1 - distance;
    block.middle_distance = order > 0 ? law.mean([](double x) { return 1 - x; }) : distance;
    if (n.mlp) {
      const Noise of_mlp = order > 0 ? mlp_noise(n, c) : Noise{};
      distance = mlp_half(n, c).distance();
      if (order > 0)
        law.through(slopes_of([&](double x) { return mlp_half(n, x); }, law.g), of_mlp);
      c = 1 - distance;
    }
    block.distance = distance;
    if (order > 0) {
      block.distance = law.mean([](double x) { return 1 - x; });
      const double square = law.mean([](double x) { return (1 - x) * (1 - x); });
      block.spread = std::sqrt(std::max(0.0, square - block.distance * block.distance));
      block.distance_shift = distance - block.distance;
    }
    all.push_back(block);
  }
  return all;
}

}  // namespace attica
