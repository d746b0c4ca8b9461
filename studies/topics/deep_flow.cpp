#include "attica/studies/topics/deep_flow.hpp"

#include <cmath>
#include <utility>

#include "attica/studies/training_flow.hpp"

namespace attica {
namespace {

/// All documents as one batch, each of the same weight.
networks::Batch batch_of(const std::vector<TopicDocument>& documents) {
  networks::Batch batch;
  for (const TopicDocument& document : documents) {
    append(document, 1 / static_cast<double>(documents.size()), batch);
  }
  return batch;
}

/// A sample is a document with all its selected positions.
std::unique_ptr<networks::TransformerPopulation<double>> population_of(
    const networks::TransformerShape& shape, const std::vector<TopicDocument>& documents) {
  const auto count = static_cast<Eigen::Index>(documents.size());
  networks::Batch batch = batch_of(documents);
  std::vector<networks::PopulationTerm> terms;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    for (std::size_t k = 0; k < documents[d].selected.size(); ++k) {
      const std::size_t site = terms.size();
      terms.push_back({.site = static_cast<std::int32_t>(site),
                       .target = batch.targets[site],
                       .sample = static_cast<std::int32_t>(d),
                       .factor = 1 / static_cast<double>(documents[d].selected.size())});
    }
  }
  return std::make_unique<networks::TransformerPopulation<double>>(
      networks::Transformer<double>(shape),
      std::move(batch),
      std::move(terms),
      Eigen::VectorXd::Constant(count, 1 / static_cast<double>(count)));
}

/// Adam from one start.
class SmallTopicFlow : public TransformerFlow {
 public:
  SmallTopicFlow(const TopicModel& model,
                 const DeepTopicTraining& training,
                 std::uint64_t runs,
                 int pairs)
      : TransformerFlow(deep_topic_network(training, *training.initial),
                        training.optimiser,
                        training.batch,
                        training.recorded),
        model_(model),
        training_(training),
        population_(population_of(training.shape, training.documents)),
        runs_(runs),
        pairs_(pairs) {
    for (const char* name : {"W_V", "W_K", "W_Q"}) {
      measure("small_norm", {{"block", name}}, [name](auto& network) {
        double sum = 0;
        const auto& parameters = network.parameters();
        for (const networks::Block* block : parameters.matching(name)) {
          sum += parameters.matrix(block->name).map().template cast<double>().squaredNorm();
        }
        return std::sqrt(sum);
      });
    }
    add_all_directions(point());
  }

  Point point() const override { return {{"adam_epsilon", training_.optimiser.epsilon}}; }
  const networks::TransformerPopulation<double>& population() const override {
    return *population_;
  }
  TheoryMethod method() const override {
    return {.kind = TheoryMethod::Kind::pairs, .pairs = pairs_};
  }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    return mean_of_runs(
        runs_,
        training_.recorded,
        replicate,
        record,
        [&](const StreamAddress& run, const std::function<void(const std::vector<double>&)>& tell) {
          return train_deep_topics(
              model_,
              training_,
              run,
              [&](std::uint64_t, networks::Transformer<float>& network) { tell(values(network)); },
              [&] { return replicate.stopped(); });
        });
  }

  double flops() const override {
    const auto width = static_cast<double>(training_.shape.width);
    return 18 * width * width *
           static_cast<double>(training_.shape.layers * training_.batch * training_.shape.length) *
           static_cast<double>(training_.recorded.back() * runs_);
  }

 protected:
  double loss(networks::Transformer<float>& network) const override {
    return network.loss(all_samples());
  }
  networks::Batch all_samples() const override { return batch_of(training_.documents); }

 private:
  TopicModel model_;
  DeepTopicTraining training_;
  std::unique_ptr<networks::TransformerPopulation<double>> population_;
  std::uint64_t runs_;
  int pairs_;
};

}  // namespace

std::unique_ptr<Experiment> make_deep_topic_flow(const Configuration& c,
                                                 const DeepTopicTraining& large) {
  TopicSettings settings = topic_settings(c);
  settings.vocabulary = {.topics = c.integer("model.small_topics"),
                         .words = c.integer("model.small_words")};
  const TopicModel model = at_length(settings, c.integer("model.small_length"));
  const auto tokens = static_cast<int>(model.vocabulary().size());
  DeepTopicTraining training = large;
  training.start = c.real("model.small_deviation");
  training.batch = c.integer("sim.small_batch");
  training.recorded.clear();
  for (const std::int64_t step : ascending(c.integers("sim.small_steps"))) {
    training.recorded.push_back(static_cast<std::uint64_t>(step));
  }
  networks::TransformerShape& shape = training.shape;
  shape.vocabulary = shape.outputs = tokens;
  shape.length = c.integer<int>("model.small_length");
  shape.layers = c.integer<int>("model.small_layers");
  shape.heads = c.integer<int>("model.small_heads");
  shape.width = (tokens + shape.heads - 1) / shape.heads * shape.heads;
  training.optimiser.learning_rate = c.real("sim.small_eta");
  // The same at every seed of the study.
  const auto start = c.integer<std::uint64_t>("model.small_start");
  training.initial = StreamAddress{.seed = start};
  RandomStream stream({.seed = start, .id = StreamId::test_data});
  const TopicSampler sampler(model);
  DocumentDraws draws = sampler.draws(stream);
  training.documents.resize(c.integer<std::size_t>("model.small_documents"));
  for (TopicDocument& document : training.documents) sampler.draw(draws, document);
  const std::vector<double> epsilons = c.reals("sweep.adam_epsilon");
  return std::make_unique<TrainingFlow>(
      epsilons.size(),
      [=,
       runs = c.integer<std::uint64_t>("sim.small_runs"),
       pairs = c.integer<int>("theory.pairs")](std::size_t k) -> std::unique_ptr<FlowTraining> {
        DeepTopicTraining one = training;
        one.optimiser.epsilon = epsilons[k];
        return std::make_unique<SmallTopicFlow>(model, one, runs, pairs);
      });
}

}  // namespace attica
