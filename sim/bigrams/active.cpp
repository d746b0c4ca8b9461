#include "attica/sim/bigrams/active.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Samples with one last token that may differ, at most: as many as are counted without branches.
constexpr double kMostOutcomes = 64;

/// D⁻¹u - (1·u) 1
template <class Vector>
VectorXd hat(const Vector& u, const VectorXd& inverse_mu) {
  return u.cwiseProduct(inverse_mu).array() - u.sum();
}

}  // namespace

ActiveSampler::ActiveSampler(const BigramModel& model, const std::vector<SparseColumn>& attention)
    : stationary_(model.stationary()), inverse_mu_(model.stationary().cwiseInverse()) {
  for (Index n = 0; n < model.tokens(); ++n) next_.emplace_back(model.transition().col(n));
  for (std::size_t k = 0; k < attention.size(); ++k) {
    const SparseColumn& a = attention[k];
    const SparseColumn& q = model.attention()[k];
    std::vector<Index> active;
    std::set_union(a.positions.begin(),
                   a.positions.end(),
                   q.positions.begin(),
                   q.positions.end(),
                   std::back_inserter(active));
    const auto place = [&](Index position) {
      return std::lower_bound(active.begin(), active.end(), position) - active.begin();
    };
    Column column{.weights = VectorXd::Zero(static_cast<Index>(active.size())),
                  .slots = {},
                  .choice = TokenLaw(Eigen::Map<const VectorXd>(
                      q.weights.data(), static_cast<Index>(q.weights.size())))};
    for (std::size_t i = 0; i < a.positions.size(); ++i) {
      column.weights[place(a.positions[i])] = a.weights[i];
    }
    for (const Index position : q.positions) {
      column.slots.push_back(static_cast<std::size_t>(place(position)));
    }
    columns_.push_back(std::move(column));
  }
  const auto few = [&](const Column& column) {
    const auto tokens = static_cast<double>(model.tokens());
    return std::pow(tokens, column.weights.size() + 1) <= kMostOutcomes;
  };
  if (std::ranges::all_of(columns_, few)) enumerate(model);
}

void ActiveSampler::enumerate(const BigramModel& model) {
  const Index n = model.tokens();
  const auto patterns = [&](const Column& column) {
    return std::llround(std::pow(n, column.weights.size()));
  };
  Index all = 0;
  for (const Column& column : columns_) all += patterns(column);
  u_ = MatrixXd::Zero(n, all);
  h_.resize(n, all);
  hits_.resize(n, all);
  Index first = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& column = columns_[k];
    const std::vector<double>& choice = model.attention()[k].weights;
    MatrixXd law = MatrixXd::Zero(n, patterns(column));
    std::vector<Index> x(static_cast<std::size_t>(column.weights.size()));
    for (Index pattern = 0; pattern < law.cols(); ++pattern) {
      double probability = 1;
      Index digits = pattern;
      for (std::size_t i = 0; i < x.size(); ++i, digits /= n) {
        x[i] = digits % n;
        probability *= model.stationary()[x[i]];
        u_(x[i], first + pattern) += column.weights[static_cast<Index>(i)];
      }
      for (std::size_t j = 0; j < choice.size(); ++j) {
        law.col(pattern) += probability * choice[j] * model.transition().col(x[column.slots[j]]);
      }
      h_.col(first + pattern) = hat(u_.col(first + pattern), inverse_mu_);
    }
    outcomes_.push_back({.first = first, .law = TokenLaw(law.reshaped())});
    first += law.cols();
  }
}

void ActiveSampler::count_outcomes(std::int64_t batch, RandomStream& stream) {
  hits_.setZero();
  tokens_.resize(static_cast<std::size_t>(batch));
  stationary_.fill(tokens_, stream);
  std::vector<std::size_t> counts(outcomes_.size(), 0);
  for (const Token last : tokens_) ++counts[last];
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const std::span<Token> seen = std::span(tokens_).first(counts[k]);
    outcomes_[k].law.fill(seen, stream);
    double* hits = hits_.col(outcomes_[k].first).data();
    for (const Token outcome : seen) hits[outcome] += 1;
  }
}

void ActiveSampler::draw(std::int64_t batch, Sums& sums, RandomStream& stream) {
  const auto n = static_cast<Index>(next_.size());
  if (!outcomes_.empty()) {
    count_outcomes(batch, stream);
    sums.m = (u_ * hits_.colwise().sum().asDiagonal()).lazyProduct(h_.transpose());
    sums.c = hits_.lazyProduct(h_.transpose());
    return;
  }
  sums.m.setZero(n, n);
  sums.c.setZero(n, n);
  Sample sample;
  for (std::int64_t b = 0; b < batch; ++b) {
    draw(sample, stream);
    const VectorXd h = hat(sample.u, inverse_mu_);
    sums.m += sample.u * h.transpose();
    sums.c.row(sample.next) += h.transpose();
  }
}

void ActiveSampler::draw(Sample& sample, RandomStream& stream) {
  const Token last = stationary_.draw(stream);
  const Column& column = columns_[last];
  tokens_.resize(static_cast<std::size_t>(column.weights.size()));
  sample.last = last;
  sample.u.setZero(static_cast<Index>(next_.size()));
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    tokens_[i] = stationary_.draw(stream);
    sample.u[tokens_[i]] += column.weights[static_cast<Index>(i)];
  }
  sample.next = next_[tokens_[column.slots[column.choice.draw(stream)]]].draw(stream);
}

MatrixXd refit_value(const BigramModel& model,
                     const RoundedBigram& rounded,
                     double eta_v,
                     std::int64_t batch,
                     std::int64_t steps,
                     RandomStream& stream) {
  require(eta_v > 0, "eta_V", eta_v, "eta_V > 0");
  require(batch >= 1, "batch", static_cast<double>(batch), "batch >= 1");
  require(steps >= 1, "refit_length", static_cast<double>(steps), "refit_length >= 1");
  ActiveSampler sampler(model, rounded.attention);
  ActiveSampler::Sums sums;
  MatrixXd v = rounded.value;
  MatrixXd mean = MatrixXd::Zero(v.rows(), v.cols());
  MatrixXd gradient(v.rows(), v.cols());
  const std::int64_t half = steps / 2;
  for (std::int64_t step = 0; step < steps; ++step) {
    sampler.draw(batch, sums, stream);
    gradient = v * sums.m - sums.c;
    gradient.rowwise() -= gradient.colwise().mean().eval();
    v -= eta_v / static_cast<double>(batch) * gradient;
    if (step >= half) mean += v;
  }
  return mean / static_cast<double>(steps - half);
}

}  // namespace attica
