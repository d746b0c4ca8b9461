#include "attica/sim/gauss/classifier.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace gauss_classifier_test {

struct Problem {
  MatrixXd inputs;
  VectorXd signs;
};

Problem problem(Index samples, Index n) {
  RandomStream stream({.seed = 3});
  Problem p;
  p.inputs = MatrixXd::NullaryExpr(samples, n, [&](Index, Index) { return stream.normal(); });
  p.signs =
      VectorXd::NullaryExpr(samples, [&](Index) { return stream.below(2) == 0 ? 1.0 : -1.0; });
  return p;
}

/// The objective, term by term.
double objective(const Problem& p, const VectorXd& w, double lambda) {
  double sum = 0;
  for (Index m = 0; m < p.signs.size(); ++m)
    sum += std::log(1 + std::exp(-p.signs[m] * p.inputs.row(m).dot(w)));
  return sum / static_cast<double>(p.signs.size()) + 0.5 * lambda * w.squaredNorm();
}

TEST_CASE("logistic_fit: no step away from the minimum lowers the objective", "[sim]") {
  RandomStream stream({.seed = 4});
  for (const Index samples : {6, 40}) {
    const Problem p = problem(samples, 10);
    for (const double lambda : {1e-3, 0.2, 5.0}) {
      const LogisticFit fit = logistic_fit(p.inputs, p.signs, lambda);
      CHECK(fit.objective == Approx(objective(p, fit.weights, lambda)).epsilon(1e-12));
      CHECK(fit.objective - 0.5 * lambda * fit.weights.squaredNorm() ==
            Approx(fit.train_loss).epsilon(1e-12));
      for (int k = 0; k < 20; ++k) {
        const VectorXd way =
            VectorXd::NullaryExpr(10, [&](Index) { return 1e-3 * stream.normal(); });
        CHECK(objective(p, fit.weights + way, lambda) > fit.objective);
      }
      // From elsewhere to the same place.
      const LogisticFit again =
          logistic_fit(p.inputs, p.signs, lambda, VectorXd::Constant(10, 3.0));
      CHECK((again.weights - fit.weights).norm() <= 1e-5 * fit.weights.norm());
    }
  }
}

TEST_CASE("logistic_fit: one input is a root of one equation", "[sim]") {
  // x = y = 1 always: λ w = 1/(1 + e^w).
  const LogisticFit fit = logistic_fit(MatrixXd::Ones(4, 1), VectorXd::Ones(4), 0.1);
  CHECK(0.1 * fit.weights[0] == Approx(1 / (1 + std::exp(fit.weights[0]))).epsilon(1e-6));
}

TEST_CASE("logistic_fit: bad input is named", "[sim]") {
  const Problem p = problem(5, 2);
  CHECK(refused([&] { static_cast<void>(logistic_fit(p.inputs, p.signs, 0)); }) == "lambda");
  CHECK(refused([&] { static_cast<void>(logistic_fit(p.inputs, p.signs.head(3), 1)); }) == "signs");
  CHECK(refused([&] {
          static_cast<void>(logistic_fit(p.inputs, p.signs, 1, VectorXd::Ones(3)));
        }) == "start");
}

}  // namespace gauss_classifier_test
