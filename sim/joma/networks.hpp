#pragma once
/// @file
/// @brief One-layer attention networks with their populations and starts, random or by formula, for
/// descent to train.

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "attica/core/joma/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// How large a random network and its population are.
struct JomaSizes {
  Eigen::Index tokens = 4;   ///< M
  Eigen::Index samples = 6;  ///< of the population, equally likely
  int classes = 3;
  int queries = 2;
  Eigen::Index units = 5;  ///< K
};

/// @brief Gram matrix of unit embeddings that all have the same cosine with each other; empty for
/// cosine 0.
/// @throws Error (input, `model.overlap`) unless 0 <= cosine < 1
Eigen::MatrixXd equal_overlap(Eigen::Index tokens, double cosine);
/// @brief Gram matrix of directions drawn at random in that dimension: cosines of mean 0 and
/// variance 1/dimension.
Eigen::MatrixXd random_overlap(Eigen::Index tokens, Eigen::Index dimension, RandomStream& stream);

/// @brief Uniform contexts that sum to 1, labels and queries in turn, cross-entropy behind a normal
/// matrix W.
/// @param law attention, activation, temperature and Gram matrix
JomaModel random_joma_model(const JomaSizes& sizes, JomaLaw law, RandomStream& stream);
/// @brief A normal start of that deviation.
JomaState random_joma_start(const JomaModel& model, double scale, RandomStream& stream);

/// How contexts of one class each are made.
struct JomaClassContexts {
  Eigen::Index tokens = 20;  ///< M; the first half is "distinct"
  Eigen::Index classes = 20;
  bool bumps = true;         ///< each class has its own Gaussian bump over the distinct tokens
  double temperature = 0.5;  ///< T
};
/// A network with softmax attention and the start of its training.
struct JomaProblem {
  JomaModel model;
  JomaState start;
};
/// @brief Softmax attention, a hidden unit and a context for every class, a small start.
/// @param seed draws contexts and start; none: both by formula, the same on every machine
JomaProblem class_contexts(const JomaClassContexts& options, std::optional<std::uint64_t> seed);

}  // namespace attica
