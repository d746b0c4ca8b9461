/// Both stages from the first step: without l1 the averaged recursion, without noise one run.

#include <catch2/catch.hpp>
#include <vector>

#include "attica/core/bigrams/instances.hpp"
#include "attica/theory/bigrams/l1.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace bigrams_both_stages_test {

using namespace attica;
using Catch::Matchers::WithinRel;

BigramModel model() {
  RandomStream stream({.seed = 4, .id = StreamId::model});
  return BigramModel(cyclic_chain(3, 0.95, 2.5),
                     300,
                     2,
                     random_attention(3, 300, 2, AttentionWeights::random, stream));
}

const BigramRates kRates{.eta_v = 0.05, .eta_a = 0.05};
const std::vector<std::int64_t> kSteps = {0, 40, 120, 250, 400};

TEST_CASE("both_stages: without l1 the recursion averaged over amplitudes", "[theory][bigrams]") {
  const BigramModel m = model();
  const std::vector<BothStages> stages = both_stages(m, kRates, 256, 0, 0.5, 0, kSteps);
  const Eigen::MatrixXd averaged = averaged_over_amplitudes(
      m,
      kRates,
      256,
      {},
      ValueNoise::exact,
      kSteps,
      [](const BigramRecursion& r) -> Eigen::RowVectorXd {
        return Eigen::RowVector3d(r.excess_loss(), r.distance_v2(), r.distance_a2());
      });
  REQUIRE(stages.size() == kSteps.size());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    CHECK(stages[k].step == kSteps[k]);
    CHECK_THAT(stages[k].excess_loss, WithinRel(averaged(row, 0), 1e-12));
    CHECK_THAT(stages[k].distance_v2, WithinRel(averaged(row, 1), 1e-12));
    CHECK_THAT(stages[k].distance_a2, WithinRel(averaged(row, 2), 1e-12));
  }
}

TEST_CASE("both_stages: with hardly any noise the run of the mean amplitude in two stages",
          "[theory][bigrams]") {
  const BigramModel m = model();
  constexpr double kBatch = 1e9;
  constexpr double kLambda = 0.01;
  constexpr double kCut = 0.05;
  const std::vector<BothStages> stages = both_stages(m, kRates, kBatch, kLambda, 0.5, kCut, kSteps);
  BigramRecursion boosted = boosted_recursion(m, kRates, kBatch, 0.5);
  const std::int64_t first = boosted.steps();
  REQUIRE(first > kSteps[1]);
  REQUIRE(first < kSteps.back());
  L1MeanField field(m, kRates, kBatch, kLambda, boosted.signals(), kCut);
  std::int64_t made = 0;
  for (const BothStages& at : stages) {
    if (at.step < first) continue;
    for (; made < at.step - first; ++made) field.step();
    CHECK_THAT(at.excess_loss, WithinRel(field.excess_loss(), 1e-4));
    CHECK_THAT(at.distance_v2, WithinRel(field.distance_v2(), 1e-3));
  }
  CHECK(made > 0);
}

}  // namespace bigrams_both_stages_test
