#pragma once
/// @file
/// @brief The Potts model solved by enumerating all C^L states, and losses of masked prediction.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "attica/core/potts/model.hpp"

namespace attica {

/// Most states that are enumerated.
inline constexpr std::int64_t kMostStates = std::int64_t{1} << 22;

/// @brief C^L, or a number above kMostStates if it is too large.
double potts_states(const PottsModel& model);

/// @brief All states with their probabilities, site 0 the slowest digit.
struct PottsEnumeration {
  WeightedSequences states;
  double log_partition = 0;  ///< ln Z
};

/// @brief All C^L sequences with probabilities exp(-reduced_energy) / Z.
/// @throws Error (input, `sites`) if C^L > kMostStates
PottsEnumeration enumerate_states(
    Eigen::Index sites,
    Eigen::Index colours,
    const std::function<double(const std::uint8_t* sequence)>& reduced_energy);
PottsEnumeration enumerate(const PottsModel& model);

/// @brief P(s_i = a), @shape{C x L}
Eigen::MatrixXd marginals(const WeightedSequences& population, Eigen::Index colours);

/// @brief Mean over sites of the entropy of the marginals: the loss of a prediction that looks at
/// no other site. Nats.
double marginal_loss(const WeightedSequences& population, Eigen::Index colours);

/// @brief Mean over sites of E[entropy of p(s_i | rest)], the smallest possible loss. Nats.
double bayes_loss(const PottsModel& model, const WeightedSequences& population);

/// @brief Loss of factored attention, -sum_s w_s (1/L) sum_i ln p(s_i | rest), in nats per site.
/// @param gradient if given: set to the derivative by A (zero diagonal) and V
double factored_loss(const FactoredAttention& student,
                     const WeightedSequences& data,
                     FactoredAttention* gradient = nullptr);

/// @brief Excess losses over the Bayes loss on given sequences, through the closed-form divergence
/// of conditionals: never the difference of two noisy losses.
class ExcessLoss {
 public:
  /// Writes the logits of all sites of the sequence in row `row`, @shape{C x L}.
  using LogitsOfRow = std::function<void(Eigen::Index row, Eigen::MatrixXd& logits)>;

  /// Writes the true logits of all sites of a sequence, each given the others, @shape{C x L}.
  using TrueLogits = std::function<void(const std::uint8_t* sequence, Eigen::MatrixXd& logits)>;

  ExcessLoss(const PottsModel& truth, WeightedSequences population);
  ExcessLoss(const TrueLogits& truth, WeightedSequences population);

  const WeightedSequences& population() const { return population_; }
  double bayes_loss() const { return bayes_loss_; }
  /// @brief (1/L) sum_i E KL(p(.|rest) || softmax of the logits) >= 0
  double operator()(const LogitsOfRow& logits) const;
  double operator()(const FactoredAttention& student) const;

 private:
  WeightedSequences population_;
  std::vector<Eigen::MatrixXd> log_conditionals_;
  std::vector<Eigen::MatrixXd> conditionals_;
  double bayes_loss_ = 0;
};

}  // namespace attica
