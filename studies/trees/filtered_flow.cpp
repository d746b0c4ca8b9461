/// @file
/// @brief Study tree-filtered-flow: how a transformer learns data of a level, the training theory
/// of its population against SGD on fresh sequences.

#include <memory>

#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/training_flow.hpp"
#include "attica/studies/trees/learning.hpp"
#include "attica/theory/trees/sequence_laws.hpp"

namespace attica::tree_filtered_flow {
namespace {

using Eigen::Index;

/// All sequences of a tree with their law P_level; the letter at the first leaf is the most
/// significant digit of a sequence's number.
WeightedSequences all_sequences(const FilteredTree& tree, int level) {
  WeightedSequences all{.sequences = {}, .weights = sequence_law(tree, level)};
  const Index sites = tree.leaves();
  all.sequences.resize(all.weights.size(), sites);
  for (Index x = 0; x < all.weights.size(); ++x) {
    Index rest = x;
    for (Index m = sites; m-- > 0; rest /= tree.alphabet)
      all.sequences(x, m) = static_cast<std::uint8_t>(rest % tree.alphabet);
  }
  return all;
}

/// SGD on data of one level.
class OfLevel : public TransformerFlow {
 public:
  OfLevel(const FilteredTree& tree,
          const TreeContexts& contexts,
          const MaskedTraining& training,
          const TheoryMethod& method,
          std::uint64_t seed,
          int level)
      : TransformerFlow(
            masked_network(training, tree.leaves(), tree.alphabet, {.seed = seed, .point = 0}),
            {.kind = networks::OptimiserKind::sgd, .learning_rate = training.eta},
            training.batch,
            training.recorded),
        tree_(tree),
        contexts_(contexts),
        training_(training),
        method_(method),
        level_(level),
        sequences_(all_sequences(tree, level)),
        population_(MaskedInputs(sequences_, tree.alphabet)
                        .population(masked_shape(training, tree.leaves(), tree.alphabet))) {
    for (const char* block : {"W_E", "layer0.W_Q", "layer0.W_V", "layer0.W_1", "W_dec"})
      measure_square(block);
    add_all_directions(point());
  }

  Point point() const override { return {{"level", static_cast<double>(level_)}}; }
  const networks::TransformerPopulation<double>& population() const override {
    return *population_;
  }
  TheoryMethod method() const override { return method_; }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    MaskedNetwork network = start();
    return train_masked(
        network,
        training_,
        filtered_source(tree_, level_),
        replicate.address(),
        {.measure = [&](std::uint64_t, MaskedNetwork& trained) { return values(trained); },
         .tell = record},
        [&] { return replicate.stopped(); },
        replicate.state_file());
  }

  double flops() const override {
    const auto width = static_cast<double>(training_.width);
    return 6 * (4 * width + 2 * static_cast<double>(training_.mlp_width)) * width *
           static_cast<double>(training_.layers * training_.batch * tree_.leaves()) *
           static_cast<double>(training_.recorded.back());
  }

 protected:
  double loss(MaskedNetwork& network) const override {
    const TreeMeasures seen = contexts_.measure(network_table(network, tree_));
    return seen.data_loss[static_cast<std::size_t>(level_)];
  }

  networks::Batch all_samples() const override {
    networks::Batch batch;
    const Index sites = sequences_.sequences.cols();
    for (Index row = 0; row < sequences_.sequences.rows(); ++row) {
      for (Index m = 0; m < sites; ++m) {
        append_masked(batch, sequences_.sequences.row(row).data(), sites, m, tree_.alphabet);
        batch.weights.push_back(sequences_.weights[row] / static_cast<double>(sites));
      }
    }
    networks::set_equal_lengths(batch, static_cast<int>(sites));
    return batch;
  }

 private:
  const FilteredTree& tree_;
  const TreeContexts& contexts_;
  MaskedTraining training_;
  TheoryMethod method_;
  int level_;
  WeightedSequences sequences_;
  std::unique_ptr<networks::TransformerPopulation<double>> population_;
};

/// The tree with its contexts, on which losses are measured.
struct Problem {
  explicit Problem(FilteredTree of) : tree(std::move(of)), contexts(tree) {}
  FilteredTree tree;
  TreeContexts contexts;
};

std::unique_ptr<Experiment> make_flow(Configuration& c) {
  FilteredTree tree = filtered_tree(c);
  require_measurable(tree);
  const auto levels = static_cast<std::size_t>(tree.depth) + 1;
  MaskedTraining training = tree_training(c);
  training.optimiser = networks::OptimiserKind::sgd;
  // Losses with kinks need long differences.
  const TheoryMethod method{.rank = c.integer("theory.rank"),
                            .hold = c.integer<std::uint64_t>("theory.hold"),
                            .step = c.real("theory.step")};
  auto problem = std::make_shared<Lazy<Problem>>([tree] { return Problem(tree); });
  return std::make_unique<TrainingFlow>(
      levels, [=, seed = c.seed()](std::size_t level) -> std::unique_ptr<FlowTraining> {
        const Problem& of = problem->get();
        return std::make_unique<OfLevel>(
            of.tree, of.contexts, training, method, seed, static_cast<int>(level));
      });
}

}  // namespace

Study study() { return described({.name = "tree-filtered-flow", .make = make_flow}); }

}  // namespace attica::tree_filtered_flow
