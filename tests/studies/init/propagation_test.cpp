#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::is_compared;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("init-propagation, init-gradients: bad input names the parameter", "[studies][init]") {
  for (const char* name : {"init-propagation", "init-gradients"}) {
    const Study study = study_named(name);
    CHECK_THAT(refusal(study, {{"model.heads", 3}}), Contains("model.heads"));
    CHECK_THAT(refusal(study, {{"model.skip", 0.0}, {"model.value_variance", 0.0}}),
               Contains("model.skip"));
    CHECK_THAT(refusal(study, {{"model.mlp_skip", 0.0}, {"model.mlp_variance", 0.0}}),
               Contains("model.mlp_skip"));
    // Exact tokens need an axis each and a common one.
    const auto narrow = made(study, {{"model.context", 256}, {"model.dimension", 256}});
    CHECK_THROWS_WITH(narrow->require_simulable(), Contains("model.context"));
  }
  CHECK_THAT(refusal(study_named("init-propagation"), {{"model.cosine", 0.0}}),
             Contains("model.cosine"));
  CHECK(refusal(study_named("init-propagation"), {{"model.cosine", 0.0}, {"theory.order", 0}}) ==
        "accepted");
}

TEST_CASE("init-propagation: where tokens become clones nothing is compared", "[studies][init]") {
  const auto experiment = made(study_named("init-propagation"),
                               {{"model.skip", 0.0},
                                {"model.mlp", false},
                                {"model.heads", 8},
                                {"model.dimension", 512},
                                {"model.cosine", 0.1},
                                {"sweep.beta", List{3.0}},
                                {"train.blocks", 2}});
  const TheoryResult theory = experiment->theory(TheoryGrid::requested);
  CHECK(theory.warnings.size() == 1);
  for (const Prediction& p : theory.predictions) {
    for (std::size_t k = 0; k < p.series.x.size(); ++k) CHECK_FALSE(is_compared(p, k));
  }
}
