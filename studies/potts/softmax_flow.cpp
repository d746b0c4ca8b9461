/// @file
/// @brief Study potts-softmax-flow: how a layer of softmax attention learns a Potts model, the
/// training theory of its population against SGD on fresh sequences.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica::potts_softmax_flow {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr Index kQuery = 0;  ///< the masked site whose attention is looked at

/// What is trained; the squared norms of all but the last are compared.
constexpr std::array kBlocks = {
    "W_E", "W_P", "layer0.W_Q", "layer0.W_K", "layer0.W_V", "layer0.W_O", "W_dec", "b_dec"};

/// "W_Q" for "layer0.W_Q"
std::string label(std::string_view block) { return std::string(block.substr(block.find('.') + 1)); }

constexpr std::span kSquares = std::span(kBlocks).first<7>();

template <class T>
double square(networks::Transformer<T>& network, std::string_view block) {
  return static_cast<double>(network.parameters().matrix(block).map().squaredNorm());
}

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

class SoftmaxFlow : public PointwiseExperiment {
 public:
  explicit SoftmaxFlow(Configuration& c)
      : training_(training(c)),
        problem_([family = PottsFamily(c).enumerable(), shape = training_.shape] {
          return Problem(family, shape);
        }),
        starts_(static_cast<std::size_t>(c.integer("sim.starts"))),
        seed_(c.seed()),
        method_{.rank = c.integer("theory.rank"),
                .hold = static_cast<std::uint64_t>(c.integer("theory.hold")),
                .check_gradient = false} {  // slopes are compared
    networks::validate(training_.shape);
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    const Problem& p = problem_.get();
    const Index sites = p.model.sites();
    std::vector<Observable> observables;
    for (Index key = 0; key < sites; ++key) {
      observables.emplace_back([&p, key](const VectorXd& theta) {
        return p.population->measure(
            theta, [&](auto& network) { return p.test.inputs().attention(network, kQuery)[key]; });
      });
    }
    for (const char* block : kSquares) {
      observables.emplace_back([&p, block](const VectorXd& theta) {
        return p.population->measure(theta, [&](auto& network) { return square(network, block); });
      });
    }
    TheoryResult result;
    for (std::size_t start = 0; start < starts_; ++start) {
      TrainingPlan plan{.start = start_of(start),
                        .rate = [eta = training_.optimiser.learning_rate](auto) { return eta; },
                        .batch = training_.batch,
                        .recorded = training_.recorded};
      const auto records = training_theory(*p.population, plan, observables, method_);
      Curves loss(at(start), "step", {"loss"});
      Curves descent(at(start), "step", {"descent_loss"});
      std::vector<Curves> others;
      for (Index key = 0; key < sites; ++key) {
        others.emplace_back(at_key(start, key), "step", std::vector<std::string>{"attention"});
      }
      for (const char* block : kSquares) {
        others.emplace_back(at_block(start, block), "step", std::vector<std::string>{"square"});
      }
      for (const TrainingTheoryRecord& record : records) {
        const auto step = static_cast<double>(record.step);
        const auto told = [&](const Moment& m) {
          return PredictedValue(
              m.value(), m.finite_size(), record.undescribed.empty(), m.numerical_error);
        };
        loss.add(step, {told(record.loss)});
        descent.add(step, {record.loss.order_0});
        for (std::size_t k = 0; k < others.size(); ++k) {
          others[k].add(step, {told(record.observed[k])});
        }
      }
      loss.into(result);
      descent.into(result);
      for (const Curves& curves : others) curves.into(result);
      if (!records.empty() && !records.back().undescribed.empty()) {
        result.warnings.push_back(fmt::format("start {}: {}", start, records.back().undescribed));
      }
    }
    // By losses alone, which share nothing with the backward pass.
    const VectorXd start = start_of(0);
    for (const char* block : kBlocks) {
      constexpr double kStep = 1e-4;  // errors of the order of its square
      const VectorXd along = kStep * direction(block);
      VectorXd above, below;
      p.population->pass(start + along, above);
      p.population->pass(start - along, below);
      const double slope = p.population->weights().dot(above - below) / (2 * kStep);
      add_constant(result, "slope", PredictedValue(slope), {{"block", label(block)}});
    }
    result.diagnostics = {{"bayes_loss", p.excess.bayes_loss()},
                          {"parameters", static_cast<std::int64_t>(p.population->parameters())},
                          {"samples", static_cast<std::int64_t>(p.population->weights().size())}};
    return result;
  }

  /// SGD from every start; slopes of the loss at the first.
  std::size_t points() const override { return starts_ + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point == starts_; }

  double flops(std::size_t /*point*/) const override {
    const auto width = static_cast<double>(training_.shape.width);
    return 40 * width * width * static_cast<double>(training_.batch) *
           static_cast<double>(training_.recorded.back());
  }

  Outcome run(const Replicate& replicate) const override {
    const Problem& p = problem_.get();
    const std::size_t start = replicate.point();
    Outcome outcome;
    if (start == starts_) return slopes();
    TransformerTraining plan = training_;
    plan.start = start_address(start);
    Curves loss(at(start), "step", {"loss"});
    std::vector<Curves> others;
    for (Index key = 0; key < p.model.sites(); ++key) {
      others.emplace_back(at_key(start, key), "step", std::vector<std::string>{"attention"});
    }
    for (const char* block : kSquares) {
      others.emplace_back(at_block(start, block), "step", std::vector<std::string>{"square"});
    }
    const auto end = train_transformer(
        plan,
        [&](Index n, RandomStream& s) { return p.sampler.draw(n, s); },
        [&](networks::Transformer<float>& network) {
          std::vector<double> values{p.excess.bayes_loss() + p.test.divergence(network)};
          const VectorXd attention = p.test.inputs().attention(network, kQuery);
          values.insert(values.end(), attention.begin(), attention.end());
          for (const char* block : kSquares) values.push_back(square(network, block));
          return values;
        },
        replicate.address(),
        [&](std::uint64_t step, const std::vector<double>& values) {
          loss.add(static_cast<double>(step), {values[0]});
          for (std::size_t k = 0; k < others.size(); ++k) {
            others[k].add(static_cast<double>(step), {values[k + 1]});
          }
        },
        [&] { return replicate.stopped(); },
        replicate.state_file());
    mark_end(outcome, end);
    if (loss.empty()) return outcome;
    loss.into(outcome);
    for (const Curves& curves : others) curves.into(outcome);
    return outcome;
  }

