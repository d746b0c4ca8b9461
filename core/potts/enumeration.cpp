#include "attica/core/potts/enumeration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

double entropy(const Eigen::Ref<const Eigen::VectorXd>& log_p) {
  double sum = 0;
  // exp(-inf) * -inf would be NaN: a colour that cannot occur contributes nothing.
  for (const double l : log_p) sum -= std::isfinite(l) ? std::exp(l) * l : 0.0;
  return sum;
}

double total_entropy(const MatrixXd& log_conditionals) {
  double sum = 0;
  for (const auto column : log_conditionals.colwise()) sum += entropy(column);
  return sum;
}

Index checked_states(Index sites, Index colours) {
  const double count = std::pow(static_cast<double>(colours), static_cast<double>(sites));
  if (count > static_cast<double>(kMostStates)) {
    throw invalid_parameter("sites",
                            static_cast<double>(sites),
                            fmt::format("C^L <= {} for exact enumeration; sample instead "
                                        "(here C = {}, C^L = {:.3g})",
                                        kMostStates,
                                        colours,
                                        count));
  }
  return static_cast<Index>(count);
}

/// Site 0 the slowest digit.
Sequences all_sequences(Index sites, Index colours) {
  Sequences sequences(checked_states(sites, colours), sites);
  sequences.row(0).setZero();
  for (Index n = 1; n < sequences.rows(); ++n) {
    sequences.row(n) = sequences.row(n - 1);
    for (Index i = sites - 1; i >= 0; --i) {
      if (++sequences(n, i) < colours) break;
      sequences(n, i) = 0;
    }
  }
  return sequences;
}

PottsEnumeration normalised(Sequences sequences, const Eigen::VectorXd& log_weights) {
  PottsEnumeration all;
  all.states.sequences = std::move(sequences);
  const double largest = log_weights.maxCoeff();
  all.states.weights = (log_weights.array() - largest).exp();
  double sum = 0;
  double lost = 0;  // Kahan's compensation
  for (const double weight : all.states.weights) {
    const double term = weight - lost;
    const double next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  all.states.weights /= sum;
  all.log_partition = largest + std::log(sum);
  return all;
}

}  // namespace

double potts_states(const PottsModel& model) {
  return std::pow(static_cast<double>(model.colours()), static_cast<double>(model.sites()));
}

PottsEnumeration enumerate(const PottsModel& model) {
  const Index sites = model.sites();
  const Index colours = model.colours();
  (void)checked_states(sites, colours);
  const FactoredAttention& student = model.as_student();
  // The terms of the first i + 1 sites, added up in the order of PottsModel::reduced_energy: they
  // are made from those of the first i, which is all states of these.
  std::vector<double> sums{0};
  std::vector<Index> prefix(static_cast<std::size_t>(sites));
  for (Index i = 0; i < sites; ++i) {
    std::vector<double> longer(sums.size() * static_cast<std::size_t>(colours));
    std::fill(prefix.begin(), prefix.end(), Index{0});
    double* next = longer.data();
    for (const double sum : sums) {
      std::fill(next, next + colours, sum);
      for (Index j = 0; j < i; ++j) {
        const double coupling = student.attention(i, j);
        const double* seen = student.values.col(prefix[static_cast<std::size_t>(j)]).data();
        for (Index a = 0; a < colours; ++a) next[a] += coupling * seen[a];
      }
      next += colours;
      for (Index j = i; j-- > 0;) {
        if (++prefix[static_cast<std::size_t>(j)] < colours) break;
        prefix[static_cast<std::size_t>(j)] = 0;
      }
    }
    sums = std::move(longer);
  }
  return normalised(all_sequences(sites, colours),
                    Eigen::Map<const Eigen::VectorXd>(sums.data(), std::ssize(sums)));
}

PottsEnumeration enumerate_states(
    Index sites,
    Index colours,
    const std::function<double(const std::uint8_t* sequence)>& reduced_energy) {
  Sequences sequences = all_sequences(sites, colours);
  Eigen::VectorXd log_weights(sequences.rows());
  for (Index n = 0; n < sequences.rows(); ++n) {
    log_weights[n] = -reduced_energy(sequences.row(n).data());
  }
  return normalised(std::move(sequences), log_weights);
}

MatrixXd marginals(const WeightedSequences& population, Index colours) {
  const Sequences& s = population.sequences;
  MatrixXd p = MatrixXd::Zero(colours, s.cols());
  for (Index n = 0; n < s.rows(); ++n) {
    for (Index i = 0; i < s.cols(); ++i) p(s(n, i), i) += population.weights[n];
  }
  return p;
}

