/// @file
/// @brief Study bigrams-transformer: a whole transformer layer on sparse contextual bigrams, with
/// and without LayerNorm, by Adam and by SGD. From one start each, against the training theory of
/// the population; from starts of their own, against the exact entropy of the next token.

#include "attica/sim/bigrams/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "attica/studies/bigrams/model.hpp"
#include "attica/studies/joined_experiments.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/studies/training_flow.hpp"
#include "attica/theory/bigrams/estimators.hpp"

namespace attica::bigrams_transformer {
namespace {

/// A way to train, as the coordinate `network`.
struct Variant {
  const char* name;
  const char* label;
  networks::OptimiserKind optimiser;
  bool layer_norm;
};
constexpr std::array<Variant, 4> kVariants = {{
    {"adam", "Adam", networks::OptimiserKind::adam, false},
    {"adam_norm", "Adam, LayerNorm", networks::OptimiserKind::adam, true},
    {"sgd", "SGD", networks::OptimiserKind::sgd, false},
    {"sgd_norm", "SGD, LayerNorm", networks::OptimiserKind::sgd, true},
}};
const std::vector<std::string> kNames = {
    "test_loss", "excess_log_loss", "support_attention", "sampled_excess"};
constexpr double kAttends = 0.7;  // share of attention that is claimed

Point point_of(const Variant& variant) { return {{"network", variant.name}}; }

bool by_adam(const Variant& variant) { return variant.optimiser == networks::OptimiserKind::adam; }

/// The problem, its networks and how they are trained.
struct Plan {
  BigramSetup setup;
  BigramTransformerTask task;
  double eta_adam = 0;
  std::vector<std::uint64_t> early_steps;
  std::int64_t early_batch = 1;
  std::uint64_t early_runs = 1;
  double early_eta = 0;
  double early_eta_adam = 0;
  Eigen::Index rank = 1;
  std::uint64_t hold = 1;
  int pairs = 2;

  explicit Plan(const Configuration& c)
      : setup(bigram_setup(c, RateCheck::none)),
        task{.width = c.integer<int>("sim.width"),
             .mlp_width = c.integer<int>("sim.mlp_width"),
             .heads = c.integer<int>("sim.heads"),
             .activation = activation_of(c, "sim.activation"),
             .batch = c.integer("sim.batch"),
             .steps = recorded_steps<std::uint64_t>(c),
             .test_sequences = c.integer("sim.test_sequences")},
        eta_adam(c.real("sim.eta_adam")),
        early_batch(c.integer("sim.early_batch")),
        early_runs(c.integer<std::uint64_t>("sim.early_runs")),
        early_eta(c.real("sim.early_eta")),
        early_eta_adam(c.real("sim.early_eta_adam")),
        rank(c.integer("theory.rank")),
        hold(c.integer<std::uint64_t>("theory.hold")),
        pairs(c.integer<int>("theory.pairs")) {
    const std::vector<std::int64_t> early = ascending(c.integers("sim.early_steps"));
    early_steps.assign(early.begin(), early.end());
  }

  BigramTransformerTask task_of(const Variant& variant) const {
    BigramTransformerTask own = task;
    own.layer_norm = variant.layer_norm;
    own.optimiser = {.kind = variant.optimiser,
                     .learning_rate = by_adam(variant) ? eta_adam : setup.rates.eta_v};
    return own;
  }
  /// From the common start. While the decoder is 0 nothing else has a gradient, and Adam's first
  /// updates would be noise: it starts at random.
  BigramTransformerTask early_task(const Variant& variant) const {
    BigramTransformerTask own = task_of(variant);
    own.decoder = 1;
    own.batch = early_batch;
    own.steps = early_steps;
    own.optimiser.learning_rate = by_adam(variant) ? early_eta_adam : early_eta;
    return own;
  }
  /// Whether all sequences can be enumerated, as the training theory needs it.
  bool enumerable() const {
    return bigram_sequences(setup.model) <= BigramPopulation::kMostSequences;
  }
  /// Work of a training.
  double flops(std::int64_t batch, std::uint64_t steps) const {
    const auto rows = static_cast<double>(batch) * (setup.context() + 1);
    const double weights = 4.0 * task.width * task.width;
    return 6 * rows * weights * static_cast<double>(steps);
  }
};

/// One way to train, from one start.
class EarlyTraining : public TransformerFlow {
 public:
  EarlyTraining(const Plan& plan, std::uint64_t seed, const Variant& variant)
      : EarlyTraining(plan, seed, variant, plan.early_task(variant)) {}

