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

}  // namespace topics_parts_test
