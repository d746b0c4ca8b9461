/// @file
/// @brief attica's theory as a library: the test error of ridge regression in Gaussian masked
/// modelling against the number of samples, as CSV. No randomness, no files.

#include <cstdio>

#include "attica/core/gauss/ensembles.hpp"
#include "attica/theory/gauss/ridge.hpp"

int main() {
  const attica::GaussianMlm problem(attica::ar1_covariance(/*sites=*/20, /*rho=*/0.7));
  const attica::GaussianRidge ridge(problem);
  std::puts("samples,test_error");
  for (const double samples : {10.0, 20.0, 40.0, 80.0, 160.0})
    std::printf("%g,%.6f\n", samples, ridge.average(samples, /*lambda=*/0.1).test_error);
}
