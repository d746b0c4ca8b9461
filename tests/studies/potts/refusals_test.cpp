/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "configured_study.hpp"
#include "refused.hpp"
#include "studies/potts/models.hpp"

using namespace attica;

namespace studies_potts_refusals_test {

using attica::testing::file_with;
using attica::testing::kCosine;
using attica::testing::made;
using attica::testing::refused;
using attica::testing::with;

TEST_CASE("potts studies: bad models are refused by name",
          "[studies][potts][study:potts-couplings][study:potts-learning][study:potts-loss][study:"
          "potts-sampler][study:potts-square]") {
  const auto loss = [&](const Table& more) {
    return refused([&] {
      made(study_named("potts-loss"), with(kCosine, more))->theory(TheoryGrid::requested);
    });
  };
  CHECK(loss({}) == "accepted");
  CHECK(loss({{"model.beta", -1.0}}) == "accepted");
  CHECK(loss({{"model.couplings", "explicit"}}) == "model.file");
  CHECK(loss({{"model.density", 0.5}}) == "model.density");
  CHECK(loss({{"model.sites", 30}}) == "model.sites");
  const auto file = [&](const std::string& name, const std::string& text) {
    return loss({{"model.couplings", "explicit"}, {"model.file", file_with(name, text)}});
  };
  CHECK(file("asymmetric.csv", "0,1,0,0\n2,0,0,0\n0,0,0,1\n0,0,1,0\n") == "model.file");
  CHECK(file("diagonal.csv", "1,1,0,0\n1,0,0,0\n0,0,0,1\n0,0,1,0\n") == "model.file");
  CHECK(file("oblong.csv", "0,1\n1,0\n0,1\n") == "model.file");
  CHECK(file("nan.csv", "0,nan\nnan,0\n") == "model.file");
  CHECK(file("ragged.csv", "0,1\n1\n") == "model.file");
  CHECK(file("small.csv", "0,1\n1,0\n") == "model.sites");
  CHECK(file("good.csv", "0,1,0,0\n1,0,0,0\n0,0,0,1\n0,0,1,0\n") == "accepted");
  CHECK(
      refused([&] {
        made(study_named("potts-couplings"),
             with(kCosine,
                  {{"model.couplings", "explicit"},
                   {"model.file", file_with("zero.csv", "0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n")}}));
      }) == "model.couplings");
  CHECK(refused([&] {
          made(study_named("potts-sampler"), {{"sim.ladder", List{1.0, 0.5, 0.2}}});
        }) == "sim.ladder");
  CHECK(loss({{"sim.heads", 3}}) == "sim.heads");
  for (const TheoryGrid grid : {TheoryGrid::requested, TheoryGrid::run}) {
    CHECK(refused([&] {
            made(study_named("potts-learning"), with(kCosine, {{"sweep.samples", List{10.5}}}))
                ->theory(grid);
          }) == (grid == TheoryGrid::run ? "sweep.samples" : "accepted"));
  }
  CHECK(refused([&] {
          made(study_named("potts-square"), {{"sweep.alpha", List{0.001}}});
        }) == "sweep.alpha");
}

TEST_CASE("potts-loss, potts-couplings: a run may diverge before its first record",
          "[studies][potts][study:potts-couplings][study:potts-loss]") {
  for (const auto& [study, rate] : {std::pair{study_named("potts-loss"), "sim.eta_factored"},
                                    std::pair{study_named("potts-couplings"), "sim.eta"}}) {
    const auto outcomes =
        made(study, with(kCosine, {{"sim.length", 100}, {"sim.starts", 2}, {rate, 1e30}}))
            ->simulate({.seed = 1});
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].status == "diverged");
    CHECK(outcomes[0].failed);
    CHECK(outcomes[0].series.empty());
  }
}

TEST_CASE("potts studies: theory does without what only the simulation needs",
          "[studies][potts][study:body4-msd][study:potts-couplings]") {
  // At so low a temperature the Gibbs sampler does not converge.
  const Table frozen{{"model.sites", 24},
                     {"model.colours", 2},
                     {"model.couplings", "cosine"},
                     {"model.colour_couplings", "potts"},
                     {"model.beta", 50.0}};
  CHECK(made(study_named("potts-couplings"), frozen)
            ->theory(TheoryGrid::requested)
            .predictions.size() == 26);
  CHECK_THROWS(made(study_named("potts-couplings"), frozen)->simulate({.seed = 1}));
  const Table large{{"model.sites", 20}, {"sim.burn_in", 1}};
  const auto body = [&](Table values) {
    values.insert(values.end(), large.begin(), large.end());
    return made(study_named("body4-msd"), values)->theory(TheoryGrid::requested);
  };
  const TheoryResult general = body({{"model.couplings", "cosine"}});
  CHECK(general.predictions.empty());
  CHECK(general.warnings.size() == 2);  // no plateaus, no times
  // Plateaus by counts of colours; no times.
  const TheoryResult alike = body({});
  CHECK(alike.predictions.size() == 5);
  CHECK(alike.warnings.size() == 1);
}

}  // namespace studies_potts_refusals_test
