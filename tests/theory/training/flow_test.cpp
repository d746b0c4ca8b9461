#include "attica/theory/training/flow.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "refused.hpp"
#include "theory/training/models.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::VectorXd;

namespace training_flow_test {

Reference flow_reference() {
  for (const Reference r : reference_values("training")["cases"]) {
    if (r.contains("T")) return r;
  }
  throw std::runtime_error("no flow in the reference");
}

TEST_CASE("training_flow: the limit of small rates", "[theory]") {
  const Reference r = flow_reference();
  const SampledModel model = reference_model("tiny");
  const double time = r["T"];
  const auto flow = training_flow(model, reference_start("tiny"), {0, time / 2, time});
  CHECK(flow[0].theta == reference_start("tiny"));
  CHECK((flow[2].theta - vector(r["theta"])).norm() < 1e-8);
  CHECK(flow[2].loss.order_0 == Approx(r["loss"].real()).epsilon(1e-8));
  CHECK(flow[2].loss.numerical_error < 1e-6);

  // Descent, batches and samples: first order in eta, eta/B, 1/M; two rates leave their square.
  struct Slopes {
    double rate, batch, samples;
  };
  const auto slopes = [&](std::uint64_t steps) {
    const double eta = time / static_cast<double>(steps);
    TrainingPlan plan{.start = reference_start("tiny"),
                      .rate = [eta](std::uint64_t) { return eta; },
                      .batch = 100,
                      .recorded = {steps}};
    const Moment batch = training_theory(model, plan).back().loss;
    plan.batch = 0;
    plan.samples = 100;
    const Moment samples = training_theory(model, plan).back().loss;
    return Slopes{
        (batch.order_0 - flow[2].loss.order_0) / eta, 100 * batch.shift / eta, 100 * samples.shift};
  };
  const Slopes coarse = slopes(80);
  const Slopes fine = slopes(160);
  CHECK(2 * fine.rate - coarse.rate == Approx(r["e1"].real()).epsilon(2e-3));
  CHECK(2 * fine.batch - coarse.batch == Approx(r["b1"].real()).epsilon(2e-3));
  CHECK(2 * fine.samples - coarse.samples == Approx(r["m1"].real()).epsilon(2e-3));
}

TEST_CASE("training_flow: weight decay, observables and refusals", "[theory]") {
  // theta' = -(theta - 1) - theta / 2 on a loss of (theta - 1)^2/2: 2/3 (1 - exp(-3t/2)).
  const SampledModel model(
      1, VectorXd::Ones(1), [](const VectorXd& theta, Eigen::Index, VectorXd& gradient) {
        gradient[0] = theta[0] - 1;
        return gradient[0] * gradient[0] / 2;
      });
  const VectorXd start = VectorXd::Zero(1);
  const Observable value = [](const VectorXd& theta) { return theta[0]; };
  const auto flow = training_flow(model, start, {1.5}, {value}, 0.5);
  const double expected = 2.0 / 3 * (1 - std::exp(-2.25));
  CHECK(flow[0].observed[0].order_0 == Approx(expected).epsilon(1e-8));
  CHECK(flow[0].loss.order_0 == Approx((expected - 1) * (expected - 1) / 2).epsilon(1e-8));
  CHECK(refused([&] { training_flow(model, VectorXd::Zero(2), {1.0}); }) == "start");
  CHECK(refused([&] { training_flow(model, start, {1.0, 1.0}); }) == "times");
  CHECK(refused([&] { training_flow(model, start, {-1.0}); }) == "times");
  CHECK(refused([&] { training_flow(model, start, {1.0}, {}, -1); }) == "decay");
}

}  // namespace training_flow_test
