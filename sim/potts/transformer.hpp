#pragma once
/// @file
/// @brief Transformers trained on masked Potts sequences, one random masked site per sequence.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/networks/shape.hpp"
#include "attica/sim/potts/factored_attention.hpp"

namespace attica {

/// @brief The shape for L sites and C colours: token C is the mask.
networks::TransformerShape masked_transformer(Eigen::Index sites,
                                              Eigen::Index colours,
                                              int layers,
                                              int width);

struct TransformerTraining {
  networks::TransformerShape shape;
  networks::OptimiserOptions optimiser;
  Eigen::Index batch = 128;
  double deviation = 0.02;  ///< of the initial matrices; residual outputs over sqrt(2 layers)
  std::vector<std::uint64_t> recorded;
};

/// @brief The sites that a step masks, one for each sequence of its batch.
/// @param address of the run
std::vector<Eigen::Index> masked_sites(const TransformerTraining& plan,
                                       const StreamAddress& address,
                                       std::uint64_t step);

/// @brief Trains on fresh sequences.
/// @param observe called at every recorded step with the mean divergence from the truth over all
/// sites of the test sequences
/// @param file keeps the state of the run, to be carried on; empty: nothing is kept
networks::TrainingResult train_transformer(
    const TransformerTraining& plan,
    const SequenceSource& source,
    const ExcessLoss& test,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, double excess)>& observe,
    const std::function<bool()>& stop = {},
    const std::filesystem::path& file = {});

}  // namespace attica
