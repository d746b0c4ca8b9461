#include "attica/sim/joma/deep.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sim/networks/distinct_sequences.hpp"
#include "attica/sim/networks/measures.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using networks::Batch;
using networks::InitialValues;
using networks::Transformer;

namespace {

constexpr std::size_t kSplitBlock = 1000;  // words
constexpr std::size_t kTest = 10;          // every tenth block
constexpr double kMasked = 0.15;

struct SplitText {
  std::vector<std::int32_t> training;
  std::vector<std::int32_t> test;
};

SplitText split(const VocabularyText& text) {
  SplitText parts;
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    const bool held = (i / kSplitBlock) % kTest == kTest - 1;
    (held ? parts.test : parts.training).push_back(text.tokens[i]);
  }
  return parts;
}

/// Appends a window that starts at `first`; the loss at every position, or at masked ones.
void append_window(const std::vector<std::int32_t>& tokens,
                   std::size_t first,
                   const TextCut& cut,
                   int mask_id,
                   RandomStream& stream,
                   Batch& batch) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(cut.window); ++t) {
    const auto row = static_cast<std::int32_t>(batch.tokens.size());
    const bool mask = cut.masked && stream.uniform() < kMasked;
    batch.tokens.push_back(mask ? mask_id : tokens[first + t]);
    if (cut.masked && !mask) continue;
    batch.sites.push_back(row);
    batch.targets.push_back(tokens[first + t + (cut.masked ? 0 : 1)]);
  }
}

void clear(Batch& batch) {
  batch.tokens.clear();
  batch.sites.clear();
  batch.targets.clear();
  batch.weights.clear();
}

/// At least one site, so that a batch always has a loss.
void ensure_site(const std::vector<std::int32_t>& original, int mask_id, Batch& batch) {
  if (!batch.sites.empty()) return;
  batch.sites.push_back(0);
  batch.targets.push_back(original.front());
  batch.tokens.front() = mask_id;
}

/// Every position becomes a site, for measures that want all of them.
void look_everywhere(Batch& batch) {
  networks::set_all_sites(batch);
  batch.targets.assign(batch.sites.size(), 0);
}

void append_labelled(const std::vector<std::int32_t>& sequence, int label, Batch& batch) {
  batch.tokens.insert(batch.tokens.end(), sequence.begin(), sequence.end());
  batch.sites.push_back(static_cast<std::int32_t>(batch.tokens.size()) - 1);
  batch.targets.push_back(label);
}

/// What a network reads of leaves: those that are active, in ascending order, behind padding.
void read_leaves(const std::vector<int>& leaves, std::vector<std::int32_t>& sequence) {
  const auto size = static_cast<std::int32_t>(leaves.size());
  sequence.assign(leaves.size(), size);
  auto at = sequence.end() - std::ranges::count(leaves, 1);
  for (std::int32_t l = 0; l < size; ++l) {
    if (leaves[static_cast<std::size_t>(l)] == 1) *at++ = l;
  }
}

MatrixXd as_matrix(networks::MatrixView<const float> view) { return view.map().cast<double>(); }

std::string layer_block(int layer, const char* name) {
  return "layer" + std::to_string(layer) + "." + name;
}

}  // namespace

