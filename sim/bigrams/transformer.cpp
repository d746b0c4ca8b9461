#include "attica/sim/bigrams/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sim/networks/distinct_sequences.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Network = networks::Transformer<float>;

/// Sequences x_1..x_T, k, the loss at k. One that repeats with the same next token is there once.
networks::Batch draw_batch(const BigramModel& model,
                           const BigramSampler& sampler,
                           std::int64_t sequences,
                           const StreamAddress& address) {
  RandomStream stream(address);
  const auto context = static_cast<std::size_t>(model.context());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(model.tokens()));
  sampler.draw_counts(sequences, counts, stream);
  std::vector<Token> tokens(context);
  std::vector<std::int32_t> sequence(context + 1);
  networks::Batch batch;
  networks::DistinctSequences samples(batch, 1 / static_cast<double>(sequences));
  for (std::size_t k = 0; k < counts.size(); ++k) {
    sequence.back() = static_cast<std::int32_t>(k);
    for (std::int64_t i = 0; i < counts[k]; ++i) {
      const Token next = sampler.draw(static_cast<Index>(k), tokens, stream);
      std::ranges::copy(tokens, sequence.begin());
      samples.add(sequence, next);
    }
  }
  return batch;
}

/// The law of the next token of a sequence.
VectorXd next_law(const BigramModel& model, const std::int32_t* tokens) {
  const SparseColumn& q = model.attention()[static_cast<std::size_t>(tokens[model.context()])];
  VectorXd law = VectorXd::Zero(model.tokens());
  for (std::size_t j = 0; j < q.positions.size(); ++j) {
    law += q.weights[j] * model.transition().col(tokens[q.positions[j]]);
  }
  return law;
}

/// log softmax of a row of logits.
VectorXd log_law(const Eigen::VectorXf& logits) {
  const VectorXd scores = logits.cast<double>();
  const double top = scores.maxCoeff();
  return scores.array() - top - std::log((scores.array() - top).exp().sum());
}

/// The batch as several of at most `most` sequences each.
std::vector<networks::Batch> in_pieces(const networks::Batch& batch, std::size_t most) {
  std::vector<networks::Batch> pieces;
  for (std::size_t first = 0; first < batch.sequences(); first += most) {
    pieces.push_back(networks::part_of(batch, first, std::min(first + most, batch.sequences())));
  }
  return pieces;
}

/// Attention of sequence i's last token at these positions, of the head with most there: one head
/// is enough, and others may look elsewhere.
VectorXd best_attention(const Network& network,
                        std::size_t i,
                        const std::vector<Index>& positions) {
  VectorXd best = VectorXd::Zero(std::ssize(positions));
  for (int head = 0; head < network.shape().heads; ++head) {
    const auto attention = network.attention(0, head, i).map();
    VectorXd found(std::ssize(positions));
    for (Index j = 0; j < found.size(); ++j)
      found[j] = static_cast<double>(attention(0, positions[static_cast<std::size_t>(j)]));
    if (found.sum() > best.sum()) best = found;
  }
  return best;
}

/// Adds what these test sequences tell, as much as they weigh.
void add_measured(BigramTransformerRecord& record,
                  const BigramModel& model,
                  Network& network,
                  const networks::Batch& test) {
  const auto logits = network.forward(test).map();
  for (std::size_t i = 0; i < test.sequences(); ++i) {
    const std::int32_t* tokens = test.tokens.data() + test.offsets[i];
    const double share = test.weights[i];
    const VectorXd law = next_law(model, tokens);
    const VectorXd found = log_law(logits.row(static_cast<Index>(i)).transpose());
    for (Index m = 0; m < law.size(); ++m) {
      if (law[m] > 0) record.excess_loss += share * law[m] * (std::log(law[m]) - found[m]);
    }
    record.loss -= share * found[test.targets[i]];
    record.bayes_loss -= share * std::log(law[test.targets[i]]);
    record.unigram_loss -= share * std::log(model.stationary()[test.targets[i]]);
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(tokens[model.context()])];
    for (const double a : best_attention(network, i, q.positions)) record.overlap += share * a;
  }
}

}  // namespace

double bigram_sequences(const BigramModel& model) {
  return std::pow(static_cast<double>(model.tokens()), static_cast<double>(model.context()) + 1);
}

networks::TransformerShape bigram_transformer_shape(const BigramModel& model,
                                                    const BigramTransformerTask& task) {
  return {.vocabulary = static_cast<int>(model.tokens()),
          .outputs = static_cast<int>(model.tokens()),
          .length = static_cast<int>(model.context()) + 1,
          .width = task.width,
          .heads = task.heads,
          .mlp_width = task.mlp_width,
          .normalisation =
              task.layer_norm ? networks::Normalisation::pre : networks::Normalisation::none,
          .activation = task.activation};
}

Network bigram_transformer_start(const BigramModel& model,
                                 const BigramTransformerTask& task,
                                 const StreamAddress& address) {
  Network network(bigram_transformer_shape(model, task));
  StreamAddress initial = address;
  initial.id = StreamId::initialisation;
  const auto width = static_cast<double>(task.width);
  for (const char* table : {"W_E", "W_P"}) {
    network.parameters().initialise(table, {.scale = 1 / std::sqrt(width)}, initial);
  }
  for (const char* matrix : {"W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"}) {
    network.parameters().initialise(matrix, {.scale = 1, .per_input = true}, initial);
  }
  network.parameters().initialise("W_dec", {.scale = task.decoder, .per_input = true}, initial);
  return network;
}

