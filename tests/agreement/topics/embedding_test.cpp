/// @file
/// @brief Theory meets simulation in topics-embedding, and errors in the theory are found.

#include "attica/theory/topics/embedding.hpp"

#include "attica/sim/topics/documents.hpp"
#include "attica/sim/topics/sampling.hpp"
#include "attica/theory/topics/value.hpp"

using namespace attica;

namespace agreement_topics_embedding_test {

using Eigen::MatrixXd;

TEST_CASE("embedding: a step of all entries is the step of invariant numbers",
          "[agreement][study:topics-embedding]") {
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2});
  const CommutantAlgebra algebra(model.vocabulary());
  TopicEmbedding e{.gram = scalar_commutant(0.04)};
  constexpr int kSteps = 50;
  for (int n = 0; n < kSteps; ++n) {
    e = embedding_step(model, algebra, value_moments(model), e, 0.1, 0.01);
  }
  const EmbeddingDescent all =
      descend_embedding(population_batch(model), 0.2 * MatrixXd::Identity(7, 7), 0.1, 0.01, kSteps);
  CHECK((all.gram - algebra.dense(e.gram)).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(all.bias[0] == Approx(e.bias[0]).margin(1e-14));
  CHECK(all.bias[3] == Approx(e.bias[1]).epsilon(1e-13));
}

}  // namespace agreement_topics_embedding_test
