#pragma once
/// @file
/// @brief A band that holds the errors of all of a theory's values at once, from their covariance.

#include <Eigen/Core>
#include <cstdint>

namespace attica {

/// Probability that some of the theory's values lie outside their band.
inline constexpr double kTheoryLevel = 0.01;

/// @brief Half widths h_i = c sqrt(C_ii) with P(|e_i| <= h_i for all i) = 1 - level for errors e of
/// normal law with mean 0 and covariance C.
///
/// c is the quantile of max |e_i|/sqrt(C_ii) (the single-step maximum, e.g. Hothorn, Bretz and
/// Westfall, Biom. J. 50, 346, 2008): from 2 10^5 draws of a stream of its own (2 10^4 from 1000
/// values on), or, where C is diagonal, exactly that of independent values (Šidák, J. Am. Stat.
/// Assoc. 62, 626, 1967). Where all values share one error it is that of a single value, 2.576 at 1
/// %. Components with C_ii = 0 have no error and no width.
/// @param covariance  symmetric, positive semidefinite
/// @throws Error (input, parameter `covariance`) otherwise, naming the entry or the eigenvalue
Eigen::VectorXd simultaneous_band(const Eigen::MatrixXd& covariance,
                                  double level = kTheoryLevel,
                                  std::uint64_t seed = 0);

}  // namespace attica
