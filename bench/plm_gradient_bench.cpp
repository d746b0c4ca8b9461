#include <benchmark/benchmark.h>

#include "attica/sim/pseudo_likelihood.hpp"

namespace {

using namespace attica;

/// Objective and gradient of plmDCA over all sites on an alignment of independent uniform colours.
/// One thread, double precision. Items are sequences.
void plm_gradient(benchmark::State& state) {
  const Eigen::Index sites = state.range(0);
  const Eigen::Index colours = state.range(1);
  RandomStream stream({.seed = 1});
  Sequences data(state.range(2), sites);
  for (Eigen::Index n = 0; n < data.size(); ++n) {
    data.data()[n] = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(colours)));
  }
  PseudoLikelihood problem(equally_weighted(data), colours, 0.01);
  Eigen::VectorXd x(sites * problem.site_parameters());
  for (double& v : x) v = 0.1 * stream.normal();
  Eigen::VectorXd gradient(x.size());
  for (auto _ : state) benchmark::DoNotOptimize(problem.all_sites(x.data(), gradient.data()));
  state.SetItemsProcessed(state.iterations() * state.range(2));
}
BENCHMARK(plm_gradient)
    ->ArgNames({"L", "C", "M"})
    ->Args({50, 21, 5000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
