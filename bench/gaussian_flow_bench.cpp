#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/flow.hpp"

namespace {

using namespace attica;

/// Site-averaged test and train errors of gradient flow at 100 times and three ratios M/N. One
/// thread.
void flow_theory(benchmark::State& state) {
  const Eigen::Index sites = state.range(0);
  constexpr int kTimes = 100;
  std::vector<ResidualFilter> filters;
  for (int k = 0; k < kTimes; ++k) {
    filters.push_back(flow_filter(1e-2 * std::pow(3e4, k / double(kTimes - 1))));
  }
  const ThreadLimit limit(1);
  for (auto _ : state) {
    const GaussianFlow flow{GaussianMlm(ar1_covariance(sites, 0.6))};
    for (const double ratio : {0.5, 1.0, 2.5}) {
      benchmark::DoNotOptimize(flow.average(ratio * static_cast<double>(sites - 1), filters));
    }
  }
}
BENCHMARK(flow_theory)->ArgName("L")->Arg(300)->Unit(benchmark::kMillisecond);

}  // namespace