BigramPopulation::BigramPopulation(const BigramModel& model) : model_(model) {
  require(bigram_sequences(model) <= kMostSequences,
          "model.context",
          static_cast<double>(model.context()),
          fmt::format("N^(T+1) <= {:g} sequences to enumerate", kMostSequences));
  const Index tokens = model.tokens();
  const Index length = model.context() + 1;
  const auto count = static_cast<Index>(std::lround(bigram_sequences(model)));
  shares_.setOnes(count);
  laws_.resize(tokens, count);
  for (Index i = 0; i < count; ++i) {
    Index rest = i;  // its digits to base N are the tokens
    for (Index t = 0; t < length; ++t, rest /= tokens) {
      const Index token = rest % tokens;
      inputs_.tokens.push_back(static_cast<std::int32_t>(token));
      shares_[i] *= model.stationary()[token];
    }
    inputs_.sites.push_back(static_cast<std::int32_t>(inputs_.tokens.size()) - 1);
    laws_.col(i) = next_law(model, inputs_.tokens.data() + i * length);
  }
  inputs_.targets.assign(inputs_.sites.size(), 0);
  networks::set_equal_lengths(inputs_, static_cast<int>(length));
}

std::unique_ptr<networks::TransformerPopulation<double>> BigramPopulation::population(
    const networks::TransformerShape& shape) const {
  return networks::labelled_population(shape, inputs_, shares_.asDiagonal() * laws_.transpose());
}

networks::Batch BigramPopulation::all_samples() const {
  networks::Batch batch;
  const Index length = model_.context() + 1;
  for (Index i = 0; i < laws_.cols(); ++i) {
    const auto sequence = inputs_.tokens.begin() + i * length;
    for (Index next = 0; next < laws_.rows(); ++next) {
      batch.tokens.insert(batch.tokens.end(), sequence, sequence + length);
      batch.sites.push_back(static_cast<std::int32_t>(batch.tokens.size()) - 1);
      batch.targets.push_back(static_cast<std::int32_t>(next));
      batch.weights.push_back(shares_[i] * laws_(next, i));
    }
  }
  networks::set_equal_lengths(batch, static_cast<int>(length));
  return batch;
}

double BigramPopulation::loss(Network& network) const {
  const networks::RowMatrix<float> logits = network.logits(inputs_);
  double sum = 0;
  for (Index i = 0; i < laws_.cols(); ++i) {
    sum -= shares_[i] * laws_.col(i).dot(log_law(logits.row(i).transpose()));
  }
  return sum;
}

template <class T>
double BigramPopulation::attention(networks::Transformer<T>& network) const {
  network.forward(inputs_);
  const int heads = network.shape().heads;
  double sum = 0;
  for (Index i = 0; i < shares_.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const std::int32_t last = inputs_.tokens[static_cast<std::size_t>(inputs_.sites[place])];
    for (int head = 0; head < heads; ++head) {
      const auto weights = network.attention(0, head, place).map();
      for (const Index t : model_.attention()[static_cast<std::size_t>(last)].positions) {
        sum += shares_[i] * static_cast<double>(weights(0, t)) / heads;
      }
    }
  }
  return sum;
}

template double BigramPopulation::attention(networks::Transformer<float>&) const;
template double BigramPopulation::attention(networks::Transformer<double>&) const;

networks::TrainingResult train_bigram_transformer(Network& network,
                                                  const BigramModel& model,
                                                  const BigramTransformerTask& task,
                                                  const StreamAddress& address,
                                                  const std::filesystem::path& file,
                                                  const std::stop_token& stop,
                                                  const networks::KeptRecords& records) {
  const BigramSampler sampler(model);
  networks::Optimiser<float> optimiser(network.parameters(), task.optimiser);
  return networks::train_kept<float>(
      file,
      network.parameters(),
      network.gradient(),
      optimiser,
      {.recorded = task.steps, .stop = [&] { return stop.stop_requested(); }, .run = address},
      records,
      [&](std::uint64_t step) {
        StreamAddress batch = address;
        batch.id = StreamId::minibatch;
        batch.step = step;
        return network.loss_and_gradient(draw_batch(model, sampler, task.batch, batch));
      });
}

networks::TrainingResult train_bigram_transformer(
    const BigramModel& model,
    const BigramTransformerTask& task,
    const StreamAddress& address,
    const std::filesystem::path& file,
    const std::stop_token& stop,
    const std::function<void(const BigramTransformerRecord&)>& look) {
  Network network = bigram_transformer_start(model, task, address);
  StreamAddress tests = address;
  tests.id = StreamId::test_data;
  const std::vector<networks::Batch> test = in_pieces(
      draw_batch(model, BigramSampler(model), task.test_sequences, tests), kBigramTestPiece);
  const auto measure = [&](std::uint64_t) {
    BigramTransformerRecord r;
    for (const networks::Batch& piece : test) add_measured(r, model, network, piece);
    return std::vector<double>{r.loss, r.excess_loss, r.bayes_loss, r.overlap, r.unigram_loss};
  };
  const auto tell = [&](std::uint64_t step, const std::vector<double>& values) {
    look({step, values[0], values[1], values[2], values[3], values[4]});
  };
  return train_bigram_transformer(
      network, model, task, address, file, stop, {.measure = measure, .tell = tell});
}

}  // namespace attica
