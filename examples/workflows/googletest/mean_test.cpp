// Is the mean of uniform numbers one half, within 1 %? A test of GoogleTest that is decided by
// attica's verdict: c++ -std=c++20 mean_test.cpp $(pkg-config --cflags --libs attica gmock_main)
#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "attica/solvers/statistics/agrees.hpp"

TEST(Uniform, MeanIsOneHalf) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> replicates(40);
  for (double& mean : replicates) {
    mean = 0;
    for (int k = 0; k < 10000; ++k) mean += uniform(engine) / 10000;
  }
  ASSERT_THAT(replicates, attica::Agrees(0.5, {.relative = 0.01}));
}
