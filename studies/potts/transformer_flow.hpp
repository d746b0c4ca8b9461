#pragma once
/// @file
/// @brief Transformers trained on masked sequences of a Potts model that can be enumerated, as a
/// training flow.

#include <memory>

#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_flow.hpp"

namespace attica {

/// @brief The enumerated model and what is drawn from it.
struct EnumeratedPotts {
  /// @throws Error (input) naming what to make smaller if there are too many states
  explicit EnumeratedPotts(const PottsFamily& family);

  PottsModel model;
  ExcessLoss excess;
  MaskedTest test;
  PopulationSampler sampler;
};

/// @brief The training of a transformer from one start.
class PottsTransformerFlow : public TransformerFlow {
 public:
  const networks::TransformerPopulation<double>& population() const override {
    return *population_;
  }
  Point point() const override { return point_; }
  TheoryMethod method() const override { return method_; }
  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override;
  double flops() const override;

  /// @param problem outlives this
  /// @param start   of the random numbers of the start
  PottsTransformerFlow(const EnumeratedPotts& problem,
                       const TransformerTraining& training,
                       const TheoryMethod& method,
                       const StreamAddress& start,
                       Point point);

 protected:
  double loss(networks::Transformer<float>& network) const override;
  /// All sequences, each with one masked site.
  networks::Batch all_samples() const override;

 private:
  const EnumeratedPotts& problem_;
  TransformerTraining training_;
  TheoryMethod method_;
  Point point_;
  std::unique_ptr<networks::TransformerPopulation<double>> population_;
};

}  // namespace attica
