// The population loss in twelve numbers, its optima and averages.

#include "attica/theory/topics/loss.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/theory/topics/value.hpp"
#include "finite_differences.hpp"
#include "theory/topics/reference.hpp"

using namespace attica;
using namespace attica::testing;
using attica::testing::Reference;

TEST_CASE("reduced_loss: values and gradients match the reference", "[theory][topics]") {
  constexpr double kRounding = 1e-13;
  for (const Reference c : reference_values("topics")["reduced_loss"]) {
    const TopicModel model(topic_settings(c));
    const Commutant there =
        (CommutantAlgebra(model.vocabulary()).counts().array() > 0).cast<double>();
    for (const auto& [name, loss] :
         {std::pair{"SE", TopicLoss::squared}, std::pair{"CE", TopicLoss::cross_entropy}}) {
      ReducedGradient g;
      const double value =
          reduced_loss(model, loss, commutant_of(c["w"]), commutant_of(c["m"]), &g, c["eps"]);
      INFO(name << " T " << c["T"] << " v " << c["v"] << " tau " << c["tau"] << " eps "
                << c["eps"]);
      CHECK(value == Approx(c[name]["loss"].get<double>()).epsilon(kRounding));
      CHECK(difference(g.value.cwiseProduct(there), commutant_of(c[name]["grad_w"])) < kRounding);
      CHECK(difference(g.score.cwiseProduct(there), commutant_of(c[name]["grad_m"])) < kRounding);
    }
  }
}

TEST_CASE("reduced_loss: its gradient is that of finite differences", "[theory][topics]") {
  const TopicModel model({.vocabulary = {4, 3},
                          .topics_per_document = 2,
                          .mask_rate = 0.3,
                          .keep_rate = 0.2,
                          .random_rate = 0.15});
  Commutant w;
  w << 0.1, -0.2, 0.05, 0.3, 0.2, -0.04;
  Commutant m;
  m << 0.2, -0.1, 0.3, 1.2, 0.7, -0.3;
  constexpr double kOwn = 0.05;
  for (const TopicLoss loss : {TopicLoss::squared, TopicLoss::cross_entropy}) {
    ReducedGradient g;
    reduced_loss(model, loss, w, m, &g, kOwn);
    const auto f = [&] { return reduced_loss(model, loss, w, m, nullptr, kOwn); };
    testing::check_gradient(f, testing::entries(w), testing::entries(g.value));
    testing::check_gradient(f, testing::entries(m), testing::entries(g.score));
  }
}

TEST_CASE("reduced_loss: is the quadratic loss of the first stage at uniform attention",
          "[theory][topics]") {
  const TopicModel model({.vocabulary = {5, 4}, .topics_per_document = 2});
  const CommutantAlgebra algebra(model.vocabulary());
  Commutant w;
  w << 0.1, -0.2, 0.05, 0.3, 0.2, -0.04;
  CHECK(reduced_loss(model, TopicLoss::squared, w, Commutant::Zero()) ==
        Approx(value_loss(algebra, value_moments(model), w)).epsilon(1e-14));
}

TEST_CASE("reduced_loss: edge cases give numbers", "[theory][topics]") {
  Commutant w;
  w << 0.1, -0.2, 0.05, 0.3, 0.2, -0.04;
  const Commutant m = 3 * w;
  const auto finite = [&](const TopicSettings& s) {
    ReducedGradient g;
    const double loss = reduced_loss(TopicModel(s), TopicLoss::squared, w, m, &g);
    return std::isfinite(loss) && g.value.allFinite() && g.score.allFinite();
  };
  CHECK(finite({.vocabulary = {3, 2}, .topics_per_document = 3}));  // tau = T
  CHECK(finite({.vocabulary = {3, 2}, .topics_per_document = 2, .random_rate = 0}));
  CHECK(finite({.vocabulary = {3, 2}, .topics_per_document = 2, .keep_rate = 0.9}));  // mu = 0
  CHECK(finite({.vocabulary = {3, 2}, .topics_per_document = 1, .keep_rate = 0}));
  CHECK(finite({.vocabulary = {3, 1}, .topics_per_document = 2}));
  CHECK(finite({.vocabulary = {3, 2}, .topics_per_document = 2, .mask_rate = 1}));
}

TEST_CASE("cross_entropy_optimum: matches the reference", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["stage1_ce_optimum"]) {
    const TopicModel model(topic_settings(c));
    const Commutant w = cross_entropy_optimum(model, c["lam"]);
    CHECK(difference(w, commutant_of(c["W"])) <
          1e-6);  // gradient 1e-12 over a curvature of 1e-3 ..
    const double loss =
        reduced_loss(model, TopicLoss::cross_entropy, w, Commutant::Zero()) +
        c["lam"].get<double>() * CommutantAlgebra(model.vocabulary()).squared_norm(w);
    const double plain = reduced_loss(model, TopicLoss::cross_entropy, w, Commutant::Zero());
    const double expected = c["loss"];
    CHECK(std::min(std::abs(loss - expected), std::abs(plain - expected)) < 1e-9);
  }
  CHECK_THROWS_WITH(
      cross_entropy_optimum(TopicModel({.vocabulary = {3, 2}, .topics_per_document = 2}), 0),
      Catch::Matchers::Contains("penalty"));
}

