#include "attica/studies/trees/learning.hpp"

#include "attica/studies/training_end.hpp"

namespace attica {

void require_measurable(const FilteredTree& tree) {
  constexpr double kMostMeasured = 65536;
  require(tree.sequences() <= kMostMeasured,
          "model.depth",
          tree.depth,
          "at most 2^16 sequences, alphabet^(children^depth), on which networks are measured");
}

TreeHistory learn_tree(const FilteredTree& tree,
                       int level,
                       const MaskedTraining& training,
                       const TreeContexts& contexts,
                       const Replicate& replicate) {
  TreeHistory seen;
  const auto levels = static_cast<std::ptrdiff_t>(tree.depth) + 1;
  MaskedNetwork network =
      masked_network(training, tree.leaves(), tree.alphabet, replicate.address());
  const networks::TrainingResult result = train_masked(
      network,
      training,
      filtered_source(tree, level),
      replicate.address(),
      {.measure =
           [&](std::uint64_t, MaskedNetwork& trained) {
             const TreeMeasures m = contexts.measure(network_table(trained, tree));
             std::vector<double> values;
             for (const auto* part :
                  {&m.data_loss, &m.bp_divergence, &m.window_divergence, &m.block_loss}) {
               values.insert(values.end(), part->begin(), part->end());
             }
             return values;
           },
       .tell =
           [&](std::uint64_t step, const std::vector<double>& values) {
             seen.steps.push_back(static_cast<double>(step));
             const auto part = [&](std::ptrdiff_t which) {
               const auto first = values.begin() + which * levels;
               return std::vector<double>(first, first + levels);
             };
             seen.measures.push_back({.data_loss = part(0),
                                      .bp_divergence = part(1),
                                      .window_divergence = part(2),
                                      .block_loss = part(3)});
           }},
      [&] { return replicate.stopped(); },
      replicate.state_file());
  mark_end(seen.outcome, result);
  if (!seen.outcome.failed && !replicate.stopped()) seen.end = network_table(network, tree);
  return seen;
}

}  // namespace attica
