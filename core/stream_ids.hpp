#pragma once
/// @file
/// @brief The registry of random streams: every use of randomness in attica has its own number
/// here.

#include <cstdint>

namespace attica {

/// Second half of a stream's key. Two uses with different ids never see the same random numbers.
/// Numbers are never reused or changed: recorded runs depend on them.
enum class StreamId : std::uint64_t {
  data = 1,            ///< training samples
  model = 2,           ///< a random problem instance (couplings, covariance, instance tables)
  initialisation = 3,  ///< starting values of trained parameters
  minibatch = 4,       ///< choice of samples or masks in a training step
  test_data = 5,       ///< samples used for evaluation only
  dropout = 6,         ///< dropout masks
  sampler = 7,         ///< Markov-chain samplers
  bootstrap = 8,       ///< resampling in statistics
  sign_flip = 9,       ///< sign vectors of the max-t procedure
  self_test = 10,      ///< planted data that test the statistics themselves
  surrogate = 11,      ///< Gaussian surrogates of gradient noise
  selection = 12,      ///< samples on which trained candidates are compared
  theory = 13,         ///< random combinations and mirrored pairs of the training theory
};

}  // namespace attica
