/// The search for the smallest batch, and runs in groups and stages.

#include "attica/sim/bigrams/search.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"
#include "attica/sim/bigrams/runs.hpp"
#include "theory/bigrams/reference.hpp"

using namespace attica;
using attica::testing::circulant_model;

TEST_CASE("bigram search: the first batch that succeeds often enough", "[sim][bigrams]") {
  const BatchSearch search{.first = 10, .ratio = 2, .batches = 8, .runs = 20, .failures = 1};
  std::set<std::uint64_t> numbers;
  // Every tenth run fails at 100 or more, one in twenty from 200 on.
  const auto train = [&](double batch, std::uint64_t run) {
    CHECK(numbers.insert(run).second);
    const bool fails = batch < 100 || run % (batch < 200 ? 10 : 20) == 3;
    return TargetRun{!fails, fails ? 1000 : batch + static_cast<double>(run % 20)};
  };
  const BatchFound found = smallest_batch(search, train);
  CHECK(found.found);
  CHECK(found.batch == 320);    // 10, 20, ..., 160 fail
  CHECK(found.samples == 330);  // of the 19 that succeed: 320 .. 339 without 323
  CHECK(found.cap == 1000);
  BatchSearch shifted = search;
  shifted.offset = 0.5;
  numbers.clear();
  CHECK(smallest_batch(shifted, train).batch == std::round(10 * std::pow(2, 4.5)));
  // Where the first batch succeeds, smaller ones are tried: 500, 250, and 125, which fails.
  BatchSearch high = search;
  high.first = 1000;
  numbers.clear();
  CHECK(smallest_batch(high, train).batch == 250);
  numbers.clear();
  const auto easy = [&](double batch, std::uint64_t run) {
    CHECK(numbers.insert(run).second);
    return TargetRun{true, batch};
  };
  CHECK(smallest_batch(high, easy).batch == 1);
  CHECK(numbers.size() == 11 * 20);  // 1000, 500, 250, 125, 63, 31, 16, 8, 4, 2, 1
  // A batch is given up with the second failure; a search without success says so.
  numbers.clear();
  const BatchFound none = smallest_batch(search, [&](double, std::uint64_t run) {
    numbers.insert(run);
    return TargetRun{false, 7};
  });
  CHECK_FALSE(none.found);
  CHECK(none.cap == 7);
  CHECK(numbers.size() == 16);
  std::stop_source stopped;
  stopped.request_stop();
  CHECK_FALSE(smallest_batch(search, train, stopped.get_token()).found);
  CHECK_THROWS_AS(smallest_batch({.first = 0}, train), Error);
}

TEST_CASE("bigram runs: spread of the signal, and stopping", "[sim][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 200);
  const auto make = [&](int member) {
    return make_bigram_run(BigramSampling::aggregated,
                           BigramAlgorithm::sgd_hat,
                           model,
                           {0.1, 0.1},
                           64,
                           stationary_value(model),
                           {.seed = 5, .replicate = static_cast<std::uint64_t>(member)});
  };
  const std::vector<std::int64_t> steps{0, 40};
  constexpr double kTheta = 0.1;
  const BigramSpread spread = signal_spread(make, 3, steps, kTheta);
  double sum = 0;
  double squares = 0;
  double grown = 0;
  double attention = 0;
  for (int member = 0; member < 3; ++member) {
    const auto run = make(member);
    while (run->steps() < 40) run->step();
    const double alpha = run->state().alpha_v;
    sum += alpha;
    squares += alpha * alpha;
    grown += alpha >= kTheta ? 1 : 0;
    attention += run->state().alpha_a;
  }
  CHECK(spread.mean[1] == Approx(sum / 3));
  CHECK(spread.deviation[0] == Approx(0).margin(1e-12));
  CHECK(spread.deviation[1] ==
        Approx((1 + 1.0 / 12) * (1 + 0.5 / 3) * std::sqrt(squares / 3 - sum * sum / 9)));
  CHECK(spread.grown[1] == Approx(grown / 3));
  CHECK(spread.attention[1] == Approx(attention / 3));
  // E 1/χ_ν = Γ((ν-1)/2)/(√2 Γ(ν/2)), and E χ_ν in the deviation.
  constexpr int kMany = 50;
  constexpr double kHalf = 0.5 * (kMany - 1);
  const BigramSpread many = signal_spread(make, kMany, steps, kTheta);
  const double inverse =
      std::exp(std::lgamma(kHalf + 0.5) + std::lgamma(kHalf - 0.5) - 2 * std::lgamma(kHalf));
  CHECK(many.ratio[1] * inverse == Approx(many.mean[1] / many.deviation[1]).epsilon(1e-3));
  const auto wild = [&](int) {
    return make_bigram_run(BigramSampling::dense,
                           BigramAlgorithm::sgd_hat,
                           model,
                           {1e300, 1e300},
                           64,
                           stationary_value(model),
                           {.seed = 5});
  };
  CHECK(signal_spread(wild, 2, steps, kTheta).diverged_at == 40);
  // What is asked to stop makes no step more, also where the signal would take forever to grow.
  std::stop_source stopped;
  stopped.request_stop();
  const auto run = make(0);
  CHECK(std::abs(grow_signal(*run, kTheta, 1e9, stopped.get_token())) < kTheta);
  const BigramStages stages{.boost_cap = 1000000000, .stop = stopped.get_token()};
  CHECK(run_and_round(*run, stages, [](std::int64_t) { return true; }).status ==
        BigramStatus::boosting);
  CHECK(run->steps() == 0);
}
