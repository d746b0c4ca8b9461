#include "attica/studies/potts/transformer_flow.hpp"

#include <utility>

namespace attica {

using Eigen::Index;

EnumeratedPotts::EnumeratedPotts(const PottsFamily& family)
    : model(family.model(0)),
      excess(model, enumerate(model).states),
      test(excess, static_cast<int>(model.colours())),
      sampler(excess.population()) {}

PottsTransformerFlow::PottsTransformerFlow(const EnumeratedPotts& problem,
                                           const TransformerTraining& training,
                                           const TheoryMethod& method,
                                           const StreamAddress& start,
                                           Point point)
    : TransformerFlow(initial_transformer(training, start),
                      training.optimiser,
                      training.batch,
                      training.recorded),
      problem_(problem),
      training_(training),
      method_(method),
      point_(std::move(point)),
      population_(problem.test.inputs().population(training.shape)) {
  training_.start = start;
}

networks::TrainingResult PottsTransformerFlow::train(const Replicate& replicate,
                                                     const Record& record) const {
  return train_transformer(
      training_,
      [&](Index n, RandomStream& s) { return problem_.sampler.draw(n, s); },
      [&](networks::Transformer<float>& network) { return values(network); },
      replicate.address(),
      record,
      [&] { return replicate.stopped(); },
      replicate.state_file());
}

double PottsTransformerFlow::flops() const {
  const auto width = static_cast<double>(training_.shape.width);
  return 40 * training_.shape.layers * width * width * static_cast<double>(training_.batch) *
         static_cast<double>(training_.recorded.back());
}

double PottsTransformerFlow::loss(networks::Transformer<float>& network) const {
  return problem_.excess.bayes_loss() + problem_.test.divergence(network);
}

networks::Batch PottsTransformerFlow::all_samples() const {
  const WeightedSequences& states = problem_.excess.population();
  networks::Batch batch;
  const Index sites = states.sequences.cols();
  for (Index row = 0; row < states.sequences.rows(); ++row) {
    for (Index i = 0; i < sites; ++i) {
      append_masked(batch, states.sequences.row(row).data(), sites, i, training_.shape.outputs);
      batch.weights.push_back(states.weights[row] / static_cast<double>(sites));
    }
  }
  networks::set_equal_lengths(batch, training_.shape.length);
  return batch;
}

}  // namespace attica
