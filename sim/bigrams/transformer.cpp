#include "attica/sim/bigrams/transformer.hpp"

#include <algorithm>
#include <cmath>

#include "attica/sim/networks/transformer.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Network = networks::Transformer<float>;

networks::TransformerShape shape_of(const BigramModel& model, const BigramTransformerTask& task) {
  return {.vocabulary = static_cast<int>(model.tokens()),
          .outputs = static_cast<int>(model.tokens()),
          .length = static_cast<int>(model.context()) + 1,
          .width = task.width,
          .heads = task.heads,
          .mlp_width = task.mlp_width,
          .normalisation =
              task.layer_norm ? networks::Normalisation::pre : networks::Normalisation::none};
}

void start(Network& network, StreamAddress address) {
  address.id = StreamId::initialisation;
  const auto width = static_cast<double>(network.shape().width);
  for (const char* table : {"W_E", "W_P"}) {
    network.parameters().initialise(table, {.scale = 1 / std::sqrt(width)}, address);
  }
  for (const char* matrix : {"W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"}) {
    network.parameters().initialise(matrix, {.scale = 1, .per_input = true}, address);
  }
}

/// Sequences x_1..x_T, k, the loss at k.
networks::Batch draw_batch(const BigramModel& model,
                           const BigramSampler& sampler,
                           std::int64_t sequences,
                           const StreamAddress& address) {
  RandomStream stream(address);
  const auto context = static_cast<std::size_t>(model.context());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(model.tokens()));
  sampler.draw_counts(sequences, counts, stream);
  std::vector<Token> tokens(context);
  networks::Batch batch;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::int64_t i = 0; i < counts[k]; ++i) {
      const Token next = sampler.draw(static_cast<Index>(k), tokens, stream);
      batch.tokens.insert(batch.tokens.end(), tokens.begin(), tokens.end());
      batch.tokens.push_back(static_cast<std::int32_t>(k));
      batch.sites.push_back(static_cast<std::int32_t>(batch.tokens.size()) - 1);
      batch.targets.push_back(next);
    }
  }
  networks::set_equal_lengths(batch, static_cast<int>(context) + 1);
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

/// The batch as several of at most `most` sequences each.
std::vector<networks::Batch> in_pieces(const networks::Batch& batch, int length, std::size_t most) {
  std::vector<networks::Batch> pieces;
  for (std::size_t first = 0; first < batch.sequences(); first += most) {
    const std::size_t last = std::min(first + most, batch.sequences());
    networks::Batch& piece = pieces.emplace_back();
    piece.tokens.assign(batch.tokens.begin() + batch.offsets[first],
                        batch.tokens.begin() + batch.offsets[last]);
    for (std::size_t i = first; i < last; ++i) {
      piece.sites.push_back(batch.sites[i] - batch.offsets[first]);
      piece.targets.push_back(batch.targets[i]);
    }
    networks::set_equal_lengths(piece, length);
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

/// Adds what these test sequences, of `sequences` in all, tell.
void add_measured(BigramTransformerRecord& record,
                  const BigramModel& model,
                  Network& network,
                  const networks::Batch& test,
                  double sequences) {
  const auto logits = network.forward(test).map();
  for (std::size_t i = 0; i < test.sequences(); ++i) {
    const std::int32_t* tokens = test.tokens.data() + test.offsets[i];
    const VectorXd law = next_law(model, tokens);
    const VectorXd scores = logits.row(static_cast<Index>(i)).transpose().cast<double>();
    const double top = scores.maxCoeff();
    const VectorXd found =
        (scores.array() - top - std::log((scores.array() - top).exp().sum())).matrix();
    for (Index m = 0; m < law.size(); ++m) {
      if (law[m] > 0) record.excess_loss += law[m] * (std::log(law[m]) - found[m]) / sequences;
    }
    record.loss -= found[test.targets[i]] / sequences;
    record.bayes_loss -= std::log(law[test.targets[i]]) / sequences;
    record.unigram_loss -= std::log(model.stationary()[test.targets[i]]) / sequences;
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(tokens[model.context()])];
    for (const double a : best_attention(network, i, q.positions)) record.overlap += a / sequences;
  }
}

}  // namespace

networks::TrainingResult train_bigram_transformer(
    const BigramModel& model,
    const BigramTransformerTask& task,
    const StreamAddress& address,
    const std::filesystem::path& file,
    const std::stop_token& stop,
    const std::function<void(const BigramTransformerRecord&)>& look) {
  const BigramSampler sampler(model);
  Network network(shape_of(model, task));
  start(network, address);
  networks::Optimiser<float> optimiser(network.parameters(), task.optimiser);
  StreamAddress tests = address;
  tests.id = StreamId::test_data;
  const std::vector<networks::Batch> test =
      in_pieces(draw_batch(model, sampler, task.test_sequences, tests),
                static_cast<int>(model.context()) + 1,
                kBigramTestPiece);
  const auto measure = [&](std::uint64_t) {
    BigramTransformerRecord r;
    for (const networks::Batch& piece : test)
      add_measured(r, model, network, piece, static_cast<double>(task.test_sequences));
    return std::vector<double>{r.loss, r.excess_loss, r.bayes_loss, r.overlap, r.unigram_loss};
  };
  const auto tell = [&](std::uint64_t step, const std::vector<double>& values) {
    look({step, values[0], values[1], values[2], values[3], values[4]});
  };
  return networks::train_kept<float>(
      file,
      network.parameters(),
      network.gradient(),
      optimiser,
      {.recorded = task.steps, .stop = [&] { return stop.stop_requested(); }, .run = address},
      {.measure = measure, .tell = tell},
      [&](std::uint64_t step) {
        StreamAddress batch = address;
        batch.id = StreamId::minibatch;
        batch.step = step;
        return network.loss_and_gradient(draw_batch(model, sampler, task.batch, batch));
      });
}

}  // namespace attica
