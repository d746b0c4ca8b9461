#pragma once
/// @file
/// @brief First-order optimisers on the flat parameter array, with schedules, clipping and weight
/// decay.

#include <cstdint>
#include <span>
#include <vector>

#include "attica/sim/networks/parameters.hpp"

namespace attica::networks {

enum class OptimiserKind {
  sgd,         ///< p -= eta g
  heavy_ball,  ///< m = momentum m + g, p -= eta m
  adam,  ///< Kingma & Ba 2014 (arXiv:1412.6980): p -= eta m^ / (sqrt(v^) + epsilon), bias-corrected
};

/// @brief The factor of the learning rate as a function of the step.
struct Schedule {
  enum class Kind {
    constant,     ///< 1
    cosine_tail,  ///< 1 up to step `start`, then (1 + cos(pi (n - start) / (length - start))) / 2
                  ///< down to 0 at `length`
    step,         ///< 1 up to step `start`, then `factor`
  };
  Kind kind = Kind::constant;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  double factor = 1;

  /// The factor for the update from step n to n + 1.
  double operator()(std::uint64_t n) const;
};

/// @brief All that decides an update besides the gradient.
struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::adam;
  double learning_rate = 1e-3;
  double momentum = 0.9;    ///< heavy_ball
  double beta1 = 0.9;       ///< adam
  double beta2 = 0.999;     ///< adam
  double epsilon = 1e-8;    ///< adam: gradients well below it hardly move a parameter
  double weight_decay = 0;  ///< coupled: added to the gradient as weight_decay p
  bool decoupled_decay =
      false;  ///< p -= eta weight_decay p instead (adam: AdamW, arXiv:1711.05101)
  double clip_norm =
      0;  ///< gradients of larger Euclidean norm (decay not included) are shortened to it; 0: off
  Schedule schedule = {};
};

/// @brief Throws Error (input) naming the first option that is out of its domain.
void validate(const OptimiserOptions& options);

/// @brief The optimiser's options and memory for one set of parameters.
template <class T>
class Optimiser {
 public:
  /// @throws Error (input) for bad options
  Optimiser(const Parameters<T>& parameters, const OptimiserOptions& options);

  const OptimiserOptions& options() const { return options_; }

  /// @brief One update with the given gradient (laid out as the parameters). Frozen blocks stay as
  /// they are; a block's learning_rate_factor and decay_factor multiply the rate and the decay.
  /// @param n the step, for the schedule
  /// @return the gradient's norm over the blocks that are not frozen, before clipping. If it is not
  /// finite nothing is updated.
  double update(Parameters<T>& parameters, std::span<const T> gradient, std::uint64_t n);

  /// @brief Forgets moments and the count of updates ("fresh Adam every epoch").
  void reset();

  /// Number of updates since construction or reset; enters Adam's bias correction.
  std::uint64_t updates() const { return updates_; }
  /// First moments (momentum) and second moments, each as long as the parameters or empty; for
  /// checkpoints.
  std::span<T> first_moments() { return first_; }
  std::span<T> second_moments() { return second_; }
  void restore_updates(std::uint64_t updates) { updates_ = updates; }

 private:
  OptimiserOptions options_;
  std::uint64_t updates_ = 0;
  std::vector<T> first_;
  std::vector<T> second_;
};

extern template class Optimiser<float>;
extern template class Optimiser<double>;

}  // namespace attica::networks
