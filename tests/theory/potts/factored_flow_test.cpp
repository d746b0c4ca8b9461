#include "attica/theory/potts/factored_flow.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "core/reference_models.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using attica::testing::Reference;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;

TEST_CASE("factored_flow: matches the reference and conserves what it must", "[theory][potts]") {
  const Reference r = reference_values("potts").at("factored_population_flow");
  const PottsModel model = cosine_model(r["L"], r["C"], r["beta"]);
  const WeightedSequences population = enumerate(model).states;
  const ExcessLoss excess(model, population);
  const FactoredAttention start = deterministic_student(5, 3, r["eps"]);
  const FactoredFlow flow = factored_flow(start, population, r["t"].get<std::vector<double>>());
  REQUIRE(flow.solution.finished());
  const double difference = start.attention.squaredNorm() - start.values.squaredNorm();
  for (std::size_t k = 0; k < flow.students.size(); ++k) {
    const FactoredAttention& s = flow.students[k];
    // Relative tolerance 1e-8 of the integrator, on both sides, over 160 units of time.
    CHECK_THAT(excess(s), WithinAbs(r["excess"][k], 1e-7));
    CHECK_THAT(s.attention.squaredNorm() - s.values.squaredNorm(), WithinAbs(difference, 1e-6));
    CHECK((s.values.colwise().sum() - start.values.colwise().sum()).norm() < 1e-12);
  }
}

TEST_CASE("MaskedContexts: gradient and excess loss are those of sequence by sequence",
          "[theory][potts]") {
  const PottsModel model = cosine_model(5, 3, 0.8);
  const FactoredAttention student = deterministic_student(5, 3, 0.4);
  const PottsEnumeration all = enumerate(model);
  // All states; and a sample in which contexts are there with some of the colours only.
  const WeightedSequences few =
      equally_weighted(all.states.sequences(Eigen::seqN(0, 40, 6), Eigen::all));
  for (const WeightedSequences& population : {all.states, few}) {
    const MaskedContexts contexts(population, 3);
    FactoredAttention expected;
    factored_loss(student, population, &expected);
    const FactoredAttention found = contexts.gradient(student);
    CHECK((found.attention - expected.attention).cwiseAbs().maxCoeff() < 1e-15);
    CHECK((found.values - expected.values).cwiseAbs().maxCoeff() < 1e-15);
  }
  const double excess = ExcessLoss(model, all.states)(student);
  CHECK_THAT(MaskedContexts(all.states, 3).excess_loss(model.as_student(), student),
             WithinRel(excess, 1e-13));
}

