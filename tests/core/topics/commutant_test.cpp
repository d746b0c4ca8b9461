// The algebra of invariant matrices against dense matrices, and the topic model's domain.

#include "attica/core/topics/commutant.hpp"

#include <catch2/catch.hpp>

#include "attica/core/error.hpp"
#include "attica/core/topics/model.hpp"
#include "reference_values.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::Contains;

namespace topics_commutant_test {

Commutant some(double phase, const CommutantAlgebra& algebra) {
  Commutant x;
  for (Eigen::Index k = 0; k < kCommutantClasses; ++k)
    x[k] = algebra.counts()[k] > 0 ? std::sin(phase + 1.7 * static_cast<double>(k)) : 0;
  return x;
}

TEST_CASE("CommutantAlgebra: products, norms and traces are those of dense matrices",
          "[core][topics]") {
  constexpr double kRounding = 1e-14;
  for (const TopicVocabulary vocabulary : {TopicVocabulary{3, 2},
                                           TopicVocabulary{4, 1},
                                           TopicVocabulary{1, 3},
                                           TopicVocabulary{1, 1},
                                           TopicVocabulary{2, 5}}) {
    const CommutantAlgebra algebra(vocabulary);
    const Commutant x = some(0.3, algebra);
    const Commutant y = some(1.1, algebra);
    const Eigen::MatrixXd dense = algebra.dense(x) * algebra.dense(y);
    CHECK((algebra.dense(algebra.product(x, y)) - dense).cwiseAbs().maxCoeff() < 10 * kRounding);
    CHECK((algebra.project(algebra.dense(x)) - x).cwiseAbs().maxCoeff() < kRounding);
    CHECK((algebra.commutant(algebra.isotypic(x)) - x).cwiseAbs().maxCoeff() < kRounding);
    CHECK(algebra.squared_norm(x) == Approx(algebra.dense(x).squaredNorm()));
    CHECK(algebra.trace(x) == Approx(algebra.dense(x).trace()));
    CHECK((algebra.dense(transposed(x)) - algebra.dense(x).transpose()).norm() == 0);
    CHECK(algebra.counts().sum() == static_cast<double>(vocabulary.size() * vocabulary.size()));
  }
}

TEST_CASE("CommutantAlgebra: matches the reference", "[core][topics]") {
  const auto c = reference_values("topics")["commutant_product"][0];
  const CommutantAlgebra algebra({c["T"].get<Eigen::Index>(), c["v"].get<Eigen::Index>()});
  const auto read = [](Reference j) {
    Commutant x;
    for (Eigen::Index k = 0; k < kCommutantClasses; ++k) x[k] = j[static_cast<std::size_t>(k)];
    return x;
  };
  const Commutant x = read(c["x"]);
  CHECK((algebra.product(x, read(c["y"])) - read(c["xy"])).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(algebra.isotypic(x).topic == Approx(c["iso_x"]["topic"].get<double>()).epsilon(1e-15));
  CHECK(algebra.isotypic(x).within == Approx(c["iso_x"]["within"].get<double>()).epsilon(1e-15));
  CHECK(algebra.squared_norm(x) == Approx(c["fro2_x"].get<double>()).epsilon(1e-15));
  CHECK(algebra.trace(x) == Approx(c["trace_x"].get<double>()).epsilon(1e-15));
}

TEST_CASE("TopicModel: refuses what is out of its domain, by name", "[core][topics]") {
  const TopicSettings good{.vocabulary = {3, 2}, .topics_per_document = 2};
  CHECK_NOTHROW(TopicModel(good));
  const auto refuses = [&](auto change, const char* name) {
    TopicSettings s = good;
    change(s);
    CHECK_THROWS_WITH(TopicModel(s), Contains(name));
  };
  refuses([](TopicSettings& s) { s.vocabulary.topics = 0; }, "topics");
  refuses([](TopicSettings& s) { s.vocabulary.words = 0; }, "words_per_topic");
  refuses([](TopicSettings& s) { s.vocabulary.topics = 10000000000; }, "topics x words_per_topic");
  refuses([](TopicSettings& s) { s.topics_per_document = 0; }, "topics_per_document");
  refuses([](TopicSettings& s) { s.topics_per_document = 4; }, "topics_per_document");
  refuses([](TopicSettings& s) { s.mask_rate = 0; }, "mask_rate");
  refuses([](TopicSettings& s) { s.mask_rate = 1.1; }, "mask_rate");
  refuses([](TopicSettings& s) { s.keep_rate = -0.1; }, "keep_rate");
  refuses([](TopicSettings& s) { s.random_rate = -0.1; }, "random_rate");
  refuses([](TopicSettings& s) { s.random_rate = 0.95; }, "keep_rate + random_rate");
  refuses([](TopicSettings& s) { s.length = {{0, 5}}; }, "length");
  refuses([](TopicSettings& s) { s.length = {{9, 5}}; }, "length");
  refuses(
      [](TopicSettings& s) {
        s.prior = TopicPrior::dirichlet;
        s.concentration = 0;
      },
      "concentration");
}

TEST_CASE("TopicModel: shares of shown tokens match the reference", "[core][topics]") {
  const Reference reference = reference_values("topics");
  for (const auto c : reference["masking"]) {
    const TopicModel model({.vocabulary = {c["T"].get<Eigen::Index>(), c["v"].get<Eigen::Index>()},
                            .topics_per_document = c["tau"],
                            .mask_rate = c["pm"],
                            .keep_rate = c["pc"],
                            .random_rate = c["pr"]});
    CHECK(model.kappa() == Approx(c["kappa"].get<double>()).epsilon(1e-15));
    CHECK(model.rho() == Approx(c["rho"].get<double>()).epsilon(1e-14));
    CHECK(model.mu() == Approx(c["mu"].get<double>()).margin(1e-16));
    CHECK(model.shown_inside() == Approx(c["ptilde_in"].get<double>()).epsilon(1e-14));
    CHECK(model.shown_outside() == Approx(c["ptilde_out"].get<double>()).epsilon(1e-14));
    const double total = model.mu() + model.tau() * model.words() * model.shown_inside() +
                         (model.topics() - model.tau()) * model.words() * model.shown_outside();
    CHECK(total == Approx(1).epsilon(1e-15));
  }
}

}  // namespace topics_commutant_test
