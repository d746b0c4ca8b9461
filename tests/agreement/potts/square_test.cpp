/// @file
/// @brief Theory meets simulation in potts-square, and errors in the theory are found.

#include <catch2/catch.hpp>
#include <string>

#include "agreement/potts/claims.hpp"
#include "agreement/study_run.hpp"

using namespace attica;

namespace agreement_potts_square_test {

using attica::testing::check_agrees_until;

TEST_CASE("potts-square: agrees, and a theory 5 % off is found",
          "[agreement][potts][study:potts-square]") {
  // Without the control, whose margin of 0.1 % takes thousands of data sets.
  check_agrees_until(
      "potts-square",
      {{"sweep.alpha", List{1.0, 2.0}}, {"sim.chains", 10000}, {"sim.gaussian_control", false}},
      100,
      1.05);
}

TEST_CASE("potts-square: agrees where inputs are few, two colours or twelve sites",
          "[agreement][potts][study:potts-square]") {
  for (const char* key : {"model.colours", "model.sites"}) {
    const bool colours = std::string(key) == "model.colours";
    check_agrees_until("potts-square",
                       {{key, colours ? 2 : 12},
                        {"sweep.alpha", List{0.5, 1.0, 2.0}},
                        {"sim.gaussian_control", false}},
                       600,
                       1.08);
  }
}

}  // namespace agreement_potts_square_test
