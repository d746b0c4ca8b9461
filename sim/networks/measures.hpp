#pragma once
/// @file
/// @brief Numbers that describe trained networks and matrices from anywhere.
///
/// Sources: attention entropy and stable rank as in Tian et al. 2023 (arXiv:2310.00535); mean
/// square displacement of the weights as in Rende et al. 2024 (arXiv:2410.19637).

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attica/sim/networks/transformer.hpp"

namespace attica::networks {

/// @brief Mean over the rows of -sum p ln p (nats, 0 ln 0 = 0).
/// @param weights rows are probability distributions
double mean_row_entropy(MatrixView<const double> weights);
double mean_row_entropy(MatrixView<const float> weights);

/// @brief Attention entropy of a layer and head in the last pass: mean over sequences and queries.
///
/// Give the pass a batch with set_all_sites for the mean over all positions; otherwise the last
/// layer's mean is over the sites. A query that sees no key counts as 0.
template <class T>
double attention_entropy(const Transformer<T>& network, int layer, int head);

/// @brief |W|_F^2 / |W|_2^2, between 1 and the rank; empty for W = 0.
std::optional<double> stable_rank(const Eigen::MatrixXd& w);

/// @brief Largest singular value.
double spectral_norm(const Eigen::MatrixXd& w);

/// @brief Mean |cos| over pairs of different columns, leaving out columns that are 0; empty without
/// a pair.
std::optional<double> mean_abs_cosine(const Eigen::MatrixXd& w);

/// @brief Euclidean norm of every block, in storage order.
template <class T>
std::vector<double> block_norms(const Parameters<T>& parameters);

/// @brief sum over the blocks that match of |W - W(start)|^2 / rows: how far they have moved.
/// @param start   parameters().values() as they were at the start
/// @param pattern as in Parameters::configure
template <class T>
double mean_square_displacement(const Parameters<T>& parameters,
                                std::span<const T> start,
                                std::string_view pattern);

/// @brief What is measured of a matrix from a file.
struct MatrixMeasures {
  Eigen::Index rows = 0;
  Eigen::Index columns = 0;
  double frobenius_norm = 0;
  double spectral_norm = 0;
  std::optional<double> stable_rank = {};  ///< empty for the zero matrix
  std::optional<double> mean_abs_cosine =
      {};  ///< of columns; empty with fewer than two that are not 0
  std::optional<double> attention_entropy =
      {};  ///< mean row entropy, if the rows are probability distributions
};

/// @param w finite entries
MatrixMeasures measure(const Eigen::MatrixXd& w);

}  // namespace attica::networks
