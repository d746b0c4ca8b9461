/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

#include "configured_study.hpp"
#include "studies/joma/series_of.hpp"

using namespace attica;

namespace studies_joma_deep_refusals_test {

using attica::testing::configured;
using attica::testing::made;
using attica::testing::refusal_with_theory;
using Catch::Matchers::Contains;

TEST_CASE("deep studies: bad input, and what follows from the data",
          "[studies][deep][study:deep-entropy][study:deep-width]") {
  CHECK_THAT(refusal_with_theory(study_named("deep-entropy"), {{"model.heads", 5}}),
             Contains("model.heads"));
  CHECK_THAT(refusal_with_theory(study_named("deep-width"), {{"model.heads", 2}}),
             Contains("model.heads"));
  CHECK_THAT(refusal_with_theory(study_named("deep-entropy"), {{"model.file", "/nowhere"}}),
             Contains("model.file"));
  Configuration c = configured(study_named("deep-entropy"), {});
  static_cast<void>(study_named("deep-entropy").make(c));
  CHECK(c.integer("model.layers") == 2);
  CHECK(c.integer("model.width") == 32);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / "attica-short.txt";
  std::ofstream(file) << "too short a text";
  Configuration text = configured(study_named("deep-entropy"), {{"model.file", file.string()}});
  CHECK_THROWS_WITH(study_named("deep-entropy").make(text), Contains("model.file"));
  CHECK(text.integer("model.layers") == 1);
  CHECK(text.integer("model.width") == 64);
  std::filesystem::remove(file);
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THAT(refusal_with_theory(study_named("deep-entropy"), {{"model.file", folder}}),
             Contains("no folder"));
}

TEST_CASE("deep studies: stopped before the first record",
          "[studies][deep][study:deep-entropy][study:deep-stable-rank][study:tree-latents]") {
  std::stop_source stop;
  stop.request_stop();
  for (const char* name : {"deep-entropy", "deep-stable-rank", "tree-latents"}) {
    CAPTURE(name);
    const auto experiment = made(study_named(name), {});
    for (const Outcome& outcome : experiment->simulate({.stop = stop.get_token()})) {
      CHECK(outcome.series.empty());
    }
  }
}

}  // namespace studies_joma_deep_refusals_test
