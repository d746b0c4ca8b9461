/// @file
/// @brief What potts-alignment refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_potts_alignment_test {

using attica::testing::made;

TEST_CASE("potts-alignment: bad input names its key or its line",
          "[studies][study:potts-alignment]") {
  const auto file = [](const std::string& text) {
    std::string path = std::string(ATTICA_BINARY_DIR) + "/alignment_study_test.aln";
    std::ofstream(path) << text;
    return Value(path);
  };
  const auto refused = [](const Table& assignments, const char* text) {
    CHECK_THROWS_WITH(made(study_named("potts-alignment"), assignments), Catch::Contains(text));
  };
  refused({{"model.file", "/nowhere.fa"}}, "'model.file'");
  refused({{"model.file", file("AC\nACD\n")}}, ":2: a sequence of 3 letters");
  refused({{"model.file", file("AC\nCA\n")}}, "3 to ");
  const std::string wide(100000, 'A');
  refused({{"model.file", file(wide + '\n' + wide + '\n')}}, "(100000 columns)");
  refused({{"model.file", file("ACD\nACD\n")}, {"model.alphabet", "A"}}, "'model.alphabet'");
  refused({{"model.file", file("ACD\nACD\nADD\n")}, {"sim.held_out", 0.9}}, "'sim.held_out'");
  const Value two = file("ABX\nACC\n");
  refused({{"model.file", two}}, "a share that holds out one of 2 sequences");
  const auto experiment =
      made(study_named("potts-alignment"), {{"model.file", two}, {"sim.held_out", 0.0}});
  CHECK(experiment->warnings().size() == 1);
}

}  // namespace studies_potts_alignment_test
