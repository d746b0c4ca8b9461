#pragma once
/// @file
/// @brief The generalised Potts model, and factored attention, the student that can represent it.
///
/// A sequence s has L sites with colours 0..C-1 and probability
///     P(s) = exp(beta sum_{i<j} J_ij U[s_i, s_j]) / Z,
/// so that one site given the others follows p(s_i = a | rest) = softmax_a h_ia with
///     h_ia = beta sum_{j != i} J_ij U[a, s_j].
/// Factored attention has the logits h_ia = sum_{j != i} A_ij V[a, s_j] with trained A and V: the
/// model itself is the student with A = beta J and V = U.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <Eigen/Core>
#include <cstdint>

namespace attica {

/// Sequences of colours, one a row, @shape{M x L}.
using Sequences = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Sequences with probabilities that add up to 1: a population (every state), or a sample.
struct WeightedSequences {
  Sequences sequences;
  Eigen::VectorXd weights;
};

/// @brief Gives every sequence the weight 1/M. @throws Error (input) if there is none
WeightedSequences equally_weighted(Sequences sequences);

/// Parameters of factored attention, or their gradient.
struct FactoredAttention {
  Eigen::MatrixXd attention;  ///< A, @shape{L x L}, zero diagonal
  Eigen::MatrixXd values;     ///< V, @shape{C x C}: row = predicted colour, column = seen colour

  Eigen::Index sites() const { return attention.rows(); }
  Eigen::Index colours() const { return values.rows(); }
  /// @brief Logits of all sites of a sequence, each with that site masked.
  /// @param sequence L colours
  /// @param logits   written, @shape{C x L}
  void logits(const std::uint8_t* sequence, Eigen::MatrixXd& logits) const;
};

/// @brief The model as a value.
class PottsModel {
 public:
  /// @param couplings        J, symmetric with zero diagonal, L >= 2
  /// @param colour_couplings U, symmetric, 2 <= C <= 255
  /// @param beta             inverse temperature, of either sign
  /// @throws Error (input) naming `couplings`, `colour_couplings` or `beta`
  PottsModel(Eigen::MatrixXd couplings, Eigen::MatrixXd colour_couplings, double beta);

  Eigen::Index sites() const { return couplings_.rows(); }
  Eigen::Index colours() const { return colour_couplings_.rows(); }
  const Eigen::MatrixXd& couplings() const { return couplings_; }
  const Eigen::MatrixXd& colour_couplings() const { return colour_couplings_; }
  double beta() const { return beta_; }

  /// @brief A = beta J, V = U: the student whose conditionals are the model's.
  const FactoredAttention& as_student() const { return student_; }
  /// @brief -ln P(s) - ln Z = -beta sum_{i<j} J_ij U[s_i, s_j], i.e. beta times the energy.
  double reduced_energy(const std::uint8_t* sequence) const;

 private:
  Eigen::MatrixXd couplings_;
  Eigen::MatrixXd colour_couplings_;
  double beta_;
  FactoredAttention student_;
};

/// @brief Throws Error (input, `sequences`) unless every colour is below `colours` and the length
/// is `sites`.
void require_sequences(const Sequences& sequences, Eigen::Index sites, Eigen::Index colours);

/// @brief Squared distance between the couplings A_ij (Pi V)[a, c] of a student and beta J_ij
/// (Pi U)[a, c] of the model, relative to the latter's norm. Pi = 1 - 11^T/C removes what the
/// softmax does not see, so that neither a scale moved between A and V nor a term 1 f^T in V
/// counts. NaN if the model has no couplings.
double coupling_error(const PottsModel& truth, const FactoredAttention& student);

/// @brief The student in the gauge of the model, for pictures: A / c to be compared with beta J and
/// c Pi V with Pi U, with the c that brings c Pi V closest to Pi U.
FactoredAttention display_gauge(const PottsModel& truth, const FactoredAttention& student);

}  // namespace attica
