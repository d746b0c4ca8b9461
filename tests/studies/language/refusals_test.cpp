/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <string>

#include "attica/core/random.hpp"
#include "configured_study.hpp"
#include "studies/language/text_file.hpp"

using namespace attica;

namespace studies_language_refusals_test {

using attica::testing::made;
using attica::testing::refusal;
using attica::testing::TextFileFor;
using Catch::Matchers::Contains;

std::string refused_text(const std::string& study, const std::string& content) {
  const TextFileFor file("attica_language_test.txt", content);
  return refusal(study_named(study), {{"model.file", file.path()}});
}

TEST_CASE("language: what is no text is refused before any work",
          "[studies][language][study:language-clones][study:language-orders]") {
  for (const std::string study : {"language-clones", "language-orders"}) {
    CAPTURE(study);
    CHECK_THAT(refused_text(study, ""), Contains("model.file"));
    CHECK_THAT(refused_text(study, "word\n"), Contains("model.file"));
    CHECK_THAT(refused_text(study, "aaaa aaaa\n"), Contains("two different"));
    CHECK_THAT(refused_text(study, std::string("\xff\xfe\x54\x00\x68\x00", 6)), Contains("UTF-16"));
    std::string binary(5000, ' ');
    for (std::size_t k = 0; k < binary.size(); ++k) binary[k] = static_cast<char>(k % 255 + 1);
    CHECK_THAT(refused_text(study, binary), Contains("UTF-8"));
    CHECK_THAT(refusal(study_named(study), {{"model.file", "nowhere.txt"}}),
               Contains("model.file"));
  }
}

TEST_CASE("language: parameters out of their domain are refused by name",
          "[studies][language][study:language-clones][study:language-orders]") {
  for (const std::string name : {"language-clones", "language-orders"}) {
    CAPTURE(name);
    const Study study = study_named(name);
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{1, 2, 2}}}),
               Contains("model.chain_orders") && Contains("once"));
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{6}}}),
               Contains("model.chain_orders") && Contains("2^24"));
    CHECK_THAT(refusal(study, {{"model.chain_orders", List{1, 4}}, {"model.sites", 3}}),
               Contains("model.chain_orders") && Contains("model.sites"));
    CHECK_THAT(refusal(study,
                       {{"model.symbols", "words"},
                        {"model.vocabulary", 1000},
                        {"model.chain_orders", List{1, 2}}}),
               Contains("model.vocabulary"));
  }
  const Study orders = study_named("language-orders");
  CHECK_THAT(refusal(orders, {{"sim.heads", 7}}), Contains("sim.heads"));
  CHECK_THAT(refusal(orders, {{"sim.share_steps", List{5000}}}),
             Contains("sim.share_steps") && Contains("sim.length"));
}

TEST_CASE("language: a text too short for what is asked is warned of",
          "[studies][language][study:language-clones][study:language-orders]") {
  const Study orders = study_named("language-orders");
  const Study clones = study_named("language-clones");
  CHECK(made(orders, {})->warnings().empty());
  CHECK(made(clones, {})->warnings().empty());
  const auto repeated = made(orders, {{"sim.length", 100000}})->warnings();
  REQUIRE(repeated.size() == 1);
  CHECK_THAT(repeated.front(), Contains("model.file") && Contains("training_loss"));
  const Table words = {{"model.symbols", "words"}, {"model.chain_orders", List{1, 2}}};
  for (const Study& study : {orders, clones}) {
    const auto heavy = made(study, words)->warnings();
    REQUIRE_FALSE(heavy.empty());
    CHECK_THAT(heavy.front(), Contains("weights") && Contains("by heart"));
  }
  // Independent letters: what a chain of higher order learns of them is noise.
  std::string noise;
  RandomStream stream({.seed = 1, .id = StreamId::self_test});
  for (int unit = 0; unit < 30; ++unit) {
    for (int k = 0; k < 60; ++k) noise += static_cast<char>('a' + stream.below(6));
    noise += '\n';
  }
  const TextFileFor file("attica_language_noise.txt", noise);
  const auto theory =
      made(clones, {{"model.file", file.path()}, {"model.chain_orders", List{1, 2, 3}}})
          ->theory(TheoryGrid::requested);
  REQUIRE_FALSE(theory.warnings.empty());
  CHECK_THAT(theory.warnings.back(), Contains("order 3") && Contains("too short"));
}

}  // namespace studies_language_refusals_test
