#include "attica/sim/masked/resampling.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace attica;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace masked_resampling_sim_test {

constexpr double kRho = 0.7;

SpikedSource source_of(Index d, std::uint64_t seed = 3) {
  RandomStream stream({.seed = seed, .id = StreamId::model});
  return draw_source({NoiseLaw::beta, 1}, 1.3, d, true, stream);
}

VectorXd weights(Index d) { return VectorXd::LinSpaced(d, -1.1, 1.7); }

/// l of a sample and a mask, as it is defined.
double loss_of(const VectorXd& x, const VectorXd& w, const std::vector<bool>& visible) {
  const auto d = static_cast<double>(x.size());
  double y = 0;
  for (Index i = 0; i < x.size(); ++i) {
    if (visible[static_cast<std::size_t>(i)]) y += w[i] * x[i] / std::sqrt(d);
  }
  double loss = 0;
  for (Index i = 0; i < x.size(); ++i) {
    if (visible[static_cast<std::size_t>(i)]) continue;
    const double error = x[i] - w[i] * y / std::sqrt(d);
    loss += error * error - x[i] * x[i];
  }
  return loss;
}

TEST_CASE("match_signal_moment: the moment along u is the expected one, all else stays",
          "[sim][masked]") {
  constexpr Index kD = 40;
  constexpr Index kN = 60;
  RandomStream stream({.seed = 8});
  const SpikedSource source = source_of(kD);
  const SpikedSamples drawn = draw_samples(source, kN, stream);
  SpikedSamples matched = drawn;
  match_signal_moment(matched);
  const VectorXd& u = source.direction;
  const double expected = u.dot(source.covariance_times(u));
  CHECK_THAT(u.dot(matched.moments * u), WithinRel(expected, 1e-12));
  const MatrixXd x = matched.x.cast<double>();
  CHECK((matched.moments - x * x.transpose() / kN).cwiseAbs().maxCoeff() < 1e-5);
  CHECK((matched.moments - matched.moments.transpose()).cwiseAbs().maxCoeff() < 1e-14);
  // Across u the samples are what they were.
  const MatrixXd change = x - drawn.x.cast<double>();
  CHECK((change - u * (u.transpose() * change) / kD).cwiseAbs().maxCoeff() < 1e-5);
  CHECK(change.norm() > 1e-3);
}

TEST_CASE("mean_masked_loss: enumeration of all masks", "[sim][masked]") {
  constexpr Index kD = 7;
  RandomStream stream({.seed = 5});
  const SpikedSamples samples = draw_samples(source_of(kD), 4, stream);
  const MatrixXd x = samples.x.cast<double>();
  const MatrixXd s = x * x.transpose() / 4;
  CHECK((samples.moments - s).cwiseAbs().maxCoeff() < 1e-6);
  const VectorXd w = weights(kD);
  double mean = 0;
  for (unsigned mask = 0; mask < 1U << kD; ++mask) {
    std::vector<bool> visible;
    double probability = 1;
    for (unsigned i = 0; i < kD; ++i) {
      visible.push_back((mask >> i & 1U) != 0);
      probability *= visible.back() ? 1 - kRho : kRho;
    }
    for (Index k = 0; k < 4; ++k) mean += probability / 4 * loss_of(x.col(k), w, visible);
  }
  const VectorXd cubes = w.array().cube();
  CHECK_THAT(mean_masked_loss(w, s * w, s * cubes, s.diagonal(), kRho), WithinAbs(mean, 1e-13));
}

TEST_CASE("mean_masked_loss: its gradient by differences", "[sim][masked]") {
  constexpr Index kD = 9;
  const SpikedSource source = source_of(kD);
  const auto loss = [&](const VectorXd& w, VectorXd* gradient) {
    const VectorXd cubes = w.array().cube();
    return mean_masked_loss(w,
                            source.covariance_times(w),
                            source.covariance_times(cubes),
                            source.diagonal(),
                            kRho,
                            gradient);
  };
  const VectorXd w = weights(kD);
  VectorXd gradient;
  loss(w, &gradient);
  constexpr double kStep = 1e-5;
  for (Index i = 0; i < kD; ++i) {
    VectorXd up = w;
    VectorXd down = w;
    up[i] += kStep;
    down[i] -= kStep;
    CHECK_THAT(gradient[i],
               WithinAbs((loss(up, nullptr) - loss(down, nullptr)) / (2 * kStep), 1e-8));
  }
}

