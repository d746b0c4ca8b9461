#include "attica/app/configuration/assignment.hpp"

#include <catch2/catch.hpp>

#include "refused.hpp"

using namespace attica;
using namespace attica::app;
using attica::testing::refusal;

namespace assignment_test {

TEST_CASE("assignment_hint: what to type for a decimal comma and a minus sign of a text processor",
          "[app]") {
  CHECK(assignment_hint("model.rho=0,5") == "; type model.rho=0.5");
  CHECK(assignment_hint("model.rho = 0,5") == "; type model.rho=0.5");
  CHECK(assignment_hint("model.rho=\xE2\x88\x92"
                        "0.5") == "; type model.rho=-0.5");
  CHECK(assignment_hint("model.rho=\xE2\x88\x92"
                        "0,5e\xE2\x88\x92"
                        "3") == "; type model.rho=-0.5e-3");
  CHECK(assignment_hint("sweep.x=[\xE2\x80\x93"
                        "1, 2]") == "; type sweep.x=[-1, 2]");
  CHECK(assignment_hint("model.rho=0.5").empty());
  CHECK(assignment_hint("model.rho=zero").empty());
  CHECK(assignment_hint("model.rho=1,2,3").empty());
  CHECK(assignment_hint("0,5").empty());
  CHECK(typed_number_hint("0,05") == "; type 0.05");
  CHECK(typed_number_hint("\xE2\x88\x92"
                          "1") == "; type -1");
  CHECK(typed_number_hint("0.05").empty());
  CHECK(typed_number_hint("much").empty());
}

TEST_CASE("require_one_value: one key and one value", "[app]") {
  CHECK_NOTHROW(require_one_value("figure.x.label=\"a # b\"", "--set"));
  CHECK_THAT(refusal([] { require_one_value("figure.x.low=1\nfigure.x.high=2", "--set"); }),
             Catch::Contains("a line break"));
  CHECK_THAT(refusal([] { require_one_value("a=1 # b", "--set"); }),
             Catch::Contains("a comment begins"));
}

}  // namespace assignment_test
