#include "attica/sim/networks/optimiser.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::networks;

namespace networks_optimiser_test {

Parameters<double> two_blocks() {
  Parameters<double> p(
      {{.name = "layer0.W", .rows = 2, .columns = 3}, {.name = "layer1.W", .rows = 4}});
  for (std::size_t i = 0; i < p.values().size(); ++i)
    p.values()[i] = std::sin(1.0 + static_cast<double>(i));
  return p;
}

/// A gradient that depends on the step.
std::vector<double> gradient_at(int step) {
  std::vector<double> g(10);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = std::cos(0.3 * step + static_cast<double>(i));
  return g;
}

/// Parameters after some steps with gradient_at.
std::vector<double> after(const OptimiserOptions& options, int steps) {
  Parameters<double> p = two_blocks();
  Optimiser<double> optimiser(p, options);
  for (int n = 0; n < steps; ++n) {
    const std::vector<double> g = gradient_at(n);
    optimiser.update(p, g, static_cast<std::uint64_t>(n));
  }
  return {p.values().begin(), p.values().end()};
}

TEST_CASE("Optimiser: plain, momentum and Adam follow their recursions", "[sim][networks]") {
  constexpr int steps = 7;
  constexpr double eta = 0.1, momentum = 0.8, beta1 = 0.9, beta2 = 0.99, epsilon = 1e-3,
                   decay = 0.05;
  for (const bool decoupled : {false, true}) {
    const auto options = [&](OptimiserKind kind) {
      return OptimiserOptions{.kind = kind,
                              .learning_rate = eta,
                              .momentum = momentum,
                              .beta1 = beta1,
                              .beta2 = beta2,
                              .epsilon = epsilon,
                              .weight_decay = decay,
                              .decoupled_decay = decoupled};
    };
    const auto sgd = after(options(OptimiserKind::sgd), steps);
    const auto ball = after(options(OptimiserKind::heavy_ball), steps);
    const auto adam = after(options(OptimiserKind::adam), steps);
    const Parameters<double> start = two_blocks();
    for (std::size_t i = 0; i < sgd.size(); ++i) {
      // The same recursions one number at a time, with Adam's sums written out instead of recursed.
      double x = start.values()[i], y = x, z = x, velocity = 0;
      std::vector<double> history;
      for (int n = 0; n < steps; ++n) {
        const double g = gradient_at(n)[i];
        const double shrink = decoupled ? 1 - eta * decay : 1, pull = decoupled ? 0 : decay;
        x = shrink * x - eta * (g + pull * x);
        velocity = momentum * velocity + g + pull * y;
        y = shrink * y - eta * velocity;
        history.push_back(g + pull * z);
        double mean = 0, square = 0, weight1 = 0, weight2 = 0;
        for (std::size_t k = 0; k < history.size(); ++k) {
          const auto age = static_cast<double>(history.size() - 1 - k);
          mean += std::pow(beta1, age) * history[k];
          weight1 += std::pow(beta1, age);
          square += std::pow(beta2, age) * history[k] * history[k];
          weight2 += std::pow(beta2, age);
        }
        z = shrink * z - eta * (mean / weight1) / (std::sqrt(square / weight2) + epsilon);
      }
      CHECK(sgd[i] == Approx(x).epsilon(1e-13));
      CHECK(ball[i] == Approx(y).epsilon(1e-13));
      CHECK(adam[i] == Approx(z).epsilon(1e-12));
    }
  }
}

TEST_CASE("Optimiser: epsilon decides whether small gradients move a parameter",
          "[sim][networks]") {
  Parameters<double> p({{.name = "W", .rows = 1}});
  const std::vector<double> small{1e-7};
  for (const auto& [epsilon, step] : {std::pair{1e-12, 1.0}, std::pair{1e-4, 1e-3}}) {
    p.values()[0] = 0;
    Optimiser<double> adam(p, {.learning_rate = 1, .epsilon = epsilon});
    adam.update(p, small, 0);
    CHECK(-p.values()[0] == Approx(step).epsilon(2e-3));  // 1e-7 / (1e-7 + epsilon)
  }
}

TEST_CASE("Optimiser: clipping, frozen blocks and block factors", "[sim][networks]") {
  const std::vector<double> g = gradient_at(0);
  double norm = 0;
  for (const double x : g) norm += x * x;
  norm = std::sqrt(norm);

  Parameters<double> p = two_blocks();
  const Parameters<double> start = p;
  Optimiser<double> clipped(p, {.kind = OptimiserKind::sgd, .learning_rate = 1, .clip_norm = 0.5});
  CHECK(clipped.update(p, g, 0) == Approx(norm).epsilon(1e-14));
  double moved = 0;
  for (std::size_t i = 0; i < g.size(); ++i)
    moved += std::pow(p.values()[i] - start.values()[i], 2);
  CHECK(std::sqrt(moved) == Approx(0.5).epsilon(1e-14));

  p = two_blocks();
  p.freeze("layer0");
  p.configure("layer1.W", [](Block& b) {
    b.learning_rate_factor = 3;
    b.decay_factor = 0;
  });
  Optimiser<double> partial(p,
                            {.kind = OptimiserKind::sgd, .learning_rate = 0.1, .weight_decay = 1});
  double below = 0;
  for (std::size_t i = 6; i < g.size(); ++i) below += g[i] * g[i];
  CHECK(partial.update(p, g, 0) ==
        Approx(std::sqrt(below)).epsilon(1e-14));  // frozen blocks do not count
  for (std::size_t i = 0; i < g.size(); ++i) {
    CHECK(p.values()[i] == Approx(start.values()[i] - (i < 6 ? 0 : 0.3 * g[i])).epsilon(1e-14));
  }
}

TEST_CASE("Optimiser: a gradient that is not finite updates nothing", "[sim][networks]") {
  Parameters<double> p = two_blocks();
  const Parameters<double> start = p;
  Optimiser<double> adam(p, {});
  std::vector<double> g = gradient_at(0);
  g[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(std::isfinite(adam.update(p, g, 0)));
  CHECK(std::ranges::equal(p.values(), start.values()));
  CHECK(adam.updates() == 0);
}

TEST_CASE("Optimiser: reset forgets the past", "[sim][networks]") {
  Parameters<double> p = two_blocks();
  Optimiser<double> adam(p, {});
  adam.update(p, gradient_at(0), 0);
  adam.reset();
  std::ranges::copy(two_blocks().values(), p.values().begin());
  adam.update(p, gradient_at(1), 1);
  Parameters<double> q = two_blocks();
  Optimiser<double>(q, {}).update(q, gradient_at(1), 1);
  CHECK(std::ranges::equal(p.values(), q.values()));
}

TEST_CASE("Schedule: constant, cosine tail and step", "[sim][networks]") {
  CHECK(Schedule{}(1000) == 1);
  const Schedule tail{.kind = Schedule::Kind::cosine_tail, .start = 50, .length = 100};
  CHECK(tail(49) == 1);
  CHECK(tail(50) == 1);
  CHECK(tail(75) == Approx(0.5).epsilon(1e-14));
  CHECK(tail(100) == 0);
  const Schedule step{.kind = Schedule::Kind::step, .start = 80, .factor = 0.1};
  CHECK(step(79) == 1);
  CHECK(step(80) == 0.1);
}

TEST_CASE("Optimiser: options out of their domain are named", "[sim][networks]") {
  const auto named = [](const OptimiserOptions& options) -> std::string {
    try {
      validate(options);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return error.parameter();
    }
    return "";
  };
  CHECK(named({}).empty());
  CHECK(named({.learning_rate = 0}) == "learning_rate");
  CHECK(named({.momentum = 1}) == "momentum");
  CHECK(named({.beta1 = -0.1}) == "beta1");
  CHECK(named({.beta2 = 1}) == "beta2");
  CHECK(named({.epsilon = 0}) == "epsilon");
  CHECK(named({.weight_decay = -1}) == "weight_decay");
  CHECK(named({.clip_norm = std::nan("")}) == "clip_norm");
  CHECK(named({.schedule = {.kind = Schedule::Kind::cosine_tail, .start = 5, .length = 5}}) ==
        "schedule.start");
}

}  // namespace networks_optimiser_test