  Point point() const override { return point_of(variant_); }
  const networks::TransformerPopulation<double>& population() const override {
    return *population_;
  }
  TheoryMethod method() const override {
    if (by_adam(variant_)) return {.kind = TheoryMethod::Kind::pairs, .pairs = plan_.pairs};
    return {.rank = plan_.rank, .hold = plan_.hold};
  }

  networks::TrainingResult train(const Replicate& replicate, const Record& record) const override {
    return mean_of_runs(
        plan_.early_runs,
        task_.steps,
        replicate,
        record,
        [&](const StreamAddress& run, const std::function<void(const std::vector<double>&)>& tell) {
          networks::Transformer<float> network = start();
          return train_bigram_transformer(
              network,
              plan_.setup.model,
              task_,
              run,
              {},
              replicate.piece.stop,
              {.measure = [&](std::uint64_t) { return values(network); },
               .tell = [&](std::uint64_t, const std::vector<double>& values) { tell(values); }});
        });
  }

  double flops() const override {
    return static_cast<double>(plan_.early_runs) * plan_.flops(task_.batch, task_.steps.back());
  }

 protected:
  double loss(networks::Transformer<float>& network) const override {
    return sequences_.loss(network);
  }
  networks::Batch all_samples() const override { return sequences_.all_samples(); }

 private:
  EarlyTraining(const Plan& plan,
                std::uint64_t seed,
                const Variant& variant,
                const BigramTransformerTask& task)
      : TransformerFlow(bigram_transformer_start(plan.setup.model, task, {.seed = seed}),
                        task.optimiser,
                        task.batch,
                        task.steps),
        plan_(plan),
        variant_(variant),
        task_(task),
        sequences_(plan.setup.model),
        population_(sequences_.population(bigram_transformer_shape(plan.setup.model, task))) {
    measure("attention", {}, [this](auto& network) { return sequences_.attention(network); });
    for (const char* block : {"W_E", "layer0.W_Q", "layer0.W_V", "layer0.W_1", "W_dec"})
      measure_square(block);
    add_all_directions(point());
  }

