#include "attica/sim/potts/pseudo_likelihood.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/sim/potts/factored_attention.hpp"
#include "attica/sim/potts/sampler.hpp"
#include "finite_differences.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Eigen::Index;

namespace potts_pseudo_likelihood_test {

constexpr double kTolerance = 1e-12;

Sequences random_sequences(Index count, Index sites, Index colours) {
  RandomStream stream({.seed = 21});
  Sequences s(count, sites);
  for (Index n = 0; n < s.size(); ++n) {
    s.data()[n] = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(colours)));
  }
  return s;
}

TEST_CASE("PseudoLikelihood: W_ij = A_ij V is the loss of factored attention", "[sim][potts]") {
  for (const auto& [sites, colours] : {std::pair<Index, Index>{5, 3}, {11, 21}, {3, 40}, {4, 2}}) {
    RandomStream stream({.seed = 1, .id = StreamId::initialisation});
    const FactoredAttention student = random_student(sites, colours, 0.5, stream);
    const WeightedSequences data = equally_weighted(random_sequences(300, sites, colours));
    PseudoLikelihood problem(data, colours, 0);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(sites * problem.site_parameters());
    for (Index i = 0; i < sites; ++i) {
      double* next = x.data() + i * problem.site_parameters() + colours;
      for (Index j = 0; j < sites; ++j) {
        if (j == i) continue;
        Eigen::Map<Eigen::MatrixXd>(next, colours, colours) =
            student.attention(i, j) * student.values;
        next += colours * colours;
      }
    }
    Eigen::VectorXd gradient(x.size());
    CHECK_THAT(problem.all_sites(x.data(), gradient.data()),
               WithinAbs(factored_loss(student, data), kTolerance));
    // Shifting all logits of a site changes nothing.
    CHECK(std::abs(gradient.head(colours).sum()) < kTolerance);
  }
}

TEST_CASE("PseudoLikelihood: gradient equals central differences", "[sim][potts]") {
  const Index colours = 5;
  const WeightedSequences data = equally_weighted(random_sequences(150, 4, colours));
  PseudoLikelihood problem(data, colours, 0.1);
  RandomStream stream({.seed = 2});
  Eigen::VectorXd x(problem.site_parameters());
  for (double& v : x) v = 0.5 * stream.normal();
  Eigen::VectorXd gradient(x.size());
  problem.site(2, x.data(), gradient.data());
  testing::check_gradient([&] { return problem.site(2, x.data(), nullptr); },
                          testing::entries(x),
                          testing::entries(gradient),
                          {.stride = 3});
}

TEST_CASE("fit_pseudo_likelihood: on the population it is exact", "[sim][potts]") {
  const PottsModel model(cosine_couplings(4), cosine_colour_couplings(3), 1.2);
  const ExcessLoss excess(model, enumerate(model).states);
  const PseudoLikelihoodFit fit =
      fit_pseudo_likelihood(excess.population(), 3, 0, {.gradient_tolerance = 1e-8});
  CHECK(fit.converged);
  // The excess is quadratic in the gradient, 1e-8.
  CHECK_THAT(fit.objective, WithinAbs(excess.bayes_loss(), 1e-12));
  CHECK(excess([&](Index row, Eigen::MatrixXd& logits) {
          fit.logits(excess.population().sequences.row(row).data(), logits);
        }) < 1e-12);
}

TEST_CASE("fit_pseudo_likelihood: Newton's fit in zero-sum coding is stationary for all couplings",
          "[sim][potts]") {
  const Index colours = 4;
  const WeightedSequences data = distinct(random_sequences(2000, 4, colours));
  for (const double lambda : {0.0, 0.01}) {
    const PseudoLikelihoodFit fit =
        fit_pseudo_likelihood(data, colours, lambda, {.gradient_tolerance = 1e-9});
    CHECK(fit.converged);
    PseudoLikelihood problem(data, colours, lambda);
    Eigen::VectorXd gradient(problem.site_parameters());
    double objective = 0;
    for (Index i = 0; i < problem.sites(); ++i) {
      const Eigen::VectorXd x = fit.parameters.col(i);
      objective += problem.site(i, x.data(), gradient.data()) / 4;
      CHECK(gradient.cwiseAbs().maxCoeff() < 1e-8);
    }
    CHECK_THAT(objective, WithinAbs(fit.objective, kTolerance));
  }
}

