#include "attica/theory/icl/positional.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "finite_differences.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_values;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace icl_positional_test {

const PositionalLandscape& landscape() {
  static const PositionalLandscape made;
  return made;
}

const PositionalMoments& moments() {
  static const PositionalMoments made;
  return made;
}

Reference reference() {
  static const Reference values = reference_values("incontext").at("positional");
  return values;
}

/// L and V as they are defined, by the trapezoid rule in the four normal variables behind q and q*:
/// 3e-9 with this spacing.
PositionalTerms by_four_integrals(const PositionalTask& task, const PositionalOverlaps& at) {
  constexpr double kSpacing = 0.36;
  constexpr int kHalf = 18;
  const double rest = std::sqrt(1 - at.m * at.m);
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double own = task.own();
  PositionalTerms sums;
  for (int i = -kHalf; i <= kHalf; ++i) {
    for (int j = -kHalf; j <= kHalf; ++j) {
      for (int k = -kHalf; k <= kHalf; ++k) {
        for (int l = -kHalf; l <= kHalf; ++l) {
          if (i * i + j * j + k * k + l * l > kHalf * kHalf) continue;
          const double t1 = kSpacing * i;
          const double t2 = kSpacing * j;
          const double q1 = at.m * t1 + rest * kSpacing * k + at.e;
          const double q2 = at.m * t2 + rest * kSpacing * l - at.e;
          const double squares = i * i + j * j + k * k + l * l;
          const double weight = std::exp(-kSpacing * kSpacing * squares / 2);
          const double s1 = logistic(q1 * (q1 - q2));
          const double s2 = logistic(q2 * (q2 - q1));
          const double d1 = s1 - (1 - task.omega) * logistic(t1 * (t1 - t2)) - task.omega * own;
          const double d2 = s2 - (1 - task.omega) * logistic(t2 * (t2 - t1)) - task.omega * own;
          const double l1 = 2 * d1 * s1 * (1 - s1) * (2 * q1 - q2) - 2 * d2 * s2 * (1 - s2) * q2;
          const double l2 = 2 * d2 * s2 * (1 - s2) * (2 * q2 - q1) - 2 * d1 * s1 * (1 - s1) * q1;
          sums.loss += weight * (d1 * d1 + d2 * d2);
          sums.scatter += weight * (l1 * l1 + l2 * l2);
        }
      }
    }
  }
  const double norm = std::pow(kSpacing, 4) / std::pow(2 * std::numbers::pi, 2);
  sums.loss *= norm;
  sums.scatter *= norm;
  return sums;
}

TEST_CASE("PositionalLandscape: reference values", "[theory][positional]") {
  for (const Reference entry : reference().at("terms")) {
    CAPTURE(entry.dump());
    const PositionalTerms terms =
        landscape().terms({entry.at("a"), entry.at("omega")}, {entry.at("e"), entry.at("m")});
    const double tolerance = entry.at("tol");
    CHECK_THAT(terms.loss, WithinAbs(entry.at("loss").get<double>(), tolerance));
    CHECK_THAT(terms.d_e, WithinAbs(entry.at("d_e").get<double>(), tolerance));
    CHECK_THAT(terms.d_m, WithinAbs(entry.at("d_m").get<double>(), tolerance));
    CHECK_THAT(terms.scatter, WithinAbs(entry.at("V").get<double>(), tolerance));
  }
}

TEST_CASE("PositionalLandscape: loss and scatter are those of the definition",
          "[theory][positional]") {
  // The ball of radius 6.5 in which the sum is taken leaves 5e-9 outside.
  for (const PositionalOverlaps at : {PositionalOverlaps{-0.4, 0.7}, {0.9, 0.2}, {0.1, -0.5}}) {
    const PositionalTask task{0.8, 0.35};
    CAPTURE(at.e, at.m);
    const PositionalTerms direct = by_four_integrals(task, at);
    const PositionalTerms terms = landscape().terms(task, at);
    CHECK_THAT(terms.loss, WithinAbs(direct.loss, 1e-7));
    CHECK_THAT(terms.scatter, WithinAbs(direct.scatter, 2e-7));
  }
}

