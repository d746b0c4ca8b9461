/// Random labels on a mixture of clusters: one Gaussian, the limit of no penalty, slopes, and the
/// mean resolvent of drawn inputs.

#include "attica/theory/gauss/mixture.hpp"

#include <Eigen/Cholesky>
#include <catch2/catch.hpp>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/theory/gauss/labels.hpp"
#include "refused.hpp"

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

namespace gauss_mixture_theory_test {

using attica::testing::refused;

ArrayXd spectrum(Index n) {
  return ArrayXd::NullaryExpr(n, [](Index k) { return 0.2 + 0.05 * static_cast<double>(k); });
}

std::vector<InputCluster> two_sizes(const ArrayXd& s, double share) {
  return {{.share = share, .variances = 0.3 * s}, {.share = 1 - share, .variances = 1.9 * s}};
}

TEST_CASE("mixture_labels: clusters of one covariance are one Gaussian", "[theory][ridge]") {
  const ArrayXd s = spectrum(30);
  for (const double samples : {12.0, 30.0, 90.0}) {
    const LinearTask task{.spectrum = s, .weights2 = ArrayXd::Zero(30), .noise = 1};
    const LabelRidge one = label_ridge(task, samples, 0.4, RidgeOrder::leading);
    for (const double share : {0.2, 0.5, 1.0}) {
      const std::vector<InputCluster> clusters = {{.share = share, .variances = s},
                                                  {.share = 1 - share, .variances = s}};
      const MixtureLabels labels = mixture_labels(clusters, samples, 0.4);
      CHECK_THAT(labels.objective, WithinRel(one.objective, 1e-10));
      CHECK_THAT(labels.train_error, WithinRel(one.train_error, 1e-10));
    }
  }
}

TEST_CASE("mixture_labels: without penalty (1 - N/M)+ whatever the clusters", "[theory][ridge]") {
  const auto clusters = two_sizes(spectrum(30), 0.4);
  CHECK_THAT(mixture_labels(clusters, 90, 1e-7).objective, WithinRel(2.0 / 3, 1e-6));
  CHECK_THAT(mixture_labels(clusters, 90, 1e-7).train_error, WithinRel(2.0 / 3, 1e-6));
  CHECK_THAT(mixture_labels(clusters, 15, 1e-7).objective, WithinAbs(0, 1e-6));
}

TEST_CASE("mixture_labels: the train error is the objective less its slope", "[theory][ridge]") {
  const auto clusters = two_sizes(spectrum(30), 0.4);
  constexpr double kLambda = 0.3;
  constexpr double kStep = 1e-4;
  const double slope = (mixture_labels(clusters, 40, kLambda + kStep).objective -
                        mixture_labels(clusters, 40, kLambda - kStep).objective) /
                       (2 * kStep);
  const MixtureLabels labels = mixture_labels(clusters, 40, kLambda);
  CHECK_THAT(labels.train_error, WithinRel(labels.objective - kLambda * slope, 1e-7));
}

TEST_CASE("mixture_labels: mean resolvent of drawn inputs", "[theory][ridge]") {
  // Given the inputs, the least objective of random signs has the mean (λ/M) tr (XXᵀ/M + λ)⁻¹ and
  // the train error (λ²/M) tr (XXᵀ/M + λ)⁻².
  constexpr Index kInputs = 300;
  constexpr Index kSamples = 300;
  constexpr double kLambda = 0.5;
  const auto clusters = two_sizes(spectrum(kInputs) / spectrum(kInputs).mean(), 0.4);
  RandomStream stream({.seed = 3});
  MatrixXd x(kSamples, kInputs);
  for (Index row = 0; row < kSamples; ++row) {
    const ArrayXd& v = clusters[stream.uniform() < 0.4 ? 0 : 1].variances;
    for (Index i = 0; i < kInputs; ++i) x(row, i) = std::sqrt(v[i]) * stream.normal();
  }
  MatrixXd gram = x * x.transpose() / kSamples;
  gram.diagonal().array() += kLambda;
  const MatrixXd inverse = gram.llt().solve(MatrixXd::Identity(kSamples, kSamples));
  const MixtureLabels labels = mixture_labels(clusters, kSamples, kLambda);
  // One draw, with the number of samples of either cluster as drawn.
  CHECK_THAT(labels.objective, WithinRel(kLambda * inverse.trace() / kSamples, 0.03));
  CHECK_THAT(labels.train_error,
             WithinRel(kLambda * kLambda * inverse.squaredNorm() / kSamples, 0.05));
  const LinearTask one{.spectrum = 0.4 * clusters[0].variances + 0.6 * clusters[1].variances,
                       .weights2 = ArrayXd::Zero(kInputs),
                       .noise = 1};
  CHECK(label_ridge(one, kSamples, kLambda, RidgeOrder::leading).objective <
        0.93 * labels.objective);
}

TEST_CASE("mixture_labels: bad input is named", "[theory][ridge]") {
  const auto clusters = two_sizes(spectrum(4), 0.4);
  CHECK(refused([&] { static_cast<void>(mixture_labels(clusters, 0.5, 1)); }) == "samples");
  CHECK(refused([&] { static_cast<void>(mixture_labels(clusters, 5, 0)); }) == "lambda");
  CHECK(refused([&] {
          const std::vector<InputCluster> half = {{.share = 0.5, .variances = spectrum(4)}};
          static_cast<void>(mixture_labels(half, 5, 1));
        }) == "share");
}

}  // namespace gauss_mixture_theory_test
