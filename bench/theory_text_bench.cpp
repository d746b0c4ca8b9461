// Theories in text: all that `attica theory` computes for a curve of 100 points, with both
// evaluations that give the error.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "attica/solvers/formula/theory_text.hpp"

namespace {

using namespace attica::formula;

void run(benchmark::State& state,
         const TheoryText& text,
         const std::vector<std::string>& names,
         const std::vector<std::vector<double>>& places) {
  double error = 0;
  for (auto _ : state) {
    const TextTheory theory(text, names);
    const TextResult result = theory.evaluate(places, places.size());
    for (const auto& point : result.points)
      error = std::max(error, point.front().values.front().numerical_error);
  }
  state.counters["numerical_error"] = error;
}

/// Two overlaps at 100 times to t = 10.
void theory_text_flow(benchmark::State& state) {
  TheoryText text;
  text.kind = TheoryText::Kind::flow;
  text.time = "t";
  text.start = {{"m", "m0"}, {"q", "1"}};
  text.rate = {{"m", "q^(-0.5)*(1 - m^2)"}, {"q", "-2*q + 2*m"}};
  text.series = {{"overlap", "m/sqrt(q)"}};
  std::vector<std::vector<double>> places;
  for (int k = 1; k <= 100; ++k) places.push_back({0.02, 0.1 * k});
  run(state, text, {"m0", "t"}, places);
}
BENCHMARK(theory_text_flow)->Name("theory_in_text/flow")->Unit(benchmark::kMicrosecond);

/// The test error of ridge regression on a power law of 1000 eigenvalues, at 100 sample sizes.
void theory_text_solve(benchmark::State& state) {
  TheoryText text;
  text.kind = TheoryText::Kind::solve;
  text.lists = {{.where = "lists.s", .name = "s", .index = "k", .to = "1000", .value = "k^(-1.5)"}};
  text.unknowns = {{"kappa", "lambda + 1"}};
  text.fixed = {{"kappa", "lambda + kappa/alpha*mean(v, s, v/(v + kappa))"}};
  text.follow = "alpha";
  text.series = {{"test_error",
                  "(kappa^2*mean(v, s, v/(v + kappa)^2) + 0.3)/"
                  "(1 - mean(v, s, (v/(v + kappa))^2)/alpha)"}};
  std::vector<std::vector<double>> places;
  for (int k = 1; k <= 100; ++k) places.push_back({0.001, 0.1 * k});
  run(state, text, {"lambda", "alpha"}, places);
}
BENCHMARK(theory_text_solve)->Name("theory_in_text/solve")->Unit(benchmark::kMillisecond);

/// State evolution to a fixed point: q = E tanh(b m + sqrt(q) z)^2, m = E tanh, at 100 values of b.
void theory_text_averages(benchmark::State& state) {
  TheoryText text;
  text.kind = TheoryText::Kind::solve;
  text.unknowns = {{"m", "0.9"}, {"q", "0.9"}};
  text.fixed = {{"m", "normal(z, tanh(b*m + sqrt(q)*z))"},
                {"q", "normal(z, tanh(b*m + sqrt(q)*z)^2)"}};
  text.follow = "-b";
  text.series = {{"m", "m"}};
  std::vector<std::vector<double>> places;
  for (int k = 1; k <= 100; ++k) places.push_back({1.6 + 0.02 * k});
  run(state, text, {"b"}, places);
}
BENCHMARK(theory_text_averages)->Name("theory_in_text/averages")->Unit(benchmark::kMillisecond);

}  // namespace