TEST_CASE("factored_tail: the curvature is that of the loss, the slope's covariance its own",
          "[theory][potts]") {
  // H by central differences of the gradient, K from the gradient of every state.
  const PottsModel model = cosine_model(4, 3, 1.1);
  const WeightedSequences population = enumerate(model).states;
  const FactoredAttention& truth = model.as_student();
  const auto flat = [](const FactoredAttention& s) {
    Eigen::VectorXd x(25);
    x << s.attention.reshaped(), s.values.reshaped();
    return x;
  };
  const Eigen::VectorXd at = flat(truth);
  const auto gradient = [&](const Eigen::VectorXd& x, const WeightedSequences& data) {
    FactoredAttention g;
    const FactoredAttention s{x.head(16).reshaped(4, 4), x.tail(9).reshaped(3, 3)};
    factored_loss(s, data, &g);
    return flat(g);
  };
  constexpr double kStep = 1e-4;  // errors of the order of its square
  MatrixXd hessian(25, 25);
  for (Index k = 0; k < 25; ++k) {
    Eigen::VectorXd step = Eigen::VectorXd::Zero(25);
    if (k >= 16 || k % 5 != 0) step[k] = kStep;  // not the diagonal of A
    hessian.col(k) =
        (gradient(at + step, population) - gradient(at - step, population)) / (2 * kStep);
  }
  MatrixXd covariance = MatrixXd::Zero(25, 25);
  for (Index n = 0; n < population.sequences.rows(); ++n) {
    const Eigen::VectorXd g = gradient(at, equally_weighted(population.sequences.row(n)));
    covariance += population.weights[n] * g * g.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(
      MatrixXd(0.5 * (hessian + hessian.transpose())));
  const LearningTail tail = factored_tail(model, population);
  double trace = 0;
  for (Index k = 25 - tail.rank; k < 25; ++k) {
    const auto direction = eigen.eigenvectors().col(k);
    trace += direction.dot(covariance * direction) / eigen.eigenvalues()[k];
  }
  CHECK_THAT(tail.trace, WithinRel(trace, 1e-5));
  CHECK_THAT(tail.least_curvature, WithinRel(eigen.eigenvalues()[25 - tail.rank], 1e-5));
}

TEST_CASE("early_growth: the largest singular value matches the reference", "[theory][potts]") {
  const Reference r = reference_values("potts").at("potts");
  const EarlyGrowth growth = early_growth(enumerate(cosine_model(4, 3, 1.2)).states, 3);
  CHECK_THAT(growth.singular_value / 4, WithinAbs(r["gamma_singular_values_over_L"][0], 1e-13));
}

TEST_CASE("early_overlap: is the flow from a small start", "[theory][potts]") {
  const PottsModel model = cosine_model(5, 3, 0.8);
  const WeightedSequences population = enumerate(model).states;
  const EarlyGrowth growth = early_growth(population, 3);
  for (const double scale : {1e-3, 1e-4}) {
    const FactoredAttention start = deterministic_student(5, 3, scale);
    const std::vector<double> times{0, 10, 20};
    const FactoredFlow flow = factored_flow(start, population, times);
    for (std::size_t k = 0; k < times.size(); ++k) {
      const double expected = early_overlap(growth, start, times[k]);
      // What the law neglects is of relative order A V times the time.
      CHECK_THAT(leading_overlap(growth, flow.students[k]), WithinRel(expected, 20 * scale));
    }
  }
}

TEST_CASE("factored_tail: matches the reference", "[theory][potts]") {
  const Reference r = reference_values("potts").at("potts_asymptotics_L5");
  const PottsModel model = cosine_model(5, 3, r["beta"]);
  const LearningTail tail = factored_tail(model, enumerate(model).states);
  // The reference took the Hessian from central differences.
  CHECK_THAT(tail.trace, WithinRel(r["factored_tr_HpinvJ"].get<double>(), 1e-5));
  CHECK(tail.rank == r["factored_rank"].get<Index>());
  CHECK(general_tail(5, 3).rank == r["plm_d_per_site"].get<Index>());
}

TEST_CASE("factored_tail: independent sites count the parameters of a row", "[theory][potts]") {
  // As beta tends to 0, V = U is seen through A only, and A = 0: what is left is one linear
  // coefficient per A_ij. Each row is a well-specified regression with L - 1 parameters, and the
  // Hessian does not mix rows, so that the average over sites of tr(H^-1 K) is L - 1.
  const PottsModel model(ring_couplings(4), cosine_colour_couplings(3), 1e-9);
  const LearningTail tail = factored_tail(model, enumerate(model).states);
  CHECK(tail.rank == 12);
  CHECK_THAT(tail.trace, WithinRel(3.0, 1e-6));
}

TEST_CASE("orient: the start grows to positive values, whatever the sign", "[theory][potts]") {
  const WeightedSequences population = enumerate(cosine_model(4, 3, 1.2)).states;
  EarlyGrowth growth = early_growth(population, 3);
  for (const double sign : {1.0, -1.0}) {
    const FactoredAttention start = deterministic_student(4, 3, sign * 1e-3);
    orient(growth, start);
    CHECK(early_overlap(growth, start, 100) > 0);
  }
}

TEST_CASE("general_spread: kurtosis of what a sequence tells", "[theory][potts]") {
  const auto spread = [](double beta, Index sites, Index colours) {
    const PottsModel model(cosine_couplings(sites), cosine_colour_couplings(colours), beta);
    return general_spread(model, enumerate(model).states);
  };
  // Without couplings all sequences tell alike: q = d at each of them, as indicators of equally
  // likely colours have the same norm in the metric of their covariance.
  CHECK(spread(0, 4, 3) == Approx(1).epsilon(1e-10));
  CHECK(spread(1, 4, 3) > 1.2);
  CHECK(spread(3, 4, 3) > 5 * spread(1, 4, 3));

  // Two sites of two colours: the score of site 0 is (e - p)(1, [s_1 = 0]), so that each context c
  // is a regression of its own and q = (e - p_c)²/(P(c) p_c (1 - p_c)).
  MatrixXd couplings = MatrixXd::Zero(2, 2);
  couplings(0, 1) = couplings(1, 0) = 1;
  const MatrixXd colours = MatrixXd::Identity(2, 2);
  const PottsModel pair(couplings, colours, 1.5);
  const WeightedSequences states = enumerate(pair).states;
  double mean = 0;
  double square = 0;
  const auto weight = [&](int a, int b) {
    for (Index n = 0; n < states.sequences.rows(); ++n) {
      if (states.sequences(n, 0) == a && states.sequences(n, 1) == b) return states.weights[n];
    }
    return 0.0;
  };
  for (const int b : {0, 1}) {
    const double context = weight(0, b) + weight(1, b);
    for (const int a : {0, 1}) {
      const double p = weight(a, b) / context;
      const double q = (1 - p) / (context * p);
      mean += weight(a, b) * q;
      square += weight(a, b) * q * q;
    }
  }
  CHECK(mean == Approx(2));  // parameters
  CHECK(general_spread(pair, states) == Approx(square / (mean * mean)).epsilon(1e-10));
}
