/// @file
/// @brief Batches that take a random part of every sample: all data sets and all batches of a tiny
/// model.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "attica/core/grouped_population.hpp"
#include "attica/theory/training/first_order.hpp"
#include "theory/training/models.hpp"

using namespace attica;
using attica::testing::SampledModel;
using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace training_parts_test {

/// Squares of v tanh(w x) - y at three points, two of which make a sample.
struct Tiny {
  static SampledModel points(const VectorXd& p) {
    return {2, p, [](const VectorXd& theta, Index s, VectorXd& gradient) {
              const double x = 0.5 + 0.7 * static_cast<double>(s);
              const double y = s == 1 ? 1 : -0.3;
              const double t = std::tanh(theta[0] * x);
              const double miss = theta[1] * t - y;
              gradient << miss * theta[1] * (1 - t * t) * x, miss * t;
              return miss * miss / 2;
            }};
  }
  static GroupedPopulation::Members pairs() {
    GroupedPopulation::Members members(2, 3);
    members << 0, 1, 2, 1, 2, 0;
    return members;
  }

  VectorXd p = Vector3d(0.5, 0.3, 0.2);
  SampledModel parts = points(Vector3d(0.35, 0.4, 0.25));  // as p has them
  GroupedPopulation samples{parts, pairs(), p};

  TrainingPlan plan(std::int64_t data, std::int64_t batch) const {
    return {.start = Eigen::Vector2d(0.6, 0.9),
            .rate = [](std::uint64_t) { return 0.3; },
            .batch = batch,
            .samples = data,
            .revisit = Revisit::replace,
            .parts = &parts,
            .recorded = {2}};
  }
};

/// All counts of three kinds with their probabilities.
void for_counts(int total,
                const Vector3d& p,
                const std::function<void(const Vector3d& shares, double probability)>& visit) {
  for (int a = 0; a <= total; ++a) {
    for (int b = 0; a + b <= total; ++b) {
      const Vector3d counts(a, b, total - a - b);
      double log_p = std::lgamma(total + 1.0);
      bool possible = true;
      for (int k = 0; k < 3; ++k) {
        if (counts[k] > 0 && p[k] <= 0) possible = false;
        if (counts[k] > 0) log_p += counts[k] * std::log(p[k]) - std::lgamma(counts[k] + 1);
      }
      if (possible) visit(counts / total, std::exp(log_p));
    }
  }
}

struct Left {
  double test, train;
};

/// Exact means over data sets and runs less those of the theory.
Left left_of(const Tiny& tiny, const TrainingPlan& plan) {
  Left exact{0, 0};
  for_counts(static_cast<int>(plan.samples), tiny.p, [&](const Vector3d& data, double of_data) {
    // A random one of the two points of a random sample.
    const Vector3d shown((data[0] + data[2]) / 2, (data[0] + data[1]) / 2, (data[1] + data[2]) / 2);
    const std::function<void(const VectorXd&, double, int)> run =
        [&](const VectorXd& theta, double probability, int step) {
          VectorXd losses;
          if (step == 2) {
            tiny.parts.pass(theta, losses, nullptr, nullptr);
            exact.test += probability * tiny.parts.weights().dot(losses);
            exact.train += probability * shown.dot(losses);
            return;
          }
          for_counts(static_cast<int>(plan.batch), shown, [&](const Vector3d& batch, double share) {
            const VectorXd w = batch;
            VectorXd gradient(2);
            tiny.parts.pass(theta, losses, &w, &gradient);
            run(theta - 0.3 * gradient, probability * share, step + 1);
          });
        };
    run(plan.start, of_data, 0);
  });
  const TrainingTheoryRecord found = training_theory(tiny.samples, plan).back();
  return {exact.test - found.loss.value(), exact.train - found.train_loss.value()};
}

TEST_CASE("training_theory: what first order leaves of batches of parts falls as 1/M^2",
          "[theory]") {
  const Tiny tiny;
  const Left before = left_of(tiny, tiny.plan(8, 4));
  const Left after = left_of(tiny, tiny.plan(16, 8));
  CHECK(before.test / after.test == Approx(4).margin(0.4));
  // Of the train loss the second order nearly cancels: the ratio is 7.6, close to that of the
  // third.
  CHECK(before.train / after.train > 3.6);
  // Of whole samples the noise is another one, already at first order.
  TrainingPlan whole = tiny.plan(16, 8);
  whole.parts = nullptr;
  CHECK(std::abs(left_of(tiny, whole).test) > 5 * std::abs(after.test));
}

TEST_CASE("training_theory: fresh parts are samples of their own", "[theory]") {
  const Tiny tiny;
  TrainingPlan plan = tiny.plan(0, 8);
  plan.recorded = {1, 7};
  const auto found = training_theory(tiny.samples, plan);
  plan.parts = nullptr;
  const auto expected = training_theory(tiny.parts, plan);
  for (const std::size_t k : {0, 1}) {
    CHECK(found[k].loss.shift == Approx(expected[k].loss.shift).epsilon(1e-6));
    CHECK(found[k].loss.variance == Approx(expected[k].loss.variance).epsilon(1e-6));
    CHECK(found[k].batch_loss.variance == Approx(expected[k].batch_loss.variance).epsilon(1e-6));
  }
}

TEST_CASE("training_theory: several parts of a sample, as samples of their own", "[theory]") {
  const Tiny tiny;
  TrainingPlan plan = tiny.plan(0, 8);
  plan.recorded = {1, 7};
  plan.parts_taken = 2;
  const auto found = training_theory(tiny.samples, plan);
  // Of every sample (a, b): twice a, each once, twice b.
  GroupedPopulation::Members members(2, 9);
  VectorXd p(9);
  for (Index s = 0; s < 3; ++s) {
    const Index a = Tiny::pairs()(0, s);
    const Index b = Tiny::pairs()(1, s);
    members.middleCols(3 * s, 3) << a, a, b, a, b, b;
    p.segment(3 * s, 3) = tiny.p[s] * Vector3d(0.25, 0.5, 0.25);
  }
  const GroupedPopulation twos(tiny.parts, members, p);
  plan.parts = nullptr;
  plan.parts_taken = 1;
  const auto expected = training_theory(twos, plan);
  for (const std::size_t k : {0, 1}) {
    CHECK(found[k].loss.shift == Approx(expected[k].loss.shift).epsilon(1e-6));
    CHECK(found[k].loss.variance == Approx(expected[k].loss.variance).epsilon(1e-6));
    CHECK(found[k].batch_loss.variance == Approx(expected[k].batch_loss.variance).epsilon(1e-6));
  }
  plan.parts_taken = 2;
  CHECK_THROWS_WITH(training_theory(twos, plan), Catch::Contains("parts_taken"));
}

TEST_CASE("training_theory: where parts are not described", "[theory]") {
  const Tiny tiny;
  TrainingPlan plan = tiny.plan(8, 4);
  plan.revisit = Revisit::epoch;
  CHECK_THROWS_WITH(training_theory(tiny.samples, plan), Catch::Contains("parts"));
  plan = tiny.plan(8, 4);
  CHECK_THROWS_WITH(training_theory(tiny.samples, plan, {}, {.pairs = 4}),
                    Catch::Contains("parts"));
}

}  // namespace training_parts_test
