#include "attica/core/joma/model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// phi(s) in place of s; returns phi'(s), nothing where it is 1.
MatrixXd activate(JomaActivation activation, MatrixXd& s) {
  switch (activation) {
    case JomaActivation::linear:
      return {};
    case JomaActivation::relu: {
      MatrixXd slope = (s.array() > 0).cast<double>();
      s = s.cwiseMax(0.0);
      return slope;
    }
    case JomaActivation::quadratic: {
      MatrixXd slope = s;
      s = 0.5 * s.cwiseAbs2();
      return slope;
    }
    case JomaActivation::tanh:
      s = s.array().tanh();
      return 1 - s.array().square();
    case JomaActivation::silu:
      break;
  }
  const Eigen::ArrayXXd gate = 1 / (1 + (-s.array()).exp());
  MatrixXd slope = gate * (1 + s.array() * (1 - gate));
  s.array() *= gate;
  return slope;
}

/// A row for every set of tokens that the matrix connects, 1 at its members.
MatrixXd connected_sets(const MatrixXd& gram) {
  const Index tokens = gram.rows();
  std::vector<bool> met(static_cast<std::size_t>(tokens));
  MatrixXd sets(0, tokens);
  for (Index first = 0; first < tokens; ++first) {
    if (met[static_cast<std::size_t>(first)]) continue;
    sets.conservativeResize(sets.rows() + 1, tokens);
    sets.bottomRows(1).setZero();
    std::vector<Index> next = {first};
    met[static_cast<std::size_t>(first)] = true;
    while (!next.empty()) {
      const Index i = next.back();
      next.pop_back();
      sets(sets.rows() - 1, i) = 1;
      for (Index j = 0; j < tokens; ++j) {
        if (gram(i, j) == 0 || met[static_cast<std::size_t>(j)]) continue;
        met[static_cast<std::size_t>(j)] = true;
        next.push_back(j);
      }
    }
  }
  return sets;
}

}  // namespace

VectorXd JomaState::flat() const {
  VectorXd all(v.size() + r.size() + z.size());
  all << v.reshaped(), r.reshaped(), z.reshaped();
  return all;
}

JomaState JomaState::from_flat(const Eigen::Ref<const VectorXd>& values) const {
  return {values.head(v.size()).reshaped(v.rows(), v.cols()),
          values.segment(v.size(), r.size()).reshaped(r.rows(), r.cols()),
          values.tail(z.size()).reshaped(z.rows(), z.cols())};
}

JomaModel::JomaModel(JomaLaw law, JomaSamples samples)
    : law_(std::move(law)), samples_(std::move(samples)) {
  constexpr double kSumTolerance = 1e-9;
  constexpr double kSingular = 1e-10;  // of the Gram matrix: its inverse has six digits
  require(law_.temperature > 0, "model.temperature", law_.temperature, "temperature > 0");
  require(law_.amplitude > 0, "model.amplitude", law_.amplitude, "amplitude > 0");
  const Index count = samples_.contexts.rows();
  require(count > 0 && samples_.contexts.cols() > 0,
          "model.contexts",
          static_cast<double>(count),
          "at least one sample over at least one token");
  const auto counted = static_cast<std::size_t>(count);
  if (samples_.queries.size() != counted || samples_.labels.size() != counted ||
      samples_.weights.size() != count) {
    throw invalid_parameter(
        "model.samples", static_cast<double>(count), "a query, a label and a weight each");
  }
  for (const double x : samples_.contexts.reshaped()) {
    require(std::isfinite(x) && x >= 0, "model.contexts", x, "finite numbers >= 0");
  }
  for (const double w : samples_.weights) {
    require(std::isfinite(w) && w >= 0, "model.weights", w, "finite numbers >= 0");
  }
  const double total = samples_.weights.sum();
  require(std::abs(total - 1) <= kSumTolerance, "model.weights", total, "a sum of 1 within 1e-9");
  if (law_.attention == JomaAttention::softmax) {
    const double least = samples_.contexts.rowwise().sum().minCoeff();
    require(least > 0, "model.contexts", least, "contexts that are not 0 with softmax attention");
  }
  const int labels = *std::max_element(samples_.labels.begin(), samples_.labels.end()) + 1;
  if (law_.loss == JomaLoss::cross_entropy && law_.top.size() == 0) {
    law_.top = MatrixXd::Identity(labels, labels);
  }
  require(law_.top.cols() > 0, "model.top", 0, "a matrix of classes x units");
  require(std::isfinite(law_.top.sum()), "model.top", law_.top.sum(), "finite entries");
  for (const int n : samples_.labels) {
    require(n >= 0 && n < law_.top.rows(), "model.labels", n, "0 <= label < classes");
  }
  for (const int m : samples_.queries) {
    require(m >= 0, "model.queries", m, "0 <= query");
    queries_ = std::max<Index>(queries_, m + 1);
  }
  columns_ = samples_.contexts.transpose();
  all_.resize(counted);
  std::iota(all_.begin(), all_.end(), 0);
  identity_top_ = law_.top.rows() == law_.top.cols() && law_.top.isIdentity(0);
  const MatrixXd& gram = law_.gram;
  if (gram.size() == 0) return;
  if (gram.rows() != tokens() || gram.cols() != tokens() || !gram.allFinite() ||
      gram != gram.transpose()) {
    throw invalid_parameter("model.gram",
                            static_cast<double>(gram.rows()),
                            "a symmetric matrix of finite numbers, tokens x tokens");
  }
  const Eigen::LLT<MatrixXd> factor(gram);
  require(factor.info() == Eigen::Success && factor.rcond() > kSingular,
          "model.gram",
          factor.info() == Eigen::Success ? factor.rcond() : 0,
          "embeddings that are linearly independent");
  inverse_gram_ = factor.solve(MatrixXd::Identity(tokens(), tokens()));
  sets_ = connected_sets(gram);
}

