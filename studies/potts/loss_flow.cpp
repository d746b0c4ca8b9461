/// @file
/// @brief Study potts-loss-flow: how factored attention and transformers learn a Potts model with
/// the optimisers of potts-loss, the training theory of the population against their runs.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "attica/sim/potts/masked_samples.hpp"
#include "attica/studies/potts/transformer_flow.hpp"

namespace attica::potts_loss_flow {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Factored attention by SGD, one random masked site a sequence.
class Factored : public FlowTraining {
 public:
  Factored(const EnumeratedPotts& problem,
           const MaskedSamples& samples,
           FactoredTraining training,
           const TheoryMethod& method,
           double scale)
      : problem_(problem),
        training_(std::move(training)),
        method_(method),
        population_(samples),
        start_(wave(problem.model, scale)),
        plan_(flow_plan(training_.optimiser,
                        training_.batch,
                        training_.recorded,
                        population_.parameters_of(start_))) {}

  Point point() const override { return {{"model", "factored"}}; }
  const PopulationModel& population() const override { return population_; }
  const TrainingPlan& plan() const override { return plan_; }
  TheoryMethod method() const override { return method_; }

  std::vector<FlowNumber> numbers() const override {
    const Index values = start_.values.size();
    return {{"square",
             {{"block", "A"}},
             [values](const VectorXd& theta) {
               return theta.head(theta.size() - values).squaredNorm();
             }},
            {"square", {{"block", "V"}}, [values](const VectorXd& theta) {
               return theta.tail(values).squaredNorm();
             }}};
  }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    return train_factored(
        start_,
        training_,
        SequenceSource([&](Index n, RandomStream& s) { return problem_.sampler.draw(n, s); }),
        replicate.address(),
        [&](std::uint64_t step, const FactoredAttention& student) {
          record(step,
                 {problem_.excess.bayes_loss() + problem_.excess(student),
                  student.attention.squaredNorm(),
                  student.values.squaredNorm()});
        },
        [&] { return replicate.stopped(); },
        replicate.state_file());
  }

  double flops() const override {
    return 12 * static_cast<double>(plan_.start.size() * training_.batch) *
           static_cast<double>(training_.recorded.back());
  }

 private:
  /// As a run stores it.
  static FactoredAttention wave(const PottsModel& model, double scale) {
    FactoredNetwork<float> stored(model.sites(), model.colours());
    stored.set(wave_student(model.sites(), model.colours(), scale));
    return stored.values();
  }

  const EnumeratedPotts& problem_;
  FactoredTraining training_;
  TheoryMethod method_;
  FactoredMasked population_;
  FactoredAttention start_;
  TrainingPlan plan_;
};

/// A transformer by Adam.
class ByAdam : public PottsTransformerFlow {
 public:
  ByAdam(const EnumeratedPotts& problem,
         const TransformerTraining& training,
         const TheoryMethod& method,
         std::uint64_t seed)
      : PottsTransformerFlow(
            problem,
            training,
            method,
            {.seed = seed},
            {{"model", "transformer"}, {"layers", static_cast<double>(training.shape.layers)}}) {
    for (const char* block : {"W_E", "W_P", "layer0.W_Q", "layer0.W_V", "W_dec"}) {
      measure_square(block);
    }
    add_all_directions(PottsTransformerFlow::point());
  }
};

/// The model, enumerated for the trainings and for the theory of factored attention.
struct Problem {
  explicit Problem(const PottsFamily& family) : potts(family), samples(potts.model) {}
  EnumeratedPotts potts;
  MaskedSamples samples;
};

std::unique_ptr<Experiment> make_flow(Configuration& c) {
  const std::vector<std::uint64_t> recorded = recorded_steps<std::uint64_t>(c);
  const FactoredTraining factored{.optimiser = {.kind = networks::OptimiserKind::sgd,
                                                .learning_rate = c.real("sim.eta_factored")},
                                  .batch = c.integer("sim.batch"),
                                  .masked = MaskedSites::one,
                                  .recorded = recorded};
  const TheoryMethod expansion{.rank = c.integer("theory.rank"),
                               .hold = c.integer<std::uint64_t>("theory.hold")};
  const TheoryMethod pairs{.kind = TheoryMethod::Kind::pairs,
                           .pairs = c.integer<int>("theory.pairs")};
  const std::vector<std::int64_t> layers = ascending(c.integers("sim.layers"));
  std::vector<TransformerTraining> transformers;
  for (const std::int64_t count : layers) {
    transformers.push_back({.shape = masked_transformer(c.integer("model.sites"),
                                                        c.integer("model.colours"),
                                                        static_cast<int>(count),
                                                        c.integer<int>("sim.width")),
                            .optimiser = {.kind = networks::OptimiserKind::adam,
                                          .learning_rate = c.real("sim.eta_transformer")},
                            .batch = factored.batch,
                            .deviation = c.real("sim.deviation"),
                            .recorded = recorded});
    networks::validate(transformers.back().shape);
  }
  auto problem = std::make_shared<Lazy<Problem>>(
      [family = PottsFamily(c).enumerable()] { return Problem(family); });
  return std::make_unique<TrainingFlow>(
      1 + transformers.size(),
      [=, scale = c.real("sim.scale_factored"), seed = c.seed()](
          std::size_t k) -> std::unique_ptr<FlowTraining> {
        const Problem& of = problem->get();
        if (k == 0) {
          return std::make_unique<Factored>(of.potts, of.samples, factored, expansion, scale);
        }
        return std::make_unique<ByAdam>(of.potts, transformers[k - 1], pairs, seed);
      });
}

}  // namespace

Study study() { return described({.name = "potts-loss-flow", .make = make_flow}); }

}  // namespace attica::potts_loss_flow
