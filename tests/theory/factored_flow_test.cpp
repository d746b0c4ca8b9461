#include "attica/theory/factored_flow.hpp"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/potts_ensembles.hpp"
#include "attica/core/potts_enumeration.hpp"
#include "core/reference_models.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using nlohmann::json;

TEST_CASE("factored_flow: matches the reference and conserves what it must", "[theory][potts]") {
  const json& r = reference_values("potts").at("factored_population_flow");
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

TEST_CASE("early_growth: singular values match the reference", "[theory][potts]") {
  const json& r = reference_values("potts").at("potts");
  const EarlyGrowth growth = early_growth(enumerate(cosine_model(4, 3, 1.2)).states, 3);
  for (Index k = 0; k < 9; ++k) {
    CHECK_THAT(growth.singular_values[k] / 4,
               WithinAbs(r["gamma_singular_values_over_L"][static_cast<std::size_t>(k)], 1e-13));
  }
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
  const json& r = reference_values("potts").at("potts_asymptotics_L5");
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
