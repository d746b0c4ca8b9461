#pragma once
/// @file
/// @brief Multilayer transformers trained on text, on latent trees and on hierarchies of subsets,
/// with the measures that theory speaks of (Tian et al. 2023, arXiv:2310.00535, Figs. 6-8,
/// Table 1).

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "attica/core/joma/latent_hierarchy.hpp"
#include "attica/core/text/corpus.hpp"
#include "attica/sim/joma/latent_tree_sampler.hpp"
#include "attica/sim/networks/bounce.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

/// @brief What a deep network is trained and judged on.
struct DeepTask {
  int vocabulary = 0;
  int outputs = 0;
  int length = 0;
  /// Fills the batch of a step; draws from streams at the run's address.
  std::function<void(std::uint64_t step, const StreamAddress& run, networks::Batch& batch)> fill;
  networks::Batch probe;              ///< sequences on which attention is measured
  std::vector<networks::Batch> test;  ///< equal numbers of sites each
  std::uint64_t steps_per_epoch = 0;  ///< 0: fresh data, no epochs
};

/// How text is cut up.
struct TextCut {
  int window = 35;      ///< T
  int batch = 20;       ///< parallel streams
  bool masked = false;  ///< predict 15 % masked words from both sides, instead of the next word
};

/// @brief Every tenth block of 1000 words is test data; the rest is read in `batch` parallel
/// streams, window after window.
/// @throws Error (input, `model.file`) if the text is shorter than that takes
DeepTask text_task(const VocabularyText& text, const TextCut& cut);
/// @brief -sum p ln p of the words of the training part, in the test part: the loss of
/// predicting by frequency (add-one counts).
double unigram_loss(const VocabularyText& text);

/// A labelled sequence of a latent tree.
struct TreeSample {
  int label = 0;
  std::vector<int> leaves;
};
/// @brief Fresh samples of a tree: active leaves in ascending order, padded on the left; the class
/// is read at the last position. Batches hold each sequence and class once, weighted by how often
/// it was drawn.
DeepTask tree_task(const LatentTreeSampler& sampler,
                   int batch,
                   const std::vector<TreeSample>& test);
/// @brief A fixed set of samples.
std::vector<TreeSample> tree_samples(const LatentTreeSampler& sampler,
                                     std::size_t count,
                                     RandomStream& stream);

/// @brief The classes of a hierarchy: a batch holds each distinct sequence once, weighted by how
/// often it was drawn.
DeepTask hierarchy_task(const LatentHierarchy& hierarchy, int batch);

/// @brief Architecture and optimisation of a run.
struct DeepNetwork {
  bool text = false;  ///< text encoder (scaled small embeddings, sinusoidal code, dropout) or the
                      ///< plain block (no position code, N(0,1) embeddings)
  int layers = 1;
  int heads = 1;
  int width = 64;
  int mlp_width = 64;
  bool causal = true;
  double dropout = 0;
  double eta = 3e-3;      ///< learning rate of Adam
  double epsilon = 1e-8;  ///< of Adam
  double lambda = 0;      ///< weight decay: lambda w is added to the gradient
  double clip = 0;        ///< largest norm of the gradient; 0: any
  networks::Activation activation = networks::Activation::relu;
};

/// @brief What updates its parameters: Adam.
networks::OptimiserOptions deep_optimiser(const DeepNetwork& options);

/// @brief The network at its random start.
networks::Transformer<float> deep_network(const DeepNetwork& options,
                                          const DeepTask& task,
                                          const StreamAddress& run);

/// Measures at a recorded step; vectors by layer.
struct DeepRecord {
  std::uint64_t step = 0;
  double test_loss = 0;
  double accuracy = 0;
  std::vector<double> attention_entropy = {};
  std::vector<double> stable_rank = {};  ///< of W_1
  std::vector<double> cosine = {};       ///< mean |cos| between columns of W_2
};
DeepRecord measure_deep(networks::Transformer<float>& network,
                        const DeepTask& task,
                        std::uint64_t step);

/// @brief Means of the measures at step 0, accuracy apart, over so many random starts; the starts
/// of one replicate are not those of another.
DeepRecord mean_start(const DeepNetwork& options,
                      const DeepTask& task,
                      const StreamAddress& run,
                      std::uint64_t starts);

/// @brief Adam with the task's batches; fresh moments every epoch.
/// @param records what is measured at the recorded steps, and what becomes of it
/// @param file    keeps the state of the run, to be carried on; empty: nothing is kept
networks::TrainingResult train_deep(networks::Transformer<float>& network,
                                    const DeepNetwork& options,
                                    const DeepTask& task,
                                    const std::vector<std::uint64_t>& recorded,
                                    const StreamAddress& run,
                                    const networks::KeptRecords& records,
                                    const std::function<bool()>& stop = {},
                                    const std::filesystem::path& file = {});

/// @brief For each latent of a level the largest Pearson correlation, over classes with weights, of
/// its activity with a hidden unit; the mean over latents that vary. Hidden units that do not vary
/// count 0.
/// @param active  classes x latents, 0 or 1
/// @param hidden  classes x units
struct LatentScore {
  double score = 0;
  int excluded = 0;               ///< latents that are never or always active
  std::vector<double> each = {};  ///< the largest correlation of every other latent
};
LatentScore latent_score(const Eigen::MatrixXd& active,
                         const Eigen::MatrixXd& hidden,
                         const Eigen::VectorXd& weights);
/// @brief Share of latents that a hidden unit follows more closely than any follows an exchanged
/// one. Of n latents that no unit knows of it is 1/(n + 1) in the mean, however many units there
/// are.
double found_share(const LatentScore& score, const LatentScore& exchanged);
/// @brief Which latents of a level each class activates; @shape{classes x latents}, 0 or 1.
Eigen::MatrixXd latent_activity(const LatentHierarchy& hierarchy, std::size_t level);
/// @brief Hidden units of every layer, the maximum over positions; @shape{classes x units}.
std::vector<Eigen::MatrixXd> pooled_hidden(networks::Transformer<float>& network,
                                           const DeepTask& task);

/// @brief Scores the hidden units of a network against the latents of a hierarchy, or against the
/// latents of its classes exchanged.
class LatentScorer {
 public:
  /// @param stream draws how often each class is seen, and the exchange
  LatentScorer(const LatentHierarchy& hierarchy, RandomStream stream);

  /// @brief Latents of a level with hidden units, as pooled_hidden has them of the layer of that
  /// number.
  LatentScore score(const Eigen::MatrixXd& hidden, std::size_t level, bool exchanged = false) const;

 private:
  Eigen::VectorXd weights_;
  std::vector<Eigen::MatrixXd> active_;
  std::vector<Eigen::Index> order_;  ///< of the exchanged classes
};

}  // namespace attica
