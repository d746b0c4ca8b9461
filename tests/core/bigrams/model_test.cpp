#include "attica/core/bigrams/model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"
#include "theory/bigrams/reference.hpp"

namespace bigrams_model_test {

using namespace attica;
using Catch::Matchers::Contains;
using Eigen::MatrixXd;
using Eigen::VectorXd;

RandomStream model_stream(std::uint64_t seed) {
  return RandomStream({.seed = seed, .id = StreamId::model});
}

std::vector<SparseColumn> two_columns() { return {{{0}, {1.0}}, {{1}, {1.0}}}; }

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST_CASE("circulant chain: closed forms of its constants", "[core][bigrams]") {
  constexpr double kP = 0.8;
  constexpr double kN = 5;
  RandomStream stream = model_stream(1);
  const BigramModel model(circulant_chain(5, kP),
                          100,
                          4,
                          random_attention(5, 100, 4, AttentionWeights::uniform, stream));
  const double g = (kN * kP - 1) / (kN - 1);
  CHECK(model.k_p() == Approx(g * g * (kN - 1) / kN).epsilon(1e-12));
  CHECK(model.kappa_v() == Approx(1 / (g * g * (kN - 1))).epsilon(1e-12));
  CHECK(model.k_q() == Approx(1.0 / 4 - 1.0 / 100).epsilon(1e-12));
  CHECK(model.smallest_weight() == Approx(0.25));
}

TEST_CASE("cyclic chain: stationary exactly, odds ratios of its weights, no symmetry",
          "[core][bigrams]") {
  for (const Eigen::Index n : {2, 3, 5, 50}) {
    const BigramChain chain = cyclic_chain(n, 0.8, 3);
    CHECK_NOTHROW(validate(chain));
    CHECK((chain.transition * chain.stationary - chain.stationary).cwiseAbs().maxCoeff() < 1e-11);
    CHECK(chain.stationary[n - 1] == Approx(3 * chain.stationary[0]).epsilon(1e-12));
    // Scaling rows and columns keeps the odds ratios of the weights.
    const double other = 0.2 / static_cast<double>(n - 1);
    const auto weight = [&](Eigen::Index m, Eigen::Index k) {
      return m == (k + 1) % n ? 0.8 : other;
    };
    const auto odds = [](const auto& w) { return w(0, 0) * w(1, 1) / (w(0, 1) * w(1, 0)); };
    CHECK(odds(chain.transition) == Approx(odds(weight)).epsilon(1e-9));
    if (n == 2) continue;  // any law of two tokens is reversible
    const MatrixXd joint = chain.transition * chain.stationary.asDiagonal();
    CHECK((joint - joint.transpose()).norm() > 0.5 * joint.norm());
  }
  // Without contrast the weights are the law.
  const BigramChain even = cyclic_chain(3, 0.8, 1);
  const MatrixXd shift = (MatrixXd(3, 3) << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished();
  CHECK((even.transition - (0.7 * shift + MatrixXd::Constant(3, 3, 0.1))).cwiseAbs().maxCoeff() <
        1e-12);
}

TEST_CASE("sinkhorn chain: the law is stationary exactly and has signal", "[core][bigrams]") {
  RandomStream stream = model_stream(2);
  const BigramChain chain = sinkhorn_chain(6, 2, 4, stream);
  CHECK_NOTHROW(validate(chain));
  CHECK((chain.transition * chain.stationary - chain.stationary).cwiseAbs().maxCoeff() < 1e-12);
  CHECK(chain.stationary.maxCoeff() <= 4 * chain.stationary.minCoeff() + 1e-12);
}

TEST_CASE("correlated chain: the correlation asked for is realised", "[core][bigrams]") {
  RandomStream stream = model_stream(3);
  const BigramChain chain = circulant_chain(4, 0.7);
  for (const double rho : {1.0, 0.6, 0.3}) {
    const BigramChain other = correlated_chain(chain, rho, stream);
    CHECK_NOTHROW(validate(other));
    CHECK(chain_correlation(chain, other) == Approx(rho).epsilon(1e-9));
  }
  const auto reference = testing::reference_values("bigrams")["correlated_pair"];
  const BigramChain hat{testing::matrix(reference["Phat_matrix"]), VectorXd::Constant(3, 1.0 / 3)};
  CHECK(chain_correlation(circulant_chain(3, 0.8), hat) == Approx(reference["rho"].get<double>()));
}

TEST_CASE("restricted chain: the first tokens alone, and their V among all", "[core][bigrams]") {
  const BigramChain chain = cyclic_chain(6, 0.9, 2.5);
  CHECK(restricted_chain(chain, 6).transition == chain.transition);
  const BigramChain part = restricted_chain(chain, 4);
  CHECK_NOTHROW(validate(part));
  const VectorXd& mu = chain.stationary;
  CHECK((part.stationary - mu.head(4) / mu.head(4).sum()).norm() < 1e-12);
  // Scaling rows and columns leaves the odds ratios of the joint law.
  const auto odds = [](const MatrixXd& p) { return p(0, 1) * p(2, 3) / (p(0, 3) * p(2, 1)); };
  CHECK(odds(part.transition) == Approx(odds(chain.transition)));
  const MatrixXd value = embedded_value(part, part.transition, mu);
  CHECK((value.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK((value * mu - mu).norm() < 1e-12);
  CHECK((value.rightCols(2).colwise() - mu).norm() == 0);
  CHECK_THAT(message([&] { restricted_chain(chain, 7); }), Contains("source_tokens"));
}

TEST_CASE("attention patterns: sizes, positions, weights", "[core][bigrams]") {
  RandomStream stream = model_stream(4);
  std::vector<int> seen(7, 0);
  constexpr int kDraws = 700;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto columns = random_attention(2, 7, 3, AttentionWeights::random, stream);
    double sum = 0;
    for (const double w : columns[0].weights) sum += w;
    CHECK(sum == Approx(1));
    for (const auto t : columns[0].positions) ++seen[static_cast<std::size_t>(t)];
  }
  // Every position in 3/7 of 700 columns, standard deviation 13.
  for (const int count : seen) CHECK(std::abs(count - 300) < 5 * 13);
  const auto strided = strided_attention(3, 13, 2, AttentionWeights::uniform, stream);
  CHECK(strided[2].positions == std::vector<Eigen::Index>{8, 10});
}

TEST_CASE("text chain: a ring of bigrams is stationary exactly", "[core][bigrams]") {
  const TextChain chain = text_chain("the cat and the dog and the cat", TextUnit::word, 3);
  CHECK_NOTHROW(validate(chain.chain));
  CHECK(chain.symbols == std::vector<std::string>{"the", "and", "*"});
  CHECK(chain.chain.stationary[0] == Approx(3.0 / 8));
  CHECK(chain.chain.transition(2, 0) == Approx(1));  // "the" is followed by an animal
  const TextChain letters = text_chain("aAb\xc3\xa9", TextUnit::character, 10);
  CHECK(letters.symbols.size() == 3);  // a, b, e acute
  CHECK_THROWS_WITH(text_chain("aaaa", TextUnit::character, 3), Contains("at least 2"));
  // The reader of all studies of texts.
  const TextChain words =
      text_chain("“Music” music—école, École\u00A0music… don’t 12", TextUnit::word, 10);
  CHECK(words.symbols == std::vector<std::string>{"music", "école", "don't"});
  CHECK(text_chain("ÉéЖж e\u0301", TextUnit::character, 9).symbols ==
        std::vector<std::string>{"é", "ж", " "});
  CHECK_THROWS_WITH(text_chain(std::string("a\0b\0c\0d\0", 8), TextUnit::character, 3),
                    Contains("UTF-16"));
}

TEST_CASE("instance file: read back, and errors with line numbers", "[core][bigrams]") {
  const std::string path = ATTICA_BINARY_DIR "/bigram_instance_test.txt";
  std::ofstream(path)
      << "# tiny\nmu 0.5 0.5\nP 0.9 0.1\nP 0.1 0.9  # symmetric\nQ 0 1:0.25 3:0.75\nQ 1 0:1\n";
  const BigramFile file = read_bigram_file(path);
  CHECK(file.chain.transition(0, 1) == 0.1);
  CHECK(file.attention[0].positions == std::vector<Eigen::Index>{1, 3});
  std::ofstream(path) << "mu 0.5 0.5\nP 0.9 x\n";
  CHECK_THROWS_WITH(read_bigram_file(path), Contains(":2"));
  std::remove(path.c_str());
}

TEST_CASE("bigram model: bad input is refused by name", "[core][bigrams]") {
  const BigramChain good = circulant_chain(2, 0.8);
  const auto make = [](const BigramChain& chain,
                       Eigen::Index t,
                       Eigen::Index q,
                       const std::vector<SparseColumn>& columns) {
    return message([&] { BigramModel(chain, t, q, columns); });
  };
  const auto changed = [&](double p00, double p10) {
    BigramChain chain = good;
    chain.transition(0, 0) = p00;
    chain.transition(1, 0) = p10;
    return chain;
  };
  CHECK_THAT(make(good, 1, 1, two_columns()), Contains("'context' = 1"));
  CHECK_THAT(make(good, 4, 0, two_columns()), Contains("'sparsity' = 0"));
  CHECK_THAT(make(good, 4, 5, two_columns()), Contains("'sparsity' = 5"));
  CHECK_THAT(make(good, 4, 1, {{{0, 1}, {0.5, 0.5}}, {{1}, {1.0}}}),
             Contains("at most sparsity = 1"));
  CHECK_THAT(make(good, 4, 1, {{{0}, {1.0}}}), Contains("one for each of the 2 tokens"));
  CHECK_THAT(make(good, 4, 2, {{{0, 1}, {1.5, -0.5}}, {{1}, {1.0}}}), Contains("weights >= 0"));
  CHECK_THAT(make(good, 4, 1, {{{0}, {0.9}}, {{1}, {1.0}}}), Contains("sum to 1"));
  CHECK_THAT(make(good, 4, 1, {{{4}, {1.0}}, {{1}, {1.0}}}), Contains("within the context"));
  CHECK_THAT(make(changed(std::nan(""), 0.2), 4, 1, two_columns()), Contains("finite"));
  CHECK_THAT(make(changed(1.2, -0.2), 4, 1, two_columns()), Contains("entries >= 0"));
  CHECK_THAT(make(changed(0.8, 0.3), 4, 1, two_columns()), Contains("column 0 with sum 1.1"));
  CHECK_THAT(make(changed(0.7, 0.3), 4, 1, two_columns()), Contains("stationary law of P"));
  BigramChain transposed{(MatrixXd(2, 2) << 0.9, 0.1, 0.4, 0.6).finished(), good.stationary};
  CHECK_THAT(make(transposed, 4, 1, two_columns()), Contains("transpose"));
  CHECK_THAT(make({good.transition, VectorXd::Zero(2)}, 4, 1, two_columns()), Contains("'mu' = 0"));
  CHECK_THAT(message([] { circulant_chain(1, 0.5); }), Contains("N >= 2"));
  CHECK_THAT(message([] { cyclic_chain(1, 0.5, 2); }), Contains("N >= 2"));
  CHECK_THAT(message([] { cyclic_chain(3, 1, 2); }), Contains("'p_diagonal' = 1: expected 0 <"));
  CHECK_THAT(message([] { cyclic_chain(3, 0.8, 0.5); }), Contains("'contrast' = 0.5"));
  CHECK_THROWS_WITH(cyclic_chain(2, 1 - 1e-9, 1.001), Contains("did not end"));
  const BigramModel flat({MatrixXd::Constant(2, 2, 0.5), good.stationary}, 4, 1, two_columns());
  CHECK_FALSE(flat.has_signal());
}

}  // namespace bigrams_model_test
