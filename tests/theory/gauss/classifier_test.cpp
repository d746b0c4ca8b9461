#include "attica/theory/gauss/classifier.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/theory/gauss/labels.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Catch::Matchers::WithinRel;
using Eigen::ArrayXd;
using Eigen::Index;

namespace gauss_classifier_theory_test {

ArrayXd spectrum() {
  return ArrayXd::NullaryExpr(
      30, [](Index k) { return std::pow(0.3 + 0.1 * static_cast<double>(k), 2); });
}

TEST_CASE("random_signs: square loss is ridge regression of the signs", "[theory]") {
  // Another route: there the equation of the effective penalty is solved, here four means over a
  // normal law. Losses are halves of mean squares.
  const LinearTask task{.spectrum = spectrum(), .weights2 = ArrayXd::Zero(30), .noise = 1};
  for (const double samples : {12.0, 30.0, 100.0}) {
    for (const double lambda : {0.02, 0.5, 4.0}) {
      const RandomSigns signs =
          random_signs(task.spectrum, samples, lambda, ClassifierLoss::square);
      const LabelRidge ridge = label_ridge(task, samples, lambda, RidgeOrder::leading);
      CAPTURE(samples, lambda);
      CHECK_THAT(2 * signs.train_loss, WithinRel(ridge.train_error, 1e-8));
      CHECK_THAT(2 * signs.objective, WithinRel(ridge.objective, 1e-8));
      CHECK_THAT(1 + signs.test_variance, WithinRel(ridge.test_error, 1e-8));
    }
  }
}

TEST_CASE("random_signs: the least objective has the loss and norm that the envelope demands",
          "[theory]") {
  // d(min)/dλ is the explicit derivative, ½‖ŵ‖²: a relation between two numbers of the solution
  // that its equations do not contain.
  constexpr double kStep = 1e-4;
  for (const double samples : {15.0, 60.0}) {
    for (const double lambda : {0.05, 1.0}) {
      const auto at = [&](double l) {
        return random_signs(spectrum(), samples, l, ClassifierLoss::logistic);
      };
      const double slope =
          (at(lambda * (1 + kStep)).objective - at(lambda * (1 - kStep)).objective) /
          (2 * kStep * lambda);
      CAPTURE(samples, lambda);
      CHECK_THAT(slope, WithinRel(0.5 * at(lambda).weight_norm2, 1e-6));
    }
  }
}

TEST_CASE("random_signs: large penalties leave a coin, small ones a law without covariance",
          "[theory]") {
  const double coin = std::log(2.0);
  const RandomSigns stiff = random_signs(spectrum(), 40, 1e6, ClassifierLoss::logistic);
  CHECK_THAT(stiff.objective, WithinRel(coin, 1e-5));
  // To first order in 1/λ the weights are the mean of y x/2 over λ.
  CHECK_THAT(stiff.weight_norm2, WithinRel(spectrum().sum() / (4 * 40 * 1e12), 1e-4));
  // Above two samples an input random signs cannot be separated (Cover 1965), and without penalty
  // what is left depends on α alone.
  for (const double alpha : {3.0, 6.0}) {
    const auto left = [&](const ArrayXd& s) {
      return random_signs(s, 30 * alpha, 1e-7, ClassifierLoss::logistic).train_loss;
    };
    CHECK_THAT(left(spectrum()), WithinRel(left(ArrayXd::Ones(30)), 1e-4));
    CHECK(left(ArrayXd::Ones(30)) < coin);
  }
  CHECK(random_signs(spectrum(), 30, 1e-4, ClassifierLoss::logistic).train_loss < 0.02);
}

TEST_CASE("random_signs: bad input is named", "[theory]") {
  const auto with = [](const ArrayXd& s, double samples, double lambda) {
    return refused(
        [&] { static_cast<void>(random_signs(s, samples, lambda, ClassifierLoss::logistic)); });
  };
  CHECK(with(spectrum(), 0.5, 1) == "samples");
  CHECK(with(spectrum(), 30, 0) == "lambda");
  CHECK(with(ArrayXd::Zero(3), 30, 1) == "spectrum");
}

}  // namespace gauss_classifier_theory_test
