#include "attica/theory/potts/blind_attention.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/core/potts/enumeration.hpp"
#include "core/reference_models.hpp"
#include "finite_differences.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace potts_blind_attention_test {

/// Generic parameters of a layer.
VectorXd wave(Index size) {
  VectorXd x(size);
  for (Index k = 0; k < size; ++k) x[k] = std::sin(1.0 + 1.7 * static_cast<double>(k * k));
  return x;
}

/// The layer as attention: a softmax over all sites of every state with every site masked in turn.
double attended_loss(const VectorXd& x,
                     const WeightedSequences& states,
                     Index colours,
                     Index heads) {
  double loss = 0;
  const Index sites = states.sequences.cols();
  for (Index n = 0; n < states.sequences.rows(); ++n) {
    for (Index i = 0; i < sites; ++i) {
      VectorXd logits = x.head(colours);
      for (Index h = 0; h < heads; ++h) {
        const VectorXd head =
            x.segment(colours + h * colours * (1 + colours), colours * (1 + colours));
        VectorXd weights(sites);
        for (Index j = 0; j < sites; ++j) {
          weights[j] = j == i ? 1.0 : std::exp(head[states.sequences(n, j)]);
        }
        weights /= weights.sum();
        for (Index j = 0; j < sites; ++j) {
          if (j == i) continue;  // the mask's value is 0
          logits += weights[j] * head.segment(colours * (1 + states.sequences(n, j)), colours);
        }
      }
      const double target = logits[states.sequences(n, i)];
      loss += states.weights[n] * (std::log(logits.array().exp().sum()) - target);
    }
  }
  return loss / static_cast<double>(sites);
}

/// E[H(s_i | colours of the others, in no order)], what no layer without positions can get below.
double entropy_given_counts(const WeightedSequences& states, Index colours) {
  std::map<std::vector<int>, VectorXd> joint;
  const Index sites = states.sequences.cols();
  for (Index n = 0; n < states.sequences.rows(); ++n) {
    for (Index i = 0; i < sites; ++i) {
      std::vector<int> others;
      for (Index j = 0; j < sites; ++j) {
        if (j != i) others.push_back(states.sequences(n, j));
      }
      std::sort(others.begin(), others.end());
      joint.try_emplace(others, VectorXd::Zero(colours)).first->second[states.sequences(n, i)] +=
          states.weights[n] / static_cast<double>(sites);
    }
  }
  double entropy = 0;
  for (const auto& [others, p] : joint) {
    for (const double q : p) entropy -= q * std::log(q / p.sum());
  }
  return entropy;
}

TEST_CASE("BlindAttention: the loss of attention over all states, and its gradient", "[theory]") {
  const PottsEnumeration all = enumerate(cosine_model(4, 3, 1.2));
  for (const int heads : {1, 2}) {
    const BlindAttention layer(all.states, 3, heads);
    VectorXd x = wave(layer.parameters());
    VectorXd gradient(x.size());
    CHECK(layer(x.data(), gradient.data()) ==
          Approx(attended_loss(x, all.states, 3, heads)).epsilon(1e-13));
    check_gradient([&] { return layer(x.data(), nullptr); },
                   {x.data(), static_cast<std::size_t>(x.size())},
                   {gradient.data(), static_cast<std::size_t>(gradient.size())});
  }
  CHECK_THROWS_AS(BlindAttention(all.states, 3, 0), Error);
  CHECK_THROWS_AS(BlindAttention(all.states, 2, 1), Error);
}

TEST_CASE("best_blind_attention: couplings that are all alike need no positions", "[theory]") {
  const PottsModel model(
      MatrixXd::Ones(5, 5) - MatrixXd::Identity(5, 5), zero_sum(cosine_colour_couplings(3)), 0.4);
  const WeightedSequences states = enumerate(model).states;
  const BlindOptimum best = best_blind_attention(BlindAttention(states, 3, 1));
  // A search that stops at a gradient of 1e-9 is above the minimum by its square over the
  // curvature.
  CHECK(best.loss == Approx(bayes_loss(model, states)).epsilon(1e-10));
  CHECK(best.agreeing == best.starts);
  CHECK(best.reach < 2e-4);
}

TEST_CASE("best_blind_attention: between guessing and all that counts can say", "[theory]") {
  const WeightedSequences states = enumerate(cosine_model(5, 3, 1.2)).states;
  const BlindOptimum one = best_blind_attention(BlindAttention(states, 3, 1));
  const BlindOptimum two = best_blind_attention(BlindAttention(states, 3, 2));
  const VectorXd shares = marginals(states, 3).rowwise().mean();
  CHECK(one.loss < -(shares.array() * shares.array().log()).sum() - 1e-3);
  CHECK(one.loss > entropy_given_counts(states, 3));
  CHECK(two.loss <= one.loss + 1e-9);  // a head of values 0 changes nothing
  CHECK(two.loss > entropy_given_counts(states, 3));
  CHECK(one.largest_gradient < 1e-6);
}

TEST_CASE("one_sign: a softmax head is then the model", "[theory]") {
  const PottsModel mixed = cosine_model(5, 3, 1.2);
  CHECK_FALSE(one_sign(mixed));
  for (const double sign : {1.0, -1.0}) {
    const PottsModel model(sign * mixed.couplings().cwiseAbs(), mixed.colour_couplings(), 1.2);
    REQUIRE(one_sign(model));
    const MatrixXd strengths = model.beta() * model.couplings().cwiseAbs();
    const double r = 1.1 * strengths.rowwise().sum().maxCoeff();
    const Sequences states = enumerate(model).states.sequences;
    MatrixXd expected;
    double worst = 0;
    for (Index n = 0; n < states.rows(); ++n) {
      model.as_student().logits(states.row(n).data(), expected);
      for (Index i = 0; i < 5; ++i) {
        VectorXd scores = (strengths.row(i).transpose() / r).array().log();
        scores[i] = std::log(1 - strengths.row(i).sum() / r);
        const VectorXd weights = scores.array().exp() / scores.array().exp().sum();
        VectorXd logits = VectorXd::Zero(3);
        for (Index j = 0; j < 5; ++j) {
          if (j != i) logits += weights[j] * sign * r * model.colour_couplings().col(states(n, j));
        }
        worst = std::max(worst, (logits - expected.col(i)).cwiseAbs().maxCoeff());
      }
    }
    CHECK(worst < 1e-13);
  }
}

}  // namespace potts_blind_attention_test