  const Plan& plan_;
  const Variant& variant_;
  BigramTransformerTask task_;
  BigramPopulation sequences_;
  std::unique_ptr<networks::TransformerPopulation<double>> population_;
};

/// Trainings to the end, from starts of their own.
class TransformerLayer : public PointwiseExperiment {
 public:
  explicit TransformerLayer(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {
    diagnostics_ = plan_->setup.diagnostics;
    diagnostics_.emplace_back("bayes_loss", bayes_log_loss(plan_->setup.model));
    diagnostics_.emplace_back("unigram_loss", unigram_log_loss(plan_->setup.model));
    if (plan_->enumerable()) return;
    warnings_.push_back(
        fmt::format("N^(T+1) = {:.3g} sequences are too many to enumerate: training is not "
                    "predicted",
                    bigram_sequences(plan_->setup.model)));
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    const double bayes = bayes_log_loss(plan_->setup.model);
    const double unigram = unigram_log_loss(plan_->setup.model);
    add_constant(result, "bayes_loss", bayes);
    add_constant(result, "unigram_loss", unigram);
    add_constant(result, "data_bayes_loss", bayes);
    add_constant(result, "data_unigram_loss", unigram);
    return result;
  }

  std::size_t points() const override { return kVariants.size(); }

  void require_simulable() const override {
    constexpr double kBytes = 4.0 * 12;  // of the stream, its projections and gradients
    const BigramTransformerTask& task = plan_->task;
    const double widest = std::max(task.width, task.mlp_width);
    const auto sequences = static_cast<double>(
        std::max({task.batch,
                  plan_->early_batch,
                  std::min<std::int64_t>(task.test_sequences, kBigramTestPiece)}));
    require(kBytes * widest * (plan_->setup.context() + 1) * sequences <= kBigramMemory,
            "model.context",
            plan_->setup.context(),
            fmt::format("activations of at most {:.0f} MB", kBigramMemory / 1e6));
  }

 protected:
  double flops(std::size_t /*point*/) const override {
    return plan_->flops(plan_->task.batch, plan_->task.steps.back());
  }

  Outcome run(const Replicate& replicate) const override {
    const Variant& variant = kVariants[replicate.point()];
    Curves curves(point_of(variant), "step", kNames);
    double bayes = 0;
    double unigram = 0;
    Outcome outcome;
    const networks::TrainingResult end = train_bigram_transformer(
        plan_->setup.model,
        plan_->task_of(variant),
        replicate.address(),
        replicate.state_file(),
        replicate.piece.stop,
        [&](const BigramTransformerRecord& r) {
          curves.add(static_cast<double>(r.step),
                     {r.loss, r.excess_loss, r.overlap, r.loss - r.bayes_loss});
          bayes = r.bayes_loss;
          unigram = r.unigram_loss;
        });
    curves.into(outcome);
    // Of test sequences alone: one of the four points tells it.
    if (replicate.point() == 0) {
      add_constant(outcome, "data_bayes_loss", bayes);
      add_constant(outcome, "data_unigram_loss", unigram);
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  std::shared_ptr<const Plan> plan_;
};

std::unique_ptr<Experiment> make_layer(Configuration& c) {
  auto plan = std::make_shared<const Plan>(c);
  require_sequences(c, "\"none\": networks see sequences");
  require(plan->task.width % plan->task.heads == 0,
          "sim.heads",
          plan->task.heads,
          fmt::format("a divisor of sim.width = {}", plan->task.width));
  constexpr double kMostCases = 1e7;
  require(enumerated_cases(plan->setup.model) <= kMostCases,
          "model.sparsity",
          static_cast<double>(plan->setup.model.sparsity()),
          fmt::format("sum of N^(Q+1) over last tokens <= {:g}", kMostCases));
  auto layer = std::make_unique<TransformerLayer>(plan);
  if (!plan->enumerable()) return layer;
  auto early = std::make_unique<TrainingFlow>(
      kVariants.size(), [plan, seed = c.seed()](std::size_t k) -> std::unique_ptr<FlowTraining> {
        return std::make_unique<EarlyTraining>(*plan, seed, kVariants[k]);
      });
  return std::make_unique<JoinedExperiments>(std::move(early), std::move(layer));
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const double floor = observed.predicted("bayes_loss").value_or(0);
  const double frequencies = observed.predicted("unigram_loss").value_or(0);
  const double near = c.real("sim.near");
  for (const Variant& v : kVariants) {
    const auto claim = [&](const char* what,
                           const std::string& statement,
                           const char* series,
                           const std::function<bool(double)>& holds) {
      all.push_back(claim_rate(fmt::format("{}-{}", what, v.name),
                               fmt::format("{} {}", v.label, statement),
                               by_replicate(observed.last(series, point_of(v))).where(holds),
                               {},
                               kHalf));
    };
    claim("above-floor",
          "ends above the cross-entropy of the true law on the same tokens",
          "sampled_excess",
          [](double excess) { return excess > 0; });
    claim("near-floor",
          fmt::format("ends within {:g} of what there is to learn above the entropy", near),
          "excess_log_loss",
          [&](double excess) { return excess < near * (frequencies - floor); });
    claim("support",
          fmt::format("ends with {:g} of a head's attention at the true positions", kAttends),
          "support_attention",
          [](double share) { return share > kAttends; });
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "bigrams-transformer", .make = make_layer, .claims = claims});
}

}  // namespace attica::bigrams_transformer
