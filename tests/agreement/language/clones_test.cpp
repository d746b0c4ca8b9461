/// @file
/// @brief Theory meets simulation in language-clones, and errors in the theory are found.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_language_clones_test {

using attica::testing::check_agrees_and_rejects_perturbed;

void check_clones(const Table& overrides) {
  const Study& study = study_named("language-clones");
  CHECK(study.perturbed.size() >= 3);
  // Of total variations only one has a theory: not every point is compared.
  check_agrees_and_rejects_perturbed(study, overrides, false);
}

TEST_CASE("language-clones: agrees with clones of two orders, and it rejects its plants",
          "[agreement][study:language-clones]") {
  check_clones({{"model.chain_orders", List{std::int64_t{1}, std::int64_t{3}}}});
}

TEST_CASE("language-clones: agrees, its claims hold, and it rejects its plants",
          "[.][all][study:language-clones]") {
  check_clones({});
}

}  // namespace agreement_language_clones_test
