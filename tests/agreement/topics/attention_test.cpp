/// @file
/// @brief Theory meets simulation in topics-attention, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"
#include "attica/sim/topics/documents.hpp"
#include "attica/sim/topics/network.hpp"
#include "attica/theory/topics/loss.hpp"

using namespace attica;

namespace agreement_topics_attention_test {

using attica::testing::StudyRun;

TEST_CASE("topics-attention: agrees; attention 10 % off does not, however small",
          "[agreement][study:topics-attention]") {
  const Study study = study_named("topics-attention");
  StudyRun run(study,
               {{"model.loss", "cross_entropy"},
                {"model.value", "diagonal"},
                {"sim.optimiser", "sgd"},
                {"sim.times", List{750.0}}});
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("attention_same_topic", 1.1);  // 0.017, where uniform attention is 1
  CHECK(run.points() == Verdict::disagree);
}

TEST_CASE("average attention: enumeration of documents gives the closed form",
          "[agreement][study:topics-attention]") {
  const TopicModel model({.vocabulary = {4, 3}, .topics_per_document = 2});
  const RelativeAttention relative{.same_word = 7, .same_topic = 0.6, .mask = 1.3};
  const AverageAttention closed = average_attention(model, relative);
  const Eigen::Vector3d found =
      measured_attention(model.vocabulary(),
                         CommutantAlgebra(model.vocabulary()).dense(scores(relative)),
                         population_batch(model).shares);
  CHECK(found[0] == Approx(closed.same_word).epsilon(1e-13));
  CHECK(found[1] == Approx(closed.same_topic).epsilon(1e-13));
  CHECK(found[2] == Approx(closed.other_topic).epsilon(1e-13));
}

}  // namespace agreement_topics_attention_test