 private:
  static TransformerTraining training(const Configuration& c) {
    TransformerTraining out{
        .shape = masked_transformer(c.integer("model.sites"),
                                    c.integer("model.colours"),
                                    1,
                                    static_cast<int>(c.integer("sim.width"))),
        .optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = c.real("sim.eta")},
        .batch = c.integer("sim.batch"),
        .deviation = c.real("sim.deviation"),
        .recorded = recorded_steps<std::uint64_t>(c)};
    return out;
  }

  static Point at(std::size_t start) { return {{"start", static_cast<double>(start)}}; }
  static Point at_key(std::size_t start, Index key) {
    return {{"start", static_cast<double>(start)}, {"key", static_cast<double>(key)}};
  }
  static Point at_block(std::size_t start, const char* block) {
    return {{"start", static_cast<double>(start)}, {"block", label(block)}};
  }

  StreamAddress start_address(std::size_t start) const { return {.seed = seed_, .point = start}; }
  VectorXd start_of(std::size_t start) const {
    return networks::trained_values(
        initial_transformer(training_, start_address(start)).parameters());
  }

  /// Along a block, of length 1.
  VectorXd direction(const char* block) const {
    networks::Transformer<double> network(training_.shape);
    for (double& x : network.parameters().values()) x = 0;
    auto entries = network.parameters().matrix(block).map();
    for (Index i = 0; i < entries.rows(); ++i) {
      for (Index j = 0; j < entries.cols(); ++j) {
        entries(i, j) = std::cos(static_cast<double>(1 + 2 * i + 3 * j));
      }
    }
    return networks::trained_values(network.parameters()).normalized();
  }

  /// The gradient that SGD follows, of all sequences, each with one masked site.
  Outcome slopes() const {
    const Problem& p = problem_.get();
    const WeightedSequences& states = p.excess.population();
    networks::Transformer<float> network = initial_transformer(training_, start_address(0));
    networks::Batch batch;
    const auto share = 1 / static_cast<double>(states.sequences.cols());
    for (Index row = 0; row < states.sequences.rows(); ++row) {
      for (Index i = 0; i < states.sequences.cols(); ++i) {
        append_masked(batch,
                      states.sequences.row(row).data(),
                      states.sequences.cols(),
                      i,
                      training_.shape.outputs);
        batch.weights.push_back(share * states.weights[row]);
      }
    }
    networks::set_equal_lengths(batch, training_.shape.length);
    network.loss_and_gradient(batch);
    const std::span<const float> all = network.gradient();
    const VectorXd gradient =
        Eigen::Map<const Eigen::VectorXf>(all.data(), std::ssize(all)).cast<double>();
    Outcome outcome;
    for (const char* block : kBlocks) {
      add_constant(outcome,
                   "slope",
                   PredictedValue(gradient.dot(direction(block))),
                   {{"block", label(block)}});
    }
    return outcome;
  }

  TransformerTraining training_;
  Lazy<Problem> problem_;
  std::size_t starts_;
  std::uint64_t seed_;
  TheoryMethod method_;
};

Figure figure(const Configuration& c) {
  const Axis step{.label = "step", .scale = AxisScale::log};
  Panel loss{.x = step, .y = {.label = "loss (nats)"}, .layers = {}, .x_name = "step"};
  for (std::int64_t start = 0; start < c.integer("sim.starts"); ++start) {
    loss.layers.push_back({.series = "loss",
                           .label = fmt::format("start {}", start),
                           .only = {{"start", static_cast<double>(start)}}});
  }
  loss.layers.push_back({.series = "descent_loss",
                         .label = "descent on the population",
                         .simulation = false,
                         .reference = true,
                         .only = {{"start", 0.0}}});
  loss.residuals = true;
  Panel attention{
      .x = step,
      .y = {.label = "attention of site 0"},
      .layers = {{.series = "attention", .label = "key {key}", .only = {{"start", 0.0}}}},
      .x_name = "step"};
  Panel square{.x = step,
               .y = {.label = "squared norm", .scale = AxisScale::log},
               .layers = {{.series = "square", .label = "{block}", .only = {{"start", 0.0}}}},
               .x_name = "step"};
  return {.name = "potts-softmax-flow",
          .panels = {loss, attention, square},
          .columns = 3,
          .caption = fmt::format(
              "A layer of softmax attention trained by SGD (batches of {}, learning rate {:g}) on "
              "masked sequences of a Potts model: loss on the population from each start; from "
              "start 0, mean attention of site 0, when it is masked, and squared norms of the "
              "weights. Lines: mean over runs, first order in 1/B; dashed: descent on the "
              "population from start 0; points: mean and standard error over runs; band: declared "
              "margin.",
              c.integer("sim.batch"),
              c.real("sim.eta"))};
}

}  // namespace

Study study() {
  return described({.name = "potts-softmax-flow", .make = make<SoftmaxFlow>, .figure = figure});
}

}  // namespace attica::potts_softmax_flow
