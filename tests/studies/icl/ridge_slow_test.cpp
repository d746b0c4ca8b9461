#include <catch2/catch.hpp>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::made;
using Catch::Contains;

namespace icl_ridge_slow_test {

/// Refused by `require_simulable` only; the theory still answers.
std::string not_simulable(const Study& study, const Table& overrides) {
  const std::unique_ptr<Experiment> experiment = made(study, overrides);
  CHECK_NOTHROW(experiment->theory(TheoryGrid::requested));
  try {
    experiment->require_simulable();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

TEST_CASE("icl ridge studies: too much memory is refused before any work",
          "[studies][icl][slow][study:icl-alignment][study:icl-context][study:icl-diversity][study:"
          "icl-double-descent][study:icl-training]") {
  for (const char* name :
       {"icl-double-descent", "icl-diversity", "icl-context", "icl-alignment", "icl-training"}) {
    CAPTURE(name);
    CHECK_THAT(not_simulable(study_named(name), {{"sim.max_memory", 1e-4}}),
               Contains("sim.max_memory") && Contains("bytes"));
  }
  // The Gaussian theory: that of the law of the features takes minutes there.
  CHECK_THAT(not_simulable(study_named("icl-double-descent"),
                           {{"model.dimension", 200}, {"theory.level", "gaussian"}}),
             Contains("sim.max_memory"));
}

}  // namespace icl_ridge_slow_test
