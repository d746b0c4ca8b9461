#pragma once
/// @file
/// @brief Where the documents of a training step come from.

#include "attica/sim/topics/documents.hpp"

namespace attica {

/// @brief What a step reads.
enum class TopicData {
  fresh,       ///< documents drawn for this step alone
  fixed,       ///< some of a fixed set of documents, whose selection and corruption are fixed too
  population,  ///< all topic sets with the exact law of selected positions
};

struct TopicSourceOptions {
  TopicData data = TopicData::fresh;
  Eigen::Index batch = 1;      ///< documents of a step; not for the population
  Eigen::Index queries = 1;    ///< selected positions of an infinite document
  Eigen::Index documents = 1;  ///< of the fixed set
};

/// @brief The batches of a run.
class TopicSource {
 public:
  /// @param address of the run: seed, point and replicate. Step n draws from its own stream.
  /// @throws Error (input) if the population cannot be enumerated
  TopicSource(const TopicModel& model,
              const TopicSourceOptions& options,
              const StreamAddress& address);

  /// @brief The batch of a step; valid until the next call.
  const TopicBatch& operator()(std::uint64_t step);

 private:
  void draw(RandomStream& stream, Eigen::Index documents, TopicBatch& batch) const;
  void gather(RandomStream& stream);

  TopicSampler sampler_;
  TopicSourceOptions options_;
  StreamAddress address_;
  TopicBatch all_;                                       ///< the fixed set, or the population
  std::vector<std::size_t> first_query_, first_target_;  ///< of each document of the fixed set
  TopicBatch batch_;
};

}  // namespace attica
