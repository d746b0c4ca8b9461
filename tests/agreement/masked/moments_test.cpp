/// @file
/// @brief Theory meets simulation beneath the studies.

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "attica/sim/masked/ridge.hpp"
#include "attica/theory/masked/spectrum.hpp"

using namespace attica;

namespace agreement_masked_moments_test {

TEST_CASE("masked: second and third moment of finite samples to order 1/n", "[agreement]") {
  // Three standard errors and 15/n², relatively, 25/n² times m2^(3/2) of the third; leading orders
  // are off by more.
  constexpr Eigen::Index kSites = 30;
  constexpr int kSets = 600;
  for (const Eigen::Index n : {20, 60}) {
    for (const double lambda : {0.3, 1.0}) {
      Eigen::Array2d sum = Eigen::Array2d::Zero();
      Eigen::Array2d squares = Eigen::Array2d::Zero();
      for (int set = 0; set < kSets; ++set) {
        RandomStream stream({.seed = 11, .replicate = static_cast<std::uint64_t>(set)});
        const SpikedNoise noise{
            .variances = Eigen::VectorXd::Ones(kSites), .direction = {}, .theta = 0};
        const Eigen::ArrayXd w =
            MaskedRidge(sample_covariance(noise, n, stream), lambda).eigenvalues();
        const Eigen::Array2d moments(w.square().mean(), w.cube().mean());
        sum += moments;
        squares += moments.square();
      }
      const Eigen::Array2d mean = sum / kSets;
      const Eigen::Array2d sem = ((squares / kSets - mean.square()) / kSets).sqrt();
      const auto size = static_cast<double>(n);
      const double second = isotropic_moment2(kSites, size, lambda);
      const double third = isotropic_moment3(kSites, size, lambda);
      CAPTURE(n, lambda, mean[0], sem[0], mean[1], sem[1]);
      CHECK(std::abs(mean[0] - second) <= 3 * sem[0] + 15 / (size * size) * second);
      CHECK(std::abs(mean[1] - third) <= 3 * sem[1] + 25 / (size * size) * std::pow(second, 1.5));
    }
  }
}

TEST_CASE("masked: second moment of an ar1 sequence and of two groups within 3/d", "[agreement]") {
  constexpr Eigen::Index kSites = 60;
  constexpr Eigen::Index kSamples = 120;
  constexpr double kLambda = 0.5;
  constexpr int kSets = 200;
  Eigen::VectorXd halves = Eigen::VectorXd::Ones(kSites);
  halves.tail(kSites / 2).setConstant(4);
  const Eigen::MatrixXd ar1 =
      Eigen::MatrixXd::NullaryExpr(kSites, kSites, [](Eigen::Index i, Eigen::Index j) {
        return std::pow(0.7, static_cast<double>(std::abs(i - j)));
      });
  double of_ar1 = 0;
  double of_groups = 0;
  for (int set = 0; set < kSets; ++set) {
    RandomStream stream({.seed = 12, .replicate = static_cast<std::uint64_t>(set)});
    const auto moment = [&](const Eigen::MatrixXd& s) {
      return MaskedRidge(s, kLambda).eigenvalues().squaredNorm() / kSites / kSets;
    };
    of_ar1 += moment(ar1_sample_covariance(kSites, 0.7, kSamples, stream));
    of_groups += moment(
        sample_covariance({.variances = halves, .direction = {}, .theta = 0}, kSamples, stream));
  }
  // The scatter of 200 sets is below 0.3 %.
  constexpr double kAllowed = 3.0 / kSites;
  CHECK_THAT(of_ar1, Catch::WithinRel(masked_moment2(ar1, kSamples, kLambda), kAllowed));
  CHECK_THAT(of_groups,
             Catch::WithinRel(masked_moment2(masked_equivalent({{1, 0.5}, {4, 0.5}}, 0.5, kLambda)),
                              kAllowed));
}

}  // namespace agreement_masked_moments_test
