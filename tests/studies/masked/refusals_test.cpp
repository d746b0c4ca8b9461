/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>

#include "attica/core/error.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_masked_refusals_test {

using attica::testing::made;
using attica::testing::refusal;
using Catch::Matchers::Contains;

TEST_CASE("masked studies: bad input names the parameter",
          "[studies][masked][study:masked-spectrum][study:masked-spike][study:masked-transfer]["
          "study:masked-vs-pca]") {
  const Study spectrum = study_named("masked-spectrum");
  const Study spike = study_named("masked-spike");
  const Study versus = study_named("masked-vs-pca");
  const Study transfer = study_named("masked-transfer");
  for (const Study& study : {spectrum, spike, versus, transfer}) {
    INFO(study.name);
    // n = alpha d must be two at least.
    CHECK_THAT(refusal(study, {{"sweep.alpha", List{0.009}}}), Contains("sweep.alpha"));
  }
  CHECK_THAT(refusal(spectrum, {{"model.covariance", "groups"}, {"model.dimension", 201}}),
             Contains("model.dimension"));
  CHECK_THAT(refusal(spectrum, {{"model.noise_ratio", 3.0}}), Contains("model.noise_ratio"));
  CHECK_THAT(refusal(spectrum, {{"model.rho", 0.2}}), Contains("model.rho"));
  CHECK(refusal(spectrum, {{"model.covariance", "ar1"}, {"model.rho", 0.2}}) == "accepted");
  CHECK_THAT(refusal(spike, {{"model.noise_ratio", 4.0}, {"model.dimension", 201}}),
             Contains("model.dimension"));
  CHECK_THAT(refusal(spike, {{"model.noise_ratio", 4.0}, {"model.signal", "localised"}}),
             Contains("model.noise_ratio"));
  CHECK_THAT(refusal(versus, {{"model.dimension", 201}}), Contains("model.dimension"));
}

TEST_CASE("masked studies: penalties, strengths and bins out of range are no values",
          "[studies][masked][study:masked-spectrum][study:masked-spike][study:masked-vs-pca]") {
  const auto range = [](const char* study, const char* key) {
    for (const Parameter& p : study_named(study).parameters) {
      if (p.key == key) return p.range;
    }
    FAIL("no parameter " << key);
    return Range{};
  };
  for (const char* study : {"masked-spectrum", "masked-spike", "masked-vs-pca"}) {
    CHECK_FALSE(range(study, "sweep.lambda").contains(0));
    CHECK_FALSE(range(study, "sweep.lambda").contains(-1));
    CHECK(range(study, "sweep.lambda").contains(1e-8));
    CHECK_FALSE(range(study, "model.noise_ratio").contains(0));
  }
  CHECK_FALSE(range("masked-spike", "sweep.theta").contains(-0.1));
  CHECK_FALSE(range("masked-vs-pca", "sweep.theta").contains(-0.1));
  CHECK_FALSE(range("masked-spectrum", "sim.bins").contains(4));
}

TEST_CASE("masked studies: memory is refused before any work",
          "[studies][masked][study:masked-spectrum][study:masked-spike][study:masked-transfer]["
          "study:masked-vs-pca]") {
  for (const char* name : {"masked-spectrum", "masked-spike", "masked-vs-pca", "masked-transfer"}) {
    const auto experiment =
        made(study_named(name), {{"model.dimension", 20000}, {"sim.max_memory", 1.0}});
    try {
      experiment->require_simulable();
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.parameter() == "sim.max_memory");
      CHECK(error.kind() == ErrorKind::input);
    }
  }
}

}  // namespace studies_masked_refusals_test
