#include "attica/sim/bigrams/sgd.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_sgd_test {

using namespace attica;
using namespace attica::testing;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::MatrixXd;

/// Samples of what fills the tokens of one and returns the token after them.
template <class Sample>
auto one_by_one(Sample sample) {
  return [sample](Index last, std::span<Token> tokens, std::span<Token> next) mutable {
    const std::size_t context = tokens.size() / next.size();
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = sample(last, tokens.subspan(i * context, context));
    }
  };
}

/// The samples of the reference, in the order of their last tokens.
BigramSource replay(Reference batch) {
  return {[batch](std::span<std::int64_t> counts) {
            std::fill(counts.begin(), counts.end(), 0);
            for (const Reference k : batch["k"]) ++counts[k.get<std::size_t>()];
          },
          one_by_one([batch, next = std::size_t{0}, token = Index{-1}](
                         Index last, std::span<Token> tokens) mutable {
            if (last != token) {
              token = last;
              next = 0;
            }
            while (batch["k"][next].get<Index>() != last) ++next;
            for (std::size_t t = 0; t < tokens.size(); ++t) {
              tokens[t] = batch["X"][next][t].get<Token>();
            }
            return batch["y"][next++].get<Token>();
          })};
}

void check_close(const MatrixXd& found, const MatrixXd& expected, double tolerance) {
  CAPTURE(found, expected);
  CHECK((found - expected).cwiseAbs().maxCoeff() <= tolerance);
}

template <class Real>
void check_update(BigramAlgorithm algorithm,
                  const MatrixXd& grad_v,
                  const MatrixXd& grad_a,
                  double tolerance) {
  const BigramModel model = tiny_model();
  const Reference batch = reference_values("bigrams")["minibatch"];
  const Reference tiny = reference_values("bigrams")["population"]["tiny"];
  const MatrixXd v = matrix(tiny["V"]);
  const MatrixXd a = matrix(tiny["A"]);
  const auto size = static_cast<double>(batch["k"].size());
  BigramSgd<Real> sgd(model, algorithm, {0.5, 0.25}, size, v, {});
  sgd.set_attention(a);
  sgd.step(replay(batch));
  check_close(sgd.value(), v - 0.5 * grad_v, tolerance);
  check_close(sgd.attention().template cast<double>(), a - 0.25 * grad_a, tolerance);
  CHECK(sgd.batch_loss() == Approx(batch["batch_loss"].get<double>()).epsilon(10 * tolerance));
}

TEST_CASE("bigram SGD: minibatch gradients of the reference", "[sim][bigrams]") {
  const Reference batch = reference_values("bigrams")["minibatch"];
  const MatrixXd raw_v = matrix(batch["grad_V"]);
  const MatrixXd raw_a = matrix(batch["grad_A"]);
  const MatrixXd hat_v = matrix(batch["hat_grad_V"]);
  const MatrixXd hat_a = matrix(batch["hat_grad_A"]);
  check_update<double>(BigramAlgorithm::sgd_raw, raw_v, raw_a, 1e-14);
  check_update<double>(BigramAlgorithm::sgd_hat, hat_v, hat_a, 1e-14);
  check_update<float>(BigramAlgorithm::sgd_hat, hat_v, hat_a, 1e-6);  // single precision
  // Projected: orthogonal projections of the plain gradient.
  const Eigen::VectorXd mu = tiny_model().stationary();
  const MatrixXd p_mu = MatrixXd::Identity(3, 3) - mu * mu.transpose() / mu.squaredNorm();
  const MatrixXd p3 = MatrixXd::Identity(3, 3).array() - 1.0 / 3;
  const MatrixXd p4 = MatrixXd::Identity(4, 4).array() - 1.0 / 4;
  check_update<double>(BigramAlgorithm::sgd_projected, p3 * raw_v * p_mu, p4 * raw_a, 1e-14);
}

