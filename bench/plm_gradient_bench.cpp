#include <benchmark/benchmark.h>

#include "attica/core/parallel.hpp"
#include "attica/sim/potts/pseudo_likelihood.hpp"

namespace {

using namespace attica;

constexpr double kPenalty = 0.01;

/// Sequences of independent uniform colours.
Sequences alignment(Eigen::Index count, Eigen::Index sites, Eigen::Index colours) {
  RandomStream stream({.seed = 1});
  Sequences data(count, sites);
  for (Eigen::Index n = 0; n < data.size(); ++n) {
    data.data()[n] = static_cast<std::uint8_t>(stream.below(static_cast<std::uint64_t>(colours)));
  }
  return data;
}

/// Objective and gradient of plmDCA over all sites on an alignment of independent uniform colours.
/// One thread, double precision. Items are sequences.
void plm_gradient(benchmark::State& state) {
  const Eigen::Index sites = state.range(0);
  const Eigen::Index colours = state.range(1);
  const Sequences data = alignment(state.range(2), sites, colours);
  PseudoLikelihood problem(equally_weighted(data), colours, kPenalty);
  RandomStream stream({.seed = 2});
  Eigen::VectorXd x(sites * problem.site_parameters());
  for (double& v : x) v = 0.1 * stream.normal();
  Eigen::VectorXd gradient(x.size());
  for (auto _ : state) benchmark::DoNotOptimize(problem.all_sites(x.data(), gradient.data()));
  state.SetItemsProcessed(state.iterations() * state.range(2));
}

/// The whole fit on two threads. With this tolerance of the gradient the objective ends 1.5e-5
/// above the optimum (against a fit with a tolerance of 1e-5; with 1e-3 it would be 1.5e-3).
void plm_fit(benchmark::State& state) {
  const Eigen::Index colours = state.range(1);
  const WeightedSequences data =
      equally_weighted(alignment(state.range(2), state.range(0), colours));
  constexpr int kThreads = 2;
  const ThreadLimit limit(kThreads);
  double objective = 0;
  for (auto _ : state) {
    objective =
        fit_pseudo_likelihood(data, colours, kPenalty, {.gradient_tolerance = 1e-4}).objective;
  }
  state.counters["objective"] = objective;
}
BENCHMARK(plm_fit)
    ->ArgNames({"L", "C", "M"})
    ->Args({50, 21, 5000})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

BENCHMARK(plm_gradient)
    ->ArgNames({"L", "C", "M"})
    ->Args({50, 21, 5000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plm_gradient)
    ->Name("growth/plm_gradient/L")
    ->ArgNames({"L", "C", "M"})
    ->ArgsProduct({{16, 32, 64, 128}, {8}, {500}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plm_gradient)
    ->Name("growth/plm_gradient/C")
    ->ArgNames({"L", "C", "M"})
    ->ArgsProduct({{32}, {4, 8, 16, 32}, {500}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plm_gradient)
    ->Name("growth/plm_gradient/M")
    ->ArgNames({"L", "C", "M"})
    ->ArgsProduct({{32}, {8}, {500, 2000, 8000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
