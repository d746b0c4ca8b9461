/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>

#include "configured_study.hpp"
#include "studies/joma/series_of.hpp"

using namespace attica;

namespace studies_joma_tree_refusals_test {

using attica::testing::refusal_with_theory;
using attica::testing::series_of;
using Catch::Matchers::Contains;

TEST_CASE("tree studies: bad input is refused by name",
          "[studies][tree][study:tree-cooccurrence][study:tree-latents][study:tree-learning]") {
  const Study study = study_named("tree-cooccurrence");
  CHECK_THAT(refusal_with_theory(study, {{"model.root_prior", List{0.5, 0.3, 0.3}}}),
             Contains("sum to 1"));
  CHECK_THAT(
      refusal_with_theory(study, {{"model.root_child", List{List{0.9, 0.2}, List{0.9, 0.2}}}}),
      Contains("model.root_child"));
  CHECK_THAT(
      refusal_with_theory(study,
                          {{"model.root_child", List{List{0.0, 0.0, 0.0}, List{0.0, 0.0, 0.0}}},
                           {"sweep.rho", List{1.0}}}),
      Contains("sweep.rho"));
  CHECK_THAT(refusal_with_theory(study, {{"model.depth", 20}}), Contains("model.depth"));
  const Series one_row =
      series_of(study, {{"model.root_child", List{0.9, 0.2, 0.6}}}, "conditional_probability_root");
  CHECK(one_row.y == series_of(study, {}, "conditional_probability_root").y);

  const Study learning = study_named("tree-learning");
  CHECK_THAT(refusal_with_theory(learning, {{"model.rewards", List{1.0}}}),
             Contains("model.rewards"));
  CHECK_THAT(refusal_with_theory(learning, {{"model.root_prior", List{0.5, 0.6}}}),
             Contains("sum to 1"));
  CHECK_THAT(
      refusal_with_theory(learning, {{"model.root_child", List{0.0, 0.0}}, {"model.depth", 1}}),
      Contains("sweep.rho"));

  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.units", List{10}}}),
             Contains("model.units"));
  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.units", List{3, 20}}}),
             Contains("model.units"));
  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.children", 11}}),
             Contains("model.children"));
  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.classes", 10000}}),
             Contains("model.classes"));
  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.length", 3}}),
             Contains("model.length"));
  CHECK_THAT(refusal_with_theory(study_named("tree-latents"), {{"model.heads", 3}}),
             Contains("model.heads"));
}

}  // namespace studies_joma_tree_refusals_test
