#include "attica/sim/potts/factored_regression.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/sim/potts/coupling_scores.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"
#include "finite_differences.hpp"

using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace potts_factored_regression_test {

PottsModel model() { return {cosine_couplings(4), zero_sum(cosine_colour_couplings(3)), 1.2}; }

TEST_CASE("FactoredRegression: value and gradient", "[sim]") {
  const PottsEnumeration all = enumerate(model());
  constexpr double kLambda = 0.3;
  FactoredRegression objective(all.states, 3, kLambda, 0.2);
  RandomStream stream({.seed = 7});
  VectorXd x(objective.parameters());
  for (double& entry : x) entry = 0.5 * stream.normal();
  for (Index i = 0; i < 4; ++i) x[i * 5] = 0;
  // Without fields the loss is that of factored attention; the penalty is that of general
  // couplings A_ij V.
  VectorXd without = x;
  without.tail(12).setZero();
  const FactoredAttention student = objective.unpacked(without.data()).attention;
  double penalty = 0;
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      penalty += 0.5 * kLambda / 4 * (student.attention(i, j) * student.values).squaredNorm();
    }
  }
  CHECK(objective(without.data(), nullptr) ==
        Approx(factored_loss(student, all.states) + penalty).epsilon(1e-12));
  VectorXd gradient(x.size());
  const double value = objective(x.data(), gradient.data());
  CHECK(objective(x.data(), nullptr) == Approx(value).epsilon(1e-14));
  const auto diagonal = [](std::size_t k) { return k < 16 && k % 5 == 0; };
  for (std::size_t k = 0; k < 16; k += 5) CHECK(gradient[static_cast<Index>(k)] == 0);
  VectorXd moved = x;
  testing::check_gradient([&] { return objective(moved.data(), nullptr); },
                          testing::entries(moved),
                          testing::entries(gradient),
                          {.skip = diagonal});
}

TEST_CASE("fit_factored_regression: the model itself from its population", "[sim]") {
  const PottsModel truth = model();
  const PottsEnumeration all = enumerate(truth);
  const FactoredRegressionFit fit =
      fit_factored_regression(all.states, 3, 0, 0, {.gradient_tolerance = 1e-7});
  REQUIRE(fit.converged);
  CHECK(fit.objective == Approx(bayes_loss(truth, all.states)).epsilon(1e-9));
  CHECK(pseudo_likelihood_loss(fit.model, all.states) == Approx(fit.objective).epsilon(1e-12));
  // The fields leave V free up to a term f 1^T, which the scores do not see.
  // General couplings on the same population find the same conditionals, so the same scores.
  const PseudoLikelihoodFit general =
      fit_pseudo_likelihood(all.states, 3, 0, {.gradient_tolerance = 1e-9});
  const MatrixXd a = coupling_norms(fit.model.attention);
  const MatrixXd b = coupling_norms(general);
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-5);
  CHECK_THROWS_WITH(fit_factored_regression(all.states, 3, -1, 0, {}), Catch::Contains("lambda"));
}

TEST_CASE("fit_factored_regression: sequences that are all alike", "[sim]") {
  Sequences alike(3, 4);
  alike << 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1;
  const FactoredRegressionFit fit = fit_factored_regression(
      equally_weighted(alike), 3, 0.01, 0.001, {.gradient_tolerance = 1e-6});
  CHECK(fit.converged);
  CHECK(std::isfinite(fit.objective));
  CHECK(fit.objective < std::log(3.0) / 10);  // the fields alone predict every site
  CHECK(coupling_norms(fit.model.attention).isZero());
}

TEST_CASE("coupling scores: norms, correction, ranks", "[sim]") {
  // A_12 V with V zero-sum over three colours: the norm without colour 0 by hand.
  FactoredAttention student{MatrixXd::Zero(3, 3), MatrixXd::Zero(3, 3)};
  student.attention(0, 1) = student.attention(1, 0) = 2;
  student.values << 2, -1, -1, -1, 2, -1, -1, -1, 2;
  const MatrixXd norms = coupling_norms(student);
  CHECK(norms(0, 1) == Approx(2 * std::sqrt(4 + 1 + 1 + 4.0)));
  CHECK(norms(0, 2) == 0);
  // General couplings: W_10[b, a] is the same number as W_01[a, b]. M adds up to 0 both ways, so
  // that its norm without colour 0 is that of its last two rows and columns.
  MatrixXd m(3, 3);
  m << 1, -3, 2, 4, -2, -2, -5, 5, 0;
  PseudoLikelihoodFit general;
  general.colours = 3;
  general.parameters = MatrixXd::Zero(3 + 9, 2);
  Eigen::Map<MatrixXd>(general.parameters.col(0).data() + 3, 3, 3) = m;
  Eigen::Map<MatrixXd>(general.parameters.col(1).data() + 3, 3, 3) = m.transpose();
  CHECK(coupling_norms(general)(0, 1) == Approx(std::sqrt(4 + 4 + 25 + 0.0)));
  // And of A_12 V with V that is not symmetric, to which A_21 V^T belongs.
  FactoredAttention directed{MatrixXd::Zero(2, 2), MatrixXd::Zero(3, 3)};
  directed.values = m;
  directed.attention(0, 1) = 2;
  CHECK(coupling_norms(directed)(0, 1) == Approx(std::sqrt(4 + 4 + 25 + 0.0)));
  directed.attention(1, 0) = 2;  // (V + V^T)/2 of twice V: 2 (1.5, 1.5)
  CHECK(coupling_norms(directed)(0, 1) == Approx(2 * std::sqrt(4 + 2 * 2.25)));
  // A matrix F_ij = f_i f_j (i != j) leaves little after correction; a coupled pair stands out.
  MatrixXd f(4, 4);
  const VectorXd site = (VectorXd(4) << 1, 2, 3, 4).finished();
  f = site * site.transpose();
  f(0, 1) = f(1, 0) = 20;
  f.diagonal().setZero();
  const MatrixXd s = average_product_corrected(f);
  CHECK(s(0, 1) == s.maxCoeff());
  CHECK(s.diagonal().isZero());
  CHECK(s.isApprox(s.transpose()));
  // By hand: means 27/3, 34/3, 21/3, 24/3; overall 106/12.
  CHECK(s(0, 1) == Approx(20 - 9.0 * (34.0 / 3) / (106.0 / 12)));
  CHECK(pairs(f) == (VectorXd(6) << 20, 3, 4, 6, 8, 12).finished());
}

}  // namespace potts_factored_regression_test