double marginal_loss(const WeightedSequences& population, Index colours) {
  const MatrixXd log_p = marginals(population, colours).array().log();
  return total_entropy(log_p) / static_cast<double>(log_p.cols());
}

double bayes_loss(const PottsModel& model, const WeightedSequences& population) {
  MatrixXd log_p;
  double sum = 0;
  for (Index n = 0; n < population.sequences.rows(); ++n) {
    model.as_student().logits(population.sequences.row(n).data(), log_p);
    log_softmax_columns(log_p);
    sum += population.weights[n] * total_entropy(log_p);
  }
  return sum / static_cast<double>(model.sites());
}

double factored_loss(const FactoredAttention& student,
                     const WeightedSequences& data,
                     FactoredAttention* gradient) {
  const Index sites = student.sites();
  const Index colours = student.colours();
  if (gradient != nullptr) {
    gradient->attention.setZero(sites, sites);
    gradient->values.setZero(colours, colours);
  }
  MatrixXd g;                     // logits, then p - e: derivative of the sequence's loss by them
  MatrixXd seen(colours, sites);  // column j: V[:, s_j]
  MatrixXd upstream(colours, sites);
  double loss = 0;
  for (Index n = 0; n < data.sequences.rows(); ++n) {
    const std::uint8_t* s = data.sequences.row(n).data();
    const double weight = data.weights[n] / static_cast<double>(sites);
    for (Index j = 0; j < sites; ++j) seen.col(j) = student.values.col(s[j]);
    // lazyProduct: no packing, the matrices are small.
    g.noalias() = seen.lazyProduct(student.attention.transpose());
    log_softmax_columns(g);
    for (Index i = 0; i < sites; ++i) loss -= weight * g(s[i], i);
    if (gradient == nullptr) continue;
    g = weight * g.array().exp();
    for (Index i = 0; i < sites; ++i) g(s[i], i) -= weight;
    gradient->attention.noalias() += g.transpose().lazyProduct(seen);  // dA_ij = g_i . V[:, s_j]
    upstream.noalias() = g.lazyProduct(student.attention);  // dV[:, s_j] += sum_i A_ij g_i
    for (Index j = 0; j < sites; ++j) gradient->values.col(s[j]) += upstream.col(j);
  }
  if (gradient != nullptr) gradient->attention.diagonal().setZero();
  return loss;
}

namespace {

WeightedSequences checked(WeightedSequences population, const PottsModel& truth) {
  require_sequences(population.sequences, truth.sites(), truth.colours());
  return population;
}

}  // namespace

ExcessLoss::ExcessLoss(const PottsModel& truth, WeightedSequences population)
    : ExcessLoss([&](const std::uint8_t* sequence,
                     MatrixXd& logits) { truth.as_student().logits(sequence, logits); },
                 checked(std::move(population), truth)) {}

ExcessLoss::ExcessLoss(const TrueLogits& truth, WeightedSequences population)
    : population_(std::move(population)),
      log_conditionals_(static_cast<std::size_t>(population_.sequences.rows())) {
  for (Index n = 0; n < population_.sequences.rows(); ++n) {
    MatrixXd& log_p = log_conditionals_[static_cast<std::size_t>(n)];
    truth(population_.sequences.row(n).data(), log_p);
    log_softmax_columns(log_p);
    conditionals_.emplace_back(log_p.array().exp());
    bayes_loss_ += population_.weights[n] * total_entropy(log_p);
  }
  bayes_loss_ /= static_cast<double>(population_.sequences.cols());
}

double ExcessLoss::operator()(const LogitsOfRow& logits) const {
  MatrixXd log_q;
  double sum = 0;
  for (Index n = 0; n < population_.sequences.rows(); ++n) {
    logits(n, log_q);
    log_softmax_columns(log_q);
    const MatrixXd& log_p = log_conditionals_[static_cast<std::size_t>(n)];
    const MatrixXd& p = conditionals_[static_cast<std::size_t>(n)];
    sum += population_.weights[n] * (p.array() * (log_p.array() - log_q.array())).sum();
  }
  return sum / static_cast<double>(population_.sequences.cols());
}

double ExcessLoss::operator()(const FactoredAttention& student) const {
  return (*this)([&](Index row, MatrixXd& logits) {
    student.logits(population_.sequences.row(row).data(), logits);
  });
}

}  // namespace attica
