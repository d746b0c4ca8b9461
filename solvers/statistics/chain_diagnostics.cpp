#include "attica/solvers/statistics/chain_diagnostics.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// Deviations from their mean, times `scale`; of equal draws, whatever they are, exactly zero.
Eigen::VectorXd centred(std::span<const double> x, double scale) {
  const Eigen::Map<const Eigen::VectorXd> draws(x.data(), std::ssize(x));
  const Eigen::VectorXd shifted = scale * draws.array() - scale * draws[0];
  return shifted.array() - shifted.mean();
}

/// a(t) = (1/n) sum_k (x_k - mean) (x_{k+t} - mean)
double autocovariance(const Eigen::VectorXd& deviations, Eigen::Index lag) {
  const Eigen::Index terms = deviations.size() - lag;
  return deviations.head(terms).dot(deviations.tail(terms)) /
         static_cast<double>(deviations.size());
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
  // A power of two, so that squares of huge draws are finite and no digit changes.
  double largest = 0;
  for (const auto& chain : chains) {
    for (const double x : chain) largest = std::max(largest, std::abs(x));
  }
  const double scale = std::ldexp(1.0, -std::ilogb(std::max(largest, 1e-300)));
  const std::size_t n = chains.front().size() / 2;
  std::vector<Eigen::VectorXd> halves;
  std::vector<double> means;
  for (const std::span<const double> chain : chains) {
    for (const auto half : {chain.first(n), chain.last(n)}) {
      halves.push_back(centred(half, scale));
      means.push_back(scale * half.front() - halves.back()[0]);
    }
  }
  const auto m = static_cast<double>(halves.size());
  const auto length = static_cast<double>(n);
  const auto mean_autocovariance = [&](Eigen::Index lag) {
    double sum = 0;
    for (const Eigen::VectorXd& half : halves) sum += autocovariance(half, lag);
    return sum / m;
  };
  const double within = mean_autocovariance(0) * length / (length - 1);
  const double between = autocovariance(centred(means, 1), 0) * m / (m - 1);
  const double variance = (length - 1) / length * within + between;
  if (variance == 0) return {.effective_draws = m * length, .constant = true};

  // rho_0 = 1 by definition; the estimate at lag 0 differs from it by W/n.
  const auto rho = [&](Eigen::Index lag) {
    return lag == 0 ? 1.0 : 1 - (within - mean_autocovariance(lag)) / variance;
  };
  double tau = -1;
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index lag = 0; lag + 1 < halves.front().size(); lag += 2) {
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
