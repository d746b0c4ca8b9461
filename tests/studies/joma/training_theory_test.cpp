/// @file
/// @brief The flows of joma-softmax against the training theory of the same networks: descent on
/// the population, of which the study's modified flow has two orders of the rate.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/sim/joma/networks.hpp"
#include "attica/theory/joma/flow.hpp"
#include "attica/theory/training/first_order.hpp"
#include "attica/theory/training/flow.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::VectorXd;

namespace studies_joma_training_theory_test {

/// A network with its samples one by one.
class JomaPopulation : public PopulationModel {
 public:
  explicit JomaPopulation(const JomaProblem& problem) : problem_(problem) {}

  Index parameters() const override { return problem_.start.flat().size(); }
  const VectorXd& weights() const override { return problem_.model.samples().weights; }
  void pass(const VectorXd& theta,
            VectorXd& losses,
            const VectorXd* weights,
            VectorXd* gradient) const override {
    const JomaState state = problem_.start.from_flat(theta);
    losses.resize(this->weights().size());
    if (gradient != nullptr) gradient->setZero(theta.size());
    for (Index s = 0; s < losses.size(); ++s) {
      const std::array<int, 1> chosen = {static_cast<int>(s)};
      const std::array<double, 1> whole = {1};
      JomaState descent;
      losses[s] = problem_.model.loss(state, chosen, whole, gradient ? &descent : nullptr);
      if (gradient != nullptr) *gradient -= (*weights)[s] * descent.flat();
    }
  }

 private:
  const JomaProblem& problem_;
};

TEST_CASE("joma-softmax: its flows are those of the training theory to their orders of the rate",
          "[studies][joma][study:joma-softmax]") {
  const JomaProblem problem =
      class_contexts({.tokens = 4, .classes = 2, .bumps = true, .temperature = 1}, 3);
  const JomaPopulation population(problem);
  constexpr double kTime = 4;
  const std::array times = {0.0, kTime};
  const std::vector<Observable> entries = {[](const VectorXd& theta) { return theta[0]; },
                                           [](const VectorXd& theta) { return theta.norm(); }};

  const auto limit = training_flow(population, problem.start.flat(), {kTime}, entries).front();
  const JomaFlow flow = joma_flow(problem.model, problem.start, times);
  CHECK(problem.model.loss(flow.states.back()) == Approx(limit.loss.order_0).epsilon(1e-8));
  CHECK(flow.states.back().flat().norm() == Approx(limit.observed[1].order_0).epsilon(1e-8));

  // What the modified flow leaves out of whole steps, at so many of them.
  const auto left = [&](std::uint64_t steps, int orders) {
    const double eta = kTime / static_cast<double>(steps);
    const TrainingPlan plan{.start = problem.start.flat(),
                            .rate = [eta](std::uint64_t) { return eta; },
                            .recorded = {steps}};
    const auto record = training_theory(population, plan, entries).back();
    const JomaState state =
        joma_flow(problem.model, problem.start, times, {}, eta, orders).states.back();
    return std::array{problem.model.loss(state) - record.loss.order_0,
                      entries[0](state.flat()) - record.observed[0].order_0,
                      entries[1](state.flat()) - record.observed[1].order_0};
  };
  for (const int orders : {1, 2}) {
    const auto coarse = left(32, orders);
    const auto fine = left(64, orders);
    for (std::size_t k = 0; k < coarse.size(); ++k) {
      CAPTURE(orders, k);
      CHECK(std::log2(coarse[k] / fine[k]) == Approx(orders + 1).margin(0.25));
    }
  }
}

}  // namespace studies_joma_training_theory_test
