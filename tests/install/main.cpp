// Uses the theory as a library, then runs attica's own program with a study list of its own choice.
#include <cstdio>
#include <cstring>

#include "attica/app/program.hpp"
#include "attica/core/gaussian_ensembles.hpp"
#include "attica/theory/gaussian_ridge.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "theory-only") == 0) {
    const attica::GaussianMlm problem(attica::ar1_covariance(20, 0.7));
    std::printf("%.6f\n", attica::GaussianRidge(problem).average(40, 0.1).test_error);
    return 0;
  }
  std::vector<attica::Study> mine{attica::studies().front()};
  mine.front().name = "my-study";
  return attica::app::program(argc, argv, mine);
}
