#include "attica/solvers/statistics/chain_diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

double mean(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

/// a(t) = (1/n) sum_k (x_k - mean) (x_{k+t} - mean)
double autocovariance(std::span<const double> x, double centre, std::size_t lag) {
  double sum = 0;
  for (std::size_t k = 0; k + lag < x.size(); ++k) sum += (x[k] - centre) * (x[k + lag] - centre);
  return sum / static_cast<double>(x.size());
}

}  // namespace

bool ChainDiagnostics::converged() const {
  return !too_short &&
         (constant || (r_hat < kLargestRHat && effective_draws >= kFewestEffectiveDraws));
}

ChainDiagnostics chain_diagnostics(std::span<const std::vector<double>> chains) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::size_t kFewestDraws = 4;
  for (const auto& chain : chains) {
    if (chain.size() != chains.front().size()) {
      throw invalid_parameter(
          "chains", static_cast<double>(chain.size()), "chains of equal length");
    }
    for (const double x : chain) require(std::isfinite(x), "chains", x, "finite draws");
  }
  if (chains.size() < 2 || chains.front().size() < kFewestDraws) {
    return {
        .r_hat = kNan, .autocorrelation_time = kNan, .effective_draws = kNan, .too_short = true};
  }
  const std::size_t n = chains.front().size() / 2;
  std::vector<std::span<const double>> halves;
  for (const auto& chain : chains) {
    halves.emplace_back(chain.data(), n);
    halves.emplace_back(chain.data() + chain.size() - n, n);
  }
  const auto m = static_cast<double>(halves.size());
  const auto length = static_cast<double>(n);

  std::vector<double> means;
  for (const auto& half : halves) means.push_back(mean(half));
  const auto mean_autocovariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t j = 0; j < halves.size(); ++j) {
      sum += autocovariance(halves[j], means[j], lag);
    }
    return sum / m;
  };
  const double within = mean_autocovariance(0) * length / (length - 1);
  const double between = autocovariance(means, mean(means), 0) * m / (m - 1);
  const double variance = (length - 1) / length * within + between;
  if (variance == 0) return {.effective_draws = m * length, .constant = true};

  // rho_0 = 1 by definition; the estimate at lag 0 differs from it by W/n.
  const auto rho = [&](std::size_t lag) {
    return lag == 0 ? 1.0 : 1 - (within - mean_autocovariance(lag)) / variance;
  };
  double tau = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; lag + 1 < n; lag += 2) {
    const double pair = rho(lag) + rho(lag + 1);
    if (pair < 0) break;
    least = std::min(least, pair);
    tau += 2 * least;
  }
  return {.r_hat = std::sqrt(variance / within),
          .autocorrelation_time = tau,
          .effective_draws = m * length / tau};
}

}  // namespace attica