TEST_CASE("PositionalLandscape: derivatives are those of the loss", "[theory][positional]") {
  const PositionalTask task{1.1, 0.6};
  for (PositionalOverlaps at : {PositionalOverlaps{0.3, 0.2}, {-0.6, 0.5}, {0.05, -0.9}}) {
    const PositionalTerms terms = landscape().terms(task, at);
    std::array<double, 2> x{at.e, at.m};
    attica::testing::check_gradient(
        [&] {
          return landscape().terms(task, {x[0], x[1]}).loss;
        },
        x,
        std::array{terms.d_e, terms.d_m});
  }
}

TEST_CASE("PositionalLandscape: the series is cut where nothing is left", "[theory][positional]") {
  const PositionalLandscape longer(120);
  const PositionalTask task{1, 0};
  for (const PositionalOverlaps at : {PositionalOverlaps{0.3, 0.6}, {0.2, 0.9}, {0, 1}}) {
    CAPTURE(at.m);
    const double change = std::abs(longer.terms(task, at).loss - landscape().terms(task, at).loss);
    CHECK(change < (at.m <= 0.9 ? 1e-9 : 1e-6));
    // The estimate is one of what an order less by 20 would leave.
    CHECK(change <= landscape().truncation(task, at));
    CHECK(landscape().truncation(task, at) < 1e-6);
  }
}

TEST_CASE("PositionalMoments: known values", "[theory][positional]") {
  CHECK_THAT(moments().teacher, WithinAbs(1 - 1 / (2 * std::numbers::sqrt2), 1e-12));
  const Reference entries = reference().at("moments");
  CHECK_THAT(moments().teacher_square, WithinAbs(entries[0].at("square").get<double>(), 1e-12));
  CHECK_THAT(moments().positional, WithinAbs(entries[1].at("mean").get<double>(), 1e-12));
  CHECK_THAT(moments().positional_square, WithinAbs(entries[1].at("square").get<double>(), 1e-12));
}

TEST_CASE("positional states: losses are those of the landscape", "[theory][positional]") {
  for (const double omega : {0.0, 0.3, 1.0}) {
    const PositionalTask task{0.9, omega};
    // At m = 1 the series is cut at 1e-7.
    CHECK_THAT(semantic_loss(moments(), task),
               WithinAbs(landscape().terms(task, {0, 1}).loss, 1e-6));
    CHECK_THAT(positional_loss(moments(), task),
               WithinAbs(landscape().terms(task, {1, 0}).loss, 1e-11));
  }
  // A teacher without position is learnt without error.
  CHECK(semantic_loss(moments(), {1, 0}) == 0);
}

TEST_CASE("positional_transitions: reference values", "[theory][positional]") {
  for (const Reference entry : reference().at("switch")) {
    const double a = entry.at("a");
    CAPTURE(a);
    CHECK_THAT(positional_transitions(moments(), a).global,
               WithinAbs(entry.at("omega_switch").get<double>(), 1e-10));
    CHECK_THAT(semantic_loss(moments(), {a, 0.5}),
               WithinAbs(entry.at("semantic_at_half").get<double>(), 1e-12));
    CHECK_THAT(positional_loss(moments(), {a, 0.5}),
               WithinAbs(entry.at("positional_at_half").get<double>(), 1e-12));
  }
  for (const Reference entry : reference().at("phase")) {
    const PositionalTransitions found = positional_transitions(moments(), entry.at("a"));
    CAPTURE(entry.dump());
    CHECK_THAT(found.direction, WithinAbs(entry.at("omega_direction").get<double>(), 1e-9));
    CHECK_THAT(found.semantic_below,
               WithinAbs(entry.at("semantic_stable_below").get<double>(), 1e-9));
    CHECK_THAT(found.positional_above,
               WithinAbs(entry.at("positional_stable_above").get<double>(), 1e-9));
  }
}

