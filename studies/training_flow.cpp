#include "attica/studies/training_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/choices.hpp"
#include "attica/studies/curves.hpp"
#include "attica/studies/training_end.hpp"

namespace attica {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// The curves of a training: the loss and the numbers, each at its point.
std::vector<Curves> flow_curves(const FlowTraining& training) {
  std::vector<Curves> all;
  all.emplace_back(training.point(), "step", std::vector<std::string>{"loss"});
  for (const FlowNumber& number : training.numbers()) {
    all.emplace_back(
        joined(training.point(), number.point), "step", std::vector<std::string>{number.series});
  }
  return all;
}

/// By losses alone, which share nothing with a backward pass.
double slope_of_losses(const FlowTraining& training, const VectorXd& direction) {
  constexpr double kStep = 1e-4;  // errors of the order of its square
  const PopulationModel& population = training.population();
  const VectorXd start = training.place();
  const VectorXd along = kStep * direction;
  VectorXd above, below;
  population.pass(start + along, above);
  population.pass(start - along, below);
  return population.weights().dot(above - below) / (2 * kStep);
}

/// Equal values as one.
Value one_or_all(const List& values) {
  const bool equal = std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
  return equal && !values.empty() ? Value(values.front()) : Value(values);
}

}  // namespace

TrainingFlow::TrainingFlow(std::size_t count,
                           const std::function<std::unique_ptr<FlowTraining>(std::size_t)>& make) {
  for (std::size_t k = 0; k < count; ++k) {
    trainings_.push_back(
        std::make_unique<Lazy<std::unique_ptr<FlowTraining>>>([make, k] { return make(k); }));
  }
}

TheoryResult TrainingFlow::theory(TheoryGrid /*grid*/) const {
  TheoryResult result;
  List parameters;
  List samples;
  bool slopes = false;  // of one training or more: all have the same backward pass
  for (std::size_t k = 0; k < trainings_.size(); ++k) {
    slopes = slopes || !training(k).directions().empty();
  }
  for (std::size_t k = 0; k < trainings_.size(); ++k) {
    const FlowTraining& one = training(k);
    std::vector<Observable> observables;
    for (const FlowNumber& number : one.numbers()) observables.push_back(number.value);
    TheoryMethod method = one.method();
    if (slopes) method.check_gradient = false;  // the verdict compares the gradient
    const auto records = training_theory(one.population(), one.plan(), observables, method);
    std::vector<Curves> curves = flow_curves(one);
    Curves descent(one.point(), "step", {"descent_loss"});
    for (const TrainingTheoryRecord& record : records) {
      const auto step = static_cast<double>(record.step);
      const bool compared = record.undescribed.empty() && record.step > 0;
      const auto told = [&](const Moment& m) {
        return PredictedValue(m.value(), m.finite_size(), compared, m.numerical_error);
      };
      curves[0].add(step, {told(record.loss)});
      descent.add(step, {record.loss.order_0});
      for (std::size_t i = 1; i < curves.size(); ++i) {
        curves[i].add(step, {told(record.observed[i - 1])});
      }
    }
    curves[0].into(result);
    descent.into(result);
    for (std::size_t i = 1; i < curves.size(); ++i) curves[i].into(result);
    if (!records.empty() && !records.back().undescribed.empty()) {
      const std::string where = describe(one.point());
      result.warnings.push_back(where.empty()
                                    ? records.back().undescribed
                                    : fmt::format("{}: {}", where, records.back().undescribed));
    }
    parameters.emplace_back(static_cast<std::int64_t>(one.population().parameters()));
    samples.emplace_back(static_cast<std::int64_t>(one.population().weights().size()));
  }
  for (std::size_t k = 0; k < trainings_.size(); ++k) {
    const FlowTraining& one = training(k);
    for (const FlowDirection& direction : one.directions()) {
      add_constant(
          result, "slope", PredictedValue(slope_of_losses(one, direction.along)), direction.point);
    }
  }
  result.diagnostics = {{"parameters", one_or_all(parameters)}, {"samples", one_or_all(samples)}};
  return result;
}

double TrainingFlow::flops(std::size_t point) const {
  return point < trainings_.size() ? training(point).flops() : 0;
}

Outcome TrainingFlow::run(const Replicate& replicate) const {
  Outcome outcome;
  if (replicate.point() == trainings_.size()) {
    for (std::size_t k = 0; k < trainings_.size(); ++k) {
      const FlowTraining& one = training(k);
      const std::vector<FlowDirection> directions = one.directions();
      if (directions.empty()) continue;
      const VectorXd gradient = one.gradient();
      for (const FlowDirection& direction : directions) {
        add_constant(
            outcome, "slope", PredictedValue(gradient.dot(direction.along)), direction.point);
      }
    }
    return outcome;
  }
  const FlowTraining& one = training(replicate.point());
  std::vector<Curves> curves = flow_curves(one);
  const networks::TrainingResult end =
      one.train(replicate, [&](std::uint64_t step, const std::vector<double>& values) {
        for (std::size_t i = 0; i < curves.size(); ++i) {
          curves[i].add(static_cast<double>(step), {values[i]});
        }
      });
  mark_end(outcome, end);
  if (curves[0].empty()) return outcome;  // stopped or diverged before the first record
  for (const Curves& curve : curves) curve.into(outcome);
  return outcome;
}

networks::Activation activation_of(const Configuration& c, std::string_view key) {
  static const Choices<networks::Activation> kActivations = {{"relu", networks::Activation::relu},
                                                             {"tanh", networks::Activation::tanh},
                                                             {"silu", networks::Activation::silu}};
  return kActivations.of(c, key);
}

