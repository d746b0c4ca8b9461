/// @file
/// @brief What several studies of the family refuse and warn of.

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "configured_study.hpp"

using namespace attica;

namespace studies_language_factored_clone_test {

TEST_CASE("language: a factored network counts as a clone only where it is better than pairs",
          "[studies][language][study:language-clones][study:language-orders]") {
  const auto constant = [](const std::string& name, const Point& point, double value) {
    ObservedCurve curve{
        .mean = {.name = name, .point = point, .x_name = "none", .x = {0}, .y = {value}},
        .values = {{}},
        .replicates = {{}}};
    for (std::uint64_t r = 0; r < 8; ++r) {
      curve.values[0].push_back(value + 1e-3 * static_cast<double>(r));
      curve.replicates[0].push_back(r);
    }
    return curve;
  };
  const auto verdict = [&](const std::string& study, const Observed& observed) {
    const Study s = study_named(study);
    std::map<std::string, Verdict> verdicts;
    for (const ClaimResult& claim : s.claims(testing::configured(s, {}), observed)) {
      verdicts[claim.name] = claim.verdict;
    }
    return verdicts;
  };
  const auto orders = [&](double factored_loss, double pairs_time) {
    const Point pairs{{"clone", std::string("pairs")}};
    const Point factored{{"clone", std::string("factored")}};
    Observed observed;
    observed.simulation = {
        constant("saturation_time", {{"clone", std::string("chain-1")}}, 10),
        constant("saturation_time", pairs, pairs_time),
        constant("saturation_time", factored, 1000),
        constant("pairs_loss", pairs, 1.4),
        constant("factored_loss", factored, factored_loss),
    };
    return verdict("language-orders", observed).at("saturation-fitted");
  };
  CHECK(orders(1.0, 100) == Verdict::agree);
  CHECK(orders(1.0, 15) == Verdict::disagree);
  CHECK(orders(1.5, 100) == Verdict::inconclusive);

  const auto clones = [&](double factored_plateau) {
    Observed observed;
    observed.simulation = {constant("pairs_plateau", {}, 1.4),
                           constant("factored_plateau", {}, factored_plateau)};
    return verdict("language-clones", observed);
  };
  CHECK(clones(1.0).at("factored-beats-pairs") == Verdict::agree);
  CHECK(clones(1.5).at("factored-beats-pairs") == Verdict::disagree);
  CHECK(clones(1.5).at("factored-has") == Verdict::inconclusive);

  const auto deeper = [&](double fewer_layers) {
    Observed observed;
    observed.simulation = {constant("pairs_plateau", {}, 1.4),
                           constant("factored_plateau", {}, 1.0),
                           constant("fewer_layers_plateau", {}, fewer_layers)};
    return verdict("language-clones", observed);
  };
  CHECK(deeper(1.1).at("factored-beats-fewer-layers") == Verdict::agree);
  CHECK(deeper(0.9).at("factored-beats-fewer-layers") == Verdict::disagree);
  CHECK(deeper(0.9).at("factored-has") == Verdict::inconclusive);
}

}  // namespace studies_language_factored_clone_test
