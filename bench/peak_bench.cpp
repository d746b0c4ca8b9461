/// @file
/// @brief What this machine can do at most, one thread: the peaks that bench/roofline compares
/// kernels with. Each counter is what an iteration does, in the unit of its name.

#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <array>
#include <cstring>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/core/register.hpp"

namespace {

using namespace attica;

/// Operations on the lanes of a register, a fused multiplication and addition counting once.
template <class Real>
void operations(benchmark::State& state) {
  typedef Real Lanes __attribute__((vector_size(kRegisterBytes)));
  constexpr std::size_t kChains = 12;  // two units of four cycles want eight
  constexpr int kRounds = 1000;
  constexpr Real kFactor = Real(0.999);
  Lanes sums[kChains] = {};
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      for (Lanes& sum : sums) sum = sum * kFactor + Real(1);
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["each"] =
      static_cast<double>(kRounds * kChains * kRegisterBytes) / double{sizeof(Real)};
}
BENCHMARK_TEMPLATE(operations, float)->Name("peak/op32");
BENCHMARK_TEMPLATE(operations, double)->Name("peak/op64");

/// Bytes read from an array, added up.
void read(benchmark::State& state) {
  typedef float Lanes __attribute__((vector_size(kRegisterBytes)));
  constexpr std::size_t kSums = 8;
  constexpr std::size_t kStride = kSums * kRegisterBytes / sizeof(float);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<float> values(bytes / sizeof(float));
  for (auto _ : state) {
    Lanes sums[kSums] = {};
    for (const float* x = values.data(); x < values.data() + values.size(); x += kStride) {
      for (std::size_t k = 0; k < kSums; ++k) {
        Lanes some;
        std::memcpy(&some, x + k * kRegisterBytes / sizeof(float), sizeof(some));
        sums[k] += some;
      }
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["each"] = static_cast<double>(bytes);
}
BENCHMARK(read)->Name("peak/cached")->Arg(16 << 10);
BENCHMARK(read)->Name("peak/memory")->Arg(256 << 20)->Unit(benchmark::kMillisecond);

template <class Real>
void exponentials(benchmark::State& state) {
  constexpr Eigen::Index kValues = 1024;
  const Eigen::Array<Real, -1, 1> x = Eigen::Array<Real, -1, 1>::LinSpaced(kValues, -8, 0);
  Eigen::Array<Real, -1, 1> y(kValues);
  for (auto _ : state) {
    y = x.exp();
    benchmark::DoNotOptimize(y.data());
  }
  state.counters["each"] = static_cast<double>(kValues);
}
BENCHMARK_TEMPLATE(exponentials, float)->Name("peak/exp32");
BENCHMARK_TEMPLATE(exponentials, double)->Name("peak/exp64");

/// Random words of 64 bits for inner loops.
void words(benchmark::State& state) {
  RandomStream stream({.seed = 1});
  BulkBits bits(stream);
  std::array<std::uint64_t, 512> out{};
  for (auto _ : state) {
    bits.fill(out);
    benchmark::DoNotOptimize(out);
  }
  state.counters["each"] = static_cast<double>(out.size());
}
BENCHMARK(words)->Name("peak/words");

void normals(benchmark::State& state) {
  RandomStream stream({.seed = 1});
  std::array<double, 512> out{};
  for (auto _ : state) {
    stream.fill_normal(out);
    benchmark::DoNotOptimize(out);
  }
  state.counters["each"] = static_cast<double>(out.size());
}
BENCHMARK(normals)->Name("peak/normals");

}  // namespace