double JomaModel::forward(const JomaState& state,
                          std::span<const int> chosen,
                          std::span<const double> weights,
                          Passed& at) const {
  const auto count = static_cast<Index>(chosen.size());
  MatrixXd attention = state.z.transpose();  // tokens x queries
  if (law_.attention == JomaAttention::softmax) {
    attention.rowwise() -= attention.colwise().maxCoeff().eval();
  }
  if (law_.attention != JomaAttention::linear) {
    attention = (attention.array() / law_.temperature).exp();
  }
  if (law_.attention == JomaAttention::exponential) attention /= law_.amplitude;
  at.attended.resize(tokens(), count);
  MatrixXd h(units(), count);
  for (Index i = 0; i < count; ++i) {
    const auto sample = static_cast<std::size_t>(chosen[static_cast<std::size_t>(i)]);
    const Index m = samples_.queries[sample];
    at.attended.col(i) = columns_.col(static_cast<Index>(sample)).cwiseProduct(attention.col(m));
  }
  if (law_.attention == JomaAttention::softmax) {
    at.attended.array().rowwise() *= at.attended.array().colwise().sum().inverse().eval();
  }
  h.noalias() = state.v * at.attended;
  if (law_.residual != 0) {
    for (Index i = 0; i < count; ++i) h.col(i) += law_.residual * state.r.col(query(chosen, i));
  }
  const MatrixXd slope = activate(law_.activation, h);
  at.backward.resize(units(), count);
  const Eigen::Map<const VectorXd> weight(weights.data(), count);
  double total = 0;
  if (law_.loss == JomaLoss::cross_entropy) {
    MatrixXd p = identity_top_ ? std::move(h) : MatrixXd(law_.top * h);
    p.rowwise() -= p.colwise().maxCoeff().eval();
    for (Index i = 0; i < count; ++i) total -= weight[i] * p(label(chosen, i), i);
    p = p.array().exp();
    const Eigen::RowVectorXd sums = p.colwise().sum();
    total += weight.dot(sums.array().log().matrix().transpose());
    p.array().rowwise() *= -sums.array().inverse().eval();
    for (Index i = 0; i < count; ++i) p(label(chosen, i), i) += 1;
    if (identity_top_) {
      at.backward = std::move(p);
    } else {
      at.backward.noalias() = law_.top.transpose() * p;
    }
  } else {
    for (Index i = 0; i < count; ++i) {
      auto g = at.backward.col(i);
      g = law_.top.row(label(chosen, i)).transpose();
      if (law_.loss == JomaLoss::linear) {
        total -= weight[i] * g.dot(h.col(i));
      } else {
        g -= h.col(i);
        total += 0.5 * weight[i] * g.squaredNorm();
      }
    }
  }
  if (slope.size() > 0) at.backward.array() *= slope.array();
  return total;
}

double JomaModel::loss(const JomaState& state, JomaState* descent) const {
  return loss(state, all_, population(), descent);
}

double JomaModel::loss(const JomaState& state,
                       std::span<const int> chosen,
                       std::span<const double> weights,
                       JomaState* descent) const {
  const double total = gradient(state, chosen, weights, descent);
  if (descent != nullptr && law_.gram.size() > 0) {
    descent->v *= law_.gram;
    descent->z *= law_.gram;
  }
  return total;
}

