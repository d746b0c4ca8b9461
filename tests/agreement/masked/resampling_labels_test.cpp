/// masked-resampling-labels agrees and rejects wrong theories; labels drawn one by one.

#include <catch2/catch.hpp>
#include <cmath>

#include "agreement/study_run.hpp"
#include "attica/sim/masked/resampling.hpp"
#include "attica/theory/masked/resampling.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;

namespace masked_resampling_labels_agreement_test {

TEST_CASE("masked-resampling-labels: agrees and rejects wrong theories", "[agreement]") {
  check_agrees_and_rejects_perturbed(study_named("masked-resampling-labels"));
}

TEST_CASE("few_labels_accuracy: labels drawn one by one", "[agreement]") {
  // Five standard errors of 40000 data sets.
  const UnitMeasures unit{.alignment = -0.7, .weight_norm = 1, .noise_norm = 0.9, .accuracy = 0};
  UnitMeasures measured = unit;
  measured.accuracy = 0.5 + std::atan(0.7 / std::sqrt(0.9)) / 3.14159265358979;
  constexpr std::int64_t kSets = 40000;
  for (const std::int64_t labels : {1, 4, 16}) {
    RandomStream stream({.seed = 21, .point = static_cast<std::uint64_t>(labels)});
    const double seen = labelled_accuracy(measured, 1, labels, kSets, stream);
    const double error = (measured.accuracy - 0.5) / std::sqrt(static_cast<double>(kSets));
    CHECK_THAT(few_labels_accuracy(measured.accuracy, static_cast<double>(labels)),
               Catch::WithinAbs(seen, 5 * error));
  }
}

}  // namespace masked_resampling_labels_agreement_test
