#include "attica/sim/bigrams/surrogate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/sim/bigrams/sgd.hpp"
#include "attica/sim/bigrams/training.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_surrogate_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;

struct Moments {
  double mean = 0;
  double deviation = 0;
  double mean_error = 0;
  double deviation_error = 0;
};

Moments moments(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double square = 0;
  double fourth = 0;
  for (const double v : x) {
    square += std::pow(v - mean, 2) / n;
    fourth += std::pow(v - mean, 4) / n;
  }
  const double sd = std::sqrt(square);
  return {mean, sd, sd / std::sqrt(n), std::sqrt((fourth - square * square) / n) / (2 * sd)};
}

/// States of many runs at some steps: [step][run].
template <class Make>
std::vector<std::vector<BigramState>> runs(int count,
                                           const std::vector<int>& steps,
                                           const Make& make) {
  std::vector<std::vector<BigramState>> states(steps.size());
  for (int r = 0; r < count; ++r) {
    const auto trainer = make(static_cast<std::uint64_t>(r));
    int step = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      for (; step < steps[k]; ++step) trainer->step();
      states[k].push_back(trainer->state());
    }
  }
  return states;
}

void check_same_law(const std::vector<std::vector<BigramState>>& a,
                    const std::vector<std::vector<BigramState>>& b,
                    double slack,
                    double BigramState::*noise = &BigramState::d_a,
                    std::size_t deviations_from = 0,
                    std::size_t deviations_to = 1000) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (double BigramState::*value : {&BigramState::alpha_v, &BigramState::alpha_a, noise}) {
      const auto read = [&](const std::vector<BigramState>& states) {
        std::vector<double> x;
        for (const BigramState& s : states) x.push_back(s.*value);
        return moments(x);
      };
      const Moments x = read(a[k]);
      const Moments y = read(b[k]);
      CAPTURE(k, x.mean, y.mean, x.deviation, y.deviation);
      // Four joint standard errors, and what the noise model leaves out.
      CHECK(std::abs(x.mean - y.mean) <=
            4 * std::hypot(x.mean_error, y.mean_error) + slack * std::abs(y.mean));
      if (k < deviations_from || k >= deviations_to) continue;
      CHECK(std::abs(x.deviation - y.deviation) <=
            4 * std::hypot(x.deviation_error, y.deviation_error) + slack * y.deviation);
    }
  }
}

StreamAddress noise(std::uint64_t replicate) {
  return {.seed = 11, .id = StreamId::surrogate, .replicate = replicate};
}

TEST_CASE("bigram surrogates: same law as SGD", "[sim][bigrams][slow]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 300);
  const std::vector<int> steps{20, 60, 120, 200, 300, 450};
  constexpr int kRuns = 1000;  // some grow late: of 250 the deviation tells little
  for (const double batch : {16.0, 64.0}) {
    const BigramRates rates{0.05, 0.05};
    const Eigen::MatrixXd start = stationary_value(model);
    const auto real = runs(kRuns, steps, [&](std::uint64_t r) {
      return std::make_unique<BigramSgd<float>>(
          model,
          BigramAlgorithm::sgd_hat,
          rates,
          batch,
          start,
          StreamAddress{.seed = 12, .id = StreamId::minibatch, .replicate = r});
    });
    const auto aggregated = runs(2 * kRuns, steps, [&](std::uint64_t r) {
      return std::make_unique<AggregatedSurrogate>(model, rates, batch, start, noise(r));
    });
    // Once the signals have saturated (last step), the white noise model has too much noise along
    // them: where V = P and A = Q the true noise of A is almost orthogonal to Q. Means hold. At the
    // first steps d_A is the square of a nearly normal number: the error of its deviation, from
    // fourth moments, says little.
    check_same_law(aggregated, real, 0.03, &BigramState::d_a, 2, steps.size() - 1);
  }
}

TEST_CASE("bigram surrogates: dense, aggregated and sparse have one law", "[sim][bigrams][slow]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 60);
  const std::vector<int> steps{1, 20, 60};
  constexpr int kRuns = 300;
  const BigramRates rates{0.1, 0.1};
  constexpr double kBatch = 40;
  const Eigen::MatrixXd start = model.transition();  // V = P: noise on A from the first step
  const auto dense = runs(kRuns, steps, [&](std::uint64_t r) {
    return std::make_unique<DenseSurrogate>(model, rates, kBatch, start, noise(r));
  });
  const auto aggregated = runs(kRuns, steps, [&](std::uint64_t r) {
    return std::make_unique<AggregatedSurrogate>(model, rates, kBatch, start, noise(r + 1000));
  });
  check_same_law(aggregated, dense, 0);
  // Sparse against dense with l1, both from A = 0: they differ by the mean of the noise, O(1/T).
  const auto with_l1 = [&](auto trainer) {
    trainer->threshold(1);  // sets A to 0
    trainer->set_l1(0.05);
    return trainer;
  };
  const auto dense_l1 = runs(kRuns, steps, [&](std::uint64_t r) {
    return with_l1(std::make_unique<DenseSurrogate>(model, rates, kBatch, start, noise(r + 2000)));
  });
  const auto sparse_l1 = runs(kRuns, steps, [&](std::uint64_t r) {
    return with_l1(std::make_unique<SparseSurrogate>(model, rates, kBatch, start, noise(r + 3000)));
  });
  // d_A counts the column sums, which the mean of the noise moves: compare ‖A - Q‖² instead.
  check_same_law(sparse_l1, dense_l1, 0.03, &BigramState::distance_a2, 1);
}

