/// @file
/// @brief What potts-square refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "attica/core/lazy.hpp"
#include "configured_study.hpp"
#include "studies/potts/models.hpp"

using namespace attica;

namespace studies_potts_square_test {

using attica::testing::configured;
using attica::testing::made;
using attica::testing::with;

TEST_CASE("potts-square: draws from the population prepared on demand",
          "[studies][potts][study:potts-square]") {
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
          "[studies][potts][study:potts-square]") {
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

}  // namespace studies_potts_square_test