double JomaModel::gradient(const JomaState& state,
                           std::span<const int> chosen,
                           std::span<const double> weights,
                           JomaState* descent) const {
  if (descent != nullptr) {
    descent->v.setZero(state.v.rows(), state.v.cols());
    descent->r.setZero(state.r.rows(), state.r.cols());
    descent->z.setZero(state.z.rows(), state.z.cols());
  }
  constexpr std::size_t kTogether = 256;  // samples, so that what is in between stays in the cache
  double total = 0;
  Passed at;
  MatrixXd a;                                               // a_l = sum_k g_k phi' v_kl
  MatrixXd attention = MatrixXd::Zero(tokens(), queries_);  // of z, transposed
  for (std::size_t first = 0; first < chosen.size(); first += kTogether) {
    const std::size_t count = std::min(kTogether, chosen.size() - first);
    const std::span<const int> part = chosen.subspan(first, count);
    const std::span<const double> weight = weights.subspan(first, count);
    total += forward(state, part, weight, at);
    if (descent == nullptr) continue;
    const auto size = static_cast<Index>(count);
    at.backward *= Eigen::Map<const VectorXd>(weight.data(), size).asDiagonal();
    descent->v.noalias() += at.backward * at.attended.transpose();
    a.resize(tokens(), size);
    a.noalias() = state.v.transpose() * at.backward;
    for (Index i = 0; i < size; ++i) {
      const Index m = query(part, i);
      descent->r.col(m) += law_.residual * at.backward.col(i);
      const auto b = at.attended.col(i);
      auto dz = attention.col(m);
      switch (law_.attention) {
        case JomaAttention::linear:
          dz += columns_.col(part[static_cast<std::size_t>(i)]).cwiseProduct(a.col(i));
          break;
        case JomaAttention::exponential:
          dz += b.cwiseProduct(a.col(i)) / law_.temperature;
          break;
        case JomaAttention::softmax:
          dz += (b.array() * (a.col(i).array() - b.dot(a.col(i)))).matrix() / law_.temperature;
          break;
      }
    }
  }
  if (descent != nullptr) descent->z = attention.transpose();
  return total;
}

MatrixXd JomaModel::back_propagated(const JomaState& state) const {
  Passed at;
  forward(state, all_, population(), at);
  return at.backward.transpose();
}

VectorXd JomaModel::softmax_defect_rate(const JomaState& state, const VectorXd& mean_b) const {
  Passed at;
  forward(state, all_, population(), at);
  VectorXd rate = VectorXd::Zero(tokens());
  for (Index i = 0; i < samples_.contexts.rows(); ++i) {
    // sum_k g_k phi' b.v_k is the same number for both terms.
    const auto b = at.attended.col(i);
    const double overlap = samples_.weights[i] * b.dot(state.v.transpose() * at.backward.col(i));
    rate -= overlap / law_.temperature * (b - mean_b);
  }
  return rate;
}

MatrixXd JomaModel::dual(const MatrixXd& rows) const {
  return inverse_gram_.size() > 0 ? MatrixXd(rows * inverse_gram_) : rows;
}

Index JomaModel::conserved() const { return sets_.size() > 0 ? sets_.rows() : tokens(); }

VectorXd JomaModel::invariant(const JomaState& state) const {
  const bool linear = law_.attention == JomaAttention::linear;
  const MatrixXd z = dual(state.z);
  const VectorXd logits = (linear ? MatrixXd(state.z.cwiseProduct(z)) : z).colwise().sum();
  const VectorXd weights = state.v.cwiseProduct(dual(state.v)).colwise().sum();
  const VectorXd all = logits - weights / (linear ? 1 : 2 * law_.temperature);
  return sets_.size() > 0 ? VectorXd(sets_ * all) : all;
}

VectorXd JomaModel::invariant_step(const JomaState& increment) const {
  if (law_.attention != JomaAttention::linear && inverse_gram_.size() == 0) {
    return increment.v.colwise().squaredNorm().transpose() / (-2 * law_.temperature);
  }
  JomaState second = increment;
  if (law_.attention != JomaAttention::linear) second.z.setZero();  // is of first order there
  return invariant(second);
}

VectorXd JomaModel::logit_sums(const JomaState& state) const {
  return dual(state.z).rowwise().sum();
}

MatrixXd JomaModel::overlap_rates(const JomaState& state) const {
  JomaState rate;
  gradient(state, all_, population(), &rate);
  const MatrixXd weights = state.v.transpose() * rate.v;  // sum_k v_kl p_kj
  MatrixXd rates =
      law_.attention == JomaAttention::linear
          ? MatrixXd(2 * (state.z.transpose() * rate.z - weights))
          : MatrixXd(rate.z.colwise().sum().replicate(tokens(), 1) - weights / law_.temperature);
  rates.diagonal().setZero();
  return rates;
}

}  // namespace attica
