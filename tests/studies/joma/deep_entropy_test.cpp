/// @file
/// @brief What deep-entropy refuses, and what its theory and simulation do at the limits of its
/// parameters.

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attica/studies/joma/model.hpp"
#include "configured_study.hpp"

using namespace attica;

namespace studies_joma_deep_entropy_test {

using attica::testing::configured;

TEST_CASE("deep-entropy: a fall in every layer, and with one layer its return",
          "[studies][deep][study:deep-entropy]") {
  // Nine runs of a curve each per layer: it falls from 2 by `fall` and ends at 2 - fall + rise.
  const auto observed = [](const std::vector<std::pair<double, double>>& layers) {
    Observed all;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto [fall, rise] = layers[l];
      const Point layer = {{"layer", numbered(l)}};
      ObservedCurve entropy;
      entropy.mean.name = "attention_entropy";
      entropy.mean.point = layer;
      constexpr std::size_t kRuns = 9;
      for (int k = 0; k <= 11; ++k) {
        entropy.mean.x.push_back(40.0 * k);
        entropy.mean.y.push_back(k == 0 ? 2 : k < 6 ? 2 - fall : 2 - fall + rise);
        entropy.values.emplace_back(kRuns, entropy.mean.y.back());
        entropy.replicates.push_back({0, 1, 2, 3, 4, 5, 6, 7, 8});
      }
      ObservedCurve bounce;
      bounce.mean.name = "bounce";
      bounce.mean.point = layer;
      bounce.mean.x = {0};
      bounce.mean.y = {rise / fall};
      bounce.values = {std::vector<double>(kRuns, rise / fall)};
      bounce.replicates = {entropy.replicates.front()};
      all.simulation.push_back(std::move(entropy));
      all.simulation.push_back(std::move(bounce));
    }
    return all;
  };
  const auto verdict = [](const Table& settings, const Observed& of, const std::string& name) {
    const Study study = study_named("deep-entropy");
    for (const ClaimResult& claim : study.claims(configured(study, settings), of)) {
      if (claim.name == name) return std::optional(claim.verdict);
    }
    return std::optional<Verdict>();
  };
  CHECK(verdict({}, observed({{0.05, 0.02}, {0.2, 0.1}}), "fall") == Verdict::agree);
  CHECK(verdict({}, observed({{0.05, 0.02}, {0.02, 0.1}}), "fall") == Verdict::disagree);
  CHECK_FALSE(verdict({}, observed({{0.05, 0.02}, {0.2, 0.1}}), "bounce"));
  CHECK(verdict({}, observed({{0.05, 0.02}}), "bounce") == Verdict::agree);
  CHECK(verdict({}, observed({{0.05, 0.01}}), "bounce") == Verdict::disagree);
  CHECK(verdict({}, observed({{0.02, 0.02}}), "bounce") == Verdict::disagree);
  CHECK_FALSE(verdict({{"model.heads", 4}}, observed({{0.05, 0.02}}), "bounce"));
  for (const Table& elsewhere : {Table{{"sim.eta", 1e-4}},
                                 {{"model.mask", "bidirectional"}},
                                 {{"model.width", 16}},
                                 {{"sim.lambda", 0.01}},
                                 {{"sim.steps", List{0, 200}}}}) {
    CHECK_FALSE(verdict(elsewhere, observed({{0.05, 0.02}}), "fall"));
  }
  CHECK_FALSE(verdict({}, observed({{0.05, 0.02}, {0.05, 0.02}, {0.05, 0.02}}), "fall"));
}

}  // namespace studies_joma_deep_entropy_test