DeepTask text_task(const VocabularyText& text, const TextCut& cut) {
  const SplitText parts = split(text);
  const auto window = static_cast<std::size_t>(cut.window);
  const auto streams = static_cast<std::size_t>(cut.batch);
  const std::size_t per_stream = parts.training.size() / streams;
  require(per_stream > window && parts.test.size() > window,
          "model.file",
          static_cast<double>(text.tokens.size()),
          "a text of more words: a window in every stream, and one block of test data");
  const auto words = static_cast<int>(text.words.size());
  DeepTask task{.vocabulary = words + (cut.masked ? 1 : 0),
                .outputs = words,
                .length = cut.window,
                .fill = {},
                .probe = {},
                .test = {},
                .steps_per_epoch = (per_stream - 1) / window};
  task.fill = [tokens = parts.training, cut, per_stream, words, epoch = task.steps_per_epoch](
                  std::uint64_t step, const StreamAddress& run, Batch& batch) {
    StreamAddress address = run;
    address.id = StreamId::minibatch;
    address.step = step;
    RandomStream stream(address);
    clear(batch);
    const std::size_t offset = (step % epoch) * static_cast<std::size_t>(cut.window);
    for (std::size_t s = 0; s < static_cast<std::size_t>(cut.batch); ++s) {
      append_window(tokens, s * per_stream + offset, cut, words, stream, batch);
    }
    ensure_site(tokens, words, batch);
    networks::set_equal_lengths(batch, cut.window);
  };
  // Test data: up to 100 windows spread over the part, in batches of 20; masks are fixed.
  constexpr std::size_t kWindows = 100;
  constexpr std::size_t kPerBatch = 20;
  const std::size_t available = (parts.test.size() - 1) / window;
  const std::size_t used = std::min(kWindows, available);
  RandomStream stream({.seed = 0, .id = StreamId::test_data});
  for (std::size_t i = 0; i < used; ++i) {
    if (i % kPerBatch == 0) task.test.emplace_back();
    const std::size_t first = i * available / used * window;
    append_window(parts.test, first, cut, words, stream, task.test.back());
  }
  for (Batch& batch : task.test) {
    ensure_site(parts.test, words, batch);
    networks::set_equal_lengths(batch, cut.window);
  }
  task.probe = task.test.front();
  look_everywhere(task.probe);
  return task;
}

double unigram_loss(const VocabularyText& text) {
  const SplitText parts = split(text);
  std::vector<double> counts(text.words.size(), 1.0);
  for (const std::int32_t t : parts.training) counts[static_cast<std::size_t>(t)] += 1;
  double total = 0;
  for (const double c : counts) total += c;
  double loss = 0;
  for (const std::int32_t t : parts.test) {
    loss -= std::log(counts[static_cast<std::size_t>(t)] / total);
  }
  return loss / static_cast<double>(parts.test.size());
}

std::vector<TreeSample> tree_samples(const LatentTreeSampler& sampler,
                                     std::size_t count,
                                     RandomStream& stream) {
  std::vector<TreeSample> samples(count);
  TreeSequences sequences(sampler, stream);
  for (TreeSample& s : samples) s.label = sequences.draw(s.leaves);
  return samples;
}

DeepTask tree_task(const LatentTreeSampler& sampler,
                   int batch,
                   const std::vector<TreeSample>& test) {
  const auto leaves = static_cast<int>(sampler.tree().leaves());
  DeepTask task{.vocabulary = leaves + 1,
                .outputs = static_cast<int>(sampler.tree().classes()),
                .length = leaves,
                .fill = {},
                .probe = {},
                .test = {}};
  task.fill = [sampler, batch](std::uint64_t step, const StreamAddress& run, Batch& target) {
    StreamAddress address = run;
    address.id = StreamId::data;
    address.step = step;
    RandomStream stream(address);
    networks::DistinctSequences samples(target, 1.0 / batch);
    TreeSequences sequences(sampler, stream);
    std::vector<int> drawn;
    std::vector<std::int32_t> sequence;
    for (int i = 0; i < batch; ++i) {
      const int label = sequences.draw(drawn);
      read_leaves(drawn, sequence);
      samples.add(sequence, label);
    }
  };
  constexpr std::size_t kProbe = 128;
  task.test.emplace_back();
  networks::DistinctSequences samples(task.test.back(), 1 / static_cast<double>(test.size()));
  std::vector<std::int32_t> sequence;
  for (std::size_t i = 0; i < test.size(); ++i) {
    read_leaves(test[i].leaves, sequence);
    samples.add(sequence, test[i].label);
    if (i < kProbe) append_labelled(sequence, 0, task.probe);
  }
  networks::set_equal_lengths(task.probe, leaves);
  look_everywhere(task.probe);
  return task;
}

