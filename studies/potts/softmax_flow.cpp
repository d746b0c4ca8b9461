/// @file
/// @brief Study potts-softmax-flow: how a layer of softmax attention learns a Potts model, the
/// training theory of its population against SGD on fresh sequences.

#include <array>
#include <memory>
#include <span>

#include "attica/studies/potts/transformer_flow.hpp"

namespace attica::potts_softmax_flow {
namespace {

using Eigen::Index;

constexpr Index kQuery = 0;  ///< the masked site whose attention is looked at

/// What is trained; the squared norms of all but the last are compared.
constexpr std::array kBlocks = {
    "W_E", "W_P", "layer0.W_Q", "layer0.W_K", "layer0.W_V", "layer0.W_O", "W_dec", "b_dec"};

constexpr std::span kSquares = std::span(kBlocks).first<7>();

/// SGD from one start.
class FromStart : public PottsTransformerFlow {
 public:
  FromStart(const EnumeratedPotts& problem,
            const TransformerTraining& training,
            const TheoryMethod& method,
            std::uint64_t seed,
            std::size_t start)
      : PottsTransformerFlow(problem,
                             training,
                             method,
                             {.seed = seed, .point = start},
                             {{"start", static_cast<double>(start)}}) {
    for (Index key = 0; key < problem.model.sites(); ++key) {
      measure("attention", {{"key", static_cast<double>(key)}}, [&problem, key](auto& network) {
        return problem.test.inputs().attention(network, kQuery)[key];
      });
    }
    for (const char* block : kSquares) measure_square(block);
    if (start > 0) return;
    for (const char* block : kBlocks) add_direction(block, {});
  }
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
  auto problem = std::make_shared<Lazy<EnumeratedPotts>>(
      [family = PottsFamily(c).enumerable()] { return EnumeratedPotts(family); });
  return std::make_unique<TrainingFlow>(
      c.integer<std::size_t>("sim.starts"),
      [=, seed = c.seed()](std::size_t start) -> std::unique_ptr<FlowTraining> {
        return std::make_unique<FromStart>(problem->get(), training, method, seed, start);
      });
}

}  // namespace

Study study() { return described({.name = "potts-softmax-flow", .make = make_flow}); }

}  // namespace attica::potts_softmax_flow
