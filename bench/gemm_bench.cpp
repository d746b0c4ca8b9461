/// @file
/// @brief Products of matrices in double and single precision: what the peers' BLAS must keep up
/// with for a comparison to be fair. bench/compare measures them first.

#include <benchmark/benchmark.h>

#include <Eigen/Core>

#include "attica/sim/networks/gemm.hpp"

namespace {

using namespace attica;

constexpr Eigen::Index kSide = 512;

void gemm_double(benchmark::State& state) {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(kSide, kSide);
  const Eigen::MatrixXd b = Eigen::MatrixXd::Random(kSide, kSide);
  Eigen::MatrixXd c(kSide, kSide);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
}
BENCHMARK(gemm_double)->Name("gemm/double")->Unit(benchmark::kMillisecond);

void gemm_float(benchmark::State& state) {
  Eigen::MatrixXf a = Eigen::MatrixXf::Random(kSide, kSide);
  Eigen::MatrixXf b = Eigen::MatrixXf::Random(kSide, kSide);
  Eigen::MatrixXf c(kSide, kSide);
  const auto view = [](Eigen::MatrixXf& m) {
    return networks::MatrixView<float>{m.data(), kSide, kSide, kSide};
  };
  for (auto _ : state) {
    networks::multiply<float>(networks::plain(view(a)),
                              networks::plain(view(b)),
                              kSide,
                              view(c),
                              networks::Into::overwrite);
    benchmark::DoNotOptimize(c.data());
  }
}
BENCHMARK(gemm_float)->Name("gemm/float")->Unit(benchmark::kMillisecond);

}  // namespace
