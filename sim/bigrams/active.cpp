#include "attica/sim/bigrams/active.hpp"

#include <algorithm>
#include <iterator>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ActiveSampler::ActiveSampler(const BigramModel& model, const std::vector<SparseColumn>& attention)
    : stationary_(model.stationary()) {
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
  ActiveSampler::Sample sample;
  const VectorXd inverse_mu = model.stationary().cwiseInverse();
  MatrixXd v = rounded.value;
  MatrixXd mean = MatrixXd::Zero(v.rows(), v.cols());
  MatrixXd gradient(v.rows(), v.cols());
  VectorXd r(v.rows());
  const std::int64_t half = steps / 2;
  for (std::int64_t step = 0; step < steps; ++step) {
    gradient.setZero();
    for (std::int64_t b = 0; b < batch; ++b) {
      sampler.draw(sample, stream);
      r.noalias() = v * sample.u;
      r[sample.next] -= 1;
      const double sum = sample.u.sum();
      gradient.noalias() +=
          r * (sample.u.cwiseProduct(inverse_mu).array() - sum).matrix().transpose();
    }
    gradient.rowwise() -= gradient.colwise().mean().eval();
    v -= eta_v / static_cast<double>(batch) * gradient;
    if (step >= half) mean += v;
  }
  return mean / static_cast<double>(steps - half);
}

}  // namespace attica
