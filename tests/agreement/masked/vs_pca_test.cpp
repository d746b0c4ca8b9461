/// @file
/// @brief Theory meets simulation in masked-vs-pca, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_masked_vs_pca_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_reference_runs;

TEST_CASE("masked-vs-pca: agrees, its claims hold, and it rejects perturbed theories",
          "[.][all][study:masked-vs-pca]") {
  CHECK(study_named("masked-vs-pca").perturbed.size() >= 3);
  check_agrees_and_rejects_perturbed(study_named("masked-vs-pca"));
}

TEST_CASE("masked-vs-pca: reference runs come out as they say",
          "[agreement][slow][study:masked-vs-pca]") {
  check_reference_runs(study_named("masked-vs-pca"));
}

}  // namespace agreement_masked_vs_pca_test