TEST_CASE("fit_pseudo_likelihood: a colour never seen has no finite bias unless it is penalised",
          "[sim][potts]") {
  const WeightedSequences two_of_three = equally_weighted(random_sequences(500, 3, 2));
  CHECK_FALSE(fit_pseudo_likelihood(two_of_three, 3, 0.1).converged);
  const PseudoLikelihoodFit fit =
      fit_pseudo_likelihood(two_of_three, 3, 0.1, {.gradient_tolerance = 1e-9}, 0.1);
  CHECK(fit.converged);
  PseudoLikelihood problem(two_of_three, 3, 0.1, 0.1);
  Eigen::VectorXd gradient(problem.site_parameters());
  const Eigen::VectorXd x = fit.parameters.col(1);
  problem.site(1, x.data(), gradient.data());
  CHECK(gradient.cwiseAbs().maxCoeff() < 1e-8);
}

TEST_CASE("fit_factored: on the population it finds the model; a penalty balances the norms",
          "[sim][potts]") {
  const PottsModel model(cosine_couplings(4), cosine_colour_couplings(3), 1.2);
  const ExcessLoss excess(model, enumerate(model).states);
  RandomStream stream({.seed = 7, .id = StreamId::initialisation});
  const FactoredFit fit =
      fit_factored(excess.population(), 3, {.search = {.gradient_tolerance = 1e-8}}, stream);
  CHECK(fit.converged);
  CHECK(excess(fit.student) < 1e-10);
  CHECK(coupling_error(model, fit.student) < 1e-6);
  // At a stationary point lambda |A|^2 = lambda |V|^2: the loss does not see a scale moved between.
  const FactoredFit decayed = fit_factored(
      excess.population(), 3, {.lambda = 0.01, .search = {.gradient_tolerance = 1e-8}}, stream);
  CHECK(decayed.converged);
  CHECK(decayed.student.attention.norm() == Approx(decayed.student.values.norm()).epsilon(1e-5));
  CHECK(decayed.student.attention.norm() > 0.1);
}

TEST_CASE("closest_factored: gives back couplings of the form A_ij V", "[sim][potts]") {
  const PottsModel model(cosine_couplings(4), cosine_colour_couplings(3), 1.2);
  const ExcessLoss excess(model, enumerate(model).states);
  const PseudoLikelihoodFit fit =
      fit_pseudo_likelihood(excess.population(), 3, 0, {.gradient_tolerance = 1e-10});
  // The fit is in the zero-sum gauge of both colours: what it takes from V's rows is in the biases.
  const FactoredAttention student = closest_factored(fit);
  for (Index i = 0; i < 4; ++i) {
    for (Index k = 0; k < 3; ++k) {
      const Eigen::MatrixXd w = fit.parameters.col(i).segment(3 + 9 * k, 9).reshaped(3, 3);
      CHECK((w - student.attention(i, k < i ? k : k + 1) * student.values).norm() < 1e-8);
    }
  }
  CHECK_THAT(student.attention.norm(), WithinAbs(student.values.norm(), kTolerance));
}

TEST_CASE("pseudo-likelihood: separable data do not converge without a penalty", "[sim][potts]") {
  const Sequences two = (Sequences(2, 2) << 0, 0, 1, 1).finished();
  const WeightedSequences data = equally_weighted(two);
  CHECK_FALSE(fit_pseudo_likelihood(data, 2, 0).converged);
  CHECK(fit_pseudo_likelihood(data, 2, 0.01).converged);
  CHECK_THROWS_AS(PseudoLikelihood(data, 2, -1), Error);
  CHECK_THROWS_AS(PseudoLikelihood(data, 1, 0), Error);
}

TEST_CASE("distinct: keeps the sample's frequencies", "[sim][potts]") {
  const Sequences sample = random_sequences(500, 3, 2);
  const WeightedSequences data = distinct(sample);
  CHECK(data.sequences.rows() == 8);
  CHECK_THAT(data.weights.sum(), WithinAbs(1, kTolerance));
  RandomStream stream({.seed = 3});
  const FactoredAttention student = random_student(3, 2, 1, stream);
  CHECK_THAT(factored_loss(student, data),
             WithinAbs(factored_loss(student, equally_weighted(sample)), kTolerance));
}

}  // namespace potts_pseudo_likelihood_test
