#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::refusal;
using Catch::Contains;

TEST_CASE("tree-filtered-order: bad input names the parameter",
          "[studies][trees][study:tree-filtered-order]") {
  const Study& order = study_named("tree-filtered-order");
  CHECK(refusal(order, {}) == "accepted");
  CHECK_THAT(refusal(order, {{"sim.heads", 3}}), Contains("sim.heads"));
  CHECK_THAT(refusal(order, {{"model.least_step", 0.3}}), Contains("model.rule"));
  CHECK_THAT(refusal(order, {{"model.alphabet", 2}}), Contains("model.file"));
  CHECK_THAT(refusal(order, {{"model.rule", "broadcast"}}), Contains("model.least_step"));
  // Which rules have their levels apart is said.
  const std::string named = refusal(order, {{"model.rule", "unambiguous"}, {"model.rule_seed", 5}});
  CHECK_THAT(named, Contains("model.rule_seed = "));
  CHECK_THAT(refusal(order,
                     {{"model.rule", "unambiguous"},
                      {"model.alphabet", 4},
                      {"model.depth", 4},
                      {"model.least_step", 0.0}}),
             Contains("model.depth"));
}
