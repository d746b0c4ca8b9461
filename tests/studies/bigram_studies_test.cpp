/// Bad input of the bigram studies is refused by name before any work.

#include "attica/studies/bigram_studies.hpp"

#include <catch2/catch.hpp>

#include "attica/core/error.hpp"

namespace {

using namespace attica;
using Catch::Matchers::Contains;

Configuration configured(const Study& study, const Table& overrides) {
  std::vector<Parameter> parameters = study.parameters;
  parameters.push_back({.key = "sim.seed",
                        .type = ParameterType::integer,
                        .fallback = Value(std::int64_t{1}),
                        .meaning = "master seed"});
  Configuration c(study.name, parameters);
  for (const auto& [key, value] : overrides) c.set(key, value, true);
  return c;
}

std::string refusal(const Study& study, const Table& overrides) {
  Configuration c = configured(study, overrides);
  try {
    study.make(c);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("bigram studies: bad input is refused by name", "[studies][bigrams]") {
  const Study study = bigrams_recursion();
  CHECK_THAT(refusal(study, {{"model.sparsity", 400}}), Contains("sparsity"));
  CHECK_THAT(refusal(study, {{"model.p_diagonal", 1.0 / 3}}), Contains("K_P"));
  CHECK_THAT(refusal(study, {{"model.instance", "explicit"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.instance", "text"}}), Contains("model.file"));
  CHECK_THAT(refusal(study, {{"model.context", 400000000}}), Contains("aggregated"));
  CHECK_THAT(refusal(study, {{"sim.surrogate", "aggregated"}, {"sim.l1", 0.1}}),
             Contains("aggregated"));
  CHECK_THAT(refusal(study, {{"model.support", "strided"}, {"model.context", 5}}),
             Contains("strided"));
  CHECK_THAT(refusal(bigrams_regularisation(), {{"sim.l1", 0.0}}), Contains("l1"));
  CHECK_THAT(refusal(bigrams_floor(), {{"sim.surrogate", "dense"}}), Contains("surrogate"));
  CHECK(refusal(study, {}) == "accepted");
}

TEST_CASE("bigram studies: doubtful settings are warned of", "[studies][bigrams]") {
  const Study study = bigrams_recursion();
  const auto warnings = [&](const Table& overrides) {
    Configuration c = configured(study, overrides);
    std::string all;
    for (const std::string& w : study.make(c)->warnings()) all += w + "\n";
    return all;
  };
  CHECK(warnings({}).empty());
  CHECK_THAT(warnings({{"model.context", 40}}), Contains("10 N Q"));
  CHECK_THAT(warnings({{"sim.eta", 5.0}}), Contains("stability limit"));
  CHECK_THAT(warnings({{"sim.batch", 8}}), Contains("snr"));
}

TEST_CASE("bigram studies: runs that end badly are counted, not averaged", "[studies][bigrams]") {
  const auto outcomes = [](const Study& study, const Table& overrides) {
    Configuration c = configured(study, overrides);
    return study.make(c)->simulate({.point = 1, .stream_point = 1, .replicates = 1, .seed = 1});
  };
  // λ far above the signal: all of A is thresholded away.
  const auto collapsed = outcomes(
      bigrams_regularisation(),
      {{"model.context", 100}, {"sim.l1", 5.0}, {"sim.batch", 256}, {"sim.steps", List{0, 40}}});
  CHECK(collapsed.front().status == "collapsed");
  CHECK(collapsed.front().series.empty());
  // A rate far above the stability limit.
  const auto diverged = outcomes(bigrams_transfer(),
                                 {{"model.context", 100},
                                  {"sim.eta", 20.0},
                                  {"sim.batch", 4},
                                  {"sim.steps", List{0, 200}}});
  CHECK(diverged.front().status == "diverged");
  CHECK(diverged.front().failed);
  // A negative correlation ends in the mirror solution.
  const auto mirror = outcomes(bigrams_transfer(),
                               {{"model.context", 100},
                                {"sim.batch", 256},
                                {"sweep.correlation", List{0.5, -0.3}},
                                {"sim.steps", List{0, 100}}});
  CHECK(mirror.front().status == "mirror");
  CHECK(mirror.front().series.empty());
}
