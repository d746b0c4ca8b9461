/// @file
/// @brief Study potts-softmax-flow: how a layer of softmax attention learns a Potts model, the
/// training theory of its population against SGD on fresh sequences.

#include <array>
#include <memory>
#include <span>

#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_flow.hpp"

namespace attica::potts_softmax_flow {
namespace {

using Eigen::Index;

constexpr Index kQuery = 0;  ///< the masked site whose attention is looked at

/// What is trained; the squared norms of all but the last are compared.
constexpr std::array kBlocks = {
    "W_E", "W_P", "layer0.W_Q", "layer0.W_K", "layer0.W_V", "layer0.W_O", "W_dec", "b_dec"};

constexpr std::span kSquares = std::span(kBlocks).first<7>();

/// The enumerated model and its inputs.
struct Problem {
  Problem(const PottsFamily& family, const networks::TransformerShape& shape)
      : model(family.model(0)),
        excess(model, enumerate(model).states),
        test(excess, shape.outputs),
        population(test.inputs().population(shape)),
        sampler(excess.population()) {}

  PottsModel model;
  ExcessLoss excess;
  MaskedTest test;
  std::unique_ptr<networks::TransformerPopulation<double>> population;
  PopulationSampler sampler;
};

/// SGD from one start.
class FromStart : public TransformerFlow {
 public:
  FromStart(const Problem& problem,
            const TransformerTraining& training,
            const TheoryMethod& method,
            std::uint64_t seed,
            std::size_t start)
      : TransformerFlow(initial_transformer(training, {.seed = seed, .point = start}),
                        training.optimiser,
                        training.batch,
                        training.recorded),
        problem_(problem),
        training_(training),
        method_(method),
        start_(start) {
    training_.start = StreamAddress{.seed = seed, .point = start};
    for (Index key = 0; key < problem.model.sites(); ++key) {
      measure("attention", {{"key", static_cast<double>(key)}}, [&problem, key](auto& network) {
        return problem.test.inputs().attention(network, kQuery)[key];
      });
    }
    for (const char* block : kSquares) measure_square(block);
    if (start > 0) return;
    for (const char* block : kBlocks) add_direction(block, {});
  }

  Point point() const override { return {{"start", static_cast<double>(start_)}}; }
  const networks::TransformerPopulation<double>& population() const override {
    return *problem_.population;
  }
  TheoryMethod method() const override { return method_; }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    return train_transformer(
        training_,
        [&](Index n, RandomStream& s) { return problem_.sampler.draw(n, s); },
        [&](networks::Transformer<float>& network) { return values(network); },
        replicate.address(),
        record,
        [&] { return replicate.stopped(); },
        replicate.state_file());
  }

  double flops() const override {
    const auto width = static_cast<double>(training_.shape.width);
    return 40 * width * width * static_cast<double>(training_.batch) *
           static_cast<double>(training_.recorded.back());
  }

 protected:
  double loss(networks::Transformer<float>& network) const override {
    return problem_.excess.bayes_loss() + problem_.test.divergence(network);
  }

  /// All sequences, each with one masked site.
  networks::Batch all_samples() const override {
    const WeightedSequences& states = problem_.excess.population();
    networks::Batch batch;
    const Index sites = states.sequences.cols();
    for (Index row = 0; row < states.sequences.rows(); ++row) {
      for (Index i = 0; i < sites; ++i) {
        append_masked(batch, states.sequences.row(row).data(), sites, i, training_.shape.outputs);
        batch.weights.push_back(states.weights[row] / static_cast<double>(sites));
      }
    }
    networks::set_equal_lengths(batch, training_.shape.length);
    return batch;
  }

 private:
  const Problem& problem_;
  TransformerTraining training_;
  TheoryMethod method_;
  std::size_t start_;
};

TransformerTraining training_of(const Configuration& c) {
  return {.shape = masked_transformer(
              c.integer("model.sites"), c.integer("model.colours"), 1, c.integer<int>("sim.width")),
          .optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = c.real("sim.eta")},
          .batch = c.integer("sim.batch"),
          .deviation = c.real("sim.deviation"),
          .recorded = recorded_steps<std::uint64_t>(c)};
}

std::unique_ptr<Experiment> make_flow(Configuration& c) {
  const TransformerTraining training = training_of(c);
  networks::validate(training.shape);
  const TheoryMethod method{.rank = c.integer("theory.rank"),
                            .hold = c.integer<std::uint64_t>("theory.hold")};
  auto problem =
      std::make_shared<Lazy<Problem>>([family = PottsFamily(c).enumerable(),
                                       shape = training.shape] { return Problem(family, shape); });
  return std::make_unique<TrainingFlow>(
      c.integer<std::size_t>("sim.starts"),
      [=, seed = c.seed()](std::size_t start) -> std::unique_ptr<FlowTraining> {
        return std::make_unique<FromStart>(problem->get(), training, method, seed, start);
      });
}

}  // namespace

Study study() { return described({.name = "potts-softmax-flow", .make = make_flow}); }

}  // namespace attica::potts_softmax_flow
