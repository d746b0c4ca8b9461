/// Growth under uniform attention: reference values, sampling, limits.

#include "attica/theory/joma_uniform.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "core/joma_reference.hpp"

using namespace attica;
using Catch::Matchers::Contains;
using Eigen::VectorXd;

namespace {

VectorXd vector(const nlohmann::json& list) {
  const std::vector<double> values = attica::testing::numbers(list);
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

TEST_CASE("cluster_drift: reference values", "[theory][joma]") {
  const auto& row = attica::testing::joma_reference()["bounce_hblt"]["stein"];
  const VectorXd v = vector(row["v"]);
  const VectorXd centre = vector(row["center"]);
  for (const auto& [name, expected] : row["cases"].items()) {
    const JomaActivation activation = attica::testing::kActivation.at(name);
    const ClusterForce force = cluster_force(activation, v.dot(centre), row["sigma"], v.norm());
    CHECK(force.along_centre == Approx(expected["theta1"].get<double>()).epsilon(1e-13));
    CHECK(force.along_weight == Approx(expected["theta2"].get<double>()).margin(1e-14));
    const VectorXd drift = cluster_drift(activation, v, centre, row["sigma"]);
    CHECK((drift - vector(expected["value"])).norm() < 1e-14);
  }
}

TEST_CASE("cluster_force: wide clusters", "[theory][joma]") {
  // E tanh'(s xi) = 2 n(0)/s (1 - c/s^2 + ...) as s grows: E f(s xi) s sqrt(2 pi) -> int f, and
  // int tanh' x^2 dx = pi^2/6 gives c = pi^2/24.
  constexpr double kSpread = 50;
  const double expected =
      2 / (kSpread * std::sqrt(2 * M_PI)) * (1 - M_PI * M_PI / 24 / (kSpread * kSpread));
  // The next term is of order s^-4.
  CHECK(cluster_force(JomaActivation::tanh, 0, kSpread, 1).along_centre ==
        Approx(expected).epsilon(1 / std::pow(kSpread, 4)));
  // sigma^2 E phi'' = d theta1/dr sigma^2: by central differences.
  constexpr double kStep = 1e-5;
  for (const JomaActivation a : {JomaActivation::tanh, JomaActivation::silu}) {
    const double slope = (cluster_force(a, 0.3 + kStep, 2, 1.5).along_centre -
                          cluster_force(a, 0.3 - kStep, 2, 1.5).along_centre) /
                         (2 * kStep);
    CHECK(cluster_force(a, 0.3, 2, 1.5).along_weight == Approx(4 * slope).epsilon(1e-8));
  }
}

TEST_CASE("cluster_drift: SiLU against sampling", "[theory][joma]") {
  VectorXd v(2);
  v << 0.8, -0.5;
  VectorXd centre(2);
  centre << 0.3, 1.1;
  constexpr double kSigma = 0.7;
  constexpr int kSamples = 40000;
  RandomStream stream({.seed = 9});
  VectorXd sum = VectorXd::Zero(2);
  for (int i = 0; i < kSamples; ++i) {
    VectorXd x = centre;
    for (double& e : x) e += kSigma * stream.normal();
    const double s = v.dot(x);
    const double g = 1 / (1 + std::exp(-s));
    sum += (g + s * g * (1 - g)) * x;
  }
  // Entries of phi'(v.x) x have a deviation below 1: four standard errors.
  CHECK((sum / kSamples - cluster_drift(JomaActivation::silu, v, centre, kSigma))
            .cwiseAbs()
            .maxCoeff() < 4 / std::sqrt(kSamples));
}

TEST_CASE("cluster_force: bad input is refused by name", "[theory][joma]") {
  CHECK_THROWS_WITH(cluster_force(JomaActivation::relu, 0.1, 0.5, 0), Contains("norm"));
  CHECK_THROWS_WITH(cluster_force(JomaActivation::tanh, 0.1, -0.5, 1), Contains("sigma"));
}
