// Parts of the network that are trained under uniform attention, and those that are not.

#include "attica/theory/topics/parts.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "attica/theory/topics/embedding.hpp"
#include "attica/theory/topics/loss.hpp"

using namespace attica;

namespace topics_parts_test {

TopicModel finite(TopicPrior prior) {
  return TopicModel({.vocabulary = {4, 3},
                     .prior = prior,
                     .topics_per_document = 2,
                     .concentration = 0.3,
                     .length = {{15, 25}}});
}

TopicModel infinite() { return TopicModel({.vocabulary = {4, 2}, .topics_per_document = 2}); }

TEST_CASE("parts_step: moves against the finite differences of parts_loss", "[theory][topics]") {
  const TopicModel model = finite(TopicPrior::dirichlet);
  const CommutantAlgebra algebra(model.vocabulary());
  const ValueMoments moments = value_moments(model);
  // Entries without symmetry or structure.
  TopicParts at{.bias = {0.1, -0.2}};
  at.embedding << 0.9, 0.1, -0.2, 1.1, 0.3, -0.1;
  at.value << 0.2, -0.1, 0.3, 0.7, 0.4, 0.1;
  constexpr double kEta = 1e-3;
  const TopicParts next = parts_step(algebra, moments, at, {true, true}, kEta);
  constexpr double kShift = 1e-5;  // the loss is of degree six in numbers of order one
  const auto slope = [&](auto entry) {
    TopicParts up = at;
    TopicParts down = at;
    entry(up) += kShift;
    entry(down) -= kShift;
    return (parts_loss(algebra, moments, up) - parts_loss(algebra, moments, down)) / (2 * kShift);
  };
  const auto moved = [&](double before, double after) { return (before - after) / kEta; };
  for (Eigen::Index k = 0; k < kCommutantClasses; ++k) {
    // A coordinate moves all entries of its class.
    const double count = algebra.counts()[k];
    CAPTURE(k);
    CHECK(count * moved(at.embedding[k], next.embedding[k]) ==
          Approx(slope([&](TopicParts& p) -> double& { return p.embedding[k]; })).margin(1e-7));
    CHECK(count * moved(at.value[k], next.value[k]) ==
          Approx(slope([&](TopicParts& p) -> double& { return p.value[k]; })).margin(1e-7));
  }
  CHECK(moved(at.bias[0], next.bias[0]) ==
        Approx(slope([](TopicParts& p) -> double& { return p.bias[0]; })).margin(1e-7));
  CHECK(model.all_words() * moved(at.bias[1], next.bias[1]) ==
        Approx(slope([](TopicParts& p) -> double& { return p.bias[1]; })).margin(1e-7));
  const TopicParts still = parts_step(algebra, moments, at, {}, kEta);
  CHECK(still.embedding == at.embedding);
  CHECK(still.value == at.value);
  CHECK(still.bias != at.bias);
}

TEST_CASE("parts_step: of the embedding alone is the step of its inner products",
          "[theory][topics]") {
  const TopicModel model = infinite();
  const CommutantAlgebra algebra(model.vocabulary());
  const ValueMoments moments = value_moments(model);
  TopicParts parts{.value = scalar_commutant(1)};
  TopicEmbedding gram{.gram = scalar_commutant(1)};
  for (int n = 0; n < 50; ++n) {
    parts = parts_step(algebra, moments, parts, {.embedding = true}, 0.3);
    gram = embedding_step(model, algebra, moments, gram, 0.3, 0);
  }
  const Commutant of_parts = algebra.product(transposed(parts.embedding), parts.embedding);
  CHECK((of_parts - gram.gram).cwiseAbs().maxCoeff() < 1e-13);
  CHECK((parts.bias - gram.bias).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("parts_optimum: a trained W_V ends at the solution of its normal equations",
          "[theory][topics]") {
  // Those have no bias: shares sum to 1, so that W_V can do what a bias does.
  for (const TopicModel& model :
       {finite(TopicPrior::subset), finite(TopicPrior::dirichlet), infinite()}) {
    const CommutantAlgebra algebra(model.vocabulary());
    const ValueMoments moments = value_moments(model);
    const double solved = value_loss(algebra, moments, value_optimum(algebra, moments, 0));
    const double found = parts_optimum(algebra, moments, Commutant::Zero(), {.value = true});
    CHECK(found == Approx(solved).epsilon(1e-10));
    // W_E alone, or with it, does as well: attention alone is a matter of sampling.
    CHECK(parts_optimum(algebra, moments, diagonal_value(0.7), {.embedding = true}) ==
          Approx(solved).epsilon(1e-10));
    CHECK(parts_optimum(algebra, moments, diagonal_value(0.7), {true, true}) ==
          Approx(solved).epsilon(1e-10));
    // Frequencies of words are all that is left where no word passes.
    for (const bool embedding : {false, true}) {
      CHECK(parts_optimum(algebra, moments, Commutant::Zero(), {.embedding = embedding}) ==
            Approx(1 - 1 / model.all_words()).epsilon(1e-14));
    }
  }
  const TopicModel model = infinite();
  CHECK(parts_optimum(CommutantAlgebra(model.vocabulary()),
                      value_moments(model),
                      Commutant::Zero(),
                      {.value = true}) == Approx(1 - 1 / (model.tau() * model.words())));
}

TEST_CASE("parts_optimum: descent ends there", "[theory][topics]") {
  for (const TopicModel& model : {finite(TopicPrior::subset), infinite()}) {
    const CommutantAlgebra algebra(model.vocabulary());
    const ValueMoments moments = value_moments(model);
    const double c = 1 / model.kappa();
    for (const Commutant& value : {block_value(model, c), diagonal_value(c), diagonal_value(-c)}) {
      for (const TrainedParts trained :
           {TrainedParts{}, {.embedding = true}, {.value = true}, {true, true}}) {
        // From a W_V of the wrong sign both fall to the saddle at 0.
        if (trained.embedding && trained.value && value[kSameWord] < 0) continue;
        TopicParts parts{.value = value};
        // Slowest: a W_E that goes to 0 where W_V has the wrong sign, like 1/n.
        for (int n = 0; n < 40000; ++n) {
          parts = parts_step(algebra, moments, parts, trained, 0.5);
        }
        const double best = parts_optimum(algebra, moments, value, trained);
        const double end = parts_loss(algebra, moments, parts);
        CAPTURE(trained.embedding, trained.value, value[kSameWord], value[kSameTopic]);
        CHECK(end > best - 1e-12);
        CHECK(end - best < 1e-6);
      }
    }
  }
}

/// Mean squared loss over selected tokens with topic weights θ: masked, kept or drawn at random,
/// word queries giving the shown word the share h beside.
double copied_loss(const TopicModel& model, const Eigen::VectorXd& theta, double h) {
  const auto v = model.vocabulary().words;
  const Eigen::Index words = model.vocabulary().all_words();
  Eigen::VectorXd law(words + 1);
  law[0] = 0;
  for (Eigen::Index l = 0; l < words; ++l) law[1 + l] = theta[l / v] / static_cast<double>(v);
  const Eigen::VectorXd uniform = Eigen::VectorXd::Constant(words, 1 / model.all_words());
  Eigen::VectorXd shares = model.kappa() * law;
  shares[0] = model.mu();
  shares.tail(words) += model.rho() * uniform;
  double loss = 0;
  for (Eigen::Index x = 1; x <= words; ++x) {
    const auto cost = [&](const Eigen::VectorXd& output) {
      return law[x] * (output - Eigen::VectorXd::Unit(words + 1, x)).squaredNorm();
    };
    loss += model.masked_share() * cost(law);
    for (Eigen::Index y = 1; y <= words; ++y) {
      const double seen =
          (y == x ? model.keep_rate() : 0) + model.random_rate() / model.all_words();
      loss += seen * cost(law + h * (Eigen::VectorXd::Unit(words + 1, y) - shares) / model.kappa());
    }
  }
  return loss;
}

TEST_CASE("copying_gain: the fall of the loss over all documents, tokens and corruptions",
          "[theory][topics]") {
  const auto of_subsets = [](const TopicModel& model, double h) {  // τ = 2
    const auto topics = model.vocabulary().topics;
    double loss = 0;
    double sets = 0;
    for (Eigen::Index s = 0; s < topics; ++s) {
      for (Eigen::Index t = 0; t < s; ++t) {
        loss += copied_loss(
            model, 0.5 * (Eigen::VectorXd::Unit(topics, s) + Eigen::VectorXd::Unit(topics, t)), h);
        ++sets;
      }
    }
    return loss / sets;
  };
  const auto of_beta = [](const TopicModel& model, double h) {  // two topics, α = 2
    // θ_1 ~ Beta(2, 2) has the density 6 θ (1 - θ): by Simpson's rule, exact up to θ³, in 1000
    // pieces.
    constexpr int kPieces = 1000;
    double loss = 0;
    for (int i = 0; i <= kPieces; ++i) {
      const double theta = i / static_cast<double>(kPieces);
      const double weight = (i == 0 || i == kPieces ? 1 : i % 2 == 1 ? 4 : 2) / (3.0 * kPieces);
      loss += weight * 6 * theta * (1 - theta) *
              copied_loss(model, Eigen::Vector2d(theta, 1 - theta), h);
    }
    return loss;
  };
  const auto best_gain = [](auto loss) {  // of a parabola through h = -1, 0, 1
    const double slope = (loss(1) - loss(-1)) / 2;
    const double curvature = loss(1) + loss(-1) - 2 * loss(0);
    return slope * slope / (2 * curvature);
  };
  for (const double keep : {0.1, 0.4}) {
    const TopicModel subsets(
        {.vocabulary = {4, 3}, .topics_per_document = 2, .mask_rate = 0.3, .keep_rate = keep});
    CHECK(copying_gain(subsets) ==
          Approx(best_gain([&](double h) { return of_subsets(subsets, h); })));
    const TopicModel beta({.vocabulary = {2, 3},
                           .prior = TopicPrior::dirichlet,
                           .concentration = 2,
                           .keep_rate = keep,
                           .random_rate = 0.2});
    CHECK(copying_gain(beta) == Approx(best_gain([&](double h) { return of_beta(beta, h); })));
  }
  CHECK(copying_gain(TopicModel({.vocabulary = {4, 3}, .keep_rate = 0})) == 0);
}

}  // namespace topics_parts_test
