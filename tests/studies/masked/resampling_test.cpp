#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "configured_study.hpp"

using namespace attica;
using attica::testing::is_compared;
using attica::testing::made;
using attica::testing::refusal;
using Catch::Contains;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_resampling_studies_test {

const Prediction& of(const TheoryResult& result, const std::string& name, const Point& point = {}) {
  for (const Prediction& p : result.predictions) {
    if (p.series.name == name && p.series.point == point) return p;
  }
  FAIL("no series " << name << " at " << describe(point));
  return result.predictions.front();
}

TEST_CASE("masked-resampling: numbers of masks and fresh ones in one list", "[studies][masked]") {
  const auto experiment =
      made(study_named("masked-resampling"),
           {{"sweep.masks",
             List{std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::string("fresh")}},
            {"sweep.alpha", List{5.623413251903491}}});
  const TheoryResult result = experiment->theory(TheoryGrid::requested);
  // (cosine, Q) at α = 5.62 and the thresholds, beta law, β = 1, ρ = 0.75, λ = 1e-4.
  const std::vector<std::pair<CoordinateValue, std::vector<double>>> expected = {
      {1.0, {0.693175, 1.395324, 2.6037}},
      {2.0, {0.774907, 1.230337, 1.9610}},
      {4.0, {0.815471, 1.152453, 1.6162}},
      {std::string("fresh"), {0.856016, 1.076738, 1.2292}}};
  for (const auto& [masks, values] : expected) {
    const Point point = {{"masks", masks}};
    CHECK_THAT(of(result, "cosine", point).series.y.front(), WithinAbs(values[0], 1e-6));
    CHECK_THAT(of(result, "weight_norm", point).series.y.front(), WithinAbs(values[1], 1e-6));
    CHECK_THAT(of(result, "threshold", point).series.y.front(), WithinAbs(values[2], 6e-5));
  }
  // Whitened PCA is ahead of every masked unit, Bayes of both.
  const double whitened = of(result, "correlation_right").series.y.front();
  CHECK(whitened > std::pow(0.856016, 2));
  CHECK(of(result, "bayes").series.y.front() > whitened);
}

TEST_CASE("masked-resampling: bad input names the parameter", "[studies][masked]") {
  const Study study = study_named("masked-resampling");
  CHECK_THAT(refusal(study, {{"sweep.alpha", List{0.001}}}), Contains("sweep.alpha"));
  CHECK_THAT(refusal(study, {{"model.low", 0.5}}), Contains("model.low"));
  CHECK_THAT(refusal(study, {{"model.noise", "groups"}, {"model.dimension", 501}}),
             Contains("model.dimension"));
  CHECK(refusal(study, {{"model.noise", "groups"}, {"model.low", 0.5}}) == "accepted");
  // One mask and few samples: the objective has no minimum without a penalty.
  CHECK_THAT(refusal(study, {{"model.lambda", 0.0}, {"sweep.alpha", List{0.3}}}, true),
             Contains("lambda"));
  for (const Parameter& p : study.parameters) {
    if (p.key != "sweep.masks") continue;
    CHECK_NOTHROW(static_cast<void>(p.checked(std::string("fresh"), p.key)));
    CHECK_NOTHROW(static_cast<void>(p.checked(std::int64_t{3}, p.key)));
    CHECK_THROWS(static_cast<void>(p.checked(std::string("stale"), p.key)));
    CHECK_THROWS(static_cast<void>(p.checked(std::int64_t{0}, p.key)));
    CHECK_THROWS(static_cast<void>(p.checked(1.5, p.key)));
  }
  for (const char* name : {"masked-resampling", "masked-resampling-labels"}) {
    const auto experiment =
        made(study_named(name), {{"model.dimension", 50000}, {"sim.max_memory", 1.0}});
    try {
      experiment->require_simulable();
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.parameter() == "sim.max_memory");
    }
  }
}

