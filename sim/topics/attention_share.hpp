#pragma once
/// @file
/// @brief What attention has gained in training: the part of the loss that is owed to it.

#include <Eigen/Core>
#include <cstdint>

#include "attica/sim/topics/network.hpp"
#include "attica/sim/topics/source.hpp"

namespace attica {

/// @brief What the loss owes to attention, on batches that no step of the run takes.
class AttentionShare {
 public:
  /// @param first the first batch that is looked at
  /// @param network at its start
  AttentionShare(TopicSource& source,
                 std::uint64_t first,
                 std::uint64_t batches,
                 TopicNetwork& network);

  /// @brief By how much the loss would be higher with the scores of the start, over its fall since
  /// the start; 1 if it has not fallen.
  double of(TopicNetwork& network) const;

 private:
  double mean_loss(TopicNetwork& network, const Eigen::MatrixXd& scores) const;

  TopicSource& source_;
  std::uint64_t first_;
  std::uint64_t batches_;
  Eigen::MatrixXd scores_;
  double start_ = 0;
};

}  // namespace attica
