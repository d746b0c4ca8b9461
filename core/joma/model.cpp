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

struct Activated {
  VectorXd value;
  VectorXd slope;
};

Activated activate(JomaActivation activation, const VectorXd& s) {
  switch (activation) {
    case JomaActivation::linear:
      return {s, VectorXd::Ones(s.size())};
    case JomaActivation::relu:
      return {s.cwiseMax(0.0), (s.array() > 0).cast<double>()};
    case JomaActivation::quadratic:
      return {0.5 * s.cwiseAbs2(), s};
    case JomaActivation::tanh: {
      const VectorXd t = s.array().tanh();
      return {t, 1 - t.array().square()};
    }
    case JomaActivation::silu:
      break;
  }
  const Eigen::ArrayXd gate = 1 / (1 + (-s.array()).exp());
  return {s.array() * gate, gate * (1 + s.array() * (1 - gate))};
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
                          int sample,
                          VectorXd& attended,
                          VectorXd& backward) const {
  const auto index = static_cast<std::size_t>(sample);
  const Index m = samples_.queries[index];
  const Index n = samples_.labels[index];
  const auto x = samples_.contexts.row(sample).transpose();
  const auto z = state.z.row(m).transpose();
  switch (law_.attention) {
    case JomaAttention::linear:
      attended = x.cwiseProduct(z);
      break;
    case JomaAttention::exponential:
      attended = x.array() * (z.array() / law_.temperature).exp() / law_.amplitude;
      break;
    case JomaAttention::softmax:
      attended = x.array() * ((z.array() - z.maxCoeff()) / law_.temperature).exp();
      attended /= attended.sum();
      break;
  }
  const Activated h =
      activate(law_.activation, state.v * attended + law_.residual * state.r.col(m));
  const auto top = law_.top.row(n).transpose();
  double loss = 0;
  VectorXd g;
  switch (law_.loss) {
    case JomaLoss::linear:
      g = top;
      loss = -top.dot(h.value);
      break;
    case JomaLoss::squared:
      g = top - h.value;
      loss = 0.5 * g.squaredNorm();
      break;
    case JomaLoss::cross_entropy: {
      const VectorXd logits = law_.top * h.value;
      const double largest = logits.maxCoeff();
      VectorXd p = (logits.array() - largest).exp();
      const double sum = p.sum();
      loss = largest + std::log(sum) - logits[n];
      p /= -sum;
      p[n] += 1;
      g = law_.top.transpose() * p;
      break;
    }
  }
  backward = g.cwiseProduct(h.slope);
  return loss;
}

double JomaModel::loss(const JomaState& state, JomaState* descent) const {
  std::vector<int> all(static_cast<std::size_t>(samples_.contexts.rows()));
  std::iota(all.begin(), all.end(), 0);
  return loss(state, all, {samples_.weights.data(), static_cast<std::size_t>(all.size())}, descent);
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
  double total = 0;
  VectorXd b;
  VectorXd g;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    total += weights[i] * forward(state, chosen[i], b, g);
    if (descent == nullptr) continue;
    g *= weights[i];
    const Index m = samples_.queries[static_cast<std::size_t>(chosen[i])];
    descent->v.noalias() += g * b.transpose();
    descent->r.col(m) += law_.residual * g;
    const VectorXd a = state.v.transpose() * g;  // a_l = sum_k g_k phi' v_kl
    auto dz = descent->z.row(m).transpose();
    switch (law_.attention) {
      case JomaAttention::linear:
        dz += samples_.contexts.row(chosen[i]).transpose().cwiseProduct(a);
        break;
      case JomaAttention::exponential:
        dz += b.cwiseProduct(a) / law_.temperature;
        break;
      case JomaAttention::softmax:
        dz += (b.cwiseProduct(a) - b * b.dot(a)) / law_.temperature;
        break;
    }
  }
  return total;
}

MatrixXd JomaModel::back_propagated(const JomaState& state) const {
  MatrixXd all(samples_.contexts.rows(), units());
  VectorXd b;
  VectorXd g;
  for (Index i = 0; i < all.rows(); ++i) {
    forward(state, static_cast<int>(i), b, g);
    all.row(i) = g.transpose();
  }
  return all;
}

VectorXd JomaModel::softmax_defect_rate(const JomaState& state, const VectorXd& mean_b) const {
  VectorXd rate = VectorXd::Zero(tokens());
  VectorXd b;
  VectorXd g;
  for (Index i = 0; i < samples_.contexts.rows(); ++i) {
    forward(state, static_cast<int>(i), b, g);
    // sum_k g_k phi' b.v_k is the same number for both terms.
    const double overlap = samples_.weights[i] * b.dot(state.v.transpose() * g);
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
  JomaState second = increment;
  if (law_.attention != JomaAttention::linear) second.z.setZero();  // is of first order there
  return invariant(second);
}

VectorXd JomaModel::logit_sums(const JomaState& state) const {
  return dual(state.z).rowwise().sum();
}

MatrixXd JomaModel::overlap_rates(const JomaState& state) const {
  std::vector<int> all(static_cast<std::size_t>(samples_.contexts.rows()));
  std::iota(all.begin(), all.end(), 0);
  JomaState rate;
  gradient(state, all, {samples_.weights.data(), all.size()}, &rate);
  const MatrixXd weights = state.v.transpose() * rate.v;  // sum_k v_kl p_kj
  MatrixXd rates =
      law_.attention == JomaAttention::linear
          ? MatrixXd(2 * (state.z.transpose() * rate.z - weights))
          : MatrixXd(rate.z.colwise().sum().replicate(tokens(), 1) - weights / law_.temperature);
  rates.diagonal().setZero();
  return rates;
}

}  // namespace attica
