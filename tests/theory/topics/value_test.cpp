// Value matrix under uniform attention.

#include "attica/theory/topics/value.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include "attica/core/error.hpp"
#include "theory/topics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using attica::testing::Reference;

// Moments and optima are short sums of numbers of order one; optima divide by eigenvalues of Σ
// down to 1e-4.
constexpr double kMoments = 1e-14;
constexpr double kOptima = 1e-10;

TEST_CASE("value_moments: match the reference for all priors and lengths", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["stage1"]) {
    const TopicModel model(topic_settings(c));
    const CommutantAlgebra algebra(model.vocabulary());
    const ValueMoments m = value_moments(model);
    INFO(c["T"] << " " << c["v"] << " " << c["prior"] << " " << c["N"]);
    if (c.contains("phi2")) {
      CHECK(model.theta_squared() == Approx(c["phi2"].get<double>()).epsilon(1e-14));
      CHECK(model.theta_product() == Approx(c["phi11"].get<double>()).epsilon(1e-14));
    }
    // Classes without entries are 0 here.
    const Commutant there = (algebra.counts().array() > 0).cast<double>();
    CHECK(difference(m.sigma, commutant_of(c["Sigma"]).cwiseProduct(there)) < kMoments);
    CHECK(difference(m.target, commutant_of(c["C"]).cwiseProduct(there)) < kMoments);
    for (const Reference o : c["opt"]) {
      const Commutant w = value_optimum(algebra, m, o["lam"]);
      INFO("lambda " << o["lam"]);
      CHECK(difference(w, commutant_of(o["W"]).cwiseProduct(there)) < kOptima);
      CHECK(value_loss(algebra, m, w) ==
            Approx(o["loss_unregularised"].get<double>()).epsilon(kOptima));
      if (o.contains("fro")) {
        CHECK(std::sqrt(algebra.squared_norm(w)) ==
              Approx(o["fro"].get<double>()).epsilon(kOptima));
      }
    }
    if (c.contains("closed_form_limit")) {
      CHECK(difference(value_closed_form(model), commutant_of(c["closed_form_limit"])) < 1e-14);
      CHECK(difference(value_closed_form(model), value_optimum(algebra, m, 0)) < 1e-12);
    }
  }
}

TEST_CASE("value_left: what so many mean steps from 0 are off the optimum", "[theory][topics]") {
  const TopicModel model({.vocabulary = {4, 3}, .topics_per_document = 2});
  const CommutantAlgebra algebra(model.vocabulary());
  const ValueMoments m = value_moments(model);
  const double eta = 0.3;  // 1 - 2η (s + λ) > 0 for all eigenvalues: no sign is lost
  for (const double lambda : {0.0, 1e-3, 0.1}) {
    const Commutant optimum = value_optimum(algebra, m, lambda);
    Commutant w = Commutant::Zero();
    for (int n = 0; n <= 300; ++n) {
      if (n % 100 == 0) {
        CAPTURE(lambda, n);
        const Commutant left = value_left(algebra, m, eta, lambda, n);
        CHECK((w - optimum - left).norm() <= 1e-12 * optimum.norm());
      }
      w = mean_value_step(algebra, m, w, eta, lambda);
    }
  }
}

TEST_CASE("mean_value_step: the recursion matches the reference", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["stage1_mean_sgd"]) {
    const TopicModel model(topic_settings(c));
    const CommutantAlgebra algebra(model.vocabulary());
    const ValueMoments m = value_moments(model);
    Commutant w = Commutant::Zero();
    int step = 0;
    for (const Reference at : c["traj"]) {
      for (; step < at["step"].get<int>(); ++step)
        w = mean_value_step(algebra, m, w, c["lr"], c["lam"]);
      CHECK(difference(w, commutant_of(at["W"])) < kOptima);
      CHECK(value_loss(algebra, m, w) == Approx(at["loss"].get<double>()).epsilon(kOptima));
    }
  }
}

TEST_CASE("value_optimum: its dense form solves the dense normal equations", "[theory][topics]") {
  const TopicModel model({.vocabulary = {3, 2},
                          .topics_per_document = 2,
                          .length = {{7, 9}},
                          .mask_rate = 0.3,
                          .keep_rate = 0.2,
                          .random_rate = 0.1});
  const CommutantAlgebra algebra(model.vocabulary());
  const ValueMoments m = value_moments(model);
  constexpr double kLambda = 0.01;
  const Eigen::MatrixXd w = algebra.dense(value_optimum(algebra, m, kLambda));
  const Eigen::MatrixXd residual =
      w * algebra.dense(m.sigma) + kLambda * w - algebra.dense(m.target);
  CHECK(residual.cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("value_closed_form: refused where it does not apply", "[theory][topics]") {
  const TopicSettings all{.vocabulary = {3, 2}, .topics_per_document = 3};
  CHECK_THROWS_WITH(value_closed_form(TopicModel(all)),
                    Catch::Matchers::Contains("topics_per_document"));
  TopicSettings finite{.vocabulary = {3, 2}, .topics_per_document = 2, .length = {{20, 20}}};
  CHECK_THROWS_WITH(value_closed_form(TopicModel(finite)), Catch::Matchers::Contains("length"));
}

TEST_CASE("topics that share words: the contrast of W_V falls by the share in common",
          "[theory][topics]") {
  // No code of the theory, which has no such topics, but the statement of docs/topics.md. Topics on
  // a ring have v words each and share s with either neighbour; documents have two of them.
  constexpr Eigen::Index kTopics = 5;
  constexpr Eigen::Index kWords = 4;
  constexpr double kKappa = 0.865;
  constexpr double kRho = 0.015;
  constexpr double kMu = 1 - kKappa - kRho;
  for (const Eigen::Index shared : {0, 1, 2}) {
    const Eigen::Index apart = kWords - shared;
    const Eigen::Index words = kTopics * apart;
    Eigen::MatrixXd laws = Eigen::MatrixXd::Zero(words + 1, kTopics);  // the mask comes first
    for (Eigen::Index t = 0; t < kTopics; ++t) {
      for (Eigen::Index k = 0; k < kWords; ++k) laws(1 + (t * apart + k) % words, t) = 1.0 / kWords;
    }
    Eigen::VectorXd noise = Eigen::VectorXd::Constant(words + 1, kRho / static_cast<double>(words));
    noise[0] = kMu;
    Eigen::MatrixXd sigma = Eigen::MatrixXd::Zero(words + 1, words + 1);
    Eigen::MatrixXd target = sigma;
    for (Eigen::Index s = 0; s < kTopics; ++s) {
      for (Eigen::Index t = 0; t < s; ++t) {
        const Eigen::VectorXd law = (laws.col(s) + laws.col(t)) / 2;
        const Eigen::VectorXd shown = kKappa * law + noise;
        sigma += shown * shown.transpose();
        target += law * shown.transpose();
      }
    }
    const Eigen::MatrixXd w =
        target * sigma.completeOrthogonalDecomposition().pseudoInverse();  // of least norm
    const Eigen::MatrixXd means = laws.transpose() * w * laws;  // of entries between two topics
    for (Eigen::Index t = 1; t < kTopics; ++t) {
      const bool neighbour = t == 1 || t == kTopics - 1;
      const double common = neighbour ? static_cast<double>(shared) / kWords : 0;
      CAPTURE(shared, t);
      CHECK(means(0, 0) - means(0, t) == Approx((1 - common) / (kKappa * kWords)));
    }
  }
}
