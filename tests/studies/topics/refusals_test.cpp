/// @file
/// @brief What several studies of the family refuse and warn of.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/sim/topics/stages.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_topics_refusals_test {

using attica::testing::configured;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Matchers::Contains;

/// What the parameter table itself says to a value.
std::string table_refusal(const Study& study, const std::string& key, const Value& value) {
  for (const Parameter& p : study.parameters) {
    if (p.key != key) continue;
    try {
      p.checked(value, key);
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "no such parameter";
}

std::vector<Study> all_topic_studies() {
  std::vector<Study> all = studies();
  std::erase_if(all, [](const Study& s) { return s.name.rfind("topics-", 0) != 0; });
  return all;
}

TEST_CASE("topic studies: every preset is made", "[studies][topics]") {
  for (const Study& study : all_topic_studies()) {
    for (const Preset& preset : study.presets) {
      INFO(study.name << " " << preset.name);
      CHECK(refusal(study, preset.values) == "accepted");
    }
  }
}

TEST_CASE("topic studies: the parameter table refuses what is out of range",
          "[studies][topics][study:topics-text][study:topics-two-stage][study:topics-two-stage-"
          "deep][study:topics-value-curves]") {
  const Study curves = study_named("topics-value-curves");
  const Study stage = study_named("topics-two-stage");
  const auto refused = [](const Study& study, const char* key, const Value& value) {
    INFO(key);
    CHECK_THAT(table_refusal(study, key, value), Contains(key));
  };
  refused(curves, "model.topics", 0);
  refused(curves, "model.words_per_topic", 0);
  refused(curves, "model.topics_per_document", 0);
  refused(curves, "model.mask_rate", 0.0);
  refused(curves, "model.mask_rate", 1.5);
  refused(curves, "model.keep_rate", -0.1);
  refused(curves, "model.random_rate", -0.1);
  refused(curves, "model.concentration", 0.0);
  refused(curves, "model.length", 0);
  refused(curves, "model.length", "endless");
  refused(curves, "model.prior", "uniform");
  refused(curves, "model.loss", "hinge");
  refused(curves, "model.lambda", -1.0);
  refused(curves, "model.lambda", std::numeric_limits<double>::quiet_NaN());
  refused(curves, "sim.eta", 0.0);
  refused(curves, "sim.batch", 0);
  refused(curves, "sim.steps", 0);
  refused(curves, "sim.replicates", 0);
  refused(stage, "sim.momentum", 1.0);
  refused(stage, "sim.beta1", -0.1);
  refused(stage, "sim.beta2", 1.0);
  refused(stage, "model.epsilon", 0.0);
  refused(stage, "model.scale", -1.0);
  refused(stage, "model.threshold", 1.0);
  refused(stage, "model.initialisation", "zero");
  refused(stage, "sim.frozen", "all");
  refused(study_named("topics-text"), "model.lda_topics", 1);
  refused(study_named("topics-text"), "model.lda_alpha", 0.0);
  refused(study_named("topics-two-stage-deep"), "model.width", 0);
}

TEST_CASE(
    "topic studies: bad combinations are refused by name",
    "[studies][topics][study:topics-attention][study:topics-embedding][study:topics-landscape]["
    "study:topics-mode-growth][study:topics-onset][study:topics-text][study:topics-two-stage]["
    "study:topics-two-stage-deep][study:topics-value-curves][study:topics-value-penalty]") {
  const auto refused = [](const char* study, const Table& settings, const char* word) {
    INFO(study);
    CHECK_THAT(refusal(study_named(study), settings), Contains(word));
  };
  const auto accepted = [](const char* study, const Table& settings) {
    CHECK(refusal(study_named(study), settings) == "accepted");
  };
  const char* curves = "topics-value-curves";
  refused(curves, {{"model.topics_per_document", 5}}, "topics_per_document");
  refused(curves, {{"model.topics", 1}, {"model.topics_per_document", 1}}, "topics");
  refused(
      curves, {{"model.keep_rate", 0.6}, {"model.random_rate", 0.6}}, "keep_rate + random_rate");
  refused(curves, {{"model.length", List{9, 5}}}, "length");
  refused(curves, {{"model.length", List{1, 2, 3}}}, "length");
  refused(curves, {{"model.length", List{5, "infinite"}}}, "length");
  accepted(curves, {{"model.loss", "cross_entropy"}});  // without theory
  refused(curves, {{"sim.data", "population"}}, "length");
  accepted(curves, {{"model.length", List{"infinite"}}});
  accepted(curves, {{"model.topics_per_document", 4}});  // with a warning
  refused("topics-value-penalty",
          {{"model.loss", "cross_entropy"}, {"sweep.lambda", List{0.0, 0.1}}},
          "sweep.lambda");
  refused("topics-landscape", {{"model.prior", "dirichlet"}}, "prior");
  refused("topics-landscape", {{"model.length", List{20}}}, "length");
  refused("topics-embedding", {{"model.topics_per_document", 4}}, "topics_per_document");
  refused("topics-onset", {{"model.initialisation", "gaussian"}}, "initialisation");
  refused("topics-mode-growth", {{"model.initialisation", "uniform"}}, "initialisation");
  refused("topics-mode-growth", {{"model.keep_rate", 0.0}}, "keep_rate");
  for (const char* study :
       {"topics-onset", "topics-mode-growth", "topics-attention", "topics-embedding"}) {
    refused(study, {{"model.topics", 40}, {"model.topics_per_document", 10}}, "20000");
  }
  // A step must not be longer than the run, or nothing is learnt and nothing compared.
  for (const char* study : {"topics-two-stage", "topics-attention"}) {
    refused(study, {{"sim.eta", 1e300}}, "sim.eta");
    refused(study, {{"sim.eta", 1e-300}}, "sim.times");
  }
  const char* stages = "topics-two-stage";
  refused(stages, {{"model.width", 4}}, "model.width");
  refused(stages, {{"model.embedding", "trained"}, {"model.width", 4}}, "model.width");
  accepted(stages, {{"model.embedding", "trained"}, {"model.decoder", "tied"}, {"model.width", 4}});
  refused(stages, {{"model.inner_dimension", 4}}, "model.inner_dimension");
  accepted(stages, {{"model.initialisation", "gaussian"}, {"model.inner_dimension", 4}});
  refused("topics-text", {{"model.heads", 5}}, "model.heads");
  refused("topics-text", {{"model.stop_words", "no-such-list"}}, "model.stop_words");
  refused("topics-text", {{"model.file", "no-such-text.txt"}}, "file");
  refused("topics-text", {{"model.keep_rate", 0.6}, {"model.random_rate", 0.6}}, "random_rate");
  refused("topics-text",
          {{"model.file", "psalms.txt"}, {"model.least_count", 100000}},
          "at least 10 words");
  refused("topics-two-stage-deep", {{"model.width", 15}}, "heads");
  refused("topics-two-stage-deep", {{"model.width", 8}}, "width");
  refused("topics-two-stage-deep", {{"model.length", List{"infinite"}}}, "length");
}

TEST_CASE(
    "topic studies: a rate far too large diverges with a message",
    "[studies][topics][study:topics-attention][study:topics-embedding][study:topics-two-stage-deep]"
    "[study:topics-value-curves][study:topics-value-map][study:topics-value-penalty]") {
  const std::vector<std::pair<const char*, Table>> runs = {
      {"topics-value-curves", {{"sim.eta", 1e300}}},
      {"topics-value-map", {{"sim.eta", 1e300}}},
      {"topics-value-penalty", {{"sim.eta", 1e300}}},
      {"topics-embedding", {{"sim.eta", 1e300}, {"sim.length", 50}}},
      {"topics-attention", {{"sim.eta_adam", 1e300}, {"sim.optimiser", "adam"}}},
      {"topics-two-stage-deep", {{"sim.eta", 1e300}, {"sim.steps", List{1, 5}}}}};
  for (const auto& [name, settings] : runs) {
    INFO(name);
    const auto experiment = made(study_named(name), settings);
    // The small networks of topics-two-stage-deep, its last points, have a rate of their own.
    const bool deep = std::string(name) == "topics-two-stage-deep";
    for (std::size_t point = 0; point < (deep ? 1 : experiment->points()); ++point) {
      const Outcome outcome = experiment->simulate({.point = point}).front();
      CHECK(outcome.failed);
      CHECK_THAT(outcome.message, Contains("diverged"));
      for (const Series& series : outcome.series) {
        CHECK(!series.x.empty());
        for (const double y : series.y) CHECK(std::isfinite(y));
      }
    }
  }
}

TEST_CASE("topic studies: keys that were renamed are known by their new name",
          "[studies][topics]") {
  std::size_t renamed = 0;
  for (const Study& study : all_topic_studies()) {
    const Configuration c = configured(study, {});
    for (const auto& [old_key, new_key] : study.renamed) {
      INFO(study.name << " " << old_key);
      CHECK(!c.declares(old_key));
      CHECK(c.declares(new_key));
      ++renamed;
    }
  }
  CHECK(renamed == 10);
}

TEST_CASE("topic studies: a theory that is not known is refused, not drawn",
          "[studies][topics][study:topics-text][study:topics-two-stage][study:topics-two-stage-"
          "deep][study:topics-value-curves][study:topics-value-map]") {
  const auto refused = [](const char* study, const Table& settings, const char* word) {
    INFO(study);
    CHECK_THAT(refusal(study_named(study), settings, true), Contains(word));
  };
  const char* stages = "topics-two-stage";
  refused(stages, {{"sim.optimiser", "adam"}}, "sim.optimiser");
  refused(stages, {{"model.initialisation", "gaussian"}}, "initialisation");
  refused(stages, {{"model.length", List{20}}}, "infinite");
  refused(stages, {{"model.prior", "dirichlet"}}, "model.prior");
  refused(stages, {{"model.embedding", "trained"}}, "model.embedding");
  refused(stages, {{"model.bias", true}}, "model.bias");
  refused(stages, {{"model.value_initialisation", "gaussian"}}, "model.value_initialisation");
  refused(stages, {{"sim.data", "fixed"}}, "sim.data");
  for (const char* study : {"topics-value-curves", "topics-value-map"}) {
    refused(study, {{"sim.data", "fixed"}}, "sim.data");
    refused(study, {{"sim.optimiser", "momentum"}}, "sim.optimiser");
    refused(study, {{"model.loss", "cross_entropy"}}, "model.loss");
  }
  refused("topics-text", {}, "no theory");
  CHECK(refusal(study_named(stages), {}, true) == "accepted");
  CHECK(refusal(study_named("topics-two-stage-deep"), {}, true) == "accepted");
}

TEST_CASE(
    "topic studies: doubtful settings are warned of",
    "[studies][topics][study:topics-text][study:topics-two-stage][study:topics-value-curves]") {
  const auto warnings = [](const char* study, const Table& settings) {
    std::string all;
    for (const std::string& w : made(study_named(study), settings)->warnings()) all += w + "\n";
    return all;
  };
  const char* stages = "topics-two-stage";
  CHECK(warnings(stages, {}).empty());
  CHECK_THAT(warnings(stages, {{"model.keep_rate", 0.0}}), Contains("second stage"));
  CHECK_THAT(warnings(stages, {{"model.topics_per_document", 1}}), Contains("second stage"));
  const char* curves = "topics-value-curves";
  CHECK_THAT(warnings(curves, {{"model.topics_per_document", 4}}), Contains("all topics"));
  CHECK_THAT(warnings(curves, {{"sim.eta", 20.0}}), Contains("divergence"));
  const auto text = [&](Table settings) {
    settings.emplace_back("model.file", "psalms.txt");
    return warnings("topics-text", settings);
  };
  CHECK_THAT(text({{"model.lda_topics", 100000}}), Contains("lda_topics"));
  CHECK_THAT(text({{"model.documents", "words"}, {"model.unit_size", 5000}}),
             Contains("beyond the first 256"));
  CHECK(text({}).empty());
}

}  // namespace studies_topics_refusals_test
