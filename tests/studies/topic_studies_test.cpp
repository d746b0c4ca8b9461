/// Bad input of the topic studies is refused by name before any work; every preset is made.

#include "attica/studies/topic_studies.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"
#include "configured_study.hpp"

namespace {

using namespace attica;
using attica::testing::configured;
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
  return {topics_value_map(),
          topics_value_curves(),
          topics_value_penalty(),
          topics_value_length(),
          topics_embedding(),
          topics_landscape(),
          topics_omega(),
          topics_two_stage(),
          topics_onset(),
          topics_mode_growth(),
          topics_attention(),
          topics_finite_length(),
          topics_text(),
          topics_two_stage_deep()};
}

}  // namespace

TEST_CASE("topic studies: every preset is made", "[studies][topics]") {
  for (const Study& study : all_topic_studies()) {
    for (const Preset& preset : study.presets) {
      INFO(study.name << " " << preset.name);
      CHECK(refusal(study, preset.values) == "accepted");
    }
  }
}

TEST_CASE("topic studies: the parameter table refuses what is out of range", "[studies][topics]") {
  const Study curves = topics_value_curves();
  const Study stage = topics_two_stage();
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
  refused(curves, "model.penalty", -1.0);
  refused(curves, "model.penalty", std::numeric_limits<double>::quiet_NaN());
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
  refused(topics_text(), "model.lda_topics", 1);
  refused(topics_text(), "model.lda_alpha", 0.0);
  refused(topics_two_stage_deep(), "model.width", 0);
}

TEST_CASE("topic studies: bad combinations are refused by name", "[studies][topics]") {
  const Study curves = topics_value_curves();
  CHECK_THAT(refusal(curves, {{"model.topics_per_document", 5}}), Contains("topics_per_document"));
  CHECK_THAT(refusal(curves, {{"model.topics", 1}, {"model.topics_per_document", 1}}),
             Contains("topics"));
  CHECK_THAT(refusal(curves, {{"model.keep_rate", 0.6}, {"model.random_rate", 0.6}}),
             Contains("keep_rate + random_rate"));
  CHECK_THAT(refusal(curves, {{"model.length", List{9, 5}}}), Contains("length"));
  CHECK_THAT(refusal(curves, {{"model.length", List{1, 2, 3}}}), Contains("length"));
  CHECK_THAT(refusal(curves, {{"model.length", List{5, "infinite"}}}), Contains("length"));
  CHECK(refusal(curves, {{"model.loss", "cross_entropy"}}) == "accepted");  // without theory
  CHECK_THAT(refusal(curves, {{"sim.data", "population"}}), Contains("length"));
  CHECK(refusal(curves, {{"model.length", List{"infinite"}}}) == "accepted");
  CHECK(refusal(curves, {{"model.topics_per_document", 4}}) == "accepted");  // with a warning

  CHECK_THAT(refusal(topics_value_penalty(),
                     {{"model.loss", "cross_entropy"}, {"sweep.penalty", List{0.0, 0.1}}}),
             Contains("sweep.penalty"));
  CHECK_THAT(refusal(topics_landscape(), {{"model.prior", "dirichlet"}}), Contains("prior"));
  CHECK_THAT(refusal(topics_landscape(), {{"model.length", List{20}}}), Contains("length"));
  CHECK_THAT(refusal(topics_embedding(), {{"model.topics_per_document", 4}}),
             Contains("topics_per_document"));
  CHECK_THAT(refusal(topics_onset(), {{"model.initialisation", "gaussian"}}),
             Contains("initialisation"));
  CHECK_THAT(refusal(topics_mode_growth(), {{"model.initialisation", "uniform"}}),
             Contains("initialisation"));
  CHECK_THAT(refusal(topics_mode_growth(), {{"model.keep_rate", 0.0}}), Contains("keep_rate"));
  for (const Study& study :
       {topics_onset(), topics_mode_growth(), topics_attention(), topics_embedding()}) {
    CHECK_THAT(refusal(study, {{"model.topics", 40}, {"model.topics_per_document", 10}}),
               Contains("20000"));
  }
  CHECK_THAT(refusal(topics_two_stage(), {{"model.width", 4}}), Contains("model.width"));
  CHECK_THAT(refusal(topics_two_stage(), {{"model.embedding", "trained"}, {"model.width", 4}}),
             Contains("model.width"));
  CHECK(refusal(topics_two_stage(),
                {{"model.embedding", "trained"}, {"model.decoder", "tied"}, {"model.width", 4}}) ==
        "accepted");
  CHECK_THAT(refusal(topics_two_stage(), {{"model.inner_dimension", 4}}),
             Contains("model.inner_dimension"));
  CHECK(refusal(topics_two_stage(),
                {{"model.initialisation", "gaussian"}, {"model.inner_dimension", 4}}) ==
        "accepted");
  CHECK_THAT(refusal(topics_text(), {{"model.heads", 5}}), Contains("model.heads"));
  CHECK_THAT(refusal(topics_text(), {{"model.stop_words", "no-such-list"}}),
             Contains("model.stop_words"));
  CHECK_THAT(refusal(topics_two_stage_deep(), {{"model.width", 15}}), Contains("heads"));
  CHECK_THAT(refusal(topics_two_stage_deep(), {{"model.width", 8}}), Contains("width"));
  CHECK_THAT(refusal(topics_two_stage_deep(), {{"model.length", List{"infinite"}}}),
             Contains("length"));
  CHECK_THAT(refusal(topics_text(), {{"model.file", "no-such-text.txt"}}), Contains("file"));
  CHECK_THAT(refusal(topics_text(), {{"model.keep_rate", 0.6}, {"model.random_rate", 0.6}}),
             Contains("random_rate"));
  CHECK_THAT(refusal(topics_text(), {{"model.file", "psalms.txt"}, {"model.least_count", 100000}}),
             Contains("at least 10 words"));
}

