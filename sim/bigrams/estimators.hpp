#pragma once
/// @file
/// @brief Estimates of P and Q from sequences, all at a time: counting and maximum likelihood.

#include <Eigen/Core>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/bigrams/sampler.hpp"

namespace attica {

/// @brief Sequences with the same last token.
struct BigramSequences {
  Eigen::Matrix<Token, Eigen::Dynamic, Eigen::Dynamic> tokens;  ///< x_1..x_T; @shape{T x count}
  std::vector<Token> next;                                      ///< y of each
};

/// @brief M sequences, by their last token.
using BigramData = std::vector<BigramSequences>;

BigramData draw_bigram_data(const BigramModel& model, std::int64_t samples, RandomStream& stream);

/// @brief An estimate of P and Q. 1ᵀV = 1ᵀ, Vμ = μ, columns of A sum to 1; entries may be negative.
struct BigramEstimate {
  Eigen::MatrixXd value;      ///< V; @shape{N x N}
  Eigen::MatrixXd attention;  ///< A; @shape{T x N}
};

/// @brief V = μ1ᵀ + mean (y - μ) Σ_t (D⁻¹e_{x_t} - 1)ᵀ; a^(k)_t in proportion to the sum of
/// (V - μ1ᵀ)[y, x_t] over sequences that end in k. Of the model it uses μ alone.
BigramEstimate counting_estimate(const BigramModel& model, const BigramData& data);

/// @brief A maximum of the likelihood.
struct BigramLikelihood {
  BigramEstimate estimate;
  double gain = 0;         ///< of the mean log likelihood, over that of the truth
  bool converged = false;  ///< the last step promised less than 1e-6 of d/M
  int steps = 0;
};

/// @brief Positions that the columns of A may attend to, a list for every last token.
using OpenPositions = std::vector<std::vector<Eigen::Index>>;
OpenPositions all_positions(const BigramModel& model);
OpenPositions true_positions(const BigramModel& model);

/// @brief Maximises Σ log (V X a^(k))_y over V with 1ᵀV = 1ᵀ and Vμ = μ and over columns of A that
/// sum to 1 and vanish elsewhere than at the open positions, by scoring steps with the scores' own
/// second moment (Berndt, Hall, Hall and Hausman 1974), halved until the likelihood rises. It
/// starts from the given estimate, mixed with V = μ1ᵀ until every sequence seen has a positive
/// probability.
/// @param start columns of A sum to 1 and vanish elsewhere than at the open positions
BigramLikelihood maximum_likelihood(const BigramModel& model,
                                    const BigramData& data,
                                    const OpenPositions& open,
                                    const BigramEstimate& start,
                                    const std::stop_token& stop = {});

/// @brief An estimate whose columns of A are cut to the open positions and divided by their sums.
BigramEstimate restricted(const BigramEstimate& estimate, const OpenPositions& open);

/// @brief Mean over sequences of the Kullback-Leibler divergence of the estimate's law of the next
/// token from the true one, by enumeration of the tokens at the true positions; infinite where the
/// estimate gives a token that may follow no positive probability.
/// @pre the estimate attends to the true positions alone
double excess_log_loss(const BigramModel& model, const BigramEstimate& estimate);

}  // namespace attica