/// A step with plain gradients, sample by sample and position by position, against BigramSgd.
template <class Real>
void check_plain_step(Index tokens, Index context, double tolerance) {
  CAPTURE(tokens, context);
  RandomStream stream({.seed = static_cast<std::uint64_t>(tokens)});
  const BigramModel model(circulant_chain(tokens, 0.8),
                          context,
                          1,
                          random_attention(tokens, context, 1, AttentionWeights::uniform, stream));
  struct Sample {
    Index last;
    std::vector<Token> x;
    Token y;
  };
  std::vector<Sample> samples;
  const auto any = [&] {
    return static_cast<Token>(stream.below(static_cast<std::uint64_t>(tokens)));
  };
  for (Index k = 0; k < tokens; ++k) {
    for (Index b = 0; b < k % 6; ++b) {  // none to five of a last token
      samples.push_back({k, std::vector<Token>(static_cast<std::size_t>(context)), any()});
      for (Token& t : samples.back().x) t = any();
    }
  }
  MatrixXd a(context, tokens);
  for (double& x : a.reshaped()) x = stream.normal() / static_cast<double>(context);
  MatrixXd v(tokens, tokens);
  for (double& x : v.reshaped()) x = stream.normal();
  const auto size = static_cast<double>(samples.size());
  MatrixXd expected_v = v;
  MatrixXd expected_a = a;
  for (const Sample& s : samples) {
    Eigen::VectorXd u = Eigen::VectorXd::Zero(tokens);
    for (Index t = 0; t < context; ++t) u[s.x[static_cast<std::size_t>(t)]] += a(t, s.last);
    Eigen::VectorXd r = v * u;
    r[s.y] -= 1;
    expected_v -= 0.5 / size * r * u.transpose();
    const Eigen::VectorXd w = v.transpose() * r;
    for (Index t = 0; t < context; ++t) {
      expected_a(t, s.last) -= 0.25 / size * w[s.x[static_cast<std::size_t>(t)]];
    }
  }
  BigramSgd<Real> sgd(model, BigramAlgorithm::sgd_raw, {0.5, 0.25}, size, v, {});
  sgd.set_attention(a);
  sgd.step({[&](std::span<std::int64_t> counts) {
              std::fill(counts.begin(), counts.end(), 0);
              for (const Sample& s : samples) ++counts[static_cast<std::size_t>(s.last)];
            },
            one_by_one([&, next = std::size_t{0}](Index last, std::span<Token> x) mutable {
              const Sample& s = samples[next++];
              CHECK(s.last == last);
              std::copy(s.x.begin(), s.x.end(), x.begin());
              return s.y;
            })});
  check_close(sgd.value(), expected_v, tolerance);
  check_close(sgd.attention().template cast<double>(), expected_a, tolerance);
}

TEST_CASE("bigram SGD: every way to add up and to look up", "[sim][bigrams]") {
  // Compared, in tables, in pairs, in parts; lengths that fill no register; samples at a time: all
  // with a last token, or four.
  for (const Index tokens : {2, 3, 4, 8, 12, 13, 20, 24, 25, 32, 33, 48, 49, 70}) {
    for (const Index context : {37, tokens == 3 || tokens == 20 || tokens == 70 ? 2501 : 1203}) {
      check_plain_step<double>(tokens, context, 1e-13);
      check_plain_step<float>(tokens, context, 2e-5);
    }
  }
}

TEST_CASE("bigram SGD: softmax step", "[sim][bigrams]") {
  const BigramModel model = tiny_model();
  const Reference batch = reference_values("bigrams")["minibatch"];
  const MatrixXd a = matrix(reference_values("bigrams")["population"]["tiny"]["A"]);
  MatrixXd w = a;
  for (Index k = 0; k < w.cols(); ++k) w.col(k) = (a.col(k) / a.col(k).sum()).array().log();
  constexpr double kEta = 0.25;
  BigramSgd<double> sgd(model,
                        BigramAlgorithm::softmax,
                        {1e-30, kEta},
                        4,
                        matrix(reference_values("bigrams")["population"]["tiny"]["V"]),
                        {});
  sgd.set_attention(w);
  sgd.step(replay(batch));
  const MatrixXd grad_w = matrix(reference_values("bigrams")["minibatch_softmax"]["grad_w"]);
  MatrixXd expected = w - kEta * grad_w * model.stationary().cwiseInverse().asDiagonal();
  for (Index k = 0; k < w.cols(); ++k) {
    expected.col(k) = expected.col(k).array().exp();
    expected.col(k) /= expected.col(k).sum();
  }
  check_close(sgd.attention(), expected, 1e-14);
  // Preconditioner of the flow in A: J² at an attended position and (1 - a1)/(T-1) elsewhere.
  for (const char* name : {"J2_T50", "J2_T1000"}) {
    const Reference r = reference_values("bigrams")["misc_deterministic"][name];
    const double t = std::string(name) == "J2_T50" ? 50 : 1000;
    const double a1 = r["a1"].get<double>();
    CHECK(std::pow(a1 * (1 - a1), 2) * t / (t - 1) == Approx(r["J2_11"].get<double>()));
  }
}

