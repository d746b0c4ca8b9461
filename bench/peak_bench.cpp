/// @file
/// @brief What this machine can do at most, one thread: the peaks that bench/roofline compares
/// kernels with. Each counter is what an iteration does, in the unit of its name.

#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <array>
#include <cstring>
#include <memory>
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

typedef float FloatLanes __attribute__((vector_size(kRegisterBytes)));
constexpr std::size_t kTogether = 8;

/// Numbers that begin where a cache line does.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : values_(bytes / sizeof(float) + kLine) {
    auto space = values_.size() * sizeof(float);
    void* begin = values_.data();
    data_ = static_cast<float*>(std::align(kLine * sizeof(float), bytes, begin, space));
  }
  float* data() { return data_; }

 private:
  static constexpr std::size_t kLine = 16;
  std::vector<float> values_;
  float* data_;
};

/// Bytes read from an array, added up.
void read(benchmark::State& state) {
  constexpr std::size_t kLanes = kRegisterBytes / sizeof(float);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  Aligned values(bytes);
  const float* end = values.data() + bytes / sizeof(float);
  for (auto _ : state) {
    FloatLanes sums[kTogether] = {};
    for (const float* x = values.data(); x < end; x += kTogether * kLanes) {
      for (std::size_t k = 0; k < kTogether; ++k) {
        FloatLanes some;
        std::memcpy(&some, x + k * kLanes, sizeof(some));
        sums[k] += some;
      }
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["each"] = static_cast<double>(bytes);
}
BENCHMARK(read)->Name("peak/first")->Arg(16 << 10);
BENCHMARK(read)->Name("peak/second")->Arg(256 << 10);
BENCHMARK(read)->Name("peak/memory")->Arg(256 << 20)->Unit(benchmark::kMillisecond);

/// Registers, or single numbers, written to the first-level cache.
void stores(benchmark::State& state) {
  constexpr std::size_t kBytes = 16 << 10;
  Aligned values(kBytes);
  const FloatLanes some = FloatLanes{} + 1.0F;
  for (auto _ : state) {
    float* x = values.data();
    for (std::size_t k = 0; k < kBytes / kRegisterBytes; ++k) {
      std::memcpy(x + k * kRegisterBytes / sizeof(float), &some, sizeof(some));
    }
    benchmark::DoNotOptimize(x);
    benchmark::ClobberMemory();
  }
  state.counters["each"] = static_cast<double>(kBytes / kRegisterBytes);
  state.counters["lanes"] = static_cast<double>(kRegisterBytes / sizeof(float));
}
BENCHMARK(stores)->Name("peak/stores");

/// Numbers looked up in a table, each lane at its own place.
void lookups(benchmark::State& state) {
  constexpr std::size_t kTable = 512;
  constexpr std::size_t kCount = 1024;
  std::vector<float> table(kTable, 1);
  std::vector<std::int32_t> places(kCount);
  std::vector<float> found(kCount);
  RandomStream stream({.seed = 1});
  for (auto& place : places) place = static_cast<std::int32_t>(stream.below(kTable));
  for (auto _ : state) {
    for (std::size_t k = 0; k < kCount; ++k) {
      found[k] = table[static_cast<std::size_t>(places[k])];
    }
    benchmark::DoNotOptimize(found.data());
    benchmark::ClobberMemory();
  }
  state.counters["each"] = static_cast<double>(kCount);
}
BENCHMARK(lookups)->Name("peak/lookups");

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