DeepTask hierarchy_task(const LatentHierarchy& hierarchy, int batch) {
  const HierarchySizes& sizes = hierarchy.sizes();
  DeepTask task{.vocabulary = sizes.tokens,
                .outputs = sizes.classes,
                .length = sizes.length,
                .fill = {},
                .probe = {},
                .test = {}};
  Batch all;
  for (std::size_t k = 0; k < hierarchy.sequences().size(); ++k) {
    append_labelled(hierarchy.sequences()[k].tokens, static_cast<int>(k), all);
  }
  networks::set_equal_lengths(all, sizes.length);
  task.test = {all};
  task.probe = all;
  look_everywhere(task.probe);
  task.fill = [all, batch, sizes](std::uint64_t step, const StreamAddress& run, Batch& target) {
    StreamAddress address = run;
    address.id = StreamId::minibatch;
    address.step = step;
    RandomStream stream(address);
    std::vector<int> counts(static_cast<std::size_t>(sizes.classes));
    for (int i = 0; i < batch; ++i) ++counts[stream.below(counts.size())];
    clear(target);
    const auto length = static_cast<std::ptrdiff_t>(sizes.length);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      const auto first = all.tokens.begin() + static_cast<std::ptrdiff_t>(k) * length;
      append_labelled({first, first + length}, static_cast<int>(k), target);
      target.weights.push_back(static_cast<double>(counts[k]) / batch);
    }
    networks::set_equal_lengths(target, sizes.length);
  };
  return task;
}

networks::OptimiserOptions deep_optimiser(const DeepNetwork& options) {
  return {.kind = networks::OptimiserKind::adam,
          .learning_rate = options.eta,
          .epsilon = options.epsilon,
          .weight_decay = options.lambda,
          .clip_norm = options.clip};
}

Transformer<float> deep_network(const DeepNetwork& options,
                                const DeepTask& task,
                                const StreamAddress& run) {
  networks::TransformerShape shape{.vocabulary = task.vocabulary,
                                   .outputs = task.outputs,
                                   .length = task.length,
                                   .width = options.width,
                                   .layers = options.layers,
                                   .heads = options.heads,
                                   .mlp_width = options.mlp_width};
  shape.mask =
      options.causal ? networks::AttentionMask::causal : networks::AttentionMask::bidirectional;
  shape.normalisation = networks::Normalisation::post;
  shape.position = options.text ? networks::PositionCode::sinusoidal : networks::PositionCode::none;
  shape.output_projection = options.text;
  shape.attention_bias = options.text;
  shape.activation = options.activation;
  shape.dropout = options.dropout;
  if (options.text) shape.embedding_scale = std::sqrt(static_cast<double>(options.width));
  Transformer<float> network(shape);

  StreamAddress address = run;
  address.id = StreamId::initialisation;
  auto& parameters = network.parameters();
  // Small embeddings: with N(0,1) sqrt(width) scores would be huge and attention start one-hot.
  constexpr double kSmall = 0.1;
  parameters.initialise("W_E",
                        options.text
                            ? InitialValues{.law = InitialValues::Law::uniform, .scale = kSmall}
                            : InitialValues{.law = InitialValues::Law::normal, .scale = 1},
                        address);
  for (const auto& block : parameters.blocks()) {
    const std::string component = block.name.substr(block.name.find('.') + 1);
    if (component == "W_E" || component == "W_P" || component.starts_with("gain")) continue;
    InitialValues rule{.law = InitialValues::Law::uniform, .scale = 1, .per_input = true};
    if (block.columns == 1) {  // a bias: as its matrix; none in the text encoder, nor of LayerNorm
      if (options.text || component.starts_with("bias")) continue;
      const int inputs = component == "b_2" ? options.mlp_width : options.width;
      rule = {.law = InitialValues::Law::uniform, .scale = 1 / std::sqrt(inputs)};
    } else if (component == "W_dec" && options.text) {
      rule = {.law = InitialValues::Law::uniform, .scale = kSmall};
    }
    parameters.initialise(block.name, rule, address);
  }
  return network;
}