TEST_CASE("bigram sampler: moments of sequences", "[sim][bigrams]") {
  const BigramModel model = tiny_model();
  const BigramSampler sampler(model);
  RandomStream stream({.seed = 5});
  constexpr Index kLast = 2;
  constexpr int kDraws = 60000;
  std::vector<Token> x(4);
  MatrixXd first = MatrixXd::Zero(3, 4);
  MatrixXd joint = MatrixXd::Zero(3, 3);  // of the next token and x_4, weight 0.6
  for (int i = 0; i < kDraws; ++i) {
    const Token y = sampler.draw(kLast, x, stream);
    for (Index t = 0; t < 4; ++t) first(x[static_cast<std::size_t>(t)], t) += 1.0 / kDraws;
    joint(y, x[3]) += 1.0 / kDraws;
  }
  const Eigen::VectorXd mu = model.stationary();
  constexpr double kFiveDeviations = 5 * 0.5 / 245;  // sqrt(p(1-p)) <= 1/2, sqrt(60000) = 245
  check_close(first, mu.replicate(1, 4), kFiveDeviations);
  check_close(joint,
              0.4 * mu * mu.transpose() + 0.6 * model.transition() * mu.asDiagonal(),
              kFiveDeviations);
}

TEST_CASE("bigram sampler: samples at a time have the law of one", "[sim][bigrams]") {
  const BigramModel model = tiny_model();
  const BigramSampler sampler(model);
  RandomStream stream({.seed = 8});
  constexpr Index kLast = 2;
  constexpr std::size_t kSamples = 7;
  constexpr int kDraws = 20000;
  std::vector<Token> x(4 * kSamples);
  std::vector<Token> next(kSamples);
  // Of each place among the samples: x_4 with its next token, and with the next sample's.
  std::vector<MatrixXd> own(kSamples, MatrixXd::Zero(3, 3));
  MatrixXd other = MatrixXd::Zero(3, 3);
  for (int i = 0; i < kDraws; ++i) {
    sampler.draw(kLast, x, next, stream);
    for (std::size_t s = 0; s < kSamples; ++s) own[s](next[s], x[4 * s + 3]) += 1.0 / kDraws;
    for (std::size_t s = 1; s < kSamples; ++s)
      other(next[s], x[4 * s - 1]) += 1.0 / (kDraws * double{kSamples - 1});
  }
  const Eigen::VectorXd mu = model.stationary();
  const MatrixXd law = 0.4 * mu * mu.transpose() + 0.6 * model.transition() * mu.asDiagonal();
  constexpr double kFiveDeviations = 5 * 0.5 / 141;  // sqrt(p(1-p)) <= 1/2, sqrt(20000) = 141
  for (const MatrixXd& found : own) check_close(found, law, kFiveDeviations);
  check_close(other, mu * mu.transpose(), kFiveDeviations);
}

TEST_CASE("token law: two tokens out of a cell are independent", "[sim][bigrams]") {
  RandomStream stream({.seed = 9});
  for (const Eigen::VectorXd& law : {Eigen::VectorXd(Eigen::Vector3d(0.2, 0.3, 0.5)),
                                     Eigen::VectorXd(Eigen::Vector2d(0.37, 0.63)),
                                     Eigen::VectorXd(Eigen::Vector4d(0.1, 0.2, 0.3, 0.4))}) {
    const TokenLaw tokens(law);
    const Index n = law.size();
    // Cells come in units of 64: the two tokens of one lie half of a round number of units apart.
    for (const std::size_t size : {128U, 256U, 301U, 1024U}) {
      CAPTURE(n, size);
      const std::size_t distance = size == 301 ? 192 : size / 2;
      std::vector<Token> x(size);
      MatrixXd joint = MatrixXd::Zero(n, n);
      double pairs = 0;
      while (pairs < 400000) {
        tokens.fill(x, stream);
        for (std::size_t i = 0; i + distance < size; ++i, ++pairs)
          joint(x[i], x[i + distance]) += 1;
      }
      const MatrixXd expected = pairs * law * law.transpose();
      // χ² of n² cells (pairs share tokens only where they are further apart): n² ± 5 sqrt(2) n.
      const double chi2 = ((joint - expected).array().square() / expected.array()).sum();
      CHECK(chi2 < static_cast<double>(n * n) + 5 * std::sqrt(2.0) * static_cast<double>(n));
    }
  }
  // A law finer than 2^16 cells of pairs.
  const TokenLaw fine(Eigen::Vector2d(0.5 / 65536, 1 - 0.5 / 65536));
  std::vector<Token> x(4000000);
  fine.fill(x, stream);
  const auto rare = std::count(x.begin(), x.end(), Token{0});
  CHECK(std::abs(static_cast<double>(rare) - 30.5) < 5 * 5.5);
}