TEST_CASE("topic studies: a theory that is not known is refused, not drawn", "[studies][topics]") {
  const auto theory = [](const Study& study, const Table& overrides) -> std::string {
    Configuration c = configured(study, overrides);
    try {
      study.make(c)->theory(TheoryGrid::requested);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return error.what();
    }
    return "computed";
  };
  CHECK_THAT(theory(topics_two_stage(), {{"sim.optimiser", "adam"}}), Contains("sim.optimiser"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.initialisation", "gaussian"}}),
             Contains("initialisation"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.length", List{20}}}), Contains("infinite"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.prior", "dirichlet"}}), Contains("model.prior"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.embedding", "trained"}}),
             Contains("model.embedding"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.bias", true}}), Contains("model.bias"));
  CHECK_THAT(theory(topics_two_stage(), {{"model.value_initialisation", "gaussian"}}),
             Contains("model.value_initialisation"));
  CHECK_THAT(theory(topics_two_stage(), {{"sim.data", "fixed"}}), Contains("sim.data"));
  for (const Study& study : {topics_value_curves(), topics_value_map()}) {
    CHECK_THAT(theory(study, {{"sim.data", "fixed"}}), Contains("sim.data"));
    CHECK_THAT(theory(study, {{"sim.optimiser", "momentum"}}), Contains("sim.optimiser"));
    CHECK_THAT(theory(study, {{"model.loss", "cross_entropy"}}), Contains("model.loss"));
  }
  CHECK_THAT(theory(topics_two_stage_deep(), {}), Contains("no theory"));
  CHECK_THAT(theory(topics_text(), {}), Contains("no theory"));
  CHECK(theory(topics_two_stage(), {}) == "computed");
}

TEST_CASE("topic studies: curves bear their names where classes are empty", "[studies][topics]") {
  Configuration c = configured(topics_attention(), {{"model.words_per_topic", 1}});
  for (const Prediction& p :
       topics_attention().make(c)->theory(TheoryGrid::requested).predictions) {
    CHECK(p.series.name != "attention_same_topic");
    for (const double y : p.series.y) CHECK(std::isfinite(y));
    // Own words are preferred at the end, other topics are not.
    if (p.series.name == "attention_same_word") CHECK(p.series.y.back() > 1);
    if (p.series.name == "attention_other_topic") CHECK(p.series.y.back() < 1);
  }
}

TEST_CASE("topic studies: doubtful settings are warned of", "[studies][topics]") {
  const auto warnings = [](const Study& study, const Table& overrides) {
    Configuration c = configured(study, overrides);
    std::string all;
    for (const std::string& w : study.make(c)->warnings()) all += w + "\n";
    return all;
  };
  CHECK(warnings(topics_two_stage(), {}).empty());
  CHECK_THAT(warnings(topics_two_stage(), {{"model.keep_rate", 0.0}}), Contains("second stage"));
  CHECK_THAT(warnings(topics_two_stage(), {{"model.topics_per_document", 1}}),
             Contains("second stage"));
  CHECK_THAT(warnings(topics_value_curves(), {{"model.topics_per_document", 4}}),
             Contains("all topics"));
  CHECK_THAT(warnings(topics_value_curves(), {{"sim.eta", 20.0}}), Contains("divergence"));
  CHECK_THAT(warnings(topics_text(), {{"model.file", "psalms.txt"}, {"model.lda_topics", 100000}}),
             Contains("lda_topics"));
  CHECK_THAT(
      warnings(
          topics_text(),
          {{"model.file", "psalms.txt"}, {"model.documents", "words"}, {"model.unit_size", 5000}}),
      Contains("beyond the first 256"));
  CHECK(warnings(topics_text(), {{"model.file", "psalms.txt"}}).empty());
}

TEST_CASE("topics-text: held-out documents without pairs are refused, not measured",
          "[studies][topics]") {
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
  const Study study = topics_text();
  Configuration c = configured(study, {{"model.lda_topics", 2}, {"sim.length", 1}});
  c.input_directories.push_back(path.parent_path().string());
  c.set("model.file", path.filename().string(), true);
  const std::unique_ptr<Experiment> experiment = study.make(c);
  CHECK_THROWS_WITH(experiment->simulate({}), Contains("2 held-out documents without"));
  std::filesystem::remove(path);
}
