#pragma once
/// @file
/// @brief A transformer of several layers that reads topic documents as sequences.

#include <functional>
#include <optional>
#include <vector>

#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "attica/sim/topics/documents.hpp"

namespace attica {

struct DeepTopicTraining {
  networks::TransformerShape shape;
  double start = 0.02;  ///< standard deviation of W_V, W_K, W_Q and W_dec at the start
  networks::OptimiserOptions optimiser;
  Eigen::Index batch = 16;              ///< fresh documents of a step
  std::vector<std::uint64_t> recorded;  ///< steps, ascending
  /// Where the random numbers of the start come from; by default the run's own.
  std::optional<StreamAddress> initial = {};
  /// What batches are drawn from, with replacement; empty: fresh documents of the model.
  std::vector<TopicDocument> documents = {};
};

/// @brief The network at the start of a run.
networks::Transformer<float> deep_topic_network(const DeepTopicTraining& training,
                                                const StreamAddress& address);

/// @brief Squared Frobenius norm of each layer's matrix of that name, first layer first.
std::vector<double> layer_squared_norms(const networks::Transformer<float>& network,
                                        const char* name);

/// @brief Trains a fresh network; a trained embedding starts at N(0, 1/width).
/// @param address of the run: seed, point and replicate
/// @param observe called at the recorded steps
networks::TrainingResult train_deep_topics(
    const TopicModel& model,
    const DeepTopicTraining& training,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, networks::Transformer<float>&)>& observe,
    const std::function<bool()>& stop);

}  // namespace attica
