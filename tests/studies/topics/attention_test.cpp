/// @file
/// @brief What topics-attention refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <cmath>

#include "configured_study.hpp"

using namespace attica;

namespace studies_topics_attention_test {

using attica::testing::configured;

TEST_CASE("topic studies: curves bear their names where classes are empty",
          "[studies][topics][study:topics-attention]") {
  Configuration c = configured(study_named("topics-attention"), {{"model.words_per_topic", 1}});
  for (const Prediction& p :
       study_named("topics-attention").make(c)->theory(TheoryGrid::requested).predictions) {
    CHECK(p.series.name != "attention_same_topic");
    for (const double y : p.series.y) CHECK(std::isfinite(y));
    // Own words are preferred at the end, other topics are not.
    if (p.series.name == "attention_same_word") CHECK(p.series.y.back() > 1);
    if (p.series.name == "attention_other_topic") CHECK(p.series.y.back() < 1);
  }
}

}  // namespace studies_topics_attention_test
