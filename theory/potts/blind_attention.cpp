#include "attica/theory/potts/blind_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attica/core/error.hpp"
#include "attica/solvers/lbfgs.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

BlindAttention::BlindAttention(const WeightedSequences& population, Index colours, int heads)
    : colours_(colours), heads_(heads) {
  require(heads >= 1, "heads", heads, "at least 1");
  const Sequences& s = population.sequences;
  require_sequences(s, s.cols(), colours);
  std::map<std::vector<Index>, VectorXd> by_counts;
  std::vector<Index> counts;
  for (Index n = 0; n < s.rows(); ++n) {
    counts.assign(static_cast<std::size_t>(colours), 0);
    for (const std::uint8_t colour : s.row(n)) ++counts[colour];
    for (const std::uint8_t colour : s.row(n)) {
      --counts[colour];
      const auto place = by_counts.try_emplace(counts, VectorXd::Zero(colours)).first;
      place->second[colour] += population.weights[n] / static_cast<double>(s.cols());
      ++counts[colour];
    }
  }
  counts_.resize(colours, std::ssize(by_counts));
  targets_.resize(colours, std::ssize(by_counts));
  Index k = 0;
  for (const auto& [numbers, target] : by_counts) {
    for (Index b = 0; b < colours; ++b) {
      counts_(b, k) = static_cast<double>(numbers[static_cast<std::size_t>(b)]);
    }
    targets_.col(k++) = target;
  }
}

Index BlindAttention::parameters() const { return colours_ + heads_ * colours_ * (1 + colours_); }

double BlindAttention::operator()(const double* x, double* gradient) const {
  const Index size = colours_ * (1 + colours_);
  MatrixXd logits = Eigen::Map<const VectorXd>(x, colours_).replicate(1, counts_.cols());
  std::vector<MatrixXd> weights;  // of the colours, @shape{C x n}
  for (int h = 0; h < heads_; ++h) {
    const double* head = x + colours_ + h * size;
    const Eigen::Map<const ArrayXd> u(head, colours_);
    const Eigen::Map<const MatrixXd> v(head + colours_, colours_, colours_);
    const double top = std::max(0.0, u.maxCoeff());
    MatrixXd w = counts_.array().colwise() * (u - top).exp();
    const Eigen::RowVectorXd sums = w.colwise().sum().array() + std::exp(-top);
    w.array().rowwise() /= sums.array();
    logits += v * w;
    weights.push_back(std::move(w));
  }
  const Eigen::RowVectorXd mass = targets_.colwise().sum();
  logits.rowwise() -= logits.colwise().maxCoeff().eval();
  MatrixXd p = logits.array().exp();
  const Eigen::RowVectorXd sums = p.colwise().sum();
  const double loss = mass.dot(sums.array().log().matrix()) - targets_.cwiseProduct(logits).sum();
  if (gradient == nullptr) return loss;
  p.array().rowwise() *= mass.array() / sums.array();
  p -= targets_;  // the derivative by the logits
  Eigen::Map<VectorXd>(gradient, colours_) = p.rowwise().sum();
  for (int h = 0; h < heads_; ++h) {
    const MatrixXd& w = weights[static_cast<std::size_t>(h)];
    const Eigen::Map<const MatrixXd> v(x + colours_ + h * size + colours_, colours_, colours_);
    double* head = gradient + colours_ + h * size;
    MatrixXd pull = v.transpose() * p;  // the derivative by the weights
    pull.rowwise() -= pull.cwiseProduct(w).colwise().sum().eval();
    Eigen::Map<VectorXd>(head, colours_) = pull.cwiseProduct(w).rowwise().sum();
    Eigen::Map<MatrixXd>(head + colours_, colours_, colours_) = p * w.transpose();
  }
  return loss;
}

namespace {

/// A minimiser led by a wrong gradient ends anywhere: refuses one that is not that of the loss.
void check_gradient(const BlindAttention& layer, VectorXd x) {
  constexpr double kStep = 1e-4;
  constexpr double kClose = 1e-5;
  VectorXd gradient(x.size());
  layer(x.data(), gradient.data());
  for (Index k = 0; k < x.size(); ++k) {
    const double value = x[k];
    x[k] = value + kStep;
    const double above = layer(x.data(), nullptr);
    x[k] = value - kStep;
    const double slope = (above - layer(x.data(), nullptr)) / (2 * kStep);
    x[k] = value;
    if (std::abs(slope - gradient[k]) < kClose) continue;
    throw Error(
        ErrorKind::numerical,
        fmt::format("attention blind to positions: the gradient {:.4g} is none of the loss, "
                    "whose slope is {:.4g}",
                    gradient[k],
                    slope));
  }
}

}  // namespace

BlindOptimum best_blind_attention(const BlindAttention& layer) {
  constexpr int kStarts = 12;
  constexpr double kSame = 1e-6;
  constexpr double kPenalty = 1e-5;
  const auto penalised = [&](const double* x, double* gradient) {
    const Eigen::Map<const VectorXd> at(x, layer.parameters());
    const double loss = layer(x, gradient);
    if (gradient != nullptr) Eigen::Map<VectorXd>(gradient, at.size()) += kPenalty * at;
    return loss + kPenalty / 2 * at.squaredNorm();
  };
  const LbfgsOptions search{.gradient_tolerance = 1e-9, .max_iterations = 5000};
  double near = std::numeric_limits<double>::infinity();  // smallest penalised loss
  BlindOptimum result{.starts = kStarts};
  std::vector<LbfgsResult> ends;
  for (int k = 0; k < kStarts; ++k) {
    const double scale = 0.3 * std::pow(10.0, static_cast<double>(k) / (kStarts - 1));
    VectorXd start(layer.parameters());
    for (Index m = 0; m < start.size(); ++m) {  // a generic vector
      start[m] =
          scale * std::sqrt(2.0) * std::sin(1.0 + k + (2.3 + 0.7 * k) * static_cast<double>(m * m));
    }
    if (k == 0) check_gradient(layer, start);
    const LbfgsResult first = minimise_lbfgs(penalised, start, search);
    if (first.value < near) {
      near = first.value;
      result.reach = layer(first.x.data(), nullptr);
    }
    ends.push_back(minimise_lbfgs(layer, first.x, search));
  }
  const auto best = std::ranges::min_element(ends, {}, &LbfgsResult::value);
  result.loss = best->value;
  result.largest_gradient = best->largest_gradient;
  result.reach -= best->value;
  for (const LbfgsResult& end : ends) result.agreeing += end.value <= best->value + kSame ? 1 : 0;
  return result;
}

bool one_sign(const PottsModel& model) {
  return model.couplings().minCoeff() >= 0 || model.couplings().maxCoeff() <= 0;
}

}  // namespace attica
