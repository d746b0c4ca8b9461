#pragma once
/// @file
/// @brief A value matrix fitted to documents whose topics share words.

#include <Eigen/Core>
#include <cstdint>

#include "attica/core/random.hpp"

namespace attica {

/// @brief Topics on a ring, each of v equally likely words, s of them those of either neighbour.
/// Documents are infinite, have τ of the topics at equal weights, and are masked as in
/// core/topics/model.hpp.
struct OverlapDocuments {
  Eigen::Index topics = 7;               ///< T >= 4
  Eigen::Index words = 10;               ///< v
  Eigen::Index shared = 0;               ///< s <= v/2, so that only neighbours share
  Eigen::Index topics_per_document = 2;  ///< τ < T
  double mask_rate = 0.15;
  double keep_rate = 0.1;
  double random_rate = 0.1;
};

/// @brief P_t·W P_t - P_s·W P_t of the fitted matrix, averaged over t and over s.
struct OverlapContrast {
  double neighbour = 0;  ///< s next to t
  double other = 0;      ///< s not next to t
};

/// @brief Draws documents with one selected word each, and fits W_V of least norm by least squares
/// under uniform attention. Its mean is the population's optimum: the shown shares are exact.
/// @throws Error (numerical) if too few documents were drawn to tell the topics apart
OverlapContrast fit_overlap(const OverlapDocuments& d, std::int64_t count, RandomStream& stream);

}  // namespace attica
