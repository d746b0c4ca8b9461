/// @file
/// @brief Studies that no other file here names by a tag, at their defaults. One of them alone: -c
/// NAME.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "agreement/study_run.hpp"
#include "attica/studies/registry.hpp"

using namespace attica;

namespace other_studies_test {

using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::check_claims_hold;
using attica::testing::StudyRun;

/// All sources of these tests, in which tags name studies, without spaces and quotes: a long string
/// may be broken.
std::string sources() {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(ATTICA_SOURCE_DIR) + "/tests/agreement")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  std::erase_if(all, [](char c) { return c == '"' || c == ' ' || c == '\n'; });
  return all;
}

TEST_CASE("studies without an agreement test of their own agree, and reject perturbed theories",
          "[.][all]") {
  const std::string tagged = sources();
  const Registry& registry = built_in();
  for (const Study& study : registry) {
    if (tagged.find("[study:" + study.name + "]") != std::string::npos) continue;
    DYNAMIC_SECTION(study.name) {
      const StudyRun run(study, {});
      if (run.has_points()) {
        check_agrees_and_rejects_perturbed(run, false);
      } else {
        check_claims_hold(run);
      }
    }
  }
}

}  // namespace other_studies_test
