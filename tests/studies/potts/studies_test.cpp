// What the Potts studies refuse, and what their theories say for known models.

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/studies/potts/model.hpp"
#include "configured_study.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::configured;
using attica::testing::made;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;

namespace potts_studies_test {

const Table kCosine{{"model.couplings", "cosine"},
                    {"model.colour_couplings", "cosine"},
                    {"model.zero_sum", false},
                    {"model.sites", 4},
                    {"model.colours", 3},
                    {"model.beta", 1.2}};

Table with(Table base, const Table& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

std::string file_with(const std::string& name, const std::string& text) {
  const std::string path = std::string(ATTICA_BINARY_DIR) + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST_CASE("potts-loss: theory gives the enumerated Bayes loss", "[studies][potts]") {
  const TheoryResult result =
      made(study_named("potts-loss"), kCosine)->theory(TheoryGrid::requested);
  // Entropies, the best losses of two networks, and even masks.
  REQUIRE(result.predictions.size() == 5);
  CHECK(result.predictions[0].series.name == "bayes_loss");
  CHECK(result.predictions[1].series.name == "marginal_loss");
  CHECK(result.predictions[2].series.name == "end_loss");
  CHECK(result.predictions[2].series.y[0] == result.predictions[0].series.y[0]);
  CHECK(result.predictions[3].series.y[0] > result.predictions[0].series.y[0]);
  CHECK(result.predictions[1].series.y[0] > result.predictions[0].series.y[0]);
  CHECK_THAT(result.predictions[0].series.y[0], WithinAbs(0.9381283009512966, 1e-12));
  CHECK(result.predictions[4].series.name == "mask_evenness");
  CHECK_THAT(result.predictions[4].series.y[0], WithinAbs(1, 1e-4));
  CHECK(result.diagnostics[0].first == "log_partition");
}

TEST_CASE("potts-loss: a model without couplings is legal, and is told", "[studies][potts]") {
  const auto none =
      made(study_named("potts-loss"),
           with(kCosine,
                {{"model.couplings", "explicit"},
                 {"model.file", file_with("none.csv", "0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n")}}));
  for (const std::size_t entropy : {0, 1}) {  // other sites teach nothing
    CHECK_THAT(none->theory(TheoryGrid::requested).predictions[entropy].series.y[0],
               WithinAbs(std::log(3.0), 1e-12));
  }
  CHECK(none->warnings().size() == 1);
  CHECK(made(study_named("potts-loss"), kCosine)->warnings().empty());
}

TEST_CASE("potts studies: bad models are refused by name", "[studies][potts]") {
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
          "[studies][potts]") {
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

TEST_CASE("potts-square: draws from the population prepared on demand", "[studies][potts]") {
  const auto square =
      made(study_named("potts-square"),
           {{"model.sites", 6}, {"sweep.alpha", List{1.0}}, {"sweep.lambda", List{0.0, 0.1}}});
  const Piece piece{.replicates = 2, .seed = 1};
  const std::vector<Outcome> outcomes = square->simulate(piece);
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].series.size() == 8);  // two errors, two penalties, Potts and Gaussian data
  CHECK(outcomes[0].series[0].y != outcomes[1].series[0].y);
}

TEST_CASE("potts-square: what is kept of one configuration is what the next would make",
          "[studies][potts]") {
  const auto kept = std::make_shared<SharedCache>();
  const auto test_errors = [](const Table& more, const std::shared_ptr<SharedCache>& shared) {
    Configuration c = configured(study_named("potts-square"),
                                 with({{"model.sites", 13},  // too many states to enumerate
                                       {"sim.chains", 100},
                                       {"sweep.alpha", List{1.0, 2.0}},
                                       {"sweep.lambda", List{0.1}}},
                                      more));
    c.shared = shared;
    const TheoryResult theory = study_named("potts-square").make(c)->theory(TheoryGrid::requested);
    return theory.predictions.front().series.y;
  };
  const Table hotter{{"model.beta", 0.4}};
  const std::vector<double> first = test_errors({}, nullptr);
  CHECK(test_errors({}, kept) == first);
  CHECK(test_errors({}, kept) == first);
  for (const Table& other : {hotter, Table{{"sim.chains", 200}}, Table{{"sim.seed", 2}}}) {
    CAPTURE(other.front().first);
    const std::vector<double> y = test_errors(other, nullptr);
    CHECK(y != first);
    CHECK(test_errors(other, kept) == y);
  }
}

TEST_CASE("potts-peak: alpha counts sequences per site, the tail is d/2M", "[studies][potts]") {
  const auto peak = made(study_named("potts-peak"),
                         with(kCosine,
                              {{"sweep.alpha", List{0.5, 25.0}},
                               {"sweep.lambda", List{1.0}},
                               {"sim.test_sequences", 100}}));
  const TheoryResult theory = peak->theory(TheoryGrid::requested);
  CHECK(theory.predictions[0].series.x == std::vector<double>{0.5, 25.0});
  CHECK_THAT(theory.predictions[0].series.y[1], WithinAbs(14.0 / 200, 1e-12));  // d = 2 (1 + 3 x 2)
  const Outcome outcome = peak->simulate({.point = 1, .seed = 1})[0];
  REQUIRE(outcome.series.size() == 3);
  for (const Series& s : outcome.series) CHECK(s.y[0] > 0);
  CHECK(outcome.series[1].name == "penalty_balance");
  CHECK_THAT(outcome.series[1].y[0], WithinAbs(1, 1e-4));
  CHECK(refused([&] {
          made(study_named("potts-peak"), {{"sweep.alpha", List{0.01}}});
        }) == "sweep.alpha");
}

TEST_CASE("PottsFamily: draws that are too flat are replaced", "[studies][potts]") {
  const Table gauss{{"model.couplings", "gauss"}, {"model.colour_couplings", "gauss"}};
  const auto learning = [&](double curvature) {
    return refused([&] {
      made(study_named("potts-learning"),
           with(with(kCosine, gauss), {{"model.least_curvature", curvature}}))
          ->theory(TheoryGrid::requested);
    });
  };
  CHECK(learning(1e-3) == "accepted");
  CHECK(learning(100) == "model.least_curvature");
}

TEST_CASE("PottsFamily: draws that teach nothing are replaced or refused", "[studies][potts]") {
  const Table ordered{{"model.couplings", "ring"},
                      {"model.colour_couplings", "potts"},
                      {"model.beta", 0.01},
                      {"model.least_learnable", 0.2}};
  CHECK(refused([&] {
          made(study_named("potts-loss"), with(kCosine, ordered))->theory(TheoryGrid::requested);
        }) == "model.least_learnable");
}

TEST_CASE("potts studies: theory does without what only the simulation needs", "[studies][potts]") {
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

TEST_CASE("potts-learning: frozen models have finite allowances, and nothing compared of them",
          "[studies][potts]") {
  for (const double beta : {8.0, 50.0}) {
    const TheoryResult theory =
        made(study_named("potts-learning"), {{"model.beta", beta}})->theory(TheoryGrid::requested);
    for (const Prediction& p : theory.predictions) {
      CAPTURE(beta, p.series.name);
      for (const double allowance : p.finite_size) CHECK(std::isfinite(allowance));
      REQUIRE_FALSE(p.compared.empty());
      CHECK_FALSE(p.compared.back());
    }
  }
}

TEST_CASE("potts-flow: a rate without a step up to the last time is refused", "[studies][potts]") {
  const auto flow = [](double eta) {
    return refused([&] { made(study_named("potts-flow"), {{"sim.eta", eta}}); });
  };
  CHECK(flow(1e9) == "sim.eta");
  CHECK(flow(1e300) == "sim.eta");
  CHECK(flow(1e-300) == "sim.eta");
  CHECK(flow(300) == "accepted");
}

TEST_CASE("potts studies: replicates depend on their number alone", "[studies][potts]") {
  const auto flow = made(study_named("potts-flow"), {{"sim.times", List{0.0, 5.0}}});
  const Piece both{.first_replicate = 3, .replicates = 2, .seed = 1};
  const Piece last{.first_replicate = 4, .replicates = 1, .seed = 1};
  CHECK(flow->simulate(both)[1].series[0].y == flow->simulate(last)[0].series[0].y);
  CHECK(flow->simulate(both)[0].series[0].y != flow->simulate(last)[0].series[0].y);
}

}  // namespace potts_studies_test