TEST_CASE("stored_masked_loss: the definition, and its gradient by differences", "[sim][masked]") {
  constexpr Index kD = 37;
  constexpr Index kN = 50;
  RandomStream stream({.seed = 6});
  const SpikedSamples samples = draw_samples(source_of(kD), kN, stream);
  for (const Index k : {1, 3}) {
    RandomStream bits({.seed = 7, .id = StreamId::minibatch});
    const StoredMasks masks(kD, kN, k, kRho, bits);
    const VectorXd w = weights(kD);
    double mean = 0;
    double seen = 0;
    for (Index sample = 0; sample < kN; ++sample) {
      for (Index mask = 0; mask < k; ++mask) {
        const std::uint8_t* bytes = masks.of(sample, mask);
        std::vector<bool> visible;
        for (Index i = 0; i < kD; ++i) visible.push_back(bytes[i] == 1);
        seen += static_cast<double>(std::count(visible.begin(), visible.end(), true));
        mean +=
            loss_of(samples.x.col(sample).cast<double>(), w, visible) / static_cast<double>(kN * k);
      }
    }
    // 5 standard deviations of a share of as many coins.
    const auto coins = static_cast<double>(kN * k * kD);
    CHECK_THAT(seen / coins, WithinAbs(1 - kRho, 5 * std::sqrt(kRho * (1 - kRho) / coins)));
    VectorXd gradient;
    CHECK_THAT(stored_masked_loss(samples.x, masks, w, gradient), WithinRel(mean, 1e-5));
    constexpr double kStep = 1e-2;
    for (const Index i : {0, 11, 36}) {
      VectorXd up = w;
      VectorXd down = w;
      up[i] += kStep;
      down[i] -= kStep;
      VectorXd unused;
      const double slope = (stored_masked_loss(samples.x, masks, up, unused) -
                            stored_masked_loss(samples.x, masks, down, unused)) /
                           (2 * kStep);
      CHECK_THAT(gradient[i], WithinAbs(slope, 2e-4));
    }
  }
}

TEST_CASE("train_unit: minima do not depend on the start, and are those of the loss",
          "[sim][masked]") {
  constexpr Index kD = 120;
  const SpikedSource source = source_of(kD);
  RandomStream stream({.seed = 8});
  const SpikedSamples samples = draw_samples(source, 8 * kD, stream);
  for (const std::optional<Index> k : {std::optional<Index>(), std::optional<Index>(2)}) {
    const UnitObjective objective{.rho = kRho, .lambda = 1e-3, .masks = k};
    const TrainedUnit unit = train_unit(samples, objective, {.seed = 1});
    CHECK(unit.converged);
    CHECK(unit.participation() > 20);
    CHECK(unit.train_loss < 0);
    if (k) continue;
    // The mean over all masks has no stream of masks: another replicate is another start alone.
    const TrainedUnit other = train_unit(samples, objective, {.seed = 1, .replicate = 2});
    CHECK_THAT(other.train_loss, WithinRel(unit.train_loss, 1e-6));
    CHECK_THAT(std::abs(other.w.dot(unit.w)) / (other.w.norm() * unit.w.norm()),
               WithinAbs(1, 1e-4));
  }
}

TEST_CASE("measured: norms, overlap, accuracy", "[sim][masked]") {
  const SpikedSource source = source_of(30);
  const UnitMeasures own = measured(source, -source.direction, kRho);
  CHECK_THAT(own.overlap, WithinRel(1.0, 1e-12));
  CHECK_THAT(own.weight_norm, WithinRel(1.0, 1e-12));
  CHECK_THAT(own.alignment, WithinRel(-1.0, 1e-12));
  CHECK(own.accuracy > 0.5);
  // Labels set the slope right in the limit, whatever the sign of w.
  RandomStream stream({.seed = 9});
  CHECK_THAT(labelled_accuracy(own, source.beta, 400, 3, stream), WithinRel(own.accuracy, 1e-12));
}

}  // namespace masked_resampling_sim_test
