#pragma once
/// @file
/// @brief Trainings as an experiment: the training theory of their population against runs of the
/// simulation's own code.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/lazy.hpp"
#include "attica/sim/networks/population.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/studies/configuration.hpp"
#include "attica/studies/pointwise.hpp"
#include "attica/theory/training/first_order.hpp"

namespace attica {

/// @brief A number that is compared along training, besides the loss.
struct FlowNumber {
  std::string series;
  Point point;
  Observable value;  ///< as the theory takes it
};

/// @brief A direction in the space of the parameters along which the slope of the loss is compared.
struct FlowDirection {
  Point point;
  Eigen::VectorXd along;  ///< of length 1
};

/// @brief A training, all runs of which begin at one start.
class FlowTraining {
 public:
  using Record = std::function<void(std::uint64_t step, const std::vector<double>& values)>;

  virtual ~FlowTraining() = default;
  virtual Point point() const = 0;
  virtual const PopulationModel& population() const = 0;
  /// What is trained, with the start. Samples of a batch are drawn from the population.
  virtual const TrainingPlan& plan() const = 0;
  virtual TheoryMethod method() const = 0;
  virtual std::vector<FlowNumber> numbers() const = 0;
  /// @brief A run by the simulation's own code: at every recorded step the loss on the population,
  /// then the numbers in their order.
  virtual networks::TrainingResult train(const Replicate& replicate,
                                         const Record& record) const = 0;
  /// @brief Directions in which the gradient at `place` is compared with differences of losses: a
  /// theory that follows the backward pass of the simulation does not see its errors otherwise.
  virtual std::vector<FlowDirection> directions() const { return {}; }
  /// @brief Where slopes are compared; by default at the start. @shape{P}
  virtual Eigen::VectorXd place() const { return plan().start; }
  /// @brief The gradient there on the whole population, by the code that trains. @shape{P}
  virtual Eigen::VectorXd gradient() const { return {}; }
  /// Work of a run in floating-point operations.
  virtual double flops() const = 0;
};

/// @brief The series `loss`, `descent_loss` (theory alone), those of the numbers, and `slope`.
class TrainingFlow : public PointwiseExperiment {
 public:
  /// @param count trainings; each is made at its first use
  /// @param make  a function of values that it owns
  TrainingFlow(std::size_t count,
               const std::function<std::unique_ptr<FlowTraining>(std::size_t)>& make);

  TheoryResult theory(TheoryGrid grid) const override;
  /// The trainings, and one for all slopes.
  std::size_t points() const override { return trainings_.size() + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point == trainings_.size(); }
  double flops(std::size_t point) const override;
  Outcome run(const Replicate& replicate) const override;

  const FlowTraining& training(std::size_t k) const { return *trainings_[k]->get(); }

 private:
  std::vector<std::unique_ptr<Lazy<std::unique_ptr<FlowTraining>>>> trainings_;
};

/// @brief Activation of hidden units that a parameter names: `relu`, `tanh` or `silu`.
networks::Activation activation_of(const Configuration& c, std::string_view key);

/// @brief What an optimiser of sim/networks does, as the theory takes it.
TrainingPlan flow_plan(const networks::OptimiserOptions& optimiser,
                       std::int64_t batch,
                       std::vector<std::uint64_t> recorded,
                       Eigen::VectorXd start);

/// @brief The mean of some runs as one replicate, which of few replicates is near-symmetric.
/// @param train a run at an address; tells its values at every recorded step
networks::TrainingResult mean_of_runs(
    std::uint64_t runs,
    const std::vector<std::uint64_t>& recorded,
    const Replicate& replicate,
    const FlowTraining::Record& record,
    const std::function<networks::TrainingResult(
        const StreamAddress& run,
        const std::function<void(const std::vector<double>& values)>& tell)>& train);

/// @brief A training of a transformer. Numbers are taken of networks, in the theory in double
/// precision, in a run in single precision.
class TransformerFlow : public FlowTraining {
 public:
  const TrainingPlan& plan() const override { return plan_; }
  const networks::TransformerPopulation<double>& population() const override = 0;
  std::vector<FlowNumber> numbers() const override;
  std::vector<FlowDirection> directions() const override;
  Eigen::VectorXd place() const override { return place_; }
  Eigen::VectorXd gradient() const override;

 protected:
  /// @param start the network that all runs begin with
  TransformerFlow(const networks::Transformer<float>& start,
                  const networks::OptimiserOptions& optimiser,
                  std::int64_t batch,
                  const std::vector<std::uint64_t>& recorded);

  /// The mean loss of a network on the population, by code that the theory does not use.
  virtual double loss(networks::Transformer<float>& network) const = 0;
  /// All samples with their weights, as the simulation would see them in one batch.
  virtual networks::Batch all_samples() const = 0;

  /// @brief Adds a number. @param f of a network in either precision
  template <class F>
  void measure(std::string series, Point point, const F& f) {
    measures_.push_back({std::move(series), std::move(point), f, f});
  }
  /// @brief Adds the squared norm of a block: `square`.
  void measure_square(const std::string& block);
  /// @brief Adds a slope in a block: `slope`. @param outer joined with its name
  void add_direction(const std::string& block, const Point& outer);

  /// @brief Adds a slope in every trained block, at a place near the start where none is 0 by
  /// design.
  void add_all_directions(const Point& outer);

  /// The loss of a network and its numbers.
  std::vector<double> values(networks::Transformer<float>& network) const;
  /// @brief A network at the start.
  networks::Transformer<float> start() const;

 private:
  struct Measure {
    std::string series;
    Point point;
    std::function<double(networks::Transformer<double>&)> in_theory;
    std::function<double(networks::Transformer<float>&)> in_a_run;
  };

  networks::TransformerShape shape_;
  networks::Parameters<float> start_;
  TrainingPlan plan_;
  std::vector<Measure> measures_;
  std::vector<FlowDirection> directions_;
  Eigen::VectorXd place_;
};

}  // namespace attica
