#include "attica/theory/topics/embedding.hpp"

#include <algorithm>

#include "attica/core/error.hpp"

namespace attica {

double embedding_contrast(const TopicModel& model, double lambda) {
  if (!model.subset()) {
    throw invalid_parameter("prior", "dirichlet", "\"subset\" for the embedding theory");
  }
  if (!model.infinite()) {
    throw invalid_parameter("length", "finite", "\"infinite\" for the embedding theory");
  }
  require(model.has_topic_signal(),
          "topics_per_document",
          model.tau(),
          "topics_per_document < topics for the embedding theory");
  const double t = model.topics();
  const double kappa = model.kappa();
  const double share = model.tau() / t;
  return std::max(0.0,
                  1 / (kappa * model.words()) -
                      lambda * (t - 1) * model.tau() / (2 * kappa * kappa * (1 - share)));
}

TopicEmbedding embedding_optimum(const TopicModel& model, double lambda) {
  const double delta = embedding_contrast(model, lambda);
  TopicEmbedding e;
  e.gram[kSameWord] = delta * (1 - 1 / model.topics());
  e.gram[kSameTopic] = model.vocabulary().words > 1 ? e.gram[kSameWord] : 0;
  e.gram[kOtherTopic] = -delta / model.topics();
  e.bias[1] = 1 / model.all_words();
  return e;
}

TopicEmbedding embedding_step(const TopicModel& model,
                              const CommutantAlgebra& algebra,
                              const ValueMoments& moments,
                              const TopicEmbedding& embedding,
                              double eta,
                              double lambda) {
  const double words = model.all_words();
  const Eigen::Vector2d& b = embedding.bias;
  const Eigen::Vector2d shown(model.mu(), (1 - model.mu()) / words);  // p̄
  // b p̄ᵀ is invariant.
  Commutant outer;
  outer << b[0] * shown[0], b[0] * shown[1], b[1] * shown[0], b[1] * shown[1], b[1] * shown[1],
      b[1] * shown[1];
  outer = (algebra.counts().array() > 0).select(outer, 0);
  const Commutant g = 2 * (algebra.product(embedding.gram, moments.sigma) + outer - moments.target);
  const Commutant factor = scalar_commutant(1 - 2 * eta * lambda) - eta * (g + transposed(g));
  TopicEmbedding next;
  next.gram = algebra.product(algebra.product(factor, embedding.gram), factor);
  // E p̄ on the mask and on each word.
  const Isotypic e = algebra.isotypic(embedding.gram);
  const Eigen::Vector2d mean(
      embedding.gram[kMaskMask] * shown[0] + words * embedding.gram[kMaskWord] * shown[1],
      embedding.gram[kWordMask] * shown[0] + e.trivial(1, 1) * shown[1]);
  const Eigen::Vector2d truth(0, 1 / words);
  next.bias = b - 2 * eta * (mean + b - truth);
  return next;
}

}  // namespace attica