TEST_CASE("masked-resampling-threshold: lines of the theory's own cosines end at its thresholds",
          "[studies][masked]") {
  const List masks = {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::string("fresh")};
  const List ratios = {0.8, 0.95, 1.0, 1.1, 1.5};
  const auto experiment =
      made(study_named("masked-resampling-threshold"),
           {{"sim.place", "threshold"}, {"sweep.masks", masks}, {"sweep.ratio", ratios}});
  const TheoryResult result = experiment->theory(TheoryGrid::requested);
  for (const CoordinateValue& k : {CoordinateValue(1.0),
                                   CoordinateValue(2.0),
                                   CoordinateValue(4.0),
                                   CoordinateValue("fresh")}) {
    const auto found = [&](double ratio) -> const Prediction& {
      return of(result, "found_threshold", {{"masks", k}, {"ratio", ratio}});
    };
    const double threshold = found(1.0).series.y.front();
    for (const double ratio : {0.8, 0.95, 1.1, 1.5}) {
      CHECK_THAT(found(ratio).series.y.front(), WithinRel(threshold, 1e-14));
      CHECK(is_compared(found(ratio), 0) == (ratio > 0.9 && ratio < 1.2));
    }
    // What the straight line is off by: more where its two points are farther from the threshold.
    const std::vector<std::pair<double, double>> all_off = {
        {0.95, 0.018}, {1.0, 0.022}, {1.1, 0.037}};
    for (const auto& [ratio, off] : all_off) {
      const double near = 1.5 * ratio * threshold;
      const double far = 2.5 * ratio * threshold;
      const auto cosines = made(
          study_named("masked-resampling"),
          {{"sweep.masks", masks}, {"sweep.alpha", List{near, far}}, {"model.dimension", 100000}});
      const std::vector<double> cosine =
          of(cosines->theory(TheoryGrid::requested), "cosine", {{"masks", k}}).series.y;
      REQUIRE(cosine.size() == 2);
      const auto squared_cotangent = [](double x) { return x * x / (1 - x * x); };
      const double one = squared_cotangent(cosine[0]);
      const double two = squared_cotangent(cosine[1]);
      CHECK_THAT(near - one * (far - near) / (two - one), WithinRel(threshold, off));
    }
  }
}

TEST_CASE("masked-resampling: near a threshold nothing is compared", "[studies][masked]") {
  const Point one = {{"masks", 1.0}};
  const Point fresh = {{"masks", std::string("fresh")}};
  const auto experiment =
      made(study_named("masked-resampling"), {{"sweep.alpha", List{0.6, 0.9, 1.2, 1.7, 4.0}}});
  const TheoryResult result = experiment->theory(TheoryGrid::requested);
  const auto compared = [&](const char* series, const Point& point) {
    std::vector<bool> all;
    for (std::size_t k = 0; k < 5; ++k) all.push_back(is_compared(of(result, series, point), k));
    return all;
  };
  // α_c = 1.2292 of fresh masks; one mask needs α > 1/E γ² = 0.78 as well, α_c = 2.6037.
  using Flags = std::vector<bool>;
  CHECK(compared("weight_norm", fresh) == Flags{true, true, false, true, true});
  CHECK(compared("cosine", fresh) == Flags{false, false, false, false, true});
  CHECK(compared("weight_norm", one) == Flags{false, true, true, true, true});
  CHECK(compared("cosine", one) == Flags{false, false, false, false, false});
  const auto small = made(study_named("masked-resampling"), {{"model.dimension", 200}});
  const TheoryResult few = small->theory(TheoryGrid::requested);
  CHECK_FALSE(is_compared(of(few, "weight_norm", one), 0));
  CHECK(is_compared(of(few, "weight_norm", fresh), 0));
}

TEST_CASE("masked-resampling-threshold: thresholds against the number of masks",
          "[studies][masked]") {
  const TheoryResult result =
      made(study_named("masked-resampling-threshold"),
           {{"sweep.masks", List{std::int64_t{4}, std::int64_t{1}, std::string("fresh")}}})
          ->theory(TheoryGrid::requested);
  const Series& line = of(result, "threshold").series;
  REQUIRE(line.x == std::vector<double>{1, 4});
  CHECK_THAT(line.y[0], WithinAbs(2.603669, 1e-6));
  CHECK_THAT(line.y[1], WithinAbs(1.616188, 1e-6));
  CHECK_THAT(of(result, "fresh_threshold").series.y[0], WithinAbs(1.229223, 1e-6));
  CHECK_THAT(of(result, "bayes_threshold").series.y[0], WithinAbs(0.377944, 1e-6));
}

}  // namespace masked_resampling_studies_test
