#include "attica/solvers/multinomial_regression.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("fit_multinomial: recovers the coefficients that made the targets", "[solvers]") {
  const Eigen::Index cases = 40;
  MatrixXd features(3, cases);
  for (Eigen::Index n = 0; n < cases; ++n) {
    const auto t = static_cast<double>(n);
    features.col(n) << 1, std::sin(1.3 * t), std::cos(0.7 * t * t);
  }
  MatrixXd truth(4, 3);
  truth << 0.5, -1, 2, -0.3, 0.4, -1, 1.1, 0.2, -2, -1.3, 0.4, 1;
  const MatrixXd logits = truth * features;
  MatrixXd targets = logits.array().exp();
  for (auto column : targets.colwise()) column /= column.sum();
  const VectorXd weights = VectorXd::LinSpaced(cases, 1, 3) / (2.0 * cases);
  const MultinomialFit fit = fit_multinomial(features, targets, weights);
  REQUIRE(fit.converged);
  const MatrixXd centred = truth.rowwise() - truth.colwise().mean();
  CHECK((fit.coefficients - centred).cwiseAbs().maxCoeff() < 1e-8);
  const double entropy =
      -((targets.array() * targets.array().log()).matrix().colwise().sum() * weights).value();
  CHECK(fit.loss == Approx(entropy).epsilon(1e-12));
}

TEST_CASE("fit_multinomial: one feature gives the mean target", "[solvers]") {
  const MatrixXd features = MatrixXd::Ones(1, 2);
  MatrixXd targets(2, 2);
  targets << 1, 0, 0, 1;
  const VectorXd weights = (VectorXd(2) << 0.25, 0.75).finished();
  const MultinomialFit fit = fit_multinomial(features, targets, weights);
  REQUIRE(fit.converged);
  CHECK(fit.coefficients(0) - fit.coefficients(1) == Approx(std::log(0.25 / 0.75)).epsilon(1e-10));
}

TEST_CASE("fit_multinomial: separable targets do not converge, equal features do", "[solvers]") {
  MatrixXd features(2, 2);
  features << 1, 1, 1, -1;
  const MatrixXd targets = MatrixXd::Identity(2, 2);
  const VectorXd weights = VectorXd::Constant(2, 0.5);
  const MultinomialFit fit = fit_multinomial(features, targets, weights, {.max_iterations = 15});
  CHECK_FALSE(fit.converged);  // the optimum lies at infinity
  // A feature given twice leaves a direction flat; the loss has its minimum all the same.
  const MatrixXd twice = MatrixXd::Ones(2, 2);
  const MultinomialFit flat = fit_multinomial(twice, targets, weights);
  CHECK(flat.converged);
  CHECK(flat.loss == Approx(std::log(2)));
  CHECK_THROWS_WITH(fit_multinomial(twice, MatrixXd::Identity(2, 3), weights),
                    Catch::Contains("targets"));
}

TEST_CASE("fit_multinomial: a penalty balances the pull of the targets", "[solvers]") {
  const MatrixXd features = (MatrixXd(2, 3) << 1, 1, 1, -1, 0.5, 2).finished();
  const MatrixXd targets = (MatrixXd(2, 3) << 1, 0, 1, 0, 1, 0).finished();
  const VectorXd weights = VectorXd::Constant(3, 1.0 / 3);
  const VectorXd penalties = (VectorXd(2) << 0.1, 0.3).finished();
  const MultinomialFit fit = fit_multinomial(features, targets, weights, {.penalties = penalties});
  CHECK(fit.converged);
  MatrixXd p = (fit.coefficients * features).array().exp();
  for (Eigen::Index n = 0; n < 3; ++n) p.col(n) /= p.col(n).sum();
  const MatrixXd pull = (targets - p) * weights.asDiagonal() * features.transpose();
  CHECK((pull - fit.coefficients * penalties.asDiagonal()).norm() < 1e-10);
  CHECK_THROWS(fit_multinomial(features, targets, weights, {.penalties = VectorXd::Ones(3)}));
}

TEST_CASE("fit_multinomial: cases in pieces give the fit of all at once", "[solvers]") {
  // Targets that no coefficients give, so that all cases pull.
  constexpr Index kCases = 1000;
  const MatrixXd features = MatrixXd::Random(4, kCases);
  MatrixXd targets = MatrixXd::Random(3, kCases).array().abs();
  for (Index n = 0; n < kCases; ++n) targets.col(n) /= targets.col(n).sum();
  // Half of the weight on the last tenth.
  VectorXd weights = VectorXd::Random(kCases).array().abs();
  weights.tail(kCases / 10) *= 9;
  weights /= weights.sum();
  const MultinomialFit whole = fit_multinomial(features, targets, weights);
  const auto cases = [&](std::span<const Index> numbers) {
    return MultinomialCases{features(Eigen::all, numbers), targets(Eigen::all, numbers)};
  };
  for (const Index most : {150, 400, 5000}) {
    CAPTURE(most);
    const MultinomialFit fit = fit_multinomial(weights, most, cases);
    CHECK(fit.converged);
    CHECK(fit.loss == Approx(whole.loss).epsilon(1e-13));
    CHECK((fit.coefficients - whole.coefficients).cwiseAbs().maxCoeff() < 1e-9);
  }
  // A sample that says too little of the rest: told, not wrong.
  CHECK_FALSE(fit_multinomial(weights, 5, cases).converged);
  CHECK_THROWS_WITH(fit_multinomial(weights, 0, cases), Catch::Contains("'most'"));
  CHECK_THROWS_WITH(fit_multinomial(weights, 150, cases, {.penalties = VectorXd::Ones(4)}),
                    Catch::Contains("'penalties'"));
}
