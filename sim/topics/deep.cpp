#include "attica/sim/topics/deep.hpp"

namespace attica {

using Network = networks::Transformer<float>;

std::vector<double> layer_squared_norms(const Network& network, const char* name) {
  std::vector<double> norms;
  for (const networks::Block* block : network.parameters().matching(name)) {
    norms.push_back(network.parameters().matrix(block->name).map().cast<double>().squaredNorm());
  }
  return norms;
}

Network deep_topic_network(const DeepTopicTraining& training, const StreamAddress& address) {
  Network network(training.shape);
  StreamAddress initial = address;
  initial.id = StreamId::initialisation;
  using Law = networks::InitialValues::Law;
  for (const char* name : {"W_V", "W_K", "W_Q", "W_dec"}) {
    network.parameters().initialise(name, {.law = Law::normal, .scale = training.start}, initial);
  }
  if (training.shape.embedding == networks::TokenEmbedding::learnt) {
    network.parameters().initialise(
        "W_E", {.law = Law::normal, .scale = 1, .per_input = true}, initial);
  }
  return network;
}

networks::TrainingResult train_deep_topics(
    const TopicModel& model,
    const DeepTopicTraining& training,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, Network&)>& observe,
    const std::function<bool()>& stop) {
  Network network = deep_topic_network(training, training.initial.value_or(address));
  networks::Optimiser<float> optimiser(network.parameters(), training.optimiser);
  networks::TrainingState state;
  networks::TrainingPlan plan{.recorded = training.recorded};
  plan.observe = [&](const networks::TrainingRecord& record, networks::TrainingState&) {
    observe(record.step, network);
  };
  plan.stop = stop;
  const TopicSampler sampler(model);
  TopicDocument document;
  networks::Batch batch;
  return networks::train<float>(
      network.parameters(), network.gradient(), optimiser, state, plan, [&](std::uint64_t step) {
        StreamAddress own = address;
        own.step = step;
        RandomStream stream(own);
        DocumentDraws draws = sampler.draws(stream);
        batch = {};
        const double share = 1 / static_cast<double>(training.batch);
        const std::vector<TopicDocument>& stored = training.documents;
        if (stored.empty()) {
          for (Eigen::Index b = 0; b < training.batch; ++b) {
            sampler.draw(draws, document);
            append(document, share, batch);
          }
        } else {  // each document once, weighted by how often it was drawn
          std::vector<int> counts(stored.size());
          for (Eigen::Index b = 0; b < training.batch; ++b) ++counts[stream.below(counts.size())];
          for (std::size_t d = 0; d < counts.size(); ++d) {
            if (counts[d] > 0) append(stored[d], share * counts[d], batch);
          }
        }
        return network.loss_and_gradient(batch);
      });
}

}  // namespace attica
