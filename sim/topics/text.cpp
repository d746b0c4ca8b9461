#include "attica/sim/topics/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/sim/topics/documents.hpp"

namespace attica {

using Eigen::Index;
using Network = networks::Transformer<float>;

namespace {

/// Rows of the embedding of the listed words.
Eigen::MatrixXd embeddings(const Network& network, const std::vector<std::int32_t>& words) {
  const auto table = network.parameters().matrix("W_E").map();
  Eigen::MatrixXd rows(static_cast<Index>(words.size()), table.cols());
  for (Index k = 0; k < rows.rows(); ++k) {
    rows.row(k) = table.row(words[static_cast<std::size_t>(k)] + 1).cast<double>();
  }
  return rows;
}

std::string letters(Index number) {
  std::string name(2, 'a');
  name[0] = static_cast<char>('a' + number / 26 % 26);
  name[1] = static_cast<char>('a' + number % 26);
  return name;
}

}  // namespace

networks::TransformerShape text_shape(Index words, const TextTraining& training) {
  return {.vocabulary = static_cast<int>(words) + 1,
          .outputs = static_cast<int>(words) + 1,
          .length = 256,
          .width = training.width,
          .layers = training.layers,
          .heads = training.heads,
          .position = networks::PositionCode::none,
          .output_projection = false,
          .residual = training.layers > 1,
          .decoder = training.tied ? networks::Decoder::tied : networks::Decoder::free,
          .loss = networks::Loss::cross_entropy};
}

std::unique_ptr<Network> text_network(Index words,
                                      const TextTraining& training,
                                      const StreamAddress& address) {
  using Law = networks::InitialValues::Law;
  constexpr double kEmbedding = 0.1;
  auto network = std::make_unique<Network>(text_shape(words, training));
  StreamAddress own = address;
  own.id = StreamId::initialisation;
  auto& parameters = network->parameters();
  parameters.initialise("W_E", {.law = Law::normal, .scale = kEmbedding}, own);
  for (const char* name : {"W_Q", "W_K", "W_V"}) {
    parameters.initialise(name, {.law = Law::normal, .scale = 1, .per_input = true}, own);
  }
  if (!training.tied) {
    parameters.initialise("W_dec", {.law = Law::normal, .scale = kEmbedding}, own);
  }
  return network;
}

networks::TrainingResult train_text(Network& network,
                                    const std::vector<std::vector<std::int32_t>>& documents,
                                    const TextTraining& training,
                                    const StreamAddress& address,
                                    const std::function<bool()>& stop) {
  networks::Optimiser<float> optimiser(network.parameters(),
                                       {.learning_rate = training.learning_rate});
  networks::TrainingState state;
  networks::TrainingPlan plan{.recorded = {static_cast<std::uint64_t>(training.steps)}};
  plan.stop = stop;
  networks::Batch batch;
  TopicDocument document;
  const auto words = static_cast<std::uint64_t>(network.shape().vocabulary) - 1;
  const auto step = [&](std::uint64_t n) {
    StreamAddress own = address;
    own.id = StreamId::minibatch;
    own.step = n;
    RandomStream stream(own);
    DocumentDraws draws(stream, training.mask_rate);
    batch = {};
    for (std::int64_t b = 0; b < training.batch; ++b) {
      const auto& chosen = documents[stream.below(documents.size())];
      document.truth.assign(chosen.begin(), chosen.end());
      for (std::int32_t& token : document.truth) ++token;
      document.shown = document.truth;
      draws.select(document.truth.size(), document.selected);
      for (const std::int32_t j : document.selected) {
        const double u = stream.uniform();
        if (u < training.keep_rate) continue;
        document.shown[static_cast<std::size_t>(j)] =
            u < training.keep_rate + training.random_rate
                ? static_cast<std::int32_t>(1 + stream.below(words))
                : 0;
      }
      append(document, 1 / static_cast<double>(training.batch), batch);
    }
    return network.loss_and_gradient(batch);
  };
  return networks::train<float>(
      network.parameters(), network.gradient(), optimiser, state, plan, step);
}

PairValues embedding_products(const Network& network, const std::vector<std::int32_t>& words) {
  const Eigen::MatrixXd rows = embeddings(network, words);
  return {rows * rows.transpose(), Eigen::MatrixXd::Ones(rows.rows(), rows.rows())};
}

PairValues embedding_cosines(const Network& network, const std::vector<std::int32_t>& words) {
  const Eigen::MatrixXd rows = embeddings(network, words).rowwise().normalized();
  return {rows * rows.transpose(), Eigen::MatrixXd::Ones(rows.rows(), rows.rows())};
}

PairValues TextAttention::by_words() const {
  return {sum.array() / count.array().max(1), count.cwiseMin(1)};
}

PairValues TextAttention::by_positions() const {
  return {sum.array() / count.array().max(1), count};
}

double TextAttention::same_word() const { return sum.diagonal().sum() / count.diagonal().sum(); }

std::vector<TextAttention> text_attention(Network& network,
                                          const std::vector<std::vector<std::int32_t>>& documents,
                                          const std::vector<std::int32_t>& words) {
  std::map<std::int32_t, Index> place;
  for (std::size_t k = 0; k < words.size(); ++k) place[words[k]] = static_cast<Index>(k);
  const auto n = static_cast<Index>(words.size());
  const int heads = network.shape().heads;
  std::vector<TextAttention> attention(static_cast<std::size_t>(network.shape().layers * heads),
                                       {Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Zero(n, n)});
  for (const auto& document : documents) {
    networks::Batch batch;
    batch.tokens.assign(document.begin(), document.end());
    for (std::int32_t& token : batch.tokens) ++token;
    batch.offsets = {0, static_cast<std::int32_t>(batch.tokens.size())};
    networks::set_all_sites(batch);
    batch.targets.assign(batch.sites.size(), 0);
    network.forward(batch);
    std::vector<std::pair<Index, Index>> listed;  // position, place
    for (std::size_t j = 0; j < document.size(); ++j) {
      const auto at = place.find(document[j]);
      if (at != place.end()) listed.emplace_back(static_cast<Index>(j), at->second);
    }
    const auto length = static_cast<double>(document.size());
    for (int head = 0; head < static_cast<int>(attention.size()); ++head) {
      const auto weights = network.attention(head / heads, head % heads, 0).map();
      TextAttention& own = attention[static_cast<std::size_t>(head)];
      for (const auto& [query, i] : listed) {
        for (const auto& [key, j] : listed) {
          if (query == key) continue;
          own.sum(i, j) += length * static_cast<double>(weights(query, key));
          own.count(i, j) += 1;
        }
      }
    }
  }
  return attention;
}

TextAttention mean_attention(const std::vector<TextAttention>& heads) {
  TextAttention mean = heads.front();
  for (std::size_t k = 1; k < heads.size(); ++k) mean.sum += heads[k].sum;
  mean.sum /= static_cast<double>(heads.size());
  return mean;
}

std::string planted_text(Index topics,
                         Index words_per_topic,
                         Index documents,
                         Index length,
                         double concentration,
                         RandomStream& stream) {
  const TopicSampler weights(TopicModel({.vocabulary = {topics, words_per_topic},
                                         .prior = TopicPrior::dirichlet,
                                         .concentration = concentration,
                                         .length = {{length, length}}}));
  std::string text;
  DocumentDraws draws = weights.draws(stream);
  TopicDocument document;
  const auto topic_of = [&](std::int32_t token) { return (token - 1) / words_per_topic; };
  for (Index d = 0; d < documents; ++d) {
    weights.draw(draws, document);
    for (const std::int32_t token : document.truth) {
      text += letters(topic_of(token)) + "x" + letters((token - 1) % words_per_topic) + " ";
    }
    text += "\n\n";
  }
  return text;
}

std::string planted_topic(const std::string& word) { return word.substr(0, 2); }

double topic_purity(const TopicWords& chosen, const std::vector<std::string>& vocabulary) {
  std::map<std::int32_t, std::map<std::string, double>> counts;
  for (std::size_t k = 0; k < chosen.words.size(); ++k) {
    counts[chosen.topics[k]]
          [planted_topic(vocabulary[static_cast<std::size_t>(chosen.words[k])])] += 1;
  }
  double pure = 0;
  for (const auto& [topic, names] : counts) {
    double most = 0;
    for (const auto& [name, count] : names) most = std::max(most, count);
    pure += most;
  }
  return pure / static_cast<double>(chosen.words.size());
}

}  // namespace attica
