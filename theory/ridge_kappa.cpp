#include "attica/theory/ridge_kappa.hpp"

#include <fmt/format.h>

#include "attica/core/error.hpp"

namespace attica {

void require_samples(double samples) {
  require(std::isfinite(samples) && samples >= 1, "samples", samples, "1 <= samples < infinity");
}

double checked_penalty(double lambda) {
  constexpr double kSmallestPenalty = 1e-300;
  require(std::isfinite(lambda) && lambda >= 0, "lambda", lambda, "0 <= lambda < infinity");
  return lambda < kSmallestPenalty ? 0 : lambda;
}

double ridge_kappa(const Eigen::ArrayXd& spectrum, double samples, double lambda) {
  require_samples(samples);
  lambda = checked_penalty(lambda);
  const auto rank = static_cast<double>((spectrum > 0).count());
  if (lambda == 0 && samples >= rank) return 0;
  const double highest = lambda + spectrum.sum() / samples;
  const KappaRoot root =
      solve_kappa({.lambda = lambda, .highest = highest}, highest, [&](double kappa) {
        const double share =
            2 * samples < rank ? 1 - (spectrum / (spectrum + kappa)).sum() / samples
                               : (samples - rank +
                                  kappa * (spectrum > 0).select(1 / (spectrum + kappa), 0).sum()) /
                                     samples;
        // κ² may be below the smallest number.
        const double slope = (spectrum > 0).select(spectrum / (spectrum + kappa).square(), 0).sum();
        return KappaTrial{share, share + kappa / samples * slope};
      });
  if (!root.converged) {
    throw Error(
        ErrorKind::numerical,
        fmt::format("no effective penalty found at samples = {}, lambda = {}: stopped at {}",
                    samples,
                    lambda,
                    root.kappa));
  }
  return root.kappa;
}

}  // namespace attica