TEST_CASE("attention_optimum: landscapes and minimisers match the reference", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["landscape"]) {
    const TopicModel model(topic_settings(c));
    const Commutant w = commutant_of(c["w"]);
    INFO(c["kind"] << " T " << c["T"]);
    const std::string kind = c["kind"];
    const double scale = kind.ends_with("1/kappa") ? 1 / model.kappa() : 1;
    const Commutant own = kind == "limit"             ? value_closed_form(model)
                          : kind.starts_with("block") ? block_value(model, scale)
                                                      : diagonal_value(scale);
    CHECK(difference(own, w) < 1e-14);
    const std::vector<double> grid = c["grid"];
    for (std::size_t i = 0; i < grid.size(); ++i) {
      for (std::size_t j = 0; j < grid.size(); ++j) {
        const Commutant m = scores({.same_word = grid[i],
                                    .same_topic = grid[j],
                                    .mask = c["m"],
                                    .mask_query = c["mprime"]});
        CHECK(reduced_loss(model, TopicLoss::squared, w, m) ==
              Approx(c["L"][i][j].get<double>()).epsilon(1e-13));
      }
    }
    const AttentionOptimum optimum = attention_optimum(model, TopicLoss::squared, w);
    CHECK(optimum.loss == Approx(c["L_star"].get<double>()).epsilon(1e-12));
    // The loss is flat at its minimum: weights are good to the square root of rounding.
    if (c.contains("omega_star")) {
      CHECK(optimum.omega == Approx(c["omega_star"].get<double>()).epsilon(1e-5));
    } else {
      CHECK(optimum.relative.same_word == Approx(c["a_star"].get<double>()).epsilon(1e-4));
      CHECK(optimum.relative.same_topic ==
            Approx(c["s_star"].get<double>()).epsilon(1e-3).margin(1e-8));
    }
  }
}

TEST_CASE("attention_optimum: the own topic's weight approaches tau / (1 - kappa)",
          "[theory][topics]") {
  for (const Reference c : reference_values("topics")["landscape_asymptotics"]) {
    const TopicModel model(topic_settings(c));
    const AttentionOptimum optimum =
        attention_optimum(model, TopicLoss::squared, block_value(model, 1 / model.kappa()));
    CHECK(optimum.omega / model.tau() ==
          Approx(c["omega_star_over_tau"].get<double>()).epsilon(1e-5));
    CHECK(1 / (1 - model.kappa()) == Approx(c["limit"].get<double>()).epsilon(1e-14));
  }
}

TEST_CASE("attention_optimum: of block values between tau and T, by search over the loss",
          "[theory][topics]") {
  // Theorem 3 has constant multiples of τ and T as bounds; at these rates of masking 1 will do.
  for (const Eigen::Index tau : {2, 5, 20}) {
    for (const Eigen::Index times : {3, 10}) {
      for (const double masked : {0.1, 0.15, 0.3}) {
        const TopicModel model(
            {.vocabulary = {times * tau, 4}, .topics_per_document = tau, .mask_rate = masked});
        const Commutant blocks = block_value(model, 1 / model.kappa());
        const auto loss = [&](double log_omega) {
          const double omega = std::exp(log_omega);
          return reduced_loss(
              model, TopicLoss::squared, blocks, scores({.same_word = omega, .same_topic = omega}));
        };
        constexpr double kStep = 0.01;
        double best = 0;
        for (double x = -3; x < 12; x += kStep) {
          if (loss(x) < loss(best)) best = x;
        }
        const double omega = attention_optimum(model, TopicLoss::squared, blocks).omega;
        CAPTURE(tau, times, masked);
        CHECK(std::log(omega) == Approx(best).margin(kStep));
        CHECK(omega > model.tau());
        CHECK(omega < model.topics());
      }
    }
  }
}

TEST_CASE("average_attention, bayes_floor: match the reference", "[theory][topics]") {
  for (const Reference c : reference_values("topics")["average_attention"]) {
    const AverageAttention a = average_attention(
        TopicModel(topic_settings(c)),
        {.same_word = c["a"], .same_topic = c["s"], .mask = c["m"], .mask_query = c["mprime"]});
    CHECK(a.same_word == Approx(c["NA_same_word"].get<double>()).epsilon(1e-13));
    CHECK(a.same_topic == Approx(c["NA_same_topic"].get<double>()).epsilon(1e-13));
    CHECK(a.other_topic == Approx(c["NA_diff_topic"].get<double>()).epsilon(1e-13));
  }
  for (const Reference c : reference_values("topics")["bayes_floor"]) {
    CHECK(bayes_floor(TopicModel(topic_settings(c))) ==
          Approx(c["bayes"].get<double>()).epsilon(1e-14));
  }
}

TEST_CASE("reduced_loss: refused where it is not known", "[theory][topics]") {
  const Commutant zero = Commutant::Zero();
  const TopicModel finite({.vocabulary = {3, 2}, .topics_per_document = 2, .length = {{20, 20}}});
  CHECK_THROWS_WITH(reduced_loss(finite, TopicLoss::squared, zero, zero),
                    Catch::Matchers::Contains("length"));
  const TopicModel dirichlet({.vocabulary = {3, 2}, .prior = TopicPrior::dirichlet});
  CHECK_THROWS_WITH(reduced_loss(dirichlet, TopicLoss::squared, zero, zero),
                    Catch::Matchers::Contains("prior"));
}
