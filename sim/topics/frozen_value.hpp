#pragma once
/// @file
/// @brief Keys and queries of the one-layer network learn at a fixed value matrix, on the whole
/// population.

#include <functional>
#include <optional>

#include "attica/sim/topics/network.hpp"

namespace attica {

/// @brief Where W_V stays and W_K and W_Q start.
struct FrozenValueStart {
  Commutant value = Commutant::Zero();  ///< W_V
  AttentionStart start = AttentionStart::identity;
  double epsilon = 1;
  double scale = 1;    ///< of the scores
  double penalty = 0;  ///< λ of + λ (|W_K|² + |W_Q|²)
};

/// @brief Gradient descent of W_K and W_Q on the squared loss of the population, up to `steps`.
/// @param look called before every step and at the end, until it returns false
/// @throws Error (input) if the population cannot be enumerated
networks::TrainingResult descend_attention_from(
    const TopicModel& model,
    const FrozenValueStart& start,
    double eta,
    std::uint64_t steps,
    const std::function<bool(std::uint64_t step, const TopicNetwork&)>& look,
    const std::function<bool()>& stop = {});

/// @brief When the norm of (W_K, W_Q) has grown by a factor.
struct AttentionGrowth {
  /// Learning rate times steps, between steps by linear interpolation of the norm; empty: not
  /// reached.
  std::optional<double> time;
  networks::TrainingResult end;
};
/// @param threshold > 1
AttentionGrowth attention_growth(const TopicModel& model,
                                 const FrozenValueStart& start,
                                 double eta,
                                 double threshold,
                                 std::uint64_t most_steps,
                                 const std::function<bool()>& stop = {});

}  // namespace attica
