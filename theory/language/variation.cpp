#include "attica/theory/language/variation.hpp"

#include <algorithm>
#include <cmath>

#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// E|K - m| of a Poisson number K.
double mean_deviation(double mean, double m) {
  if (mean == 0) return m;
  const double wide = 12 * std::sqrt(mean) + 30;
  double sum = 0;
  for (double k = std::max(0.0, std::floor(mean - wide)); k < mean + wide; ++k) {
    sum += std::abs(k - m) * std::exp(k * std::log(mean) - mean - log_gamma(k + 1));
  }
  return sum;
}

}  // namespace

double independent_pair_variation(const std::vector<Symbol>& text,
                                  const double* p,
                                  Index symbols,
                                  double drawn) {
  Eigen::ArrayXXd pairs = Eigen::ArrayXXd::Zero(symbols, symbols);
  for (std::size_t k = 0; k + 1 < text.size(); ++k) pairs(text[k], text[k + 1]) += 1;
  pairs /= pairs.sum();
  double total = 0;
  for (Index a = 0; a < symbols; ++a) {
    for (Index b = 0; b < symbols; ++b) {
      total += mean_deviation(drawn * p[a] * p[b], drawn * pairs(a, b));
    }
  }
  return total / (2 * drawn);
}

}  // namespace attica