TEST_CASE("token law: exact in all paths", "[sim][bigrams]") {
  RandomStream stream({.seed = 6});
  const auto frequencies = [&](const Eigen::VectorXd& law, std::size_t draws) {
    const TokenLaw tokens(law);
    std::vector<Token> x(draws);
    tokens.fill(x, stream);
    Eigen::VectorXd found = Eigen::VectorXd::Zero(law.size());
    for (const Token n : x) found[n] += 1.0 / static_cast<double>(draws);
    return found;
  };
  // A law finer than the 2^16 cells: every draw of the first cell needs more bits.
  Eigen::VectorXd fine(4);
  fine << 0.25 / 65536, 0.5 / 65536, 0.25 / 65536, 1 - 1.0 / 65536;
  constexpr std::size_t kMany = 4000000;
  const Eigen::VectorXd found = frequencies(fine, kMany) * static_cast<double>(kMany);
  CHECK(std::abs(found[0] - 15.3) < 5 * 3.9);
  CHECK(std::abs(found[1] - 30.5) < 5 * 5.5);
  // Equally likely tokens, several out of a cell: single tokens and neighbouring digits of a cell.
  for (const Index n : {2, 3, 5, 7, 20, 100, 300}) {
    const TokenLaw tokens(Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n)));
    std::vector<Token> x(200);
    Eigen::VectorXd single = Eigen::VectorXd::Zero(n);
    double products = 0;  // of neighbours at the distance at which digits of a cell lie
    constexpr int kSequences = 2000;
    for (int s = 0; s < kSequences; ++s) {
      tokens.fill(x, stream);
      for (const Token token : x) single[token] += 1;
      products += (x[0] + 0.5 - 0.5 * static_cast<double>(n)) *
                  (x[64] + 0.5 - 0.5 * static_cast<double>(n));
    }
    const double expected = 200.0 * kSequences / static_cast<double>(n);
    // χ² of n cells: n - 1 ± 5 sqrt(2n); a correlation of 2000 pairs: ± 5/sqrt(2000).
    CHECK((single.array() - expected).square().sum() / expected <
          static_cast<double>(n) + 5 * std::sqrt(2.0 * static_cast<double>(n)));
    const double variance = (static_cast<double>(n * n) - 1) / 12;
    CHECK(std::abs(products / kSequences / variance) < 5 / std::sqrt(2000.0));
  }
  constexpr Index kWide = 100;  //
  const Eigen::VectorXd wide = frequencies(Eigen::VectorXd::Constant(kWide, 0.01), 100000);
  CHECK((wide.array() - 0.01).abs().maxCoeff() < 5 * 3.2e-4);
}

TEST_CASE("bigram SGD: its mean gradient is the population's", "[sim][bigrams]") {
  // One step with a large batch from a generic point: the update is -η times the mean of B
  // gradients, each of variance about 0.1 (V) and 0.1/μ² (A).
  const BigramModel model = tiny_model();
  const Reference r = reference_values("bigrams")["population"]["tiny_constrained"];
  constexpr double kBatch = 200000;
  BigramSgd<double> sgd(
      model, BigramAlgorithm::sgd_hat, {1, 1}, kBatch, matrix(r["V"]), {.seed = 7});
  sgd.set_attention(matrix(r["A"]));
  sgd.step();
  check_close(matrix(r["V"]) - sgd.value(), matrix(r["hat_grad_V"]), 5 * std::sqrt(0.35 / kBatch));
  check_close(matrix(r["A"]) - MatrixXd(sgd.attention()),
              matrix(r["hat_grad_A"]),
              5 * std::sqrt(0.6 / kBatch));
}

