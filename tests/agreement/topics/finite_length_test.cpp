/// @file
/// @brief Theory meets simulation in topics-finite-length, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <cmath>

#include "agreement/study_run.hpp"
#include "attica/sim/topics/sampling.hpp"
#include "attica/theory/topics/loss.hpp"

using namespace attica;

namespace agreement_topics_finite_length_test {

using attica::testing::StudyRun;

TEST_CASE("topics-finite-length: agrees for both losses; a gap 10 % off does not",
          "[agreement][study:topics-finite-length]") {
  const Study study = study_named("topics-finite-length");
  // Weights at which the query's own token is not small.
  const Table strong{{"model.same_word", 30.0}, {"model.same_topic", 10.0}};
  for (const bool squared : {true, false}) {
    Table settings{{"sweep.length", List{100}},
                   {"sim.replicates", 48},
                   {"model.loss", squared ? "squared" : "cross_entropy"}};
    if (squared) settings.insert(settings.end(), strong.begin(), strong.end());
    StudyRun run(study, settings);
    CAPTURE(squared);
    CHECK(run.points() != Verdict::disagree);
    CHECK((run.points() == Verdict::agree || !squared));
    run.scale_theory("gap", 1.1);
    CHECK(run.points() != Verdict::agree);
    CHECK((run.points() == Verdict::disagree || !squared));
  }
}

TEST_CASE("length_gap: what it leaves of the sum over all documents is of order 1/N^2",
          "[agreement][study:topics-finite-length]") {
  const TopicModel model({.vocabulary = {2, 2},
                          .topics_per_document = 1,
                          .mask_rate = 0.5,
                          .keep_rate = 0.2,
                          .random_rate = 0.3});
  Commutant w;
  w << 0.1, -0.2, 0.05, 0.9, 0.4, -0.1;
  Commutant m;
  m << 0.2, -0.1, 0.3, 0.8, 0.5, -0.3;
  const CommutantAlgebra algebra(model.vocabulary());
  for (const TopicLoss loss : {TopicLoss::squared, TopicLoss::cross_entropy}) {
    const networks::Loss same =
        loss == TopicLoss::squared ? networks::Loss::squared : networks::Loss::cross_entropy;
    const double limit = reduced_loss(model, loss, w, m);
    const auto left = [&](int length) {
      const double gap =
          enumerated_small_loss(model, same, algebra.dense(w), algebra.dense(m), length) - limit;
      return gap - length_gap(model, loss, w, m, length);
    };
    const double gap = length_gap(model, loss, w, m, 24);
    const double at_12 = left(12);
    const double at_24 = left(24);
    CAPTURE(gap, at_12, at_24);
    CHECK(std::abs(at_24) < 0.15 * std::abs(gap));
    CHECK(at_12 / at_24 == Approx(4).epsilon(0.25));  // 1/N^3 is left
  }
}

}  // namespace agreement_topics_finite_length_test
