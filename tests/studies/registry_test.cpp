#include "attica/studies/registry.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "attica/studies/study.hpp"

using namespace attica;

namespace registry_test {

int made = 0;

Study counted() {
  ++made;
  Study study;
  study.name = "counted";
  study.question = "Is it made once?";
  return study;
}

Study named_otherwise() {
  Study study;
  study.name = "otherwise";
  return study;
}

TEST_CASE("A registry makes a study when it is first asked for, and once", "[studies]") {
  made = 0;
  const Registry registry(
      std::vector<NamedStudy>{{"counted", counted}, {"not-that", named_otherwise}});
  CHECK(registry.size() == 2);
  CHECK(registry.name(1) == "not-that");
  CHECK(registry.find("none") == nullptr);
  CHECK(made == 0);
  const Study* first = registry.find("counted");
  REQUIRE(first != nullptr);
  CHECK(first->question == "Is it made once?");
  CHECK(registry.find("counted") == first);
  CHECK(&*registry.begin() == first);
  CHECK(registry.question(0) == "Is it made once?");
  CHECK(made == 1);
  CHECK_THROWS_AS(registry.find("not-that"), std::logic_error);
}

TEST_CASE("Studies that exist are a registry of themselves", "[studies]") {
  const std::vector<Study> mine{counted()};
  const Registry registry = mine;
  CHECK(registry.find("counted") == &mine.front());
  CHECK(registry.question(0) == mine.front().question);
}

TEST_CASE("Built-in studies are listed under their names and questions", "[studies]") {
  for (std::size_t k = 0; k < built_in().size(); ++k) {
    CAPTURE(k);
    const std::string question(built_in().question(k));
    CHECK(built_in()[k].name == built_in().name(k));
    CHECK(built_in()[k].question == question);
  }
  CHECK(studies().size() == built_in().size());
}

}  // namespace registry_test
