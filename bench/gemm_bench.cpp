/// @file
/// @brief Products of matrices in double and single precision: what the peers' BLAS must keep up
/// with for a comparison to be fair. bench/compare measures them first.

#include <benchmark/benchmark.h>

#include <Eigen/Core>

#include "attica/sim/networks/gemm.hpp"

namespace {

using namespace attica;

constexpr Eigen::Index kSize = 512;

void gemm_double(benchmark::State& state) {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(kSize, kSize);
  const Eigen::MatrixXd b = Eigen::MatrixXd::Random(kSize, kSize);
  Eigen::MatrixXd c(kSize, kSize);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
}
BENCHMARK(gemm_double)->Name("gemm/double")->Unit(benchmark::kMillisecond);

void gemm_float(benchmark::State& state) {
  Eigen::MatrixXf a = Eigen::MatrixXf::Random(kSize, kSize);
  Eigen::MatrixXf b = Eigen::MatrixXf::Random(kSize, kSize);
  Eigen::MatrixXf c(kSize, kSize);
  const auto view = [](Eigen::MatrixXf& m) {
    return networks::MatrixView<float>{m.data(), kSize, kSize, kSize};
  };
  for (auto _ : state) {
    networks::multiply<float>(networks::plain(view(a)),
                              networks::plain(view(b)),
                              kSize,
                              view(c),
                              networks::Into::overwrite);
    benchmark::DoNotOptimize(c.data());
  }
}
BENCHMARK(gemm_float)->Name("gemm/float")->Unit(benchmark::kMillisecond);

}  // namespace
