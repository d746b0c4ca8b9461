/// @file
/// @brief What topics-compensation refuses, and what its theory and simulation do at the limits of
/// its parameters.

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_topics_compensation_test {

using attica::testing::configured;
using attica::testing::made;

TEST_CASE("topics-compensation: what attention gains is measured by copying, at any size",
          "[studies][topics][study:topics-compensation]") {
  const Study study = study_named("topics-compensation");
  // Shares of the gain of copying, and of that of W_V alone (from the theory's diagnostics).
  const auto verdict =
      [&](const Table& size, const std::string& name, double copied, double gained) {
        const Configuration c = configured(study, size);
        const auto experiment = made(study, size);
        const TheoryResult theory = experiment->theory(TheoryGrid::requested);
        const auto diagnostic = [&](const std::string& key) {
          for (const auto& [found, value] : theory.diagnostics) {
            if (found == key) return std::get<double>(value);
          }
          FAIL(key);
          return 0.0;
        };
        Observed observed{.theory = theory.predictions, .simulation = {}};
        const Point uniform = {{"embedding", "one_hot"}, {"attention", "uniform"}};
        const double untrained = observed.predicted("optimum_loss", uniform).value();
        const auto end = [&](const char* embedding, double x, double gain) {
          ObservedCurve curve;
          curve.mean.name = "end_loss";
          curve.mean.point = {{"embedding", embedding}, {"attention", "trained"}};
          curve.mean.x = {x};
          curve.mean.y = {untrained - gain};
          curve.values.emplace_back();
          curve.replicates.emplace_back();
          for (std::uint64_t r = 0; r < 36; ++r) {
            curve.values[0].push_back(untrained -
                                      gain * (1 + 0.001 * std::sin(static_cast<double>(r))));
            curve.replicates[0].push_back(r);
          }
          observed.simulation.push_back(std::move(curve));
        };
        end("one_hot", 0, copied * diagnostic("copying_gain"));
        end("trained", 0, gained * diagnostic("gain"));
        for (const ClaimResult& claim : study.claims(c, observed)) {
          if (claim.name == name) return claim.verdict;
        }
        FAIL(name);
        return Verdict::inconclusive;
      };
  for (const Table& size : {Table{}, study.presets.back().values}) {
    CHECK(verdict(size, "attention-alone", 0.55, 1) == Verdict::agree);
    CHECK(verdict(size, "attention-alone", 0.45, 1) == Verdict::disagree);
    CHECK(verdict(size, "attention-and-embedding", 1, 0.98) == Verdict::agree);
    CHECK(verdict(size, "attention-and-embedding", 1, 0.95) == Verdict::disagree);
  }
}

}  // namespace studies_topics_compensation_test
