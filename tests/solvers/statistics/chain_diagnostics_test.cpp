#include "attica/solvers/statistics/chain_diagnostics.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::reference_values;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace statistics_chain_diagnostics_test {

std::vector<std::vector<double>> reference_chains(double shift) {
  std::vector<std::vector<double>> chains(4);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const auto k = static_cast<double>(c);
    for (int step = 0; step < 200; ++step) {
      const double t = step;
      chains[c].push_back(std::sin(0.1 * t * t + k) + 0.3 * std::sin(0.05 * t + 2 * k) + shift * k);
    }
  }
  return chains;
}

TEST_CASE("chain_diagnostics: matches the reference", "[solvers][chains]") {
  const auto r = reference_values("potts")["mcmc_diagnostics"];
  for (const auto& [name, shift] : {std::pair{"A", 0.0}, std::pair{"B", 0.5}}) {
    const ChainDiagnostics d = chain_diagnostics(reference_chains(shift));
    CHECK_THAT(d.r_hat, WithinRel(r[name]["Rhat"].get<double>(), 1e-12));
    // Sums over 100 lags, each of cancelling terms.
    CHECK_THAT(d.autocorrelation_time, WithinRel(r[name]["tau"].get<double>(), 1e-10));
    CHECK_THAT(d.effective_draws, WithinRel(r[name]["ESS"].get<double>(), 1e-10));
    CHECK_FALSE(d.converged());
  }
}

TEST_CASE("chain_diagnostics: finds the autocorrelation time of AR(1) chains",
          "[solvers][chains]") {
  // x' = phi x + noise has tau = (1 + phi)/(1 - phi).
  for (const double phi : {0.0, 0.5, 0.9}) {
    std::vector<std::vector<double>> chains(8);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      RandomStream stream({.seed = 5, .id = StreamId::sampler, .replicate = c});
      double x = stream.normal() / std::sqrt(1 - phi * phi);
      for (int t = 0; t < 4000; ++t) {
        chains[c].push_back(x);
        x = phi * x + stream.normal();
      }
    }
    const ChainDiagnostics d = chain_diagnostics(chains);
    const double tau = (1 + phi) / (1 - phi);
    // 32 000 draws: relative error of tau about sqrt(2 (2 window + 1)/n) with a window of some
    // 5 tau, 6 % at phi = 0.9.
    CHECK_THAT(d.autocorrelation_time, WithinRel(tau, 0.2));
    CHECK(d.r_hat < kLargestRHat);
    CHECK(d.converged());
  }
}

TEST_CASE("chain_diagnostics: chains that do not mix are not converged", "[solvers][chains]") {
  std::vector<std::vector<double>> chains(4);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    RandomStream stream({.seed = 6, .id = StreamId::sampler, .replicate = c});
    for (int t = 0; t < 1000; ++t) chains[c].push_back(stream.normal() + (c == 0 ? 1.0 : 0.0));
  }
  CHECK_FALSE(chain_diagnostics(chains).converged());
}

TEST_CASE("chain_diagnostics: the same of chains in any unit, to the bit", "[solvers][chains]") {
  const ChainDiagnostics expected = chain_diagnostics(reference_chains(0.5));
  for (const int exponent : {-900, -1, 1, 1010}) {  // up to 10^304, whose square is infinite
    auto chains = reference_chains(0.5);
    for (auto& chain : chains) {
      for (double& x : chain) x = std::ldexp(x, exponent);
    }
    const ChainDiagnostics d = chain_diagnostics(chains);
    CHECK(d.r_hat == expected.r_hat);
    CHECK(d.autocorrelation_time == expected.autocorrelation_time);
    CHECK(d.effective_draws == expected.effective_draws);
  }
}

TEST_CASE("chain_diagnostics: constant, short and bad chains", "[solvers][chains]") {
  // No binary number: sums of it are rounded.
  const std::vector<std::vector<double>> constant(3, std::vector<double>(300, 0.1));
  CHECK(chain_diagnostics(constant).constant);
  CHECK(chain_diagnostics(constant).r_hat == 1);
  CHECK(chain_diagnostics(constant).converged());
  const std::vector<std::vector<double>> one(1, std::vector<double>(300, 2.5));
  CHECK(chain_diagnostics(one).too_short);
  CHECK(std::isnan(chain_diagnostics(one).r_hat));
  CHECK_FALSE(chain_diagnostics(one).converged());
  const std::vector<std::vector<double>> brief(4, std::vector<double>{1, 2, 3});
  CHECK(chain_diagnostics(brief).too_short);
  const std::vector<std::vector<double>> ragged{{1, 2, 3, 4}, {1, 2, 3}};
  CHECK_THROWS_AS(chain_diagnostics(ragged), Error);
  const std::vector<std::vector<double>> infinite(2, {1, 2, 3, INFINITY});
  CHECK_THROWS_AS(chain_diagnostics(infinite), Error);
}

}  // namespace statistics_chain_diagnostics_test