TEST_CASE("bigram SGD: proximal steps", "[sim][bigrams]") {
  const Reference r = reference_values("bigrams")["misc_deterministic"]["prox_sum1"];
  const Eigen::VectorXd z = vector(r["z"]);
  check_close(soft_threshold_sum1(z, r["lam"].get<double>()), vector(r["result"]), 1e-14);
  check_close(
      soft_threshold_sum1(z, r["lam_large"].get<double>()), vector(r["result_large"]), 1e-12);
  CHECK(soft_threshold(-0.3, 0.1) == Approx(-0.2));
  const BigramModel model = tiny_model();
  for (const BigramAlgorithm algorithm : {BigramAlgorithm::l1, BigramAlgorithm::l1_sum1}) {
    BigramSgd<double> sgd(model, algorithm, {0.05, 0.05}, 4, stationary_value(model), {.seed = 1});
    sgd.set_l1(0.5);
    sgd.step();
    const AttentionSums sums = sgd.sums();
    if (algorithm == BigramAlgorithm::l1) {
      CHECK(sums.sum.maxCoeff() < 1);
    } else {
      CHECK((sums.sum.array() - 1).abs().maxCoeff() < 1e-14);
    }
  }
}

TEST_CASE("bigram training: rounding of the reference", "[sim][bigrams]") {
  const Reference r = reference_values("bigrams")["rounding"];
  const Eigen::VectorXd mu = vector(r["mu"]);
  const BigramModel model(
      {mu.replicate(1, 3), mu}, 5, 2, {{{0}, {1.0}}, {{2}, {1.0}}, {{4}, {1.0}}});
  BigramSgd<double> sgd(model, BigramAlgorithm::l1, {0.05, 0.05}, 1, matrix(r["V"]), {});
  sgd.set_attention(matrix(r["A"]));
  sgd.set_l1(r["lam"].get<double>());
  const RoundedBigram result = rounded(sgd, r["keep_fraction"].get<double>());
  REQUIRE_FALSE(result.failed);
  check_close(result.value, matrix(r["Vhat"]), 1e-14);
  const MatrixXd expected = matrix(r["Ahat"]);
  MatrixXd found = MatrixXd::Zero(5, 3);
  for (Index k = 0; k < 3; ++k) {
    const SparseColumn& column = result.attention[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < column.positions.size(); ++j) {
      found(column.positions[j], k) = column.weights[j];
    }
  }
  check_close(found, expected, 1e-14);
  sgd.set_attention(-MatrixXd::Ones(5, 3));
  CHECK(rounded(sgd, 0.5).failed);
  CHECK(std::isinf(rounding_of(model, rounded(sgd, 0.5)).error()));
}

TEST_CASE("bigram SGD: reproducible, divergence seen, bad input refused", "[sim][bigrams]") {
  const BigramModel model = circulant_model(3, 0.8, 2, 60);
  const auto run = [&](double eta, int steps, std::uint64_t seed) {
    BigramSgd<float> sgd(
        model, BigramAlgorithm::sgd_hat, {eta, eta}, 4, stationary_value(model), {.seed = seed});
    for (int n = 0; n < steps && !sgd.diverged(); ++n) sgd.step();
    return std::pair(sgd.value(), sgd.diverged());
  };
  CHECK(run(0.05, 20, 1) == run(0.05, 20, 1));
  CHECK(run(0.05, 20, 1).first != run(0.05, 20, 2).first);
  CHECK(run(50, 200, 1).second);
  const auto make = [&](const BigramRates& rates, double batch) {
    BigramSgd<double>(model, BigramAlgorithm::sgd_hat, rates, batch, stationary_value(model), {});
  };
  CHECK_THROWS_WITH(make({}, 0), Contains("'batch' = 0"));
  CHECK_THROWS_WITH(make({}, 1.5), Contains("'batch' = 1.5"));
  CHECK_THROWS_WITH(make({.eta_v = 0}, 4), Contains("'eta_V' = 0"));
  CHECK_THROWS_WITH(make({.eta_a = -1}, 4), Contains("'eta_A' = -1"));
}

}  // namespace bigrams_sgd_test
