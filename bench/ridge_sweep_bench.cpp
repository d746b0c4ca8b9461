// One whole sweep of ridge regression in Gaussian masked modelling an iteration: L = 100 sites,
// ar1(0.7), 20 sizes M log-spaced on 10..1000, 10 penalties on 1e-3..10, 10 data sets each: 200 000
// fits with their exact test errors, the drawing of the data included. One thread, double. The
// peers are bench/peers/ridge_sweep_numpy.py and ridge_sweep_sklearn.py.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/core/gaussian_ensembles.hpp"
#include "attica/core/gaussian_mlm.hpp"
#include "attica/sim/gaussian_ridge.hpp"

namespace {

using namespace attica;

std::vector<double> log_spaced(double low, double high, int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) values.push_back(low * std::pow(high / low, k / (n - 1.0)));
  return values;
}

void ridge_sweep(benchmark::State& state) {
  constexpr Eigen::Index kSites = 100;
  constexpr std::uint64_t kSeeds = 10;
  const std::vector<double> sizes = log_spaced(10, 1000, 20);
  const std::vector<double> lambdas = log_spaced(1e-3, 10, 10);
  const Eigen::MatrixXd factor = GaussianMlm(ar1_covariance(kSites, 0.7)).factor();
  for (auto _ : state) {
    for (std::size_t point = 0; point < sizes.size(); ++point) {
      for (std::uint64_t replicate = 0; replicate < kSeeds; ++replicate) {
        RandomStream stream({.point = point, .replicate = replicate});
        const RidgeFits fits(gaussian_samples(factor, true, std::lround(sizes[point]), stream),
                             factor);
        for (const double lambda : lambdas) benchmark::DoNotOptimize(fits.fit(lambda));
      }
    }
  }
}
BENCHMARK(ridge_sweep)->Unit(benchmark::kMillisecond);

}  // namespace