DeepRecord measure_deep(Transformer<float>& network, const DeepTask& task, std::uint64_t step) {
  DeepRecord record{.step = step};
  std::size_t sites = 0;
  double right = 0;
  for (const Batch& batch : task.test) {
    const auto own_sites = static_cast<double>(batch.sites.size());
    const networks::RowMatrix<float> logits = network.logits(batch);
    record.test_loss +=
        network.loss(batch, {logits.data(), logits.rows(), logits.cols(), logits.cols()}) *
        own_sites;
    for (std::size_t s = 0; s < batch.sites.size(); ++s) {
      const float* row = logits.row(static_cast<Index>(s)).data();
      if (std::max_element(row, row + task.outputs) - row != batch.targets[s]) continue;
      right += batch.weights.empty() ? 1 : batch.weights[s] * own_sites;
    }
    sites += batch.sites.size();
  }
  record.test_loss /= static_cast<double>(sites);
  record.accuracy = right / static_cast<double>(sites);
  network.forward(task.probe);
  const networks::TransformerShape& shape = network.shape();
  for (int layer = 0; layer < shape.layers; ++layer) {
    double entropy = 0;
    for (int head = 0; head < shape.heads; ++head) {
      entropy += networks::attention_entropy(network, layer, head) / shape.heads;
    }
    record.attention_entropy.push_back(entropy);
    const auto& parameters = std::as_const(network).parameters();
    const MatrixXd w1 = as_matrix(parameters.matrix(layer_block(layer, "W_1")));
    const MatrixXd w2 = as_matrix(parameters.matrix(layer_block(layer, "W_2")));
    record.stable_rank.push_back(networks::stable_rank(w1).value_or(0));
    record.cosine.push_back(networks::mean_abs_cosine(w2).value_or(0));
  }
  return record;
}

DeepRecord mean_start(const DeepNetwork& options,
                      const DeepTask& task,
                      const StreamAddress& run,
                      std::uint64_t starts) {
  DeepRecord mean;
  const auto share = 1 / static_cast<double>(starts);
  const auto add = [&](std::vector<double>& sum, const std::vector<double>& values) {
    sum.resize(values.size());
    for (std::size_t l = 0; l < values.size(); ++l) sum[l] += share * values[l];
  };
  for (std::uint64_t k = 0; k < starts; ++k) {
    StreamAddress start = run;
    start.replicate = run.replicate * starts + k;
    Transformer<float> network = deep_network(options, task, start);
    const DeepRecord record = measure_deep(network, task, 0);
    mean.test_loss += share * record.test_loss;
    add(mean.attention_entropy, record.attention_entropy);
    add(mean.stable_rank, record.stable_rank);
    add(mean.cosine, record.cosine);
  }
  return mean;
}

networks::TrainingResult train_deep(Transformer<float>& network,
                                    const DeepNetwork& options,
                                    const DeepTask& task,
                                    const std::vector<std::uint64_t>& recorded,
                                    const StreamAddress& run,
                                    const networks::KeptRecords& records,
                                    const std::function<bool()>& stop,
                                    const std::filesystem::path& file) {
  networks::Optimiser<float> optimiser(network.parameters(), deep_optimiser(options));
  Batch batch;
  const networks::TrainingPlan plan{.recorded = recorded,
                                    .stop = stop,
                                    .optimiser_reset_every = task.steps_per_epoch,
                                    .run = run};
  return networks::train_kept<float>(file,
                                     network.parameters(),
                                     network.gradient(),
                                     optimiser,
                                     plan,
                                     records,
                                     [&](std::uint64_t step) {
                                       task.fill(step, run, batch);
                                       StreamAddress dropout = run;
                                       dropout.id = StreamId::dropout;
                                       dropout.step = step;
                                       return network.loss_and_gradient(batch, dropout);
                                     });
}

