/// @file
/// @brief What language-clones refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <string>

#include "configured_study.hpp"
#include "studies/language/text_file.hpp"

using namespace attica;

namespace studies_language_clones_test {

using attica::testing::made;
using attica::testing::TextFileFor;

TEST_CASE("language: words, and texts of other alphabets",
          "[studies][language][study:language-clones]") {
  const Study study = study_named("language-clones");
  const auto words = made(
      study,
      {{"model.symbols", "words"}, {"model.vocabulary", 20}, {"model.chain_orders", List{1, 2}}});
  CHECK(words->theory(TheoryGrid::requested).predictions.size() == 4);
  std::string greek;
  for (int k = 0; k < 100; ++k) greek += "ἐν ἀρχῇ ἦν ὁ λόγος καὶ ὁ λόγος ἦν πρὸς τὸν θεόν\n";
  const TextFileFor file("attica_language_greek.txt", greek);
  const auto letters =
      made(study, {{"model.file", file.path()}, {"model.chain_orders", List{1, 2}}});
  const TheoryResult theory = letters->theory(TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    for (const double y : p.series.y) CHECK(y > 0);
  }
}

}  // namespace studies_language_clones_test
