#include "attica/core/potts/model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "attica/core/softmax.hpp"
#include "core/reference_models.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using namespace attica;
using namespace attica::testing;
using attica::testing::Reference;
using Catch::Matchers::WithinAbs;
using Eigen::Index;
using Eigen::MatrixXd;

namespace potts_model_test {

// The reference values hold 16 digits; sums run over at most 243 states.
constexpr double kTolerance = 1e-12;
constexpr double kScale = 0.3;  // of the recorded student

TEST_CASE("PottsModel: enumeration matches the reference", "[core][potts]") {
  const Reference r = reference_values("potts").at("potts");
  const PottsModel model = cosine_model(r["L"], r["C"], r["beta"]);
  CHECK((model.couplings() - matrix(r["J"])).cwiseAbs().maxCoeff() < kTolerance);
  CHECK((model.colour_couplings() - matrix(r["U"])).cwiseAbs().maxCoeff() < kTolerance);
  const PottsEnumeration all = enumerate(model);
  CHECK_THAT(all.log_partition, WithinAbs(r["lnZ"], kTolerance));
  for (Index n = 0; n < 5; ++n) {
    CHECK_THAT(all.states.weights[n],
               WithinAbs(r["p_first5"][static_cast<std::size_t>(n)], kTolerance));
  }
  CHECK_THAT(bayes_loss(model, all.states), WithinAbs(r["eps_opt"], kTolerance));
  CHECK((marginals(all.states, 3) - matrix(r["marginals"]).transpose()).cwiseAbs().maxCoeff() <
        kTolerance);
  MatrixXd log_p;
  model.as_student().logits(all.states.sequences.row(50).data(), log_p);
  log_softmax_columns(log_p);
  const MatrixXd p = log_p.array().exp();
  CHECK((p - matrix(r["cond_state50"]["p"]).transpose()).cwiseAbs().maxCoeff() < kTolerance);
}

TEST_CASE("factored_loss: loss, gradient and excess match the reference", "[core][potts]") {
  const Reference r = reference_values("potts").at("potts");
  const PottsModel model = cosine_model(4, 3, 1.2);
  const FactoredAttention student = deterministic_student(4, 3, kScale);
  const WeightedSequences population = enumerate(model).states;
  FactoredAttention gradient;
  CHECK_THAT(factored_loss(student, population, &gradient), WithinAbs(r["loss"], kTolerance));
  CHECK((gradient.attention - matrix(r["dA"])).cwiseAbs().maxCoeff() < kTolerance);
  CHECK((gradient.values - matrix(r["dV"])).cwiseAbs().maxCoeff() < kTolerance);
  const ExcessLoss excess(model, population);
  CHECK_THAT(excess(student), WithinAbs(r["excess_KL"], kTolerance));
  CHECK_THAT(excess.bayes_loss(), WithinAbs(r["eps_opt"], kTolerance));
  CHECK_THAT(coupling_error(model, student), WithinAbs(r["gauge_err"], kTolerance));

  const Sequences data = matrix(r["data"]).cast<std::uint8_t>();
  CHECK_THAT(factored_loss(student, equally_weighted(data), &gradient),
             WithinAbs(r["loss_data"], kTolerance));
  CHECK((gradient.attention - matrix(r["dA_data"])).cwiseAbs().maxCoeff() < kTolerance);
  CHECK((gradient.values - matrix(r["dV_data"])).cwiseAbs().maxCoeff() < kTolerance);
}

TEST_CASE("PottsModel: ring of two colours has the transfer matrix's partition function",
          "[core][potts]") {
  // Z = lambda_+^L + lambda_-^L with lambda = e^beta +- 1 for U = 1 and C = 2.
  const double beta = 0.7;
  const Index sites = 6;
  const PottsModel model(ring_couplings(sites), potts_colour_couplings(2), beta);
  const double z = std::pow(std::exp(beta) + 1, 6) + std::pow(std::exp(beta) - 1, 6);
  CHECK_THAT(enumerate(model).log_partition, WithinAbs(std::log(z), kTolerance));
}

TEST_CASE("PottsModel: without couplings nothing can be learnt", "[core][potts]") {
  const PottsModel model(MatrixXd::Zero(3, 3), potts_colour_couplings(4), 1);
  const PottsEnumeration all = enumerate(model);
  CHECK_THAT(bayes_loss(model, all.states), WithinAbs(std::log(4.0), kTolerance));
  CHECK_THAT(marginal_loss(all.states, 4), WithinAbs(std::log(4.0), kTolerance));
  CHECK(std::isnan(coupling_error(model, deterministic_student(3, 4, kScale))));
}

TEST_CASE("PottsModel: huge couplings stay finite", "[core][potts]") {
  const PottsModel model(ring_couplings(4), potts_colour_couplings(3), 1e5);
  const PottsEnumeration all = enumerate(model);
  // Three states of four satisfied bonds dominate.
  CHECK_THAT(all.log_partition, WithinAbs(4e5 + std::log(3.0), 1e-9));
  CHECK_THAT(bayes_loss(model, all.states), WithinAbs(0, kTolerance));
}

TEST_CASE("coupling_error: does not see the gauge, and is 0 at the truth", "[core][potts]") {
  const PottsModel model = cosine_model(5, 3, 0.9);
  FactoredAttention student = model.as_student();
  student.attention *= -2;
  student.values /= -2;
  student.values.rowwise() += Eigen::RowVector3d(0.3, -1, 2);
  CHECK_THAT(coupling_error(model, student), WithinAbs(0, kTolerance));
  const ExcessLoss excess(model, enumerate(model).states);
  CHECK_THAT(excess(student), WithinAbs(0, kTolerance));
  const FactoredAttention shown = display_gauge(model, student);
  CHECK((shown.attention - model.as_student().attention).norm() < kTolerance);
  // A field g 1^T in V does change the conditionals when the couplings' row sums are not 0.
  student.values.colwise() += Eigen::Vector3d(0.3, -0.1, 0);
  CHECK(coupling_error(model, student) > 1e-3);
  CHECK(excess(student) > 1e-4);
}

TEST_CASE("ExcessLoss: sequences of other models are refused before they are read",
          "[core][potts]") {
  const PottsModel model = cosine_model(5, 3, 0.9);
  WeightedSequences population = enumerate(model).states;
  population.sequences(0, 0) = 200;  // a colour that no coupling has
  CHECK(refused([&] { ExcessLoss(model, population); }) == "sequences");
  const WeightedSequences shorter = enumerate(cosine_model(4, 3, 0.9)).states;
  CHECK(refused([&] { ExcessLoss(model, shorter); }) == "sequences");
}

TEST_CASE("potts ensembles: symmetric, and zero-sum where asked", "[core][potts]") {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const MatrixXd u = zero_sum(gaussian_colour_couplings(5, stream));
  CHECK(u.colwise().sum().cwiseAbs().maxCoeff() < kTolerance);
  CHECK((u - u.transpose()).cwiseAbs().maxCoeff() == 0);
  const MatrixXd j = gaussian_couplings(60, stream);
  // 1770 pairs of variance 1/60: the mean square has a relative standard error of 3.4 %.
  CHECK(std::abs(j.squaredNorm() / (60 * 59) * 60 - 1) < 0.15);
  CHECK(binary_couplings(40, 0.25, stream).sum() / (40 * 39) == Approx(0.25).margin(0.06));
  CHECK(ring_couplings(2).sum() == 2);
}

TEST_CASE("PottsModel: refuses bad input and names it", "[core][potts]") {
  const MatrixXd j = ring_couplings(3);
  const MatrixXd u = potts_colour_couplings(3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  MatrixXd bad = j;
  bad(0, 1) = 2;
  CHECK(refused([&] { PottsModel(bad, u, 1); }) == "couplings");
  bad = j;
  bad(1, 1) = 1;
  CHECK(refused([&] { PottsModel(bad, u, 1); }) == "couplings");
  bad(1, 1) = nan;
  CHECK(refused([&] { PottsModel(bad, u, 1); }) == "couplings");
  CHECK(refused([&] { PottsModel(MatrixXd::Zero(2, 3), u, 1); }) == "couplings");
  bad = u;
  bad(0, 2) = 1;
  CHECK(refused([&] { PottsModel(j, bad, 1); }) == "colour_couplings");
  CHECK(refused([&] { PottsModel(j, u, nan); }) == "beta");
  CHECK(refused([&] { PottsModel(j, u, -1); }) == "accepted");
  CHECK(refused([&] { cosine_couplings(1); }) == "sites");
  CHECK(refused([&] { potts_colour_couplings(1); }) == "colours");
  RandomStream stream({.seed = 1});
  CHECK(refused([&] { binary_couplings(4, 0, stream); }) == "density");
  CHECK(refused([&] { enumerate(cosine_model(12, 5, 1)); }) == "sites");
  CHECK(refused([&] { equally_weighted(Sequences(0, 3)); }) == "sequences");
  Sequences s = Sequences::Zero(2, 3);
  s(1, 2) = 3;
  CHECK(refused([&] { require_sequences(s, 3, 3); }) == "sequences");
  CHECK(refused([&] { require_sequences(s, 4, 5); }) == "sequences");
}

}  // namespace potts_model_test
