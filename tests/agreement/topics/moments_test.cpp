/// @file
/// @brief Theory meets simulation beneath the studies.

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/random.hpp"
#include "attica/sim/topics/sampling.hpp"
#include "attica/theory/topics/value.hpp"

using namespace attica;

namespace agreement_topics_moments_test {

TEST_CASE("topic moments: sampled documents have those of the theory", "[agreement]") {
  // 20000 documents; entries of the moments are of order 0.1 and vary by as much: 0.003 is 4
  // standard errors or more.
  constexpr Eigen::Index kDocuments = 20000;
  for (const bool subset : {true, false}) {
    const TopicModel model({.vocabulary = {3, 2},
                            .prior = subset ? TopicPrior::subset : TopicPrior::dirichlet,
                            .topics_per_document = 2,
                            .concentration = 0.3,
                            .length = {{5, 9}},
                            .mask_rate = 0.3,
                            .keep_rate = 0.2,
                            .random_rate = 0.1});
    RandomStream stream({.seed = 4});
    const ValueMoments exact = value_moments(model);
    for (const Eigen::Index masks : {1, 3}) {
      const SampledMoments sampled = sample_moments(TopicSampler(model), kDocuments, masks, stream);
      CHECK((sampled.shown - exact.sigma).cwiseAbs().maxCoeff() < 0.003);
      CHECK((sampled.target - exact.target).cwiseAbs().maxCoeff() < 0.003);
      // Of 47000 words in a topic, 1/2 with a standard error of 0.0023.
      CHECK((sampled.word_shares.array() - 0.5).abs().maxCoeff() < 0.01);
      // 0.2 kept and a sixth of 0.1 redrawn, of 42000 selected positions: standard error 0.002.
      CHECK(std::abs(sampled.kept - (0.2 + 0.1 / 6)) < 0.008);
    }
  }
}

}  // namespace agreement_topics_moments_test
