#include "attica/core/potts/enumeration.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

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

}  // namespace

double potts_states(const PottsModel& model) {
  return std::pow(static_cast<double>(model.colours()), static_cast<double>(model.sites()));
}

PottsEnumeration enumerate(const PottsModel& model) {
  return enumerate_states(model.sites(), model.colours(), [&](const std::uint8_t* sequence) {
    return model.reduced_energy(sequence);
  });
}

PottsEnumeration enumerate_states(
    Index sites,
    Index colours,
    const std::function<double(const std::uint8_t* sequence)>& reduced_energy) {
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
  const auto states = static_cast<Index>(count);
  PottsEnumeration all;
  Sequences& sequences = all.states.sequences;
  sequences.resize(states, sites);
  Eigen::VectorXd log_weights(states);
  for (Index n = 0; n < states; ++n) {
    Index digits = n;
    for (Index i = sites - 1; i >= 0; --i, digits /= colours) {
      sequences(n, i) = static_cast<std::uint8_t>(digits % colours);
    }
    log_weights[n] = -reduced_energy(sequences.row(n).data());
  }
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

ExcessLoss::ExcessLoss(const PottsModel& truth, WeightedSequences population)
    : population_(std::move(population)),
      log_conditionals_(static_cast<std::size_t>(population_.sequences.rows())) {
  require_sequences(population_.sequences, truth.sites(), truth.colours());
  for (Index n = 0; n < population_.sequences.rows(); ++n) {
    MatrixXd& log_p = log_conditionals_[static_cast<std::size_t>(n)];
    truth.as_student().logits(population_.sequences.row(n).data(), log_p);
    log_softmax_columns(log_p);
    bayes_loss_ += population_.weights[n] * total_entropy(log_p);
  }
  bayes_loss_ /= static_cast<double>(truth.sites());
}

double ExcessLoss::operator()(const LogitsOfRow& logits) const {
  MatrixXd log_q;
  double sum = 0;
  for (Index n = 0; n < population_.sequences.rows(); ++n) {
    logits(n, log_q);
    log_softmax_columns(log_q);
    const MatrixXd& log_p = log_conditionals_[static_cast<std::size_t>(n)];
    sum += population_.weights[n] * (log_p.array().exp() * (log_p.array() - log_q.array())).sum();
  }
  return sum / static_cast<double>(population_.sequences.cols());
}

double ExcessLoss::operator()(const FactoredAttention& student) const {
  return (*this)([&](Index row, MatrixXd& logits) {
    student.logits(population_.sequences.row(row).data(), logits);
  });
}

}  // namespace attica