TrainingPlan flow_plan(const networks::OptimiserOptions& optimiser,
                       std::int64_t batch,
                       std::vector<std::uint64_t> recorded,
                       VectorXd start) {
  using networks::OptimiserKind;
  TrainingPlan plan{.start = std::move(start),
                    .rate = [eta = optimiser.learning_rate, schedule = optimiser.schedule](
                                std::uint64_t step) { return eta * schedule(step); },
                    .decay = optimiser.weight_decay,
                    .decoupled = optimiser.decoupled_decay,
                    .clip_norm = optimiser.clip_norm,
                    .batch = batch,
                    .recorded = std::move(recorded)};
  if (optimiser.kind == OptimiserKind::heavy_ball) {
    plan.update = Update::heavy_ball;
    plan.momentum = optimiser.momentum;
  }
  if (optimiser.kind == OptimiserKind::adam) {
    plan.update = Update::adam;
    plan.beta1 = optimiser.beta1;
    plan.beta2 = optimiser.beta2;
    plan.epsilon = optimiser.epsilon;
  }
  return plan;
}

networks::TrainingResult mean_of_runs(
    std::uint64_t runs,
    const std::vector<std::uint64_t>& recorded,
    const Replicate& replicate,
    const FlowTraining::Record& record,
    const std::function<networks::TrainingResult(
        const StreamAddress& run,
        const std::function<void(const std::vector<double>& values)>& tell)>& train) {
  std::vector<std::vector<double>> means(recorded.size());
  networks::TrainingResult result{};
  for (std::uint64_t run = 0; run < runs; ++run) {
    StreamAddress address = replicate.address();
    address.replicate = address.replicate * runs + run;
    std::size_t step = 0;
    result = train(address, [&](const std::vector<double>& values) {
      std::vector<double>& mean = means[step++];
      mean.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        mean[i] += values[i] / static_cast<double>(runs);
      }
    });
    if (result.status != networks::TrainingStatus::finished) return result;
  }
  for (std::size_t k = 0; k < means.size(); ++k) record(recorded[k], means[k]);
  return result;
}

namespace {

/// "W_Q" for "layer0.W_Q", "W_Q.2" for "layer1.W_Q".
std::string block_label(std::string_view block) {
  constexpr std::string_view kLayer = "layer";
  const std::size_t dot = block.find('.');
  std::string label(block.substr(dot + 1));
  if (!block.starts_with(kLayer)) return label;
  const int layer = std::stoi(std::string(block.substr(kLayer.size(), dot - kLayer.size())));
  return layer == 0 ? label : fmt::format("{}.{}", label, layer + 1);
}

}  // namespace

TransformerFlow::TransformerFlow(const networks::Transformer<float>& start,
                                 const networks::OptimiserOptions& optimiser,
                                 std::int64_t batch,
                                 const std::vector<std::uint64_t>& recorded)
    : shape_(start.shape()),
      start_(start.parameters()),
      plan_(flow_plan(optimiser, batch, recorded, networks::trained_values(start_))),
      place_(plan_.start) {}

networks::Transformer<float> TransformerFlow::start() const {
  networks::Transformer<float> network(shape_);
  network.parameters() = start_;
  return network;
}

void TransformerFlow::measure_square(const std::string& block) {
  measure("square", {{"block", block_label(block)}}, [block](auto& network) {
    return static_cast<double>(network.parameters().matrix(block).map().squaredNorm());
  });
}

void TransformerFlow::add_direction(const std::string& block, const Point& outer) {
  networks::Transformer<double> network(shape_);
  for (double& x : network.parameters().values()) x = 0;
  auto entries = network.parameters().matrix(block).map();
  for (Index i = 0; i < entries.rows(); ++i) {
    for (Index j = 0; j < entries.cols(); ++j) {
      entries(i, j) = std::cos(static_cast<double>(1 + 2 * i + 3 * j));
    }
  }
  directions_.push_back({.point = joined(outer, {{"block", block_label(block)}}),
                         .along = networks::trained_values(network.parameters()).normalized()});
}

void TransformerFlow::add_all_directions(const Point& outer) {
  constexpr double kFar = 0.3;
  for (const networks::Block& block : start_.blocks()) {
    if (block.frozen) continue;
    add_direction(block.name, outer);
    // In single precision, as the simulation has it.
    place_ += kFar * directions_.back().along;
  }
  place_ = place_.cast<float>().cast<double>().eval();
}

std::vector<FlowNumber> TransformerFlow::numbers() const {
  std::vector<FlowNumber> all;
  for (const Measure& m : measures_) {
    all.push_back({m.series, m.point, [this, f = m.in_theory](const VectorXd& theta) {
                     return population().measure(theta, f);
                   }});
  }
  return all;
}

std::vector<FlowDirection> TransformerFlow::directions() const { return directions_; }

VectorXd TransformerFlow::gradient() const {
  networks::Transformer<float> network = start();
  networks::set_trained_values(network.parameters(), place_);
  network.loss_and_gradient(all_samples());
  networks::Parameters<float> gradient = start_;
  std::ranges::copy(network.gradient(), gradient.values().begin());
  return networks::trained_values(gradient);
}

std::vector<double> TransformerFlow::values(networks::Transformer<float>& network) const {
  std::vector<double> all{loss(network)};
  for (const Measure& m : measures_) all.push_back(m.in_a_run(network));
  return all;
}

}  // namespace attica
