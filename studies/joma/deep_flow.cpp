#include "attica/studies/joma/deep_flow.hpp"

#include <utility>

#include "attica/sim/joma/tree_population.hpp"
#include "attica/sim/networks/measures.hpp"
#include "attica/studies/training_flow.hpp"
#include "attica/theory/joma/latent_tree.hpp"

namespace attica {
namespace {

/// The tree, what is drawn from it, and all that could be drawn.
struct SmallTask {
  SmallTask(const LatentTree& tree, int batch)
      : sampler(tree),
        task(tree_task(
            sampler,
            batch,
            {{.label = 0, .leaves = std::vector<int>(static_cast<std::size_t>(tree.leaves()))}})),
        population(sampler, sequence_law(tree)) {}

  LatentTreeSampler sampler;
  DeepTask task;
  TreePopulation population;
};

/// How they are trained, and what is recorded of them.
struct SmallTraining {
  std::int64_t batch = 0;
  std::vector<std::uint64_t> recorded;
  std::uint64_t runs = 1;  ///< of a replicate
  int pairs = 0;           ///< of the theory
};

/// Adam from one start.
class SmallFlow : public TransformerFlow {
 public:
  SmallFlow(std::shared_ptr<const SmallTask> problem,
            const DeepNetwork& options,
            const networks::Transformer<float>& start,
            const SmallTraining& plan,
            Point point)
      : TransformerFlow(start, deep_optimiser(options), plan.batch, plan.recorded),
        problem_(std::move(problem)),
        options_(options),
        model_(problem_->population.model(start.shape())),
        training_(plan),
        point_(std::move(point)) {
    const TreePopulation& population = problem_->population;
    for (int layer = 0; layer < options.layers; ++layer) {
      const Point of_layer = {{"layer", numbered(static_cast<std::size_t>(layer))}};
      const std::string name = "layer" + std::to_string(layer);
      measure("small_entropy", of_layer, [&population, layer](auto& network) {
        return population.attention_entropy(network, layer);
      });
      measure("small_rank", of_layer, [name](auto& network) {
        return networks::stable_rank(
                   network.parameters().matrix(name + ".W_1").map().template cast<double>())
            .value_or(0);
      });
    }
    for (const char* block : {"W_E", "layer0.W_Q", "layer0.W_V", "layer0.W_1", "W_dec"}) {
      measure_square(block);
    }
    add_all_directions(point_);
  }

  Point point() const override { return point_; }
  const networks::TransformerPopulation<double>& population() const override { return *model_; }
  TheoryMethod method() const override {
    return {.kind = TheoryMethod::Kind::pairs, .pairs = training_.pairs};
  }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    return mean_of_runs(
        training_.runs,
        training_.recorded,
        replicate,
        record,
        [&](const StreamAddress& run, const std::function<void(const std::vector<double>&)>& tell) {
          networks::Transformer<float> network = start();
          return train_deep(
              network,
              options_,
              problem_->task,
              training_.recorded,
              run,
              {.measure = [&](std::uint64_t) { return values(network); },
               .tell = [&](std::uint64_t, const std::vector<double>& values) { tell(values); }},
              [&] { return replicate.stopped(); });
        });
  }

  double flops() const override {
    const auto width = static_cast<double>(options_.width);
    return 30 * width * width * static_cast<double>(options_.layers * training_.batch) *
           static_cast<double>(problem_->task.length) *
           static_cast<double>(training_.recorded.back() * training_.runs);
  }

 protected:
  double loss(networks::Transformer<float>& network) const override {
    return problem_->population.loss(network);
  }
  networks::Batch all_samples() const override { return problem_->population.labelled(); }

 private:
  std::shared_ptr<const SmallTask> problem_;
  DeepNetwork options_;
  std::unique_ptr<networks::TransformerPopulation<double>> model_;
  SmallTraining training_;
  Point point_;
};

}  // namespace

LatentTree deep_tree(const Configuration& c, const char* depth) {
  constexpr double kLow = 0.1;  // q_{a,k}
  constexpr double kHigh = 0.9;
  return bit_tree(
      c.integer<int>(depth), c.integer<int>("model.classes"), c.real("model.rho"), kLow, kHigh);
}

DeepNetwork deep_options(const Configuration& c) {
  return {.text = c.has("model.file"),
          .layers = c.integer<int>("model.layers"),
          .heads = c.integer<int>("model.heads"),
          .causal = c.text("model.mask") == "causal",
          .dropout = c.real("sim.dropout"),
          .lambda = c.real("sim.lambda"),
          .clip = c.real("sim.clip")};
}

std::unique_ptr<Experiment> make_deep_flow(const Configuration& c) {
  DeepNetwork network = deep_options(c);
  network.dropout = 0;
  network.epsilon = c.real("sim.small_epsilon");
  network.activation = activation_of(c, "model.small_activation");
  SmallTraining plan{.batch = c.integer("sim.small_batch"),
                     .recorded = {},
                     .runs = c.integer<std::uint64_t>("sim.small_runs"),
                     .pairs = c.integer<int>("theory.pairs")};
  for (const std::int64_t step : ascending(c.integers("sim.small_steps"))) {
    plan.recorded.push_back(static_cast<std::uint64_t>(step));
  }
  const std::vector<std::int64_t> widths = ascending(c.integers("model.small_width"));
  for (const std::int64_t width : widths) {
    require(width % network.heads == 0,
            "model.small_width",
            static_cast<double>(width),
            "a multiple of model.heads");
  }
  const std::vector<double> rates = ascending(c.reals("sim.small_eta"));
  const std::vector<std::int64_t> starts = ascending(c.integers("model.small_starts"));
  auto problem = std::make_shared<Lazy<std::shared_ptr<const SmallTask>>>(
      [tree = deep_tree(c, "model.small_depth"), batch = plan.batch] {
        return std::make_shared<const SmallTask>(tree, static_cast<int>(batch));
      });
  return std::make_unique<TrainingFlow>(
      rates.size() * widths.size() * starts.size(),
      [=](std::size_t k) -> std::unique_ptr<FlowTraining> {
        const std::int64_t width = widths[k % widths.size()];
        DeepNetwork options = network;
        options.eta = rates[k / widths.size() % rates.size()];
        const std::int64_t start = starts[k / widths.size() / rates.size()];
        options.width = options.mlp_width = static_cast<int>(width);
        Point point;
        if (starts.size() > 1) point.emplace_back("start", static_cast<double>(start));
        if (rates.size() > 1) point.emplace_back("eta", options.eta);
        if (widths.size() > 1) point.emplace_back("width", static_cast<double>(width));
        const std::shared_ptr<const SmallTask>& of = problem->get();
        // The same at every seed of the study.
        return std::make_unique<SmallFlow>(
            of,
            options,
            deep_network(options, of->task, {.seed = static_cast<std::uint64_t>(start)}),
            plan,
            std::move(point));
      });
}

}  // namespace attica
