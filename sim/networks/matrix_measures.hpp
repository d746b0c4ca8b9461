#pragma once
/// @file
/// @brief Numbers that describe a matrix from anywhere. Sources: attention entropy and stable rank
/// as in Tian et al. 2023 (arXiv:2310.00535).

#include <Eigen/Core>
#include <optional>

#include "attica/sim/networks/matrix_view.hpp"

namespace attica::networks {

/// @brief Sum over the rows of -sum p ln p (nats, 0 ln 0 = 0).
/// @param weights rows are probability distributions
double row_entropies(MatrixView<const double> weights);
double row_entropies(MatrixView<const float> weights);

/// @brief The mean over the rows of the same.
/// @param weights rows are probability distributions
double mean_row_entropy(MatrixView<const double> weights);
double mean_row_entropy(MatrixView<const float> weights);

/// @brief |W|_F^2 / |W|_2^2, between 1 and the rank; empty for W = 0.
std::optional<double> stable_rank(const Eigen::MatrixXd& w);

/// @brief Largest singular value.
double spectral_norm(const Eigen::MatrixXd& w);

/// @brief Mean |cos| over pairs of different columns, leaving out columns that are 0; empty without
/// a pair.
std::optional<double> mean_abs_cosine(const Eigen::MatrixXd& w);

/// @brief 1 - mean cos over pairs of different rows, leaving out rows that are 0: how far tokens
/// are apart; empty without a pair.
std::optional<double> row_distance(const Eigen::MatrixXd& w);

/// Attention of T queries to T keys, of several heads one below the other.
struct AttentionOverlaps {
  double participation = 0;           ///< Σ_j A_tj², mean over rows
  std::optional<double> shared = {};  ///< Σ_j A_tj A_sj, mean over pairs of rows of a head
};
/// @param weights rows are probability distributions; heads have as many rows as columns, else all
/// rows are one head's
AttentionOverlaps attention_overlaps(const Eigen::MatrixXd& weights);

/// @brief What is measured of a matrix from a file.
struct MatrixMeasures {
  Eigen::Index rows = 0;
  Eigen::Index columns = 0;
  double frobenius_norm = 0;
  double spectral_norm = 0;
  std::optional<double> stable_rank = {};  ///< empty for the zero matrix
  std::optional<double> mean_abs_cosine =
      {};  ///< of columns; empty with fewer than two that are not 0
  std::optional<double> row_distance = {};  ///< empty with fewer than two rows that are not 0
  std::optional<AttentionOverlaps> overlaps = {};  ///< if the rows are probability distributions
  std::optional<double> attention_entropy =
      {};                   ///< mean row entropy, if the rows are probability distributions
  double row_sums_off = 0;  ///< the largest distance of a row's sum from 1
  double tolerance = 0;     ///< of it, for rows that are distributions
};

/// @param w finite entries
/// @param rounding relative spacing of the numbers that w was stored in, 2^-10 for float16; 0: not
/// known. Rows of probabilities then sum to 1 within half of it, and as much again for the softmax,
/// whose terms were rounded; at least within 1e-4.
MatrixMeasures measure(const Eigen::MatrixXd& w, double rounding = 0);

}  // namespace attica::networks
