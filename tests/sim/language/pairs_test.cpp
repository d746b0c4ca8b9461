#include "attica/sim/language/pairs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/sim/language/orders.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Eigen::Index;

namespace language_pairs_test {

/// A model with weights N(0, scale^2).
PairModel random_model(Index sites, Index symbols, float scale) {
  PairModel model(sites, symbols);
  RandomStream stream({.seed = 4, .id = StreamId::self_test});
  for (float& w : model.parameters().values()) w = scale * static_cast<float>(stream.normal());
  return model;
}

MaskedWindows random_windows(Index count, Index sites, Index symbols) {
  RandomStream stream({.seed = 5, .id = StreamId::self_test});
  Windows windows(count, sites);
  for (Index k = 0; k < windows.size(); ++k) {
    windows.data()[k] = static_cast<Symbol>(stream.below(static_cast<std::uint64_t>(symbols)));
  }
  return hide_one(windows, stream);
}

TEST_CASE("pair model: the gradient by finite differences, for symbols and for laws",
          "[sim][language]") {
  PairModel model = random_model(4, 5, 0.5F);
  PairModel::Examples examples{random_windows(30, 4, 5), {}};
  const auto loss = [&] {
    const Laws laws = model.laws(examples.masked);
    return examples.targets.size() == 0 ? mean_loss(laws, examples.masked)
                                        : mean_cross_entropy(examples.targets.cast<double>(), laws);
  };
  for (const bool soft : {false, true}) {
    if (soft) {
      examples.targets = ShortLaws::Constant(30, 5, 0.1F);
      examples.targets.col(2).setConstant(0.6F);
    }
    std::vector<float> gradient;
    model.gradient(examples, gradient);
    for (std::size_t k = 0; k < gradient.size(); k += 7) {
      // Single precision: the step balances rounding (1e-7 / step) and curvature.
      constexpr float kStep = 0.01F;
      float& w = model.parameters().values()[k];
      const float kept = w;
      w = kept + kStep;
      const double above = loss();
      w = kept - kStep;
      const double below = loss();
      w = kept;
      CHECK(gradient[k] == Approx((above - below) / (2 * kStep)).margin(3e-5));
    }
  }
}

TEST_CASE("pair model: logits are sums over pairs, mixed differences of two context sites vanish",
          "[sim][language]") {
  const PairModel model = random_model(4, 3, 1);
  const auto logit = [&](Symbol first, Symbol second) {
    const Symbol window[4] = {first, 0, second, 1};
    std::vector<float> p(static_cast<std::size_t>(model.padded_symbols()));
    model.law(window, 1, p.data());
    CHECK(p[0] + p[1] + p[2] == Approx(1).margin(1e-6));
    CHECK(std::all_of(p.begin() + 3, p.end(), [](float beyond) { return beyond == 0; }));
    return std::log(p[0] / p[2]);
  };
  CHECK(logit(1, 2) - logit(0, 2) - logit(1, 0) + logit(0, 0) == Approx(0).margin(1e-4));
  CHECK(std::abs(logit(1, 2) - logit(0, 2)) > 0.01F);
}

TEST_CASE("pair model: fits a chain of order 2 to its floor, and laws of its own kind",
          "[sim][language][slow]") {
  std::vector<Symbol> sequence;
  RandomStream stream({.seed = 6, .id = StreamId::self_test});
  for (std::size_t k = 0; k < 5000; ++k) {
    const std::size_t back = k == 0 ? 0 : sequence.back();
    sequence.push_back(static_cast<Symbol>((back + stream.below(3)) % 4));
  }
  const MarkovClone chain(std::make_shared<const TupleFrequencies>(sequence, 4, 2), 2);
  const WindowSource source = chain_source(chain, 5);
  const MaskedWindows test = hide_one(source(4000, stream), stream);
  const Laws p = chain_laws(chain, test);

  PairModel model(5, 4);
  const PairFit fit{.steps = 3000, .eta = 0.03};
  model.fit(fit, [&](std::int64_t step) {
    RandomStream own(
        {.seed = 7, .id = StreamId::self_test, .step = static_cast<std::uint64_t>(step)});
    return PairModel::Examples{hide_one(source(512, own), own), {}};
  });
  // 5 * 3 * (1 + 4 * 3) weights from 1.5e6 examples: the best fit has an excess of 6e-5; what is
  // left of Adam's own noise and of large couplings that still grow was 1e-3.
  const double excess = mean_cross_entropy(p, model.laws(test)) - mean_entropy(p);
  CHECK(excess > 0);
  CHECK(excess < 2e-3);

  // Distilled from its own laws the fit finds them again.
  const MaskedWindows training = hide_one(source(8000, stream), stream);
  const ShortLaws targets = model.laws(training).cast<float>();
  PairModel again(5, 4);
  again.fit(fit, [&](std::int64_t) { return PairModel::Examples{training, targets}; });
  CHECK((again.laws(test) - model.laws(test)).cwiseAbs().maxCoeff() < 0.01);
}

TEST_CASE("gibbs_windows: end in the law of a model whose conditionals belong together",
          "[sim][language]") {
  // Symmetric couplings W_ij[a, b] = W_ji[b, a]: a Potts model, enumerated.
  PairModel model(3, 2);
  const float j[3] = {0.8F, -0.5F, 0.3F};  // of sites 01, 02, 12, for equal symbols
  const auto coupling = [&](Index a, Index b) { return j[a + b - 1]; };
  auto weights = model.parameters().matrix("W").map();  // rows (i L + j) C + s_j
  for (Index i = 0; i < 3; ++i) {
    for (Index k = 0; k < 3; ++k) {
      for (Index s = 0; s < 2 && i != k; ++s) weights((i * 3 + k) * 2 + s, s) = coupling(i, k);
    }
  }
  double exact[8];
  double total = 0;
  for (int code = 0; code < 8; ++code) {
    const int s[3] = {code & 1, code >> 1 & 1, code >> 2 & 1};
    double energy = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a + 1; b < 3; ++b) energy += s[a] == s[b] ? coupling(a, b) : 0;
    }
    total += exact[code] = std::exp(energy);
  }
  RandomStream stream({.seed = 9, .id = StreamId::self_test});
  constexpr Index kCount = 40000;
  const Windows drawn = gibbs_windows(model, Windows::Zero(kCount, 3), 20, stream);
  double counts[8] = {};
  for (Index k = 0; k < kCount; ++k) counts[drawn(k, 0) + 2 * drawn(k, 1) + 4 * drawn(k, 2)] += 1;
  for (int code = 0; code < 8; ++code) {
    const double p = exact[code] / total;
    CHECK(counts[code] / kCount == Approx(p).margin(5 * std::sqrt(p / kCount)));
  }
}

TEST_CASE("pair model: blurred laws are powers of its own times those of one symbol",
          "[sim][language]") {
  const PairModel model = random_model(4, 5, 0.5F);
  const MaskedWindows windows = random_windows(20, 4, 5);
  const Eigen::VectorXd u = Eigen::VectorXd::LinSpaced(5, 0.1, 0.3);
  constexpr double kAlpha = 0.3;
  PairModel other = model;
  other.blur(u, kAlpha);
  const Laws expected = blurred(model.laws(windows), u, kAlpha);
  CHECK((other.laws(windows) - expected).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("pair model: too many couplings are refused", "[sim][language]") {
  CHECK(refused([] { PairModel(8, 1000); }) == "sites");
  CHECK(refused([] { PairModel(1, 10); }) == "sites");
}

}  // namespace language_pairs_test
