#pragma once
/// @file
/// @brief Transformers trained on masked Potts sequences, one random masked site per sequence.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/sim/networks/population.hpp"
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
  /// Where the random numbers of the start come from; by default the run's own.
  std::optional<StreamAddress> start = {};
};

/// @brief The network at the start of a run. Numbers are drawn in single precision.
/// @param address of the run
networks::Transformer<float> initial_transformer(const TransformerTraining& plan,
                                                 const StreamAddress& address);

/// @brief Appends a sequence of which one site is hidden, and that site as what is predicted.
/// @param mask the token that hides a site
void append_masked(networks::Batch& batch,
                   const std::uint8_t* sequence,
                   Eigen::Index sites,
                   Eigen::Index masked,
                   int mask);

/// @brief Sequences with every site masked in turn, as a network sees them: those that differ in
/// the masked site alone are one input.
class MaskedInputs {
 public:
  /// @param mask the token that hides a site
  MaskedInputs(const WeightedSequences& population, int mask);

  const networks::Batch& batch() const { return batch_; }
  /// Number of the input that shows the sequence in row `row` without site `site`.
  Eigen::Index input(Eigen::Index row, Eigen::Index site) const {
    return inputs_[static_cast<std::size_t>(row * sites_ + site)];
  }
  /// @brief What is predicted: the masked colour of a sequence and a site, which are drawn
  /// together. Draws that look the same are one sample.
  std::unique_ptr<networks::TransformerPopulation<double>> population(
      const networks::TransformerShape& shape) const;
  /// @brief Mean attention of the masked site `query` to each position, in a network of one layer
  /// and head. @shape{L}
  template <class T>
  Eigen::VectorXd attention(networks::Transformer<T>& network, Eigen::Index query) const;

 private:
  Eigen::Index sites_;
  networks::Batch batch_;
  std::vector<Eigen::Index> inputs_;  ///< of every site of every sequence
  Eigen::VectorXd shares_;            ///< of the inputs
  std::vector<networks::PopulationTerm> terms_;
  std::vector<double> probabilities_;  ///< of the samples
};

/// @brief The divergence of a network's conditionals from the true ones, over every site of the
/// test sequences.
class MaskedTest {
 public:
  /// @param test has to outlive this object
  MaskedTest(const ExcessLoss& test, int mask) : test_(test), inputs_(test.population(), mask) {}
  double divergence(networks::Transformer<float>& network) const;
  const MaskedInputs& inputs() const { return inputs_; }

 private:
  const ExcessLoss& test_;
  MaskedInputs inputs_;
};

/// @brief The sites that a step masks, one for each sequence of its batch.
/// @param address of the run
std::vector<Eigen::Index> masked_sites(const TransformerTraining& plan,
                                       const StreamAddress& address,
                                       std::uint64_t step);

/// What is measured of a network at a recorded step.
using NetworkMeasure = std::function<std::vector<double>(networks::Transformer<float>& network)>;

/// @brief Trains on fresh sequences.
/// @param observe called at every recorded step with what was measured
/// @param file keeps the state of the run, to be carried on; empty: nothing is kept
networks::TrainingResult train_transformer(
    const TransformerTraining& plan,
    const SequenceSource& source,
    const NetworkMeasure& measure,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, const std::vector<double>& values)>& observe,
    const std::function<bool()>& stop = {},
    const std::filesystem::path& file = {});

/// @brief The same, measuring one number.
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