TEST_CASE("positional_transitions: zeros of the landscape's differences and curvatures",
          "[theory][positional]") {
  // The loss along the great circle between the two states, and across the origin.
  const double a = 0.9;
  const PositionalTransitions found = positional_transitions(moments(), a);
  const auto loss = [&](double omega, double e, double m) {
    return landscape().terms({a, omega}, {e, m}).loss;
  };
  const auto bent = [&](double omega, double angle) {
    constexpr double kStep = 0.02;
    const auto at = [&](double x) { return loss(omega, std::sin(x), std::cos(x)); };
    return (at(angle + kStep) - 2 * at(angle) + at(angle - kStep)) / (kStep * kStep);
  };
  constexpr double kAside = 0.01;
  const double global = found.global;
  CHECK_THAT(loss(global, 0, 1), WithinAbs(loss(global, 1, 0), 1e-6));
  CHECK(bent(found.semantic_below - kAside, 0) > 0);
  CHECK(bent(found.semantic_below + kAside, 0) < 0);
  CHECK(bent(found.positional_above - kAside, std::numbers::pi / 2) < 0);
  CHECK(bent(found.positional_above + kAside, std::numbers::pi / 2) > 0);
  constexpr double kSmall = 0.01;
  CHECK(loss(found.direction - kAside, kSmall, 0) > loss(found.direction - kAside, 0, kSmall));
  CHECK(loss(found.direction + kAside, kSmall, 0) < loss(found.direction + kAside, 0, kSmall));
}

TEST_CASE("positional landscape: no other state is the global minimum", "[theory][positional]") {
  for (const double omega : {0.2, 0.6, 0.7, 0.78, 0.95}) {
    const PositionalTask task{1, omega};
    const double best = std::min(semantic_loss(moments(), task), positional_loss(moments(), task));
    constexpr int kSteps = 24;
    for (int i = 0; i <= kSteps; ++i) {
      for (int j = 0; i * i + j * j <= kSteps * kSteps; ++j) {
        const double scale = 1.0 / kSteps;
        CHECK(landscape().terms(task, {scale * i, scale * j}).loss > best - 1e-6);
      }
    }
  }
}

TEST_CASE("positional_flow: reference values", "[theory][positional]") {
  for (const Reference entry : reference().at("flow")) {
    CAPTURE(entry.dump());
    const std::vector<double> times = numbers(entry.at("times"));
    const auto curve = positional_flow(landscape(),
                                       {entry.at("a"), entry.at("omega")},
                                       {entry.at("e0"), entry.at("m0")},
                                       entry.at("eta"),
                                       times);
    for (std::size_t k = 0; k < times.size(); ++k) {
      const double tolerance = entry.at("tol");
      CHECK_THAT(curve[k].e, WithinAbs(entry.at("e")[k].get<double>(), tolerance));
      CHECK_THAT(curve[k].m, WithinAbs(entry.at("m")[k].get<double>(), tolerance));
    }
  }
}

TEST_CASE("positional_flow: saddle, descent and basins", "[theory][positional]") {
  const std::vector<double> times = {0, 5, 10, 20, 40, 80};
  const auto still = positional_flow(landscape(), {1, 0.4}, {0, 0}, 0.2, times);
  CHECK(still.back().e == 0);
  CHECK(still.back().m == 0);
  const auto falling = positional_flow(landscape(), {1, 0.4}, {0.2, 0.2}, 0, times);
  double before = landscape().terms({1, 0.4}, {0.2, 0.2}).loss;
  for (std::size_t k = 1; k < times.size(); ++k) {
    const double now = landscape().terms({1, 0.4}, falling[k]).loss;
    CHECK(now <= before + 1e-9);
    before = now;
  }
  // From (0.2, 0.2) at a = 1 position wins between 0.65 and 0.70, before it has the lower loss.
  CHECK(positional_flow(landscape(), {1, 0.65}, {0.2, 0.2}, 0.2, times).back().m > 0.9);
  CHECK(positional_flow(landscape(), {1, 0.70}, {0.2, 0.2}, 0.2, times).back().e > 0.9);
  CHECK(positional_transitions(moments(), 1).global > 0.7);
}

TEST_CASE("positional theory: bad input names the parameter", "[theory][positional]") {
  const auto terms = [](const PositionalTask& task, const PositionalOverlaps& at) {
    return refused([&] { static_cast<void>(landscape().terms(task, at)); });
  };
  CHECK(terms({0, 0.5}, {}) == "a");
  CHECK(terms({1, 1.5}, {}) == "omega");
  CHECK(terms({1, 0.5}, {0.9, 0.9}) == "e");
  CHECK(refused([] { PositionalLandscape odd(7); }) == "order");
  const std::vector<double> times = {1};
  CHECK(refused([&] {
          static_cast<void>(positional_flow(landscape(), {}, {0.1, 0.1}, -1, times));
        }) == "eta");
  CHECK(refused([] { static_cast<void>(positional_transitions(moments(), -1)); }) == "a");
}

}  // namespace icl_positional_test