LatentScore latent_score(const MatrixXd& active, const MatrixXd& hidden, const VectorXd& weights) {
  const auto standardised = [&](const MatrixXd& x) {
    MatrixXd y = x.rowwise() - weights.transpose() * x;
    for (Index j = 0; j < y.cols(); ++j) {
      const double norm = std::sqrt(weights.dot(VectorXd(y.col(j).cwiseAbs2())));
      constexpr double kConstant = 1e-12;
      if (norm > kConstant * std::max(1.0, x.col(j).cwiseAbs().maxCoeff())) {
        y.col(j) /= norm;
      } else {
        y.col(j).setZero();
      }
    }
    return y;
  };
  const MatrixXd latents = standardised(active);
  const MatrixXd correlations = latents.transpose() * weights.asDiagonal() * standardised(hidden);
  LatentScore result;
  int varying = 0;
  for (Index i = 0; i < latents.cols(); ++i) {
    if (latents.col(i).isZero(0)) {
      ++result.excluded;
      continue;
    }
    ++varying;
    result.each.push_back(correlations.row(i).maxCoeff());
    result.score += result.each.back();
  }
  if (varying > 0) result.score /= varying;
  return result;
}

double found_share(const LatentScore& score, const LatentScore& exchanged) {
  if (score.each.empty() || exchanged.each.empty()) return 0;
  const double chance = *std::max_element(exchanged.each.begin(), exchanged.each.end());
  const auto found =
      std::count_if(score.each.begin(), score.each.end(), [&](double x) { return x > chance; });
  return static_cast<double>(found) / static_cast<double>(score.each.size());
}

MatrixXd latent_activity(const LatentHierarchy& hierarchy, std::size_t level) {
  const std::vector<HierarchySequence>& classes = hierarchy.sequences();
  MatrixXd active =
      MatrixXd::Zero(static_cast<Index>(classes.size()), hierarchy.sizes().units[level]);
  for (std::size_t k = 0; k < classes.size(); ++k) {
    for (const int unit : classes[k].active[level]) active(static_cast<Index>(k), unit) = 1;
  }
  return active;
}

std::vector<MatrixXd> pooled_hidden(Transformer<float>& network, const DeepTask& task) {
  network.forward(task.probe);
  const Index length = task.length;
  std::vector<MatrixXd> all;
  for (int layer = 0; layer < network.shape().layers; ++layer) {
    const MatrixXd hidden = as_matrix(network.hidden(layer));
    MatrixXd& pooled = all.emplace_back(hidden.rows() / length, hidden.cols());
    for (Index k = 0; k < pooled.rows(); ++k) {
      pooled.row(k) = hidden.middleRows(k * length, length).colwise().maxCoeff();
    }
  }
  return all;
}

LatentScorer::LatentScorer(const LatentHierarchy& hierarchy, RandomStream stream)
    : weights_(VectorXd::Zero(hierarchy.sizes().classes)),
      order_(static_cast<std::size_t>(weights_.size())) {
  constexpr int kSamples = 1280;
  for (int i = 0; i < kSamples; ++i) {
    weights_[static_cast<Index>(stream.below(order_.size()))] += 1.0 / kSamples;
  }
  std::iota(order_.begin(), order_.end(), Index{0});
  for (std::size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[stream.below(i)]);
  }
  for (std::size_t level = 0; level < hierarchy.sizes().units.size(); ++level) {
    active_.push_back(latent_activity(hierarchy, level));
  }
}

LatentScore LatentScorer::score(const MatrixXd& hidden, std::size_t level, bool exchanged) const {
  if (!exchanged) return latent_score(active_[level], hidden, weights_);
  return latent_score(MatrixXd(active_[level](order_, Eigen::all)), hidden, weights_);
}

}  // namespace attica