TEST_CASE("sparse surrogate: aggregated until a threshold, entries of the same law after it",
          "[sim][bigrams][slow]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 300);
  const std::vector<int> steps{100, 101, 140};
  constexpr int kRuns = 300;
  // Boosted with l1 = 0, then some entries cut and l1 on.
  const auto staged = [&](auto make, std::uint64_t first) {
    std::vector<std::vector<BigramState>> states(3);
    std::vector<double> zeros;
    for (std::uint64_t r = 0; r < kRuns; ++r) {
      const auto run = make(noise(first + r));
      for (int n = 0; n < 60; ++n) run->step();
      states[0].push_back(run->state());
      run->threshold(0.01);
      run->set_l1(0.02);
      zeros.push_back(run->zero_fraction());
      states[1].push_back(run->state());
      for (int n = 0; n < 30; ++n) run->step();
      states[2].push_back(run->state());
    }
    return std::pair(states, moments(zeros));
  };
  const BigramRates rates{0.1, 0.1};
  constexpr double kBatch = 128;
  const Eigen::MatrixXd start =
      stationary_value(model) + 0.3 * (model.transition() - stationary_value(model));
  const auto [dense, dense_zeros] = staged(
      [&](const StreamAddress& a) {
        return std::make_unique<DenseSurrogate>(model, rates, kBatch, start, a);
      },
      5000);
  const auto [sparse, sparse_zeros] = staged(
      [&](const StreamAddress& a) {
        return std::make_unique<SparseSurrogate>(model, rates, kBatch, start, a);
      },
      6000);
  // Means agree throughout; the norm that is drawn anew adds to the spread right after the cut.
  check_same_law(sparse, dense, 0.03, &BigramState::distance_a2, 2);
  CHECK(std::abs(sparse_zeros.mean - dense_zeros.mean) <
        4 * std::hypot(sparse_zeros.mean_error, dense_zeros.mean_error) + 0.01);
  CHECK(dense_zeros.mean > 0.1);
}

TEST_CASE("aggregated surrogate: any T, memory does not grow with it", "[sim][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 100000000);
  AggregatedSurrogate run(model, {0.05, 0.05}, 1e8, stationary_value(model), noise(0));
  for (int n = 0; n < 50; ++n) run.step();
  // (η/(T ω)) sinh(ω n) within its noise: snr = 8.
  CHECK(run.state().alpha_v == Approx(1e-8 / 0.403 * std::sinh(50 * 0.0202)).epsilon(0.5));
  CHECK_THROWS_WITH((run.set_l1(0.1), run.step()), Catch::Matchers::Contains("sparse"));
}

TEST_CASE("bigram surrogates: noise reaches A one step after V, however many tokens",
          "[sim][bigrams]") {
  // From V = μ1ᵀ the squared noise of V grows by the same amount at every step and feeds that of A
  // one step later: d_A ∝ n (n - 1)/2. Signals and the pull of K_V are a few percent by n = 8.
  const BigramModel model = circulant_model(70, 0.8, 2, 300);
  AggregatedSurrogate run(model, {0.05, 0.05}, 100, stationary_value(model), noise(0));
  std::vector<double> d_a;
  for (int n = 1; n <= 8; ++n) {
    run.step();
    d_a.push_back(run.state().d_a);
  }
  CHECK(d_a[7] / d_a[1] == Approx(28).epsilon(0.1));
}

TEST_CASE("bigram training: stages and how they end", "[sim][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 200);
  const auto train = [&](double lambda, std::int64_t cap, const Eigen::MatrixXd& start) {
    DenseSurrogate run(model, {0.1, 0.1}, 400, start, noise(1));
    double error = -1;
    const BigramTrainingEnd end = run_stages(
        run,
        {.boost_cap = cap, .lambda = lambda, .cut = 0.05, .steps = 100, .measure_every = 10},
        [&](std::int64_t) {
          error = rounding_of(model, rounded(run, 0.5)).error();
          return true;
        });
    return std::pair(end.status, error);
  };
  const Eigen::MatrixXd start = stationary_value(model);
  const auto [status, error] = train(0.02, 500, start);
  CHECK(status == BigramStatus::converged);
  CHECK(error < 0.05);
  CHECK(train(0.02, 3, start).first == BigramStatus::boosting);
  CHECK(train(0.02, 500, 2 * start - model.transition()).first == BigramStatus::mirror);
  CHECK(train(10, 500, start).first == BigramStatus::collapsed);
}

}  // namespace bigrams_surrogate_test
