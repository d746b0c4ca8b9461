/// @file
/// @brief What topics-text refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_topics_text_test {

using attica::testing::configured;
using Catch::Matchers::Contains;

TEST_CASE("topics-text: held-out documents without pairs are refused, not measured",
          "[studies][topics][study:topics-text]") {
  const auto path = std::filesystem::temp_directory_path() / "attica-topics-text-pairs.txt";
  {
    std::ofstream out(path);
    constexpr int kDocuments = 20;
    for (int d = 0; d < kDocuments; ++d) {
      const bool held_out = d % 10 == 9;  // what is said of no topic
      for (int k = 0; k < 20; ++k) {
        out << (held_out ? "common" : std::string(d % 2 == 0 ? "sea" : "land") + char('a' + k % 8))
            << ' ';
      }
      out << "common\n\n";
    }
  }
  const Study study = study_named("topics-text");
  Configuration c = configured(study, {{"model.lda_topics", 2}, {"sim.length", 1}});
  c.input_directories.push_back(path.parent_path().string());
  c.set("model.file", path.filename().string(), true);
  const std::unique_ptr<Experiment> experiment = study.make(c);
  CHECK_THROWS_WITH(experiment->simulate({}), Contains("2 held-out documents without"));
  std::filesystem::remove(path);
}

}  // namespace studies_topics_text_test
