#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "attica/theory/init/propagation.hpp"
#include "configured_study.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::made;
using attica::testing::Reference;
using attica::testing::reference_values;
using attica::testing::refusal;
using Catch::Contains;
using Catch::WithinRel;

namespace studies_init_trainability_test {

double line(const Table& values, const std::string& series) {
  const TheoryResult theory =
      made(study_named("init-trainability"), values)->theory(TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == series) return p.series.y.front();
  }
  return std::nan("");
}

TEST_CASE("init-trainability: lines of the reference, at finite context and in the limit",
          "[studies][init]") {
  for (const Reference entry : reference_values("initialisation")["diagram"]) {
    CAPTURE(entry.dump());
    // The reference has heads of infinite dimension.
    Table values{{"model.context", entry["T"].get<std::int64_t>()},
                 {"model.dimension", 16384},
                 {"model.heads", 1},
                 {"train.blocks", 12}};
    Table limit = values;
    limit.emplace_back("theory.level", "limit");
    if (entry.contains("skip")) {
      for (Table* one : {&values, &limit}) {
        one->emplace_back("sweep.beta", List{entry["beta"].real()});
        one->emplace_back("model.cosine", entry["p"].real());
      }
      CHECK_THAT(line(values, "edge_skip"), WithinRel(entry["skip"].real(), 5e-3));
      CHECK_THAT(line(limit, "edge_skip"), WithinRel(entry["skip_limit"].real(), 1e-5));
      continue;
    }
    // At overlap p logits have the variance beta² (1 - p) ln T.
    constexpr double kCosine = 0.1;
    const double scale = 1 / std::sqrt(1 - kCosine);
    for (Table* one : {&values, &limit}) {
      one->emplace_back("sweep.beta", List{0.5});
      one->emplace_back("model.cosine", kCosine);
      one->emplace_back("model.level", 0.5);
    }
    CHECK_THAT(line(values, "condensed_beta"), WithinRel(scale * entry["beta"].real(), 2e-4));
    CHECK_THAT(line(limit, "condensed_beta"), WithinRel(scale * entry["beta_limit"].real(), 1e-6));
  }
}

TEST_CASE("init-trainability: the numerical error covers what interpolated attention is off by",
          "[studies][init]") {
  const TheoryResult theory =
      made(study_named("init-trainability"), {})->theory(TheoryGrid::requested);
  const Prediction& edge = theory.predictions.front();
  REQUIRE(edge.series.name == "edge_skip");
  REQUIRE(edge.series.x == std::vector<double>{0.5, 1.25, 2.0});
  for (std::size_t k = 0; k < edge.series.x.size(); ++k) {
    CAPTURE(k);
    const double skip = edge.series.y[k];
    // ln(1 - c) over the level, of attention that is computed where it is needed
    const auto off = [&](double a) {
      const InitialTransformer network{.context = 32,
                                       .dimension = 256,
                                       .heads = 4,
                                       .beta = edge.series.x[k],
                                       .cosine = 0.1,
                                       .skip = a,
                                       .mlp_skip = a};
      return std::log(propagate(network, 8, 1).back().distance / 0.1);
    };
    constexpr double kStep = 1e-3;
    const double slope = (off(skip * (1 + kStep)) - off(skip * (1 - kStep))) / (2 * kStep);
    const double error = edge.numerical_error.at(k);
    CHECK(std::abs(off(skip)) / slope * skip <= error);
    CHECK(error < 1e-4 * skip);
  }
}

TEST_CASE("init-trainability: bad input names the parameter", "[studies][init]") {
  const Study study = study_named("init-trainability");
  CHECK_THAT(refusal(study, {{"sim.eta", 0.01}}), Contains("sim.eta"));  // nothing is trained
  CHECK(refusal(study, {{"sim.eta", 0.01}, {"sim.place", "trained"}}) == "accepted");
  CHECK_THAT(refusal(study, {{"model.level", 0.95}}), Contains("model.level"));
  CHECK_THAT(refusal(study, {{"model.cosine", 0.0}}), Contains("model.cosine"));
}

}  // namespace studies_init_trainability_test
